//! The rows that describe series, as tables.

use crate::table::ForcingsTable;
use forcings::array::Array;
use forcings::series::{FeatureValue, Features, SeriesInfo};
use forcings::time::Period;

/// Two tables: one row per series, and one line per series and feature (`row` counts from 0). With `values`, one array
/// per series, the first has a column of them.
pub(crate) fn tables(infos: &[SeriesInfo], values: Option<Vec<Array>>) -> (ForcingsTable, ForcingsTable) {
    let all = || infos.iter();
    let months = |period| match period {
        Some(Period::Months(n)) => Some(i64::from(n)),
        _ => None,
    };
    let millis = |period| match period {
        Some(Period::Fixed(ms)) => Some(ms),
        _ => None,
    };
    let series = ForcingsTable::new(infos.len())
        .integers("id", all().map(|s| Some(s.id.0)))
        .texts("name", all().map(|s| Some(s.name.as_str())))
        .texts("type", all().map(|s| Some(s.series_type.name())))
        .integers("owner_id", all().map(|s| Some(s.owner.id)))
        .texts("owner_type", all().map(|s| Some(s.owner.owner_type.as_str())))
        .texts("owner_category", all().map(|s| Some(s.owner.category.name())))
        .integers("initial_ms", all().map(|s| s.initial.map(|t| t.0)))
        .integers("resolution_ms", all().map(|s| millis(s.resolution)))
        .integers("resolution_months", all().map(|s| months(s.resolution)))
        .integers("length", all().map(|s| s.length.and_then(|n| i64::try_from(n).ok())))
        .integers("dtype", all().map(|s| Some(i64::from(s.dtype as u8))))
        .integer_lists("element_shape", all().map(|s| s.element_shape.as_slice()))
        .texts("units", all().map(|s| s.units.as_deref()))
        .texts("ext", all().map(|s| s.ext.as_deref()));
    let series = match values {
        Some(values) => series.arrays("values", values),
        None => series,
    };
    (series, feature_lines(all().map(|s| &s.features)))
}

/// One line per feature: `kind` 0 has its value in `int`, 1 in `float`, 2 in `bool`, 3 in `text`.
fn feature_lines<'a>(sets: impl Iterator<Item = &'a Features>) -> ForcingsTable {
    let lines: Vec<(i64, &str, &FeatureValue)> = sets
        .enumerate()
        .flat_map(|(row, features)| features.iter().map(move |(key, value)| (row as i64, key, value)))
        .collect();
    let values = || lines.iter().map(|(_, _, value)| *value);
    let kind = |value: &FeatureValue| match value {
        FeatureValue::Int(_) => 0,
        FeatureValue::Float(_) => 1,
        FeatureValue::Bool(_) => 2,
        FeatureValue::Text(_) => 3,
    };
    ForcingsTable::new(lines.len())
        .integers("row", lines.iter().map(|(row, _, _)| Some(*row)))
        .texts("key", lines.iter().map(|(_, key, _)| Some(*key)))
        .integers("kind", values().map(|v| Some(kind(v))))
        .integers("int", values().map(|v| if let FeatureValue::Int(n) = v { Some(*n) } else { None }))
        .doubles("float", values().map(|v| if let FeatureValue::Float(x) = v { Some(*x) } else { None }))
        .bools("bool", values().map(|v| if let FeatureValue::Bool(b) = v { Some(*b) } else { None }))
        .texts("text", values().map(|v| if let FeatureValue::Text(text) = v { Some(text.as_str()) } else { None }))
}
