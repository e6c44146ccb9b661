//! The byte shuffle of HDF5: bytes of equal significance gathered into planes, and back. Knows nothing of chunks.
//!
//! Bytes behind the last whole element stay where they are, as in HDF5.

#[cfg(target_arch = "x86_64")]
use std::mem::transmute;

/// Sixteen bytes of one plane; the unit in which planes are woven together.
type Lane = [u8; 16];

const LANE: usize = 16;

/// Undoes the shuffle of elements of `width` bytes: `planes` to `out`, which is as long.
pub(crate) fn unshuffle(planes: &[u8], width: usize, out: &mut [u8]) {
    assert_eq!(planes.len(), out.len(), "the shuffle keeps the length");
    let (cells, rest) = out.split_at_mut(planes.len() / width * width);
    unshuffle_part(planes, width, 0, cells);
    rest.copy_from_slice(&planes[cells.len()..]);
}

/// Undoes the shuffle of the elements from `first` on, as many as `out` has room for.
pub(super) fn unshuffle_part(planes: &[u8], width: usize, first: usize, out: &mut [u8]) {
    match width {
        2 => unshuffle_lanes::<2>(planes, first, out),
        4 => unshuffle_lanes::<4>(planes, first, out),
        8 => unshuffle_lanes::<8>(planes, first, out),
        _ => unshuffle_from(planes, width, first, out, 0),
    }
}

/// Shuffles elements of `width` bytes: `plain` to `out`, which is as long.
pub(crate) fn shuffle(plain: &[u8], width: usize, out: &mut [u8]) {
    assert_eq!(plain.len(), out.len(), "the shuffle keeps the length");
    match width {
        2 => shuffle_lanes::<2>(plain, out),
        4 => shuffle_lanes::<4>(plain, out),
        8 => shuffle_lanes::<8>(plain, out),
        _ => shuffle_from(plain, width, out, 0),
    }
}

fn unshuffle_lanes<const W: usize>(planes: &[u8], first: usize, out: &mut [u8]) {
    let count = planes.len() / W;
    let groups = out.len() / W / LANE;
    for (group, cells) in out.chunks_exact_mut(LANE * W).enumerate() {
        let mut lanes = [[0u8; LANE]; W];
        for (b, lane) in lanes.iter_mut().enumerate() {
            let start = b * count + first + group * LANE;
            lane.copy_from_slice(&planes[start..start + LANE]);
        }
        // Weaving lanes W/2 apart, log2(W) times, puts byte b of every element at its place.
        lanes = woven(lanes);
        if W > 2 {
            lanes = woven(lanes);
        }
        if W > 4 {
            lanes = woven(lanes);
        }
        for (cell, lane) in cells.chunks_exact_mut(LANE).zip(&lanes) {
            cell.copy_from_slice(lane);
        }
    }
    unshuffle_from(planes, W, first, out, groups * LANE);
}

fn shuffle_lanes<const W: usize>(plain: &[u8], out: &mut [u8]) {
    let count = plain.len() / W;
    let groups = count / LANE;
    for (group, cells) in plain.chunks_exact(LANE * W).take(groups).enumerate() {
        let mut lanes = [[0u8; LANE]; W];
        for (lane, cell) in lanes.iter_mut().zip(cells.chunks_exact(LANE)) {
            lane.copy_from_slice(cell);
        }
        lanes = parted(lanes);
        if W > 2 {
            lanes = parted(lanes);
        }
        if W > 4 {
            lanes = parted(lanes);
        }
        for (b, lane) in lanes.iter().enumerate() {
            let start = b * count + group * LANE;
            out[start..start + LANE].copy_from_slice(lane);
        }
    }
    shuffle_from(plain, W, out, groups * LANE);
}

/// One round: every lane woven with the one half the lanes behind it.
#[inline(always)]
fn woven<const W: usize>(lanes: [Lane; W]) -> [Lane; W] {
    let mut out = [[0; LANE]; W];
    for i in 0..W / 2 {
        (out[2 * i], out[2 * i + 1]) = weave(lanes[i], lanes[i + W / 2]);
    }
    out
}

/// The inverse of [`woven`].
#[inline(always)]
fn parted<const W: usize>(lanes: [Lane; W]) -> [Lane; W] {
    let mut out = [[0; LANE]; W];
    for i in 0..W / 2 {
        (out[i], out[i + W / 2]) = unweave(lanes[2 * i], lanes[2 * i + 1]);
    }
    out
}

/// `a0 b0 a1 b1 ..`, as two lanes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn weave(a: Lane, b: Lane) -> (Lane, Lane) {
    use std::arch::x86_64::{__m128i, _mm_unpackhi_epi8, _mm_unpacklo_epi8};
    // SAFETY: a lane and an `__m128i` have the same size and any bits are valid for both; SSE2 is part of x86-64.
    unsafe {
        let (a, b) = (transmute::<Lane, __m128i>(a), transmute::<Lane, __m128i>(b));
        (transmute::<__m128i, Lane>(_mm_unpacklo_epi8(a, b)), transmute::<__m128i, Lane>(_mm_unpackhi_epi8(a, b)))
    }
}

/// The inverse of [`weave`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn unweave(low: Lane, high: Lane) -> (Lane, Lane) {
    use std::arch::x86_64::{__m128i, _mm_and_si128, _mm_packus_epi16, _mm_set1_epi16, _mm_srli_epi16};
    // SAFETY: as in `weave`.
    unsafe {
        let (low, high) = (transmute::<Lane, __m128i>(low), transmute::<Lane, __m128i>(high));
        let even = _mm_set1_epi16(0xff);
        let a = _mm_packus_epi16(_mm_and_si128(low, even), _mm_and_si128(high, even));
        let b = _mm_packus_epi16(_mm_srli_epi16::<8>(low), _mm_srli_epi16::<8>(high));
        (transmute::<__m128i, Lane>(a), transmute::<__m128i, Lane>(b))
    }
}

/// `a0 b0 a1 b1 ..`, as two lanes.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn weave(a: Lane, b: Lane) -> (Lane, Lane) {
    let pair = |i: usize| if i % 2 == 0 { a[i / 2] } else { b[i / 2] };
    (std::array::from_fn(pair), std::array::from_fn(|i| pair(i + LANE)))
}

/// The inverse of [`weave`].
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn unweave(low: Lane, high: Lane) -> (Lane, Lane) {
    let at = |i: usize| if i < LANE { low[i] } else { high[i - LANE] };
    (std::array::from_fn(|i| at(2 * i)), std::array::from_fn(|i| at(2 * i + 1)))
}

/// The plain loop, without the first `done` elements of `out`.
fn unshuffle_from(planes: &[u8], width: usize, first: usize, out: &mut [u8], done: usize) {
    let count = planes.len() / width;
    for (i, cell) in out.chunks_exact_mut(width).enumerate().skip(done) {
        for (b, byte) in cell.iter_mut().enumerate() {
            *byte = planes[b * count + first + i];
        }
    }
}

/// The plain loop, from element `first` on; also copies the bytes behind the last whole element.
fn shuffle_from(plain: &[u8], width: usize, out: &mut [u8], first: usize) {
    let count = plain.len() / width;
    for b in 0..width {
        for i in first..count {
            out[b * count + i] = plain[i * width + b];
        }
    }
    out[count * width..].copy_from_slice(&plain[count * width..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn planes_of_three_elements_and_a_rest() {
        let plain = [1, 2, 3, 4, 11, 12, 13, 14, 21, 22, 23, 24, 99];
        let mut planes = [0; 13];
        shuffle(&plain, 4, &mut planes);
        assert_eq!(planes, [1, 11, 21, 2, 12, 22, 3, 13, 23, 4, 14, 24, 99]);
    }

    proptest! {
        #[test]
        fn every_width_agrees_with_the_plain_loop_and_round_trips(
            plain in proptest::collection::vec(any::<u8>(), 0..700),
            width in 1usize..20,
        ) {
            let (mut fast, mut slow, mut back) = (vec![0; plain.len()], vec![0; plain.len()], vec![0; plain.len()]);
            shuffle(&plain, width, &mut fast);
            shuffle_from(&plain, width, &mut slow, 0);
            prop_assert_eq!(&fast, &slow);
            unshuffle(&fast, width, &mut back);
            prop_assert_eq!(&back, &plain);
            let count = plain.len() / width;
            let (first, last) = (count / 3, count - count / 5);
            let part = &mut vec![0; (last - first) * width][..];
            unshuffle_part(&fast, width, first, part);
            prop_assert_eq!(&*part, &plain[first * width..last * width]);
        }
    }
}
