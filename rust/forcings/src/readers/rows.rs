//! Rows of one packed dataset, `(time, column, *element)`: one time step of chosen columns, copied into a caller's
//! buffer. Keeps the chunks of the last band of rows, so that a sweep in either direction inflates each chunk once.
//! Knows neither series nor locks: the caller vouches for the layout it passes.

mod bands;
mod copies;

pub(crate) use bands::{make_room, Bands};

use super::readahead::{Ahead, Bench};
use crate::chunks::{ByteSource, Layout};
use crate::Result;
use std::ops::Range;
use std::sync::Arc;

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
    bands: Arc<Bands>,
    /// The band that `bytes` holds.
    band: Option<u64>,
    bytes: Vec<u8>,
    bench: Bench,
    inflated: u64,
    ahead: Option<Ahead>,
    /// The bands that it may come to.
    within: Range<u64>,
}

impl RowReader {
    /// A reader of these cells; `cells` are best in the order of the output.
    ///
    /// # Errors
    /// `Integrity` when the dataset has no such column or a layout that packed datasets do not have, `Format` when its
    /// chunk table is damaged.
    pub(crate) fn new(dataset: &RowSource, cells: &[Cell]) -> Result<Self> {
        let mut bench = Bench::default();
        let bands = Arc::new(Bands::new(dataset, cells, &mut bench.scratch)?);
        let mut bytes = Vec::new();
        make_room(&mut bytes, bands.bytes(), dataset)?;
        Ok(RowReader { bands, band: None, bytes, bench, inflated: 0, ahead: None, within: 0..0 })
    }

    /// Takes bands from `ahead`, which decodes those of [`RowReader::bands`], as far as they have some of `rows`.
    pub(crate) fn read_ahead(&mut self, ahead: Option<Ahead>, rows: &Range<u64>) {
        let height = self.bands.height();
        self.within = rows.start / height..rows.end.div_ceil(height).min(self.bands.count());
        self.ahead = ahead;
    }

    /// Copies the cells of `row` into `out`. `dataset` must have the layout that the reader was built with.
    ///
    /// # Errors
    /// `Format` when a chunk is damaged or lies outside the file, `Integrity` when it was never written, `Unsupported` for
    /// unknown filters, `Io`.
    pub(crate) fn read(&mut self, dataset: &RowSource, row: u64, out: &mut [u8]) -> Result<()> {
        let band = row / self.bands.height();
        if self.band != Some(band) {
            self.band = None;
            self.load(dataset, band)?;
            self.band = Some(band);
        }
        self.bands.copy(&self.bytes, row, out);
        Ok(())
    }

    /// How the bands lie.
    pub(crate) fn bands(&self) -> &Arc<Bands> {
        &self.bands
    }

    /// Chunks that were inflated so far.
    pub(crate) fn chunks_inflated(&self) -> u64 {
        self.inflated + self.ahead.as_ref().map_or(0, Ahead::chunks_inflated)
    }

    fn load(&mut self, dataset: &RowSource, band: u64) -> Result<()> {
        let Some(ahead) = &mut self.ahead else {
            self.inflated += self.bands.load(dataset, band, &mut self.bytes, &mut self.bench.scratch)?;
            return Ok(());
        };
        if !ahead.take(band, &mut self.bytes, &mut self.bench) {
            self.inflated += self.bands.load(dataset, band, &mut self.bytes, &mut self.bench.scratch)?;
        }
        ahead.moved(band, self.within.clone());
        Ok(())
    }
}

#[cfg(test)]
mod tests;
