//! Reading series and listing them.

mod cut;
mod part;

use super::arrays::Slab;
use super::{Filter, Store};
use crate::array::DType;
use crate::series::{Bound, Series, SeriesId, SeriesInfo, TimeRange};
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

    /// Whether any series matches.
    ///
    /// # Errors
    /// `InvalidParameter` for a pattern that is too long, `Closed`, `Catalog`.
    pub fn any(&self, filter: &Filter) -> Result<bool> {
        self.shared.look(|session| session.catalog().any(filter))
    }

    /// The whole series. A `DeterministicSingleTimeSeries` comes as the `Deterministic` that it stands for.
    ///
    /// # Errors
    /// `NotFound` when there is none with this id or its array is missing, `Integrity` when the row contradicts itself or
    /// the array, `Closed`, and errors of the files.
    pub fn read(&self, id: SeriesId) -> Result<Series> {
        self.read_part(Part::whole(self.row(id)?)?)
    }

    /// What of a series lies in `[from, to)`, by [`Store::read_within`]'s rules; the bounds float.
    ///
    /// # Errors
    /// As [`Store::read_within`].
    pub fn read_range(&self, id: SeriesId, from: Option<UnixMillis>, to: Option<UnixMillis>) -> Result<Series> {
        self.read_part(Part::overlapping(self.row(id)?, from, to)?)
    }

    /// What of each series lies in a range, in the order of the ids; an id may repeat. Series of one grid are read together:
    /// every chunk is decoded once for all of them.
    ///
    /// - `SingleTimeSeries`: the steps whose cover overlaps the range. A start inside a step begins with that step, an end
    ///   inside a step includes it, and bounds outside are the series' own.
    /// - `NonSequentialTimeSeries`: the instants inside the range.
    /// - `PersistentTimeSeries`: the breakpoint in force at the start, and those inside the range; none if it is empty.
    /// - Forecasts: the windows that start inside the range. It must start with one, or before the first.
    ///
    /// # Errors
    /// As [`Store::read`]; `InvalidParameter` when the end lies before the start, when a bound does not fit a series or the
    /// range has not one meaning for all of them ([`Bound`]), when a `PersistentTimeSeries` has no value at the start, when
    /// no window starts there, or when the steps make no grid of their own (a calendar period cut at a shortened month end).
    pub fn read_within(&self, ids: &[SeriesId], range: &TimeRange) -> Result<Vec<Series>> {
        if *range == TimeRange::default() {
            return self.read_many(ids);
        }
        self.read_parts(self.parts(ids, range)?)
    }

    /// As [`Store::read_within`], but a derived forecast keeps its type and comes with the steps of the regular series that
    /// its windows cover: values of shape `[steps, *element_shape]`, windows that overlap there.
    ///
    /// # Errors
    /// As [`Store::read_within`].
    pub fn read_as_stored(&self, ids: &[SeriesId], range: &TimeRange) -> Result<Vec<Series>> {
        self.read_parts(self.parts(ids, range)?.into_iter().map(Part::uncut).collect())
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

    fn row(&self, id: SeriesId) -> Result<SeriesInfo> {
        self.fitting(self.shared.look(|session| session.catalog().find(id))?)
    }

    /// The same row, if it says of its array what the array file says.
    fn fitting(&self, info: SeriesInfo) -> Result<SeriesInfo> {
        let shape = self.shared.read_arrays(|arrays| arrays.shape(&info.hash));
        let (dtype, shape) = shape.map_err(|e| missing(&info, e))?;
        check_fit(&info, dtype, &shape).map(|()| info)
    }

    fn parts(&self, ids: &[SeriesId], range: &TimeRange) -> Result<Vec<Part>> {
        let rows = self.shared.look(|session| session.catalog().find_many(ids))?;
        range.check(&rows)?;
        let (from, to) = (range.from.map(Bound::digits), range.to.map(Bound::digits));
        let part = |row| match self.fitting(row)? {
            whole if *range == TimeRange::default() => Part::whole(whole),
            row => Part::overlapping(row, from, to),
        };
        rows.into_iter().map(part).collect()
    }

    /// Reads many parts. Every chunk is decoded once.
    fn read_parts(&self, parts: Vec<Part>) -> Result<Vec<Series>> {
        let slabs: Vec<Slab> = parts.iter().map(Part::slab).collect();
        let values = self.shared.read_arrays(|arrays| arrays.read_slabs(&slabs))?;
        parts.into_iter().zip(values).map(|(part, values)| part.filled(values)).collect()
    }

    fn read_part(&self, part: Part) -> Result<Series> {
        let Slab { hash, axis, range } = part.slab();
        let values = self.shared.read_arrays(|arrays| arrays.read_slab(&hash, axis, range.clone()));
        let values = values.map_err(|e| missing(&part.info, e))?;
        part.filled(values)
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
