//! The columns of one reader group whose array is a variable of its own that has several bands of rows: they are read
//! band by band, as a dataset with one column.

use super::link::Homed;
use super::rows::{Cell, RowReader, RowSource};
use crate::array::ArrayHash;
use crate::chunks::{is_filtered, ByteSource, ChunkTable, Layout};
use crate::store::arrays::{ArrayFile, Place, Standalone};
use crate::Result;
use std::sync::Arc;

/// A variable, and where its element goes in the group's buffer.
pub(super) struct Stored {
    hash: ArrayHash,
    array: Arc<Standalone>,
    /// As of a dataset: time, one column, element axes.
    layout: Layout,
    shape: Vec<u64>,
    /// One for each column that has the array.
    cells: Vec<Cell>,
}

/// Reads it, for one thread at a time.
pub(super) struct Variable {
    stored: Stored,
    rows: Option<RowReader>,
}

impl Stored {
    /// The variable as a dataset.
    pub(super) fn rows<'a>(&'a self, source: &'a dyn ByteSource) -> RowSource<'a> {
        let Stored { array, layout, shape, .. } = self;
        RowSource { source, layout, shape, width: array.dtype.width(), what: &array.name }
    }

    pub(super) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Whether the array file still has the array in this variable.
    pub(super) fn is_at_home(&self, arrays: &ArrayFile) -> bool {
        matches!(arrays.find(&self.hash), Some(Place::Standalone(array)) if Arc::ptr_eq(&array, &self.array))
    }
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
        Some(Variable { stored: Stored { hash, array: array.clone(), layout, shape, cells: Vec::new() }, rows: None })
    }

    /// Adds a column whose element starts at byte `at` of the group's buffer.
    pub(super) fn push(&mut self, at: usize) {
        self.stored.cells.push(Cell { column: 0, at });
    }

    /// Copies the element of one row into the group's buffer.
    ///
    /// # Errors
    /// Those of [`RowReader::read`].
    pub(super) fn read(&mut self, source: &dyn ByteSource, row: usize, out: &mut [u8]) -> Result<()> {
        let Variable { stored, rows } = self;
        let dataset = stored.rows(source);
        let rows = match rows {
            Some(rows) => rows,
            none => none.insert(RowReader::new(&dataset, &stored.cells)?),
        };
        rows.read(&dataset, row as u64, out)
    }

    /// The variable, without what reads it.
    pub(super) fn into_stored(self) -> Stored {
        self.stored
    }

    /// Chunks that were inflated so far.
    pub(super) fn chunks_inflated(&self) -> u64 {
        self.rows.as_ref().map_or(0, RowReader::chunks_inflated)
    }
}

impl Homed for Variable {
    fn is_at_home(&self, arrays: &ArrayFile) -> bool {
        self.stored.is_at_home(arrays)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::DType;
    use crate::chunks::{encode_chunk, ChunkEntry, EncodeFilter, MemorySource, Scratch};

    /// Six rows of two numbers, in chunks of `rows` by `columns`; the source and the array.
    fn chunked(rows: u64, columns: u64) -> (MemorySource, Arc<Standalone>) {
        let filters = EncodeFilter::pipeline(1, true, 4);
        let (mut bytes, mut entries, mut scratch) = (vec![0; 5], Vec::new(), Scratch::new());
        let grid = vec![6u64.div_ceil(rows), 2u64.div_ceil(columns)];
        for chunk in 0..grid[0] * grid[1] {
            let (r, c) = (chunk / grid[1] * rows, chunk % grid[1] * columns);
            let cells = (r..r + rows).flat_map(|r| (c..c + columns).map(move |c| number(r, c)));
            let plain: Vec<u8> = cells.flat_map(u32::to_le_bytes).collect();
            let stored = encode_chunk(&plain, &filters, &mut scratch).unwrap();
            entries.push(ChunkEntry { offset: bytes.len() as u64, size: stored.len() as u32, filter_mask: 0 });
            bytes.extend_from_slice(&stored);
        }
        let filters = filters.iter().map(|f| f.decoder()).collect();
        let table = ChunkTable { chunk_shape: vec![rows, columns], grid, filters, entries };
        (MemorySource::new("a.nc", bytes), array(Layout::Chunked(table)))
    }

    fn array(layout: Layout) -> Arc<Standalone> {
        Arc::new(Standalone::laid_out("arr_a", DType::I32, &[6, 2], layout))
    }

    fn number(row: u64, column: u64) -> u32 {
        (10 * row + column) as u32
    }

    /// Every row there and back, to two places of the buffer.
    fn check(source: &MemorySource, array: &Arc<Standalone>) -> Variable {
        let mut variable = Variable::new(ArrayHash::from_bytes([1; 32]), array).unwrap();
        variable.push(8);
        variable.push(0);
        for row in (0..6).chain((0..6).rev()) {
            let mut out = [0xcd; 16];
            variable.read(source, row as usize, &mut out).unwrap();
            let element: Vec<u8> = [number(row, 0), number(row, 1)].into_iter().flat_map(u32::to_le_bytes).collect();
            assert_eq!((&out[..8], &out[8..]), (&element[..], &element[..]), "row {row}");
        }
        variable
    }

    #[test]
    fn several_bands_are_inflated_one_after_the_other() {
        for (rows, columns, chunks) in [(1, 2, 6), (2, 1, 6), (4, 2, 2), (5, 1, 4)] {
            let (source, array) = chunked(rows, columns);
            let mut variable = check(&source, &array);
            let bands = 6u64.div_ceil(rows);
            // The band at the turn is still there on the way back.
            assert_eq!(variable.chunks_inflated(), 2 * chunks - chunks / bands);
            variable.read(&source, 0, &mut [0; 16]).unwrap();
            assert_eq!(variable.chunks_inflated(), 2 * chunks - chunks / bands);
            assert_eq!(filtered_chunks(&array), chunks);
        }
        let plain = (0..6).flat_map(|r| [number(r, 0), number(r, 1)]).flat_map(u32::to_le_bytes);
        let source = MemorySource::new("a.nc", [0; 3].into_iter().chain(plain).collect());
        let variable = check(&source, &array(Layout::Contiguous { offset: 3 }));
        assert_eq!(variable.chunks_inflated(), 0);
    }

    #[test]
    fn what_lies_in_one_band_is_no_variable_of_bands() {
        let (_, one) = chunked(6, 1);
        let hash = ArrayHash::from_bytes([1; 32]);
        assert_eq!(filtered_chunks(&one), 2);
        for array in [one, array(Layout::Unallocated), array(Layout::Compact(vec![0; 48]))] {
            assert!(Variable::new(hash, &array).is_none());
        }
    }
}
