//! Which forecasts a reader walks together: one timeline for all of them, their order, and which of them are one and the
//! same physical read. Knows the catalog's rows only.

use super::timeline::ForecastTimeline;
use crate::array::{byte_len, ArrayHash, DType};
use crate::readers::listed::{by_owner, common_reference};
use crate::series::{SeriesInfo, SeriesType, TimeReference};
use crate::store::Filter;
use crate::{Error, Result};
use std::collections::HashMap;
use std::ops::Range;

/// Where a window may begin in the buffer: a caller may look at it as numbers of the widest type.
const ALIGNMENT: usize = 8;

/// A forecast of a reader.
#[derive(Debug, Clone, PartialEq)]
pub struct ForecastEntry {
    info: SeriesInfo,
    slot: usize,
}

/// What is read once for each window: one stored array, and how windows are taken out of it. Any number of entries may
/// share it.
#[derive(Debug, Clone, PartialEq)]
pub struct ForecastSlot {
    dtype: DType,
    window_shape: Vec<usize>,
    pub(super) hash: ArrayHash,
    pub(super) access: Access,
    /// The first entry that has it.
    pub(super) entry: usize,
    /// Its bytes in the reader's buffer.
    pub(super) at: Range<usize>,
}

/// How the windows lie in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Access {
    /// Each is a position on this axis.
    Dense { axis: usize },
    /// Each has `steps` rows, and starts `stride` rows after the one before.
    Derived { steps: usize, stride: usize },
}

/// Forecasts that can be read together.
#[derive(Debug)]
pub(super) struct Selection {
    /// `None` when nothing was selected.
    pub(super) timeline: Option<ForecastTimeline>,
    pub(super) reference: Option<TimeReference>,
    /// By owner id, owner category, name and features.
    pub(super) entries: Vec<ForecastEntry>,
    /// In the order of their first entries.
    pub(super) slots: Vec<ForecastSlot>,
    /// Bytes of the buffer: one window of every slot, and what aligns them.
    pub(super) bytes: usize,
}

impl ForecastEntry {
    /// The row of the catalog.
    pub fn info(&self) -> &SeriesInfo {
        &self.info
    }

    /// The position of its slot among the reader's slots.
    pub fn slot(&self) -> usize {
        self.slot
    }
}

impl ForecastSlot {
    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape of one window: `[steps, *element_shape]`, with percentiles or scenarios in front.
    pub fn window_shape(&self) -> &[usize] {
        &self.window_shape
    }

    /// Bytes of one window.
    pub fn window_bytes(&self) -> usize {
        self.at.len()
    }
}

/// The type of forecast that a reader of this filter reads.
///
/// # Errors
/// `InvalidParameter` when the filter names no type of forecast, or no resolution.
pub(super) fn checked_type(filter: &Filter) -> Result<SeriesType> {
    let series_type = match filter.series_type {
        Some(series_type) if series_type.is_forecast() => series_type,
        Some(other) => {
            return Err(Error::invalid(format!(
                "a ForecastReader reads forecasts, and a {other} is none; use a StaticReader"
            )))
        }
        None => {
            return Err(Error::invalid(
                "a ForecastReader reads one type of forecast: set the filter's type to Deterministic, \
                 DeterministicSingleTimeSeries, Probabilistic or Scenarios",
            ))
        }
    };
    match filter.resolution {
        Some(_) => Ok(series_type),
        None => Err(Error::invalid("a reader walks one timeline: name the resolution of its forecasts")),
    }
}

impl Selection {
    /// Orders these forecasts and finds out which share a read.
    ///
    /// # Errors
    /// `InvalidParameter` when they are not all on one timeline, naming the first that differs from the first, or when
    /// some have readings of a wall clock and some instants; `Integrity` for a row that contradicts itself.
    pub(super) fn new(mut selected: Vec<SeriesInfo>) -> Result<Self> {
        selected.sort_by(by_owner);
        let mut selection =
            Selection { timeline: None, reference: None, entries: Vec::new(), slots: Vec::new(), bytes: 0 };
        selection.reference = common_reference("ForecastReader", &selected)?;
        let mut known: HashMap<(ArrayHash, DType, Access), usize> = HashMap::new();
        for info in selected {
            let broken = |e: Error| Error::Integrity(format!("{info}: {e}"));
            let windows = info.windows()?.ok_or_else(|| Error::Integrity(format!("{info} has no windows")))?;
            let timeline = ForecastTimeline::of(&windows).map_err(broken)?;
            let common = *selection.timeline.get_or_insert(timeline);
            if timeline != common {
                let first = &selection.entries[0].info;
                return Err(Error::invalid(format!(
                    "a reader walks one timeline: {info} has {timeline}, but {first} has {common}; narrow the filter \
                     (by interval, initial timestamp, owner, name, features or ids) to the forecasts of one timeline"
                )));
            }
            let access = match info.series_type.window_axis() {
                Some(axis) => Access::Dense { axis },
                None => {
                    let stride = windows.stride().map_err(broken)?;
                    Access::Derived { steps: windows.steps().map_err(broken)?, stride }
                }
            };
            let slot = match known.get(&(info.hash, info.dtype, access)) {
                Some(slot) => *slot,
                None => {
                    let slot = selection.add_slot(&info, access, windows.count)?;
                    known.insert((info.hash, info.dtype, access), slot);
                    slot
                }
            };
            selection.entries.push(ForecastEntry { info, slot });
        }
        Ok(selection)
    }

    /// Adds the slot of the entry that comes next.
    fn add_slot(&mut self, info: &SeriesInfo, access: Access, count: usize) -> Result<usize> {
        let mut window_shape = info.array_shape()?;
        match access {
            Access::Dense { axis } => drop(window_shape.remove(axis)),
            Access::Derived { steps, stride } => {
                let length = window_shape[0];
                let last = count.saturating_sub(1).checked_mul(stride).and_then(|first| first.checked_add(steps));
                if count > 0 && last.is_none_or(|end| end > length) {
                    return Err(Error::Integrity(format!(
                        "{info} has {count} windows of {steps} steps, more than its {length} steps hold"
                    )));
                }
                window_shape[0] = steps;
            }
        }
        let too_large = || Error::Integrity(format!("one window of {info} is too large"));
        let len = byte_len(info.dtype, &window_shape).map_err(|_| too_large())?;
        let start = self.bytes.checked_next_multiple_of(ALIGNMENT).ok_or_else(too_large)?;
        let end = start.checked_add(len).ok_or_else(too_large)?;
        let (hash, dtype, entry) = (info.hash, info.dtype, self.entries.len());
        self.slots.push(ForecastSlot { dtype, window_shape, hash, access, entry, at: start..end });
        self.bytes = end;
        Ok(self.slots.len() - 1)
    }
}
