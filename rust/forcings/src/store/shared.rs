//! The state that all handles and readers of one open store share, and its end.

use super::arrays::ArrayFile;
use super::catalog::{Catalog, Filter};
use super::session::{Promise, Session};
use super::{read_only_error, PhysicalCompaction};
use crate::array::ArrayHash;
use crate::series::{SeriesId, SeriesInfo};
use crate::{Error, Result};
use parking_lot::{Mutex, RwLock};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// One open store. Operations on the catalog run one at a time; arrays are read by any number of threads.
pub(crate) struct Shared {
    path: PathBuf,
    read_only: bool,
    /// `None` once closed. Never locked while waiting for `session`.
    arrays: RwLock<Option<Arc<ArrayFile>>>,
    session: Mutex<Option<Session>>,
    removals: Arc<AtomicU64>,
}

impl Shared {
    pub(super) fn new(
        path: &Path,
        read_only: bool,
        promise: Promise,
        arrays: ArrayFile,
        catalog: Catalog,
    ) -> Result<Self> {
        let (arrays, removals) = (Arc::new(arrays), Arc::new(AtomicU64::new(0)));
        let session = Session::new(promise, arrays.clone(), catalog, removals.clone())?;
        Ok(Shared {
            path: path.to_path_buf(),
            read_only,
            arrays: RwLock::new(Some(arrays)),
            session: Mutex::new(Some(session)),
            removals,
        })
    }

    /// The array file, for reading.
    ///
    /// # Errors
    /// `Closed`.
    pub(crate) fn arrays(&self) -> Result<Arc<ArrayFile>> {
        self.arrays.read().clone().ok_or(Error::Closed("store"))
    }

    /// How often series may have gone: a reader whose count is older must ask [`Shared::missing_ids`] again.
    pub(crate) fn removals(&self) -> u64 {
        self.removals.load(Ordering::Acquire)
    }

    /// Those of `ids` that are not in the catalog.
    ///
    /// # Errors
    /// `Closed`, and those of the catalog.
    pub(crate) fn missing_ids(&self, ids: &[SeriesId]) -> Result<Vec<SeriesId>> {
        self.look(|session| session.catalog().missing_ids(ids))
    }

    /// Whether any series has this array.
    ///
    /// # Errors
    /// As [`Shared::missing_ids`].
    pub(crate) fn is_referenced(&self, hash: &ArrayHash) -> Result<bool> {
        self.look(|session| session.catalog().is_referenced(hash))
    }

    /// Gives every series that matches to `visit`, by ascending id. `visit` must not use the store.
    ///
    /// # Errors
    /// `Closed`, those of the catalog, and those of `visit`.
    pub(crate) fn visit(&self, filter: &Filter, visit: &mut dyn FnMut(SeriesInfo) -> Result<()>) -> Result<()> {
        self.look(|session| session.catalog().visit(filter, visit))
    }

    pub(crate) fn is_open(&self) -> bool {
        self.arrays.read().is_some()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn read_only(&self) -> bool {
        self.read_only
    }

    /// Runs `work` on the open session of a writable store.
    pub(super) fn change<T>(&self, work: impl FnOnce(&mut Session) -> Result<T>) -> Result<T> {
        let mut session = self.session.lock();
        let session = session.as_mut().ok_or(Error::Closed("store"))?;
        if self.read_only {
            return Err(read_only_error(&self.path));
        }
        session.unstick()?;
        work(session).map_err(|error| session.given_up(error))
    }

    /// Whether the caller has a transaction open; nothing is looked at.
    pub(super) fn in_transaction(&self) -> bool {
        self.session.lock().as_ref().is_some_and(Session::in_transaction)
    }

    /// Puts a new array file in the place of the old one, when `before` has been done with the session.
    pub(super) fn rewrite(&self, before: impl FnOnce(&mut Session) -> Result<u64>) -> Result<PhysicalCompaction> {
        self.change(|session| {
            let feature_sets_reclaimed = before(session)?;
            let arrays = self.arrays()?;
            arrays.settle()?;
            let bytes_before = arrays.source().len();
            let new = session.rewrite_arrays(&self.path)?;
            // Nobody gets to see one of the two and a place in the other.
            let mut arrays = self.arrays.write();
            let bytes_after = new.source().len();
            if let Some(old) = arrays.replace(new) {
                old.retire();
            }
            Ok(PhysicalCompaction { feature_sets_reclaimed, bytes_before, bytes_after })
        })
    }

    /// Reads from the array file, once more where another took its place meanwhile.
    pub(crate) fn read_arrays<T>(&self, mut read: impl FnMut(&ArrayFile) -> Result<T>) -> Result<T> {
        loop {
            let arrays = self.arrays()?;
            match read(&arrays) {
                Err(_) if !Arc::ptr_eq(&arrays, &self.arrays()?) => {}
                result => return result,
            }
        }
    }

    /// Runs `work` on the open session, to read.
    pub(super) fn look<T>(&self, work: impl FnOnce(&Session) -> Result<T>) -> Result<T> {
        let mut session = self.session.lock();
        let session = session.as_mut().ok_or(Error::Closed("store"))?;
        session.unstick()?;
        work(&*session).map_err(|error| session.given_up(error))
    }

    /// As [`Shared::look`], but `None` instead of waiting for another call to end.
    pub(super) fn glance<T>(&self, work: impl FnOnce(&Session) -> Result<T>) -> Result<Option<T>> {
        let Some(mut session) = self.session.try_lock() else { return Ok(None) };
        let session = session.as_mut().ok_or(Error::Closed("store"))?;
        session.unstick()?;
        work(&*session).map(Some).map_err(|error| session.given_up(error))
    }

    /// Ends the store for all who share it.
    pub(super) fn close(&self) -> Result<()> {
        let mut slot = self.session.lock();
        let Some(session) = slot.as_mut() else { return Ok(()) };
        let finished = if self.read_only { Ok(()) } else { session.unstick().and_then(|()| session.finish()) };
        // An array file that cannot be written any more never can: only opening it again helps, and its lock is in the way.
        if finished.is_err() && session.can_go_on() {
            return finished;
        }
        // Readers that come now get `Closed`; those inside finish on their own handle.
        self.arrays.write().take();
        let closed = slot.take().expect("it was there a moment ago, under the same lock").close();
        finished.and(closed)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Nobody is left to be told; a caller who wants to know calls `close`.
        let _ = self.close();
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("path", &self.path).field("read_only", &self.read_only).finish_non_exhaustive()
    }
}
