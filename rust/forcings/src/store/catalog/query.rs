//! Reading rows: listings, and lookups by id.

use super::filter::{json_list, Filter};
use super::row::columns;
use super::Catalog;
use crate::array::ArrayHash;
use crate::series::{Features, FeaturesHash, SeriesId, SeriesInfo};
use crate::{Error, Result};
use rusqlite::types::Value;
use std::collections::{HashMap, HashSet};

impl Catalog {
    /// The series that match, by ascending id.
    ///
    /// # Errors
    /// `Integrity` for a row that cannot be read, `Catalog` when SQLite refuses.
    pub(crate) fn list(&self, filter: &Filter) -> Result<Vec<SeriesInfo>> {
        let (condition, parameters) = self.condition(filter)?;
        self.select(&condition, parameters)
    }

    /// The series with this id.
    ///
    /// # Errors
    /// `NotFound` when there is none; otherwise as [`Catalog::list`].
    pub(crate) fn find(&self, id: SeriesId) -> Result<SeriesInfo> {
        self.select("a.id = ?1", vec![Value::Integer(id.0)])?.pop().ok_or_else(|| missing(&[id]))
    }

    /// The series with these ids, in the order of the ids; an id may repeat.
    ///
    /// # Errors
    /// `NotFound` naming the ids that do not exist; otherwise as [`Catalog::list`].
    pub(crate) fn find_many(&self, ids: &[SeriesId]) -> Result<Vec<SeriesInfo>> {
        let rows = self.select("a.id IN (SELECT value FROM json_each(?1))", vec![Value::Text(json_list(ids))])?;
        let by_id: HashMap<SeriesId, SeriesInfo> = rows.into_iter().map(|info| (info.id, info)).collect();
        let absent: Vec<SeriesId> = ids.iter().copied().filter(|id| !by_id.contains_key(id)).collect();
        if !absent.is_empty() {
            return Err(missing(&absent));
        }
        Ok(ids.iter().map(|id| by_id[id].clone()).collect())
    }

    /// A series by its type, name, owner and id, for an error's text.
    ///
    /// # Errors
    /// `Catalog` when SQLite refuses.
    pub(super) fn named(&self, id: SeriesId) -> Result<String> {
        match self.find(id) {
            Ok(info) => Ok(info.to_string()),
            Err(error @ Error::Catalog { .. }) => Err(error),
            // A row that cannot be read has its number all the same.
            Err(_) => Ok(format!("series {id}")),
        }
    }

    /// Those of `ids` that do not exist.
    ///
    /// # Errors
    /// `Catalog` when SQLite refuses.
    pub(crate) fn missing_ids(&self, ids: &[SeriesId]) -> Result<Vec<SeriesId>> {
        let present: HashSet<i64> = self
            .connection
            .prepare_cached("SELECT id FROM time_series_associations WHERE id IN (SELECT value FROM json_each(?1))")
            .and_then(|mut s| s.query_map([json_list(ids)], |row| row.get(0))?.collect())
            .map_err(|e| self.failure(e))?;
        Ok(ids.iter().copied().filter(|id| !present.contains(&id.0)).collect())
    }

    /// Whether any row refers to the array.
    ///
    /// # Errors
    /// `Catalog` when SQLite refuses.
    pub(crate) fn is_referenced(&self, hash: &ArrayHash) -> Result<bool> {
        self.connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM time_series_associations WHERE data_hash = ?1)")
            .and_then(|mut s| s.query_row([hash.as_bytes()], |row| row.get(0)))
            .map_err(|e| self.failure(e))
    }

    /// The first series that have this array, at most as many as `limit`.
    ///
    /// # Errors
    /// `Catalog` when SQLite refuses.
    pub(crate) fn ids_of(&self, hash: &ArrayHash, limit: usize) -> Result<Vec<SeriesId>> {
        self.connection
            .prepare_cached("SELECT id FROM time_series_associations WHERE data_hash = ?1 ORDER BY id LIMIT ?2")
            .and_then(|mut s| s.query_map((hash.as_bytes(), limit as i64), |row| row.get(0).map(SeriesId))?.collect())
            .map_err(|e| self.failure(e))
    }

    /// The statement that reads the rows of a condition.
    pub(super) fn ordered(&self, condition: &str) -> String {
        let columns = columns(self.references);
        // Without the plus sign SQLite may walk the whole table to spare itself the sorting.
        let order = if condition == "1" { "a.id" } else { "+a.id" };
        format!("SELECT {columns} FROM time_series_associations a WHERE {condition} ORDER BY {order}")
    }

    /// Gives the series that match to `visit`, by ascending id, without keeping them.
    ///
    /// # Errors
    /// As [`Catalog::list`], and those of `visit`.
    pub(crate) fn visit(&self, filter: &Filter, visit: &mut dyn FnMut(SeriesInfo) -> Result<()>) -> Result<()> {
        let (condition, parameters) = self.condition(filter)?;
        self.each(&condition, parameters, visit)
    }

    fn select(&self, condition: &str, parameters: Vec<Value>) -> Result<Vec<SeriesInfo>> {
        let mut found = Vec::new();
        self.each(condition, parameters, &mut |info| {
            found.push(info);
            Ok(())
        })?;
        Ok(found)
    }

    fn each(
        &self,
        condition: &str,
        parameters: Vec<Value>,
        visit: &mut dyn FnMut(SeriesInfo) -> Result<()>,
    ) -> Result<()> {
        let sql = self.ordered(condition);
        let mut statement = self.connection.prepare_cached(&sql).map_err(|e| self.failure(e))?;
        let mut rows = statement.query(rusqlite::params_from_iter(parameters)).map_err(|e| self.failure(e))?;
        let mut sets: HashMap<FeaturesHash, Features> = HashMap::new();
        while let Some(row) = rows.next().map_err(|e| self.failure(e))? {
            let (mut info, hash) = self.decode(row)?;
            info.features = match sets.get(&hash) {
                Some(features) => features.clone(),
                None => sets.entry(hash).or_insert(self.features(&hash)?).clone(),
            };
            visit(info)?;
        }
        Ok(())
    }
}

/// The error for ids without a series; at most ten are named.
pub(super) fn missing(ids: &[SeriesId]) -> Error {
    let named: Vec<String> = ids.iter().take(10).map(|id| id.to_string()).collect();
    let more = if ids.len() > 10 { format!(" and {} more", ids.len() - 10) } else { String::new() };
    Error::NotFound(format!("the store has no series with the id {}{more}", named.join(", ")))
}
