//! Rows of one packed dataset, `(time, column, *element)`: one time step of chosen columns, copied into a caller's
//! buffer. Keeps the chunks of the last band of rows, so that a sweep in either direction inflates each chunk once.
//! Knows neither series nor locks: the caller vouches for the layout it passes.

use crate::chunks::{check_expansion, fetch_chunk, is_filtered, ByteSource, ChunkSite, ChunkTable, Layout, Scratch};
use crate::{Error, Result};
use std::collections::HashMap;

/// The bytes of a band of rows that are not chunked.
const BAND_BYTES: usize = 64 << 10;

/// A column, and where its element goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cell {
    /// Position on the dataset's second axis.
    pub column: usize,
    /// The first byte in the output.
    pub at: usize,
}

/// A dataset at one moment.
#[derive(Clone, Copy)]
pub(crate) struct RowSource<'a> {
    /// The bytes that the layout points into.
    pub source: &'a dyn ByteSource,
    /// Where the rows lie.
    pub layout: &'a Layout,
    /// `(time, column, *element)`.
    pub shape: &'a [u64],
    /// Bytes of one number.
    pub width: usize,
    /// The dataset's name for error texts.
    pub what: &'a str,
}

/// Reads rows of one dataset. Buffers are made when it is built; reading allocates nothing.
///
/// A chunk that was never written is an error: a column that is taken was written in full.
pub(crate) struct RowReader {
    /// Rows of a band.
    height: u64,
    /// Slots of one band in the chunk table.
    per_band: usize,
    slots: Vec<Slot>,
    /// The band that the slots hold.
    band: Option<u64>,
    scratch: Scratch,
    inflated: u64,
}

/// The part of every band that lies in one column of chunks.
struct Slot {
    /// Its position among the chunks of a band.
    chunk: usize,
    /// Bytes of one row; for rows that are not chunked, of the part that is read.
    row_bytes: usize,
    /// The bytes of the whole row, and those before the part that is read.
    stride: usize,
    skip: usize,
    bytes: Vec<u8>,
    copies: Copies,
}

/// What is copied from a row of a slot to the output.
#[derive(Default)]
struct Copies {
    /// Elements of `unit` bytes that have no neighbour to be copied with: source and target.
    singles: Vec<(usize, usize)>,
    unit: usize,
    /// Source, target and length.
    runs: Vec<(usize, usize, usize)>,
}

impl RowReader {
    /// A reader of these cells; `cells` are best in the order of the output.
    ///
    /// # Errors
    /// `Integrity` when the dataset has no such column or a layout that packed datasets do not have, `Format` when its
    /// chunk table is damaged.
    pub(crate) fn new(dataset: &RowSource, cells: &[Cell]) -> Result<Self> {
        let RowSource { layout, shape, what, .. } = *dataset;
        let columns = shape.get(1).copied().unwrap_or(0);
        if let Some(cell) = cells.iter().find(|c| c.column as u64 >= columns) {
            return Err(Error::Integrity(format!(
                "{what} has {columns} columns, but column {} is asked for",
                cell.column
            )));
        }
        let mut reader =
            RowReader { height: 1, per_band: 1, slots: Vec::new(), band: None, scratch: Scratch::new(), inflated: 0 };
        match layout {
            Layout::Chunked(table) => reader.plan_chunks(dataset, table, cells)?,
            Layout::Contiguous { .. } | Layout::Compact(_) | Layout::Unallocated => reader.plan_rows(dataset, cells)?,
            Layout::Records { .. } => {
                return Err(Error::Integrity(format!("{what} is laid out by records, which no packed dataset is")))
            }
        }
        Ok(reader)
    }

    /// Copies the cells of `row` into `out`. `dataset` must have the layout that the reader was built with.
    ///
    /// # Errors
    /// `Format` when a chunk is damaged or lies outside the file, `Integrity` when it was never written, `Unsupported` for
    /// unknown filters, `Io`.
    pub(crate) fn read(&mut self, dataset: &RowSource, row: u64, out: &mut [u8]) -> Result<()> {
        let band = row / self.height;
        if self.band != Some(band) {
            self.band = None;
            self.load(dataset, band)?;
            self.band = Some(band);
        }
        for slot in &self.slots {
            let start = (row % self.height) as usize * slot.row_bytes;
            slot.copies.run(&slot.bytes[start..start + slot.row_bytes], out);
        }
        Ok(())
    }

    /// The rows of a band: those that are decoded together.
    pub(crate) fn height(&self) -> u64 {
        self.height
    }

    /// Chunks that were inflated so far.
    pub(crate) fn chunks_inflated(&self) -> u64 {
        self.inflated
    }

    fn load(&mut self, dataset: &RowSource, band: u64) -> Result<()> {
        let RowSource { source, layout, shape, what, .. } = *dataset;
        let path = source.path();
        for slot in &mut self.slots {
            let chunk = band as usize * self.per_band + slot.chunk;
            match layout {
                Layout::Chunked(table) => {
                    let entry = *table.entries.get(chunk).ok_or_else(|| table_error(dataset))?;
                    if entry.is_absent() {
                        return Err(unwritten(dataset, chunk));
                    }
                    let site = ChunkSite { path, what, chunk };
                    self.inflated += u64::from(is_filtered(&table.filters, entry.filter_mask));
                    fetch_chunk(source, entry, &table.filters, &mut slot.bytes, &mut self.scratch, &site)?;
                }
                Layout::Unallocated => return Err(unwritten(dataset, chunk)),
                Layout::Compact(bytes) => {
                    let rows = slot.band_rows(band, self.height, shape[0]);
                    for (k, row) in rows.enumerate() {
                        let start = row as usize * slot.stride + slot.skip;
                        let from = bytes.get(start..start + slot.row_bytes).ok_or_else(|| table_error(dataset))?;
                        slot.bytes[k * slot.row_bytes..][..slot.row_bytes].copy_from_slice(from);
                    }
                }
                Layout::Contiguous { offset } => {
                    let rows = slot.band_rows(band, self.height, shape[0]);
                    let len = (rows.end - rows.start) as usize * slot.row_bytes;
                    let start =
                        rows.start.checked_mul(slot.stride as u64).and_then(|n| n.checked_add(slot.skip as u64));
                    let start = start.and_then(|n| n.checked_add(*offset)).ok_or_else(|| table_error(dataset))?;
                    source.read_at(start, &mut slot.bytes[..len])?;
                }
                Layout::Records { .. } => return Err(table_error(dataset)),
            }
        }
        Ok(())
    }

    /// Rows that follow each other without chunks: one slot, of the columns from the first to the last that is read.
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
        let mut copies = Copies { unit: block, ..Copies::default() };
        for cell in cells {
            copies.push((cell.column - first) * block, cell.at, block);
        }
        copies.settle();
        let stored = !matches!(dataset.layout, Layout::Unallocated);
        let bytes = buffer(if stored { row_bytes * self.height as usize } else { 0 }, dataset)?;
        self.slots = vec![Slot { chunk: 0, row_bytes, stride, skip: first * block, bytes, copies }];
        Ok(())
    }

    fn plan_chunks(&mut self, dataset: &RowSource, table: &ChunkTable, cells: &[Cell]) -> Result<()> {
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
                    let copies = Copies { unit, ..Copies::default() };
                    self.slots.push(Slot { chunk, row_bytes, stride: 0, skip: 0, bytes: Vec::new(), copies });
                    self.slots.len() - 1
                });
                self.slots[slot].copies.push(within * unit, cell.at + part * unit, unit);
            }
        }
        // Buffers for the largest chunk, so that no later one has to grow them.
        for slot in &mut self.slots {
            let stored = entries.iter().skip(slot.chunk).step_by(self.per_band.max(1)).filter(|e| !e.is_absent());
            if let Some(&largest) = stored.max_by_key(|e| e.size) {
                let site = ChunkSite { path: dataset.source.path(), what: dataset.what, chunk: slot.chunk };
                check_expansion(largest, filters, chunk_bytes, &site)?;
                let size = usize::try_from(dataset.source.len()).unwrap_or(usize::MAX).min(largest.size as usize);
                self.scratch.reserve(size, chunk_bytes, filters, &site)?;
                slot.bytes = buffer(chunk_bytes, dataset)?;
            }
            slot.copies.settle();
        }
        Ok(())
    }
}

impl Slot {
    fn band_rows(&self, band: u64, height: u64, length: u64) -> std::ops::Range<u64> {
        band * height..((band + 1) * height).min(length)
    }
}

impl Copies {
    /// Adds a copy, as a part of the last one where it continues that.
    fn push(&mut self, from: usize, to: usize, len: usize) {
        match self.runs.last_mut() {
            Some((f, t, n)) if *f + *n == from && *t + *n == to => *n += len,
            _ => self.runs.push((from, to, len)),
        }
    }

    /// Parts single elements from longer runs, since they are copied faster when their length is known.
    fn settle(&mut self) {
        let unit = self.unit;
        self.singles = self.runs.iter().filter(|r| r.2 == unit).map(|r| (r.0, r.1)).collect();
        self.runs.retain(|r| r.2 != unit);
    }

    fn run(&self, row: &[u8], out: &mut [u8]) {
        for &(from, to, len) in &self.runs {
            out[to..to + len].copy_from_slice(&row[from..from + len]);
        }
        match self.unit {
            1 => self.run_singles::<1>(row, out),
            4 => self.run_singles::<4>(row, out),
            8 => self.run_singles::<8>(row, out),
            unit => {
                for &(from, to) in &self.singles {
                    out[to..to + unit].copy_from_slice(&row[from..from + unit]);
                }
            }
        }
    }

    fn run_singles<const UNIT: usize>(&self, row: &[u8], out: &mut [u8]) {
        for &(from, to) in &self.singles {
            out[to..to + UNIT].copy_from_slice(&row[from..from + UNIT]);
        }
    }
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

fn buffer(len: usize, dataset: &RowSource) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| {
        Error::format(dataset.source.path(), format!("{}: no memory for {len} bytes of one chunk", dataset.what))
    })?;
    bytes.resize(len, 0);
    Ok(bytes)
}

fn unwritten(dataset: &RowSource, chunk: usize) -> Error {
    let path = dataset.source.path().display();
    Error::Integrity(format!("{path}: chunk {chunk} of {} was never written", dataset.what))
}

fn table_error(dataset: &RowSource) -> Error {
    let detail = format!("{}: its layout does not fit its shape {:?}", dataset.what, dataset.shape);
    Error::format(dataset.source.path(), detail)
}

#[cfg(test)]
mod tests;
