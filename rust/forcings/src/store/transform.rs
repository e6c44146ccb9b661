//! Forecasts derived from regular series: rows of the catalog over arrays that are there already.

use super::{Filter, Store};
use crate::series::{SeriesId, SeriesInfo, SeriesType, Windows};
use crate::time::{Grid, Period};
use crate::{Error, Result};
use std::collections::hash_map::{Entry, HashMap};

/// What a transform found and made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transformed {
    /// The series that were in its scope.
    pub sources: usize,
    /// The new forecasts, by ascending source; none for a series that had the same forecast already.
    pub ids: Vec<SeriesId>,
}

impl Store {
    /// Derives a `DeterministicSingleTimeSeries` from every `SingleTimeSeries` that matches `scope`, all or none: window
    /// `w` has the steps of `horizon` from `w` intervals after the series' start on. No values are copied. A series has as
    /// many windows as fit into it; with the interval zero it is one window, which must be the whole series.
    ///
    /// # Errors
    /// `InvalidParameter`, naming the series, when the horizon or the interval is no whole number of its steps, the
    /// interval is longer than the horizon, the horizon longer than the series, a window from a shortened month end makes
    /// no grid of its own, the series is in a zone and the interval a day or more, or the series has a `Deterministic`
    /// forecast or a derived one with another horizon; `Integrity` when series of one resolution are on different grids;
    /// `ReadOnlyStore`, `Closed`, errors of the disk.
    pub fn transform_single_time_series(
        &self,
        horizon: Period,
        interval: Period,
        scope: &Filter,
    ) -> Result<Transformed> {
        let scope = match scope.series_type {
            None | Some(SeriesType::SingleTimeSeries) => {
                Filter { series_type: Some(SeriesType::SingleTimeSeries), ..scope.clone() }
            }
            Some(other) => return Err(Error::invalid(format!("a SingleTimeSeries is transformed, not a {other}"))),
        };
        self.shared.change(|session| {
            session.apply(|change| {
                let sources = change.catalog().list(&scope)?;
                let windows = windows_by_resolution(&sources, horizon, interval)?;
                let mut ids = Vec::new();
                for source in &sources {
                    if let Some(reference) = &source.time_reference {
                        reference.check_step("interval", interval).map_err(|e| named(source, e))?;
                    }
                    ids.extend(change.derive(source, &windows[&source.resolution])?);
                }
                Ok(Transformed { sources: sources.len(), ids })
            })
        })
    }
}

/// The windows that the series of each resolution get. They are on one grid, so these are the same for all of them.
fn windows_by_resolution(
    sources: &[SeriesInfo],
    horizon: Period,
    interval: Period,
) -> Result<HashMap<Option<Period>, Windows>> {
    let mut firsts: HashMap<Option<Period>, (&SeriesInfo, Grid)> = HashMap::new();
    let mut windows = HashMap::new();
    for source in sources {
        let grid = source.grid()?;
        match firsts.entry(source.resolution) {
            Entry::Vacant(slot) => {
                slot.insert((source, grid));
                let own = Windows::over(&grid, horizon, interval).map_err(|e| named(source, e))?;
                windows.insert(source.resolution, own);
            }
            Entry::Occupied(first) if first.get().1 == grid => {}
            Entry::Occupied(first) => {
                let (other, its) = first.get();
                return Err(Error::Integrity(format!(
                    "{source} has {} steps from {}, but {other} has {} from {}; series of one resolution are transformed \
                     on one grid: narrow the scope",
                    grid.len(),
                    grid.start(),
                    its.len(),
                    its.start()
                )));
            }
        }
    }
    Ok(windows)
}

/// Names the series that a rule was broken by.
fn named(source: &SeriesInfo, error: Error) -> Error {
    match error {
        Error::InvalidParameter(why) => Error::InvalidParameter(format!("{source}: {why}")),
        other => other,
    }
}
