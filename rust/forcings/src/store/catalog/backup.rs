//! A second catalog with the same content. SQLite copies it: plain file calls would drop the locks of the open one.

use super::{failure, Catalog, MetaKey};
use crate::{Error, Result};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

impl Catalog {
    /// Makes a catalog at `path`, where nothing is, with everything that is committed here and these values of its own.
    ///
    /// # Errors
    /// `StoreInUse` when another process keeps this catalog locked, `Catalog` when SQLite refuses.
    pub(crate) fn back_up(&self, path: &Path, own: &[(MetaKey, &str)]) -> Result<()> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut copy = Connection::open_with_flags(path, flags).map_err(|e| failure(path, e))?;
        let step = Backup::new(&self.connection, &mut copy).and_then(|backup| backup.step(-1));
        match step.map_err(|e| failure(path, e))? {
            StepResult::Done => {}
            _ => {
                let path = self.path.display();
                return Err(Error::StoreInUse(format!(
                    "the catalog {path} is locked by another process; try again later"
                )));
            }
        }
        copy.close().map_err(|(_, e)| failure(path, e))?;
        let mut copy = Catalog::open(path, false)?;
        copy.begin()?;
        for (key, value) in own {
            copy.set_meta(*key, value)?;
        }
        // A store in memory keeps the highest id in memory alone.
        copy.last_id = copy.last_id.max(self.last_id);
        copy.store_last_id()?;
        copy.commit()?;
        copy.close()
    }
}
