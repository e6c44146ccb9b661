//! Questions about the catalog as a whole. An empty store answers with empty lists and zeros.

use crate::array::ArrayHash;
use crate::series::{Features, OwnerCategory, SeriesId, SeriesType};
use crate::store::{Counts, ForecastParameters, Identity, Store, Summary};
use crate::time::Period;
use crate::Result;

/// What a store is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// How many series it has, changes in progress included.
    pub series: u64,
    /// Whether a transaction is open.
    pub in_transaction: bool,
}

impl Store {
    /// What the store is doing, without waiting: `None` while another call uses it.
    ///
    /// # Errors
    /// `Closed`, `Catalog`.
    pub fn state(&self) -> Result<Option<State>> {
        self.shared
            .glance(|session| Ok(State { series: session.catalog().rows()?, in_transaction: session.in_transaction() }))
    }

    /// Whether there is a series with exactly this identity.
    ///
    /// # Errors
    /// `Closed`, `Catalog`.
    pub fn has_series(&self, identity: &Identity) -> Result<bool> {
        self.shared.look(|session| Ok(session.catalog().find_identity(identity)?.is_some()))
    }

    /// The one `Deterministic` or `DeterministicSingleTimeSeries` of an owner with this name and exactly these features;
    /// a resolution or an interval narrows the search.
    ///
    /// # Errors
    /// `NotFound` when there is none, `InvalidParameter` when there are several; `Closed`, `Catalog`.
    pub fn find_deterministic(
        &self,
        owner_id: i64,
        category: OwnerCategory,
        name: &str,
        features: &Features,
        resolution: Option<Period>,
        interval: Option<Period>,
    ) -> Result<SeriesId> {
        self.shared.look(|session| {
            session.catalog().find_deterministic(owner_id, category, name, features, resolution, interval)
        })
    }

    /// The names of all series, ascending.
    ///
    /// # Errors
    /// `Closed`, `Integrity` for a value that cannot be read, `Catalog`.
    pub fn names(&self) -> Result<Vec<String>> {
        self.shared.look(|session| session.catalog().names())
    }

    /// The types of all owners, ascending.
    ///
    /// # Errors
    /// As [`Store::names`].
    pub fn owner_types(&self) -> Result<Vec<String>> {
        self.shared.look(|session| session.catalog().owner_types())
    }

    /// The numbers of the owners of a category, ascending.
    ///
    /// # Errors
    /// As [`Store::names`].
    pub fn owner_ids(&self, category: OwnerCategory) -> Result<Vec<i64>> {
        self.shared.look(|session| session.catalog().owner_ids(category))
    }

    /// The resolutions of all series that have one, in the order of their ISO texts.
    ///
    /// # Errors
    /// As [`Store::names`].
    pub fn resolutions(&self) -> Result<Vec<Period>> {
        self.shared.look(|session| session.catalog().resolutions())
    }

    /// The intervals of all forecasts, in the order of their ISO texts.
    ///
    /// # Errors
    /// As [`Store::names`].
    pub fn intervals(&self) -> Result<Vec<Period>> {
        self.shared.look(|session| session.catalog().intervals())
    }

    /// How many series there are, and whose.
    ///
    /// # Errors
    /// `Closed`, `Catalog`.
    pub fn counts(&self) -> Result<Counts> {
        self.shared.look(|session| session.catalog().counts())
    }

    /// How many series of each type there are; types without a series are left out.
    ///
    /// # Errors
    /// `Closed`, `Catalog`.
    pub fn counts_by_type(&self) -> Result<Vec<(SeriesType, u64)>> {
        self.shared.look(|session| session.catalog().counts_by_type())
    }

    /// How many `SingleTimeSeries` and how many `DeterministicSingleTimeSeries` have this array.
    ///
    /// # Errors
    /// `Closed`, `Catalog`.
    pub fn array_references(&self, hash: &ArrayHash) -> Result<(u64, u64)> {
        self.shared.look(|session| session.catalog().array_references(hash))
    }

    /// The static series, grouped by what they have in common; ordered by owner type, category, type and name.
    ///
    /// # Errors
    /// As [`Store::names`].
    pub fn static_summary(&self) -> Result<Vec<Summary>> {
        self.shared.look(|session| session.catalog().static_summary())
    }

    /// The forecasts, likewise.
    ///
    /// # Errors
    /// As [`Store::names`].
    pub fn forecast_summary(&self) -> Result<Vec<Summary>> {
        self.shared.look(|session| session.catalog().forecast_summary())
    }

    /// The windows of one forecast, with this resolution and interval if they are given: the first `Deterministic`, else
    /// the first `DeterministicSingleTimeSeries`, `Probabilistic` or `Scenarios`. `None` without any.
    ///
    /// # Errors
    /// As [`Store::names`].
    pub fn forecast_parameters(
        &self,
        resolution: Option<Period>,
        interval: Option<Period>,
    ) -> Result<Option<ForecastParameters>> {
        self.shared.look(|session| session.catalog().forecast_parameters(resolution, interval))
    }
}
