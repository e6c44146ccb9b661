//! A reader's link to its store after the build: whether its series still have their arrays, and the plan that finds these,
//! made anew when they moved.

use super::listed::Listed;
use super::readahead::DEFAULT_READAHEAD;
use crate::series::{SeriesId, SeriesType};
use crate::store::arrays::ArrayFile;
use crate::store::{Shared, Store};
use crate::{Error, Result};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// How often a read looks for arrays that other handles keep moving while it runs.
const MAX_LOOKUPS: usize = 32;

/// Where the arrays of a reader are, and what reads them there.
pub(super) trait Planned {
    /// Chunks that were inflated so far.
    fn chunks_inflated(&self) -> u64;
}

/// Keeps the store's shared state alive, but not open.
pub(super) struct Link<P> {
    shared: Arc<Shared>,
    series_type: SeriesType,
    /// The store's count of removals when every array was last known to belong to a series.
    removals: u64,
    /// Bytes that are decoded ahead at most.
    readahead: usize,
    /// `None` after arrays moved, until they are found again.
    plan: Option<P>,
    /// Chunks that earlier plans inflated.
    inflated: u64,
}

impl<P: Planned> Link<P> {
    /// A link for a reader of series of one type. It is made before they are listed, so that no removal is missed.
    pub(super) fn new(store: &Store, series_type: SeriesType) -> Self {
        let shared = store.shared().clone();
        let removals = shared.removals();
        Link { shared, series_type, removals, readahead: DEFAULT_READAHEAD, plan: None, inflated: 0 }
    }

    pub(super) fn series_type(&self) -> SeriesType {
        self.series_type
    }

    /// The store's path.
    pub(super) fn path(&self) -> &Path {
        self.shared.path()
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
        self.plan = Some(self.shared.read_arrays(|arrays| make(arrays, self.readahead))?);
        Ok(())
    }

    /// Fails when no series has the array of one of `series` any more, not even that of another owner. The catalog is
    /// asked only after removals.
    ///
    /// # Errors
    /// `NotFound` naming the series; `Closed`; those of the catalog.
    pub(super) fn check_removals<'a, S, I>(&mut self, series: impl Fn() -> I) -> Result<()>
    where
        S: Listed + 'a,
        I: Iterator<Item = &'a S>,
    {
        let removals = self.shared.removals();
        if removals == self.removals {
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
        self.removals = removals;
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
        let shared = self.shared.clone();
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
        let path = self.path().display();
        Err(Error::Integrity(format!("{path}: arrays were moved {MAX_LOOKUPS} times during one read")))
    }

    pub(super) fn chunks_inflated(&self) -> u64 {
        self.inflated + self.plan.as_ref().map_or(0, Planned::chunks_inflated)
    }

    /// The error of a read when the filter matched nothing.
    pub(super) fn nothing_matched(&self) -> Error {
        Error::NotFound(format!(
            "there is nothing to read: the filter of this reader matched no {} of {}",
            self.series_type,
            self.path().display()
        ))
    }

    fn drop_plan(&mut self) {
        self.inflated += self.plan.take().map_or(0, |plan| plan.chunks_inflated());
    }
}
