//! The columns of one reader group whose array is a variable of its own that has several bands of rows: they are read
//! band by band, as a dataset with one column.

use super::rows::{Cell, RowReader, RowSource};
use crate::array::ArrayHash;
use crate::chunks::{is_filtered, ByteSource, ChunkTable, Layout};
use crate::store::arrays::{ArrayFile, Place, Standalone};
use crate::Result;
use std::sync::Arc;

/// A variable, and where its element goes in the group's buffer.
pub(super) struct Variable {
    hash: ArrayHash,
    array: Arc<Standalone>,
    /// As of a dataset: time, one column, element axes.
    layout: Layout,
    shape: Vec<u64>,
    /// One for each column that has the array.
    cells: Vec<Cell>,
    rows: Option<RowReader>,
}

impl Variable {
    /// The variable as a dataset without cells; `None` when its rows lie in one band, so that the whole of it is what one
    /// row has to be read from.
    pub(super) fn new(hash: ArrayHash, array: &Arc<Standalone>) -> Option<Self> {
        let layout = match &array.layout {
            Layout::Contiguous { offset } => Layout::Contiguous { offset: *offset },
            Layout::Chunked(table) if table.grid.first().is_some_and(|bands| *bands > 1) => {
                let ChunkTable { chunk_shape, grid, filters, entries } = table;
                Layout::Chunked(ChunkTable {
                    chunk_shape: with_column(chunk_shape),
                    grid: with_column(grid),
                    filters: filters.clone(),
                    entries: entries.clone(),
                })
            }
            _ => return None,
        };
        let shape = with_column(&array.shape);
        Some(Variable { hash, array: array.clone(), layout, shape, cells: Vec::new(), rows: None })
    }

    /// Adds a column whose element starts at byte `at` of the group's buffer.
    pub(super) fn push(&mut self, at: usize) {
        self.cells.push(Cell { column: 0, at });
    }

    /// Copies the element of one row into the group's buffer.
    ///
    /// # Errors
    /// Those of [`RowReader::read`].
    pub(super) fn read(&mut self, source: &dyn ByteSource, row: usize, out: &mut [u8]) -> Result<()> {
        let Variable { array, layout, shape, cells, rows, .. } = self;
        let dataset = RowSource { source, layout, shape, width: array.dtype.width(), what: &array.name };
        let rows = match rows {
            Some(rows) => rows,
            none => none.insert(RowReader::new(&dataset, cells)?),
        };
        rows.read(&dataset, row as u64, out)
    }

    /// Whether the array file still has the array in this variable.
    pub(super) fn is_at_home(&self, arrays: &ArrayFile) -> bool {
        matches!(arrays.find(&self.hash), Some(Place::Standalone(array)) if Arc::ptr_eq(&array, &self.array))
    }

    /// Chunks that were inflated so far.
    pub(super) fn chunks_inflated(&self) -> u64 {
        self.rows.as_ref().map_or(0, RowReader::chunks_inflated)
    }
}

/// The chunks that reading the whole variable inflates.
pub(super) fn filtered_chunks(array: &Standalone) -> u64 {
    match &array.layout {
        Layout::Chunked(table) => {
            let filtered =
                table.entries.iter().filter(|e| !e.is_absent() && is_filtered(&table.filters, e.filter_mask));
            filtered.count() as u64
        }
        _ => 0,
    }
}

/// Extents with a column axis of extent 1 behind the first.
fn with_column(extents: &[u64]) -> Vec<u64> {
    let mut extents = extents.to_vec();
    extents.insert(1.min(extents.len()), 1);
    extents
}
