//! Which part of a series' array a read takes, and what the row says of that part. Knows rows and shapes, no files.

use super::cut::Cut;
use crate::array::Array;
use crate::series::{Series, SeriesInfo, SeriesType, Windows};
use crate::store::arrays::Slab;
use crate::time::UnixMillis;
use crate::{Error, Result};
use std::ops::Range;

/// A part of a series.
#[derive(Debug)]
pub(super) struct Part {
    /// The row, as it is for this part alone.
    pub(super) info: SeriesInfo,
    /// The windows of a forecast that are in it.
    pub(super) windows: Option<Windows>,
    /// The axis of the array along which the part is taken, and what of it.
    pub(super) axis: usize,
    pub(super) range: Range<usize>,
    /// How the values of a derived forecast are cut out of those rows.
    pub(super) cut: Option<Cut>,
}

impl Part {
    /// The whole series.
    ///
    /// # Errors
    /// `Integrity` when the row contradicts itself.
    pub(super) fn whole(info: SeriesInfo) -> Result<Self> {
        if let Some(windows) = info.windows()? {
            let all = 0..windows.count;
            return Self::of_windows(info, windows, all);
        }
        let length = info.array_shape()?[0];
        check_timestamps(&info)?;
        Ok(Self::of_rows(info, 0..length))
    }

    /// What of the series lies in `[from, to)`, by the rules of its type.
    ///
    /// # Errors
    /// `InvalidParameter` when the range makes no sense for the series, naming it; `Integrity` as [`Part::whole`].
    pub(super) fn overlapping(info: SeriesInfo, from: Option<UnixMillis>, to: Option<UnixMillis>) -> Result<Self> {
        if let (Some(from), Some(to)) = (from, to) {
            if to < from {
                return Err(Error::invalid(format!("the range ends at {to}, before it begins at {from}")));
            }
        }
        let name = info.to_string();
        let part = match info.series_type {
            SeriesType::SingleTimeSeries => Self::of_steps(info, from, to),
            SeriesType::NonSequentialTimeSeries => Self::of_instants(info, from, to),
            SeriesType::PersistentTimeSeries => Self::of_breakpoints(info, from, to),
            _ => Self::of_forecast(info, from, to),
        };
        part.map_err(|e| match e {
            Error::InvalidParameter(why) => Error::InvalidParameter(format!("{name}: {why}")),
            other => other,
        })
    }

    /// What of the array it takes.
    pub(super) fn slab(&self) -> Slab {
        Slab { hash: self.info.hash, axis: self.axis, range: self.range.clone() }
    }

    /// The series with these values, which the array has there.
    ///
    /// # Errors
    /// `Integrity` when they are fewer than the windows of a derived forecast need.
    pub(super) fn filled(self, values: Array) -> Result<Series> {
        let Part { info, windows, cut, .. } = self;
        let values = match cut {
            Some(cut) => cut.windows(&values, 0, windows.map_or(0, |w| w.count))?,
            None => values,
        };
        Ok(Series { info, windows, values })
    }

    /// The steps whose cover overlaps the range.
    fn of_steps(mut info: SeriesInfo, from: Option<UnixMillis>, to: Option<UnixMillis>) -> Result<Self> {
        let grid = info.grid()?;
        let start = from.map_or(0, |t| grid.floor_index(t));
        let stop = to.map_or(grid.len(), |t| grid.ceil_index(t)).max(start);
        let slice = grid.slice(start, stop - start)?;
        info.initial = Some(slice.start());
        Ok(Self::of_rows(info, start..stop))
    }

    /// The instants that lie in the range.
    fn of_instants(mut info: SeriesInfo, from: Option<UnixMillis>, to: Option<UnixMillis>) -> Result<Self> {
        let timestamps = taken_timestamps(&mut info)?;
        let before = |bound: UnixMillis| timestamps.partition_point(|t| *t < bound);
        let start = from.map_or(0, before);
        let stop = to.map_or(timestamps.len(), before).max(start);
        info.timestamps = Some(timestamps[start..stop].to_vec());
        Ok(Self::of_rows(info, start..stop))
    }

    /// The breakpoint in force at the start of the range, and those inside. A range without extent has none.
    fn of_breakpoints(mut info: SeriesInfo, from: Option<UnixMillis>, to: Option<UnixMillis>) -> Result<Self> {
        let timestamps = taken_timestamps(&mut info)?;
        let stop = to.map_or(timestamps.len(), |bound| timestamps.partition_point(|t| *t < bound));
        let start = match from {
            None => 0,
            Some(from) if to == Some(from) => stop,
            Some(from) => timestamps.partition_point(|t| *t <= from).checked_sub(1).ok_or_else(|| {
                let first = timestamps
                    .first()
                    .map_or("it has no breakpoint".into(), |t| format!("its first breakpoint is {t}"));
                Error::invalid(format!("it has no value at {from}: {first}"))
            })?,
        };
        info.timestamps = Some(timestamps[start..stop].to_vec());
        Ok(Self::of_rows(info, start..stop))
    }

    /// The windows that start in the range.
    fn of_forecast(info: SeriesInfo, from: Option<UnixMillis>, to: Option<UnixMillis>) -> Result<Self> {
        let windows = info.windows()?.ok_or_else(|| Error::Integrity(format!("{info} has no windows")))?;
        let range = windows.select(from, to)?;
        Self::of_windows(info, windows, range)
    }

    fn of_windows(mut info: SeriesInfo, windows: Windows, range: Range<usize>) -> Result<Self> {
        let part = windows.part(&range)?;
        info.initial = Some(part.initial);
        info.count = Some(range.len() as u64);
        let Some(axis) = info.series_type.window_axis() else {
            return Self::of_derived(info, windows, range);
        };
        info.element_shape[axis - 1] = range.len();
        Ok(Part { info, windows: Some(part), axis, range, cut: None })
    }

    /// A derived forecast is read as the `Deterministic` that it stands for.
    fn of_derived(mut info: SeriesInfo, windows: Windows, range: Range<usize>) -> Result<Self> {
        let cut = Cut::of(&windows).map_err(|e| Error::Integrity(format!("{info}: {e}")))?;
        let length = info.array_shape()?[0];
        let rows = match cut.rows(&(0..windows.count), length) {
            Some(_) => cut.rows(&range, length),
            None => None,
        };
        let rows = rows.ok_or_else(|| {
            Error::Integrity(format!("{info} has {} windows, more than its {length} steps hold", windows.count))
        })?;
        info.series_type = SeriesType::Deterministic;
        info.length = Some(cut.steps as u64);
        info.element_shape.insert(0, range.len());
        Ok(Part { info, windows: Some(windows.part(&range)?), axis: 0, range: rows, cut: Some(cut) })
    }

    /// The rows that a derived forecast is cut out of, instead of the forecast.
    pub(super) fn uncut(mut self) -> Self {
        if self.cut.take().is_some() {
            self.info.series_type = SeriesType::DeterministicSingleTimeSeries;
            self.info.length = Some(self.range.len() as u64);
            self.info.element_shape.remove(0);
        }
        self
    }

    fn of_rows(mut info: SeriesInfo, range: Range<usize>) -> Self {
        info.length = Some(range.len() as u64);
        Part { info, windows: None, axis: 0, range, cut: None }
    }
}

/// The instants of an irregular series, out of its row.
fn taken_timestamps(info: &mut SeriesInfo) -> Result<Vec<UnixMillis>> {
    check_timestamps(info)?;
    Ok(info.timestamps.take().unwrap_or_default())
}

/// Refuses an irregular series whose instants are not as many as its steps, or do not ascend.
fn check_timestamps(info: &SeriesInfo) -> Result<()> {
    match info.series_type {
        SeriesType::NonSequentialTimeSeries | SeriesType::PersistentTimeSeries => info.instants().map(drop),
        _ => Ok(()),
    }
}
