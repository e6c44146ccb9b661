//! Derived forecasts: their rows, and what may not stand beside them or go from under them.

use super::{Catalog, Inserter};
use crate::array::ArrayHash;
use crate::series::{Features, NewSeries, Owner, OwnerCategory, SeriesId, SeriesInfo, SeriesType, Windows};
use crate::time::Period;
use crate::{Error, Result};
use rusqlite::{params, OptionalExtension, ToSql};

const RELATIVE: &str = "
SELECT id, COALESCE(horizon, '') FROM time_series_associations
WHERE owner_id = ?1 AND owner_category = ?2 AND time_series_type = ?3 AND name = ?4 AND resolution IS ?5
    AND features_hash = ?6 AND (?7 IS NULL OR interval = ?7) AND (?8 IS NULL OR data_hash = ?8) LIMIT 1";

const DERIVE: &str = "
INSERT INTO time_series_associations
    (id, owner_id, owner_type, owner_category, time_series_type, name, initial_timestamp, resolution, length, horizon,
     interval, count, units, dtype, element_shape, ext, data_hash, features_hash, time_reference)
SELECT ?1, owner_id, owner_type, owner_category, ?2, name, initial_timestamp, resolution, length, ?3, ?4, ?5, units,
       dtype, element_shape, ext, data_hash, features_hash, time_reference
FROM time_series_associations WHERE id = ?6";

/// A dense and a derived forecast of one family, of which `a` fits the condition that follows.
const EXCLUDED: &str = "
SELECT a.id, b.id, a.time_series_type FROM time_series_associations a JOIN time_series_associations b
ON b.owner_category = a.owner_category AND b.name = a.name AND b.resolution IS a.resolution
   AND b.features_hash = a.features_hash
   AND b.time_series_type = iif(a.time_series_type = 'Deterministic', 'DeterministicSingleTimeSeries', 'Deterministic')
WHERE a.time_series_type IN ('Deterministic', 'DeterministicSingleTimeSeries')";

/// Series that differ in nothing but their type and, for forecasts, their interval. The parts are as the catalog has them.
#[derive(Debug)]
pub(super) struct Family {
    pub(super) owner_id: i64,
    pub(super) owner_category: String,
    pub(super) name: String,
    pub(super) resolution: Option<String>,
    pub(super) features: [u8; 32],
}

impl Family {
    fn new(owner: &Owner, name: &str, resolution: Option<Period>, features: &Features) -> Self {
        Family {
            owner_id: owner.id,
            owner_category: owner.category.name().into(),
            name: name.into(),
            resolution: resolution.map(|period| period.to_string()),
            features: features.hash().0,
        }
    }
}

impl Inserter<'_> {
    /// Adds the derived forecast of `source`, unless it is there: then there is no new id.
    ///
    /// # Errors
    /// `InvalidParameter` when the source has a `Deterministic` forecast, or a derived one of the same interval and
    /// another horizon; `Catalog` when SQLite refuses.
    pub(crate) fn derive(&mut self, source: &SeriesInfo, windows: &Windows) -> Result<Option<SeriesId>> {
        let family = Family::new(&source.owner, &source.name, source.resolution, &source.features);
        if let Some((other, _)) = self.catalog.relative(&family, SeriesType::Deterministic, None, None)? {
            return Err(Error::invalid(format!(
                "{source} cannot be transformed: it has a Deterministic forecast already (id {other}); remove that first"
            )));
        }
        let derived = SeriesType::DeterministicSingleTimeSeries;
        if let Some((other, horizon)) = self.catalog.relative(&family, derived, Some(windows.interval), None)? {
            if horizon == windows.horizon.to_string() {
                return Ok(None);
            }
            return Err(Error::invalid(format!(
                "{source} has a derived forecast (id {other}) with the interval {} and the horizon {horizon}; remove it \
                 before you derive one with the horizon {}",
                windows.interval, windows.horizon
            )));
        }
        let id = self.catalog.issue_id()?;
        let count = i64::try_from(windows.count).map_err(|_| Error::invalid("too many windows"))?;
        let (horizon, interval) = (windows.horizon.to_string(), windows.interval.to_string());
        self.catalog
            .connection
            .prepare_cached(DERIVE)
            .and_then(|mut s| s.execute(params![id.0, derived.name(), horizon, interval, count, source.id.0]))
            .map_err(|e| self.catalog.failure(e))?;
        Ok(Some(id))
    }

    /// Refuses a `Deterministic` forecast of a series that has a derived one.
    ///
    /// # Errors
    /// `InvalidParameter`, `Catalog` when SQLite refuses.
    pub(super) fn check_exclusion(&self, series: &NewSeries<'_>) -> Result<()> {
        if series.series_type() != SeriesType::Deterministic {
            return Ok(());
        }
        let derived = SeriesType::DeterministicSingleTimeSeries;
        let family = Family::new(&series.owner, &series.name, series.data.resolution(), &series.features);
        match self.catalog.relative(&family, derived, None, None)? {
            None => Ok(()),
            Some((other, _)) => Err(Error::invalid(format!(
                "{series}: a forecast of this name is derived from a SingleTimeSeries already (id {other}); remove that \
                 first"
            ))),
        }
    }
}

impl Catalog {
    /// A derived forecast of the family that stands on this array.
    ///
    /// # Errors
    /// `Catalog` when SQLite refuses.
    pub(super) fn derived_from(&self, family: &Family, hash: &ArrayHash) -> Result<Option<SeriesId>> {
        let found = self.relative(family, SeriesType::DeterministicSingleTimeSeries, None, Some(hash))?;
        Ok(found.map(|(id, _)| id))
    }

    /// Refuses a row that was just made or renamed, if it is a dense forecast beside a derived one, or the other way round.
    ///
    /// # Errors
    /// `InvalidParameter`, naming both; `Catalog` when SQLite refuses.
    pub(super) fn check_company(&self, id: SeriesId) -> Result<()> {
        self.excluded("a.id = ?1 AND b.owner_id = a.owner_id", params![id.0])
    }

    /// Refuses to move the series of an owner to one whose forecasts exclude them.
    ///
    /// # Errors
    /// As [`Catalog::check_company`].
    pub(super) fn check_move(&self, old: i64, new: i64, category: OwnerCategory) -> Result<()> {
        if old == new {
            return Ok(());
        }
        self.excluded(
            "a.owner_id = ?1 AND b.owner_id = ?2 AND a.owner_category = ?3",
            params![old, new, category.name()],
        )
    }

    fn excluded(&self, condition: &str, parameters: &[&dyn ToSql]) -> Result<()> {
        let pair: Option<(i64, i64, String)> = self
            .connection
            .prepare_cached(&format!("{EXCLUDED} AND {condition} LIMIT 1"))
            .and_then(|mut s| s.query_row(parameters, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional())
            .map_err(|e| self.failure(e))?;
        let Some((id, other, series_type)) = pair else { return Ok(()) };
        let (own, its) = match series_type == SeriesType::Deterministic.name() {
            true => ("dense", "derived from a SingleTimeSeries"),
            false => ("derived from a SingleTimeSeries", "dense"),
        };
        Err(Error::invalid(format!(
            "the forecast {id} is {own} and would stand beside the forecast {other} of the same name, which is {its}; \
             remove one of them first"
        )))
    }

    /// Whether there is any derived forecast.
    ///
    /// # Errors
    /// `Catalog` when SQLite refuses.
    pub(super) fn has_derived(&self) -> Result<bool> {
        let derived = SeriesType::DeterministicSingleTimeSeries.name();
        self.connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM time_series_associations WHERE time_series_type = ?1)")
            .and_then(|mut statement| statement.query_row([derived], |row| row.get(0)))
            .map_err(|e| self.failure(e))
    }

    /// The id and the horizon of a series of the family, of this type and, where given, this interval and array.
    fn relative(
        &self,
        family: &Family,
        series_type: SeriesType,
        interval: Option<Period>,
        hash: Option<&ArrayHash>,
    ) -> Result<Option<(SeriesId, String)>> {
        let (category, series_type) = (&family.owner_category, series_type.name());
        let (interval, hash) = (interval.map(|period| period.to_string()), hash.map(ArrayHash::as_bytes));
        let Family { owner_id, name, resolution, features, .. } = family;
        self.connection
            .prepare_cached(RELATIVE)
            .and_then(|mut statement| {
                let values = params![owner_id, category, series_type, name, resolution, features, interval, hash];
                statement.query_row(values, |row| Ok((SeriesId(row.get(0)?), row.get(1)?))).optional()
            })
            .map_err(|e| self.failure(e))
    }
}
