//! Reading series and listing them.

mod part;

use super::{Filter, Store};
use crate::array::Array;
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

    /// The whole series.
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
    ///
    /// # Errors
    /// As [`Store::read`]; `InvalidParameter` when `to` lies before `from`, when a `PersistentTimeSeries` has no value at
    /// `from`, or when the steps make no grid of their own (a calendar period cut at a shortened month end).
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
            // The last series of an array takes it over.
            let values = if uses[place] == 0 { arrays[place].take() } else { arrays[place].clone() };
            matching(Part::whole(info)?.info, values.expect("taken by its last use only"))
        });
        series.collect()
    }

    fn read_part(&self, part: Part) -> Result<Series> {
        let Part { info, axis, range } = part;
        let values = self.shared.arrays()?.read_slab(&info.hash, axis, range).map_err(|e| match e {
            Error::NotFound(why) => Error::NotFound(format!("the array of {info} is missing: {why}")),
            Error::Selection(why) => {
                Error::Integrity(format!("the array of {info} is not what the catalog says: {why}"))
            }
            other => other,
        })?;
        matching(info, values)
    }
}

/// Puts a row and its array together if they fit.
fn matching(info: SeriesInfo, values: Array) -> Result<Series> {
    let shape = info.array_shape()?;
    if values.dtype() != info.dtype || values.shape() != shape {
        return Err(Error::Integrity(format!(
            "the catalog has {info} with the type {} and the shape {shape:?}, its array has {} and {:?}",
            info.dtype.name(),
            values.dtype().name(),
            values.shape()
        )));
    }
    Ok(Series { info, values })
}
