//! Windows by coordinate value: the intervals, and the cells of a file's axes that lie in them. What comes out is a
//! [`DimWindow`] of indices; nothing here is consulted when it is read.

use super::attributes;
use super::schema::{list, Schema, SchemaField};
use super::DimWindow;
use crate::formats::{Attribute, Container, ElementType, NumericType, Variable};
use crate::Result;
use std::collections::BTreeMap;
use std::ops::Range;

/// Intervals of coordinates, both ends included. A coordinate that is given twice keeps the later interval.
///
/// ```
/// use forcings::dataset::CoordWindow;
/// let window = CoordWindow::new().between("lat", 25.0, 50.0).between("lon", 350.0, 10.0);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CoordWindow(BTreeMap<String, (f64, f64)>);

impl CoordWindow {
    /// A window without intervals: everything.
    pub fn new() -> Self {
        CoordWindow::default()
    }

    /// Takes the cells with `from <= coordinate <= to`, in the order of the file. Of a longitude, the cells that are met
    /// on the way east from `from` to `to`, whatever turn of the circle the file or the bounds count in.
    #[must_use]
    pub fn between(mut self, coord: impl Into<String>, from: f64, to: f64) -> Self {
        self.0.insert(coord.into(), (from, to));
        self
    }

    /// The names of the coordinates.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl Schema {
    /// Finds the cells of the intervals on the axes of this file.
    ///
    /// # Errors
    /// `Selection`: a coordinate that is not there, is a time axis, holds no numbers or does not run one way; bounds that
    /// are NaN; an interval without a cell. Those of reading the coordinates.
    pub(crate) fn coord_window(&self, container: &dyn Container, window: &CoordWindow) -> Result<DimWindow> {
        let fields = window.names().map(|name| self.axis_field(container, name));
        let fields: Vec<&SchemaField> = fields.collect::<Result<_>>()?;
        let mut resolved = DimWindow::new();
        for (field, (name, (from, to))) in fields.into_iter().zip(&window.0) {
            let fault = |detail: String| self.fault(format!("coordinate \"{name}\": {detail}"));
            let axis = Axis {
                values: self.coordinate_numbers(container, name)?,
                is_longitude: is_longitude(&field.attributes),
                rounding: rounding(&container.variables()[field.variable]),
            };
            resolved = match axis.cells(*from, *to).map_err(fault)? {
                Cells::Run(run) => resolved.range(name.as_str(), run.start as u64, run.end as u64),
                Cells::AcrossSeam(tail, head) => {
                    resolved.indices(name.as_str(), tail.chain(head).map(|i| i as u64).collect::<Vec<_>>())
                }
            };
        }
        Ok(resolved)
    }

    fn axis_field(&self, container: &dyn Container, name: &str) -> Result<&SchemaField> {
        let coords = || self.fields.iter().filter(|f| f.is_coord);
        let Some(field) = coords().find(|f| *f.name == *name) else {
            let present = list(coords().map(|f| &*f.name));
            return Err(self.fault(format!("there is no coordinate \"{name}\"; there are {present}")));
        };
        if self.dims[field.dims[0]].is_time {
            let detail = "is a time axis; a window cannot narrow it, choose records by time instead";
            return Err(self.fault(format!("coordinate \"{name}\" {detail}")));
        }
        if self.dims.iter().filter(|d| *d.name == *name).count() > 1 {
            let detail = "names several dimensions here, and a window would narrow all of them";
            return Err(self.fault(format!("\"{name}\" {detail}; write a DimWindow")));
        }
        match container.variables()[field.variable].element {
            ElementType::Number(..) => Ok(field),
            _ => Err(self.fault(format!("coordinate \"{name}\" holds no numbers, which an interval could have"))),
        }
    }
}

/// The numbers along one dimension.
struct Axis {
    values: Vec<f64>,
    is_longitude: bool,
    /// The relative error of a number, as it was stored.
    rounding: f64,
}

/// The cells of an interval.
#[derive(Debug, PartialEq)]
enum Cells {
    Run(Range<usize>),
    /// The cells before the end of the axis, then those from its beginning.
    AcrossSeam(Range<usize>, Range<usize>),
}

/// What is found on an axis, or why nothing is.
type Found<T> = std::result::Result<T, String>;

const TURN: f64 = 360.0;

impl Axis {
    fn cells(&self, from: f64, to: f64) -> Found<Cells> {
        if from.is_nan() || to.is_nan() {
            return Err(format!("the interval ({from}, {to}) has a bound that is NaN"));
        }
        let values = self.one_way()?;
        // A bound is met by a cell that equals it but for the rounding of either.
        let largest = values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        if self.is_longitude {
            return self.arc(&values, from, to, largest);
        }
        let slack = self.rounding * largest;
        let inside = |x: &f64| from - slack <= *x && *x <= to + slack;
        match (values.iter().position(inside), values.iter().rposition(inside)) {
            (Some(first), Some(last)) if from <= to => Ok(Cells::Run(first..last + 1)),
            _ => Err(self.miss(from, to)),
        }
    }

    /// The cells on the way east from one longitude to another.
    fn arc(&self, values: &[f64], from: f64, to: f64, largest: f64) -> Found<Cells> {
        if from.is_infinite() || to.is_infinite() {
            return Err(format!("the bounds ({from}, {to}) of a longitude must be finite"));
        }
        let slack = self.rounding * largest.max(TURN).max(from.abs()).max(to.abs());
        let width = if from <= to { to - from } else { (to - from).rem_euclid(TURN) };
        let inside = |x: &f64| {
            let way = (x - from).rem_euclid(TURN);
            width >= TURN || way <= width + slack || way >= TURN - slack
        };
        // Cells a turn or more from the first one show again what it and its neighbours show.
        let once = values.iter().take_while(|x| (**x - values[0]).abs() < TURN - slack).count();
        let is_again = |(k, x): &(usize, &f64)| ((**x - values[*k]).abs() - TURN).abs() <= slack;
        let again = values[once..].iter().enumerate().take_while(is_again).count();
        let chosen: Vec<bool> = values[..once].iter().map(inside).collect();
        let count = chosen.iter().filter(|c| **c).count();
        if count == once {
            return Ok(Cells::Run(0..once));
        }
        // Less than a turn of an axis that runs one way stands in the order of the circle, so the cells of an arc follow
        // each other, the first one behind the last.
        let Some(first) = (0..once).find(|&i| chosen[i] && !chosen[(i + once - 1) % once]) else {
            return Err(self.miss(from, to));
        };
        let end = first + count;
        if end <= once + again {
            return Ok(Cells::Run(first..end));
        }
        if !closes(values) {
            return Err(format!(
                "the interval ({from}, {to}) covers both ends of the axis, which runs from {} to {} and not round the \
                 globe; take two windows",
                values[0],
                values[values.len() - 1]
            ));
        }
        Ok(Cells::AcrossSeam(first..once, 0..end - once))
    }

    /// The values, which ascend or descend. Longitudes that jump from one turn to the next count on instead.
    fn one_way(&self) -> Found<Vec<f64>> {
        if self.values.is_empty() {
            return Err("the axis has no cells".into());
        }
        if let Some(i) = self.values.iter().position(|x| !x.is_finite()) {
            return Err(format!("cell {i} (counted from 0) of the axis is {}, which has no place", self.values[i]));
        }
        if is_one_way(&self.values) {
            return Ok(self.values.clone());
        }
        let mut turns = 0.0;
        let on = |i: usize| {
            let step = if i == 0 { 0.0 } else { self.values[i] - self.values[i - 1] };
            turns -= (step / TURN).round_ties_even();
            self.values[i] + TURN * turns
        };
        let unrolled: Vec<f64> = (0..self.values.len()).map(on).collect();
        if self.is_longitude && is_one_way(&unrolled) {
            return Ok(unrolled);
        }
        Err("the axis neither ascends nor descends from cell to cell; write a DimWindow".into())
    }

    fn miss(&self, from: f64, to: f64) -> String {
        let swapped = if from > to { "; bounds are written (lower, upper)" } else { "" };
        let (first, last) = (self.values[0], self.values[self.values.len() - 1]);
        let cells = self.values.len();
        format!("no cell lies in ({from}, {to}); the axis runs from {first} to {last} in {cells} cells{swapped}")
    }
}

fn is_one_way(values: &[f64]) -> bool {
    values.windows(2).all(|w| w[0] < w[1]) || values.windows(2).all(|w| w[0] > w[1])
}

/// Whether the last cell is a neighbour of the first one: not much farther from it than any two others.
fn closes(values: &[f64]) -> bool {
    let widest = values.windows(2).fold(0.0_f64, |m, w| m.max((w[1] - w[0]).abs()));
    TURN - (values[values.len() - 1] - values[0]).abs() <= 1.5 * widest
}

/// The CF conventions' ways of saying so.
fn is_longitude(about: &[Attribute]) -> bool {
    let east = ["degrees_east", "degree_east", "degrees_E", "degree_E", "degreesE", "degreeE"];
    attributes::text(about, "standard_name").is_some_and(|name| name == "longitude")
        || attributes::text(about, "units").is_some_and(|units| east.contains(&&*units))
}

/// How far a decoded number may be off what the file's author wrote, relative to its size.
fn rounding(variable: &Variable) -> f64 {
    match variable.element {
        ElementType::Number(NumericType::F32, _) => f64::from(f32::EPSILON),
        _ => 2.0 * f64::EPSILON,
    }
}

#[cfg(test)]
mod tests;
