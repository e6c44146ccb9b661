//! Copies within the decoded bytes, in steps that may write past what they copy.

/// How many bytes a copy may write past its end.
pub(super) const OVERSHOOT: usize = 128;

/// For distances below 8 the least multiple that is not.
const WHOLE: [usize; 8] = [0, 8, 8, 9, 8, 10, 12, 14];

/// Copies `length` bytes from `distance` bytes before `to`, where the copy goes on; so bytes repeat that the distance is
/// too short for.
///
/// # Safety
/// `to` must lie within one allocation, `distance` (not 0) initialised bytes or more behind its start, and `length` and
/// [`OVERSHOOT`] initialised bytes or more before its end.
#[inline(always)]
pub(super) unsafe fn repeat(to: *mut u8, distance: usize, length: usize) {
    // SAFETY: the caller's promise; no step writes as many as `OVERSHOOT` bytes past the end.
    unsafe {
        if distance < 16 {
            return repeat_near(to, distance, length);
        }
        let (mut from, mut to, end) = (to.cast_const().sub(distance), to, to.add(length));
        copy16::<2>(from, to);
        if length > 32 {
            copy16::<2>(from.add(32), to.add(32));
            while to.add(64) < end {
                (from, to) = (from.add(64), to.add(64));
                copy16::<4>(from, to);
            }
        }
    }
}

/// [`repeat`] for distances below 16.
///
/// # Safety
/// As for [`repeat`].
#[inline(always)]
unsafe fn repeat_near(to: *mut u8, distance: usize, length: usize) {
    // SAFETY: the caller's promise; each step reads what lies before what it writes, and writes 16 bytes at most past `end`.
    unsafe {
        let (mut to, end) = (to, to.add(length));
        if distance == 1 {
            let eight = u64::from(*to.sub(1)) * 0x0101_0101_0101_0101;
            while to < end {
                to.cast::<[u64; 2]>().write_unaligned([eight; 2]);
                to = to.add(16);
            }
            return;
        }
        let mut back = distance;
        if distance < 8 {
            for k in 0..8 {
                *to.add(k) = *to.add(k).sub(distance);
            }
            to = to.add(8);
            back = WHOLE[distance];
        }
        while to < end {
            to.cast::<u64>().write_unaligned(to.sub(back).cast::<u64>().read_unaligned());
            to = to.add(8);
        }
    }
}

/// Copies 16 bytes, `N` times, each read before it is written.
///
/// # Safety
/// 16 `N` bytes must be readable at `from` and writable at `to`.
#[inline(always)]
pub(super) unsafe fn copy16<const N: usize>(from: *const u8, to: *mut u8) {
    for k in 0..N {
        // SAFETY: the caller's promise.
        unsafe {
            let sixteen = from.add(16 * k).cast::<u128>().read_unaligned();
            to.add(16 * k).cast::<u128>().write_unaligned(sixteen);
        }
    }
}
