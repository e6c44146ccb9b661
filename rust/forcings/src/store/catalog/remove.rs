//! Deleting rows. Sets of features stay: they are shared, and swept by compaction only.

use super::query::missing;
use super::Catalog;
use crate::array::ArrayHash;
use crate::series::SeriesId;
use crate::{Error, Result};
use rusqlite::OptionalExtension;
use std::collections::HashSet;

impl Catalog {
    /// Deletes the rows with these ids and returns the arrays that they referred to, each once. The caller holds a
    /// transaction, and undoes it after an error.
    ///
    /// # Errors
    /// `NotFound` naming an id that does not exist, `Catalog` when SQLite refuses.
    pub(crate) fn remove(&self, ids: &[SeriesId]) -> Result<Vec<ArrayHash>> {
        let mut statement = self
            .connection
            .prepare_cached("DELETE FROM time_series_associations WHERE id = ?1 RETURNING data_hash")
            .map_err(|e| self.failure(e))?;
        let mut hashes = HashSet::new();
        for id in ids.iter().collect::<HashSet<_>>() {
            let hash: Option<[u8; 32]> =
                statement.query_row([id.0], |row| row.get(0)).optional().map_err(|e| self.row_failure(*id, e))?;
            hashes.insert(ArrayHash::from_bytes(hash.ok_or_else(|| missing(&[*id]))?));
        }
        Ok(hashes.into_iter().collect())
    }

    fn row_failure(&self, id: SeriesId, error: rusqlite::Error) -> Error {
        match error {
            rusqlite::Error::SqliteFailure(..) => self.failure(error),
            other => self.damage(format_args!("series {id}, column data_hash: {other}")),
        }
    }
}
