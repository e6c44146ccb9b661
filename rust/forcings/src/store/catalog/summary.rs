//! Counts of what a catalog holds, and tables of it.

use super::Catalog;
use crate::array::ArrayHash;
use crate::series::{OwnerCategory, SeriesType};
use crate::time::{Period, UnixMillis};
use crate::Result;
use rusqlite::Row;

const STATIC: [SeriesType; 3] =
    [SeriesType::SingleTimeSeries, SeriesType::NonSequentialTimeSeries, SeriesType::PersistentTimeSeries];
/// In the order in which forecasts are looked for.
const FORECASTS: [SeriesType; 4] = [
    SeriesType::Deterministic,
    SeriesType::DeterministicSingleTimeSeries,
    SeriesType::Probabilistic,
    SeriesType::Scenarios,
];

/// How many series a store has, and whose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Components that own a series.
    pub components: u64,
    /// Supplemental attributes that own a series.
    pub attributes: u64,
    /// Series that are no forecasts.
    pub static_series: u64,
    /// Forecasts, derived ones included.
    pub forecasts: u64,
    /// Distinct arrays of the static series.
    pub static_arrays: u64,
    /// Distinct arrays of the forecasts. A derived forecast shares its array with a static series.
    pub forecast_arrays: u64,
    /// Distinct arrays of all series.
    pub arrays: u64,
}

/// Series that have these fields in common, and how many they are. Fields that their type does not have are `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The type of the owners.
    pub owner_type: String,
    /// The category of the owners.
    pub owner_category: OwnerCategory,
    /// The type of the series.
    pub series_type: SeriesType,
    /// The name.
    pub name: String,
    /// The first instant.
    pub initial: Option<UnixMillis>,
    /// The resolution.
    pub resolution: Option<Period>,
    /// The extent of the first axis of the arrays.
    pub length: Option<u64>,
    /// The span of one forecast window.
    pub horizon: Option<Period>,
    /// The distance of forecast windows.
    pub interval: Option<Period>,
    /// The number of forecast windows.
    pub count: Option<u64>,
    /// How many series.
    pub series: u64,
}

/// The windows of a forecast.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForecastParameters {
    /// The start of the first window.
    pub initial: UnixMillis,
    /// The step inside a window.
    pub resolution: Period,
    /// The span of one window.
    pub horizon: Period,
    /// The distance of windows.
    pub interval: Period,
    /// The number of windows.
    pub count: u64,
}

impl Catalog {
    /// How many series there are.
    ///
    /// # Errors
    /// `Catalog` when SQLite refuses.
    pub(crate) fn rows(&self) -> Result<u64> {
        self.count("COUNT(*) FROM time_series_associations")
    }

    /// Counts everything.
    ///
    /// # Errors
    /// `Catalog` when SQLite refuses.
    pub(crate) fn counts(&self) -> Result<Counts> {
        let owners = |category: OwnerCategory| {
            self.count(&format!(
                "COUNT(DISTINCT owner_id) FROM time_series_associations
                                 WHERE owner_category = '{}'",
                category.name()
            ))
        };
        let among = |what: &str, types: &[SeriesType]| {
            self.count(&format!("{what} FROM time_series_associations WHERE time_series_type IN ({})", list(types)))
        };
        Ok(Counts {
            components: owners(OwnerCategory::Component)?,
            attributes: owners(OwnerCategory::SupplementalAttribute)?,
            static_series: among("COUNT(*)", &STATIC)?,
            forecasts: among("COUNT(*)", &FORECASTS)?,
            static_arrays: among("COUNT(DISTINCT data_hash)", &STATIC)?,
            forecast_arrays: among("COUNT(DISTINCT data_hash)", &FORECASTS)?,
            arrays: self.count("COUNT(DISTINCT data_hash) FROM time_series_associations")?,
        })
    }

    /// The types that the catalog has, and how many series of each, in the order of the types.
    ///
    /// # Errors
    /// `Catalog` when SQLite refuses.
    pub(crate) fn counts_by_type(&self) -> Result<Vec<(SeriesType, u64)>> {
        let mut counts = Vec::new();
        for series_type in SeriesType::ALL {
            let name = series_type.name();
            let rows =
                self.count(&format!("COUNT(*) FROM time_series_associations WHERE time_series_type = '{name}'"))?;
            if rows > 0 {
                counts.push((series_type, rows));
            }
        }
        Ok(counts)
    }

    /// How many `SingleTimeSeries` and how many `DeterministicSingleTimeSeries` have this array.
    ///
    /// # Errors
    /// `Catalog` when SQLite refuses.
    pub(crate) fn array_references(&self, hash: &ArrayHash) -> Result<(u64, u64)> {
        let of_type = |series_type: SeriesType| {
            self.connection
                .prepare_cached(
                    "SELECT COUNT(*) FROM time_series_associations WHERE data_hash = ?1 AND +time_series_type = ?2",
                )
                .and_then(|mut s| s.query_row((hash.as_bytes(), series_type.name()), |row| tally(row, 0)))
                .map_err(|e| self.failure(e))
        };
        Ok((of_type(SeriesType::SingleTimeSeries)?, of_type(SeriesType::DeterministicSingleTimeSeries)?))
    }

    /// The static series, grouped by what they have in common; ordered by owner type, category, type and name.
    ///
    /// # Errors
    /// `Integrity` for a value that cannot be read, `Catalog` when SQLite refuses.
    pub(crate) fn static_summary(&self) -> Result<Vec<Summary>> {
        self.summary("NULL, NULL, NULL", &STATIC)
    }

    /// The forecasts, likewise.
    ///
    /// # Errors
    /// As [`Catalog::static_summary`].
    pub(crate) fn forecast_summary(&self) -> Result<Vec<Summary>> {
        self.summary("horizon, interval, count", &FORECASTS)
    }

    /// The windows of one forecast, with this resolution and interval if they are given: the first `Deterministic`, else
    /// the first of the next type.
    ///
    /// # Errors
    /// As [`Catalog::static_summary`].
    pub(crate) fn forecast_parameters(
        &self,
        resolution: Option<Period>,
        interval: Option<Period>,
    ) -> Result<Option<ForecastParameters>> {
        let (resolution, interval) = (resolution.map(|p| p.to_string()), interval.map(|p| p.to_string()));
        for series_type in FORECASTS {
            let mut statement = self
                .connection
                .prepare_cached(
                    "SELECT initial_timestamp, resolution, horizon, interval, count FROM time_series_associations
                     WHERE time_series_type = ?1 AND (?2 IS NULL OR +resolution = ?2) AND (?3 IS NULL OR +interval = ?3)
                     ORDER BY id LIMIT 1",
                )
                .map_err(|e| self.failure(e))?;
            let mut rows =
                statement.query((series_type.name(), &resolution, &interval)).map_err(|e| self.failure(e))?;
            if let Some(row) = rows.next().map_err(|e| self.failure(e))? {
                return Ok(Some(ForecastParameters {
                    initial: self.needed(row, 0, "initial_timestamp", instant)?,
                    resolution: self.needed(row, 1, "resolution", period)?,
                    horizon: self.needed(row, 2, "horizon", period)?,
                    interval: self.needed(row, 3, "interval", period)?,
                    count: self
                        .number(row, 4, "count")?
                        .ok_or_else(|| self.damage(format_args!("column count: it is empty")))?,
                }));
            }
        }
        Ok(None)
    }

    fn summary(&self, windows: &str, types: &[SeriesType]) -> Result<Vec<Summary>> {
        let sql = format!(
            "SELECT owner_type, owner_category, time_series_type, name, initial_timestamp, resolution, length, {windows},
                    COUNT(*)
             FROM time_series_associations WHERE time_series_type IN ({})
             GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10",
            list(types)
        );
        let mut statement = self.connection.prepare_cached(&sql).map_err(|e| self.failure(e))?;
        let mut rows = statement.query([]).map_err(|e| self.failure(e))?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(|e| self.failure(e))? {
            found.push(Summary {
                owner_type: row.get(0).map_err(|e| self.unreadable("owner_type", e))?,
                owner_category: self.needed(row, 1, "owner_category", OwnerCategory::from_name)?,
                series_type: self.needed(row, 2, "time_series_type", SeriesType::from_name)?,
                name: row.get(3).map_err(|e| self.unreadable("name", e))?,
                initial: self.optional(row, 4, "initial_timestamp", instant)?,
                resolution: self.optional(row, 5, "resolution", period)?,
                length: self.number(row, 6, "length")?,
                horizon: self.optional(row, 7, "horizon", period)?,
                interval: self.optional(row, 8, "interval", period)?,
                count: self.number(row, 9, "count")?,
                series: tally(row, 10).map_err(|e| self.failure(e))?,
            });
        }
        Ok(found)
    }

    fn count(&self, what: &str) -> Result<u64> {
        self.connection
            .prepare_cached(&format!("SELECT {what}"))
            .and_then(|mut s| s.query_row([], |row| tally(row, 0)))
            .map_err(|e| self.failure(e))
    }

    fn number(&self, row: &Row<'_>, at: usize, column: &str) -> Result<Option<u64>> {
        let value: Option<i64> = row.get(at).map_err(|e| self.unreadable(column, e))?;
        let unsigned =
            |n: i64| u64::try_from(n).map_err(|_| self.damage(format_args!("column {column}: {n} is negative")));
        value.map(unsigned).transpose()
    }

    fn needed<T>(&self, row: &Row<'_>, at: usize, column: &str, parse: fn(&str) -> Option<T>) -> Result<T> {
        self.optional(row, at, column, parse)?.ok_or_else(|| self.damage(format_args!("column {column}: it is empty")))
    }

    fn optional<T>(&self, row: &Row<'_>, at: usize, column: &str, parse: fn(&str) -> Option<T>) -> Result<Option<T>> {
        let text: Option<String> = row.get(at).map_err(|e| self.unreadable(column, e))?;
        let Some(text) = text else { return Ok(None) };
        parse(&text).map(Some).ok_or_else(|| {
            let shown: String = text.chars().take(80).collect();
            self.damage(format_args!("column {column}: `{shown}` cannot be read"))
        })
    }
}

/// A result of `COUNT`.
fn tally(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get(at).map(i64::unsigned_abs)
}

fn instant(text: &str) -> Option<UnixMillis> {
    UnixMillis::from_rfc3339(text).ok()
}

fn period(text: &str) -> Option<Period> {
    text.parse().ok()
}

fn list(types: &[SeriesType]) -> String {
    types.iter().map(|t| format!("'{}'", t.name())).collect::<Vec<_>>().join(", ")
}
