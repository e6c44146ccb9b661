//! The samples of a `ForecastReader`: the windows that begin at an instant, a column for each forecast. Forecasts that
//! share an array are read once, and each has its own column all the same.

use super::columns::{attributes, text, Column, FieldPlan, Names};
use super::reader_provider::Source;
use crate::array::DType;
use crate::dataset::{Dataset, Field, Values};
use crate::formats::Attribute;
use crate::readers::{ForecastEntry, ForecastReader, SharedForecasts};
use crate::series::SeriesType;
use crate::time::{Grid, Period, UnixMillis};
use crate::Result;
use std::sync::Arc;

pub(super) struct ForecastSource {
    forecasts: SharedForecasts,
    groups: Vec<WindowGroup>,
    /// All but those of the steps.
    coords: Vec<Arc<Field>>,
}

/// Forecasts whose windows have one element type and shape.
struct WindowGroup {
    names: Names,
    field: FieldPlan,
    /// Of each column.
    slots: Vec<usize>,
    steps: usize,
    /// The coordinate of the steps where it is the same in every window.
    offsets: Option<Arc<Field>>,
}

impl ForecastSource {
    /// Finds the forecasts of a reader.
    ///
    /// # Errors
    /// `NotFound` when it has none or an array is gone, `Closed`, and those of the file.
    pub(super) fn new(reader: &ForecastReader) -> Result<Self> {
        let forecasts = reader.shared()?;
        let (slots, resolution) = (forecasts.slots(), forecasts.timeline().resolution());
        let kind = |entry: &ForecastEntry| (slots[entry.slot()].dtype(), slots[entry.slot()].window_shape());
        let mut kinds: Vec<(DType, &[usize])> = forecasts.entries().iter().map(kind).collect();
        kinds.sort_unstable_by_key(|(dtype, shape)| (*dtype as u8, *shape));
        kinds.dedup();
        let outer = outer_dim(reader.series_type());
        let (mut groups, mut coords) = (Vec::new(), Vec::new());
        for (&(dtype, shape), names) in kinds.iter().zip(Names::of_groups(kinds.iter().copied())) {
            let entries = || forecasts.entries().iter().filter(|entry| kind(entry) == (dtype, shape));
            let columns = || entries().map(|entry| Column::from(entry.info()));
            let about = attributes(reader.series_type(), Some(resolution), columns());
            let before = usize::from(outer.is_some());
            let mut dims: Vec<String> = outer.iter().map(|dim| dim.to_string()).collect();
            dims.push(STEP.into());
            dims.extend((1..shape.len() - before).map(|k| format!("element{k}")));
            let field = names.values(
                dtype,
                dims.iter().map(String::as_str).zip(shape.iter().copied()),
                about,
                entries().count(),
            );
            coords.extend(names.coordinates(columns()));
            coords.extend(percentiles(entries()).map(|values| names.coordinate(PERCENTILE, values, vec![])));
            let (slots, steps) = (entries().map(ForecastEntry::slot).collect(), shape[before]);
            let mut group = WindowGroup { names, field, slots, steps, offsets: None };
            if matches!(resolution, Period::Fixed(_)) {
                group.offsets = Some(group.offsets_from(forecasts.timeline().initial(), resolution)?);
            }
            groups.push(group);
        }
        Ok(ForecastSource { forecasts, groups, coords })
    }
}

const STEP: &str = "step";
const PERCENTILE: &str = "percentile";

/// The dimension in front of the steps.
fn outer_dim(series_type: SeriesType) -> Option<&'static str> {
    match series_type {
        SeriesType::Probabilistic => Some(PERCENTILE),
        SeriesType::Scenarios => Some("scenario"),
        _ => None,
    }
}

/// The percentiles, if all forecasts have the same.
fn percentiles<'a>(mut entries: impl Iterator<Item = &'a ForecastEntry>) -> Option<Values> {
    let first = entries.next()?.info().percentiles.as_ref()?;
    entries.all(|entry| entry.info().percentiles.as_ref() == Some(first)).then(|| Values::F64(first.clone()))
}

impl WindowGroup {
    /// The coordinate of the steps of a window: seconds since its start.
    fn offsets_from(&self, start: UnixMillis, resolution: Period) -> Result<Arc<Field>> {
        let grid = Grid::new(start, resolution, self.steps)?;
        let offsets = grid.instants().map(|at| (at.0 - start.0) as f64 / 1000.0).collect();
        let about: Vec<Attribute> = vec![text("units", "seconds"), text("standard_name", "forecast_period")];
        Ok(self.names.coordinate(STEP, Values::F64(offsets), about))
    }
}

impl Source for ForecastSource {
    fn instants(&self) -> Vec<UnixMillis> {
        self.forecasts.timeline().instants().collect()
    }

    fn sample(&self, tick: usize) -> Result<Dataset> {
        let timeline = self.forecasts.timeline();
        let mut coords = self.coords.clone();
        for group in &self.groups {
            coords.push(match &group.offsets {
                Some(offsets) => offsets.clone(),
                None => group.offsets_from(timeline.at(tick)?, timeline.resolution())?,
            });
        }
        self.forecasts.read(tick, |windows| {
            let field = |group: &WindowGroup| {
                group.field.field(|values| group.slots.iter().for_each(|slot| values.append(windows.of(*slot))))
            };
            let variables = self.groups.iter().map(field).collect::<Result<_>>()?;
            Ok(Dataset { variables, coords, ..Dataset::default() })
        })
    }

    fn chunks_inflated(&self) -> u64 {
        self.forecasts.chunks_inflated()
    }
}
