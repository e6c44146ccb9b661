//! The catalog: one SQLite file (or database in memory) with a row per series. It knows nothing of the array file; which
//! of the two is written first, and what happens when one fails, is the store's business.

mod audit;
mod backup;
mod change;
mod condition;
mod derived;
mod enumerate;
mod filter;
mod identity;
mod insert;
mod meta;
mod query;
mod relations;
mod remove;
mod row;
mod schema;
mod summary;

pub use audit::StaticGrid;
pub(crate) use change::Removed;
pub use filter::Filter;
pub use identity::Identity;
pub(crate) use insert::Inserter;
pub(crate) use meta::MetaKey;
pub(crate) use relations::End;
pub use relations::{Association, AssociationFilter, Entity, Relation};
pub use summary::{Counts, ForecastParameters, Summary};

use crate::store::h5::disk;
use crate::{Error, Result};
use rusqlite::{Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Pages that a writer keeps in memory, KiB: the ends of every index of a million rows, which the default of 2 MiB is far
/// from. They are taken as they are used.
const CACHE_KIB: i64 = 64 << 10;

/// How long SQLite waits for another process that reads or writes the catalog.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// An open catalog. Transactions are the caller's, through the methods that bear SQLite's words.
#[derive(Debug)]
pub(crate) struct Catalog {
    connection: Connection,
    path: PathBuf,
    /// The highest row id that was ever issued.
    last_id: i64,
    /// The value of `last_id` that the file has.
    stored_last_id: i64,
    /// Whether the file has the column `time_reference`, which other writers of the format do not make.
    references: bool,
}

impl Catalog {
    /// Makes a new catalog. Nothing may be at `path`.
    ///
    /// # Errors
    /// `Catalog` when SQLite refuses.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(|e| failure(path, e))?;
        Self::completed(connection, path)
    }

    /// Makes a catalog in memory.
    ///
    /// # Errors
    /// `Catalog` when SQLite refuses.
    pub(crate) fn memory() -> Result<Self> {
        let path = Path::new(":memory:");
        Self::completed(Connection::open_in_memory().map_err(|e| failure(path, e))?, path)
    }

    /// Opens an existing catalog. A writable one gets the tables, columns and indexes it lacks.
    ///
    /// # Errors
    /// `Io` when there is no such file, `Catalog` when SQLite refuses or the file is no database, `Integrity` when the
    /// main table is missing, `IncompatibleFormat` for another version of the schema.
    pub(crate) fn open(path: &Path, read_only: bool) -> Result<Self> {
        std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
        if read_only {
            recover(path)?;
        }
        let mode = if read_only { OpenFlags::SQLITE_OPEN_READ_ONLY } else { OpenFlags::SQLITE_OPEN_READ_WRITE };
        let connection = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .and_then(|connection| configured(connection, read_only))
            .map_err(|e| failure(path, e))?;
        if !schema::has_table(&connection, schema::ASSOCIATIONS).map_err(|e| failure(path, e))? {
            return Err(Error::Integrity(format!(
                "{} is no catalog of a store: it has no table {}",
                path.display(),
                schema::ASSOCIATIONS
            )));
        }
        match schema::version(&connection).map_err(|e| failure(path, e))? {
            Some(version) if version != schema::VERSION => {
                return Err(Error::IncompatibleFormat {
                    found: format!("catalog schema {version}"),
                    expected: format!("catalog schema {}", schema::VERSION),
                })
            }
            _ => {}
        }
        if read_only {
            let references = schema::has_column(&connection, schema::ASSOCIATIONS, "time_reference");
            let references = references.map_err(|e| failure(path, e))?;
            return Ok(Catalog { connection, path: path.to_path_buf(), last_id: 0, stored_last_id: 0, references });
        }
        Self::completed(connection, path)
    }

    fn completed(connection: Connection, path: &Path) -> Result<Self> {
        let mut connection = configured(connection, false).map_err(|e| failure(path, e))?;
        schema::complete(&mut connection).map_err(|e| failure(path, e))?;
        let path = path.to_path_buf();
        let mut catalog = Catalog { connection, path, last_id: 0, stored_last_id: 0, references: true };
        catalog.load_last_id()?;
        Ok(catalog)
    }

    /// Starts a transaction that may write.
    pub(crate) fn begin(&self) -> Result<()> {
        self.execute("BEGIN IMMEDIATE")
    }

    /// Ends the transaction; on the disk when it returns.
    pub(crate) fn commit(&self) -> Result<()> {
        self.execute("COMMIT")
    }

    /// Undoes the transaction.
    pub(crate) fn rollback(&self) -> Result<()> {
        self.execute("ROLLBACK")
    }

    /// Starts the inner transaction `level`.
    pub(crate) fn savepoint(&self, level: usize) -> Result<()> {
        self.execute(&format!("SAVEPOINT level_{level}"))
    }

    /// Ends the inner transaction `level` and keeps its work.
    pub(crate) fn release(&self, level: usize) -> Result<()> {
        self.execute(&format!("RELEASE level_{level}"))
    }

    /// Ends the inner transaction `level` and undoes its work.
    pub(crate) fn rollback_to(&self, level: usize) -> Result<()> {
        self.execute(&format!("ROLLBACK TO level_{level}"))?;
        self.release(level)
    }

    /// Whether a transaction is open. SQLite ends one by itself when the disk is full or fails.
    pub(crate) fn in_transaction(&self) -> bool {
        !self.connection.is_autocommit()
    }

    /// Closes the file.
    ///
    /// # Errors
    /// `Catalog` when SQLite refuses.
    pub(crate) fn close(self) -> Result<()> {
        let path = self.path;
        self.connection.close().map_err(|(_, e)| failure(&path, e))
    }

    /// The connection, to break things with.
    #[cfg(test)]
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    fn execute(&self, sql: &str) -> Result<()> {
        disk::step(&self.path, disk::Step::Statement(sql), || {
            self.connection.prepare_cached(sql).and_then(|mut s| s.execute([])).map_err(|e| self.failure(e)).map(drop)
        })
    }

    fn failure(&self, source: rusqlite::Error) -> Error {
        failure(&self.path, source)
    }

    /// A value of `column` that is not what it should be, unless SQLite failed.
    fn unreadable(&self, column: &str, source: rusqlite::Error) -> Error {
        match source {
            rusqlite::Error::SqliteFailure(..) => self.failure(source),
            other => self.damage(format_args!("column {column}: {other}")),
        }
    }

    /// Stored content that contradicts itself.
    fn damage(&self, what: std::fmt::Arguments<'_>) -> Error {
        Error::Integrity(format!("catalog {}: {what}", self.path.display()))
    }
}

fn failure(path: &Path, source: rusqlite::Error) -> Error {
    Error::Catalog { path: path.to_path_buf(), source }
}

fn configured(connection: Connection, read_only: bool) -> rusqlite::Result<Connection> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(64);
    connection.pragma_update(None, "foreign_keys", true)?;
    // A catalog may come from anywhere: functions in its schema are not to be trusted.
    connection.pragma_update(None, "trusted_schema", false)?;
    if !read_only {
        // Never a write-ahead log: after a commit the one file is the whole catalog.
        connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        // Syncs the folder too, so that a commit cannot be undone by a journal that a power failure brings back.
        connection.pragma_update(None, "synchronous", "EXTRA")?;
    }
    Ok(connection)
}

/// Lets SQLite undo what a killed writer left in its journal, which a connection for reading cannot do.
fn recover(path: &Path) -> Result<()> {
    let journal = suffixed(path, "-journal");
    if std::fs::metadata(&journal).map_or(true, |meta| meta.len() == 0) {
        return Ok(());
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags)
        .and_then(|connection| {
            connection.busy_timeout(BUSY_TIMEOUT)?;
            connection.query_row("SELECT COUNT(*) FROM sqlite_schema", [], |_| Ok(()))
        })
        .map_err(|e| failure(path, e))
}

/// `path` with `suffix` behind its whole name.
pub(crate) fn suffixed(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(suffix);
    name.into()
}

#[cfg(test)]
pub(super) mod tests;
