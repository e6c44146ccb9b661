//! Writing a whole store to another place.

use crate::store::pair::{self, catalog_path};
use crate::store::session::Session;
use crate::store::Store;
use crate::{Error, Result};
use std::fs;
use std::path::{Path, PathBuf};

impl Store {
    /// Writes the store to `path` as a pair of its own, which other handles may open at once. It is built beside the
    /// target and moved into place when it is complete. A store in memory and one that is open for reading can be written
    /// too; at its own path a store is only flushed.
    ///
    /// # Errors
    /// `StoreExists` when either file is there and `overwrite` is false, `InvalidParameter` when it is true and one of
    /// them is no part of a store, `StoreInUse` when the store to be replaced is
    /// open, `InvalidParameter` inside a transaction or when the pair would overlap this one, `Closed`, and errors of the
    /// disk. A failure leaves what was there before.
    pub fn persist(&self, path: impl AsRef<Path>, overwrite: bool) -> Result<()> {
        let path = path.as_ref();
        if self.read_only() {
            return self.shared.look(|session| self.copy_to(session, path, overwrite));
        }
        self.shared.change(|session| {
            if session.in_transaction() {
                return Err(Error::invalid("persist cannot run inside a transaction; commit or roll back first"));
            }
            session.flush()?;
            self.copy_to(session, path, overwrite)
        })
    }

    fn copy_to(&self, session: &Session, path: &Path, overwrite: bool) -> Result<()> {
        let own = [self.path().to_path_buf(), catalog_path(self.path())].map(|half| real(&half));
        let target = [path.to_path_buf(), catalog_path(path)].map(|half| real(&half));
        if own[0].is_some() && own[0] == target[0] {
            return Ok(());
        }
        if own.iter().flatten().any(|half| target.iter().flatten().any(|other| half == other)) {
            let path = path.display();
            return Err(Error::invalid(format!(
                "a store at {path} would overwrite a file of this store; choose another"
            )));
        }
        let arrays = self.shared.arrays()?;
        pair::establish(path, overwrite, |built| pair::copy(&arrays, session.catalog(), built))
    }
}

/// The path without links, if there is such a file.
fn real(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}
