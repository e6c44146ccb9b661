//! A stored series: its row in the catalog, and that row with values.

use super::{describe, Features, Owner, SeriesId, SeriesType, TimeReference, Windows};
use crate::array::{Array, ArrayHash, DType};
use crate::time::{Grid, Period, UnixMillis};
use crate::{Error, Result};
use std::fmt;

/// What the catalog knows of a series. Fields that its type does not have are `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesInfo {
    /// Its number.
    pub id: SeriesId,
    /// Whose it is.
    pub owner: Owner,
    /// Its type.
    pub series_type: SeriesType,
    /// Its name.
    pub name: String,
    /// The first instant of a regular series or a forecast.
    pub initial: Option<UnixMillis>,
    /// The step of a regular series, or of one forecast window.
    pub resolution: Option<Period>,
    /// The extent of the first axis of the stored array; for static series the number of steps.
    pub length: Option<u64>,
    /// The span of one forecast window.
    pub horizon: Option<Period>,
    /// The distance of forecast windows.
    pub interval: Option<Period>,
    /// The number of forecast windows.
    pub count: Option<u64>,
    /// The instants of an irregular series.
    pub timestamps: Option<Vec<UnixMillis>>,
    /// The percentiles of a probabilistic forecast.
    pub percentiles: Option<Vec<f64>>,
    /// The element type.
    pub dtype: DType,
    /// The axes of the stored array behind the first.
    pub element_shape: Vec<usize>,
    /// The unit of the values.
    pub units: Option<String>,
    /// Text that belongs to the caller; never parsed.
    pub ext: Option<String>,
    /// How its instants are to be spelled.
    pub time_reference: Option<TimeReference>,
    /// The features.
    pub features: Features,
    /// The content hash of the array.
    pub hash: ArrayHash,
}

impl SeriesInfo {
    /// The grid of a regular series.
    ///
    /// # Errors
    /// `Integrity` when the catalog lacks a part of it, or the parts make no grid.
    pub fn grid(&self) -> Result<Grid> {
        if self.series_type != SeriesType::SingleTimeSeries {
            return Err(Error::Integrity(format!("{self} has no grid of steps")));
        }
        let (Some(initial), Some(resolution), Some(length)) = (self.initial, self.resolution, self.length) else {
            return Err(Error::Integrity(format!("{self} has no initial timestamp, resolution or length")));
        };
        usize::try_from(length).ok().and_then(|n| Grid::new(initial, resolution, n).ok()).ok_or_else(|| {
            Error::Integrity(format!("{self}: {length} steps of {resolution} from {initial} are no grid"))
        })
    }

    /// The instants of an irregular series: as many as its steps, and ascending.
    ///
    /// # Errors
    /// `Integrity` when the catalog has no such instants.
    pub(crate) fn instants(&self) -> Result<&[UnixMillis]> {
        let timestamps =
            self.timestamps.as_deref().ok_or_else(|| Error::Integrity(format!("{self} has no timestamps")))?;
        if self.length != Some(timestamps.len() as u64) {
            return Err(Error::Integrity(format!("{self} has {} timestamps and another length", timestamps.len())));
        }
        if !timestamps.is_sorted_by(|a, b| a < b) {
            return Err(Error::Integrity(format!("the timestamps of {self} do not ascend")));
        }
        Ok(timestamps)
    }

    /// The windows of a forecast; `None` for another type.
    ///
    /// # Errors
    /// `Integrity` when the catalog lacks a part of them, or they contradict each other or the shape of the array.
    pub fn windows(&self) -> Result<Option<Windows>> {
        if !self.series_type.is_forecast() {
            return Ok(None);
        }
        let count = self.count.and_then(|n| usize::try_from(n).ok());
        let (Some(initial), Some(resolution), Some(horizon), Some(interval), Some(count)) =
            (self.initial, self.resolution, self.horizon, self.interval, count)
        else {
            return Err(Error::Integrity(format!(
                "{self} lacks its initial timestamp, its resolution, horizon, interval, or count"
            )));
        };
        let windows = Windows { initial, resolution, horizon, interval, count };
        windows.validate().map_err(|e| Error::Integrity(format!("{self}: {e}")))?;
        if let Some(axis) = self.series_type.window_axis() {
            let shape = self.array_shape()?;
            if shape.get(axis - 1..=axis) != Some(&[windows.steps()?, count]) {
                return Err(Error::Integrity(format!(
                    "{self} has {count} windows of {horizon}, but an array of shape {shape:?}"
                )));
            }
        }
        Ok(Some(windows))
    }

    /// The shape of the stored array.
    ///
    /// # Errors
    /// `Integrity` when the catalog has no length.
    pub fn array_shape(&self) -> Result<Vec<usize>> {
        let length = self.length.and_then(|n| usize::try_from(n).ok());
        let length = length.ok_or_else(|| Error::Integrity(format!("{self} has no length")))?;
        Ok(std::iter::once(length).chain(self.element_shape.iter().copied()).collect())
    }
}

impl fmt::Display for SeriesInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&describe(self.series_type, &self.name, &self.owner, self.resolution, &self.features))?;
        write!(f, " (id {})", self.id)
    }
}

/// A series with its values. After a read by range, `info` has the axis of what was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// The row of the catalog.
    pub info: SeriesInfo,
    /// The windows of a forecast.
    pub windows: Option<Windows>,
    /// The values. The axes of a static series are `[steps, *element_shape]`, those of a forecast `[steps, windows,
    /// *element_shape]`, with percentiles or scenarios in front of them.
    pub values: Array,
}
