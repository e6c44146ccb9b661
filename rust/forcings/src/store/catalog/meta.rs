//! The table `forcings_meta`: what joins the catalog to its array file, and the highest row id ever issued.

use super::{schema, Catalog};
use crate::Result;
use rusqlite::OptionalExtension;

/// A key of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MetaKey {
    /// The name that both halves of a pair share.
    PairId,
    /// How often the pair was committed.
    Generation,
    /// The highest row id that was ever issued.
    LastId,
    /// There while the array file may hold arrays that lost their last row.
    Unfreed,
}

impl MetaKey {
    fn name(self) -> &'static str {
        match self {
            MetaKey::PairId => "pair_id",
            MetaKey::Generation => "generation",
            MetaKey::LastId => "last_id",
            MetaKey::Unfreed => "unfreed",
        }
    }
}

impl Catalog {
    /// The value of `key`; `None` too in a catalog without the table.
    pub(crate) fn meta(&self, key: MetaKey) -> Result<Option<String>> {
        if !schema::has_table(&self.connection, "forcings_meta").map_err(|e| self.failure(e))? {
            return Ok(None);
        }
        self.connection
            .prepare_cached("SELECT value FROM forcings_meta WHERE key = ?1")
            .and_then(|mut s| s.query_row([key.name()], |row| row.get(0)).optional())
            .map_err(|e| self.failure(e))
    }

    /// Sets the value of `key`.
    pub(crate) fn set_meta(&self, key: MetaKey, value: &str) -> Result<()> {
        self.connection
            .prepare_cached(
                "INSERT INTO forcings_meta (key, value) VALUES (?1, ?2)
                             ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            )
            .and_then(|mut s| s.execute([key.name(), value]))
            .map_err(|e| self.failure(e))
            .map(drop)
    }

    /// Removes `key`.
    pub(crate) fn remove_meta(&self, key: MetaKey) -> Result<()> {
        self.connection
            .prepare_cached("DELETE FROM forcings_meta WHERE key = ?1")
            .and_then(|mut s| s.execute([key.name()]))
            .map_err(|e| self.failure(e))
            .map(drop)
    }

    /// How often the pair was committed; a pair of another writer, never.
    pub(crate) fn generation(&self) -> Result<u64> {
        match self.meta(MetaKey::Generation)? {
            None => Ok(0),
            Some(text) => text
                .parse()
                .map_err(|_| self.damage(format_args!("forcings_meta has `{text}` as generation, which is no number"))),
        }
    }

    /// Whether ids were issued that the file does not know of. Undoing a transaction does not take ids back.
    pub(crate) fn has_new_ids(&self) -> bool {
        self.last_id > self.stored_last_id
    }

    /// Writes the highest id; part of every commit.
    pub(crate) fn store_last_id(&mut self) -> Result<()> {
        if self.has_new_ids() {
            self.set_meta(MetaKey::LastId, &self.last_id.to_string())?;
        }
        Ok(())
    }

    /// To be called when the transaction of `store_last_id` was committed.
    pub(crate) fn last_id_is_stored(&mut self) {
        self.stored_last_id = self.last_id;
    }

    pub(super) fn load_last_id(&mut self) -> Result<()> {
        let stored = match self.meta(MetaKey::LastId)? {
            Some(text) => text
                .parse()
                .map_err(|_| self.damage(format_args!("forcings_meta has `{text}` as last_id, which is no number")))?,
            None => 0,
        };
        // Other writers of the format issue ids without this table.
        let highest: Option<i64> = self
            .connection
            .query_row("SELECT MAX(id) FROM time_series_associations", [], |row| row.get(0))
            .map_err(|e| self.failure(e))?;
        self.stored_last_id = stored;
        self.last_id = highest.unwrap_or(0).max(stored).max(0);
        Ok(())
    }
}
