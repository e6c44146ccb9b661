//! Reads little-endian fields off the front of a byte slice.

/// What is left of a slice. Every read is `None` where too few bytes are left.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    /// The next `count` bytes.
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(head)
    }

    /// The next `width` bytes as an unsigned number; `width` is at most 8.
    pub(super) fn uint(&mut self, width: usize) -> Option<u64> {
        let mut padded = [0; 8];
        padded.get_mut(..width)?.copy_from_slice(self.take(width)?);
        Some(u64::from_le_bytes(padded))
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|b| b[0])
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.uint(2).map(|v| v as u16)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.uint(4).map(|v| v as u32)
    }
}
