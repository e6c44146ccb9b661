//! Renaming, copying, moving and clearing series. Arrays are not touched by the first three; after the last they go as
//! after any removal.

use crate::series::{OwnerCategory, SeriesId};
use crate::store::{Filter, Store};
use crate::Result;

impl Store {
    /// Gives a series another name; its number stays.
    ///
    /// # Errors
    /// `NotFound` when there is no such series, `DuplicateTimeSeries` when its owner has one of the new identity,
    /// `InvalidParameter` when a `Deterministic` forecast and a derived one would then be of one name, `ReadOnlyStore`,
    /// `Closed`, `Catalog`. After an error the store is as before.
    pub fn rename(&self, id: SeriesId, name: &str) -> Result<()> {
        self.shared.change(|session| session.apply(|change| change.catalog().rename(id, name)))
    }

    /// Adds a series with the array, the features and everything else of `id` for another owner of the same category, and
    /// returns its number. Without a new name it keeps that of the source.
    ///
    /// # Errors
    /// As [`Store::rename`].
    pub fn copy_series(&self, id: SeriesId, owner: i64, owner_type: &str, name: Option<&str>) -> Result<SeriesId> {
        self.shared.change(|session| session.apply(|change| change.catalog().copy(id, owner, owner_type, name)))
    }

    /// Moves every series of the owner `old` to the owner `new` of the same category, and returns how many they are. The
    /// type of the owner stays as it was.
    ///
    /// # Errors
    /// `DuplicateTimeSeries` when the new owner has a series of the same identity, and `InvalidParameter` when a
    /// `Deterministic` forecast and a derived one would then be of one name: then none moves; `ReadOnlyStore`, `Closed`,
    /// `Catalog`.
    pub fn replace_owner(&self, old: i64, new: i64, category: OwnerCategory) -> Result<u64> {
        self.shared.change(|session| session.apply(|change| change.catalog().replace_owner(old, new, category)))
    }

    /// Removes the series that match, as [`Store::remove`] does, and returns how many they were.
    ///
    /// # Errors
    /// As [`Store::remove`]; a filter that matches nothing is no error.
    pub fn remove_matching(&self, filter: &Filter) -> Result<u64> {
        self.shared.change(|session| {
            session.apply(|change| {
                let ids = change.catalog().matching_ids(filter)?;
                change.remove(&ids).map(|()| ids.len() as u64)
            })
        })
    }

    /// Removes every series of an owner and returns how many they were.
    ///
    /// # Errors
    /// `ReadOnlyStore`, `Closed`, and errors of the disk. After an error the store is as before.
    pub fn clear_owner(&self, owner: i64, category: OwnerCategory) -> Result<u64> {
        self.shared.change(|session| {
            session.apply(|change| {
                let removed = change.catalog().clear_owner(owner, category)?;
                Ok(change.removed(removed))
            })
        })
    }

    /// Removes every series and returns how many they were. Associations between entities stay, and numbers of series are
    /// not issued again.
    ///
    /// # Errors
    /// As [`Store::clear_owner`].
    pub fn clear(&self) -> Result<u64> {
        self.shared.change(|session| {
            session.apply(|change| {
                let removed = change.catalog().clear()?;
                Ok(change.removed(removed))
            })
        })
    }
}
