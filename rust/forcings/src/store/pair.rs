//! The two files of a store: where they are, how they come to be together, and whether they belong together.

pub(super) mod compact;
mod intent;
mod workshop;

use super::arrays::{is_array_file, ArrayFile, Compression};
use super::catalog::{suffixed, Catalog, MetaKey};
use super::h5::disk::{self, exists};
use super::h5::journal::{is_hot, recover, undone_view};
use super::h5::{FileLayer, JournalFile, Mark, MemoryFile, PlainFile};
use crate::chunks::{ByteSource, FileSource};
use crate::{Error, Result};
use intent::{Intent, Plan, STALE};
use sha2::{Digest, Sha256};
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use workshop::Workshop;

/// The root attribute of the array file that repeats the catalog's [`MetaKey::PairId`].
pub(super) const PAIR_ID: &str = "pair_id";
/// The root attribute of the array file that repeats the catalog's [`MetaKey::Generation`].
pub(super) const GENERATION: &str = "generation";

/// What an SQLite file begins with.
const CATALOG_SIGNATURE: &[u8; 16] = b"SQLite format 3\0";

/// The catalog that belongs to an array file.
pub(super) fn catalog_path(arrays: &Path) -> PathBuf {
    suffixed(arrays, ".sqlite")
}

/// Makes an empty pair at `path`.
///
/// # Errors
/// See [`Store::create`](super::Store::create).
pub(super) fn create(path: &Path, compression: Compression, overwrite: bool) -> Result<()> {
    compression.check()?;
    establish(path, overwrite, |built| build(built, compression))
}

/// Puts the pair that `build` makes at `path`. It is built in a folder of its own and moved into place when it is
/// complete.
///
/// # Errors
/// See [`Store::persist`](super::Store::persist); those of `build`.
pub(super) fn establish(path: &Path, overwrite: bool, build: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let name = path.file_name().ok_or_else(|| Error::invalid(format!("`{}` names no file", path.display())))?;
    intent::settle(path)?;
    if !overwrite && (exists(path)? || exists(&catalog_path(path))?) {
        return Err(Error::StoreExists { path: path.to_path_buf() });
    }
    for half in [path, &catalog_path(path)] {
        if half.is_dir() {
            return Err(Error::io(half, io::ErrorKind::IsADirectory.into()));
        }
    }
    if overwrite {
        check_replaceable(path)?;
    }
    let workshop = Workshop::new(path)?;
    let built = workshop.path().join(name);
    build(&built)?;
    // The intent must not be on the disk before the files that it names.
    disk::sync_folder(workshop.path())?;
    let held = match exists(path)? {
        true => Some(PlainFile::open(path, false)?),
        false => None,
    };
    let intent = Intent::declare(path, &Plan::Install { workshop: workshop.name() })?;
    if let Err(failure) = install(&built, path, &workshop.path().join("replaced"), overwrite) {
        if failure.undone {
            // Without the folder, an intent that cannot be withdrawn finds nothing to install.
            drop(workshop);
            let _ = intent.withdraw();
        } else {
            // What could not be moved back is finished by the next who opens the pair, and must not go with the folder.
            workshop.keep();
        }
        return Err(failure.error);
    }
    drop(held);
    intent.withdraw()
}

/// Refuses to replace what is no store: whoever asks to overwrite one does not mean to lose another file. An empty file
/// holds nothing to lose.
fn check_replaceable(path: &Path) -> Result<()> {
    // Where a commit was interrupted, the array file need not open as it is.
    let hot = is_hot(path)?;
    let arrays = |source: FileSource| hot || source.is_empty() || is_array_file(Arc::new(source));
    let catalog = |source: FileSource| {
        let mut start = [0; CATALOG_SIGNATURE.len()];
        source.is_empty() || (source.read_at(0, &mut start).is_ok() && start == *CATALOG_SIGNATURE)
    };
    let halves: [(&Path, &dyn Fn(FileSource) -> bool); 2] = [(path, &arrays), (&catalog_path(path), &catalog)];
    for (half, is_ours) in halves {
        if exists(half)? && !is_ours(FileSource::open(half)?) {
            return Err(Error::invalid(format!(
                "{} is no part of a store, and overwrite replaces nothing else; choose another path, or remove the file",
                half.display()
            )));
        }
    }
    Ok(())
}

/// Opens both halves of the pair at `path`.
///
/// # Errors
/// See [`Store::open`](super::Store::open).
pub(super) fn open(path: &Path, read_only: bool) -> Result<(ArrayFile, Catalog)> {
    let file = loop {
        intent::settle(path)?;
        check_complete(path)?;
        if read_only && is_hot(path)? {
            // Where this may not be done, the commit is undone for this reader alone.
            let _ = recover_for_reading(path);
        }
        let file = Arc::new(match read_only {
            true => open_beside_recovery(path)?,
            false => PlainFile::open(path, false)?,
        });
        // Another process may have begun to replace the pair before it was locked.
        if !intent::is_there(path)? {
            break file;
        }
    };
    let catalog_path = catalog_path(path);
    let catalog = Catalog::open(&catalog_path, read_only)?;
    let mark = mark(&catalog)?;
    let layer: Arc<dyn FileLayer> = match read_only {
        true => undone_view(file, &mark)?,
        false => {
            recover(&file, &mark)?;
            workshop::sweep(path);
            Arc::new(JournalFile::new(file, mark))
        }
    };
    let arrays = ArrayFile::open(layer)?;
    match (arrays.attribute(PAIR_ID), catalog.meta(MetaKey::PairId)?) {
        (Some(left), Some(right)) if left == right => {}
        (None, None) if read_only => {}
        (None, None) => return marry(arrays, catalog, &new_pair_id()).and_then(|()| open(path, read_only)),
        // A catalog that lost its mark.
        (Some(_), None) if read_only => {}
        (Some(left), None) => return marry(arrays, catalog, &left).and_then(|()| open(path, read_only)),
        (left, Some(right)) => {
            let left = left.unwrap_or_else(|| "none".into());
            return Err(Error::Integrity(format!(
                "{} and {} are not of one store: the first has the pair id {left}, the second {right}; \
                 put the two files together that were written together",
                path.display(),
                catalog_path.display()
            )));
        }
    }
    Ok((arrays, catalog))
}

fn check_complete(path: &Path) -> Result<()> {
    for (half, what) in [(path, "array file"), (&catalog_path(path), "catalog")] {
        if !exists(half)? {
            return Err(Error::NotFound(format!(
                "the store {} has no {what}: there is no file {}; a store is both files",
                path.display(),
                half.display()
            )));
        }
    }
    Ok(())
}

/// Opens the array file for reading. Other readers may be undoing an interrupted commit, each of them having the file alone
/// until a moment after the journal is gone; a writer is not waited for as long.
fn open_beside_recovery(path: &Path) -> Result<PlainFile> {
    const PAUSE: Duration = Duration::from_millis(10);
    let mut pauses = 100_u32;
    loop {
        match PlainFile::open(path, true) {
            Err(Error::StoreInUse(_)) if pauses > 0 => {}
            opened => return opened,
        }
        std::thread::sleep(PAUSE);
        pauses = pauses.saturating_sub(if is_hot(path)? { 1 } else { 4 });
    }
}

/// Undoes a commit that was interrupted, for readers to come.
fn recover_for_reading(path: &Path) -> Result<()> {
    let file = PlainFile::open(path, false)?;
    let catalog = Catalog::open(&catalog_path(path), true)?;
    recover(&file, &mark(&catalog)?)
}

/// The last state that counts.
fn mark(catalog: &Catalog) -> Result<Mark> {
    Ok(Mark::new(catalog.meta(MetaKey::PairId)?.as_deref(), catalog.generation()?))
}

/// Makes a pair in memory.
pub(super) fn memory() -> Result<(ArrayFile, Catalog)> {
    let arrays = ArrayFile::create(Arc::new(MemoryFile::new()), Compression::None, &[])?;
    Ok((arrays, Catalog::memory()?))
}

fn build(path: &Path, compression: Compression) -> Result<()> {
    let pair_id = new_pair_id();
    let marks = [(PAIR_ID, pair_id.as_str()), (GENERATION, "0")];
    let arrays = ArrayFile::create(Arc::new(PlainFile::create(path, false)?), compression, &marks)?;
    arrays.sync()?;
    arrays.close()?;
    let catalog = Catalog::create(&catalog_path(path))?;
    catalog.set_meta(MetaKey::PairId, &pair_id)?;
    catalog.set_meta(MetaKey::Generation, "0")?;
    catalog.close()
}

/// Makes a pair at `path` with the content of an open one that was flushed, as a pair of its own: each half of the copy
/// fits the other half of the copy only.
///
/// # Errors
/// See [`Store::persist`](super::Store::persist).
pub(super) fn copy(arrays: &ArrayFile, catalog: &Catalog, path: &Path) -> Result<()> {
    let pair_id = new_pair_id();
    arrays.copy_to(path)?;
    let copy = ArrayFile::open(Arc::new(PlainFile::open(path, false)?))?;
    copy.set_attribute(PAIR_ID, &pair_id)?;
    copy.set_attribute(GENERATION, "0")?;
    copy.sync()?;
    copy.close()?;
    catalog.back_up(&catalog_path(path), &[(MetaKey::PairId, &pair_id), (MetaKey::Generation, "0")])
}

/// Gives both halves of a pair of another writer the same mark, and closes them.
fn marry(arrays: ArrayFile, catalog: Catalog, pair_id: &str) -> Result<()> {
    let next = catalog.generation()?.wrapping_add(1).to_string();
    catalog.begin()?;
    for (key, name, value) in [(MetaKey::PairId, PAIR_ID, pair_id), (MetaKey::Generation, GENERATION, &next)] {
        catalog.set_meta(key, value)?;
        arrays.set_attribute(name, value)?;
    }
    arrays.shut()?;
    catalog.commit()?;
    arrays.finish()?;
    arrays.close()?;
    catalog.close()
}

/// Why files were not moved, and whether those that were are back.
#[derive(Debug)]
struct Failure {
    error: Error,
    undone: bool,
}

/// Moves the pair `built` to `path`. What is there goes to `aside` first, and comes back when a step fails.
fn install(built: &Path, path: &Path, aside: &Path, overwrite: bool) -> std::result::Result<(), Failure> {
    let mut begun: Vec<(PathBuf, PathBuf)> = Vec::new();
    let mut run = || -> Result<()> {
        if overwrite {
            for suffix in ["", ".sqlite"] {
                let old = suffixed(path, suffix);
                if exists(&old)? {
                    rename(&old, &suffixed(aside, suffix), &mut begun)?;
                }
            }
        }
        // A journal or a write-ahead log without its file would be played into the new one.
        for suffix in STALE {
            let stale = suffixed(path, suffix);
            if exists(&stale)? {
                rename(&stale, &suffixed(aside, suffix), &mut begun)?;
            }
        }
        claim(built, path, &mut begun)?;
        rename(&catalog_path(built), &catalog_path(path), &mut begun)
    };
    run().map_err(|error| {
        // The last of them may have failed before it moved the file, or behind that.
        let back = |(from, to): &(PathBuf, PathBuf)| match (exists(from), exists(to)) {
            (Ok(false), Ok(true)) => disk::rename(to, from).is_ok(),
            (Ok(_), Ok(_)) => true,
            _ => false,
        };
        let left = begun.iter().rev().filter(|moved| !back(moved)).count();
        Failure { error, undone: left == 0 }
    })
}

/// Moves the array file into place, if the name is free.
fn claim(built: &Path, path: &Path, begun: &mut Vec<(PathBuf, PathBuf)>) -> Result<()> {
    match exists(path)? {
        true => Err(Error::StoreExists { path: path.to_path_buf() }),
        false => rename(built, path, begun),
    }
}

fn rename(from: &Path, to: &Path, begun: &mut Vec<(PathBuf, PathBuf)>) -> Result<()> {
    begun.push((from.to_path_buf(), to.to_path_buf()));
    disk::rename(from, to)
}

/// 32 hex digits that no other pair has.
fn new_pair_id() -> String {
    let mut sha = Sha256::new();
    // The hasher's keys come from the system's random numbers.
    sha.update(std::hash::RandomState::new().build_hasher().finish().to_le_bytes());
    sha.update(std::process::id().to_le_bytes());
    sha.update(format!("{:?}", SystemTime::now()));
    let digest: [u8; 32] = sha.finalize().into();
    digest[..16].iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_step_that_fails_undoes_those_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let write = |name: &str| fs::write(at(name), name).unwrap();
        let names = || {
            let mut names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
            names.sort();
            names
        };
        for name in ["a.nc", "a.nc.sqlite", "a.nc.sqlite-journal", "built"] {
            write(name);
        }
        let before = names();
        // The catalog of the new pair is missing.
        let Failure { error, undone } = install(&at("built"), &at("a.nc"), &at("aside"), true).unwrap_err();
        assert!(undone);
        assert_eq!(error.kind(), crate::ErrorKind::Io);
        assert_eq!(names(), before);
        assert_eq!(fs::read_to_string(at("a.nc")).unwrap(), "a.nc");
        let Failure { error, undone } = install(&at("built"), &at("a.nc"), &at("aside"), false).unwrap_err();
        assert!(undone);
        assert_eq!(error.kind(), crate::ErrorKind::StoreExists);
        assert_eq!(names(), before);
        write("built.sqlite");
        install(&at("built"), &at("a.nc"), &at("aside"), true).unwrap();
        assert_eq!(fs::read_to_string(at("a.nc")).unwrap(), "built");
        assert_eq!(fs::read_to_string(at("a.nc.sqlite")).unwrap(), "built.sqlite");
        assert!(!at("a.nc.sqlite-journal").exists());
    }
}
