//! A row of the main table as a [`SeriesInfo`]. Every column may hold anything: the file comes from outside.

use super::Catalog;
use crate::array::{ArrayHash, DType};
use crate::series::{FeatureValue, Features, FeaturesHash, Owner, OwnerCategory, SeriesId, SeriesInfo, SeriesType};
use crate::time::{Period, UnixMillis};
use crate::{Error, Result};
use rusqlite::types::FromSql;
use rusqlite::Row;
use std::fmt::Display;

/// The columns that [`Catalog::decode`] reads, in its order, without the last: see [`columns`].
const COLUMNS: &str = "a.id, a.owner_id, a.owner_type, a.owner_category, a.time_series_type, a.name,
    a.initial_timestamp, a.resolution, a.length, a.horizon, a.interval, a.count, a.timestamps_json, a.units,
    a.percentiles_json, a.dtype, a.element_shape, a.ext, a.data_hash, a.features_hash";

/// The columns that [`Catalog::decode`] reads, in its order. A catalog that is open for reading may lack the last.
pub(super) fn columns(has_references: bool) -> String {
    let reference = if has_references { "a.time_reference" } else { "NULL" };
    format!("{COLUMNS}, {reference}")
}

impl Catalog {
    /// The series of a row of [`columns`], without its features, and the hash of those.
    pub(super) fn decode(&self, row: &Row<'_>) -> Result<(SeriesInfo, FeaturesHash)> {
        let cells = Cells { catalog: self, row, id: row.get(0).map_err(|e| self.failure(e))? };
        let owner_category = cells.text(3, "owner_category", OwnerCategory::from_name)?;
        let info = SeriesInfo {
            id: SeriesId(cells.id),
            owner: Owner {
                id: cells.get(1, "owner_id")?,
                owner_type: cells.get(2, "owner_type")?,
                category: owner_category,
            },
            series_type: cells.text(4, "time_series_type", SeriesType::from_name)?,
            name: cells.get(5, "name")?,
            initial: cells.optional_text(6, "initial_timestamp", |t| UnixMillis::from_rfc3339(t).ok())?,
            resolution: cells.optional_text(7, "resolution", period)?,
            length: cells.count(8, "length")?,
            horizon: cells.optional_text(9, "horizon", period)?,
            interval: cells.optional_text(10, "interval", period)?,
            count: cells.count(11, "count")?,
            timestamps: cells.optional_text(12, "timestamps_json", timestamps)?,
            units: cells.get(13, "units")?,
            percentiles: cells.optional_text(14, "percentiles_json", |t| serde_json::from_str(t).ok())?,
            dtype: cells.text(15, "dtype", DType::from_name)?,
            element_shape: cells
                .optional_text(16, "element_shape", |t| serde_json::from_str(t).ok())?
                .unwrap_or_default(),
            ext: cells.get(17, "ext")?,
            time_reference: cells.optional_text(20, "time_reference", |t| t.parse().ok())?,
            features: Features::new(),
            hash: ArrayHash::from_bytes(cells.get(18, "data_hash")?),
        };
        Ok((info, FeaturesHash(cells.get(19, "features_hash")?)))
    }

    /// The features of a set.
    ///
    /// # Errors
    /// `Integrity` when a value does not fit its kind, or there is no such set.
    pub(super) fn features(&self, hash: &FeaturesHash) -> Result<Features> {
        if *hash == Features::new().hash() {
            return Ok(Features::new());
        }
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT key, value_kind, value_int, value_float, value_bool, value_str FROM feature_sets
                 WHERE features_hash = ?1",
            )
            .map_err(|e| self.failure(e))?;
        let mut rows = statement.query([hash.0]).map_err(|e| self.failure(e))?;
        let mut features = Features::new();
        while let Some(row) = rows.next().map_err(|e| self.failure(e))? {
            let (key, value) = feature(row)
                .map_err(|e| self.damage(format_args!("a feature of the set {} is damaged: {e}", hex(hash))))?;
            features.insert(key, value);
        }
        if features.is_empty() {
            return Err(self.damage(format_args!("the feature set {} of a series is missing", hex(hash))));
        }
        // SQLite keeps no negative zero, which other writers hash.
        let zero = |value: &FeatureValue| matches!(value, FeatureValue::Float(x) if *x == 0.0);
        if features.hash() != *hash && !features.iter().any(|(_, value)| zero(value)) {
            return Err(self.damage(format_args!("the feature set {} of a series has other content", hex(hash))));
        }
        Ok(features)
    }
}

/// The cells of one row, with the row's name for error texts.
struct Cells<'a> {
    catalog: &'a Catalog,
    row: &'a Row<'a>,
    id: i64,
}

impl Cells<'_> {
    fn get<T: FromSql>(&self, index: usize, column: &str) -> Result<T> {
        self.row.get(index).map_err(|e| self.damage(column, &e))
    }

    fn text<T>(&self, index: usize, column: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T> {
        self.optional_text(index, column, parse)?.ok_or_else(|| self.damage(column, &"it is empty"))
    }

    fn optional_text<T>(&self, index: usize, column: &str, parse: impl Fn(&str) -> Option<T>) -> Result<Option<T>> {
        let cell = self.row.get_ref(index).map_err(|e| self.damage(column, &e))?;
        let Some(text) = cell.as_str_or_null().map_err(|e| self.damage(column, &e))? else { return Ok(None) };
        let shown = || format!("`{}` cannot be read", text.chars().take(80).collect::<String>());
        parse(text).map(Some).ok_or_else(|| self.damage(column, &shown()))
    }

    fn count(&self, index: usize, column: &str) -> Result<Option<u64>> {
        let value: Option<i64> = self.get(index, column)?;
        value.map(|n| u64::try_from(n).map_err(|_| self.damage(column, &format!("{n} is negative")))).transpose()
    }

    fn damage(&self, column: &str, why: &dyn Display) -> Error {
        self.catalog.damage(format_args!("series {}, column {column}: {why}", self.id))
    }
}

fn period(text: &str) -> Option<Period> {
    text.parse().ok()
}

fn timestamps(text: &str) -> Option<Vec<UnixMillis>> {
    let texts: Vec<String> = serde_json::from_str(text).ok()?;
    texts.iter().map(|t| UnixMillis::from_rfc3339(t).ok()).collect()
}

fn feature(row: &Row<'_>) -> rusqlite::Result<(String, FeatureValue)> {
    let kind: String = row.get(1)?;
    let value = match kind.as_str() {
        "int" => FeatureValue::Int(row.get(2)?),
        "float" => FeatureValue::Float(row.get(3)?),
        "bool" => FeatureValue::Bool(row.get(4)?),
        "str" => FeatureValue::Text(row.get(5)?),
        _ => {
            let unknown = format!("the kind `{kind}` is unknown");
            return Err(rusqlite::Error::FromSqlConversionFailure(1, rusqlite::types::Type::Text, unknown.into()));
        }
    };
    Ok((row.get(0)?, value))
}

fn hex(hash: &FeaturesHash) -> String {
    hash.0.iter().map(|b| format!("{b:02x}")).collect()
}
