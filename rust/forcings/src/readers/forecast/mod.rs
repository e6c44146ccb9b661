//! `ForecastReader`: a window of many forecasts at once. `selection` says which forecasts and which of them share a read,
//! `plan` where their arrays are; `dense` reads dense forecasts, `track` those that are derived from packed series.

mod blocks;
mod dense;
mod plan;
mod ring;
mod selection;
mod shape;
mod shared;
mod timeline;
mod track;

pub use selection::{ForecastEntry, ForecastSlot};
pub(crate) use shared::SharedForecasts;
pub use timeline::ForecastTimeline;

use super::link::Link;
use crate::series::{SeriesType, TimeReference};
use crate::store::arrays::ArrayFile;
use crate::store::{Filter, Store};
use crate::time::UnixMillis;
use crate::{Error, Result};
use plan::Plan;
use selection::{checked_type, Selection};
use std::fmt;
use std::sync::Arc;

/// Walks the forecasts of a filter over their common timeline. Its entries are those that matched when it was built; its
/// buffer is made then, and every read fills it anew. Each distinct array is read once for each window, however many
/// entries have it. Keeps the store's shared state alive, but not open.
pub struct ForecastReader {
    link: Link<Plan>,
    selection: Arc<Selection>,
    /// A window of every slot.
    buffer: Vec<u8>,
    /// Whether the last read filled the buffer.
    filled: bool,
}

impl ForecastReader {
    /// Builds a reader of the forecasts that match `filter`, which has to name one type of forecast and a resolution;
    /// `Deterministic` stands for derived forecasts too. A reader over nothing has no slots and length 0.
    ///
    /// # Errors
    /// `InvalidParameter` without a type of forecast or a resolution, and when the forecasts are not all on one timeline
    /// or mix instants and readings of a wall clock; `NotFound` for an array that is missing; `Integrity` for rows that
    /// contradict themselves or their arrays; `Closed`; errors of the catalog and of the disk.
    pub fn build(store: &Store, filter: &Filter) -> Result<Self> {
        let mut link = Link::new(store, checked_type(filter)?);
        let selection = Arc::new(Selection::new(store.list(filter)?)?);
        let mut buffer = Vec::new();
        buffer
            .try_reserve_exact(selection.bytes)
            .map_err(|_| Error::Integrity(format!("there is no memory for windows of {} bytes", selection.bytes)))?;
        buffer.resize(selection.bytes, 0);
        link.plan(|arrays, readahead| selection.plan(arrays, readahead))?;
        Ok(ForecastReader { link, selection, buffer, filled: false })
    }

    /// Lets a sweep decode this many bytes ahead at most, on native threads that all readers share, from the next read on;
    /// 0 for none. It takes a few reads in one direction; other reads cost nothing more.
    pub fn set_readahead(&mut self, bytes: usize) {
        self.link.set_readahead(bytes);
    }

    /// The number of windows.
    pub fn len(&self) -> usize {
        self.selection.count()
    }

    /// Whether the filter matched nothing.
    pub fn is_empty(&self) -> bool {
        self.selection.timeline.is_none()
    }

    /// The timeline that every entry is on; `None` when the filter matched nothing.
    pub fn timeline(&self) -> Option<&ForecastTimeline> {
        self.selection.timeline.as_ref()
    }

    /// The type of forecast that the filter named.
    pub fn series_type(&self) -> SeriesType {
        self.link.series_type()
    }

    /// How the instants of this reader are to be spelled: as those of its forecasts if all agree, else in UTC; `None` if
    /// none of them says.
    pub fn time_reference(&self) -> Option<&TimeReference> {
        self.selection.reference.as_ref()
    }

    /// The start of every window, in order.
    pub fn timestamps(&self) -> Vec<UnixMillis> {
        self.selection.timeline.iter().flat_map(|timeline| timeline.instants()).collect()
    }

    /// The start of window `k`.
    ///
    /// # Errors
    /// `OffGrid` when there is no window `k`, `NotFound` when the filter matched nothing.
    pub fn timestamp_at(&self, k: usize) -> Result<UnixMillis> {
        self.known_timeline()?.at(k)
    }

    /// The window that starts exactly at `at`.
    ///
    /// # Errors
    /// `OffGrid` when none does, `NotFound` when the filter matched nothing.
    pub fn index_at(&self, at: UnixMillis) -> Result<usize> {
        self.known_timeline()?.index_of(at)
    }

    /// The forecasts, by owner id, owner category, name and features.
    pub fn entries(&self) -> &[ForecastEntry] {
        &self.selection.entries
    }

    /// The distinct reads, in the order of their first entries.
    pub fn slots(&self) -> &[ForecastSlot] {
        &self.selection.slots
    }

    /// Fills the buffer with the window of every slot that starts exactly at `at`.
    ///
    /// # Errors
    /// `OffGrid` when none does; otherwise as [`ForecastReader::read_window`].
    pub fn read(&mut self, at: UnixMillis) -> Result<()> {
        self.filled = false;
        let window = self.index_at(at)?;
        self.read_window(window)
    }

    /// Fills the buffer with window `k` of every slot. After an error every slot is empty.
    ///
    /// # Errors
    /// `OffGrid` when there is no window `k`; `NotFound` naming a forecast that was removed with its array, or whose array
    /// is gone, and when the filter matched nothing; `Closed` after the store was closed; `Format`, `Integrity`,
    /// `Unsupported` and `Io` for what is wrong with the file.
    pub fn read_window(&mut self, k: usize) -> Result<()> {
        self.filled = false;
        self.known_timeline()?.at(k)?;
        let ForecastReader { link, selection, buffer, .. } = self;
        link.origin().check_removals(|| selection.entries.iter().map(ForecastEntry::info))?;
        link.read(|arrays, readahead| selection.plan(arrays, readahead), |plan, arrays| plan.read(arrays, k, buffer))?;
        self.filled = true;
        Ok(())
    }

    /// A slot's window as of the last read: row-major in its window shape, little-endian. Empty before the first read and
    /// after a failed one, and for a slot that does not exist.
    pub fn values(&self, slot: usize) -> &[u8] {
        match self.selection.slots.get(slot) {
            Some(slot) if self.filled => &self.buffer[slot.at.clone()],
            _ => &[],
        }
    }

    /// The chunks that were inflated so far, by reads and ahead of them.
    pub fn chunks_inflated(&self) -> u64 {
        self.link.chunks_inflated()
    }

    /// What any number of threads read the same windows by; it has no buffer.
    ///
    /// # Errors
    /// `NotFound` when the filter matched nothing; `Closed`, and those of finding the arrays.
    pub(crate) fn shared(&self) -> Result<SharedForecasts> {
        let timeline = *self.known_timeline()?;
        SharedForecasts::new(self.link.origin().clone(), self.selection.clone(), timeline)
    }

    fn known_timeline(&self) -> Result<&ForecastTimeline> {
        self.selection.timeline.as_ref().ok_or_else(|| self.link.origin().nothing_matched())
    }
}

impl Selection {
    fn count(&self) -> usize {
        self.timeline.map_or(0, |timeline| timeline.count())
    }

    fn plan(&self, arrays: &ArrayFile, readahead: usize) -> Result<Plan> {
        Plan::new(arrays, &self.slots, &self.entries, (self.count(), readahead))
    }
}

const _: () = {
    const fn may_move_to_another_thread<T: Send>() {}
    may_move_to_another_thread::<ForecastReader>();
};

impl fmt::Debug for ForecastReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForecastReader")
            .field("store", &self.link.origin().path())
            .field("series_type", &self.series_type())
            .field("len", &self.len())
            .field("entries", &self.selection.entries.len())
            .field("slots", &self.selection.slots.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
