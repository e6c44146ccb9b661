//! `StaticReader`: the values of many static series at one instant, row by row of what holds them.

use super::cohort::{Cohort, Intake};
use super::group::Group;
use super::link::Link;
use super::options::StaticReaderOptions;
use super::plan::Plan;
use super::shared::SharedSeries;
use crate::series::{SeriesType, TimeReference};
use crate::store::{Filter, Store};
use crate::time::{Grid, Period, UnixMillis};
use crate::Result;
use std::fmt;
use std::sync::Arc;

/// Walks the series of a filter over one timeline:
///
/// - `SingleTimeSeries`: the grid that all of them have, or a window that all of them cover;
/// - `NonSequentialTimeSeries`: the instants that all of them have;
/// - `PersistentTimeSeries`: the union of their breakpoints, at each of which, and between them, every series has the value
///   of its own last breakpoint.
///
/// Its columns are those that matched when it was built; its buffers are made then, and every read fills them anew. Keeps
/// the store's shared state alive, but not open.
pub struct StaticReader {
    link: Link<Plan>,
    cohort: Arc<Cohort>,
    /// One for each group.
    buffers: Vec<Vec<u8>>,
    /// The row of each lane of the timeline.
    rows: Vec<usize>,
    /// Whether the last read filled the buffers.
    filled: bool,
}

impl StaticReader {
    /// Builds a reader of the series that match `filter`, without a window.
    ///
    /// # Errors
    /// As [`StaticReader::with_options`].
    pub fn build(store: &Store, filter: &Filter) -> Result<Self> {
        Self::with_options(store, &StaticReaderOptions { filter: filter.clone(), ..StaticReaderOptions::default() })
    }

    /// Builds a reader. One over nothing has no groups and length 0.
    ///
    /// # Errors
    /// `InvalidParameter` for options that make no sense, and for series that are in each other's way, naming them: other
    /// grids or instants, a window that one of them does not cover, no steps at all, faces of wall clocks beside instants.
    /// `NotFound` for an array that is missing; `Closed`; errors of the catalog and of the disk.
    pub fn with_options(store: &Store, options: &StaticReaderOptions) -> Result<Self> {
        let request = options.checked()?;
        let mut link = Link::new(store, request.series_type);
        let mut intake = Intake::new(&request);
        store.shared().visit(&request.filter, &mut |info| intake.push(info))?;
        let cohort = Arc::new(intake.finish()?);
        let buffers = cohort.groups.iter().map(Group::buffer).collect::<Result<_>>()?;
        link.plan(|arrays, readahead| cohort.plan(arrays, readahead))?;
        let rows = vec![0; cohort.timeline.lanes()];
        Ok(StaticReader { link, cohort, buffers, rows, filled: false })
    }

    /// Lets a sweep decode this many bytes ahead at most, on native threads that all readers share, from the next read on;
    /// 0 for none. It takes a few reads in one direction; other reads cost nothing more.
    pub fn set_readahead(&mut self, bytes: usize) {
        self.link.set_readahead(bytes);
    }

    /// The type of its series.
    pub fn series_type(&self) -> SeriesType {
        self.link.series_type()
    }

    /// The number of instants of its timeline.
    pub fn len(&self) -> usize {
        self.cohort.timeline.len()
    }

    /// Whether the filter matched nothing.
    pub fn is_empty(&self) -> bool {
        self.cohort.groups.is_empty()
    }

    /// The step of the timeline; `None` for series that have none.
    pub fn resolution(&self) -> Option<Period> {
        self.cohort.timeline.resolution()
    }

    /// The timeline as a grid; `None` for series that have none.
    pub fn grid(&self) -> Option<&Grid> {
        self.cohort.timeline.grid()
    }

    /// How instants are to be spelled: as all series say, as UTC where they say different things, `None` where none says
    /// anything.
    pub fn time_reference(&self) -> Option<&TimeReference> {
        self.cohort.reference.as_ref()
    }

    /// Every instant of the timeline, in order.
    pub fn timestamps(&self) -> Vec<UnixMillis> {
        self.cohort.timeline.instants()
    }

    /// The instant at position `i` of the timeline.
    ///
    /// # Errors
    /// `OffGrid` when there is none, `NotFound` when the filter matched nothing.
    pub fn timestamp_at(&self, i: usize) -> Result<UnixMillis> {
        self.check_matched()?;
        self.cohort.timeline.at(i)
    }

    /// The position of `at` on the timeline; of `PersistentTimeSeries`, of the last breakpoint that does not lie after it,
    /// which is no row of any series.
    ///
    /// # Errors
    /// `OffGrid` when there is none, `NotFound` when the filter matched nothing.
    pub fn index_at(&self, at: UnixMillis) -> Result<usize> {
        self.check_matched()?;
        self.cohort.timeline.index_of(at)
    }

    /// The groups, by type code and element shape.
    pub fn groups(&self) -> &[Group] {
        &self.cohort.groups
    }

    /// Fills every group's buffer with the values at `at`, which has to be an instant of the timeline; for
    /// `PersistentTimeSeries`, any instant that lies before no series' first breakpoint. After an error every buffer is
    /// empty.
    ///
    /// # Errors
    /// `OffGrid` for another instant, naming a series that has no value yet; `NotFound` naming a series whose array is
    /// gone, and when the filter matched nothing; `Closed` after the store was closed; `Format`, `Integrity`,
    /// `Unsupported` and `Io` for what is wrong with the file.
    pub fn read(&mut self, at: UnixMillis) -> Result<()> {
        self.filled = false;
        self.check_matched()?;
        let StaticReader { link, cohort, buffers, rows, .. } = self;
        cohort.rows_at(at, rows)?;
        link.origin().check_removals(|| cohort.columns())?;
        link.read(|arrays, readahead| cohort.plan(arrays, readahead), |plan, arrays| plan.read(arrays, rows, buffers))?;
        self.filled = true;
        Ok(())
    }

    /// Fills every group's buffer with the values at position `i` of the timeline.
    ///
    /// # Errors
    /// `OffGrid` when there is no such position; otherwise as [`StaticReader::read`].
    pub fn read_step(&mut self, i: usize) -> Result<()> {
        self.filled = false;
        let at = self.timestamp_at(i)?;
        self.read(at)
    }

    /// The values of a group as of the last read: row-major `[columns, *element_shape]`, little-endian. Empty before the
    /// first read and after a failed one, and for a group that does not exist.
    pub fn values(&self, group: usize) -> &[u8] {
        match self.buffers.get(group) {
            Some(buffer) if self.filled => buffer,
            _ => &[],
        }
    }

    /// The chunks that were inflated so far, by reads, ahead of them, and by the build: the arrays of irregular series are
    /// held whole where any value takes their only chunk.
    pub fn chunks_inflated(&self) -> u64 {
        self.link.chunks_inflated()
    }

    /// What any number of threads read the same series by; it has no buffers.
    ///
    /// # Errors
    /// `NotFound` when the filter matched nothing; `Closed`, and those of finding the arrays.
    pub(crate) fn shared(&self) -> Result<SharedSeries> {
        self.check_matched()?;
        SharedSeries::new(self.link.origin().clone(), self.cohort.clone())
    }

    /// Reads position `i` from another array file than the store's.
    #[cfg(test)]
    pub(super) fn read_from(&mut self, arrays: &crate::store::arrays::ArrayFile, i: usize) -> Result<()> {
        let StaticReader { link, cohort, buffers, rows, .. } = self;
        cohort.rows_at(cohort.timeline.at(i)?, rows)?;
        let make = |arrays: &_, readahead| cohort.plan(arrays, readahead);
        link.read_from(arrays, make, |plan, arrays| plan.read(arrays, rows, buffers))?;
        self.filled = true;
        Ok(())
    }

    fn check_matched(&self) -> Result<()> {
        match self.is_empty() {
            true => Err(self.link.origin().nothing_matched()),
            false => Ok(()),
        }
    }
}

const _: () = {
    const fn may_move_to_another_thread<T: Send>() {}
    may_move_to_another_thread::<StaticReader>();
};

impl fmt::Debug for StaticReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticReader")
            .field("store", &self.link.origin().path())
            .field("series_type", &self.series_type())
            .field("len", &self.len())
            .field("columns", &self.groups().iter().map(|g| g.columns().len()).sum::<usize>())
            .finish_non_exhaustive()
    }
}
