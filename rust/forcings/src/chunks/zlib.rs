//! Zlib streams of chunks. Planes of bytes that look like noise (the low bytes of measured numbers) go into stored blocks:
//! Huffman codes make them hardly smaller, and cost most of the time of writing and of every later read.

use crate::{Error, Result};
use libdeflater::{adler32, CompressionLvl, Compressor};

/// The most that one stored block holds.
const MAX_STORED: usize = u16::MAX as usize;

/// Of a plane that is long this many bytes are judged; of one that is shorter than `MIN_SAMPLE` nothing can be said.
const MAX_SAMPLE: usize = 4096;
const MIN_SAMPLE: usize = 512;

/// Makes streams; keeps the compressor for the next one of the same effort, and room.
#[derive(Default)]
pub(super) struct Zlib {
    compressor: Option<(i32, Compressor)>,
    out: Vec<u8>,
}

impl Zlib {
    /// A stream of `plain` at a level of zlib, 0 to 9. `plane` is the length of the planes that a shuffle has made of it.
    ///
    /// # Errors
    /// `InvalidParameter` for a level above 9.
    pub(super) fn compress(&mut self, plain: &[u8], plane: Option<usize>, level: u8) -> Result<Vec<u8>> {
        if level > 9 {
            return Err(Error::invalid(format!("DEFLATE has levels 0 to 9, not {level}")));
        }
        let noise = plane.map_or(0, |plane| noisy_prefix(plain, plane, level));
        let (stored, rest) = plain.split_at(noise);
        self.out.clear();
        self.out.extend_from_slice(&header(level));
        for block in stored.chunks(MAX_STORED) {
            // Not the last block, no compression; it starts and ends between bytes.
            self.out.push(0);
            let len = block.len() as u16;
            self.out.extend_from_slice(&len.to_le_bytes());
            self.out.extend_from_slice(&(!len).to_le_bytes());
            self.out.extend_from_slice(block);
        }
        self.append_deflated(rest, effort(level));
        self.out.extend_from_slice(&adler32(plain).to_be_bytes());
        Ok(self.out.clone())
    }

    fn append_deflated(&mut self, plain: &[u8], effort: i32) {
        if self.compressor.as_ref().is_none_or(|(e, _)| *e != effort) {
            let exact = CompressionLvl::new(effort).expect("libdeflate has levels 0 to 12");
            self.compressor = Some((effort, Compressor::new(exact)));
        }
        let (_, compressor) = self.compressor.as_mut().expect("set above");
        let start = self.out.len();
        self.out.resize(start + compressor.deflate_compress_bound(plain.len()), 0);
        let len =
            compressor.deflate_compress(plain, &mut self.out[start..]).expect("the bound is enough for any input");
        self.out.truncate(start + len);
    }
}

/// DEFLATE with a window of 32 KiB, and two bits for how hard it was tried; the check bits make the bytes a multiple of 31.
fn header(level: u8) -> [u8; 2] {
    let flags = match level {
        0 | 1 => 0x01,
        2..=5 => 0x5e,
        6 => 0x9c,
        _ => 0xda,
    };
    [0x78, flags]
}

/// The level of libdeflate that stands for one of zlib. Its level 1 makes streams of about the size that zlib's levels 1 to 3
/// make: on shuffled loads, profiles, ramps and random walks 0.4 % larger to 34 % smaller than zlib's level 3, and half as
/// fast again as its own level 3, which is hardly any smaller.
fn effort(level: u8) -> i32 {
    match level {
        2 | 3 => 1,
        _ => level.into(),
    }
}

/// The length of the leading planes that are noise. Values are little-endian, so theirs come first; and what a value
/// means falls from plane to plane, so between two planes of noise there is noise.
fn noisy_prefix(planes: &[u8], plane: usize, level: u8) -> usize {
    if plane < MIN_SAMPLE || !planes.chunks_exact(plane).next().is_some_and(|lowest| is_noise(lowest, level)) {
        return 0;
    }
    let highest = planes.chunks_exact(plane).rposition(|plane| is_noise(plane, level));
    (highest.unwrap_or(0) + 1) * plane
}

/// Whether DEFLATE could make nothing of a plane, or, at the levels that are meant for speed, little: about an eighth.
fn is_noise(plane: &[u8], level: u8) -> bool {
    let sample = &plane[..plane.len().min(MAX_SAMPLE)];
    sample.len() >= MIN_SAMPLE && spreads(sample, level) && !repeats(sample)
}

/// Whether bytes equal each other about as often as independent, evenly spread ones do. More pairs than that mean fewer
/// values; fewer mean a counter.
fn spreads(sample: &[u8], level: u8) -> bool {
    let mut counts = [0u32; 256];
    for &byte in sample {
        counts[usize::from(byte)] += 1;
    }
    // Of at most `MAX_SAMPLE` bytes: the sum fits, and whole numbers are added many at a time.
    let pairs: u32 = counts.iter().map(|&c| c * c.saturating_sub(1)).sum();
    let (pairs, n) = (f64::from(pairs), sample.len() as f64);
    let (mean, deviation) = (n * (n - 1.0) / 256.0, n * (2.0f64 / 256.0).sqrt());
    // Bytes of 125 values, as in decimal fractions, have 2.05 times the pairs, and about an eighth could be saved.
    let most = if level <= 3 { 2.25 * mean } else { mean };
    pairs >= mean - 3.0 * deviation && pairs <= most + 3.0 * deviation
}

/// Whether more than a few runs of four bytes have occurred before.
fn repeats(sample: &[u8]) -> bool {
    // As many slots as runs, nearly: fewer lose runs before they repeat, and more cost time to clear.
    const SLOTS: usize = MAX_SAMPLE;
    let bits = sample.len().next_power_of_two().trailing_zeros().min(SLOTS.trailing_zeros());
    let mut seen = [0u32; SLOTS];
    let seen = &mut seen[..1 << bits];
    let mut repeated = 0;
    for run in sample.windows(4) {
        let run = u32::from_le_bytes([run[0], run[1], run[2], run[3]]);
        let slot = run.wrapping_mul(0x9e37_79b1) as usize >> (u32::BITS - bits);
        repeated += usize::from(std::mem::replace(&mut seen[slot], run) == run);
    }
    repeated > sample.len() / 64
}

#[cfg(test)]
mod tests {
    use super::*;
    use libdeflater::Decompressor;

    /// Bytes without a pattern, the same ones for a seed.
    fn noise(len: usize, mut state: u64) -> Vec<u8> {
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.wrapping_mul(0x2545_f491_4f6c_dd1d) as u8
        };
        let mut bytes = vec![0; len];
        bytes.iter_mut().for_each(|byte| *byte = (next() >> 1) ^ next());
        bytes
    }

    fn round_trip(plain: &[u8], plane: usize, level: u8) -> usize {
        let stream = Zlib::default().compress(plain, Some(plane), level).unwrap();
        let mut back = vec![0; plain.len()];
        assert_eq!(Decompressor::new().zlib_decompress(&stream, &mut back).unwrap(), plain.len());
        assert_eq!(back, plain);
        stream.len()
    }

    #[test]
    fn leading_noise_is_stored_and_what_follows_compressed() {
        for plane in [1000, 4096, 70_000, 140_000] {
            let mut planes = noise(6 * plane, 88172645463325252);
            assert_eq!(noisy_prefix(&planes, plane, 9), 6 * plane);
            planes.extend((0..2 * plane).map(|k| (k / 999) as u8));
            assert_eq!(noisy_prefix(&planes, plane, 9), 6 * plane);
            for level in [1, 3, 9] {
                let size = round_trip(&planes, plane, level);
                assert!(size > 6 * plane && size < 6 * plane + plane / 4 + 100, "{size} of {plane}");
            }
        }
    }

    #[test]
    fn the_header_tells_the_level() {
        for level in 0..10 {
            let stream = Zlib::default().compress(&[1; 100], None, level).unwrap();
            assert_eq!(u16::from_be_bytes([stream[0], stream[1]]) % 31, 0);
            assert_eq!(stream[1] >> 6, [0, 0, 1, 1, 1, 1, 2, 3, 3, 3][usize::from(level)]);
        }
    }

    #[test]
    fn nothing_but_noise_and_nothing_at_all_are_whole_streams() {
        round_trip(&noise(4 * 1000, 7), 1000, 3);
        round_trip(&noise(4 * 65_535, 7), 65_535, 3);
        round_trip(&[], 0, 3);
        round_trip(&[], 1, 1);
        round_trip(&noise(4 * 1000 + 3, 7), 1000, 3);
    }

    #[test]
    fn what_repeats_counts_or_is_short_is_no_noise() {
        let row = noise(100, 3);
        let repeated: Vec<u8> = row.iter().copied().cycle().take(4000).collect();
        let rows: Vec<u8> = noise(1000, 3).into_iter().cycle().take(5000).collect();
        let counter: Vec<u8> = (0..4000).map(|k| k as u8).collect();
        let few: Vec<u8> = noise(4000, 5).into_iter().map(|byte| byte & 0x3f).collect();
        for plane in [repeated, rows, counter, few, vec![0; 4000], noise(MIN_SAMPLE - 1, 3)] {
            for level in [1, 9] {
                assert!(!is_noise(&plane, level));
            }
        }
    }

    #[test]
    fn planes_above_the_noise_and_above_a_lowest_plane_with_a_pattern_are_compressed() {
        let (plane, flat) = (1000, vec![7; 1000]);
        let planes = |parts: &[&[u8]]| parts.concat();
        let (a, b) = (noise(plane, 3), noise(plane, 5));
        assert_eq!(noisy_prefix(&planes(&[&a, &b, &flat, &flat]), plane, 3), 2 * plane);
        assert_eq!(noisy_prefix(&planes(&[&flat, &a, &b, &flat]), plane, 3), 0);
        assert_eq!(noisy_prefix(&planes(&[&a, &flat, &b, &flat]), plane, 3), 3 * plane);
        assert_eq!(noisy_prefix(&planes(&[&a, &flat[1..]]), plane, 3), plane);
    }

    #[test]
    fn an_eighth_counts_at_the_levels_that_are_for_size() {
        let seven_bits: Vec<u8> = noise(4000, 5).into_iter().map(|byte| byte & 0x7f).collect();
        // The low bytes of thousandths.
        let decimals: Vec<u8> = noise(4000, 7).into_iter().map(|byte| byte % 125 * 2).collect();
        for plane in [seven_bits, decimals] {
            assert!(is_noise(&plane, 3) && !is_noise(&plane, 4));
        }
    }
}
