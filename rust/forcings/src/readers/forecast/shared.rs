//! The windows of a `ForecastReader` for any number of threads.

use super::blocks::{grow, Blocks};
use super::plan::{Plan, Whole};
use super::selection::{ForecastEntry, ForecastSlot, Selection};
use super::timeline::ForecastTimeline;
use crate::readers::columns::Packed;
use crate::readers::link::{Homed, Origin, SharedLink};
use crate::readers::shared::{Kept, SharedColumns, Shelf, Tools};
use crate::store::arrays::ArrayFile;
use crate::Result;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// Reads a window of many forecasts.
pub(crate) struct SharedForecasts {
    link: SharedLink<SharedPlan>,
    selection: Arc<Selection>,
    timeline: ForecastTimeline,
    shelf: Shelf,
}

/// A window of every slot.
pub(crate) struct WindowValues<'a> {
    slots: &'a [ForecastSlot],
    buffer: &'a [u8],
}

/// Where the windows of every slot come from.
struct SharedPlan {
    /// The array file's when every place was last known to hold.
    stamp: AtomicU64,
    tracks: Vec<SharedTrack>,
    dense: Vec<SharedDense>,
    whole: Vec<Whole>,
}

/// Windows of one length out of the rows of one dataset.
struct SharedTrack {
    columns: SharedColumns,
    steps: u64,
    /// Rows from window to window.
    stride: u64,
}

/// A dense forecast, and its blocks that were decoded last.
struct SharedDense {
    blocks: Arc<Blocks>,
    kept: Kept,
    /// Its bytes in the buffer of a read.
    at: Range<usize>,
}

impl SharedForecasts {
    /// Finds every array of a selection that is not empty.
    ///
    /// # Errors
    /// `Closed`, and those of finding the arrays.
    pub(super) fn new(origin: Origin, selection: Arc<Selection>, timeline: ForecastTimeline) -> Result<Self> {
        let link = SharedLink::new(origin, |arrays| SharedPlan::new(&selection, arrays))?;
        Ok(SharedForecasts { link, selection, timeline, shelf: Shelf::default() })
    }

    /// The timeline that every forecast is on.
    pub(crate) fn timeline(&self) -> &ForecastTimeline {
        &self.timeline
    }

    /// The forecasts, by owner id, owner category, name and features.
    pub(crate) fn entries(&self) -> &[ForecastEntry] {
        &self.selection.entries
    }

    /// The distinct reads, in the order of their first entries.
    pub(crate) fn slots(&self) -> &[ForecastSlot] {
        &self.selection.slots
    }

    /// Reads window `k`, and gives `take` the windows of the slots.
    ///
    /// # Errors
    /// As [`ForecastReader::read_window`](super::ForecastReader::read_window), and those of `take`.
    pub(crate) fn read<T>(&self, k: usize, take: impl FnOnce(WindowValues) -> Result<T>) -> Result<T> {
        self.timeline.at(k)?;
        self.shelf.with(|tools| {
            let mut buffer = tools.buffers.pop().unwrap_or_default();
            let filled = self.fill(k, &mut buffer, tools);
            let result = filled.and_then(|()| take(WindowValues { slots: self.slots(), buffer: &buffer }));
            tools.buffers.push(buffer);
            result
        })
    }

    /// Chunks that were inflated so far; those of arrays whose chunks hold parts of windows do not count.
    pub(crate) fn chunks_inflated(&self) -> u64 {
        self.shelf.chunks_inflated()
    }

    fn fill(&self, k: usize, buffer: &mut Vec<u8>, tools: &mut Tools) -> Result<()> {
        let selection = &*self.selection;
        let buffer = grow(buffer, selection.bytes)?;
        self.link.origin().check_removals(|| selection.entries.iter().map(ForecastEntry::info))?;
        let plan = |arrays: &_| SharedPlan::new(selection, arrays);
        self.link.read(plan, |plan, arrays| plan.read(arrays, k, buffer, tools))
    }
}

impl WindowValues<'_> {
    /// The window of a slot that exists: row-major in its window shape, little-endian.
    pub(crate) fn of(&self, slot: usize) -> &[u8] {
        &self.buffer[self.slots[slot].at.clone()]
    }
}

impl SharedPlan {
    fn new(selection: &Selection, arrays: &ArrayFile) -> Result<Self> {
        let Plan { stamp, tracks, dense, whole, .. } = selection.plan(arrays, 0)?;
        let tracks = tracks.into_iter().flat_map(|track| {
            let stride = track.stride() as u64;
            track.into_windows().into_iter().map(move |(steps, packed)| SharedTrack::new(packed, steps, stride))
        });
        let dense = dense.into_iter().flat_map(|dense| dense.into_blocks()).map(|(blocks, at)| {
            // The block of a window, and one for a window read beside it.
            SharedDense { blocks, kept: Kept::new(2), at }
        });
        Ok(SharedPlan { stamp: stamp.into(), tracks: tracks.collect(), dense: dense.collect(), whole })
    }

    /// Fills the buffer with a window of every slot; false when an array is no longer where it was.
    fn read(&self, arrays: &ArrayFile, window: usize, buffer: &mut [u8], tools: &mut Tools) -> Result<bool> {
        if !self.holds(arrays) {
            return Ok(false);
        }
        for SharedTrack { columns, steps, stride } in &self.tracks {
            let start = window as u64 * stride;
            if !columns.read(&**arrays.source(), start..start + steps, buffer, tools)? {
                return Ok(false);
            }
        }
        for dense in &self.dense {
            dense.read(arrays, window, buffer, tools)?;
        }
        self.whole.iter().for_each(|whole| whole.copy(window, buffer));
        Ok(true)
    }

    /// Whether no dataset and no variable was put elsewhere, and every array that is kept whole is still stored.
    fn holds(&self, arrays: &ArrayFile) -> bool {
        let stamp = arrays.stamp();
        if stamp == self.stamp.load(Ordering::Acquire) {
            return true;
        }
        let there = self.tracks.iter().all(|track| track.columns.is_at_home(arrays))
            && self.whole.iter().all(|whole| whole.is_stored(arrays))
            && self.dense.iter().all(|dense| dense.blocks.is_at_home(arrays));
        if there {
            self.stamp.store(stamp, Ordering::Release);
        }
        there
    }
}

impl SharedTrack {
    fn new(packed: Packed, steps: usize, stride: u64) -> Self {
        let steps = steps as u64;
        SharedTrack { columns: SharedColumns::new(packed, steps), steps, stride }
    }
}

impl SharedDense {
    fn read(&self, arrays: &ArrayFile, window: usize, buffer: &mut [u8], tools: &mut Tools) -> Result<()> {
        let SharedDense { blocks, kept, at } = self;
        let (block, within) = (window / blocks.edge(), window % blocks.edge());
        let decode = |windows: &mut Vec<u8>| {
            // Of the largest block, so that the buffer does for any other.
            let windows = &mut grow(windows, blocks.bytes())?[..blocks.bytes_of(block)];
            match blocks.are_stored() {
                true => tools.inflated += blocks.decode(&**arrays.source(), block, windows, &mut tools.bench)?,
                false => blocks.gather(arrays, block, windows)?,
            }
            Ok(())
        };
        kept.with(block as u64, decode, |windows| {
            buffer[at.clone()].copy_from_slice(&windows[within * at.len()..][..at.len()]);
        })
    }
}
