//! The series of a `StaticReader` for any number of threads.

use super::{Shelf, Tools};
use crate::readers::cohort::Cohort;
use crate::readers::group::Group;
use crate::readers::link::{Origin, SharedLink};
use crate::readers::plan::SharedPlan;
use crate::store::arrays::ArrayFile;
use crate::time::{Period, UnixMillis};
use crate::Result;
use std::sync::Arc;

/// Reads the values of many series at one instant.
pub(crate) struct SharedSeries {
    link: SharedLink<SharedPlan>,
    cohort: Arc<Cohort>,
    shelf: Shelf,
}

impl SharedSeries {
    /// Finds every array of a cohort that has series.
    ///
    /// # Errors
    /// `Closed`, and those of finding the arrays.
    pub(in crate::readers) fn new(origin: Origin, cohort: Arc<Cohort>) -> Result<Self> {
        let link = SharedLink::new(origin, |arrays| plan(&cohort, arrays))?;
        Ok(SharedSeries { link, cohort, shelf: Shelf::default() })
    }

    /// The groups, by type code and element shape.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.cohort.groups
    }

    /// The instants of the timeline, in order.
    pub(crate) fn instants(&self) -> Vec<UnixMillis> {
        self.cohort.timeline.instants()
    }

    /// The step of the timeline, of regular series.
    pub(crate) fn resolution(&self) -> Option<Period> {
        self.cohort.timeline.resolution()
    }

    /// Reads position `i` of the timeline, and gives `take` the values of every group: row-major
    /// `[columns, *element_shape]`, little-endian.
    ///
    /// # Errors
    /// As [`StaticReader::read_step`](crate::readers::StaticReader::read_step), and those of `take`.
    pub(crate) fn read<T>(&self, i: usize, take: impl FnOnce(&[Vec<u8>]) -> Result<T>) -> Result<T> {
        let cohort = &*self.cohort;
        let at = cohort.timeline.at(i)?;
        self.shelf.with(|tools| {
            let mut buffers = std::mem::take(&mut tools.buffers);
            let mut rows = std::mem::take(&mut tools.rows);
            let result = self.fill(at, &mut rows, &mut buffers, tools).and_then(|()| take(&buffers));
            (tools.buffers, tools.rows) = (buffers, rows);
            result
        })
    }

    /// Chunks that were inflated so far.
    pub(crate) fn chunks_inflated(&self) -> u64 {
        self.shelf.chunks_inflated()
    }

    fn fill(&self, at: UnixMillis, rows: &mut Vec<usize>, buffers: &mut Vec<Vec<u8>>, tools: &mut Tools) -> Result<()> {
        let cohort = &*self.cohort;
        rows.resize(cohort.timeline.lanes(), 0);
        if buffers.is_empty() {
            *buffers = cohort.groups.iter().map(Group::buffer).collect::<Result<_>>()?;
        }
        cohort.rows_at(at, rows)?;
        self.link.origin().check_removals(|| cohort.columns())?;
        self.link.read(|arrays| plan(cohort, arrays), |plan, arrays| plan.read_shared(arrays, rows, buffers, tools))
    }
}

fn plan(cohort: &Cohort, arrays: &ArrayFile) -> Result<SharedPlan> {
    Ok(cohort.plan(arrays, 0)?.into_shared())
}
