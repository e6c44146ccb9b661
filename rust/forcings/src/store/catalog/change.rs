//! Rows that are renamed, copied, moved to another owner or deleted by what they have in common. The caller holds a
//! transaction and undoes it after an error, so that each of these happens as a whole or not at all.

use super::insert::is_taken;
use super::query::missing;
use super::{schema, Catalog, Filter};
use crate::array::ArrayHash;
use crate::series::{OwnerCategory, SeriesId};
use crate::{Error, Result};
use rusqlite::types::Value;
use rusqlite::{params, params_from_iter, OptionalExtension};
use std::collections::HashSet;

/// What deleting rows left behind.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Removed {
    /// The number of rows.
    pub(crate) rows: u64,
    /// The arrays that they referred to, each once.
    pub(crate) hashes: Vec<ArrayHash>,
}

impl Catalog {
    /// Gives a series another name.
    ///
    /// # Errors
    /// `NotFound` when there is no such series, `DuplicateTimeSeries` when the new identity is taken, `InvalidParameter`
    /// when a dense forecast would stand beside a derived one, `Catalog` when SQLite refuses.
    pub(crate) fn rename(&self, id: SeriesId, name: &str) -> Result<()> {
        let renamed = self
            .connection
            .prepare_cached("UPDATE time_series_associations SET name = ?2 WHERE id = ?1")
            .and_then(|mut s| s.execute(params![id.0, name]));
        match renamed {
            Ok(0) => Err(missing(&[id])),
            Ok(_) => self.check_company(id),
            Err(e) if is_taken(&e) => {
                let holder = self.holder(id, None, Some(name))?;
                Err(Error::DuplicateTimeSeries(format!(
                    "series {id} cannot be renamed: its owner has {holder}, which is the same otherwise"
                )))
            }
            Err(e) => Err(self.failure(e)),
        }
    }

    /// Adds a row like that of `id` for another owner of the same category, with another name if one is given.
    ///
    /// # Errors
    /// As [`Catalog::rename`].
    pub(crate) fn copy(&mut self, id: SeriesId, owner: i64, owner_type: &str, name: Option<&str>) -> Result<SeriesId> {
        let new = self.issue_id()?;
        let columns = self.association_columns()?;
        // Whatever other columns the table has, the copy has them too.
        let value = |column: &String| match column.as_str() {
            "id" => "?2".to_string(),
            "owner_id" => "?3".to_string(),
            "owner_type" => "?4".to_string(),
            "name" => "coalesce(?5, name)".to_string(),
            _ => quoted(column),
        };
        let into: Vec<String> = columns.iter().map(|column| quoted(column)).collect();
        let from: Vec<String> = columns.iter().map(value).collect();
        let sql = format!(
            "INSERT INTO time_series_associations ({}) SELECT {} FROM time_series_associations WHERE id = ?1",
            into.join(", "),
            from.join(", ")
        );
        let copied = self
            .connection
            .prepare_cached(&sql)
            .and_then(|mut s| s.execute(params![id.0, new.0, owner, owner_type, name]));
        match copied {
            Ok(0) => Err(missing(&[id])),
            Ok(_) => self.check_company(new).map(|()| new),
            Err(e) if is_taken(&e) => {
                let holder = self.holder(id, Some(owner), name)?;
                Err(Error::DuplicateTimeSeries(format!(
                    "series {id} cannot be copied to the owner {owner}, who has {holder} already; remove that first, or \
                     give the copy another name"
                )))
            }
            Err(e) => Err(self.failure(e)),
        }
    }

    /// Moves every series of an owner to another owner of the same category, and answers how many they are. Their owner
    /// type stays.
    ///
    /// # Errors
    /// `DuplicateTimeSeries` when the new owner has a series of the same identity, `InvalidParameter` when a dense forecast
    /// would stand beside a derived one, `Catalog` when SQLite refuses.
    pub(crate) fn replace_owner(&self, old: i64, new: i64, category: OwnerCategory) -> Result<u64> {
        self.check_move(old, new, category)?;
        let moved = self
            .connection
            .prepare_cached(
                "UPDATE time_series_associations SET owner_id = ?2 WHERE owner_id = ?1 AND owner_category = ?3",
            )
            .and_then(|mut s| s.execute(params![old, new, category.name()]));
        match moved {
            Ok(rows) => Ok(rows as u64),
            Err(e) if is_taken(&e) => Err(Error::DuplicateTimeSeries(self.collision(old, new, category)?)),
            Err(e) => Err(self.failure(e)),
        }
    }

    /// Deletes every row of an owner.
    ///
    /// # Errors
    /// `Integrity` for a row without an array's hash, `Catalog` when SQLite refuses.
    pub(crate) fn clear_owner(&self, owner: i64, category: OwnerCategory) -> Result<Removed> {
        let condition = "owner_id = ? AND owner_category = ?";
        self.delete(condition, &[owner.into(), category.name().to_string().into()])
    }

    /// Deletes every row and every set of features.
    ///
    /// # Errors
    /// As [`Catalog::clear_owner`].
    pub(crate) fn clear(&self) -> Result<Removed> {
        let removed = self.delete("1", &[])?;
        self.connection.execute("DELETE FROM feature_sets", []).map_err(|e| self.failure(e))?;
        Ok(removed)
    }

    /// The numbers of the series that match, ascending.
    ///
    /// # Errors
    /// `InvalidParameter` for a pattern that is too long, `Catalog` when SQLite refuses.
    pub(crate) fn matching_ids(&self, filter: &Filter) -> Result<Vec<SeriesId>> {
        let (condition, parameters) = self.condition(filter)?;
        let sql = format!("SELECT a.id FROM time_series_associations a WHERE {condition}");
        let mut ids: Vec<SeriesId> = self
            .connection
            .prepare_cached(&sql)
            .and_then(|mut s| s.query_map(params_from_iter(parameters), |row| row.get(0).map(SeriesId))?.collect())
            .map_err(|e| self.failure(e))?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// Deletes the sets of features that no row refers to, and answers how many features they had.
    ///
    /// # Errors
    /// `Catalog` when SQLite refuses.
    pub(crate) fn sweep_features(&self) -> Result<u64> {
        self.connection
            .execute(
                "DELETE FROM feature_sets AS f WHERE NOT EXISTS
                 (SELECT 1 FROM time_series_associations a WHERE a.features_hash = f.features_hash)",
                [],
            )
            .map(|rows| rows as u64)
            .map_err(|e| self.failure(e))
    }

    fn delete(&self, condition: &str, parameters: &[Value]) -> Result<Removed> {
        let mut statement = self
            .connection
            .prepare_cached(&format!("DELETE FROM time_series_associations WHERE {condition} RETURNING data_hash"))
            .map_err(|e| self.failure(e))?;
        let mut rows = statement.query(params_from_iter(parameters)).map_err(|e| self.failure(e))?;
        let (mut count, mut hashes) = (0, HashSet::new());
        while let Some(row) = rows.next().map_err(|e| self.failure(e))? {
            count += 1;
            hashes.insert(ArrayHash::from_bytes(row.get(0).map_err(|e| self.unreadable("data_hash", e))?));
        }
        Ok(Removed { rows: count, hashes: hashes.into_iter().collect() })
    }

    /// Says which series stand in the way of a move.
    fn collision(&self, old: i64, new: i64, category: OwnerCategory) -> Result<String> {
        let pair: Option<(i64, i64)> = self
            .connection
            .query_row(
                "SELECT a.id, b.id FROM time_series_associations a JOIN time_series_associations b
                 ON b.owner_id = ?2 AND b.owner_category = ?3 AND b.time_series_type = a.time_series_type
                    AND b.name = a.name AND b.resolution IS a.resolution AND b.interval IS a.interval
                    AND b.features_hash = a.features_hash
                 WHERE a.owner_id = ?1 AND a.owner_category = ?3 LIMIT 1",
                params![old, new, category.name()],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()
            .map_err(|e| self.failure(e))?;
        let (of, to) = (format!("{} {old}", category.name()), format!("{} {new}", category.name()));
        Ok(match pair {
            Some((a, b)) => format!("the series of {of} cannot move to {to}: series {a} and {b} would be the same"),
            None => format!("the series of {of} cannot move to {to}, which has one of the same identity"),
        })
    }

    /// The series that has the identity which `id` would have with this owner and this name, where they are given.
    fn holder(&self, id: SeriesId, owner: Option<i64>, name: Option<&str>) -> Result<String> {
        let holder: Option<i64> = self
            .connection
            .query_row(
                "SELECT b.id FROM time_series_associations a JOIN time_series_associations b
                 ON b.owner_id = coalesce(?2, a.owner_id) AND b.owner_category = a.owner_category
                    AND b.time_series_type = a.time_series_type AND b.name = coalesce(?3, a.name)
                    AND b.resolution IS a.resolution AND b.interval IS a.interval AND b.features_hash = a.features_hash
                 WHERE a.id = ?1 LIMIT 1",
                params![id.0, owner, name],
                |row| row.get(0),
            )
            .optional()
            .map_err(|e| self.failure(e))?;
        holder.map_or(Ok("one of the same identity".into()), |id| self.named(SeriesId(id)))
    }

    fn association_columns(&self) -> Result<Vec<String>> {
        self.connection
            .prepare_cached("SELECT name FROM pragma_table_info(?1) ORDER BY cid")
            .and_then(|mut s| s.query_map([schema::ASSOCIATIONS], |row| row.get(0))?.collect())
            .map_err(|e| self.failure(e))
    }
}

fn quoted(column: &str) -> String {
    format!("\"{}\"", column.replace('"', "\"\""))
}
