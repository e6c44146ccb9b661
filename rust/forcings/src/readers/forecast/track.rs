//! The derived forecasts whose series are columns of one packed dataset: their windows, out of rows that are decoded once
//! for all of them.

use super::ring::Ring;
use crate::array::ArrayHash;
use crate::chunks::ByteSource;
use crate::readers::columns::{Columns, Packed};
use crate::readers::link::Homed;
use crate::readers::rows::Cell;
use crate::store::arrays::{ArrayFile, PackedDataset};
use crate::Result;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

pub(super) struct Track {
    columns: Columns,
    /// Which of `columns` a column of the dataset is.
    known: HashMap<usize, usize>,
    /// Bytes of one step of one column, and the steps there are.
    block: usize,
    length: u64,
    windows: Vec<Window>,
    /// Rows from window to window, and those of the longest one.
    stride: usize,
    longest: usize,
    /// Made when the rows of a band are known.
    ring: Option<Ring>,
}

/// One slot.
struct Window {
    column: usize,
    steps: usize,
    /// Its bytes in the reader's buffer.
    at: Range<usize>,
}

impl Track {
    /// Windows of `dataset`, one every `stride` rows; none yet.
    pub(super) fn new(dataset: Arc<PackedDataset>, stride: usize) -> Self {
        let (block, length) = (dataset.pool.block(), dataset.pool.length as u64);
        let (known, windows) = (HashMap::new(), Vec::new());
        Track { columns: Columns::new(dataset), known, block, length, windows, stride, longest: 0, ring: None }
    }

    /// Adds the slot of windows of `steps` rows of a column, which holds this array.
    pub(super) fn push(&mut self, hash: ArrayHash, column: usize, steps: usize, at: Range<usize>) {
        let next = self.known.len();
        let position = *self.known.entry(column).or_insert(next);
        if position == next {
            self.columns.push(hash, Cell { column, at: next * self.block });
        }
        self.longest = self.longest.max(steps);
        self.windows.push(Window { column: position, steps, at });
    }

    /// Rows from window to window.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// Its windows by their number of steps, each as the column that its rows are of, with its place in the reader's
    /// buffer.
    pub(super) fn into_windows(self) -> BTreeMap<usize, Packed> {
        let packed = self.columns.into_packed();
        let columns: Vec<(ArrayHash, Cell)> = packed.columns().collect();
        let mut windows = BTreeMap::new();
        for Window { column, steps, at } in self.windows {
            let (hash, Cell { column, .. }) = columns[column];
            let of = windows.entry(steps).or_insert_with(|| Packed::new(packed.dataset.clone()));
            of.push(hash, Cell { column, at: at.start });
        }
        windows
    }

    /// Decodes `budget` bytes ahead at most, for as many windows as `count`.
    pub(super) fn read_ahead(&mut self, budget: usize, count: usize) {
        let end = count.saturating_sub(1) * self.stride + self.longest;
        self.columns.read_ahead(budget, 0..end as u64);
    }

    /// Copies a window of every slot into the reader's buffer. False, and nothing copied, when a column no longer holds
    /// its array.
    ///
    /// # Errors
    /// Those of [`Columns::read`].
    pub(super) fn read(&mut self, source: &Arc<dyn ByteSource>, window: usize, out: &mut [u8]) -> Result<bool> {
        let Track { columns, known, ring, .. } = self;
        let start = (window * self.stride) as u64;
        let end = start + self.longest as u64;
        columns.visit(source, |rows, dataset| {
            let ring = match ring {
                Some(ring) if ring.height() == rows.bands().height().clamp(1, self.length.max(1)) => ring,
                other => {
                    other.insert(Ring::new(known.len(), self.block, rows.bands().height(), self.longest, self.length)?)
                }
            };
            ring.cover(start..end, |row, out| rows.read(dataset, row, out))?;
            for Window { column, steps, at } in &self.windows {
                ring.copy(*column, start..start + *steps as u64, &mut out[at.clone()]);
            }
            Ok(())
        })
    }

    /// Whether the array file still has the dataset.
    pub(super) fn is_at_home(&self, arrays: &ArrayFile) -> bool {
        self.columns.is_at_home(arrays)
    }

    /// Chunks that were inflated so far.
    pub(super) fn chunks_inflated(&self) -> u64 {
        self.columns.chunks_inflated()
    }
}
