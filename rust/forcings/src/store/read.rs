//! Reading series and listing them.

use super::{Filter, Store};
use crate::array::DType;
use crate::series::{Series, SeriesId, SeriesInfo, SeriesType};
use crate::time::UnixMillis;
use crate::{Error, Result};
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
    /// `NotFound` when there is none with this id or its array is missing, `Integrity` when the array is not what the
    /// catalog says, `Closed`, and errors of the files.
    pub fn read(&self, id: SeriesId) -> Result<Series> {
        let info = self.shared.look(|session| session.catalog().find(id))?;
        let steps = *info.array_shape()?.first().expect("an array shape begins with the length");
        self.read_steps(info, 0, steps)
    }

    /// Those steps of a `SingleTimeSeries` whose cover overlaps `[from, to)`: a start inside a step begins with that
    /// step, an end inside a step includes it. A bound that is `None`, or lies outside, is the series' own.
    ///
    /// # Errors
    /// As [`Store::read`]; `InvalidParameter` when `to` lies before `from`, or when the steps make no grid of their
    /// own (a calendar period cut at a shortened month end); `Unsupported` for another type of series.
    pub fn read_range(&self, id: SeriesId, from: Option<UnixMillis>, to: Option<UnixMillis>) -> Result<Series> {
        if let (Some(from), Some(to)) = (from, to) {
            if to < from {
                return Err(Error::invalid(format!("the range ends at {to}, before it begins at {from}")));
            }
        }
        let mut info = self.shared.look(|session| session.catalog().find(id))?;
        if info.series_type != SeriesType::SingleTimeSeries {
            return Err(Error::Unsupported(format!("{info} cannot be read by a time range; read the whole series")));
        }
        let grid = info.grid()?;
        let start = from.map_or(0, |t| grid.floor_index(t));
        let stop = to.map_or(grid.len(), |t| grid.ceil_index(t)).max(start);
        let slice = grid.slice(start, stop - start).map_err(|e| match e {
            Error::InvalidParameter(why) => Error::InvalidParameter(format!("{info}: {why}")),
            other => other,
        })?;
        info.initial = Some(slice.start());
        self.read_steps(info, start, slice.len())
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
            let values = values.expect("taken by its last use only");
            check_fit(&info, values.dtype(), values.shape())?;
            Ok(Series { info, values })
        });
        series.collect()
    }

    /// The steps `start..start + len` of a series, whose `info` has the initial instant of the first of them.
    fn read_steps(&self, mut info: SeriesInfo, start: usize, len: usize) -> Result<Series> {
        let missing = |e| match e {
            Error::NotFound(why) => Error::NotFound(format!("the array of {info} is missing: {why}")),
            other => other,
        };
        let arrays = self.shared.arrays()?;
        let (dtype, shape) = arrays.shape(&info.hash).map_err(missing)?;
        check_fit(&info, dtype, &shape)?;
        let values = arrays.read_rows(&info.hash, start..start + len).map_err(missing)?;
        info.length = Some(len as u64);
        Ok(Series { info, values })
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
