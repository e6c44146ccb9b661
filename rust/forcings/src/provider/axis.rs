//! The time axis of one file: which dimension it is, and its times.

use super::pool::OpenFile;
use super::time_unit::TimeUnit;
use crate::dataset::Schema;
use crate::time::cf::{Calendar, CfTime};
use crate::{Error, Result};
use std::path::Path;

/// The CF time axis of a file.
pub(super) struct FileAxis {
    /// Its numbers.
    pub(super) raw: Vec<f64>,
    /// The same in Unix seconds; or why they have none.
    pub(super) unix: Result<Vec<f64>>,
    /// The calendar; `None` where it is not understood.
    pub(super) calendar: Option<Calendar>,
    /// What its numbers count, in the file's own words.
    pub(super) unit: TimeUnit,
}

/// The dimension along which the records of a file lie: the one asked for, or the only one with CF time units.
///
/// # Errors
/// `NotFound` when the file has no such dimension, `InvalidParameter` when several could be meant.
pub(super) fn find_time_dim(schema: &Schema, asked: Option<&str>, path: &Path) -> Result<Option<String>> {
    if let Some(asked) = asked {
        require_dim(schema, asked, path)?;
        return Ok(Some(asked.into()));
    }
    let candidates: Vec<&str> = schema.dimension_names().filter(|d| schema.time_units(d).is_some()).collect();
    match candidates[..] {
        [] => Ok(None),
        [one] => Ok(Some(one.into())),
        _ => Err(Error::invalid(format!(
            "{}: several dimensions have CF time units ({}); choose one with time_dim",
            path.display(),
            candidates.join(", ")
        ))),
    }
}

/// The length of the time dimension of a file.
///
/// # Errors
/// `NotFound` when the file has no such dimension.
pub(super) fn require_dim(schema: &Schema, dim: &str, path: &Path) -> Result<u64> {
    schema.dimension_len(dim).ok_or_else(|| {
        let present: Vec<&str> = schema.dimension_names().collect();
        Error::NotFound(format!(
            "{}: there is no dimension \"{dim}\" for time_dim; present are {}",
            path.display(),
            present.join(", ")
        ))
    })
}

impl FileAxis {
    /// Reads the CF time axis along `dim`; `None` where the dimension has no coordinate with CF time units.
    ///
    /// # Errors
    /// Those of reading the coordinate.
    pub(super) fn read(file: &OpenFile, dim: &str, path: &Path) -> Result<Option<Self>> {
        let Some((units, calendar)) = file.schema.time_units(dim) else { return Ok(None) };
        let raw = file.schema.coordinate_numbers(&*file.container, dim)?;
        let fault = |detail: String| Error::format(path, format!("time axis \"{dim}\": {detail}"));
        let axis = CfTime::parse(&units, calendar.as_deref()).map_err(|e| fault(e.to_string()));
        let unit = TimeUnit::Axis { units, calendar };
        let (calendar, unix) = match axis {
            Ok(axis) => {
                let unix = |(record, value): (usize, &f64)| {
                    axis.to_unix(*value).map_err(|e| fault(format!("record {record} (counted from 0): {e}")))
                };
                (Some(axis.calendar()), raw.iter().enumerate().map(unix).collect())
            }
            Err(e) => (None, Err(e)),
        };
        Ok(Some(FileAxis { raw, unix, calendar, unit }))
    }
}
