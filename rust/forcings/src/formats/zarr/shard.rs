//! Shards: objects of many chunks, with an index of where each lies.

use super::checksum;
use crate::chunks::codecs::room;
use crate::chunks::{ByteSource, ChunkSite, Part};
use crate::formats::ByteOrder;
use crate::Result;

/// Bytes of an offset and a length.
const ENTRY: u64 = 16;

/// How a shard holds its chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShardFormat {
    /// The axes of the array in the order in which the index runs through them, slowest first.
    pub(super) order: Vec<usize>,
    /// Chunks along each of them.
    pub(super) counts: Vec<u64>,
    pub(super) index: IndexFormat,
}

/// How the index is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndexFormat {
    pub(super) place: IndexPlace,
    pub(super) order: ByteOrder,
    /// Checksums behind the entries.
    pub(super) checksums: usize,
}

/// Which end of a shard its index stands at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IndexPlace {
    Start,
    End,
}

/// The entries of one shard, as stored behind a checksum that holds, and the bytes of the shard.
pub(super) struct Index {
    entries: Vec<u8>,
    size: u64,
}

impl ShardFormat {
    /// The chunks of one shard along each axis of the array.
    pub(super) fn chunks_per_object(&self) -> Vec<u64> {
        let mut counts = vec![1; self.counts.len()];
        for (axis, count) in self.order.iter().zip(&self.counts) {
            counts[*axis] = *count;
        }
        counts
    }

    /// Reads the index of the shard in `source`.
    ///
    /// # Errors
    /// `Format` when there is no room for it in the shard or its checksum differs, `Io`.
    pub(super) fn read_index(&self, source: &dyn ByteSource, site: &ChunkSite) -> Result<Index> {
        let IndexFormat { place, checksums, .. } = self.index;
        let size = source.len();
        let chunks = self.counts.iter().try_fold(1u64, |n, c| n.checked_mul(*c));
        let len = chunks.and_then(|n| n.checked_mul(ENTRY)?.checked_add(4 * checksums as u64));
        let Some(len) = len.filter(|len| *len <= size) else {
            let chunks = &self.counts;
            return Err(
                site.damaged(format_args!("{size} bytes cannot hold the index of a shard of {chunks:?} chunks"))
            );
        };
        let mut bytes = Vec::new();
        room(&mut bytes, len as usize).map_err(|error| site.damaged(error))?;
        source.read_at(if place == IndexPlace::End { size - len } else { 0 }, &mut bytes)?;
        let mut entries = &bytes[..];
        for _ in 0..checksums {
            entries =
                checksum::verified(entries).ok_or_else(|| site.damaged("the CRC-32C of the shard index differs"))?;
        }
        let len = entries.len();
        bytes.truncate(len);
        Ok(Index { entries: bytes, size })
    }

    /// Where the chunk at these coordinates of the shard lies, along the axes of the array; `None` where it was never
    /// written.
    ///
    /// # Errors
    /// `Format` when its entry leads out of the shard.
    pub(super) fn find(&self, index: &Index, within: &[u64], site: &ChunkSite) -> Result<Option<Part>> {
        let entry = self.order.iter().zip(&self.counts).fold(0, |n, (axis, count)| n * count + within[*axis]);
        let at = (entry * ENTRY) as usize;
        let (offset, len) = (self.number(&index.entries[at..at + 8]), self.number(&index.entries[at + 8..at + 16]));
        if (offset, len) == (u64::MAX, u64::MAX) {
            return Ok(None);
        }
        let size = index.size;
        if offset.checked_add(len).is_none_or(|end| end > size) {
            return Err(site.damaged(format_args!(
                "entry {entry} of the shard index, {len} bytes at {offset}, leads out of its {size} bytes"
            )));
        }
        Ok(Some(Part { offset, len }))
    }

    fn number(&self, bytes: &[u8]) -> u64 {
        let bytes = bytes.try_into().expect("an entry is two numbers of eight bytes");
        match self.index.order {
            ByteOrder::Little => u64::from_le_bytes(bytes),
            ByteOrder::Big => u64::from_be_bytes(bytes),
        }
    }
}
