//! Which series a reader walks together: one grid for all of them, and their order in groups of one element type and
//! shape. Knows the catalog's rows only.

use crate::array::DType;
use crate::series::{FeatureValue, Features, SeriesInfo, SeriesType};
use crate::store::Filter;
use crate::time::Grid;
use crate::{Error, Result};
use std::cmp::Ordering;

/// The columns of a reader that share an element type and shape, and so one buffer.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    dtype: DType,
    element_shape: Vec<usize>,
    columns: Vec<SeriesInfo>,
}

impl Group {
    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape of one series' value at one instant; empty for a scalar.
    pub fn element_shape(&self) -> &[usize] {
        &self.element_shape
    }

    /// The series, by owner id, owner category, name and features.
    pub fn columns(&self) -> &[SeriesInfo] {
        &self.columns
    }

    /// Bytes of one series' value at one instant.
    pub fn element_bytes(&self) -> usize {
        self.element_shape.iter().product::<usize>() * self.dtype.width()
    }
}

/// Series that can be read together.
#[derive(Debug)]
pub(super) struct Cohort {
    /// `None` when no series was selected.
    pub grid: Option<Grid>,
    /// By type code, then by element shape.
    pub groups: Vec<Group>,
}

/// The filter that selects the series of a reader.
///
/// # Errors
/// `InvalidParameter` without a resolution, or for a type that such a reader does not read.
pub(super) fn checked_filter(filter: &Filter) -> Result<Filter> {
    if filter.resolution.is_none() {
        return Err(Error::invalid("a reader walks one grid: name the resolution of its series"));
    }
    match filter.series_type {
        None | Some(SeriesType::SingleTimeSeries) => {
            Ok(Filter { series_type: Some(SeriesType::SingleTimeSeries), ..filter.clone() })
        }
        Some(other) => Err(Error::invalid(format!("a StaticReader reads SingleTimeSeries, not {other}"))),
    }
}

impl Cohort {
    /// Groups these series.
    ///
    /// # Errors
    /// `InvalidParameter` when they are not all on one grid, naming the first that differs from the first, or when they
    /// have no steps; `Integrity` for a row without a grid.
    pub(super) fn new(selected: Vec<SeriesInfo>) -> Result<Self> {
        let Some(first) = selected.first() else { return Ok(Cohort { grid: None, groups: Vec::new() }) };
        let grid = first.grid()?;
        for other in &selected[1..] {
            let its = other.grid()?;
            if its != grid {
                return Err(Error::invalid(format!(
                    "a reader walks one grid: {other} has {}, but {first} has {}; narrow the filter (by owner, name, \
                     features or ids) to the series of one grid",
                    steps(&its),
                    steps(&grid)
                )));
            }
        }
        if grid.is_empty() {
            return Err(Error::invalid(format!("there is nothing to read: {first} has no steps")));
        }
        Ok(Cohort { grid: Some(grid), groups: grouped(selected) })
    }
}

fn steps(grid: &Grid) -> String {
    format!("{} steps of {} from {}", grid.len(), grid.period(), grid.start())
}

fn grouped(mut series: Vec<SeriesInfo>) -> Vec<Group> {
    series.sort_by(|a, b| {
        (a.dtype as u8)
            .cmp(&(b.dtype as u8))
            .then_with(|| a.element_shape.cmp(&b.element_shape))
            .then_with(|| by_owner(a, b))
    });
    let mut groups: Vec<Group> = Vec::new();
    for info in series {
        match groups.last_mut().filter(|g| g.dtype == info.dtype && g.element_shape == info.element_shape) {
            Some(group) => group.columns.push(info),
            None => {
                let element_shape = info.element_shape.clone();
                groups.push(Group { dtype: info.dtype, element_shape, columns: vec![info] });
            }
        }
    }
    groups
}

/// The order of the series of a reader: by owner id, owner category, name and features.
pub(super) fn by_owner(a: &SeriesInfo, b: &SeriesInfo) -> Ordering {
    (a.owner.id, a.owner.category.name(), &a.name)
        .cmp(&(b.owner.id, b.owner.category.name(), &b.name))
        .then_with(|| compare_features(&a.features, &b.features))
        .then(a.id.cmp(&b.id))
}

/// Key by key, as words in a dictionary.
fn compare_features(a: &Features, b: &Features) -> Ordering {
    let by_pair = a.iter().zip(b.iter()).map(|((a_key, a), (b_key, b))| a_key.cmp(b_key).then(compare_values(a, b)));
    by_pair.into_iter().find(|o| o.is_ne()).unwrap_or(a.len().cmp(&b.len()))
}

fn compare_values(a: &FeatureValue, b: &FeatureValue) -> Ordering {
    let kind = |value: &FeatureValue| match value {
        FeatureValue::Int(_) => 0,
        FeatureValue::Float(_) => 1,
        FeatureValue::Bool(_) => 2,
        FeatureValue::Text(_) => 3,
    };
    match (a, b) {
        (FeatureValue::Int(a), FeatureValue::Int(b)) => a.cmp(b),
        (FeatureValue::Float(a), FeatureValue::Float(b)) => a.total_cmp(b),
        (FeatureValue::Bool(a), FeatureValue::Bool(b)) => a.cmp(b),
        (FeatureValue::Text(a), FeatureValue::Text(b)) => a.cmp(b),
        _ => kind(a).cmp(&kind(b)),
    }
}

#[cfg(test)]
mod tests;
