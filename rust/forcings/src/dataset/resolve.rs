//! A selection against a file: which positions of which dimension. Everything is checked here, before any value is read.

use super::schema::{list, Schema, SchemaField};
use super::select::{AxisSelect, Selection};
use crate::chunks::AxisRead;
use crate::formats::Conventions;
use crate::{Error, Result};
use std::collections::BTreeMap;

/// The records that are read along one dimension, as positions in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Records {
    /// The dimension.
    pub dim: String,
    /// The positions, in the order in which they are returned; at least one.
    pub indices: Vec<u64>,
    /// Whether the dimension, of which one record is read, and its coordinate are left out of the result.
    pub squeeze: bool,
}

/// What to read along each dimension of the file.
pub(crate) type Axes = Vec<AxisRead>;

impl Schema {
    /// Checks a selection and the records for a read of these fields. `Slice`s in the result are normalised:
    /// `start <= stop <= length`, and an empty one is `0..0`.
    ///
    /// # Errors
    /// `Selection`: unknown dimensions, a positional form that fits no variable or contradicts itself, a selector on a
    /// time axis, indices beyond the file, a step of 0; records that are empty, beyond the file, or selected as well.
    pub(super) fn resolve(
        &self,
        selection: &Selection,
        read: &[&SchemaField],
        records: Option<&Records>,
    ) -> Result<Axes> {
        let mut axes = vec![AxisRead::All; self.dims.len()];
        let selectors = match selection {
            Selection::All => BTreeMap::new(),
            Selection::Named(dims) => self.bind_names(dims, read)?,
            Selection::Positional(selectors) => self.bind_positions(selectors)?,
        };
        // In the order of the names, so that the first fault does not depend on the file.
        let mut narrowed: Vec<_> = selectors.iter().filter(|(_, s)| ***s != AxisSelect::All).collect();
        narrowed.sort_by_key(|(dim, _)| &self.dims[**dim].name);
        // In stores without conventions the positional form refuses nothing.
        let refuses_time = self.conventions == Conventions::Cf || matches!(selection, Selection::Named(_));
        let is_time = |dim: usize| refuses_time && self.dims[dim].is_time;
        // Positions were not meant for a dimension: that one of them fell on a time axis comes first.
        if let (Selection::Positional(_), Some((dim, _))) = (selection, narrowed.iter().find(|(d, _)| is_time(**d))) {
            return Err(self.narrows_time(**dim));
        }
        for (&dim, selector) in narrowed {
            if is_time(dim) {
                return Err(self.narrows_time(dim));
            }
            axes[dim] = self.positions(dim, selector)?;
        }
        if let Some(records) = records {
            for dim in self.record_dims(records, read)? {
                if axes[dim] != AxisRead::All {
                    let name = &records.dim;
                    return Err(self.fault(format!("dimension \"{name}\" is narrowed by the selection and by records")));
                }
                axes[dim] = AxisRead::Indices(records.indices.clone());
            }
        }
        Ok(axes)
    }

    fn bind_names<'s>(
        &self,
        dims: &'s BTreeMap<String, AxisSelect>,
        read: &[&SchemaField],
    ) -> Result<BTreeMap<usize, &'s AxisSelect>> {
        let carried = |i: &usize| read.iter().any(|f| f.dims.contains(i));
        // A group may have a dimension of its own beside one of that name above it: both are meant.
        let named = |i: usize| Some((i, dims.get(&*self.dims[i].name)?));
        let bound: BTreeMap<usize, &AxisSelect> = (0..self.dims.len()).filter(carried).filter_map(named).collect();
        let is_bound = |name: &str| bound.keys().any(|i| *self.dims[*i].name == *name);
        let unknown: Vec<&str> = dims.keys().map(String::as_str).filter(|name| !is_bound(name)).collect();
        if unknown.is_empty() {
            return Ok(bound);
        }
        let text: Vec<&str> =
            self.dims.iter().filter(|d| d.is_text).map(|d| &*d.name).filter(|n| unknown.contains(n)).collect();
        let hint = if text.is_empty() {
            String::new()
        } else {
            format!(" ({} is the length of strings, which no field has as a dimension)", list(text.into_iter()))
        };
        let present = list((0..self.dims.len()).filter(carried).map(|i| &*self.dims[i].name));
        let unknown = list(unknown.into_iter());
        Err(self.fault(names_no_field(&unknown, &hint, &present)))
    }

    fn bind_positions<'s>(&self, selectors: &'s [AxisSelect]) -> Result<BTreeMap<usize, &'s AxisSelect>> {
        let mut bound: BTreeMap<usize, &AxisSelect> = BTreeMap::new();
        let mut fits = false;
        for field in self.fields.iter().filter(|f| !f.is_coord && f.dims.len() == selectors.len()) {
            fits = true;
            for (&dim, selector) in field.dims.iter().zip(selectors) {
                if *bound.entry(dim).or_insert(selector) != selector {
                    return Err(self.fault(format!(
                        "the positions give dimension \"{}\" two selectors, since variables of {} dimensions order them \
                         differently; name the dimensions instead",
                        self.dims[dim].name,
                        selectors.len()
                    )));
                }
            }
        }
        if !fits && self.conventions == Conventions::Cf {
            let rank = selectors.len();
            return Err(self.fault(format!("{rank} selectors by position, but no data variable has {rank} dimensions")));
        }
        Ok(bound)
    }

    fn positions(&self, dim: usize, selector: &AxisSelect) -> Result<AxisRead> {
        positions_along(selector, &self.dims[dim].name, self.dims[dim].len).map_err(|text| self.fault(text))
    }

    fn narrows_time(&self, dim: usize) -> Error {
        self.fault(narrows_time(&self.dims[dim].name))
    }

    /// The dimensions of that name in this read; the arrays of a store have one each.
    fn record_dims(&self, records: &Records, read: &[&SchemaField]) -> Result<Vec<usize>> {
        let name = &records.dim;
        let carried = |i: &usize| read.iter().any(|f| f.dims.contains(i));
        let dims: Vec<usize> = (0..self.dims.len()).filter(carried).filter(|i| *self.dims[*i].name == **name).collect();
        if dims.is_empty() {
            let present = list((0..self.dims.len()).filter(carried).map(|i| &*self.dims[i].name));
            return Err(self.fault(format!(
                "records are asked for along \"{name}\", which no field of this read has; present are {present}"
            )));
        }
        if records.indices.is_empty() {
            return Err(self.fault(format!("the list of records along \"{name}\" is empty")));
        }
        if records.squeeze && records.indices.len() != 1 {
            return Err(self.fault(format!("{} records cannot leave out \"{name}\"", records.indices.len())));
        }
        let len = dims.iter().map(|dim| self.dims[*dim].len).min().unwrap_or(0);
        match records.indices.iter().find(|i| **i >= len) {
            None => Ok(dims),
            Some(record) if len == 0 => {
                Err(self.fault(format!("record {record} is asked for, but dimension \"{name}\" has none")))
            }
            Some(record) => {
                Err(self.fault(format!("record {record} of dimension \"{name}\" is outside 0:{}", len - 1)))
            }
        }
    }

    pub(super) fn fault(&self, detail: String) -> Error {
        Error::Selection(format!("{}: {detail}", self.path.display()))
    }
}

/// What a selector takes along a dimension of this length.
///
/// # Errors
/// The text of the error for an index outside the dimension, or a step of 0.
pub(super) fn positions_along(selector: &AxisSelect, name: &str, len: u64) -> std::result::Result<AxisRead, String> {
    let outside =
        |index: u64| format!("index {index} of dimension \"{name}\" lies outside its length {len} (counted from 0)");
    match selector {
        AxisSelect::All => Ok(AxisRead::All),
        AxisSelect::Indices(indices) => match indices.iter().find(|i| **i >= len) {
            Some(index) => Err(outside(*index)),
            None => Ok(AxisRead::Indices(indices.clone())),
        },
        AxisSelect::Slice { step: 0, .. } => {
            Err(format!("the slice of dimension \"{name}\" has step 0; it must be at least 1"))
        }
        AxisSelect::Slice { start, stop, .. } if start >= stop => Ok(AxisRead::Slice { start: 0, stop: 0, step: 1 }),
        AxisSelect::Slice { start, stop, step } => {
            let last = start + (stop - 1 - start) / step * step;
            if last >= len {
                return Err(outside(last));
            }
            Ok(AxisRead::Slice { start: *start, stop: last + 1, step: *step })
        }
    }
}

/// The text about dimensions that no field has.
pub(super) fn names_no_field(unknown: &str, hint: &str, present: &str) -> String {
    format!("no field of this read has the dimension {unknown}{hint}; present are {present}")
}

/// The text about a time axis that a selection narrows.
pub(super) fn narrows_time(dim: &str) -> String {
    format!("dimension \"{dim}\" is a time axis; a selection cannot narrow it, choose records by time instead")
}

/// The number of positions read along a dimension of this length.
pub(crate) fn count(axis: &AxisRead, len: u64) -> u64 {
    match axis {
        AxisRead::All => len,
        AxisRead::Slice { start, stop, step } => (stop - start).div_ceil(*step),
        AxisRead::Indices(indices) => indices.len() as u64,
    }
}

/// The positions read along a dimension of this length, in order.
pub(crate) fn positions(axis: &AxisRead, len: u64) -> Box<dyn Iterator<Item = u64> + '_> {
    match axis {
        AxisRead::All => Box::new(0..len),
        // The step may be larger than a usize of another platform; 0..0 has none at all.
        AxisRead::Slice { start, stop, step } => {
            let (start, step) = (*start, *step);
            Box::new((0..(stop - start).div_ceil(step)).map(move |k| start + k * step))
        }
        AxisRead::Indices(indices) => Box::new(indices.iter().copied()),
    }
}
