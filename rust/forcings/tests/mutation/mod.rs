//! What makes damaged files of good ones, for the tests here and for `rust/fuzz`, which includes this file.

// The other crate exports them.
#![allow(unreachable_pub)]

/// Pseudo-random numbers (xorshift), the same ones for a seed.
pub struct Random(u64);

impl Random {
    /// A generator; every seed has its own numbers.
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `limit`, which is not zero.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// Makes the checksums of HDF5 object headers right again, so that damage gets past them.
pub(crate) fn repair(file: &mut [u8]) {
    for at in 0..file.len().saturating_sub(16) {
        if &file[at..at + 4] != b"OHDR" {
            continue;
        }
        let flags = file[at + 5];
        let head = 6 + if flags & 0x20 != 0 { 16 } else { 0 } + if flags & 0x10 != 0 { 4 } else { 0 };
        let width = 1 << (flags & 3);
        let Some(size) = file.get(at + head..at + head + width) else { continue };
        let size = size.iter().rev().fold(0_usize, |n, b| n.wrapping_shl(8) | usize::from(*b));
        let Some(end) = size.checked_add(at + head + width).filter(|end| end.checked_add(4) <= Some(file.len())) else {
            continue;
        };
        let sum = hdf5_reader::checksum::jenkins_lookup3(&file[at..end]);
        file[end..end + 4].copy_from_slice(&sum.to_le_bytes());
    }
}
