//! The calls by which files and folders change. Every change of a file of a store goes through here (SQLite's own aside),
//! so that tests can refuse, tear or record each of them.

use crate::{Error, Result};
use std::fs::{File, OpenOptions};
use std::ops::Range;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// One change, before it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    /// A file that was not there is made.
    Create,
    /// Bytes of a file.
    Write { offset: u64, bytes: &'a [u8] },
    /// The end of a file moves.
    Truncate(u64),
    /// What was written to a file, or in a folder, reaches the disk.
    Sync,
    /// A file moves away.
    Rename(&'a Path),
    /// A file goes.
    Remove,
    /// SQLite runs a statement that begins or ends a transaction.
    Statement(&'a str),
}

/// How much of a step may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allowed {
    /// All of it.
    Whole,
    /// The first half of the bytes, and then it fails.
    #[cfg(test)]
    Torn,
    /// All of it, but it fails all the same.
    #[cfg(test)]
    Late,
}

/// Asks whether a step may be made. Outside of tests it always may.
#[cfg(not(test))]
pub(crate) fn ask(_: &Path, _: Step<'_>) -> Result<Allowed> {
    Ok(Allowed::Whole)
}

#[cfg(test)]
pub(crate) use super::faults::ask;

/// Makes a change if the tests allow it.
pub(crate) fn step(path: &Path, step: Step<'_>, make: impl FnOnce() -> Result<()>) -> Result<()> {
    match ask(path, step)? {
        Allowed::Whole => make(),
        #[cfg(test)]
        Allowed::Torn => Err(Error::io(path, std::io::ErrorKind::Other.into())),
        #[cfg(test)]
        Allowed::Late => make().and(Err(Error::io(path, std::io::ErrorKind::Other.into()))),
    }
}

/// Opens a file for reading and writing, and makes it if it is not there.
pub(crate) fn open_or_create(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    match options.open(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            step(path, Step::Create, || Ok(()))?;
            options.create(true).truncate(false).open(path).map_err(|e| Error::io(path, e))
        }
        other => other.map_err(|e| Error::io(path, e)),
    }
}

pub(crate) fn write_at(file: &File, path: &Path, offset: u64, bytes: &[u8]) -> Result<()> {
    let failed = |e| Error::io(path, e);
    match ask(path, Step::Write { offset, bytes })? {
        Allowed::Whole => file.write_all_at(bytes, offset).map_err(failed),
        #[cfg(test)]
        Allowed::Torn => {
            file.write_all_at(&bytes[..bytes.len() / 2], offset).map_err(failed)?;
            Err(failed(std::io::ErrorKind::Other.into()))
        }
        #[cfg(test)]
        Allowed::Late => file.write_all_at(bytes, offset).and(Err(std::io::ErrorKind::Other.into())).map_err(failed),
    }
}

pub(crate) fn set_len(file: &File, path: &Path, len: u64) -> Result<()> {
    step(path, Step::Truncate(len), || file.set_len(len).map_err(|e| Error::io(path, e)))
}

pub(crate) fn sync(file: &File, path: &Path) -> Result<()> {
    step(path, Step::Sync, || file.sync_all().map_err(|e| Error::io(path, e)))
}

/// Has the disk begin with a range that a [`sync`] will ask for, so that less is left to wait for then. Promises nothing,
/// and so cannot fail: it leaves any error to that sync.
pub(crate) fn begin_write_back(file: &File, range: Range<u64>) {
    #[cfg(target_os = "linux")]
    if let (Ok(offset), Ok(len)) = (range.start.try_into(), (range.end - range.start).try_into()) {
        // SAFETY: the descriptor is open as long as `file` is, and no memory is handed over.
        unsafe { libc::sync_file_range(file.as_raw_fd(), offset, len, libc::SYNC_FILE_RANGE_WRITE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, range);
}

/// Returns when names that were made, moved or removed in a folder are on the disk.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    step(folder, Step::Sync, || {
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(|e| Error::io(folder, e))
    })
}

pub(crate) fn rename(from: &Path, to: &Path) -> Result<()> {
    step(from, Step::Rename(to), || std::fs::rename(from, to).map_err(|e| Error::io(to, e)))
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> Result<()> {
    if !exists(path)? {
        return Ok(());
    }
    step(path, Step::Remove, || match std::fs::remove_file(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io(path, e)),
        _ => Ok(()),
    })
}

pub(crate) fn exists(path: &Path) -> Result<bool> {
    path.try_exists().map_err(|e| Error::io(path, e))
}

/// The folder that a file is in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}
