//! `ForecastReader`: a window of many forecasts at once. `selection` says which forecasts and which of them share a read,
//! `plan` where their arrays are; `dense` reads dense forecasts, `track` those that are derived from packed series.

mod blocks;
mod dense;
mod plan;
mod ring;
mod selection;
mod shape;
mod timeline;
mod track;

pub use selection::{ForecastEntry, ForecastSlot};
pub use timeline::ForecastTimeline;

use super::readahead::DEFAULT_READAHEAD;
use crate::series::{SeriesId, SeriesType, TimeReference};
use crate::store::arrays::ArrayFile;
use crate::store::{Filter, Shared, Store};
use crate::time::UnixMillis;
use crate::{Error, Result};
use plan::Plan;
use selection::{checked_type, Selection};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// How often a read looks for arrays that other handles keep moving while it runs.
const MAX_LOOKUPS: usize = 32;

/// Walks the forecasts of a filter over their common timeline. Its entries are those that matched when it was built; its
/// buffer is made then, and every read fills it anew. Each distinct array is read once for each window, however many
/// entries have it. Keeps the store's shared state alive, but not open.
pub struct ForecastReader {
    shared: Arc<Shared>,
    series_type: SeriesType,
    selection: Selection,
    /// A window of every slot.
    buffer: Vec<u8>,
    /// Whether the last read filled the buffer.
    filled: bool,
    ids: Vec<SeriesId>,
    /// The store's count of removals when every array was last known to belong to a series.
    removals: u64,
    /// Bytes that are decoded ahead at most.
    readahead: usize,
    /// `None` after arrays moved, until they are found again.
    plan: Option<Plan>,
    /// Chunks that earlier plans inflated.
    inflated: u64,
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
        let series_type = checked_type(filter)?;
        let shared = store.shared().clone();
        let removals = shared.removals();
        let selection = Selection::new(store.list(filter)?)?;
        let ids = selection.entries.iter().map(|entry| entry.info().id).collect();
        let mut buffer = Vec::new();
        buffer
            .try_reserve_exact(selection.bytes)
            .map_err(|_| Error::Integrity(format!("there is no memory for windows of {} bytes", selection.bytes)))?;
        buffer.resize(selection.bytes, 0);
        let readahead = DEFAULT_READAHEAD;
        let plan = shared.read_arrays(|arrays| selection.plan(arrays, readahead))?;
        Ok(ForecastReader {
            shared,
            series_type,
            selection,
            buffer,
            filled: false,
            ids,
            removals,
            readahead,
            plan: Some(plan),
            inflated: 0,
        })
    }

    /// Lets a sweep decode this many bytes ahead at most, on native threads that all readers share, from the next read on;
    /// 0 for none. It takes a few reads in one direction; other reads cost nothing more.
    pub fn set_readahead(&mut self, bytes: usize) {
        self.readahead = bytes;
        self.inflated += self.plan.take().map_or(0, |plan| plan.chunks_inflated());
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
        self.series_type
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
        self.check_removals()?;
        let shared = self.shared.clone();
        shared.read_arrays(|arrays| self.fill(arrays, k))
    }

    fn fill(&mut self, arrays: &ArrayFile, k: usize) -> Result<()> {
        for _ in 0..MAX_LOOKUPS {
            let plan = match &mut self.plan {
                Some(plan) => plan,
                none => none.insert(self.selection.plan(arrays, self.readahead)?),
            };
            if plan.read(arrays, k, &mut self.buffer)? {
                self.filled = true;
                return Ok(());
            }
            self.inflated += plan.chunks_inflated();
            self.plan = None;
        }
        let path = self.shared.path().display();
        Err(Error::Integrity(format!("{path}: arrays were moved {MAX_LOOKUPS} times during one read")))
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
        self.inflated + self.plan.as_ref().map_or(0, Plan::chunks_inflated)
    }

    fn known_timeline(&self) -> Result<&ForecastTimeline> {
        self.selection.timeline.as_ref().ok_or_else(|| {
            Error::NotFound(format!(
                "there is nothing to read: the filter of this reader matched no {} of {}",
                self.series_type,
                self.shared.path().display()
            ))
        })
    }

    /// Fails when no series has the array of an entry any more. The catalog is asked only after removals. An entry whose
    /// own series was removed goes on as long as another series has its array.
    fn check_removals(&mut self) -> Result<()> {
        let removals = self.shared.removals();
        if removals == self.removals {
            return Ok(());
        }
        let missing = self.shared.missing_ids(&self.ids)?;
        let positions: HashMap<SeriesId, usize> = match missing.is_empty() {
            true => HashMap::new(),
            false => self.ids.iter().enumerate().map(|(k, id)| (*id, k)).collect(),
        };
        let mut referenced = HashMap::new();
        for id in missing {
            let info = self.selection.entries[positions[&id]].info();
            let still = match referenced.get(&info.hash) {
                Some(still) => *still,
                None => *referenced.entry(info.hash).or_insert(self.shared.is_referenced(&info.hash)?),
            };
            if !still {
                return Err(Error::NotFound(format!(
                    "{info} was removed from the store after this reader was built, and no other series has its values; \
                     build a new reader"
                )));
            }
        }
        self.removals = removals;
        Ok(())
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
            .field("store", &self.shared.path())
            .field("series_type", &self.series_type)
            .field("len", &self.len())
            .field("entries", &self.selection.entries.len())
            .field("slots", &self.selection.slots.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
