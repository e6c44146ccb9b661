//! What a listing may ask for, and the conditions of SQL that say it. Which of them leads the search is the business of
//! `condition`.

use super::condition::Term;
use crate::series::{FeatureValue, Features, OwnerCategory, SeriesId, SeriesType};
use crate::time::{Period, UnixMillis};
use crate::{Error, Result};
use rusqlite::types::Value;

/// The longest pattern that SQLite takes, in bytes.
const MAX_GLOB: usize = 50_000;

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
    /// A pattern for the whole name: `*` stands for any characters, `?` for one, `[a-z]` and `[^a-z]` for one of a set.
    /// Case counts, and `[[]` stands for the character `[`.
    pub name_glob: Option<String>,
    /// The resolution. A calendar period never equals a fixed one.
    pub resolution: Option<Period>,
    /// The distance of forecast windows; series without windows never match.
    pub interval: Option<Period>,
    /// The type; `Deterministic` stands for `DeterministicSingleTimeSeries` too.
    pub series_type: Option<SeriesType>,
    /// The first instant; irregular series have none and never match.
    pub initial: Option<UnixMillis>,
    /// The extent of the first axis of the stored array; for static series the number of steps.
    pub length: Option<u64>,
    /// Whether the instants are readings of a clock without a zone. Series that do not say count as not.
    pub zoneless: Option<bool>,
    /// Features that the series must have, among others; kinds must match.
    pub features: Features,
    /// All the features that the series must have: no other ones, and none for the empty set.
    pub exact_features: Option<Features>,
    /// Numbers of series.
    pub ids: Option<Vec<SeriesId>>,
}

impl Filter {
    /// The conditions on the table `a`, those first that tend to leave few rows. `references` says whether the catalog
    /// has the column `time_reference`.
    ///
    /// # Errors
    /// `InvalidParameter` for a pattern that is too long.
    pub(super) fn terms(&self, references: bool) -> Result<Vec<Term>> {
        let mut terms = Vec::new();
        let equal = |column, value: Value| Term::on(column, "= ?", vec![value]);
        if let Some(ids) = &self.ids {
            terms.push(Term::on("id", "IN (SELECT value FROM json_each(?))", vec![json_list(ids).into()]));
        }
        terms.extend(self.owner_id.map(|id| equal("owner_id", id.into())));
        terms.extend(self.name.as_ref().map(|name| equal("name", name.clone().into())));
        if let Some(glob) = &self.name_glob {
            terms.push(name_glob(glob)?);
        }
        terms.extend(self.features.iter().map(|(key, value)| feature(key, value)));
        let exact = self.exact_features.as_ref();
        terms.extend(exact.map(|features| equal("features_hash", features.hash().0.to_vec().into())));
        terms.extend(self.initial.map(|initial| equal("initial_timestamp", initial.to_rfc3339().into())));
        terms.extend(self.interval.map(|interval| equal("interval", interval.to_string().into())));
        terms.extend(self.owner_type.as_ref().map(|owner_type| equal("owner_type", owner_type.clone().into())));
        terms.extend(self.resolution.map(|resolution| equal("resolution", resolution.to_string().into())));
        // No row has a length that SQLite cannot hold, and none has a negative one.
        terms.extend(self.length.map(|length| equal("length", i64::try_from(length).unwrap_or(-1).into())));
        terms.extend(self.series_type.map(|series_type| match series_type {
            SeriesType::Deterministic => {
                let types = [SeriesType::Deterministic, SeriesType::DeterministicSingleTimeSeries];
                Term::on("time_series_type", "IN (?, ?)", types.map(|t| t.name().to_string().into()).to_vec())
            }
            other => equal("time_series_type", other.name().to_string().into()),
        }));
        terms.extend(self.owner_category.map(|category| equal("owner_category", category.name().to_string().into())));
        terms.extend(self.zoneless.map(|zoneless| match (references, zoneless) {
            (true, true) => Term::on("time_reference", "= 'zoneless'", Vec::new()),
            (true, false) => Term::plain("a.time_reference IS NOT 'zoneless'"),
            (false, true) => Term::plain("0"),
            (false, false) => Term::plain("1"),
        }));
        Ok(terms)
    }
}

fn name_glob(glob: &str) -> Result<Term> {
    if glob.len() > MAX_GLOB {
        let len = glob.len();
        return Err(Error::invalid(format!(
            "the pattern for the name has {len} bytes; at most {MAX_GLOB} are allowed"
        )));
    }
    // The index on names helps only as far as the pattern begins with plain characters.
    Ok(match glob.starts_with(['*', '?', '[']) {
        true => Term { lead: None, other: "a.name GLOB ?".into(), parameters: vec![glob.to_string().into()] },
        false => Term::on("name", "GLOB ?", vec![glob.to_string().into()]),
    })
}

fn feature(key: &str, value: &FeatureValue) -> Term {
    // Every column of the index in front of the value's is named, so that the search ends at the value.
    let (kind, test, value) = match value {
        FeatureValue::Int(n) => ("int", "f.value_int = ?", Value::Integer(*n)),
        FeatureValue::Float(x) => ("float", "f.value_int IS NULL AND f.value_float = ?", Value::Real(*x)),
        FeatureValue::Bool(b) => ("bool", "f.value_bool = ?", Value::Integer(i64::from(*b))),
        FeatureValue::Text(text) => {
            ("str", "f.value_int IS NULL AND f.value_float IS NULL AND f.value_str = ?", Value::Text(text.clone()))
        }
    };
    let set = format!("feature_sets f WHERE f.key = ? AND f.value_kind = '{kind}' AND {test}");
    Term {
        lead: Some(format!("a.features_hash IN (SELECT f.features_hash FROM {set})")),
        other: format!("EXISTS (SELECT 1 FROM {set} AND f.features_hash = a.features_hash)"),
        parameters: vec![key.to_string().into(), value],
    }
}

/// One parameter for any number of ids: SQLite limits the number of parameters, not their size.
pub(super) fn json_list(ids: &[SeriesId]) -> String {
    serde_json::to_string(&ids.iter().map(|id| id.0).collect::<Vec<_>>()).expect("numbers have a JSON text")
}
