//! The frames around a DEFLATE stream, those of zlib and of gzip: where the stream starts, and the checksum behind it.
//! Takes what libdeflate takes.

use super::Fault;
use libdeflater::{adler32, crc32};
use std::ops::Range;

/// What is around a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frame {
    /// Two bytes before it, an Adler-32 behind it.
    Zlib,
    /// A header of ten bytes or more, a CRC-32 and the length behind it.
    Gzip,
}

/// Bytes behind a stream in gzip, and the least before it.
const GZIP_FOOTER: usize = 8;
const GZIP_HEADER: usize = 10;

/// The flags of a gzip header.
const HEADER_CHECKSUM: u8 = 0x02;
const EXTRA: u8 = 0x04;
const NAME: u8 = 0x08;
const COMMENT: u8 = 0x10;
const RESERVED: u8 = 0xe0;

impl Frame {
    /// Where the stream starts, and how far it may reach at most; `None` for no such frame.
    pub(super) fn body(self, from: &[u8]) -> Option<Range<usize>> {
        match self {
            Frame::Zlib => zlib_body(from),
            Frame::Gzip => gzip_body(from),
        }
    }

    /// The length of `plain`, if `behind`, the bytes after the stream, vouch for it.
    pub(super) fn checked(self, behind: &[u8], plain: &[u8]) -> Result<usize, Fault> {
        let word = |at: usize| behind.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        let holds = match self {
            Frame::Zlib => word(0).is_some_and(|sum| u32::from_be_bytes(sum) == adler32(plain)),
            Frame::Gzip => {
                word(0).is_some_and(|sum| u32::from_le_bytes(sum) == crc32(plain))
                    && word(4).is_some_and(|len| u32::from_le_bytes(len) == plain.len() as u32)
            }
        };
        holds.then_some(plain.len()).ok_or(Fault::Damaged)
    }
}

/// DEFLATE with a window of at most 32 KiB and without a dictionary; the header is a multiple of 31.
fn zlib_body(from: &[u8]) -> Option<Range<usize>> {
    let &[method, flags, ..] = from else { return None };
    let end = from.len().checked_sub(4).filter(|end| *end >= 2)?;
    let whole = u16::from_be_bytes([method, flags]) % 31 == 0;
    (whole && method & 0x0f == 8 && method >> 4 <= 7 && flags & 0x20 == 0).then_some(2..end)
}

fn gzip_body(from: &[u8]) -> Option<Range<usize>> {
    let end = from.len().checked_sub(GZIP_FOOTER).filter(|end| *end >= GZIP_HEADER)?;
    let &[0x1f, 0x8b, 8, flags, ..] = from else { return None };
    if flags & RESERVED != 0 {
        return None;
    }
    let mut start = GZIP_HEADER;
    if flags & EXTRA != 0 {
        // The footer alone has these two bytes.
        let len = u16::from_le_bytes([from[start], from[start + 1]]);
        start += 2 + usize::from(len);
    }
    for _ in 0..(flags & (NAME | COMMENT)).count_ones() {
        let text = from.get(start..end)?;
        start += text.iter().position(|byte| *byte == 0)? + 1;
    }
    if flags & HEADER_CHECKSUM != 0 {
        start += 2;
    }
    (start <= end).then_some(start..end)
}
