//! Columns to rows and back: whole chunks made of the columns of many arrays, and columns taken out of whole chunks.

use super::packed::{PackedDataset, RowChunks};
use super::parallel;
use crate::array::ArrayHash;
use crate::chunks::{
    check_expansion, encode_chunk, fetch_chunk, ByteSource, ChunkEntry, ChunkSite, EncodeFilter, Scratch,
};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::ops::Range;

/// Bytes of the chunks that one job makes: enough that a column gives a run of cache lines to each.
const JOB_BYTES: usize = 1 << 20;
/// The least jobs that a thread gets, so that all end at about the same time.
const JOBS_PER_THREAD: usize = 4;

/// What a column becomes.
#[derive(Clone, Copy)]
pub(super) enum Edit<'a> {
    /// These bytes, one whole array.
    Set(&'a [u8]),
    /// Zeros.
    Zero,
}

/// New content for a dataset's chunks.
pub(super) struct Rewrite<'a> {
    pub(super) dataset: &'a PackedDataset,
    /// Rows of one chunk.
    pub(super) rows: usize,
    pub(super) encoders: &'a [EncodeFilter],
    /// What the chunks hold now; columns without an edit keep it. `None` where nothing was written yet.
    pub(super) present: Option<(&'a dyn ByteSource, &'a RowChunks<'a>)>,
    /// Columns that change.
    pub(super) edits: &'a [(usize, Edit<'a>)],
}

impl Rewrite<'_> {
    /// Encodes every chunk on all cores, and hands them to `write` with the first row of each, in order.
    ///
    /// # Errors
    /// `Format` when a present chunk is damaged; those of `write`.
    pub(super) fn run(&self, mut write: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        let dataset = self.dataset;
        let total = dataset.pool.length * dataset.row_bytes();
        if total == 0 {
            return Ok(());
        }
        let chunks = dataset.pool.length.div_ceil(self.rows);
        let threads = parallel::threads_for(total);
        let shared = chunks.div_ceil(JOBS_PER_THREAD * threads);
        let each = (JOB_BYTES / (self.rows * dataset.row_bytes())).clamp(1, shared);
        let produce =
            |job: usize, scratch: &mut Scratch| self.encode(job * each..((job + 1) * each).min(chunks), scratch);
        parallel::in_order(chunks.div_ceil(each), threads, produce, |job, encoded| {
            let first = job * each;
            encoded.iter().enumerate().try_for_each(|(i, bytes)| write(((first + i) * self.rows) as u64, bytes))
        })
    }

    fn encode(&self, chunks: Range<usize>, scratch: &mut Scratch) -> Result<Vec<Vec<u8>>> {
        let len = chunks.len() * self.rows * self.dataset.row_bytes();
        let mut plain = std::mem::take(&mut scratch.plain);
        if plain.len() < len {
            plain = zeroed(len)?;
        }
        let encoded = self.encode_in(&mut plain[..len], chunks, scratch);
        scratch.plain = plain;
        encoded
    }

    /// Makes chunks in `plain`, whatever that holds, and encodes them.
    fn encode_in(&self, plain: &mut [u8], chunks: Range<usize>, scratch: &mut Scratch) -> Result<Vec<Vec<u8>>> {
        let dataset = self.dataset;
        let (row, block, length) = (dataset.row_bytes(), dataset.pool.block(), dataset.pool.length);
        let chunk_bytes = self.rows * row;
        for (chunk, bytes) in chunks.clone().zip(plain.chunks_exact_mut(chunk_bytes)) {
            let entry = self.present.and_then(|(_, present)| present.table.entries.get(chunk));
            match (self.present, entry) {
                (Some((source, present)), Some(entry)) if !entry.is_absent() => {
                    let site = ChunkSite { path: source.path(), what: &dataset.name, chunk };
                    fetch_chunk(source, *entry, &present.table.filters, bytes, scratch, &site)?;
                }
                // Every cell of a new chunk in the file gets a column's bytes below.
                _ if self.edits.len() == dataset.cols && (chunk + 1) * self.rows <= length => {}
                _ => bytes.chunks_exact_mut(dataset.fill.len()).for_each(|cell| cell.copy_from_slice(&dataset.fill)),
            }
        }
        let rows = chunks.start * self.rows..(chunks.end * self.rows).min(length);
        for &(column, edit) in self.edits {
            let cells = &mut plain[column * block..];
            match edit {
                Edit::Set(bytes) => place(&bytes[rows.start * block..rows.end * block], cells, block, row),
                Edit::Zero => (0..rows.len()).for_each(|r| cells[r * row..r * row + block].fill(0)),
            }
        }
        plain.chunks_exact(chunk_bytes).map(|chunk| encode_chunk(chunk, self.encoders, scratch)).collect()
    }
}

/// Some columns of a dataset, read together.
pub(super) struct Columns<'a> {
    pub(super) dataset: &'a PackedDataset,
    pub(super) source: &'a dyn ByteSource,
    pub(super) chunks: RowChunks<'a>,
    /// Positions on the second axis.
    pub(super) columns: &'a [(usize, ArrayHash)],
    pub(super) rows: Range<usize>,
}

impl Columns<'_> {
    /// Reads the rows of each column; every chunk is decoded once, by one of all cores.
    ///
    /// # Errors
    /// `Integrity` when a chunk of a column that is taken was never written, `Format` when one is damaged.
    pub(super) fn read(&self) -> Result<Vec<Vec<u8>>> {
        let block = self.dataset.pool.block();
        let own = self.rows.len() * block;
        if own == 0 {
            return Ok(vec![Vec::new(); self.columns.len()]);
        }
        let height = self.chunks.rows;
        let chunks = self.rows.start / height..self.rows.end.div_ceil(height);
        // Before there is memory for what a damaged file only claims to have.
        chunks.clone().try_for_each(|chunk| self.entry(chunk).map(drop))?;
        let mut columns = Vec::new();
        for _ in self.columns {
            columns.push(zeroed(own)?);
        }
        let threads = parallel::threads_for(self.rows.len() * self.dataset.row_bytes()).min(chunks.len());
        // Each part is a run of chunks with the pieces of the columns that they fill.
        let each = chunks.len().div_ceil(threads);
        let mut rests: Vec<&mut [u8]> = columns.iter_mut().map(Vec::as_mut_slice).collect();
        let mut parts = Vec::new();
        for start in chunks.clone().step_by(each) {
            let part = start..(start + each).min(chunks.end);
            let bytes = self.clipped(&part).len() * block;
            let mut pieces = Vec::with_capacity(rests.len());
            for rest in &mut rests {
                let (piece, others) = std::mem::take(rest).split_at_mut(bytes);
                pieces.push(piece);
                *rest = others;
            }
            parts.push((part, pieces));
        }
        let parts = Mutex::new(parts.into_iter());
        let next = || parts.lock().next();
        let work = || -> Result<()> {
            while let Some((part, pieces)) = next() {
                self.fill(part, pieces)?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            // Where the system refuses another thread, this one does its work.
            let spawn = |_| std::thread::Builder::new().spawn_scoped(scope, work).ok();
            let others: Vec<_> = (1..threads).filter_map(spawn).collect();
            others.into_iter().fold(work(), |result, other| {
                let other = other.join();
                result.and(other.unwrap_or_else(|_| Err(Error::Panic("a read of chunks panicked".into()))))
            })
        })?;
        Ok(columns)
    }

    /// Where a chunk lies, if it was written and may have all the bytes of one.
    fn entry(&self, chunk: usize) -> Result<ChunkEntry> {
        let entry = self.chunks.table.entries.get(chunk).filter(|entry| !entry.is_absent());
        let entry = *entry.ok_or_else(|| {
            let path = self.source.path().display();
            Error::Integrity(format!("{path}: chunk {chunk} of {} was never written", self.dataset.name))
        })?;
        let bytes = self.chunks.rows * self.dataset.row_bytes();
        check_expansion(entry, &self.chunks.table.filters, bytes, &self.site(chunk)).map(|()| entry)
    }

    fn site(&self, chunk: usize) -> ChunkSite<'_> {
        ChunkSite { path: self.source.path(), what: &self.dataset.name, chunk }
    }

    /// The rows of these chunks that are asked for.
    fn clipped(&self, chunks: &Range<usize>) -> Range<usize> {
        let height = self.chunks.rows;
        (chunks.start * height).max(self.rows.start)..(chunks.end * height).min(self.rows.end)
    }

    fn fill(&self, part: Range<usize>, mut pieces: Vec<&mut [u8]>) -> Result<()> {
        let (row, block) = (self.dataset.row_bytes(), self.dataset.pool.block());
        let mut scratch = Scratch::new();
        let mut plain = zeroed(self.chunks.rows * row)?;
        let first = self.clipped(&part).start;
        for chunk in part {
            let (entry, site) = (self.entry(chunk)?, self.site(chunk));
            fetch_chunk(self.source, entry, &self.chunks.table.filters, &mut plain, &mut scratch, &site)?;
            let rows = self.clipped(&(chunk..chunk + 1));
            let within = (rows.start - chunk * self.chunks.rows) * row;
            let target = (rows.start - first) * block..(rows.end - first) * block;
            for ((column, _), piece) in self.columns.iter().zip(&mut pieces) {
                take(&plain[within + column * block..], &mut piece[target.clone()], block, row);
            }
        }
        Ok(())
    }
}

/// Puts the blocks of `column` into `cells`, one every `stride` bytes.
fn place(column: &[u8], cells: &mut [u8], block: usize, stride: usize) {
    // Blocks of a known size are copied by one instruction instead of a call.
    fn fixed<const N: usize>(column: &[u8], cells: &mut [u8], stride: usize) {
        for (value, row) in column.chunks_exact(N).zip(cells.chunks_mut(stride)) {
            if let (Some(to), Some(from)) = (row.first_chunk_mut::<N>(), value.first_chunk::<N>()) {
                *to = *from;
            }
        }
    }
    match block {
        8 => fixed::<8>(column, cells, stride),
        4 => fixed::<4>(column, cells, stride),
        _ => column.chunks_exact(block).zip(cells.chunks_mut(stride)).for_each(|(value, row)| {
            row[..block].copy_from_slice(value);
        }),
    }
}

/// Takes the blocks of a column out of `cells`, one every `stride` bytes.
fn take(cells: &[u8], column: &mut [u8], block: usize, stride: usize) {
    fn fixed<const N: usize>(cells: &[u8], column: &mut [u8], stride: usize) {
        for (value, row) in column.chunks_exact_mut(N).zip(cells.chunks(stride)) {
            if let (Some(to), Some(from)) = (value.first_chunk_mut::<N>(), row.first_chunk::<N>()) {
                *to = *from;
            }
        }
    }
    match block {
        8 => fixed::<8>(cells, column, stride),
        4 => fixed::<4>(cells, column, stride),
        _ => column.chunks_exact_mut(block).zip(cells.chunks(stride)).for_each(|(value, row)| {
            value.copy_from_slice(&row[..block]);
        }),
    }
}

/// A buffer of zeros, or an error where a damaged file asks for more than there is.
pub(super) fn zeroed(len: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| Error::Integrity(format!("no memory for an array of {len} bytes")))?;
    bytes.resize(len, 0);
    Ok(bytes)
}
