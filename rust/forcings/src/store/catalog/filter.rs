//! What a listing may ask for, and the SQL condition that says it.

use crate::series::{FeatureValue, Features, OwnerCategory, SeriesId, SeriesType};
use crate::time::Period;
use rusqlite::types::Value;

/// A selection of series: every field that is set must match. No field set selects all.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Filter {
    /// The owner's number.
    pub owner_id: Option<i64>,
    /// The owner's category.
    pub owner_category: Option<OwnerCategory>,
    /// The owner's type.
    pub owner_type: Option<String>,
    /// The name, byte by byte.
    pub name: Option<String>,
    /// The resolution. A calendar period never equals a fixed one.
    pub resolution: Option<Period>,
    /// The type.
    pub series_type: Option<SeriesType>,
    /// Features that the series must have, among others; kinds must match.
    pub features: Features,
    /// Numbers of series.
    pub ids: Option<Vec<SeriesId>>,
}

impl Filter {
    /// The condition on the table `a`, with its parameters. SQLite takes every index for as good as the next; a `+` in
    /// front of a column keeps it from one that finds most rows where another finds few.
    pub(super) fn condition(&self) -> (String, Vec<Value>) {
        let mut condition = Condition::default();
        let by_id = if self.ids.is_some() { "+" } else { "" };
        let by_owner = if self.ids.is_some() || self.owner_id.is_some() { "+" } else { "" };
        let by_name = if by_owner == "+" || self.name.is_some() { "+" } else { "" };
        if let Some(id) = self.owner_id {
            condition.equal(by_id, "owner_id", id);
        }
        if let Some(category) = self.owner_category {
            // The index of owners has the category too.
            let by_name = if self.owner_id.is_some() { by_id } else { by_name };
            condition.equal(by_name, "owner_category", category.name().to_string());
        }
        if let Some(owner_type) = &self.owner_type {
            condition.equal(by_name, "owner_type", owner_type.clone());
        }
        if let Some(name) = &self.name {
            condition.equal(by_owner, "name", name.clone());
        }
        if let Some(resolution) = self.resolution {
            condition.equal(by_name, "resolution", resolution.to_string());
        }
        if let Some(series_type) = self.series_type {
            condition.equal(by_name, "time_series_type", series_type.name().to_string());
        }
        for (key, value) in self.features.iter() {
            condition.feature(key, value);
        }
        if let Some(ids) = &self.ids {
            condition.any_of("a.id", ids);
        }
        condition.finish()
    }
}

#[derive(Default)]
struct Condition {
    terms: Vec<String>,
    parameters: Vec<Value>,
}

impl Condition {
    fn equal(&mut self, sign: &str, column: &str, value: impl Into<Value>) {
        let parameter = self.bind(value.into());
        self.terms.push(format!("{sign}a.{column} = {parameter}"));
    }

    fn any_of(&mut self, column: &str, ids: &[SeriesId]) {
        let list = self.bind(json_list(ids).into());
        self.terms.push(format!("{column} IN (SELECT value FROM json_each({list}))"));
    }

    fn feature(&mut self, key: &str, value: &FeatureValue) {
        let (kind, column, value) = match value {
            FeatureValue::Int(n) => ("int", "value_int", Value::Integer(*n)),
            FeatureValue::Float(x) => ("float", "value_float", Value::Real(*x)),
            FeatureValue::Bool(b) => ("bool", "value_bool", Value::Integer(i64::from(*b))),
            FeatureValue::Text(text) => ("str", "value_str", Value::Text(text.clone())),
        };
        let (key, value) = (self.bind(key.to_string().into()), self.bind(value));
        self.terms.push(format!(
            "EXISTS (SELECT 1 FROM feature_sets f WHERE f.features_hash = a.features_hash AND f.key = {key}
                     AND f.value_kind = '{kind}' AND f.{column} = {value})"
        ));
    }

    fn bind(&mut self, value: Value) -> String {
        self.parameters.push(value);
        format!("?{}", self.parameters.len())
    }

    fn finish(self) -> (String, Vec<Value>) {
        let text = if self.terms.is_empty() { "1".into() } else { self.terms.join(" AND ") };
        (text, self.parameters)
    }
}

/// One parameter for any number of ids: SQLite limits the number of parameters, not their size.
pub(super) fn json_list(ids: &[SeriesId]) -> String {
    serde_json::to_string(&ids.iter().map(|id| id.0).collect::<Vec<_>>()).expect("numbers have a JSON text")
}
