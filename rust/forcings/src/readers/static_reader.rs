//! `StaticReader`: the values of many `SingleTimeSeries` at one instant, row by row of the datasets that hold them.

use super::cohort::{checked_filter, Cohort, Group};
use super::columns::Columns;
use super::rows::Cell;
use crate::array::{Array, ArrayHash};
use crate::series::{SeriesId, SeriesInfo};
use crate::store::arrays::ArrayFile;
use crate::store::{Filter, Shared, Store};
use crate::time::{Grid, UnixMillis};
use crate::{Error, ErrorKind, Result};
use std::collections::hash_map::Entry;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// How often a read looks for columns that other handles keep moving while it runs.
const MAX_LOOKUPS: usize = 32;

/// Walks the series of a filter over their common grid. Its columns are those that matched when it was built; its
/// buffers are made then, and every read fills them anew. Keeps the store's shared state alive, but not open.
pub struct StaticReader {
    shared: Arc<Shared>,
    /// `None` when the filter matched nothing.
    grid: Option<Grid>,
    groups: Vec<Group>,
    /// One for each group.
    buffers: Vec<Vec<u8>>,
    /// Whether the last read filled the buffers.
    filled: bool,
    ids: Vec<SeriesId>,
    /// The store's count of removals when every id was last known to exist.
    removals: u64,
    /// `None` after columns moved, until they are found again.
    plan: Option<Plan>,
    /// Chunks that earlier plans inflated.
    inflated: u64,
}

/// Where the elements of the groups come from.
#[derive(Default)]
struct Plan {
    /// With the group that they belong to.
    columns: Vec<(usize, Columns)>,
    /// Other software may keep the array of a `SingleTimeSeries` like that of an irregular series with the same values.
    loose: Vec<Loose>,
}

/// A column whose array is a variable of its own.
struct Loose {
    group: usize,
    /// Its first byte in the group's buffer.
    at: usize,
    /// Bytes of one step.
    block: usize,
    values: Arc<Array>,
}

impl StaticReader {
    /// Builds a reader of the `SingleTimeSeries` that match `filter`, which has to name a resolution. A reader over
    /// nothing has no groups and length 0.
    ///
    /// # Errors
    /// `InvalidParameter` without a resolution, for another type, and when the series are not all on one grid or have no
    /// steps; `NotFound` for an array that is missing; `Closed`; errors of the catalog and of the disk.
    pub fn build(store: &Store, filter: &Filter) -> Result<Self> {
        let shared = store.shared().clone();
        let removals = shared.removals();
        let Cohort { grid, groups } = Cohort::new(store.list(&checked_filter(filter)?)?)?;
        let ids = groups.iter().flat_map(|g| g.columns()).map(|c| c.id).collect();
        let mut buffers = Vec::new();
        for group in &groups {
            buffers.push(buffer(group)?);
        }
        let plan = Some(Plan::new(&*shared.arrays()?, &groups)?);
        Ok(StaticReader { shared, grid, groups, buffers, filled: false, ids, removals, plan, inflated: 0 })
    }

    /// The number of instants.
    pub fn len(&self) -> usize {
        self.grid.map_or(0, |grid| grid.len())
    }

    /// Whether the filter matched nothing.
    pub fn is_empty(&self) -> bool {
        self.grid.is_none()
    }

    /// The grid that every column is on; `None` when the filter matched nothing.
    pub fn grid(&self) -> Option<&Grid> {
        self.grid.as_ref()
    }

    /// Every instant, in order.
    pub fn timestamps(&self) -> Vec<UnixMillis> {
        self.grid.iter().flat_map(|grid| grid.instants()).collect()
    }

    /// The instant of step `i`.
    ///
    /// # Errors
    /// `OffGrid` when there is no step `i`.
    pub fn timestamp_at(&self, i: usize) -> Result<UnixMillis> {
        self.known_grid()?.at(i)
    }

    /// The step that is exactly `at`.
    ///
    /// # Errors
    /// `OffGrid` before the first step, between steps and past the last step.
    pub fn index_at(&self, at: UnixMillis) -> Result<usize> {
        self.known_grid()?.index_of(at)
    }

    /// The groups, by type code and element shape.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Fills every group's buffer with the values at exactly `at`.
    ///
    /// # Errors
    /// `OffGrid` as [`StaticReader::index_at`]; otherwise as [`StaticReader::read_step`].
    pub fn read(&mut self, at: UnixMillis) -> Result<()> {
        self.filled = false;
        let step = self.index_at(at)?;
        self.read_step(step)
    }

    /// Fills every group's buffer with the values of step `i`. After an error every buffer is empty.
    ///
    /// # Errors
    /// `OffGrid` when there is no step `i`; `NotFound` naming a series that was removed, or whose array is gone, and when
    /// the filter matched nothing; `Closed` after the store was closed; `Format`, `Integrity`, `Unsupported` and `Io`
    /// for what is wrong with the file.
    pub fn read_step(&mut self, i: usize) -> Result<()> {
        self.filled = false;
        self.known_grid()?.at(i)?;
        self.shared.arrays()?;
        self.check_removals()?;
        for _ in 0..MAX_LOOKUPS {
            // Another array file may have taken the place of the last one.
            let arrays = self.shared.arrays()?;
            let plan = match &mut self.plan {
                Some(plan) => plan,
                none => none.insert(Plan::new(&arrays, &self.groups)?),
            };
            if plan.read(&arrays, i, &mut self.buffers)? {
                self.filled = true;
                return Ok(());
            }
            self.inflated += plan.chunks_inflated();
            self.plan = None;
        }
        Err(Error::Integrity(format!(
            "{}: columns were moved {MAX_LOOKUPS} times during one read",
            self.shared.path().display()
        )))
    }

    /// The values of a group as of the last read: row-major `[columns, *element_shape]`, little-endian. Empty before the
    /// first read and after a failed one, and for a group that does not exist.
    pub fn values(&self, group: usize) -> &[u8] {
        match self.buffers.get(group) {
            Some(buffer) if self.filled => buffer,
            _ => &[],
        }
    }

    /// The chunks that were inflated by all reads so far.
    pub fn chunks_inflated(&self) -> u64 {
        self.inflated + self.plan.as_ref().map_or(0, Plan::chunks_inflated)
    }

    fn known_grid(&self) -> Result<&Grid> {
        self.grid.as_ref().ok_or_else(|| {
            Error::NotFound(format!(
                "there is nothing to read: the filter of this reader matched no SingleTimeSeries of {}",
                self.shared.path().display()
            ))
        })
    }

    /// Fails when a column's series is no longer in the catalog, which is asked only after removals.
    fn check_removals(&mut self) -> Result<()> {
        let removals = self.shared.removals();
        if removals == self.removals {
            return Ok(());
        }
        if let Some(missing) = self.shared.missing_ids(&self.ids)?.first() {
            let mut columns = self.groups.iter().flat_map(|g| g.columns());
            let series = columns.find(|c| c.id == *missing).expect("ids are those of the columns");
            return Err(gone(series));
        }
        self.removals = removals;
        Ok(())
    }
}

const _: () = {
    const fn may_move_to_another_thread<T: Send>() {}
    may_move_to_another_thread::<StaticReader>();
};

impl fmt::Debug for StaticReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticReader")
            .field("store", &self.shared.path())
            .field("len", &self.len())
            .field("columns", &self.ids.len())
            .finish_non_exhaustive()
    }
}

impl Plan {
    fn new(arrays: &ArrayFile, groups: &[Group]) -> Result<Self> {
        let mut plan = Plan::default();
        for (g, group) in groups.iter().enumerate() {
            let mut datasets = HashMap::new();
            let mut whole: HashMap<ArrayHash, Arc<Array>> = HashMap::new();
            let block = group.element_bytes();
            for (k, series) in group.columns().iter().enumerate() {
                let at = k * block;
                let Some(column) = arrays.locate(&series.hash) else {
                    let values = match whole.entry(series.hash) {
                        Entry::Occupied(known) => known.get().clone(),
                        Entry::Vacant(slot) => slot.insert(Arc::new(whole_array(arrays, series)?)).clone(),
                    };
                    plan.loose.push(Loose { group: g, at, block, values });
                    continue;
                };
                let dataset = column.dataset;
                let pool = &dataset.pool;
                if (pool.dtype, &pool.element_shape[..]) != (group.dtype(), group.element_shape())
                    || Some(pool.length as u64) != series.length
                {
                    return Err(Error::Integrity(format!(
                        "the catalog and the dataset {} differ in type or shape of {series}",
                        dataset.name
                    )));
                }
                let position = *datasets.entry(Arc::as_ptr(&dataset)).or_insert_with(|| {
                    plan.columns.push((g, Columns::new(dataset)));
                    plan.columns.len() - 1
                });
                plan.columns[position].1.push(series.hash, Cell { column: column.column, at });
            }
        }
        Ok(plan)
    }

    /// Fills the buffers; false when a column is no longer where it was.
    fn read(&mut self, arrays: &ArrayFile, row: usize, buffers: &mut [Vec<u8>]) -> Result<bool> {
        for (group, columns) in &mut self.columns {
            if !columns.read(&**arrays.source(), row, &mut buffers[*group])? {
                return Ok(false);
            }
        }
        for Loose { group, at, block, values } in &self.loose {
            buffers[*group][*at..at + block].copy_from_slice(&values.bytes()[row * block..][..*block]);
        }
        Ok(true)
    }

    fn chunks_inflated(&self) -> u64 {
        self.columns.iter().map(|(_, columns)| columns.chunks_inflated()).sum()
    }
}

/// A buffer for one instant of the group.
fn buffer(group: &Group) -> Result<Vec<u8>> {
    let len = group.columns().len().checked_mul(group.element_bytes());
    let mut buffer = Vec::new();
    len.and_then(|len| buffer.try_reserve_exact(len).ok().map(|()| len))
        .map(|len| buffer.resize(len, 0))
        .ok_or_else(|| Error::Integrity(format!("there is no memory for {} columns", group.columns().len())))?;
    Ok(buffer)
}

fn whole_array(arrays: &ArrayFile, series: &SeriesInfo) -> Result<Array> {
    let lost = |e: Error| match e.kind() {
        ErrorKind::NotFound => Error::NotFound(format!("the store has lost the values of {series}; add them again")),
        _ => e,
    };
    let shape = series.array_shape()?;
    if arrays.shape(&series.hash).map_err(lost)? != (series.dtype, shape.clone()) {
        return Err(Error::Integrity(format!("the catalog and the stored array differ in type or shape of {series}")));
    }
    arrays.read_rows(&series.hash, 0..shape[0]).map_err(lost)
}

fn gone(series: &SeriesInfo) -> Error {
    Error::NotFound(format!("{series} was removed from the store after this reader was built; build a new reader"))
}
