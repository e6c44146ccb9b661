//! Which part of a series' array a read takes, and what the row says of that part. Knows rows and shapes, no files.

use crate::series::{SeriesInfo, SeriesType};
use crate::time::UnixMillis;
use crate::{Error, Result};
use std::ops::Range;

/// A part of a series.
#[derive(Debug)]
pub(super) struct Part {
    /// The row, as it is for this part alone.
    pub(super) info: SeriesInfo,
    /// The axis of the array along which the part is taken, and what of it.
    pub(super) axis: usize,
    pub(super) range: Range<usize>,
}

impl Part {
    /// The whole series.
    ///
    /// # Errors
    /// `Integrity` when the row contradicts itself.
    pub(super) fn whole(info: SeriesInfo) -> Result<Self> {
        let length = info.array_shape()?[0];
        check_timestamps(&info)?;
        Ok(Part { info, axis: 0, range: 0..length })
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
            _ => Err(Error::Unsupported(format!("{name} cannot be read by a time range; read the whole series"))),
        };
        part.map_err(|e| match e {
            Error::InvalidParameter(why) => Error::InvalidParameter(format!("{name}: {why}")),
            other => other,
        })
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

    fn of_rows(mut info: SeriesInfo, range: Range<usize>) -> Self {
        info.length = Some(range.len() as u64);
        Part { info, axis: 0, range }
    }
}

/// The instants of an irregular series, out of its row.
fn taken_timestamps(info: &mut SeriesInfo) -> Result<Vec<UnixMillis>> {
    check_timestamps(info)?;
    Ok(info.timestamps.take().unwrap_or_default())
}

/// Refuses an irregular series whose instants are not as many as its steps, or do not ascend.
fn check_timestamps(info: &SeriesInfo) -> Result<()> {
    if !matches!(info.series_type, SeriesType::NonSequentialTimeSeries | SeriesType::PersistentTimeSeries) {
        return Ok(());
    }
    let timestamps = info.timestamps.as_deref().ok_or_else(|| Error::Integrity(format!("{info} has no timestamps")))?;
    if info.length != Some(timestamps.len() as u64) {
        return Err(Error::Integrity(format!("{info} has {} timestamps and another length", timestamps.len())));
    }
    if !timestamps.is_sorted_by(|a, b| a < b) {
        return Err(Error::Integrity(format!("the timestamps of {info} do not ascend")));
    }
    Ok(())
}
