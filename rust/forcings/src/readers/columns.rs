//! The columns of one reader group that lie in one packed dataset, and the guard that keeps their places true: addresses
//! are used only under the dataset's read lock, and only while its columns hold the arrays that they are meant to.

use super::rows::{Cell, RowReader, RowSource};
use crate::array::ArrayHash;
use crate::chunks::ByteSource;
use crate::store::arrays::PackedDataset;
use crate::Result;
use std::sync::Arc;

/// Some columns of a dataset, and where their elements go in the group's buffer.
pub(super) struct Columns {
    dataset: Arc<PackedDataset>,
    shape: Vec<u64>,
    hashes: Vec<ArrayHash>,
    cells: Vec<Cell>,
    /// For the generation of the dataset that it was planned under.
    rows: Option<(u64, RowReader)>,
    /// Chunks that earlier plans inflated.
    inflated: u64,
}

impl Columns {
    /// No columns of `dataset` yet.
    pub(super) fn new(dataset: Arc<PackedDataset>) -> Self {
        let shape = dataset.shape();
        Columns { dataset, shape, hashes: Vec::new(), cells: Vec::new(), rows: None, inflated: 0 }
    }

    /// Adds a column that holds this array.
    pub(super) fn push(&mut self, hash: ArrayHash, cell: Cell) {
        self.hashes.push(hash);
        self.cells.push(cell);
    }

    /// Copies the elements of one row into the group's buffer. False, and nothing copied, when a column no longer holds
    /// its array.
    ///
    /// # Errors
    /// Those of [`RowReader::read`]; `Integrity` for a dataset of which a change failed half-way.
    pub(super) fn read(&mut self, source: &dyn ByteSource, row: usize, out: &mut [u8]) -> Result<bool> {
        self.visit(source, |rows, dataset| rows.read(dataset, row as u64, out))
    }

    /// Calls `work` with a reader of the columns, whose addresses hold until it returns. False, and not called, when a
    /// column no longer holds its array.
    ///
    /// # Errors
    /// As [`Columns::read`], and those of `work`.
    pub(super) fn visit(
        &mut self,
        source: &dyn ByteSource,
        work: impl FnOnce(&mut RowReader, &RowSource) -> Result<()>,
    ) -> Result<bool> {
        let state = self.dataset.state.read();
        let dataset = RowSource {
            source,
            layout: state.layout()?,
            shape: &self.shape,
            width: self.dataset.pool.dtype.width(),
            what: &self.dataset.name,
        };
        let rows = match &mut self.rows {
            Some((generation, rows)) if *generation == state.generation => rows,
            stale => {
                self.inflated += stale.take().map_or(0, |(_, rows)| rows.chunks_inflated());
                let holds = |(hash, cell): (&ArrayHash, &Cell)| state.hashes.get(cell.column) == Some(&Some(*hash));
                if !self.hashes.iter().zip(&self.cells).all(holds) {
                    return Ok(false);
                }
                &mut stale.insert((state.generation, RowReader::new(&dataset, &self.cells)?)).1
            }
        };
        work(rows, &dataset)?;
        Ok(true)
    }

    /// Chunks that were inflated so far.
    pub(super) fn chunks_inflated(&self) -> u64 {
        self.inflated + self.rows.as_ref().map_or(0, |(_, rows)| rows.chunks_inflated())
    }
}
