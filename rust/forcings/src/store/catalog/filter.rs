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
    /// The condition on the table `a`, with its parameters.
    pub(super) fn condition(&self) -> (String, Vec<Value>) {
        let mut condition = Condition::default();
        // The rarest values first.
        if let Some(ids) = &self.ids {
            condition.any_of(ids);
        }
        if let Some(id) = self.owner_id {
            condition.equal("owner_id", id);
        }
        if let Some(name) = &self.name {
            condition.equal("name", name.clone());
        }
        if let Some(owner_type) = &self.owner_type {
            condition.equal("owner_type", owner_type.clone());
        }
        if let Some(resolution) = self.resolution {
            condition.equal("resolution", resolution.to_string());
        }
        if let Some(series_type) = self.series_type {
            condition.equal("time_series_type", series_type.name().to_string());
        }
        if let Some(category) = self.owner_category {
            condition.equal("owner_category", category.name().to_string());
        }
        for (key, value) in self.features.iter() {
            condition.feature(key, value);
        }
        condition.finish()
    }
}

#[derive(Default)]
struct Condition {
    /// The column whose index finds the rows: that of the first term.
    searched: Option<&'static str>,
    terms: Vec<String>,
    parameters: Vec<Value>,
}

impl Condition {
    /// To SQLite every index is as good as the next; the `+` keeps it from one that finds most rows where another finds
    /// few.
    fn equal(&mut self, column: &'static str, value: impl Into<Value>) {
        let searched = *self.searched.get_or_insert(column);
        // The index of owners has their category too.
        let helps = searched == column || (searched, column) == ("owner_id", "owner_category");
        let sign = if helps { "" } else { "+" };
        let parameter = self.bind(value.into());
        self.terms.push(format!("{sign}a.{column} = {parameter}"));
    }

    fn any_of(&mut self, ids: &[SeriesId]) {
        self.searched = Some("id");
        let list = self.bind(json_list(ids).into());
        self.terms.push(format!("a.id IN (SELECT value FROM json_each({list}))"));
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
