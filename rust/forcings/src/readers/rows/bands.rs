//! Bands of rows: those rows of a dataset that are decoded together. Which chunks the cells that are read lie in, how
//! these are decoded into one buffer, and what is copied from there. Nothing in it changes, so any thread may use it.

use super::copies::Copies;
use super::{Cell, RowSource};
use crate::chunks::{check_expansion, fetch_chunk, is_filtered, ChunkSite, ChunkTable, Layout, Scratch};
use crate::{Error, Result};
use std::collections::HashMap;
use std::ops::Range;

/// The bytes of a band of rows that are not chunked.
const BAND_BYTES: usize = 64 << 10;

pub(crate) struct Bands {
    /// Rows of a band, and all rows there are.
    height: u64,
    length: u64,
    /// Chunks of one band in the chunk table.
    per_band: usize,
    parts: Vec<Part>,
    /// Bytes of all parts of one band.
    bytes: usize,
}

/// The part of every band that lies in one column of chunks.
struct Part {
    /// Its position among the chunks of a band.
    chunk: usize,
    /// Bytes of one row; for rows that are not chunked, of what is read.
    row_bytes: usize,
    /// The bytes of the whole row, and those before what is read.
    stride: usize,
    skip: usize,
    /// Its bytes in the buffer of a band.
    at: Range<usize>,
    copies: Copies,
}

impl Bands {
    /// The bands of a dataset, as far as these cells need them. Makes room in `scratch` for the largest chunk.
    ///
    /// # Errors
    /// `Integrity` when the dataset has no such column or a layout that packed datasets do not have, `Format` when its
    /// chunk table is damaged.
    pub(crate) fn new(dataset: &RowSource, cells: &[Cell], scratch: &mut Scratch) -> Result<Self> {
        let (columns, what) = (dataset.shape.get(1).copied().unwrap_or(0), dataset.what);
        if let Some(cell) = cells.iter().find(|c| c.column as u64 >= columns) {
            let column = cell.column;
            return Err(Error::Integrity(format!("{what} has {columns} columns, but column {column} is asked for")));
        }
        let length = dataset.shape.first().copied().unwrap_or(0);
        let mut bands = Bands { height: 1, length, per_band: 1, parts: Vec::new(), bytes: 0 };
        match dataset.layout {
            Layout::Chunked(table) => bands.plan_chunks(dataset, table, cells, scratch)?,
            Layout::Contiguous { .. } | Layout::Compact(_) | Layout::Unallocated => bands.plan_rows(dataset, cells)?,
            Layout::Records { .. } | Layout::Stored(_) => {
                return Err(Error::Integrity(format!("{what} is laid out as no packed dataset is")));
            }
        }
        Ok(bands)
    }

    /// The rows of a band.
    pub(crate) fn height(&self) -> u64 {
        self.height
    }

    /// The number of bands.
    pub(crate) fn count(&self) -> u64 {
        self.length.div_ceil(self.height)
    }

    /// Bytes of one decoded band.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Decodes a band into `out`, and answers how many chunks it inflated. `dataset` must have the layout that the bands
    /// were planned for.
    ///
    /// # Errors
    /// As [`RowReader::read`](super::RowReader::read).
    pub(crate) fn load(&self, dataset: &RowSource, band: u64, out: &mut [u8], scratch: &mut Scratch) -> Result<u64> {
        let RowSource { source, layout, what, .. } = *dataset;
        let path = source.path();
        let rows = band * self.height..((band + 1) * self.height).min(self.length);
        let mut inflated = 0;
        for part in &self.parts {
            let chunk = band as usize * self.per_band + part.chunk;
            let out = &mut out[part.at.clone()];
            match layout {
                Layout::Chunked(table) => {
                    let entry = *table.entries.get(chunk).ok_or_else(|| table_error(dataset))?;
                    if entry.is_absent() {
                        return Err(unwritten(dataset, chunk));
                    }
                    let site = ChunkSite { path, what, chunk };
                    inflated += u64::from(is_filtered(&table.filters, entry.filter_mask));
                    fetch_chunk(source, entry, &table.filters, out, scratch, &site)?;
                }
                Layout::Unallocated => return Err(unwritten(dataset, chunk)),
                Layout::Compact(bytes) => {
                    for (row, out) in rows.clone().zip(out.chunks_exact_mut(part.row_bytes.max(1))) {
                        let start = row as usize * part.stride + part.skip;
                        let from = bytes.get(start..start + part.row_bytes).ok_or_else(|| table_error(dataset))?;
                        out.copy_from_slice(from);
                    }
                }
                Layout::Contiguous { offset } => {
                    let len = (rows.end - rows.start) as usize * part.row_bytes;
                    let start =
                        rows.start.checked_mul(part.stride as u64).and_then(|n| n.checked_add(part.skip as u64));
                    let start = start.and_then(|n| n.checked_add(*offset)).ok_or_else(|| table_error(dataset))?;
                    source.read_at(start, &mut out[..len])?;
                }
                Layout::Records { .. } | Layout::Stored(_) => return Err(table_error(dataset)),
            }
        }
        Ok(inflated)
    }

    /// Copies the cells of `row` out of the bytes of its band.
    pub(crate) fn copy(&self, band: &[u8], row: u64, out: &mut [u8]) {
        let within = (row % self.height) as usize;
        for part in &self.parts {
            let start = part.at.start + within * part.row_bytes;
            part.copies.run(&band[start..start + part.row_bytes], out);
        }
    }

    /// Rows that follow each other without chunks: one part, of the columns from the first to the last that is read.
    fn plan_rows(&mut self, dataset: &RowSource, cells: &[Cell]) -> Result<()> {
        let block = product(&dataset.shape[2..], dataset.width).ok_or_else(|| table_error(dataset))?;
        let stride = product(&dataset.shape[1..], dataset.width).ok_or_else(|| table_error(dataset))?;
        if block == 0 {
            return Ok(());
        }
        let first = cells.iter().map(|c| c.column).min().unwrap_or(0);
        let last = cells.iter().map(|c| c.column + 1).max().unwrap_or(0);
        let row_bytes = (last - first) * block;
        self.height = if row_bytes == stride { (BAND_BYTES / stride.max(1)).max(1) as u64 } else { 1 };
        self.height = self.height.min(dataset.shape[0].max(1));
        let mut copies = Copies::of(block);
        for cell in cells {
            copies.push((cell.column - first) * block, cell.at, block);
        }
        copies.settle();
        let stored = !matches!(dataset.layout, Layout::Unallocated);
        self.bytes = if stored { row_bytes * self.height as usize } else { 0 };
        self.parts = vec![Part { chunk: 0, row_bytes, stride, skip: first * block, at: 0..self.bytes, copies }];
        Ok(())
    }

    fn plan_chunks(
        &mut self,
        dataset: &RowSource,
        table: &ChunkTable,
        cells: &[Cell],
        scratch: &mut Scratch,
    ) -> Result<()> {
        let RowSource { shape, width, .. } = *dataset;
        let damaged = || table_error(dataset);
        let ChunkTable { chunk_shape, grid, filters, entries } = table;
        let fits = chunk_shape.len() == shape.len()
            && !chunk_shape.contains(&0)
            && shape.iter().zip(chunk_shape).map(|(s, c)| s.div_ceil(*c)).eq(grid.iter().copied())
            && product(grid, 1) == Some(entries.len());
        if !fits {
            return Err(damaged());
        }
        // Element axes that a chunk holds whole and without padding become one wide number.
        let whole = (2..shape.len()).rev().take_while(|&k| chunk_shape[k] == shape[k]).count();
        let kept = shape.len() - whole;
        let unit = product(&shape[kept..], width).ok_or_else(damaged)?;
        let row_bytes = product(&chunk_shape[1..kept], unit).ok_or_else(damaged)?;
        let chunk_bytes = product(&chunk_shape[..1], row_bytes).ok_or_else(damaged)?;
        let parts = product(&shape[2..kept], 1).ok_or_else(damaged)?;
        self.height = chunk_shape[0];
        self.per_band = product(&grid[1..], 1).ok_or_else(damaged)?;
        let mut known: HashMap<usize, usize> = HashMap::new();
        for cell in cells {
            for part in 0..parts {
                let (chunk, within) = locate(cell.column, part, &shape[1..kept], &chunk_shape[1..kept], &grid[1..kept]);
                let slot = *known.entry(chunk).or_insert_with(|| {
                    let copies = Copies::of(unit);
                    self.parts.push(Part { chunk, row_bytes, stride: 0, skip: 0, at: 0..0, copies });
                    self.parts.len() - 1
                });
                self.parts[slot].copies.push(within * unit, cell.at + part * unit, unit);
            }
        }
        // Room for the largest chunk, so that no later one has to make more.
        for part in &mut self.parts {
            let stored = entries.iter().skip(part.chunk).step_by(self.per_band.max(1)).filter(|e| !e.is_absent());
            if let Some(&largest) = stored.max_by_key(|e| e.size) {
                let site = ChunkSite { path: dataset.source.path(), what: dataset.what, chunk: part.chunk };
                check_expansion(largest, filters, chunk_bytes, &site)?;
                let size = usize::try_from(dataset.source.len()).unwrap_or(usize::MAX).min(largest.size as usize);
                scratch.reserve(size, chunk_bytes, filters, &site)?;
                let end = self.bytes.checked_add(chunk_bytes).ok_or_else(damaged)?;
                part.at = self.bytes..end;
                self.bytes = end;
            }
            part.copies.settle();
        }
        Ok(())
    }
}

/// Makes a buffer that long.
pub(crate) fn make_room(bytes: &mut Vec<u8>, len: usize, dataset: &RowSource) -> Result<()> {
    bytes.try_reserve_exact(len.saturating_sub(bytes.len())).map_err(|_| {
        Error::format(dataset.source.path(), format!("{}: no memory for {len} bytes of chunks", dataset.what))
    })?;
    bytes.resize(len, 0);
    Ok(())
}

/// The chunk of a band, and the position within one of its rows, of part `part` of a column's element.
fn locate(column: usize, part: usize, shape: &[u64], chunk: &[u64], grid: &[u64]) -> (usize, usize) {
    let mut rest = part as u64;
    let (mut slot, mut within, mut slots, mut cells) = (0, 0, 1, 1);
    for axis in (0..shape.len()).rev() {
        let at = if axis == 0 { column as u64 } else { rest % shape[axis] };
        if axis > 0 {
            rest /= shape[axis];
        }
        slot += at / chunk[axis] * slots;
        within += at % chunk[axis] * cells;
        slots *= grid[axis];
        cells *= chunk[axis];
    }
    (slot as usize, within as usize)
}

fn product(extents: &[u64], unit: usize) -> Option<usize> {
    let n = extents.iter().try_fold(unit as u64, |n, e| n.checked_mul(*e))?;
    usize::try_from(n).ok().filter(|n| *n <= isize::MAX as usize)
}

fn unwritten(dataset: &RowSource, chunk: usize) -> Error {
    let path = dataset.source.path().display();
    Error::Integrity(format!("{path}: chunk {chunk} of {} was never written", dataset.what))
}

fn table_error(dataset: &RowSource) -> Error {
    let detail = format!("{}: its layout does not fit its shape {:?}", dataset.what, dataset.shape);
    Error::format(dataset.source.path(), detail)
}
