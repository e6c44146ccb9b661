//! Reading series and listing them.

mod cut;
mod part;

use super::arrays::ArrayFile;
use super::{Filter, Store};
use crate::array::DType;
use crate::series::{Series, SeriesId, SeriesInfo};
use crate::time::UnixMillis;
use crate::{Error, Result};
use part::Part;
use std::collections::HashMap;

impl Store {
    /// The series that match, by ascending id.
    ///
    /// # Errors
    /// `Closed`, `Integrity` for a row that cannot be read, `Catalog`.
    pub fn list(&self, filter: &Filter) -> Result<Vec<SeriesInfo>> {
        self.shared.look(|session| session.catalog().list(filter))
    }

    /// The whole series. A `DeterministicSingleTimeSeries` comes as the `Deterministic` that it stands for.
    ///
    /// # Errors
    /// `NotFound` when there is none with this id or its array is missing, `Integrity` when the row contradicts itself or
    /// the array, `Closed`, and errors of the files.
    pub fn read(&self, id: SeriesId) -> Result<Series> {
        self.read_part(Part::whole(self.fitting(id)?)?)
    }

    /// What of a series lies in `[from, to)`. A bound that is `None` is the series' own.
    ///
    /// - `SingleTimeSeries`: the steps whose cover overlaps the range. A start inside a step begins with that step, an end
    ///   inside a step includes it, and bounds outside are the series' own.
    /// - `NonSequentialTimeSeries`: the instants inside the range.
    /// - `PersistentTimeSeries`: the breakpoint in force at `from`, and those inside the range; none if it is empty.
    /// - Forecasts: the windows that start inside the range. `from` must be the start of one, or lie before the first.
    ///
    /// # Errors
    /// As [`Store::read`]; `InvalidParameter` when `to` lies before `from`, when a `PersistentTimeSeries` has no value at
    /// `from`, when no window starts there, or when the steps make no grid of their own (a calendar period cut at a shortened
    /// month end).
    pub fn read_range(&self, id: SeriesId, from: Option<UnixMillis>, to: Option<UnixMillis>) -> Result<Series> {
        self.read_part(Part::overlapping(self.fitting(id)?, from, to)?)
    }

    /// Many whole series, in the order of the ids; an id may repeat. Every chunk is decoded once, on all cores.
    ///
    /// # Errors
    /// As [`Store::read`]; any id that does not exist fails the call.
    pub fn read_many(&self, ids: &[SeriesId]) -> Result<Vec<Series>> {
        let infos = self.shared.look(|session| session.catalog().find_many(ids))?;
        let mut places = HashMap::new();
        let (mut hashes, mut uses) = (Vec::new(), Vec::new());
        for info in &infos {
            let place = *places.entry(info.hash).or_insert_with(|| {
                hashes.push(info.hash);
                uses.push(0usize);
                hashes.len() - 1
            });
            uses[place] += 1;
        }
        let mut arrays: Vec<_> =
            self.shared.read_arrays(|arrays| arrays.read_many(&hashes))?.into_iter().map(Some).collect();
        let series = infos.into_iter().map(|info| {
            let place = places[&info.hash];
            uses[place] -= 1;
            let array = arrays[place].as_ref().expect("taken by its last use only");
            check_fit(&info, array.dtype(), array.shape())?;
            let Part { info, windows, range, cut, .. } = Part::whole(info)?;
            let values = match cut {
                Some(cut) => cut.windows(array, range.start, windows.map_or(0, |w| w.count))?,
                // The last series of an array takes it over.
                None if uses[place] == 0 => arrays[place].take().expect("it was there"),
                None => array.clone(),
            };
            Ok(Series { info, windows, values })
        });
        series.collect()
    }

    /// The row of a series, which says of its array what the array file says.
    fn fitting(&self, id: SeriesId) -> Result<SeriesInfo> {
        let info = self.shared.look(|session| session.catalog().find(id))?;
        let (dtype, shape) =
            self.shared.read_arrays(|arrays| arrays.shape(&info.hash)).map_err(|e| missing(&info, e))?;
        check_fit(&info, dtype, &shape).map(|()| info)
    }

    fn read_part(&self, part: Part) -> Result<Series> {
        let Part { info, windows, axis, range, cut } = part;
        let read = |arrays: &ArrayFile| arrays.read_slab(&info.hash, axis, range.clone());
        let values = self.shared.read_arrays(read).map_err(|e| missing(&info, e))?;
        let values = match cut {
            Some(cut) => cut.windows(&values, 0, windows.map_or(0, |w| w.count))?,
            None => values,
        };
        Ok(Series { info, windows, values })
    }
}

/// Names the series whose array is missing.
fn missing(info: &SeriesInfo, error: Error) -> Error {
    match error {
        Error::NotFound(why) => Error::NotFound(format!("the array of {info} is missing: {why}")),
        other => other,
    }
}

/// Refuses a row that says something else of its array than the array file.
fn check_fit(info: &SeriesInfo, dtype: DType, shape: &[usize]) -> Result<()> {
    let wanted = info.array_shape()?;
    if (info.dtype, &wanted[..]) != (dtype, shape) {
        return Err(Error::Integrity(format!(
            "the catalog has {info} with the type {} and the shape {wanted:?}, its array has {} and {shape:?}",
            info.dtype.name(),
            dtype.name(),
        )));
    }
    Ok(())
}
