//! Replacing files of a pair as a whole: an intent beside the pair says what is to take its place, from before the first
//! file moves until after the last. Its process holds a lock on it; an intent without a living process is finished, or
//! undone, by the next who opens the pair.

use super::workshop::is_name;
use crate::store::catalog::{suffixed, Catalog};
use crate::store::h5::lock::try_lock;
use crate::store::h5::{disk, PlainFile};
use crate::{Error, Result};
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const TITLE: &str = "forcings intent 1";
/// No intent is longer.
const MAX_BYTES: u64 = 4096;
/// How often another process may be faster.
const MAX_TRIES: usize = 16;

/// What is to happen to the pair. The new files lie in a folder beside it, under the names of those that they replace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Plan {
    /// Both files are replaced. It happens, once the intent is there.
    Install {
        /// The name of the folder.
        workshop: String,
    },
    /// The array file is replaced. It happens if the catalog is at state `next`, by which it says that it fits the new one.
    Compact {
        /// The name of the folder.
        workshop: String,
        /// The number of the state that has the new array file.
        next: u64,
    },
}

/// An intent of this process.
#[derive(Debug)]
pub(super) struct Intent {
    path: PathBuf,
    /// Keeps the lock.
    _file: File,
}

impl Intent {
    /// Announces a plan for the pair at `target`; on the disk when it returns.
    ///
    /// # Errors
    /// `StoreInUse` while another process has an intent for it, those of [`settle`], `Io`.
    pub(super) fn declare(target: &Path, plan: &Plan) -> Result<Self> {
        let path = path_of(target);
        for _ in 0..MAX_TRIES {
            settle(target)?;
            let mut options = OpenOptions::new();
            options.read(true).write(true).create_new(true);
            disk::ask(&path, disk::Step::Create)?;
            let file = match options.open(&path) {
                Err(e) if e.kind() == ErrorKind::AlreadyExists => continue,
                other => other.map_err(|e| Error::io(&path, e))?,
            };
            if !lock(&file, &path)? {
                continue;
            }
            let text = plan.encode();
            let written = disk::write_at(&file, &path, 0, text.as_bytes())
                .and_then(|()| disk::sync(&file, &path))
                .and_then(|()| disk::sync_folder(disk::folder_of(&path)));
            if written.is_err() {
                // Where this fails too, the next who opens the pair finds that nothing has moved.
                let _ = disk::remove(&path);
            }
            return written.map(|()| Intent { path, _file: file });
        }
        Err(in_use(target))
    }

    /// Takes the intent back: nothing of it happened, or all of it.
    ///
    /// # Errors
    /// `Io`: then the next who opens the pair finishes it.
    pub(super) fn withdraw(self) -> Result<()> {
        disk::sync_folder(disk::folder_of(&self.path))?;
        disk::remove(&self.path)
    }
}

/// Whether there is an intent for the pair at `target`.
pub(super) fn is_there(target: &Path) -> Result<bool> {
    disk::exists(&path_of(target))
}

/// Finishes or undoes what a process left undone that has ended.
///
/// # Errors
/// `StoreInUse` while the process lives, or while others have the pair open; `Io`.
pub(super) fn settle(target: &Path) -> Result<()> {
    let path = path_of(target);
    loop {
        let mut file = match OpenOptions::new().read(true).write(true).open(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
            Err(e) if !matches!(e.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
                return Err(Error::io(&path, e))
            }
            Err(e) => {
                let why = format!("the store was being replaced, and only who may write here can finish that: {e}");
                return Err(Error::io(&path, std::io::Error::new(e.kind(), why)));
            }
            Ok(file) => file,
        };
        if !lock(&file, &path)? {
            continue;
        }
        let mut text = String::new();
        let read = Read::by_ref(&mut file).take(MAX_BYTES).read_to_string(&mut text);
        let plan = match read {
            Ok(_) => Plan::decode(&text),
            Err(e) if e.kind() == ErrorKind::InvalidData => None,
            Err(e) => return Err(Error::io(&path, e)),
        };
        // One that is not whole was never on the disk, so nothing has moved.
        if let Some(plan) = plan {
            plan.settle(target)?;
        }
        return disk::remove(&path);
    }
}

impl Plan {
    fn settle(&self, target: &Path) -> Result<()> {
        let folder = disk::folder_of(target);
        let (Plan::Install { workshop } | Plan::Compact { workshop, .. }) = self;
        let workshop = folder.join(workshop);
        let name = target.file_name().ok_or_else(|| Error::invalid(format!("`{}` names no file", target.display())))?;
        let built = workshop.join(name);
        let held = match disk::exists(target)? {
            true => Some(PlainFile::open(target, false)?),
            false => None,
        };
        match self {
            Plan::Install { .. } => {
                if disk::exists(&suffixed(&built, ".sqlite"))? {
                    STALE.iter().try_for_each(|suffix| disk::remove(&suffixed(target, suffix)))?;
                }
                for suffix in ["", ".sqlite"] {
                    move_if_there(&suffixed(&built, suffix), &suffixed(target, suffix))?;
                }
            }
            Plan::Compact { next, .. } => {
                let catalog = Catalog::open(&suffixed(target, ".sqlite"), true)?;
                let happened = catalog.generation()? == *next;
                catalog.close()?;
                if happened {
                    disk::remove(&suffixed(target, "-journal"))?;
                    move_if_there(&built, target)?;
                }
            }
        }
        drop(held);
        disk::sync_folder(folder)?;
        match std::fs::remove_dir_all(&workshop) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::io(&workshop, e)),
            _ => Ok(()),
        }
    }

    fn encode(&self) -> String {
        let text = match self {
            Plan::Install { workshop } => format!("{TITLE}\ninstall {workshop}\n"),
            Plan::Compact { workshop, next } => format!("{TITLE}\ncompact {next} {workshop}\n"),
        };
        let sum = checksum(&text);
        text + &sum
    }

    fn decode(text: &str) -> Option<Self> {
        let (body, _) = text.rsplit_once('\n')?;
        let body = format!("{body}\n");
        if text.strip_prefix(&body)? != checksum(&body) {
            return None;
        }
        let plan = match body.strip_prefix(TITLE)?.trim().split(' ').collect::<Vec<_>>()[..] {
            ["install", workshop] => Plan::Install { workshop: workshop.into() },
            ["compact", next, workshop] => Plan::Compact { workshop: workshop.into(), next: next.parse().ok()? },
            _ => return None,
        };
        let (Plan::Install { workshop } | Plan::Compact { workshop, .. }) = &plan;
        // Nothing outside of the folder of the pair is ever touched.
        is_name(workshop).then_some(plan)
    }
}

/// What may lie beside a pair, and would be played into another that takes its place.
pub(super) const STALE: [&str; 4] = ["-journal", ".sqlite-journal", ".sqlite-wal", ".sqlite-shm"];

fn path_of(target: &Path) -> PathBuf {
    suffixed(target, "-intent")
}

fn move_if_there(from: &Path, to: &Path) -> Result<()> {
    match disk::exists(from)? {
        true => disk::rename(from, to),
        false => Ok(()),
    }
}

/// Locks an intent; false if it is another file's turn by now.
fn lock(file: &File, path: &Path) -> Result<bool> {
    if !try_lock(file, true).map_err(|e| Error::io(path, e))? {
        return Err(in_use(path));
    }
    let own = file.metadata().map_err(|e| Error::io(path, e))?;
    match std::fs::metadata(path) {
        Ok(there) => Ok((own.dev(), own.ino()) == (there.dev(), there.ino())),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
        Err(e) => Err(Error::io(path, e)),
    }
}

fn in_use(path: &Path) -> Error {
    Error::StoreInUse(format!("the store is being replaced by another process, as {} says", path.display()))
}

fn checksum(text: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(text).into();
    digest.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::workshop::Workshop;
    use super::*;

    #[test]
    fn what_is_written_reads_back_and_nothing_else_does() {
        for plan in [
            Plan::Install { workshop: ".forcings-a1".into() },
            Plan::Compact { workshop: ".forcings-b2".into(), next: u64::MAX },
        ] {
            let text = plan.encode();
            assert_eq!(Plan::decode(&text), Some(plan));
            for end in 0..text.len() {
                assert_eq!(Plan::decode(&text[..end]), None);
            }
            assert_eq!(Plan::decode(&(text + "0")), None);
        }
        for workshop in ["..", "/tmp", ".forcings-/../../etc", "other"] {
            assert_eq!(Plan::decode(&Plan::Install { workshop: workshop.into() }.encode()), None);
        }
    }

    #[test]
    fn it_is_settled_when_its_process_is_gone_and_not_before() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("a.nc");
        let workshop = Workshop::new(&target).unwrap();
        for suffix in ["", ".sqlite"] {
            std::fs::write(suffixed(&workshop.path().join("a.nc"), suffix), "new").unwrap();
            std::fs::write(suffixed(&target, suffix), "old").unwrap();
        }
        std::fs::write(suffixed(&target, "-journal"), "old").unwrap();
        let plan = Plan::Install { workshop: workshop.name() };
        let intent = Intent::declare(&target, &plan).unwrap();
        assert_eq!(settle(&target).unwrap_err().kind(), crate::ErrorKind::StoreInUse);
        assert_eq!(Intent::declare(&target, &plan).unwrap_err().kind(), crate::ErrorKind::StoreInUse);
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "old");
        workshop.keep();
        drop(intent);
        settle(&target).unwrap();
        for suffix in ["", ".sqlite"] {
            assert_eq!(std::fs::read_to_string(suffixed(&target, suffix)).unwrap(), "new");
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
        // One that is not whole was never acted on.
        std::fs::write(path_of(&target), &plan.encode()[..20]).unwrap();
        settle(&target).unwrap();
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
