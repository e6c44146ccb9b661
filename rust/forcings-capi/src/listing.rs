//! The rows that describe series, as tables.

use crate::table::ForcingsTable;
use forcings::array::Array;
use forcings::series::{FeatureValue, Features, Series, SeriesInfo, SeriesType};

/// Two tables: one row per series, and one line per series and feature (`row` counts from 0).
pub(crate) fn tables(infos: &[SeriesInfo]) -> (ForcingsTable, ForcingsTable) {
    let all = || infos.iter();
    let series = ForcingsTable::new(infos.len())
        .integers("id", all().map(|s| Some(s.id.0)))
        .texts("name", all().map(|s| Some(s.name.as_str())))
        .texts("type", all().map(|s| Some(s.series_type.name())))
        .integers("owner_id", all().map(|s| Some(s.owner.id)))
        .texts("owner_type", all().map(|s| Some(s.owner.owner_type.as_str())))
        .texts("owner_category", all().map(|s| Some(s.owner.category.name())))
        .integers("initial_ms", all().map(|s| s.initial.map(|t| t.0)))
        .periods(["resolution_ms", "resolution_months"], all().map(|s| s.resolution))
        .counts("length", all().map(|s| s.length.filter(|_| !s.series_type.is_forecast())))
        .periods(["horizon_ms", "horizon_months"], all().map(|s| s.horizon))
        .periods(["interval_ms", "interval_months"], all().map(|s| s.interval))
        .counts("count", all().map(|s| s.count))
        .counts("scenarios", all().map(|s| s.length.filter(|_| s.series_type == SeriesType::Scenarios)))
        .double_lists("percentiles", all().map(|s| s.percentiles.as_deref()))
        .integers("dtype", all().map(|s| Some(i64::from(s.dtype as u8))))
        .integer_lists("element_shape", all().map(element_shape));
    let references: Vec<Option<String>> = all().map(|s| s.time_reference.as_ref().map(ToString::to_string)).collect();
    let series = series
        .texts("time_reference", references.iter().map(|text| text.as_deref()))
        .texts("units", all().map(|s| s.units.as_deref()))
        .texts("ext", all().map(|s| s.ext.as_deref()));
    (series, feature_lines(all().map(|s| &s.features)))
}

/// The same of series that were read, with their instants and values.
pub(crate) fn read_tables(read: Vec<Series>) -> (ForcingsTable, ForcingsTable) {
    let (infos, values): (Vec<_>, Vec<_>) = read.into_iter().map(|s| (s.info, s.values)).unzip();
    let (series, features) = tables(&infos);
    let series = series
        .instant_lists("timestamps_ms", infos.iter().map(|s| s.timestamps.as_deref()))
        .integer_lists("shape", values.iter().map(Array::shape))
        .arrays("values", values);
    (series, features)
}

/// The axes of one element: those of the stored array behind the first, without the ones of windows and their steps.
fn element_shape(info: &SeriesInfo) -> &[usize] {
    let others = info.series_type.window_axis().unwrap_or(0);
    info.element_shape.get(others..).unwrap_or_default()
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
