//! New rows.

use super::{Catalog, Identity};
use crate::array::ArrayHash;
use crate::series::{FeatureValue, Features, FeaturesHash, NewSeries, SeriesId, TimeReference};
use crate::time::UnixMillis;
use crate::{Error, Result};
use rusqlite::{ffi, params, ErrorCode};
use std::collections::HashSet;

const INSERT: &str = "
INSERT INTO time_series_associations
    (id, owner_id, owner_type, owner_category, time_series_type, name, initial_timestamp, resolution, length,
     horizon, interval, count, timestamps_json, percentiles_json, units, dtype, element_shape, ext, data_hash,
     features_hash, time_reference)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)";

const INSERT_FEATURE: &str = "
INSERT OR IGNORE INTO feature_sets (key, value_kind, value_int, value_float, value_bool, value_str, features_hash)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";

/// Inserts rows one after the other, each set of features once. The caller holds a transaction.
pub(crate) struct Inserter<'a> {
    pub(super) catalog: &'a mut Catalog,
    written: HashSet<FeaturesHash>,
    /// The number that the first row gets.
    first: i64,
}

impl<'a> Inserter<'a> {
    /// Starts with no set of features known to be stored.
    pub(crate) fn new(catalog: &'a mut Catalog) -> Self {
        let first = catalog.last_id.saturating_add(1);
        Inserter { catalog, written: HashSet::new(), first }
    }

    /// Adds the row of `series`, whose array is `hash`.
    ///
    /// # Errors
    /// `DuplicateTimeSeries` when the identity is taken, `InvalidParameter` for a `Deterministic` forecast beside a derived
    /// one, `Catalog` when SQLite refuses.
    pub(crate) fn insert(&mut self, series: &NewSeries<'_>, hash: &ArrayHash) -> Result<SeriesId> {
        self.check_exclusion(series)?;
        let features_hash = series.features.hash();
        if !series.features.is_empty() && !self.written.contains(&features_hash) {
            self.insert_features(&series.features, &features_hash)?;
            self.written.insert(features_hash);
        }
        let id = self.catalog.issue_id()?;
        let (data, values, windows) = (&series.data, series.values(), series.data.windows());
        let count =
            windows.map(|w| i64::try_from(w.count).map_err(|_| Error::invalid("too many windows"))).transpose()?;
        let (length, element_shape) = split_shape(values.shape())?;
        let result = self.catalog.connection.prepare_cached(INSERT).and_then(|mut statement| {
            statement.execute(params![
                id.0,
                series.owner.id,
                series.owner.owner_type,
                series.owner.category.name(),
                series.series_type().name(),
                series.name,
                data.initial().map(UnixMillis::to_rfc3339),
                data.resolution().map(|period| period.to_string()),
                length,
                windows.map(|w| w.horizon.to_string()),
                windows.map(|w| w.interval.to_string()),
                count,
                data.timestamps().map(timestamps_json),
                data.percentiles().map(|p| serde_json::to_string(p).expect("numbers have a JSON text")),
                series.units,
                values.dtype().name(),
                element_shape,
                series.ext,
                hash.as_bytes(),
                features_hash.0,
                series.time_reference.as_ref().map(TimeReference::to_string),
            ])
        });
        match result {
            Ok(_) => Ok(id),
            Err(e) if is_taken(&e) => Err(self.duplicate(series, id)?),
            Err(e) => Err(self.catalog.failure(e)),
        }
    }

    /// Says who has the identity of `series`, which was to get the number `id`.
    fn duplicate(&self, series: &NewSeries<'_>, id: SeriesId) -> Result<Error> {
        let holder = self.catalog.find_identity(&Identity::of_new(series))?;
        let why = match holder {
            // Numbers ascend one by one within a batch.
            Some(SeriesId(other)) if other >= self.first => format!(
                "items {} and {} of the batch (counted from 1) are both {series}; add one of them, or give one another name \
                 or other features",
                other - self.first + 1,
                id.0 - self.first + 1
            ),
            Some(other) => format!(
                "{series} is already in the store, as {}; remove it first, or give this one another name or other features",
                self.catalog.named(other)?
            ),
            None => format!("{series} is already in the store"),
        };
        Ok(Error::DuplicateTimeSeries(why))
    }

    fn insert_features(&self, features: &Features, hash: &FeaturesHash) -> Result<()> {
        let mut statement =
            self.catalog.connection.prepare_cached(INSERT_FEATURE).map_err(|e| self.catalog.failure(e))?;
        for (key, value) in features.iter() {
            let (kind, int, float, bool, text) = match value {
                FeatureValue::Int(n) => ("int", Some(n), None, None, None),
                FeatureValue::Float(x) => ("float", None, Some(x), None, None),
                FeatureValue::Bool(b) => ("bool", None, None, Some(b), None),
                FeatureValue::Text(text) => ("str", None, None, None, Some(text)),
            };
            statement
                .execute(params![key, kind, int, float, bool, text, hash.0])
                .map_err(|e| self.catalog.failure(e))?;
        }
        Ok(())
    }
}

impl Catalog {
    pub(super) fn issue_id(&mut self) -> Result<SeriesId> {
        let next = self.last_id.checked_add(1);
        self.last_id =
            next.ok_or_else(|| self.damage(format_args!("no row ids are left: the highest is {}", i64::MAX)))?;
        Ok(SeriesId(self.last_id))
    }
}

fn timestamps_json(timestamps: &[UnixMillis]) -> String {
    let texts: Vec<String> = timestamps.iter().map(|t| t.to_rfc3339_z()).collect();
    serde_json::to_string(&texts).expect("texts have a JSON text")
}

fn split_shape(shape: &[usize]) -> Result<(i64, String)> {
    let (length, element_shape) = shape.split_first().ok_or_else(|| Error::invalid("the values have no axis"))?;
    let length = i64::try_from(*length).map_err(|_| Error::invalid(format!("{length} steps are too many")))?;
    Ok((length, serde_json::to_string(element_shape).expect("numbers have a JSON text")))
}

/// Whether a unique index refused the row; the primary key is not one of them.
pub(super) fn is_taken(error: &rusqlite::Error) -> bool {
    matches!(error, rusqlite::Error::SqliteFailure(e, _)
        if e.code == ErrorCode::ConstraintViolation && e.extended_code == ffi::SQLITE_CONSTRAINT_UNIQUE)
}
