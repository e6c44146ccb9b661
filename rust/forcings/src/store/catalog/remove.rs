//! Deleting rows. Sets of features stay: they are shared, and swept by compaction only.

use super::derived::Family;
use super::query::missing;
use super::Catalog;
use crate::array::ArrayHash;
use crate::series::{SeriesId, SeriesType};
use crate::{Error, Result};
use rusqlite::{OptionalExtension, Row};
use std::collections::HashSet;

const DELETE: &str = "
DELETE FROM time_series_associations WHERE id = ?1
RETURNING data_hash, time_series_type, owner_id, owner_category, name, resolution, features_hash";

impl Catalog {
    /// Deletes the rows with these ids and returns the arrays that they referred to, each once. The caller holds a
    /// transaction, and undoes it after an error.
    ///
    /// # Errors
    /// `NotFound` naming an id that does not exist, `InvalidParameter` when a forecast that stays is derived from a series
    /// that goes, `Catalog` when SQLite refuses.
    pub(crate) fn remove(&self, ids: &[SeriesId]) -> Result<Vec<ArrayHash>> {
        let mut statement = self.connection.prepare_cached(DELETE).map_err(|e| self.failure(e))?;
        let mut hashes = HashSet::new();
        let mut sources = Vec::new();
        let guarded = self.has_derived()?;
        for id in ids.iter().collect::<HashSet<_>>() {
            let gone = statement.query_row([id.0], gone).optional().map_err(|e| self.row_failure(*id, e))?;
            let (hash, family) = gone.ok_or_else(|| missing(&[*id]))?;
            hashes.insert(hash);
            sources.extend(family.filter(|_| guarded).map(|family| (*id, hash, family)));
        }
        for (id, hash, family) in sources {
            if let Some(derived) = self.derived_from(&family, &hash)? {
                return Err(Error::invalid(format!(
                    "series {id} cannot be removed: the forecast {derived} is derived from it; remove both"
                )));
            }
        }
        Ok(hashes.into_iter().collect())
    }

    fn row_failure(&self, id: SeriesId, error: rusqlite::Error) -> Error {
        match error {
            rusqlite::Error::SqliteFailure(..) => self.failure(error),
            other => self.damage(format_args!("series {id}: {other}")),
        }
    }
}

/// The array of a row that is deleted, and its family if forecasts may be derived from it.
fn gone(row: &Row<'_>) -> rusqlite::Result<(ArrayHash, Option<Family>)> {
    let source = row.get_ref(1)?.as_str()? == SeriesType::SingleTimeSeries.name();
    let family = || {
        Ok::<_, rusqlite::Error>(Family {
            owner_id: row.get(2)?,
            owner_category: row.get(3)?,
            name: row.get(4)?,
            resolution: row.get(5)?,
            features: row.get(6)?,
        })
    };
    Ok((ArrayHash::from_bytes(row.get(0)?), source.then(family).transpose()?))
}
