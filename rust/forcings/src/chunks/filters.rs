//! From a stored chunk to its elements: the filter pipeline of HDF5, undone. Owns the buffers that this needs; knows
//! nothing of where chunks lie or what their cells mean.

use super::shuffle::unshuffle;
use super::zlib::Zlib;
use super::{ByteSource, ChunkEntry, Filter};
use crate::{Error, Result};
use libdeflater::{DecompressionError, Decompressor};
use std::path::Path;

/// DEFLATE never expands a byte to more than this many (RFC 1951: 258 bytes for two bits).
pub const MAX_EXPANSION: usize = 1032;

/// Bytes of a Fletcher-32 checksum.
const CHECKSUM: usize = 4;

/// Buffers and codec state of one thread, reused from chunk to chunk.
pub struct Scratch {
    decompressor: Decompressor,
    pub(super) zlib: Zlib,
    raw: Vec<u8>,
    pub(super) stages: [Vec<u8>; 2],
    /// For chunks before they are encoded; their maker's.
    pub(crate) plain: Vec<u8>,
}

impl Scratch {
    /// Empty buffers.
    pub fn new() -> Self {
        Scratch {
            decompressor: Decompressor::new(),
            zlib: Zlib::default(),
            raw: Vec::new(),
            stages: [Vec::new(), Vec::new()],
            plain: Vec::new(),
        }
    }

    /// Makes the buffers that chunks of `size` stored and `len` decoded bytes need, so that none has to grow later.
    ///
    /// # Errors
    /// `Format` when there is no memory for them.
    pub fn reserve(&mut self, size: usize, len: usize, filters: &[Filter], site: &ChunkSite) -> Result<()> {
        grown(&mut self.raw, size, site)?;
        // Of n steps, the last writes the result; a stage may also hold the checksums of the steps below it.
        for stage in self.stages.iter_mut().take(filters.len().saturating_sub(1)) {
            grown(stage, len + CHECKSUM * filters.len(), site)?;
        }
        Ok(())
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

/// Which chunk of which variable of which file is at work, for error texts.
#[derive(Debug, Clone, Copy)]
pub struct ChunkSite<'a> {
    /// The file.
    pub path: &'a Path,
    /// The variable.
    pub what: &'a str,
    /// The position of the chunk in the table.
    pub chunk: usize,
}

impl ChunkSite<'_> {
    /// A `Format` error about this chunk.
    pub fn damaged(&self, detail: impl std::fmt::Display) -> Error {
        Error::format(self.path, format!("chunk {} of {}: {detail}", self.chunk, self.what))
    }
}

/// Whether `mask` leaves any of `filters` to undo.
pub fn is_filtered(filters: &[Filter], mask: u32) -> bool {
    filters.iter().enumerate().any(|(i, _)| is_active(mask, i))
}

/// Refuses a chunk that cannot decode to `len` bytes, however well it is compressed; before a buffer of that length is
/// made, which a damaged header could ask for.
///
/// # Errors
/// `Format` when it cannot.
pub fn check_expansion(entry: ChunkEntry, filters: &[Filter], len: usize, site: &ChunkSite) -> Result<()> {
    let ChunkEntry { size, filter_mask, .. } = entry;
    let most = if is_filtered(filters, filter_mask) { MAX_EXPANSION as u64 * u64::from(size) } else { size.into() };
    if len as u64 > most {
        return Err(site.damaged(format_args!("{size} stored bytes cannot expand to {len}")));
    }
    Ok(())
}

/// Reads the chunk at `entry` and undoes its filters into `out`, whose length is that of the chunk in memory.
///
/// # Errors
/// `Format` when the chunk lies outside the source or is damaged, `Unsupported` for a filter that is not known, `Io`.
pub fn fetch_chunk(
    source: &dyn ByteSource,
    entry: ChunkEntry,
    filters: &[Filter],
    out: &mut [u8],
    scratch: &mut Scratch,
    site: &ChunkSite,
) -> Result<()> {
    let ChunkEntry { offset, size, filter_mask } = entry;
    if offset.checked_add(size.into()).is_none_or(|end| end > source.len()) {
        return Err(site.damaged(format_args!(
            "{size} bytes at offset {offset} lie beyond the end of the file ({} bytes)",
            source.len()
        )));
    }
    if !is_filtered(filters, filter_mask) {
        if size as usize != out.len() {
            return Err(site.damaged(format_args!("{size} bytes are stored, {} are expected", out.len())));
        }
        return source.read_at(offset, out);
    }
    let mut raw = std::mem::take(&mut scratch.raw);
    let result = grown(&mut raw, size as usize, site).and_then(|raw| {
        source.read_at(offset, raw)?;
        decode_chunk(raw, filters, filter_mask, out, scratch, site)
    });
    scratch.raw = raw;
    result
}

/// Undoes `filters`, last first, without those that `mask` says were skipped. `out` is as long as the chunk in memory.
///
/// # Errors
/// `Format` when the stored bytes do not decode to exactly that length or a checksum differs, `Unsupported` for a
/// filter that is not known or a second DEFLATE step.
pub fn decode_chunk(
    raw: &[u8],
    filters: &[Filter],
    mask: u32,
    out: &mut [u8],
    scratch: &mut Scratch,
    site: &ChunkSite,
) -> Result<()> {
    check_pipeline(filters, mask, site)?;
    let Scratch { decompressor, stages: [first, second], .. } = scratch;
    let mut place = Place::Raw;
    let mut len = raw.len();
    for (i, filter) in filters.iter().enumerate().rev().filter(|(i, _)| is_active(mask, *i)) {
        let last = !is_filtered(&filters[..i], mask);
        let (from, spare): (&[u8], &mut Vec<u8>) = match place {
            Place::Raw => (raw, &mut *first),
            Place::First => (first, &mut *second),
            Place::Second => (second, &mut *first),
        };
        let from = &from[..len];
        let new_len = match filter {
            Filter::Fletcher32 => {
                len = checked_len(from).ok_or_else(|| site.damaged("the Fletcher-32 checksum differs"))?;
                continue;
            }
            // What lies below a DEFLATE step is as long as the chunk in memory, and its checksums.
            Filter::Deflate => out.len() + CHECKSUM * checksums(&filters[..i], mask),
            _ => len,
        };
        if last && new_len != out.len() {
            return Err(site.damaged(format_args!("{new_len} bytes are stored, {} are expected", out.len())));
        }
        if *filter == Filter::Deflate && new_len.div_ceil(MAX_EXPANSION) > len {
            return Err(site.damaged(format_args!("{len} stored bytes cannot expand to {new_len}")));
        }
        let target = if last { &mut *out } else { grown(spare, new_len, site)? };
        match filter {
            Filter::Shuffle(width) => unshuffle(from, *width, target),
            _ => inflate(decompressor, from, target, site)?,
        }
        if last {
            return Ok(());
        }
        place = if place == Place::First { Place::Second } else { Place::First };
        len = new_len;
    }
    // No step that moves bytes came last: there was none, or a checksum lay below it.
    let from: &[u8] = match place {
        Place::Raw => raw,
        Place::First => first,
        Place::Second => second,
    };
    if len != out.len() {
        return Err(site.damaged(format_args!("{len} bytes are stored, {} are expected", out.len())));
    }
    out.copy_from_slice(&from[..len]);
    Ok(())
}

/// Where the bytes are between two steps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Raw,
    First,
    Second,
}

/// The first `len` bytes of a buffer that only ever grows, so that it is not cleared for every chunk.
pub(super) fn grown<'a>(buffer: &'a mut Vec<u8>, len: usize, site: &ChunkSite) -> Result<&'a mut [u8]> {
    if buffer.len() < len {
        buffer
            .try_reserve_exact(len - buffer.len())
            .map_err(|_| site.damaged(format_args!("no memory for {len} bytes")))?;
        buffer.resize(len, 0);
    }
    Ok(&mut buffer[..len])
}

/// The mask has 32 bits; a filter behind them cannot be skipped.
fn is_active(mask: u32, filter: usize) -> bool {
    filter >= 32 || mask >> filter & 1 == 0
}

fn checksums(filters: &[Filter], mask: u32) -> usize {
    filters.iter().enumerate().filter(|(i, f)| **f == Filter::Fletcher32 && is_active(mask, *i)).count()
}

fn check_pipeline(filters: &[Filter], mask: u32, site: &ChunkSite) -> Result<()> {
    let mut inflates = 0;
    for (_, filter) in filters.iter().enumerate().filter(|(i, _)| is_active(mask, *i)) {
        match filter {
            Filter::Unknown { id, name } => {
                return Err(Error::Unsupported(format!(
                    "{}: {} is stored with filter {id} ({name}), which this library does not read; rewrite it with \
                     DEFLATE (nccopy -d1 -s)",
                    site.path.display(),
                    site.what,
                    name = if name.is_empty() { "unnamed" } else { name },
                )))
            }
            Filter::Shuffle(0) => return Err(site.damaged("its shuffle filter has an element width of zero")),
            Filter::Deflate => inflates += 1,
            _ => {}
        }
    }
    // The length between two DEFLATE steps is written nowhere, so a hostile file could make it as long as it likes.
    if inflates > 1 {
        return Err(Error::Unsupported(format!(
            "{}: {} is compressed twice, which this library does not read",
            site.path.display(),
            site.what
        )));
    }
    Ok(())
}

fn inflate(decompressor: &mut Decompressor, from: &[u8], target: &mut [u8], site: &ChunkSite) -> Result<()> {
    match decompressor.zlib_decompress(from, target) {
        Ok(n) if n == target.len() => Ok(()),
        Ok(n) => Err(site.damaged(format_args!("it inflates to {n} bytes, {} are expected", target.len()))),
        Err(DecompressionError::InsufficientSpace) => {
            Err(site.damaged(format_args!("it inflates to more than the {} bytes that are expected", target.len())))
        }
        Err(DecompressionError::BadData) => Err(site.damaged("its DEFLATE stream is damaged")),
    }
}

/// The length without the checksum at the end, if that holds.
fn checked_len(bytes: &[u8]) -> Option<usize> {
    let (data, stored) = bytes.split_at(bytes.len().checked_sub(CHECKSUM)?);
    let stored = u32::from_le_bytes(stored.try_into().ok()?);
    let sum = fletcher32(data);
    // HDF5 before 1.6.3 swapped the bytes of each half on little-endian machines; it still accepts both, and so do we.
    let [a, b, c, d] = sum.to_le_bytes();
    (stored == sum || stored == u32::from_le_bytes([b, a, d, c])).then_some(data.len())
}

/// The checksum of HDF5: Fletcher's over big-endian 16-bit words, from zero; an odd last byte is a word's high byte.
fn fletcher32(data: &[u8]) -> u32 {
    let (mut low, mut high) = (0u32, 0u32);
    let fold = |x: u32| (x & 0xffff) + (x >> 16);
    // 360 words are the most that cannot overflow `high`.
    for block in data.chunks(720) {
        for word in block.chunks(2) {
            low += u32::from(word[0]) << 8 | u32::from(word.get(1).copied().unwrap_or(0));
            high += low;
        }
        (low, high) = (fold(low), fold(high));
    }
    fold(high) << 16 | fold(low)
}

#[cfg(test)]
mod tests;
