//! What part of a file is asked for: selectors, selections and their wire form. Nothing here knows a file; that is
//! `resolve`.

use crate::{Error, Result};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::str::FromStr;

/// Which indices of one dimension. All are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AxisSelect {
    /// Every index.
    All,
    /// `start`, `start + step`, … as long as they are below `stop`; none when `start >= stop`.
    Slice {
        /// The first index.
        start: u64,
        /// The first index beyond.
        stop: u64,
        /// The distance of two indices; 0 is refused when the selection is used.
        step: u64,
    },
    /// These, in this order, repeats included.
    Indices(Vec<u64>),
}

/// What part of every variable and coordinate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Selection {
    /// Everything.
    #[default]
    All,
    /// Selector `i` belongs to dimension `i` of every variable that has as many dimensions as there are selectors.
    Positional(Vec<AxisSelect>),
    /// Each selector belongs to the dimension of that name, wherever it stands; other dimensions are whole.
    Named(BTreeMap<String, AxisSelect>),
}

impl Selection {
    /// Reads the wire form: `{"dims": {"lat": {"slice": [120, 218]}, "lon": {"indices": [7, 0, 1]}, "lev": "all"}}` or
    /// `{"axes": [sel, …]}`; `{}` is everything.
    ///
    /// # Errors
    /// `Selection` for text that is not JSON, both forms at once, an unknown key, and a selector of another shape.
    pub fn from_json(text: &str) -> Result<Self> {
        let value = serde_json::from_str(text).map_err(|e| fault(format!("not JSON: {e}")))?;
        Selection::from_value(&value)
    }

    /// Reads the wire form from parsed JSON.
    ///
    /// # Errors
    /// As [`Selection::from_json`].
    pub fn from_value(value: &Value) -> Result<Self> {
        let map = object(value, "a selection")?;
        for (key, value) in map {
            match key.as_str() {
                "axes" | "dims" => {}
                "all_records" | "all_rows" | "all_cells" if value.as_bool() == Some(true) => {}
                "all_records" | "all_rows" | "all_cells" => {
                    return Err(fault(format!("\"{key}\" can only be true, not {value}")))
                }
                _ => return Err(fault(format!("unknown key \"{key}\"; \"dims\" and \"axes\" are known"))),
            }
        }
        match (map.get("axes"), map.get("dims")) {
            (Some(_), Some(_)) => Err(fault("\"axes\" and \"dims\" exclude each other; give one of them")),
            (None, None) => Ok(Selection::All),
            (Some(Value::Array(axes)), None) => {
                let selector = |(i, value)| selector(value, &format!("axis {i}"));
                Ok(Selection::Positional(axes.iter().enumerate().map(selector).collect::<Result<_>>()?))
            }
            (Some(other), None) => Err(fault(format!("\"axes\" must be a list of selectors, not {other}"))),
            (None, Some(dims)) => {
                let dims = object(dims, "\"dims\"")?;
                let selector =
                    |(name, value)| Ok((String::clone(name), selector(value, &format!("dimension \"{name}\""))?));
                Ok(Selection::Named(dims.iter().map(selector).collect::<Result<_>>()?))
            }
        }
    }

    /// The wire form.
    pub fn to_json(&self) -> String {
        match self {
            Selection::All => Value::Object(Map::new()),
            Selection::Positional(axes) => {
                serde_json::json!({ "axes": axes.iter().map(AxisSelect::to_value).collect::<Vec<_>>() })
            }
            Selection::Named(dims) => {
                let dims: Map<_, _> = dims.iter().map(|(name, axis)| (name.clone(), axis.to_value())).collect();
                serde_json::json!({ "dims": dims })
            }
        }
        .to_string()
    }
}

impl FromStr for Selection {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Selection::from_json(text)
    }
}

impl From<DimWindow> for Selection {
    fn from(window: DimWindow) -> Self {
        Selection::Named(window.0)
    }
}

impl AxisSelect {
    fn to_value(&self) -> Value {
        match self {
            AxisSelect::All => "all".into(),
            AxisSelect::Slice { start, stop, step: 1 } => serde_json::json!({ "slice": [start, stop] }),
            AxisSelect::Slice { start, stop, step } => serde_json::json!({ "slice": [start, stop, step] }),
            AxisSelect::Indices(indices) => serde_json::json!({ "indices": indices }),
        }
    }
}

/// Builds the named form of a [`Selection`]. A dimension that is given twice keeps the later selector.
///
/// ```
/// use forcings::dataset::DimWindow;
/// let window = DimWindow::new().range("lat", 120, 218).indices("lon", [1150, 1151, 0, 1]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DimWindow(BTreeMap<String, AxisSelect>);

impl DimWindow {
    /// A window that takes every dimension whole.
    pub fn new() -> Self {
        DimWindow::default()
    }

    /// Takes `start..stop` of a dimension, counted from 0.
    #[must_use]
    pub fn range(self, dim: impl Into<String>, start: u64, stop: u64) -> Self {
        self.range_step(dim, start, stop, 1)
    }

    /// Takes every `step`th index of `start..stop`.
    #[must_use]
    pub fn range_step(self, dim: impl Into<String>, start: u64, stop: u64, step: u64) -> Self {
        self.with(dim, AxisSelect::Slice { start, stop, step })
    }

    /// Takes these indices, in this order.
    #[must_use]
    pub fn indices(self, dim: impl Into<String>, indices: impl Into<Vec<u64>>) -> Self {
        self.with(dim, AxisSelect::Indices(indices.into()))
    }

    /// Takes the whole dimension, and demands that it is there.
    #[must_use]
    pub fn all(self, dim: impl Into<String>) -> Self {
        self.with(dim, AxisSelect::All)
    }

    /// The dimensions that it names, in the order of their names, with what it takes of each.
    pub fn selectors(&self) -> impl Iterator<Item = (&str, &AxisSelect)> {
        self.0.iter().map(|(dim, axis)| (dim.as_str(), axis))
    }

    fn with(mut self, dim: impl Into<String>, axis: AxisSelect) -> Self {
        self.0.insert(dim.into(), axis);
        self
    }
}

fn fault(detail: impl std::fmt::Display) -> Error {
    Error::Selection(format!("selection: {detail}"))
}

fn object<'a>(value: &'a Value, what: &str) -> Result<&'a Map<String, Value>> {
    value.as_object().ok_or_else(|| fault(format!("{what} must be an object, not {value}")))
}

fn selector(value: &Value, place: &str) -> Result<AxisSelect> {
    let fault = |detail: String| fault(format!("{place}: {detail}"));
    if value.as_str() == Some("all") {
        return Ok(AxisSelect::All);
    }
    let expected = "expected \"all\", {\"indices\": [i, …]} or {\"slice\": [start, stop, step?]}";
    let entry = value.as_object().filter(|map| map.len() == 1).and_then(|map| map.iter().next());
    let numbers = |list: &Value| -> Result<Vec<u64>> {
        let list = list.as_array().ok_or_else(|| fault(format!("{expected}, not {value}")))?;
        let number =
            |n: &Value| n.as_u64().ok_or_else(|| fault(format!("{n} is not an index; they are whole and ≥ 0")));
        list.iter().map(number).collect()
    };
    match entry {
        Some((key, list)) if key == "indices" => Ok(AxisSelect::Indices(numbers(list)?)),
        Some((key, list)) if key == "slice" => match numbers(list)?[..] {
            [start, stop] => Ok(AxisSelect::Slice { start, stop, step: 1 }),
            [start, stop, step] => Ok(AxisSelect::Slice { start, stop, step }),
            _ => Err(fault(format!("a slice has two or three entries, not {list}"))),
        },
        _ => Err(fault(format!("{expected}, not {value}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refused(text: &str, reason: &str) {
        let error = Selection::from_json(text).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Selection, "{text}");
        assert!(error.to_string().contains(reason), "{text}: {error}");
    }

    #[test]
    fn the_wire_form_is_that_of_the_builder() {
        let text = r#"{"dims": {"lev": "all", "lat": {"slice": [120, 218]}, "x": {"slice": [0, 9, 2]},
                       "lon": {"indices": [1150, 1151, 0, 0]}}}"#;
        let window = DimWindow::new().all("x").range("lat", 120, 218).indices("lon", [1150, 1151, 0, 0]).all("lev");
        let window = window.range_step("x", 0, 9, 2);
        assert_eq!(Selection::from_json(text).unwrap(), window.into());
        assert_eq!(
            Selection::from_json(r#"{"axes": ["all", {"indices": []}]}"#).unwrap(),
            Selection::Positional(vec![AxisSelect::All, AxisSelect::Indices(vec![])])
        );
        assert_eq!(Selection::from_json(r#"{"dims": {}}"#).unwrap(), DimWindow::new().into());
        for everything in ["{}", r#"{"all_records": true}"#, r#"{"all_rows": true, "all_cells": true}"#] {
            assert_eq!(Selection::from_json(everything).unwrap(), Selection::All);
        }
    }

    #[test]
    fn both_forms_and_unknown_keys_are_refused() {
        refused(r#"{"axes": ["all"], "dims": {}}"#, "exclude each other");
        refused(r#"{"axis": ["all"]}"#, "unknown key \"axis\"");
        refused(r#"{"all_rows": false}"#, "can only be true");
        refused(r#"["all"]"#, "must be an object");
        refused("null", "must be an object");
        refused("{", "not JSON");
        refused(r#"{"axes": {"x": "all"}}"#, "must be a list");
        refused(r#"{"dims": ["all"]}"#, "must be an object");
    }

    #[test]
    fn selectors_of_another_shape_are_refused() {
        for bad in [r#""some""#, "{}", "7", "[1, 2]", r#"{"indices": [1], "slice": [1, 2]}"#, r#"{"range": [1, 2]}"#] {
            refused(&format!(r#"{{"dims": {{"x": {bad}}}}}"#), "dimension \"x\": expected");
            refused(&format!(r#"{{"axes": ["all", {bad}]}}"#), "axis 1: expected");
        }
        refused(r#"{"dims": {"x": {"slice": [0]}}}"#, "two or three entries");
        refused(r#"{"dims": {"x": {"slice": [0, 1, 2, 3]}}}"#, "two or three entries");
        for index in ["-1", "1.5", "\"1\"", "true", "null"] {
            refused(&format!(r#"{{"dims": {{"x": {{"indices": [0, {index}]}}}}}}"#), "is not an index");
            refused(&format!(r#"{{"dims": {{"x": {{"slice": [0, {index}]}}}}}}"#), "is not an index");
        }
    }

    fn any_axis() -> impl Strategy<Value = AxisSelect> {
        prop_oneof![
            Just(AxisSelect::All),
            any::<(u64, u64, u64)>().prop_map(|(start, stop, step)| AxisSelect::Slice { start, stop, step }),
            proptest::collection::vec(any::<u64>(), 0..4).prop_map(AxisSelect::Indices),
        ]
    }

    proptest! {
        #[test]
        fn the_wire_form_round_trips(
            axes in proptest::collection::vec(any_axis(), 0..4),
            dims in proptest::collection::btree_map("\\PC*", any_axis(), 0..4),
        ) {
            for selection in [Selection::All, Selection::Positional(axes), Selection::Named(dims)] {
                prop_assert_eq!(Selection::from_json(&selection.to_json()).unwrap(), selection);
            }
        }
    }
}
