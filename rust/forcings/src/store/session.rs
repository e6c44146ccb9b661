//! The order of changes. A change writes arrays first and rows second; when anything fails, the rows are rolled back
//! and the arrays that it wrote are taken out again. SQLite's COMMIT is the one point where a transaction counts:
//! the array file is on the disk before it, in a state that is undone without it, and arrays that lost their last row are
//! freed only behind it.

mod commit;
mod span;

use super::arrays::{ArrayFile, Chunking, PoolKey};
use super::catalog::{Catalog, Inserter, MetaKey, Removed};
use super::pair::GENERATION;
use crate::array::{ArrayHash, ArrayView};
use crate::series::{NewSeries, SeriesId, SeriesInfo, SeriesType, Windows};
use crate::{Error, Result};
use span::{Level, Span};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// What is on the disk, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Promise {
    /// Nothing: the store is in memory.
    Nothing,
    /// What `flush`, `close` or an outermost `commit` returned. Other changes share one transaction of SQLite.
    EveryFlush,
    /// Every change that returned.
    EveryCall,
}

/// The open halves of a pair and the transaction in progress.
pub(super) struct Session {
    promise: Promise,
    arrays: Arc<ArrayFile>,
    catalog: Catalog,
    /// Bumped whenever a series may have gone.
    removals: Arc<AtomicU64>,
    /// The transaction of SQLite that is open, if one is.
    span: Option<Span>,
    /// Arrays without a row that could not be taken out yet; the next commit tries again.
    leftovers: Vec<ArrayHash>,
    /// Whether the array file on the disk awaits another commit: arrays were taken out behind the last one, or it failed
    /// after the file was prepared.
    unsynced: bool,
    /// Whether the catalog says that the array file may hold arrays without a row.
    unfreed: bool,
    /// Whether SQLite refused to undo the open span, which nobody may look at or commit before it is undone.
    stuck: bool,
    generation: u64,
}

/// Where the array of a series goes.
#[derive(Debug)]
pub(super) enum Placement {
    /// A column of a dataset of this pool.
    Packed(PoolKey),
    /// A variable of its own.
    Standalone(Chunking),
}

/// One change in progress: what it wrote, to be kept or undone as a whole.
pub(super) struct Change<'a> {
    arrays: &'a ArrayFile,
    catalog: &'a mut Catalog,
    level: Level,
}

impl Change<'_> {
    /// Stores one array.
    pub(super) fn put(&mut self, place: &Placement, hash: ArrayHash, values: ArrayView<'_>) -> Result<()> {
        let staged = match place {
            Placement::Packed(pool) => self.arrays.put_one(pool, hash, values)?,
            Placement::Standalone(chunking) => !self.arrays.put_standalone(&[(*chunking, hash, values)])?.is_empty(),
        };
        if staged {
            self.level.staged.push(hash);
        }
        Ok(())
    }

    /// Stores many arrays, packed ones in whole chunks. The first request for an array decides where it goes.
    pub(super) fn put_batch<'v>(
        &mut self,
        items: impl IntoIterator<Item = (Placement, ArrayHash, ArrayView<'v>)>,
    ) -> Result<()> {
        let (mut packed, mut standalone, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        for (place, hash, values) in items.into_iter().filter(|(_, hash, _)| seen.insert(*hash)) {
            match place {
                Placement::Packed(pool) => packed.push((pool, hash, values)),
                Placement::Standalone(chunking) => standalone.push((chunking, hash, values)),
            }
        }
        if !standalone.is_empty() {
            self.level.staged.extend(self.arrays.put_standalone(&standalone)?);
        }
        if !packed.is_empty() {
            self.level.staged.extend(self.arrays.put_batch(&packed)?);
        }
        Ok(())
    }

    /// Adds the row of a series whose array is stored.
    pub(super) fn insert(&mut self, series: &NewSeries<'_>, hash: &ArrayHash) -> Result<SeriesId> {
        self.insert_all(std::slice::from_ref(series), std::slice::from_ref(hash)).map(|ids| ids[0])
    }

    /// Adds the rows of series whose arrays, in the same order, are stored.
    pub(super) fn insert_all(&mut self, series: &[NewSeries<'_>], hashes: &[ArrayHash]) -> Result<Vec<SeriesId>> {
        self.level.newer_types |= series.iter().any(|s| s.series_type() == SeriesType::PersistentTimeSeries);
        let mut rows = Inserter::new(self.catalog);
        series.iter().zip(hashes).map(|(series, hash)| rows.insert(series, hash)).collect()
    }

    /// Adds the row of a forecast that is derived from `source`, unless it is there.
    pub(super) fn derive(&mut self, source: &SeriesInfo, windows: &Windows) -> Result<Option<SeriesId>> {
        Inserter::new(self.catalog).derive(source, windows)
    }

    /// The rows, changes in progress included.
    pub(super) fn catalog(&mut self) -> &mut Catalog {
        self.catalog
    }

    /// Takes note of rows that were deleted, and answers how many. Their arrays go as after [`Change::remove`].
    pub(super) fn removed(&mut self, removed: Removed) -> u64 {
        self.level.orphans.extend(removed.hashes);
        removed.rows
    }

    /// Deletes rows; their arrays go with the outermost commit, if no row refers to them then.
    pub(super) fn remove(&mut self, ids: &[SeriesId]) -> Result<()> {
        let hashes = self.catalog.remove(ids)?;
        self.level.orphans.extend(hashes);
        Ok(())
    }
}

impl Session {
    pub(super) fn new(
        promise: Promise,
        arrays: Arc<ArrayFile>,
        catalog: Catalog,
        removals: Arc<AtomicU64>,
    ) -> Result<Self> {
        let generation = catalog.generation()?;
        let unfreed = catalog.meta(MetaKey::Unfreed)?.is_some();
        // A process ended between a commit and what was to be freed behind it.
        let leftovers = match unfreed && promise != Promise::Nothing {
            true => arrays.unreferenced(&catalog)?,
            false => Vec::new(),
        };
        Ok(Session {
            promise,
            arrays,
            catalog,
            removals,
            span: None,
            leftovers,
            unsynced: false,
            unfreed,
            stuck: false,
            generation,
        })
    }

    /// The rows.
    pub(super) fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Arrays that lost a row in the open span: their rows come back if it is undone.
    pub(super) fn pending_removals(&self) -> impl Iterator<Item = ArrayHash> + '_ {
        self.span.iter().flat_map(Span::orphans)
    }

    /// Whether arrays without a row are still to be freed: they take space, and harm nothing.
    pub(super) fn has_unfreed(&self) -> bool {
        self.unfreed || self.unsynced || !self.leftovers.is_empty()
    }

    /// Whether the caller has a transaction open.
    pub(super) fn in_transaction(&self) -> bool {
        self.span.as_ref().is_some_and(|span| span.explicit)
    }

    /// Runs one change: all of it happens, or nothing.
    pub(super) fn apply<T>(&mut self, work: impl FnOnce(&mut Change<'_>) -> Result<T>) -> Result<T> {
        if self.span.is_none() {
            self.catalog.begin()?;
            self.span = Some(Span::implicit());
        }
        let depth = self.depth();
        self.catalog.savepoint(depth).map_err(|error| self.given_up(error))?;
        let mut change = Change { arrays: &self.arrays, catalog: &mut self.catalog, level: Level::default() };
        let result = work(&mut change);
        let level = change.level;
        let result = result.and_then(|value| self.catalog.release(depth).map(|()| value));
        match result {
            Err(error) => Err(with_what_is_undone(error, self.undo(depth, level))),
            Ok(value) => {
                if !level.orphans.is_empty() {
                    self.removals.fetch_add(1, Ordering::AcqRel);
                }
                let span = self.span.as_mut().expect("opened above");
                span.keep(level);
                if !span.explicit && self.promise != Promise::EveryFlush {
                    if let Err(error) = self.commit_span() {
                        self.abandon();
                        return Err(error);
                    }
                }
                Ok(value)
            }
        }
    }

    /// Opens a transaction for the caller, or an inner one.
    pub(super) fn begin(&mut self) -> Result<()> {
        if self.in_transaction() {
            self.catalog.savepoint(self.depth()).map_err(|error| self.given_up(error))?;
            self.span.as_mut().expect("a transaction has a span").levels.push(Level::default());
            return Ok(());
        }
        self.commit_span()?;
        self.catalog.begin()?;
        self.span = Some(Span::explicit());
        Ok(())
    }

    /// Ends the innermost transaction of the caller and keeps its work.
    pub(super) fn commit(&mut self) -> Result<()> {
        let span = self.span.as_ref().filter(|span| span.explicit).ok_or_else(|| no_transaction("commit"))?;
        if span.levels.len() == 1 {
            return self.commit_span();
        }
        self.catalog.release(span.levels.len() - 1).map_err(|error| self.given_up(error))?;
        let span = self.span.as_mut().expect("it was there");
        let level = span.levels.pop().expect("more than one level");
        span.keep(level);
        Ok(())
    }

    /// Ends the innermost transaction of the caller and undoes its work.
    pub(super) fn rollback(&mut self) -> Result<()> {
        let span = self.span.as_mut().filter(|span| span.explicit).ok_or_else(|| no_transaction("roll back"))?;
        if span.levels.len() == 1 {
            if self.catalog.in_transaction() {
                self.catalog.rollback().map_err(|error| {
                    self.stuck = true;
                    with_what_is_undone(error, Some("the transaction is undone before the store is used again"))
                })?;
            }
            self.abandon();
            return Ok(());
        }
        let level = span.levels.pop().expect("more than one level");
        let depth = span.levels.len();
        self.removals.fetch_add(1, Ordering::AcqRel);
        match self.undo(depth, level) {
            None => Ok(()),
            Some(more) => Err(Error::Integrity(format!("the inner transaction could not be undone alone; {more}"))),
        }
    }

    /// Brings every change to the disk.
    pub(super) fn flush(&mut self) -> Result<()> {
        if self.in_transaction() {
            return Err(Error::invalid("flush cannot promise what a transaction has not committed; commit first"));
        }
        if self.span.is_none() && (self.catalog.has_new_ids() || !self.leftovers.is_empty()) {
            self.catalog.begin()?;
            self.span = Some(Span::implicit());
        }
        self.commit_span()?;
        if self.unsynced {
            self.catalog.begin()?;
            self.span = Some(Span { changed: true, ..Span::implicit() });
            self.commit_span()?;
        }
        self.arrays.tidy()
    }

    /// Undoes the caller's open transaction, if there is one, and brings the rest to the disk.
    pub(super) fn finish(&mut self) -> Result<()> {
        while self.in_transaction() {
            let undone = self.rollback();
            // All of it is to be undone, so that it may go at once.
            if self.in_transaction() {
                undone?;
            }
        }
        self.flush()
    }

    /// Whether what failed may succeed when it is tried again.
    pub(super) fn can_go_on(&self) -> bool {
        self.arrays.can_be_written()
    }

    /// Undoes the savepoint `depth` and takes out the arrays that it stored. Says what else was undone, where it could not
    /// be that alone: a caller who is not told would take it for kept.
    fn undo(&mut self, depth: usize, level: Level) -> Option<&'static str> {
        if self.catalog.in_transaction() && self.catalog.rollback_to(depth).is_ok() {
            self.take_out(level.staged);
            return self.lost();
        }
        // SQLite gave the whole transaction up: the disk is full, or fails.
        let more = self.undone();
        if let Some(span) = self.span.as_mut() {
            span.keep(level);
        }
        self.abandon();
        more
    }

    /// The error of a statement that changes nothing by itself, or of reading. If SQLite gave the whole transaction up
    /// over it, that is said too.
    pub(super) fn given_up(&mut self, error: Error) -> Error {
        let more = self.lost();
        with_what_is_undone(error, more)
    }

    /// Forgets the open span if SQLite has given it up, and says what went with it. Any statement that meets a disk that is
    /// full or fails may do so, also one that only reads.
    fn lost(&mut self) -> Option<&'static str> {
        if self.span.is_none() || self.catalog.in_transaction() {
            return None;
        }
        let more = self.undone();
        self.abandon();
        more
    }

    /// What goes with the open span.
    fn undone(&self) -> Option<&'static str> {
        self.span.as_ref().and_then(|span| match (span.explicit, span.changed) {
            (true, _) => Some("the whole transaction was undone"),
            (false, true) => Some("all changes since the last flush were undone"),
            (false, false) => None,
        })
    }

    /// Forgets the open span, whose rows are not committed, and takes out the arrays that it stored.
    fn abandon(&mut self) {
        self.removals.fetch_add(1, Ordering::AcqRel);
        self.stuck = self.catalog.in_transaction() && self.catalog.rollback().is_err();
        if self.stuck {
            return;
        }
        let staged = self.span.take().map(Span::into_staged).unwrap_or_default();
        let generation = self.generation.to_string();
        if self.arrays.attribute(GENERATION).is_some_and(|found| found != generation) {
            // Said of a commit that failed. What fails here is said again by the next one.
            let _ = self.arrays.set_attribute(GENERATION, &generation);
        }
        self.take_out(staged);
    }

    /// Undoes what could not be undone when it failed, and tells of what SQLite gave up unnoticed. Comes before every use;
    /// the connection rolls back when it closes.
    ///
    /// # Errors
    /// SQLite's reason; `Integrity` once for changes that are gone.
    pub(super) fn unstick(&mut self) -> Result<()> {
        if !self.stuck {
            return match self.lost() {
                None => Ok(()),
                Some(more) => Err(Error::Integrity(format!("SQLite gave up on a disk that failed; {more}"))),
            };
        }
        if self.catalog.in_transaction() {
            self.catalog.rollback()?;
        }
        self.abandon();
        Ok(())
    }

    /// Removes those of `hashes` that no row refers to, and says whether there were any. What fails is left for the next
    /// commit: such an array takes space, and harms nothing. Inside a transaction `hashes` must be arrays that it stored:
    /// others may have rows that a rollback brings back.
    fn take_out(&mut self, hashes: Vec<ArrayHash>) -> bool {
        let mut unused = Vec::new();
        for hash in hashes.into_iter().collect::<HashSet<_>>() {
            match self.catalog.is_referenced(&hash) {
                Ok(true) => {}
                Ok(false) => unused.push(hash),
                Err(_) => self.leftovers.push(hash),
            }
        }
        let removed = !unused.is_empty() && self.arrays.remove_many(&unused).is_ok();
        if !removed {
            self.leftovers.extend(unused);
        }
        removed
    }

    fn depth(&self) -> usize {
        self.span.as_ref().map_or(0, |span| span.levels.len())
    }
}

fn with_what_is_undone(error: Error, more: Option<&str>) -> Error {
    match more {
        None => error,
        Some(more) => Error::Integrity(format!("{error}; {more}")),
    }
}

fn no_transaction(what: &str) -> Error {
    Error::invalid(format!("there is no transaction to {what}; begin opens one"))
}
