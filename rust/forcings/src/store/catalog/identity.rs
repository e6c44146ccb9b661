//! Finding series by what identifies them, instead of by number.

use super::Catalog;
use crate::series::{Features, NewSeries, OwnerCategory, SeriesId, SeriesInfo, SeriesType};
use crate::time::Period;
use crate::{Error, Result};
use rusqlite::{params, OptionalExtension};

/// What no two series of a store share. A field that is `None` stands for series that do not have it, not for any.
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    /// The owner's number.
    pub owner_id: i64,
    /// The owner's category.
    pub owner_category: OwnerCategory,
    /// The type, exactly: `Deterministic` does not stand for `DeterministicSingleTimeSeries`.
    pub series_type: SeriesType,
    /// The name, byte by byte.
    pub name: String,
    /// The resolution.
    pub resolution: Option<Period>,
    /// The distance of forecast windows.
    pub interval: Option<Period>,
    /// All features.
    pub features: Features,
}

impl Identity {
    /// The identity of a series.
    pub fn of(info: &SeriesInfo) -> Self {
        Identity {
            owner_id: info.owner.id,
            owner_category: info.owner.category,
            series_type: info.series_type,
            name: info.name.clone(),
            resolution: info.resolution,
            interval: info.interval,
            features: info.features.clone(),
        }
    }

    /// The identity that a new series will have.
    pub fn of_new(series: &NewSeries<'_>) -> Self {
        Identity {
            owner_id: series.owner.id,
            owner_category: series.owner.category,
            series_type: series.series_type(),
            name: series.name.clone(),
            resolution: series.data.resolution(),
            interval: series.data.windows().map(|windows| windows.interval),
            features: series.features.clone(),
        }
    }
}

const FIND: &str = "
SELECT id FROM time_series_associations
WHERE owner_id = ?1 AND owner_category = ?2 AND time_series_type = ?3 AND name = ?4 AND features_hash = ?5
  AND resolution IS ?6 AND interval IS ?7";

const FIND_DETERMINISTIC: &str = "
SELECT id FROM time_series_associations
WHERE owner_id = ?1 AND owner_category = ?2 AND time_series_type IN (?3, ?4) AND name = ?5 AND features_hash = ?6
  AND (?7 IS NULL OR resolution = ?7) AND (?8 IS NULL OR interval = ?8)
ORDER BY id LIMIT 2";

impl Catalog {
    /// The series with this identity.
    ///
    /// # Errors
    /// `Catalog` when SQLite refuses.
    pub(crate) fn find_identity(&self, identity: &Identity) -> Result<Option<SeriesId>> {
        let parameters = params![
            identity.owner_id,
            identity.owner_category.name(),
            identity.series_type.name(),
            identity.name,
            identity.features.hash().0,
            identity.resolution.map(|period| period.to_string()),
            identity.interval.map(|period| period.to_string()),
        ];
        self.connection
            .prepare_cached(FIND)
            .and_then(|mut s| s.query_row(parameters, |row| row.get(0).map(SeriesId)).optional())
            .map_err(|e| self.failure(e))
    }

    /// The one `Deterministic` or `DeterministicSingleTimeSeries` of an owner with this name and exactly these features.
    ///
    /// # Errors
    /// `NotFound` when there is none, `InvalidParameter` when there are several, `Catalog` when SQLite refuses.
    pub(crate) fn find_deterministic(
        &self,
        owner_id: i64,
        category: OwnerCategory,
        name: &str,
        features: &Features,
        resolution: Option<Period>,
        interval: Option<Period>,
    ) -> Result<SeriesId> {
        let parameters = params![
            owner_id,
            category.name(),
            SeriesType::Deterministic.name(),
            SeriesType::DeterministicSingleTimeSeries.name(),
            name,
            features.hash().0,
            resolution.map(|period| period.to_string()),
            interval.map(|period| period.to_string()),
        ];
        let found: Vec<SeriesId> = self
            .connection
            .prepare_cached(FIND_DETERMINISTIC)
            .and_then(|mut s| s.query_map(parameters, |row| row.get(0).map(SeriesId))?.collect())
            .map_err(|e| self.failure(e))?;
        let shown: String = name.chars().take(120).collect();
        let what = format!("deterministic forecast `{shown}` of {} {owner_id}", category.name());
        match found[..] {
            [id] => Ok(id),
            [] => Err(Error::NotFound(format!("the store has no {what} with these features, resolution and interval"))),
            [first, second, ..] => Err(Error::invalid(format!(
                "there is more than one {what}, among them the series {first} and {second}; give its resolution and interval"
            ))),
        }
    }
}
