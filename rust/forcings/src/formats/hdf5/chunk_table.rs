//! The table of a dataset's chunks, from whichever index the file keeps. An entry that cannot be right refuses the table:
//! two for one chunk, bytes outside the file, the wrong size for a chunk without filters.

use super::chunk_btree;
use super::storage::FileBytes;
use crate::chunks::{ChunkEntry, ChunkTable, Filter};
use crate::{Error, Result};
use hdf5_reader::chunk_index::{self, ChunkEntry as Found};
use hdf5_reader::messages::layout::ChunkIndexing;
use hdf5_reader::{extensible_array, fixed_array, Storage};

/// Entries that any file may ask for; beyond them a table may have one for each 64 bytes of the file.
const FREE_ENTRIES: u64 = 1 << 20;
const MAX_ENTRIES: u64 = 1 << 26;

/// What a chunked dataset says about itself.
pub(super) struct Chunking<'a> {
    pub(super) file: &'a FileBytes,
    /// The dataset, for error texts.
    pub(super) name: &'a str,
    /// The shape that the table describes.
    pub(super) shape: &'a [u64],
    /// The extents of the dataset: along dimensions without a bound, `shape` may exceed them.
    pub(super) stored_shape: &'a [u64],
    pub(super) max_shape: &'a [Option<u64>],
    /// Bytes per element.
    pub(super) width: usize,
    pub(super) chunk_shape: Vec<u64>,
    pub(super) filters: Vec<Filter>,
    /// Whether chunks that reach over the extent are stored without filters.
    pub(super) plain_edges: bool,
}

/// A table being filled.
pub(super) struct TableBuilder<'a> {
    pub(super) chunking: &'a Chunking<'a>,
    grid: Vec<u64>,
    entries: Vec<ChunkEntry>,
    chunk_bytes: u32,
}

/// The chunk table of a dataset whose index of this kind (`None`: version 1 B-tree) is at `address`.
///
/// # Errors
/// `Format` when the index or the dataset's extents cannot be right, `Unsupported` when the table would be too large.
pub(super) fn build(chunking: &Chunking, indexing: Option<&ChunkIndexing>, address: u64) -> Result<ChunkTable> {
    let mut table = TableBuilder::new(chunking)?;
    if !chunking.file.is_undefined(address) && !table.entries.is_empty() {
        match indexing {
            None => chunk_btree::collect(&mut table, address)?,
            Some(indexing) => table.collect(indexing, address)?,
        }
    }
    let TableBuilder { grid, entries, .. } = table;
    let (chunk_shape, filters) = (chunking.chunk_shape.clone(), chunking.filters.clone());
    Ok(ChunkTable { chunk_shape, grid, filters, entries })
}

impl<'a> TableBuilder<'a> {
    fn new(chunking: &'a Chunking<'a>) -> Result<Self> {
        let Chunking { shape, chunk_shape, width, .. } = chunking;
        if chunk_shape.len() != shape.len() || chunk_shape.contains(&0) {
            return Err(chunking.damaged(format!("its chunk shape {chunk_shape:?} does not fit its shape {shape:?}")));
        }
        let chunk_bytes = chunk_shape
            .iter()
            .try_fold(*width as u64, |n, c| n.checked_mul(*c))
            .and_then(|n| u32::try_from(n).ok())
            .ok_or_else(|| chunking.damaged(format!("a chunk of shape {chunk_shape:?} exceeds 4 GiB")))?;
        let grid: Vec<u64> = shape.iter().zip(chunk_shape).map(|(n, c)| n.div_ceil(*c)).collect();
        let count = grid.iter().try_fold(1_u64, |n, g| n.checked_mul(*g)).unwrap_or(u64::MAX);
        let limit = FREE_ENTRIES.max(Storage::len(chunking.file) / 64).min(MAX_ENTRIES);
        let mut entries = Vec::new();
        if count > limit || entries.try_reserve_exact(count as usize).is_err() {
            return Err(Error::Unsupported(format!(
                "{}: variable {}: shape {shape:?} in chunks of {chunk_shape:?} makes {count} chunks, more than the \
                 {limit} that a file of this size may have; is the file damaged?",
                chunking.file.source().path().display(),
                chunking.name,
            )));
        }
        entries.resize(count as usize, ChunkEntry::ABSENT);
        Ok(TableBuilder { chunking, grid, entries, chunk_bytes })
    }

    /// Enters the chunk whose first element is at `offsets`. One outside the extent is left out: a dataset that shrank
    /// may keep such.
    ///
    /// # Errors
    /// `Format` when the entry cannot be right.
    pub(super) fn put(&mut self, offsets: &[u64], address: u64, size: u64, filter_mask: u32) -> Result<()> {
        let Chunking { file, stored_shape: shape, chunk_shape, filters, .. } = self.chunking;
        let (mut slot, mut inside, mut edge) = (0_u64, offsets.len() == shape.len(), false);
        for (i, offset) in offsets.iter().take(shape.len()).enumerate() {
            if offset % chunk_shape[i] != 0 {
                return Err(self.chunking.damaged(format!("a chunk at {offsets:?} is off the chunk grid")));
            }
            let index = offset / chunk_shape[i];
            inside &= *offset < shape[i] && index < self.grid[i];
            edge |= offset.checked_add(chunk_shape[i]).is_none_or(|end| end > shape[i]);
            slot = slot.wrapping_mul(self.grid[i]).wrapping_add(index);
        }
        if !inside || file.is_undefined(address) {
            return Ok(());
        }
        let plain = self.chunking.plain_edges && edge;
        let filter_mask = if plain { u32::MAX } else { filter_mask };
        let all = u32::MAX.checked_shr(32 - filters.len() as u32).unwrap_or(0);
        let chunk_bytes = u64::from(self.chunk_bytes);
        let size = if size == 0 { chunk_bytes } else { size };
        let skipped = filter_mask & all == all;
        if skipped && size != chunk_bytes {
            return Err(self.chunking.damaged(format!(
                "its chunk at {offsets:?} has {size} bytes, not the {chunk_bytes} of a chunk without filters"
            )));
        }
        let what = format!("variable {}: chunk at {offsets:?}", self.chunking.name);
        let offset = file.absolute(address, size, &what)?;
        let size = u32::try_from(size).map_err(|_| self.chunking.damaged("a chunk is stored in more than 4 GiB"))?;
        let entry = &mut self.entries[slot as usize];
        if !entry.is_absent() {
            return Err(self.chunking.damaged(format!("its index lists the chunk at {offsets:?} twice")));
        }
        *entry = ChunkEntry { offset, size, filter_mask };
        Ok(())
    }

    fn collect(&mut self, indexing: &ChunkIndexing, address: u64) -> Result<()> {
        let Chunking { file, stored_shape: shape, max_shape, .. } = self.chunking;
        let (o, l) = (file.offset_size, file.length_size);
        let chunk: Vec<u32> = self.chunking.chunk_shape.iter().map(|c| *c as u32).collect();
        let failed = |e| file.error(&format!("chunk index of variable {}", self.chunking.name), e);
        let found: Vec<Found> = match indexing {
            ChunkIndexing::SingleChunk { filtered_size, filters } => {
                return self.put(&vec![0; shape.len()], address, *filtered_size, *filters);
            }
            ChunkIndexing::Implicit => return self.implicit(address),
            // Chunks are numbered by the grid of the largest extent, not of the present one.
            ChunkIndexing::FixedArray { .. } => {
                let full = self.full_shape()?;
                fixed_array::collect_fixed_array_chunk_entries_storage(*file, address, o, l, &full, &chunk, None)
                    .map_err(failed)?
            }
            ChunkIndexing::ExtensibleArray { .. } => {
                let max: Vec<u64> = max_shape.iter().map(|m| m.unwrap_or(u64::MAX)).collect();
                extensible_array::collect_extensible_array_chunk_entries_storage(
                    *file,
                    address,
                    o,
                    l,
                    shape,
                    Some(&max),
                    &chunk,
                    None,
                )
                .map_err(failed)?
            }
            ChunkIndexing::BTreeV2 => {
                let rank = shape.len() as u32;
                chunk_index::collect_v2_chunk_entries_storage(*file, address, o, l, rank, &chunk, None)
                    .map_err(failed)?
            }
        };
        for chunk in found {
            self.put(&chunk.offsets, chunk.address, chunk.size, chunk.filter_mask)?;
        }
        Ok(())
    }

    /// Chunks one behind the other, in the order of the grid of the largest extent.
    fn implicit(&mut self, address: u64) -> Result<()> {
        let full = self.full_shape()?;
        let chunk_shape = &self.chunking.chunk_shape;
        let full_grid: Vec<u64> = full.iter().zip(chunk_shape).map(|(n, c)| n.div_ceil(*c)).collect();
        let mut index = vec![0; full.len()];
        for _ in 0..self.entries.len() {
            let number = index.iter().zip(&full_grid).try_fold(0_u64, |n, (i, g)| n.checked_mul(*g)?.checked_add(*i));
            let place = number
                .and_then(|n| n.checked_mul(self.chunk_bytes.into())?.checked_add(address))
                .ok_or_else(|| self.chunking.damaged("the place of a chunk overflows"))?;
            let offsets: Vec<u64> = index.iter().zip(chunk_shape).map(|(i, c)| i * c).collect();
            self.put(&offsets, place, 0, 0)?;
            for (i, axis) in index.iter_mut().enumerate().rev() {
                *axis += 1;
                if *axis < self.grid[i] {
                    break;
                }
                *axis = 0;
            }
        }
        Ok(())
    }

    /// The largest extents, and a check that the index which they number may be read.
    fn full_shape(&self) -> Result<Vec<u64>> {
        let full: Option<Vec<u64>> = self.chunking.max_shape.iter().copied().collect();
        let full = full.ok_or_else(|| self.chunking.damaged("an index of fixed size has an unlimited dimension"))?;
        let chunks = full.iter().zip(&self.chunking.chunk_shape).map(|(n, c)| n.div_ceil(*c));
        let count = chunks.fold(1_u64, |n, g| n.saturating_mul(g.max(1)));
        if full.iter().zip(self.chunking.stored_shape).any(|(most, now)| most < now) || count > MAX_ENTRIES {
            return Err(self.chunking.damaged(format!("its largest shape {full:?} cannot be right")));
        }
        Ok(full)
    }
}

impl Chunking<'_> {
    /// A `Format` error about this dataset.
    pub(super) fn damaged(&self, detail: impl std::fmt::Display) -> Error {
        self.file.damaged(format!("variable {}: {detail}", self.name))
    }
}
