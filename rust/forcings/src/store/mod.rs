//! The store: a pair of files, NetCDF-4 arrays and an SQLite catalog of what they mean, kept consistent.
//!
//! `pair` makes and opens the two files, `session` orders the changes to both, `write`, `read` and
//! `transform` are the operations.

pub(crate) mod arrays;
pub(crate) mod catalog;
pub(crate) mod h5;
mod operations;
mod pair;
mod read;
mod session;
mod shared;
mod transform;
mod write;

pub use arrays::Compression;
pub use catalog::{Association, AssociationFilter, Entity, Relation};
pub use catalog::{Counts, Filter, ForecastParameters, Identity, StaticGrid, Summary};
pub use operations::{Associations, CompactReport, Finding, PhysicalCompaction, State, VerifyReport};
pub(crate) use shared::Shared;
pub use transform::Transformed;

use crate::{Error, Result};
use session::Promise;
use std::path::Path;
use std::sync::Arc;

/// How to make a store.
#[derive(Debug, Clone, Default)]
pub struct CreateOptions {
    /// The filter of every data variable.
    pub compression: Compression,
    /// Whether every change is on the disk when its call returns, not only what `flush`, `close` or `commit` returned.
    pub durable: bool,
    /// Whether an existing pair may be replaced.
    pub overwrite: bool,
}

/// How to open a store.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenOptions {
    /// Whether changes are refused. Any number of processes may read a store that nobody writes.
    pub read_only: bool,
    /// See [`CreateOptions::durable`].
    pub durable: bool,
}

/// A handle of an open store. Clones share the store, which closes with `close` or with the last handle; handles may
/// be used from any thread.
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

impl Store {
    /// Makes an empty store at `path` (the array file; the catalog is `path` with `.sqlite` behind it) and opens it.
    ///
    /// # Errors
    /// `StoreExists` when either file is there and `overwrite` is false, `InvalidParameter` when it is true and one of
    /// them is no part of a store, `StoreInUse` when the store to be replaced is
    /// open, `Io`, `Hdf5` and `Catalog` from below. A failure leaves what was there before.
    pub fn create(path: impl AsRef<Path>, options: &CreateOptions) -> Result<Self> {
        pair::create(path.as_ref(), options.compression, options.overwrite)?;
        Self::open(path, &OpenOptions { read_only: false, durable: options.durable })
    }

    /// Opens the store at `path`.
    ///
    /// # Errors
    /// `NotFound` when either file is missing, `StoreInUse` when a writer (or, to write, any other handle) has it,
    /// `IncompatibleFormat` for another version, `Integrity` when the files are not of one pair, and what the files'
    /// own content may cause.
    pub fn open(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        let path = path.as_ref();
        let (arrays, catalog) = pair::open(path, options.read_only)?;
        let promise = if options.durable { Promise::EveryCall } else { Promise::EveryFlush };
        Shared::new(path, options.read_only, promise, arrays, catalog).map(Self::of)
    }

    /// Makes a store that lives in memory and goes with its last handle.
    ///
    /// # Errors
    /// `Hdf5` and `Catalog` from below.
    pub fn memory() -> Result<Self> {
        let (arrays, catalog) = pair::memory()?;
        Shared::new(Path::new(":memory:"), false, Promise::Nothing, arrays, catalog).map(Self::of)
    }

    /// Starts a transaction, or an inner one. Reads see its changes at once; other handles of this store share it.
    ///
    /// # Errors
    /// `ReadOnlyStore`, `Closed`, and what writing to the disk may cause: work that was not flushed is flushed first.
    pub fn begin(&self) -> Result<()> {
        self.shared.change(|session| session.begin())
    }

    /// Ends the innermost transaction and keeps its changes. After the outermost they are on the disk.
    ///
    /// # Errors
    /// `InvalidParameter` when none is open. After another error the transaction is still open, and may be committed
    /// again or rolled back, unless the disk failed: then it is undone.
    pub fn commit(&self) -> Result<()> {
        self.shared.change(|session| session.commit())
    }

    /// Undoes the innermost transaction, removals included.
    ///
    /// # Errors
    /// `InvalidParameter` when none is open; `Integrity` when the disk failed and the whole transaction was undone instead
    /// of an inner one, or when SQLite refuses: then it is undone before the store is used again.
    pub fn rollback(&self) -> Result<()> {
        self.shared.change(|session| session.rollback())
    }

    /// Whether a transaction is open.
    pub fn in_transaction(&self) -> bool {
        self.shared.in_transaction()
    }

    /// Brings every change to the disk. Until the next change the two files are the whole store and may be copied.
    ///
    /// # Errors
    /// `InvalidParameter` inside a transaction, which `commit` ends; `Closed`; errors of the disk.
    pub fn flush(&self) -> Result<()> {
        if self.read_only() {
            return self.shared.look(|_| Ok(()));
        }
        self.shared.change(|session| session.flush())
    }

    /// Flushes and closes, for every handle and reader of this store. An open transaction is rolled back. Closing again
    /// does nothing.
    ///
    /// # Errors
    /// Those of [`Store::flush`]; the store is then still open, unless a write of the array file failed: then it is closed
    /// without what was not flushed.
    pub fn close(&self) -> Result<()> {
        self.shared.close()
    }

    /// Whether the store was not closed yet.
    pub fn is_open(&self) -> bool {
        self.shared.is_open()
    }

    /// The array file, or `:memory:`.
    pub fn path(&self) -> &Path {
        self.shared.path()
    }

    /// Whether changes are refused.
    pub fn read_only(&self) -> bool {
        self.shared.read_only()
    }

    /// What readers hold on to.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    fn of(shared: Shared) -> Self {
        Store { shared: Arc::new(shared) }
    }
}

const _: () = {
    const fn may_be_used_from_any_thread<T: Send + Sync>() {}
    may_be_used_from_any_thread::<Store>();
};

/// The error of a change to a store that is open for reading.
fn read_only_error(path: &Path) -> Error {
    Error::ReadOnlyStore { path: path.to_path_buf() }
}

#[cfg(test)]
mod tests;
