//! The commit point of both files, and the commits that are no change of the catalog: the one of closing, and the one by
//! which a new array file takes the place of the old one.

use super::span::Span;
use super::{Promise, Session};
use crate::store::arrays::ArrayFile;
use crate::store::catalog::{Catalog, MetaKey};
use crate::store::pair::compact::Successor;
use crate::store::pair::GENERATION;
use crate::Result;
use std::path::Path;
use std::sync::Arc;

impl Session {
    /// Writes the array file anew, as the next state of the pair at `path`. Nothing is unflushed, and no transaction is
    /// open. The caller retires the old file.
    pub(in crate::store) fn rewrite_arrays(&mut self, path: &Path) -> Result<Arc<ArrayFile>> {
        let new = match self.promise {
            Promise::Nothing => Successor::in_memory(&self.arrays, &self.catalog)?.install()?,
            _ => self.succeed(path)?,
        };
        self.arrays = Arc::new(new);
        Ok(self.arrays.clone())
    }

    fn succeed(&mut self, path: &Path) -> Result<ArrayFile> {
        let next = self.generation.wrapping_add(1);
        let successor = Successor::on_disk(&self.arrays, &self.catalog, path, next)?;
        let set = |catalog: &Catalog| {
            catalog.begin()?;
            catalog.set_meta(MetaKey::Generation, &next.to_string())
        };
        if let Err(error) = set(&self.catalog).and_then(|()| self.commit_rows(next)) {
            if self.catalog.in_transaction() {
                // If not now, it is undone before the next use.
                self.stuck = self.catalog.rollback().is_err();
            }
            match self.can_go_on() {
                true => successor.discard(),
                // The rows may be those of the new file.
                false => successor.leave(),
            }
            return Err(error);
        }
        self.generation = next;
        successor.install().inspect_err(|_| self.arrays.give_up())
    }

    /// Closes both halves.
    pub(in crate::store) fn close(mut self) -> Result<()> {
        // HDF5 writes when it closes too, and that is a commit like others.
        let settled = match self.promise != Promise::Nothing && self.arrays.is_being_written() && self.can_go_on() {
            true => self.catalog.begin().and_then(|()| self.commit_both(ArrayFile::shut)),
            false => Ok(()),
        };
        let arrays = self.arrays.close();
        let catalog = self.catalog.close();
        settled.and(arrays).and(catalog)
    }

    /// The commit point: arrays to the disk, then the rows, then the arrays that no row needs any more are freed.
    /// When it fails before the rows are committed, the transaction stays open as long as SQLite keeps it.
    pub(super) fn commit_span(&mut self) -> Result<()> {
        let Some(span) = &self.span else { return Ok(()) };
        if !span.changed && self.leftovers.is_empty() && !self.catalog.has_new_ids() {
            self.catalog.rollback()?;
            self.span = None;
            return Ok(());
        }
        if let Err(error) = self.write_span() {
            if !self.catalog.in_transaction() {
                self.abandon();
            }
            return Err(error);
        }
        let mut orphans = self.span.take().map(Span::into_orphans).unwrap_or_default();
        orphans.append(&mut self.leftovers);
        self.unsynced = self.take_out(orphans) && self.promise != Promise::Nothing;
        Ok(())
    }

    fn write_span(&mut self) -> Result<()> {
        if self.span.as_ref().is_some_and(Span::has_newer_types) {
            self.arrays.raise_version()?;
        }
        match self.promise {
            Promise::Nothing => self.catalog.commit(),
            _ => self.commit_both(ArrayFile::prepare),
        }
    }

    /// Commits the open transaction of SQLite with the array file as `prepare` brings it to the disk.
    fn commit_both(&mut self, prepare: impl FnOnce(&ArrayFile) -> Result<()>) -> Result<()> {
        // It is compared, never ordered: after the last number comes the first.
        debug_assert!(self.catalog.in_transaction(), "both halves are committed together");
        let next = self.generation.wrapping_add(1);
        let unfreed = !self.leftovers.is_empty() || self.has_orphans()?;
        self.catalog.store_last_id()?;
        self.catalog.set_meta(MetaKey::Generation, &next.to_string())?;
        match unfreed {
            true => self.catalog.set_meta(MetaKey::Unfreed, "1")?,
            false => self.catalog.remove_meta(MetaKey::Unfreed)?,
        }
        self.arrays.set_attribute(GENERATION, &next.to_string())?;
        prepare(&self.arrays)?;
        self.commit_rows(next).inspect_err(|_| self.unsynced = true)?;
        self.catalog.last_id_is_stored();
        (self.generation, self.unfreed) = (next, unfreed);
        // The commit counts, whatever comes; where this fails, the array file takes no further change.
        let _ = self.arrays.finish();
        Ok(())
    }

    /// Commits the transaction of SQLite that leads to state `next`. After an error that leaves none open, SQLite is asked
    /// whether it did.
    fn commit_rows(&self, next: u64) -> Result<()> {
        let Err(error) = self.catalog.commit() else { return Ok(()) };
        if self.catalog.in_transaction() {
            return Err(error);
        }
        match self.catalog.generation() {
            Ok(found) if found == next => Ok(()),
            Ok(_) => Err(error),
            Err(_) => {
                self.arrays.give_up();
                Err(error)
            }
        }
    }

    /// Whether an array has lost its last row in the open span.
    fn has_orphans(&self) -> Result<bool> {
        for hash in self.pending_removals() {
            if !self.catalog.is_referenced(&hash)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
