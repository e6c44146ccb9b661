//! A reader's link to its store after the build: whether its series still have their arrays, and the plan that finds these,
//! made anew when they moved.

use super::listed::Listed;
use super::readahead::DEFAULT_READAHEAD;
use crate::series::{SeriesId, SeriesType};
use crate::store::arrays::ArrayFile;
use crate::store::{Shared, Store};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// How often a read looks for arrays that other handles keep moving while it runs.
const MAX_LOOKUPS: usize = 32;

/// Where the arrays of a reader are, and what reads them there.
pub(super) trait Planned {
    /// Chunks that were inflated so far.
    fn chunks_inflated(&self) -> u64;
}

/// What is read in a place of the array file.
pub(super) trait Homed {
    /// Whether the array file still has it in this place.
    fn is_at_home(&self, arrays: &ArrayFile) -> bool;
}

/// The store of a reader, and whether the reader's series still have their arrays. Keeps the store's shared state alive,
/// but not open.
pub(super) struct Origin {
    shared: Arc<Shared>,
    series_type: SeriesType,
    /// The store's count of removals when every array was last known to belong to a series.
    removals: AtomicU64,
}

/// A reader's link to its store.
pub(super) struct Link<P> {
    origin: Origin,
    /// Bytes that are decoded ahead at most.
    readahead: usize,
    /// `None` after arrays moved, until they are found again.
    plan: Option<P>,
    /// Chunks that earlier plans inflated.
    inflated: u64,
}

/// A link by which any number of threads read.
pub(super) struct SharedLink<P> {
    origin: Origin,
    plan: Mutex<Option<Arc<P>>>,
}

impl Origin {
    /// The store's path.
    pub(super) fn path(&self) -> &Path {
        self.shared.path()
    }

    /// Fails when no series has the array of one of `series` any more, not even that of another owner. The catalog is
    /// asked only after removals.
    ///
    /// # Errors
    /// `NotFound` naming the series; `Closed`; those of the catalog.
    pub(super) fn check_removals<'a, S, I>(&self, series: impl Fn() -> I) -> Result<()>
    where
        S: Listed + 'a,
        I: Iterator<Item = &'a S>,
    {
        let removals = self.shared.removals();
        if removals == self.removals.load(Ordering::Acquire) {
            return Ok(());
        }
        let ids: Vec<SeriesId> = series().map(|series| series.id()).collect();
        let mut missing = self.shared.missing_ids(&ids)?;
        missing.sort_unstable();
        let mut referenced = HashSet::new();
        for series in series().filter(|series| missing.binary_search(&series.id()).is_ok()) {
            if referenced.insert(*series.hash()) && !self.shared.is_referenced(series.hash())? {
                return Err(Error::NotFound(format!(
                    "{series} was removed from the store after this reader was built, and no other series has its array; \
                     build a new reader"
                )));
            }
        }
        self.removals.store(removals, Ordering::Release);
        Ok(())
    }

    /// The error of a read when the filter matched nothing.
    pub(super) fn nothing_matched(&self) -> Error {
        Error::NotFound(format!(
            "there is nothing to read: the filter of this reader matched no {} of {}",
            self.series_type,
            self.path().display()
        ))
    }

    /// The error of a read during which arrays did not stay in their places.
    fn restless(&self) -> Error {
        let path = self.path().display();
        Error::Integrity(format!("{path}: arrays were moved {MAX_LOOKUPS} times during one read"))
    }
}

impl Clone for Origin {
    fn clone(&self) -> Self {
        let removals = AtomicU64::new(self.removals.load(Ordering::Acquire));
        Origin { shared: self.shared.clone(), series_type: self.series_type, removals }
    }
}

impl<P: Planned> Link<P> {
    /// A link for a reader of series of one type. It is made before they are listed, so that no removal is missed.
    pub(super) fn new(store: &Store, series_type: SeriesType) -> Self {
        let shared = store.shared().clone();
        let removals = AtomicU64::new(shared.removals());
        Link { origin: Origin { shared, series_type, removals }, readahead: DEFAULT_READAHEAD, plan: None, inflated: 0 }
    }

    pub(super) fn series_type(&self) -> SeriesType {
        self.origin.series_type
    }

    pub(super) fn origin(&self) -> &Origin {
        &self.origin
    }

    pub(super) fn set_readahead(&mut self, bytes: usize) {
        self.readahead = bytes;
        self.drop_plan();
    }

    /// Plans before the first read.
    ///
    /// # Errors
    /// `Closed`, and those of `make`.
    pub(super) fn plan(&mut self, make: impl Fn(&ArrayFile, usize) -> Result<P>) -> Result<()> {
        self.plan = Some(self.origin.shared.read_arrays(|arrays| make(arrays, self.readahead))?);
        Ok(())
    }

    /// Reads by the plan: `read` answers false where arrays moved, and `make` finds them again.
    ///
    /// # Errors
    /// `Closed`, those of `make` and `read`, and `Integrity` when arrays do not stay in their places.
    pub(super) fn read(
        &mut self,
        make: impl Fn(&ArrayFile, usize) -> Result<P>,
        mut read: impl FnMut(&mut P, &ArrayFile) -> Result<bool>,
    ) -> Result<()> {
        let shared = self.origin.shared.clone();
        shared.read_arrays(|arrays| self.read_from(arrays, &make, &mut read))
    }

    /// As [`Link::read`], from one array file.
    pub(super) fn read_from(
        &mut self,
        arrays: &ArrayFile,
        make: impl Fn(&ArrayFile, usize) -> Result<P>,
        mut read: impl FnMut(&mut P, &ArrayFile) -> Result<bool>,
    ) -> Result<()> {
        for _ in 0..MAX_LOOKUPS {
            let plan = match &mut self.plan {
                Some(plan) => plan,
                none => none.insert(make(arrays, self.readahead)?),
            };
            if read(plan, arrays)? {
                return Ok(());
            }
            self.drop_plan();
        }
        Err(self.origin.restless())
    }

    pub(super) fn chunks_inflated(&self) -> u64 {
        self.inflated + self.plan.as_ref().map_or(0, Planned::chunks_inflated)
    }

    fn drop_plan(&mut self) {
        self.inflated += self.plan.take().map_or(0, |plan| plan.chunks_inflated());
    }
}

impl<P> SharedLink<P> {
    /// A link to the same store, that plans at once.
    ///
    /// # Errors
    /// `Closed`, and those of `make`.
    pub(super) fn new(origin: Origin, make: impl Fn(&ArrayFile) -> Result<P>) -> Result<Self> {
        let plan = origin.shared.read_arrays(|arrays| make(arrays))?;
        Ok(SharedLink { origin, plan: Mutex::new(Some(Arc::new(plan))) })
    }

    pub(super) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// As [`Link::read`]. Threads share a plan, and one of them makes another for all.
    ///
    /// # Errors
    /// As [`Link::read`].
    pub(super) fn read(
        &self,
        make: impl Fn(&ArrayFile) -> Result<P>,
        mut read: impl FnMut(&P, &ArrayFile) -> Result<bool>,
    ) -> Result<()> {
        self.origin.shared.read_arrays(|arrays| {
            for _ in 0..MAX_LOOKUPS {
                let plan = {
                    let mut plan = self.plan.lock();
                    match &*plan {
                        Some(plan) => plan.clone(),
                        None => plan.insert(Arc::new(make(arrays)?)).clone(),
                    }
                };
                if read(&plan, arrays)? {
                    return Ok(());
                }
                let mut current = self.plan.lock();
                if current.as_ref().is_some_and(|current| Arc::ptr_eq(current, &plan)) {
                    *current = None;
                }
            }
            Err(self.origin.restless())
        })
    }
}
