//! From a stored chunk to its elements: the filter pipeline of HDF5, undone. Owns the buffers that this needs; knows
//! nothing of where chunks lie or what their cells mean.

mod pair;

pub use pair::{fetch_pair, ChunkFetch};

use super::codecs::{room, CodecError, Codecs};
use super::pipeline::{check_pipeline, is_active, most_below, Below};
use super::shuffle::unshuffle;
use super::zlib::Zlib;
use super::{blosc, lz4, szip, ByteSource, ChunkEntry, Filter};
use crate::{Error, Result};
use std::path::Path;

/// Bytes of a Fletcher-32 checksum.
pub(super) const CHECKSUM: usize = 4;

/// A chunk that is a single value takes next to no bytes with the scale-offset filter; larger ones have to hold more.
const FREE_BYTES: u64 = 64 << 20;

/// Buffers and codec state of one thread, reused from chunk to chunk.
pub struct Scratch {
    /// Boxed: scratch lies within readers, and most chunks need no more of it than a decompressor.
    codecs: Box<Codecs>,
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
            codecs: Box::new(Codecs::new()),
            zlib: Zlib::default(),
            raw: Vec::new(),
            stages: [Vec::new(), Vec::new()],
            plain: Vec::new(),
        }
    }

    /// Bytes that the buffers take.
    pub(super) fn capacity(&self) -> usize {
        let [first, second] = &self.stages;
        [&self.raw, first, second, &self.plain, &self.codecs.block].map(Vec::capacity).iter().sum()
    }

    /// Makes the buffers that chunks of `size` stored and `len` decoded bytes need, so that none has to grow later.
    ///
    /// # Errors
    /// `Format` when there is no memory for them.
    pub fn reserve(&mut self, size: usize, len: usize, filters: &[Filter], site: &ChunkSite) -> Result<()> {
        grown(&mut self.raw, size, site)?;
        // Of n steps, the last writes the result; a stage holds what lies below a step, or above the last one.
        let most = (0..filters.len()).map(|i| most_below(filters, 0, i, len).most).max().unwrap_or(len);
        for stage in self.stages.iter_mut().take(filters.len().saturating_sub(1)) {
            grown(stage, most, site)?;
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

    /// An `Unsupported` error about the variable, which says how to make it readable.
    pub(super) fn unsupported(&self, detail: &str) -> Error {
        Error::Unsupported(format!(
            "{}: {} is stored with {detail}, which this library does not read; rewrite it with DEFLATE (nccopy -d1 -s)",
            self.path.display(),
            self.what,
        ))
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
/// `Format` when it cannot, `Unsupported` as [`decode_chunk`].
pub fn check_expansion(entry: ChunkEntry, filters: &[Filter], len: usize, site: &ChunkSite) -> Result<()> {
    let ChunkEntry { size, filter_mask, .. } = entry;
    check_pipeline(filters, filter_mask, site)?;
    let active = filters.iter().enumerate().rev().filter(|(i, _)| is_active(filter_mask, *i));
    let most = active.fold(u64::from(size), |most, (_, filter)| match filter.max_expansion() {
        Some(times) => most.saturating_mul(times),
        None => most.saturating_mul(64).max(FREE_BYTES),
    });
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
    check_place(source, entry, site)?;
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

/// Refuses a chunk that does not lie within its file.
fn check_place(source: &dyn ByteSource, entry: ChunkEntry, site: &ChunkSite) -> Result<()> {
    let ChunkEntry { offset, size, .. } = entry;
    if offset.checked_add(size.into()).is_none_or(|end| end > source.len()) {
        return Err(site.damaged(format_args!(
            "{size} bytes at offset {offset} lie beyond the end of the file ({} bytes)",
            source.len()
        )));
    }
    Ok(())
}

/// Undoes `filters`, last first, without those that `mask` says were skipped. `out` is as long as the chunk in memory.
///
/// # Errors
/// `Format` when the stored bytes do not decode to exactly that length or a checksum differs, `Unsupported` for a
/// filter that is not known or a second compressor.
pub fn decode_chunk(
    raw: &[u8],
    filters: &[Filter],
    mask: u32,
    out: &mut [u8],
    scratch: &mut Scratch,
    site: &ChunkSite,
) -> Result<()> {
    check_pipeline(filters, mask, site)?;
    let Scratch { codecs, stages: [first, second], .. } = scratch;
    let mut place = Place::Raw;
    let mut len = raw.len();
    for (i, filter) in filters.iter().enumerate().rev().filter(|(i, _)| is_active(mask, *i)) {
        let (from, spare): (&[u8], &mut Vec<u8>) = match place {
            Place::Raw => (raw, &mut *first),
            Place::First => (first, &mut *second),
            Place::Second => (second, &mut *first),
        };
        let from = &from[..len];
        match filter {
            Filter::Fletcher32 => {
                len = checked_len(from).ok_or_else(|| site.damaged("the Fletcher-32 checksum differs"))?;
                continue;
            }
            Filter::Verbatim => continue,
            _ => {}
        }
        let last = !is_filtered(&filters[..i], mask);
        let Below { most, exact } = checked_below(filters, mask, i, len, out.len(), site)?;
        let target = if last { &mut *out } else { grown(spare, most, site)? };
        len = undo(filter, from, target, codecs).map_err(|e| match e {
            CodecError::Damaged(detail) => site.damaged(detail),
            CodecError::Unsupported(detail) => site.unsupported(&detail),
        })?;
        if exact && len != most {
            return Err(site.damaged(format_args!("it decodes to {len} bytes, {most} are expected")));
        }
        if last {
            return Ok(());
        }
        place = if place == Place::First { Place::Second } else { Place::First };
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

/// What lies below the step `index` of a chunk of `out` bytes in memory, of which `len` bytes are left above it. Refuses
/// what the step cannot make of them.
fn checked_below(
    filters: &[Filter],
    mask: u32,
    index: usize,
    len: usize,
    out: usize,
    site: &ChunkSite,
) -> Result<Below> {
    let filter = &filters[index];
    // A shuffle keeps the length; what lies below another step is as long as the chunk in memory and the steps between.
    let below = match filter {
        Filter::Shuffle(_) => Below { most: len, exact: true },
        _ => most_below(filters, mask, index, out),
    };
    let Below { most, exact } = below;
    if !is_filtered(&filters[..index], mask) && most != out {
        return Err(site.damaged(format_args!("{most} bytes are stored, {out} are expected")));
    }
    if exact && filter.max_expansion().is_some_and(|times| most as u64 > times.saturating_mul(len as u64)) {
        return Err(site.damaged(format_args!("{len} stored bytes cannot expand to {most}")));
    }
    Ok(below)
}

/// Undoes one step that moves bytes; returns how many bytes of `to` it filled.
fn undo(filter: &Filter, from: &[u8], to: &mut [u8], codecs: &mut Codecs) -> std::result::Result<usize, CodecError> {
    match filter {
        Filter::Shuffle(width) => unshuffle(from, *width, to),
        Filter::Deflate => return codecs.zlib(from, to),
        Filter::Szip(client) => return szip::decode(from, client, to),
        Filter::ScaleOffset(parameters) => parameters.decode(from, to)?,
        Filter::Lz4 => return lz4::decode(from, to),
        Filter::Zstd => return codecs.zstd(from, to),
        Filter::Blosc => return blosc::decode_into(from, to, codecs),
        Filter::Fletcher32 | Filter::Verbatim | Filter::Unknown { .. } => {
            unreachable!("the caller has refused or passed over what moves no bytes")
        }
    }
    Ok(to.len())
}

/// Where the bytes are between two steps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Raw,
    First,
    Second,
}

/// [`room`] for a part of a chunk.
pub(super) fn grown<'a>(buffer: &'a mut Vec<u8>, len: usize, site: &ChunkSite) -> Result<&'a mut [u8]> {
    room(buffer, len).map_err(|error| site.damaged(error))
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
