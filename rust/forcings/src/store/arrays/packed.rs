//! A packed dataset as readers know it: where its chunks lie and whose columns it has.

use super::pool::{fill, PoolKey};
use super::Compression;
use crate::array::ArrayHash;
use crate::chunks::{ChunkEntry, ChunkTable, EncodeFilter, Layout};
use crate::{Error, Result};
use parking_lot::RwLock;
use std::sync::Arc;

/// No larger chunk is rewritten, unless one step of one array is larger: several are held at a time.
const MAX_CHUNK_BYTES: usize = 16 << 20;

/// One dataset whose columns are arrays of one pool.
///
/// Its state is the one thing that changes. A writer holds the write lock from the first change of the dataset in the
/// file until HDF5 was flushed and the new chunk table is in place; a reader holds the read lock while it uses addresses.
/// That is enough, although HDF5 gives the space of a replaced chunk to any other dataset: the space becomes free only by
/// a change of this dataset, so no reader has its address any more when another dataset's chunk is written there.
#[derive(Debug)]
pub(crate) struct PackedDataset {
    /// Its name in the array file.
    pub(crate) name: String,
    /// What its columns have in common.
    pub(crate) pool: PoolKey,
    /// The number of columns, free ones included.
    pub(crate) cols: usize,
    /// One element of a cell that was never written.
    pub(crate) fill: Vec<u8>,
    /// What changes.
    pub(crate) state: RwLock<DatasetState>,
    /// Where its header lies, which stays.
    pub(super) address: u64,
}

/// Where the chunks of a dataset lie now, and which columns are taken.
#[derive(Debug)]
pub(crate) struct DatasetState {
    /// Counts the changes. A plan that was made under another number looks again.
    pub(crate) generation: u64,
    /// The array in each column; `None` for a free one.
    pub(crate) hashes: Vec<Option<ArrayHash>>,
    pub(super) layout: std::result::Result<Arc<Layout>, String>,
}

/// One array's place.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// The dataset.
    pub(crate) dataset: Arc<PackedDataset>,
    /// The position on its second axis.
    pub(crate) column: usize,
}

/// The chunks of a dataset whose every chunk holds whole rows.
pub(super) struct RowChunks<'a> {
    pub(super) table: &'a ChunkTable,
    /// Rows of one chunk.
    pub(super) rows: usize,
}

impl PackedDataset {
    /// A dataset as it will be, for the chunks that are made before it can be read.
    pub(super) fn planned(name: String, pool: PoolKey, cols: usize) -> Self {
        let layout = Err(format!("{name} is not written yet"));
        let state = RwLock::new(DatasetState { generation: 0, hashes: vec![None; cols], layout });
        PackedDataset { name, fill: fill(pool.dtype), pool, cols, state, address: 0 }
    }

    /// Its extents: time, columns, element axes.
    pub(crate) fn shape(&self) -> Vec<u64> {
        self.pool.dataset_shape(self.cols)
    }

    /// Bytes of one row.
    pub(super) fn row_bytes(&self) -> usize {
        self.cols * self.pool.block()
    }

    /// The chunks as whole rows, if they are.
    pub(super) fn row_chunks<'a>(&self, layout: &'a Layout) -> Option<RowChunks<'a>> {
        let Layout::Chunked(table) = layout else { return None };
        let whole = table.chunk_shape.get(1..)? == &self.shape()[1..];
        let rows = usize::try_from(*table.chunk_shape.first()?).ok()?;
        whole.then_some(RowChunks { table, rows })
    }

    /// How to write its chunks: rows of each, and filters; `None` if another library made it in a way we do not write.
    /// A dataset without a byte of elements has nothing to write.
    pub(super) fn writable(&self, layout: &Layout, compression: Compression) -> Option<(usize, Vec<EncodeFilter>)> {
        if self.pool.length * self.pool.block() == 0 {
            return Some((1, Vec::new()));
        }
        let chunks = self.row_chunks(layout)?;
        if chunks.rows.checked_mul(self.row_bytes())? > MAX_CHUNK_BYTES.max(self.pool.block()) {
            return None;
        }
        Some((chunks.rows, compression.matching(&chunks.table.filters)?))
    }
}

impl DatasetState {
    /// Whether no taken column lacks a chunk. Where one does, its cells must not become those of a new chunk.
    pub(super) fn is_whole(&self, layout: &Layout) -> bool {
        match layout {
            Layout::Chunked(table) => {
                self.hashes.iter().all(Option::is_none) || !table.entries.iter().any(ChunkEntry::is_absent)
            }
            _ => true,
        }
    }

    /// The first free columns, at most `count`.
    pub(super) fn free_columns(&self, count: usize) -> Vec<usize> {
        let free = self.hashes.iter().enumerate().filter(|(_, hash)| hash.is_none());
        free.map(|(column, _)| column).take(count).collect()
    }

    /// Where the chunks lie.
    ///
    /// # Errors
    /// `Integrity` after a change that failed half-way.
    pub(crate) fn layout(&self) -> Result<&Arc<Layout>> {
        self.layout.as_ref().map_err(|why| Error::Integrity(why.clone()))
    }
}
