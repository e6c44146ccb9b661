//! What becomes of a journal that a process left behind. The caller holds the lock of the file, and has asked the catalog
//! which state is the last that counts.

use super::log::{header, images, Header};
use super::{JournalFile, Mark, View, PAGE};
use crate::chunks::ByteSource;
use crate::store::h5::pages::Pages;
use crate::store::h5::{disk, FileLayer, PlainFile};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the journal of a file is.
pub(crate) fn journal_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push("-journal");
    name.into()
}

/// Whether the file at `path` has a journal that may have something to undo.
///
/// # Errors
/// `Io`.
pub(crate) fn is_hot(path: &Path) -> Result<bool> {
    header(&journal_path(path)).map(|header| header.is_some())
}

/// Brings a file that is locked for writing to the state `mark`: changes that lead away from it are undone. May be
/// stopped anywhere and run again.
///
/// # Errors
/// `Io`; `Integrity` when the journal belongs to another state than the file or the catalog.
pub(crate) fn recover(file: &PlainFile, mark: &Mark) -> Result<()> {
    let journal = journal_path(file.path());
    if let Some(header) = header(&journal)? {
        if leads_away(&header, mark, file)? {
            images(&journal, |offset, image| file.write_at(offset, image))?;
            file.set_len(header.committed)?;
            file.sync()?;
        }
        let log = disk::open_or_create(&journal)?;
        disk::set_len(&log, &journal, 0)?;
        disk::sync(&log, &journal)?;
    }
    disk::remove(&journal)
}

/// The state `mark` of a file that is open for reading, whatever of later changes is in it.
///
/// # Errors
/// As [`recover`].
pub(crate) fn undone_view(file: Arc<PlainFile>, mark: &Mark) -> Result<Arc<dyn FileLayer>> {
    let journal = journal_path(file.path());
    let Some(header) = header(&journal)? else { return Ok(file) };
    if !leads_away(&header, mark, &file)? {
        return Ok(file);
    }
    let mut pages = BTreeMap::new();
    images(&journal, |offset, image| {
        for (k, part) in image.chunks(PAGE).enumerate() {
            let mut page = Box::new([0; PAGE]);
            page[..part.len()].copy_from_slice(part);
            pages.insert(offset / PAGE as u64 + k as u64, page);
        }
        Ok(())
    })?;
    let committed = header.committed;
    let view = JournalFile::new(file, *mark);
    *view.view.write() = View { pages: Pages { map: pages, zeros_from: committed }, committed, len: committed };
    Ok(Arc::new(view))
}

/// Whether the changes are to be undone.
fn leads_away(header: &Header, mark: &Mark, file: &PlainFile) -> Result<bool> {
    if header.generation.wrapping_add(1) == mark.generation {
        return Ok(false);
    }
    let path = file.path().display();
    if header.generation != mark.generation || header.pair != mark.pair {
        return Err(Error::Integrity(format!(
            "{path} was left in the middle of a commit, but its journal {path}-journal starts from state {} of its store, \
             and the catalog holds state {}{}: if both files of the store were put there after that, remove the journal",
            header.generation,
            mark.generation,
            if header.pair == mark.pair { "" } else { " of another store" },
        )));
    }
    if file.len() < header.committed {
        return Err(Error::format(
            file.path(),
            format!("it has {} bytes, and had {} when it was last committed", file.len(), header.committed),
        ));
    }
    Ok(true)
}
