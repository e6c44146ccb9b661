//! Reading series and listing them.

mod cut;
mod part;

use super::{Filter, Store};
use crate::array::Array;
use crate::series::{Series, SeriesId, SeriesInfo, Windows};
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
        self.read_part(Part::whole(self.shared.look(|session| session.catalog().find(id))?)?)
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
    /// `from`, when no window starts there, or when the steps make no grid of their own (a calendar period cut at a shortened month end).
    pub fn read_range(&self, id: SeriesId, from: Option<UnixMillis>, to: Option<UnixMillis>) -> Result<Series> {
        self.read_part(Part::overlapping(self.shared.look(|session| session.catalog().find(id))?, from, to)?)
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
        let mut arrays: Vec<_> = self.shared.arrays()?.read_many(&hashes)?.into_iter().map(Some).collect();
        let series = infos.into_iter().map(|info| {
            let place = places[&info.hash];
            uses[place] -= 1;
            let Part { info, windows, range, cut, .. } = Part::whole(info)?;
            let array = &mut arrays[place];
            let values = match (cut, &*array) {
                (Some(cut), Some(rows)) => Some(cut.windows(rows, range.start, windows.map_or(0, |w| w.count))?),
                // The last series of an array takes it over.
                (None, Some(_)) if uses[place] == 0 => array.take(),
                _ => array.clone(),
            };
            matching(info, windows, values.expect("taken by its last use only"))
        });
        series.collect()
    }

    fn read_part(&self, part: Part) -> Result<Series> {
        let Part { info, windows, axis, range, cut } = part;
        let mut values = self.shared.arrays()?.read_slab(&info.hash, axis, range).map_err(|e| match e {
            Error::NotFound(why) => Error::NotFound(format!("the array of {info} is missing: {why}")),
            Error::Selection(why) => {
                Error::Integrity(format!("the array of {info} is not what the catalog says: {why}"))
            }
            other => other,
        })?;
        if let Some(cut) = cut {
            values = cut.windows(&values, 0, windows.map_or(0, |w| w.count))?;
        }
        matching(info, windows, values)
    }
}

/// Puts a row and its array together if they fit.
fn matching(info: SeriesInfo, windows: Option<Windows>, values: Array) -> Result<Series> {
    let shape = info.array_shape()?;
    if values.dtype() != info.dtype || values.shape() != shape {
        return Err(Error::Integrity(format!(
            "the catalog has {info} with the type {} and the shape {shape:?}, its array has {} and {:?}",
            info.dtype.name(),
            values.dtype().name(),
            values.shape()
        )));
    }
    Ok(Series { info, windows, values })
}
