//! The folder beside a pair in which the files are made that take its place. It is locked while its process lives, so that
//! one which a killed process left behind is known, and goes when the pair is next written.

use crate::store::h5::disk::folder_of;
use crate::store::h5::lock::try_lock;
use crate::{Error, Result};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::path::Path;
use tempfile::TempDir;

const PREFIX: &str = ".forcings-";
/// How often another process may take the folder for one that was left behind.
const MAX_TRIES: usize = 16;

/// Such a folder. It goes with everything in it when it is dropped.
pub(super) struct Workshop {
    folder: TempDir,
    /// Keeps the lock.
    _lock: File,
}

impl Workshop {
    /// Makes one for the pair at `target`.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn new(target: &Path) -> Result<Self> {
        sweep(target);
        let beside = folder_of(target);
        let failed = |e: std::io::Error| Error::io(beside, e);
        for _ in 0..MAX_TRIES {
            let folder = tempfile::Builder::new().prefix(&prefix(target)).tempdir_in(beside);
            // What it says of a folder that nobody asked for helps nobody.
            let folder = folder.map_err(|e| failed(e.kind().into()))?;
            // Between the two it may have been swept.
            let Ok(lock) = File::open(folder.path()) else { continue };
            if try_lock(&lock, true).map_err(failed)? && folder.path().exists() {
                return Ok(Workshop { folder, _lock: lock });
            }
        }
        Err(Error::io(beside, std::io::ErrorKind::WouldBlock.into()))
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Its name in the folder of the pair.
    pub(super) fn name(&self) -> String {
        let name = self.path().file_name().expect("it was made under a name");
        name.to_string_lossy().into_owned()
    }

    /// Leaves it where it is.
    pub(super) fn keep(self) {
        let _ = self.folder.keep();
    }
}

/// Whether a folder may be called so.
pub(super) fn is_name(name: &str) -> bool {
    name.strip_prefix(PREFIX).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'))
}

/// Removes what killed processes left behind for the pair at `target`, which no intent names any more. What cannot be
/// removed only takes space.
pub(super) fn sweep(target: &Path) {
    let prefix = prefix(target);
    let Ok(entries) = std::fs::read_dir(folder_of(target)) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let abandoned = File::open(entry.path()).is_ok_and(|folder| try_lock(&folder, true).unwrap_or(false));
            if abandoned {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// The beginning of the names of a pair's workshops, whatever characters its own name has.
fn prefix(target: &Path) -> String {
    let name = target.file_name().unwrap_or_default();
    let digest: [u8; 32] = Sha256::digest(name.as_encoded_bytes()).into();
    let hex: String = digest[..8].iter().map(|b| format!("{b:02x}")).collect();
    format!("{PREFIX}{hex}-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_goes_and_what_is_in_use_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a b\n.nc"), dir.path().join("b.nc"));
        let live = Workshop::new(&a).unwrap();
        assert!(is_name(&live.name()));
        let [left, other] = [&a, &b].map(|target| {
            let left = Workshop::new(target).unwrap();
            std::fs::write(left.path().join("x"), "x").unwrap();
            let path = left.path().to_path_buf();
            left.keep();
            path
        });
        sweep(&a);
        assert!(live.path().exists() && other.exists() && !left.exists());
        let path = live.path().to_path_buf();
        drop(live);
        assert!(!path.exists());
    }
}
