//! The samples of a `StaticReader`: of each of its groups the values at an instant, a column for each series.

use super::columns::{attributes, Column, FieldPlan, Names};
use super::reader_provider::Source;
use crate::dataset::{Dataset, Field};
use crate::readers::{SharedSeries, StaticReader};
use crate::time::UnixMillis;
use crate::Result;
use std::sync::Arc;

pub(super) struct SeriesSource {
    series: SharedSeries,
    fields: Vec<FieldPlan>,
    coords: Vec<Arc<Field>>,
}

impl SeriesSource {
    /// Finds the series of a reader.
    ///
    /// # Errors
    /// `NotFound` when it has none or an array is gone, `Closed`, and those of the file.
    pub(super) fn new(reader: &StaticReader) -> Result<Self> {
        let series = reader.shared()?;
        let groups = series.groups();
        let names = Names::of_groups(groups.iter().map(|group| (group.dtype(), group.element_shape())));
        let (mut fields, mut coords) = (Vec::new(), Vec::new());
        for (group, names) in groups.iter().zip(names) {
            let columns = || group.columns().iter().map(Column::from);
            let about = attributes(reader.series_type(), series.resolution(), columns());
            let dims: Vec<String> = (1..=group.element_shape().len()).map(|k| format!("element{k}")).collect();
            let inner = dims.iter().map(String::as_str).zip(group.element_shape().iter().copied());
            fields.push(names.values(group.dtype(), inner, about, group.columns().len()));
            coords.extend(names.coordinates(columns()));
        }
        Ok(SeriesSource { series, fields, coords })
    }
}

impl Source for SeriesSource {
    fn instants(&self) -> Vec<UnixMillis> {
        self.series.instants()
    }

    fn sample(&self, tick: usize) -> Result<Dataset> {
        self.series.read(tick, |groups| {
            let field = |(field, bytes): (&FieldPlan, &Vec<u8>)| field.field(|values| values.append(bytes));
            let variables = self.fields.iter().zip(groups).map(field).collect::<Result<_>>()?;
            Ok(Dataset { variables, coords: self.coords.clone(), ..Dataset::default() })
        })
    }

    fn chunks_inflated(&self) -> u64 {
        self.series.chunks_inflated()
    }
}
