//! The columns of one reader group that lie in one packed dataset, and the guard that keeps their places true: addresses
//! are used only under the dataset's read lock, and only while its columns hold the arrays that they are meant to.

use super::link::Homed;
use super::readahead::{Ahead, Bench, Decode};
use super::rows::{Bands, Cell, RowReader, RowSource};
use crate::array::ArrayHash;
use crate::chunks::ByteSource;
use crate::store::arrays::{ArrayFile, DatasetState, PackedDataset, Place};
use crate::Result;
use std::ops::Range;
use std::sync::Arc;

/// Some columns of a dataset, and where their elements go in the group's buffer.
pub(super) struct Packed {
    pub(super) dataset: Arc<PackedDataset>,
    shape: Vec<u64>,
    hashes: Vec<ArrayHash>,
    cells: Vec<Cell>,
}

/// Reads them, for one thread at a time.
pub(super) struct Columns {
    packed: Packed,
    /// For the generation of the dataset that it was planned under.
    rows: Option<(u64, RowReader)>,
    /// Bytes that are decoded ahead at most, and the rows that may be asked for.
    readahead: (usize, Range<u64>),
    /// Chunks that earlier plans inflated.
    inflated: u64,
}

/// The bands of a dataset as of one generation, for the threads that decode ahead.
struct PackedBands {
    dataset: Arc<PackedDataset>,
    shape: Vec<u64>,
    source: Arc<dyn ByteSource>,
    generation: u64,
    bands: Arc<Bands>,
}

impl Packed {
    /// No columns of `dataset` yet.
    pub(super) fn new(dataset: Arc<PackedDataset>) -> Self {
        let shape = dataset.shape();
        Packed { dataset, shape, hashes: Vec::new(), cells: Vec::new() }
    }

    /// Adds a column that holds this array.
    pub(super) fn push(&mut self, hash: ArrayHash, cell: Cell) {
        self.hashes.push(hash);
        self.cells.push(cell);
    }

    /// Each column with the array that it holds.
    pub(super) fn columns(&self) -> impl ExactSizeIterator<Item = (ArrayHash, Cell)> + '_ {
        self.hashes.iter().copied().zip(self.cells.iter().copied())
    }

    pub(super) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The rows as they lie now.
    ///
    /// # Errors
    /// `Integrity` for a dataset of which a change failed half-way.
    pub(super) fn rows<'a>(&'a self, source: &'a dyn ByteSource, state: &'a DatasetState) -> Result<RowSource<'a>> {
        let (width, what) = (self.dataset.pool.dtype.width(), &self.dataset.name);
        Ok(RowSource { source, layout: state.layout()?, shape: &self.shape, width, what })
    }

    /// Whether every column holds its array.
    pub(super) fn holds(&self, state: &DatasetState) -> bool {
        self.columns().all(|(hash, cell)| state.hashes.get(cell.column) == Some(&Some(hash)))
    }

    /// Whether the array file still has the first column in this dataset.
    pub(super) fn is_at_home(&self, arrays: &ArrayFile) -> bool {
        let found = self.hashes.first().and_then(|hash| arrays.find(hash));
        matches!(found, Some(Place::Packed(column)) if Arc::ptr_eq(&column.dataset, &self.dataset))
    }
}

impl Columns {
    /// No columns of `dataset` yet.
    pub(super) fn new(dataset: Arc<PackedDataset>) -> Self {
        Columns { packed: Packed::new(dataset), rows: None, readahead: (0, 0..0), inflated: 0 }
    }

    /// Adds a column that holds this array.
    pub(super) fn push(&mut self, hash: ArrayHash, cell: Cell) {
        self.packed.push(hash, cell);
    }

    /// The columns, without what reads them.
    pub(super) fn into_packed(self) -> Packed {
        self.packed
    }

    /// Decodes `budget` bytes ahead at most, and only bands that have some of `rows`.
    pub(super) fn read_ahead(&mut self, budget: usize, rows: Range<u64>) {
        self.readahead = (budget, rows);
    }

    /// Copies the elements of one row into the group's buffer. False, and nothing copied, when a column no longer holds
    /// its array.
    ///
    /// # Errors
    /// Those of [`RowReader::read`]; `Integrity` for a dataset of which a change failed half-way.
    pub(super) fn read(&mut self, source: &Arc<dyn ByteSource>, row: usize, out: &mut [u8]) -> Result<bool> {
        self.visit(source, |rows, dataset| rows.read(dataset, row as u64, out))
    }

    /// Calls `work` with a reader of the columns, whose addresses hold until it returns. False, and not called, when a
    /// column no longer holds its array.
    ///
    /// # Errors
    /// As [`Columns::read`], and those of `work`.
    pub(super) fn visit(
        &mut self,
        source: &Arc<dyn ByteSource>,
        work: impl FnOnce(&mut RowReader, &RowSource) -> Result<()>,
    ) -> Result<bool> {
        let Packed { dataset: home, shape, cells, .. } = &self.packed;
        let state = home.state.read();
        let dataset = self.packed.rows(&**source, &state)?;
        let rows = match &mut self.rows {
            Some((generation, rows)) if *generation == state.generation => rows,
            stale => {
                self.inflated += stale.take().map_or(0, |(_, rows)| rows.chunks_inflated());
                if !self.packed.holds(&state) {
                    return Ok(false);
                }
                let mut rows = RowReader::new(&dataset, cells)?;
                let (budget, wanted) = &self.readahead;
                let bands = PackedBands {
                    dataset: home.clone(),
                    shape: shape.clone(),
                    source: source.clone(),
                    generation: state.generation,
                    bands: rows.bands().clone(),
                };
                rows.read_ahead(Ahead::new(Box::new(bands), *budget), wanted);
                &mut stale.insert((state.generation, rows)).1
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

impl Homed for Columns {
    fn is_at_home(&self, arrays: &ArrayFile) -> bool {
        self.packed.is_at_home(arrays)
    }
}

impl Decode for PackedBands {
    fn bands(&self) -> u64 {
        self.bands.count()
    }

    fn band_bytes(&self) -> usize {
        self.bands.bytes()
    }

    fn decode(&self, band: u64, out: &mut [u8], bench: &mut Bench) -> Result<Option<u64>> {
        // The reader holds this lock while it waits for a thread, which must not queue behind a writer that waits for it.
        let state = self.dataset.state.read_recursive();
        if state.generation != self.generation {
            return Ok(None);
        }
        let dataset = RowSource {
            source: &*self.source,
            layout: state.layout()?,
            shape: &self.shape,
            width: self.dataset.pool.dtype.width(),
            what: &self.dataset.name,
        };
        self.bands.load(&dataset, band, out, &mut bench.scratch).map(Some)
    }
}
