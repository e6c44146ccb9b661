//! Where the elements of a reader's columns come from: columns of packed datasets, and variables of their own. A plan says
//! so when one of them moved, and another is made then.

use super::column::ColumnInfo;
use super::columns::Columns;
use super::group::Group;
use super::link::{Homed, Planned};
use super::rows::Cell;
use super::shared::{SharedColumns, SharedVariable, Tools};
use super::timeline::Timeline;
use super::variable::{filtered_chunks, Variable};
use crate::array::{Array, ArrayHash};
use crate::store::arrays::{ArrayFile, Column, PackedDataset, Place, Standalone};
use crate::{Error, Result};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// The sources of all elements.
pub(super) struct Plan<C = Columns, V = Variable> {
    /// The array file's when every place was last known to hold.
    stamp: AtomicU64,
    packed: Vec<Source<C>>,
    variables: Vec<Source<V>>,
    /// Arrays any row of which takes their only band of chunks.
    arrays: Vec<Array>,
    held: Vec<Held>,
    /// Chunks that were inflated to hold the arrays.
    inflated: u64,
}

/// What is read at the row of one lane into the buffer of one group.
struct Source<T> {
    group: usize,
    lane: usize,
    of: T,
}

/// A column whose array is held.
struct Held {
    /// Its position among the arrays.
    array: u32,
    group: u32,
    lane: u32,
    /// Its first byte in the group's buffer, and how many it has.
    at: usize,
    block: usize,
}

/// A plan in the making.
struct Draft<'a> {
    file: &'a ArrayFile,
    plan: Plan,
    /// Positions by address and lane. What lies there is of one type and shape, so it belongs to one group.
    packed: HashMap<(*const PackedDataset, usize), usize>,
    variables: HashMap<(*const Standalone, usize), usize>,
    arrays: HashMap<ArrayHash, u32>,
    /// Those of the arrays, in their order.
    hashes: Vec<ArrayHash>,
}

/// Where the element of a column goes.
#[derive(Clone, Copy)]
struct Target {
    group: usize,
    lane: usize,
    at: usize,
    block: usize,
}

impl Plan {
    /// Finds every column. `readahead` is the number of bytes that are decoded ahead at most.
    ///
    /// # Errors
    /// `NotFound` for an array that is missing, `Integrity` for one that is not what the catalog says, both naming the
    /// series; errors of the file.
    pub(super) fn new(arrays: &ArrayFile, groups: &[Group], timeline: &Timeline, readahead: usize) -> Result<Self> {
        arrays.settle()?;
        let plan = Plan {
            // Before the first look-up: what moves meanwhile is looked up again.
            stamp: arrays.stamp().into(),
            packed: Vec::new(),
            variables: Vec::new(),
            arrays: Vec::new(),
            held: Vec::new(),
            inflated: 0,
        };
        let mut draft = Draft {
            file: arrays,
            plan,
            packed: HashMap::new(),
            variables: HashMap::new(),
            arrays: HashMap::new(),
            hashes: Vec::new(),
        };
        for (group, g) in groups.iter().enumerate() {
            let block = g.element_bytes();
            for (k, column) in g.columns().iter().enumerate() {
                draft.place(column, Target { group, lane: column.lane(), at: k * block, block })?;
            }
        }
        let Draft { mut plan, hashes, .. } = draft;
        let each = readahead / plan.packed.len().max(1);
        for Source { lane, of, .. } in &mut plan.packed {
            of.read_ahead(each, timeline.rows_of(*lane));
        }
        plan.arrays = arrays.read_many(&hashes)?;
        Ok(plan)
    }

    /// Fills the buffers with the elements at the rows of the lanes; false when a column is no longer where it was.
    ///
    /// # Errors
    /// Those of [`Columns::read`] and [`Variable::read`].
    pub(super) fn read(&mut self, arrays: &ArrayFile, rows: &[usize], buffers: &mut [Vec<u8>]) -> Result<bool> {
        if !self.holds(arrays) {
            return Ok(false);
        }
        let source = arrays.source();
        for Source { group, lane, of } in &mut self.packed {
            if !of.read(source, rows[*lane], &mut buffers[*group])? {
                return Ok(false);
            }
        }
        for Source { group, lane, of } in &mut self.variables {
            of.read(&**source, rows[*lane], &mut buffers[*group])?;
        }
        self.copy_held(rows, buffers);
        Ok(true)
    }

    /// The plan by which any number of threads read at once. Nothing is decoded ahead.
    pub(super) fn into_shared(self) -> SharedPlan {
        let Plan { stamp, packed, variables, arrays, held, inflated } = self;
        let columns = |columns: Columns| SharedColumns::new(columns.into_packed(), 1);
        let variable = |variable: Variable| SharedVariable::new(variable.into_stored());
        let packed = packed.into_iter().map(|source| source.map(columns)).collect();
        let variables = variables.into_iter().map(|source| source.map(variable)).collect();
        Plan { stamp, packed, variables, arrays, held, inflated }
    }
}

/// A plan that many threads read by.
pub(super) type SharedPlan = Plan<SharedColumns, SharedVariable>;

impl SharedPlan {
    /// As [`Plan::read`].
    ///
    /// # Errors
    /// As [`Plan::read`].
    pub(super) fn read_shared(
        &self,
        arrays: &ArrayFile,
        rows: &[usize],
        buffers: &mut [Vec<u8>],
        tools: &mut Tools,
    ) -> Result<bool> {
        if !self.holds(arrays) {
            return Ok(false);
        }
        let source = &**arrays.source();
        for Source { group, lane, of } in &self.packed {
            let row = rows[*lane] as u64;
            if !of.read(source, row..row + 1, &mut buffers[*group], tools)? {
                return Ok(false);
            }
        }
        for Source { group, lane, of } in &self.variables {
            of.read(source, rows[*lane] as u64, &mut buffers[*group], tools)?;
        }
        self.copy_held(rows, buffers);
        Ok(true)
    }
}

impl<C: Homed, V: Homed> Plan<C, V> {
    /// Whether no dataset and no variable was put elsewhere. Single columns of a dataset are its own affair, and arrays
    /// that are held stay what they are.
    fn holds(&self, arrays: &ArrayFile) -> bool {
        let stamp = arrays.stamp();
        if self.stamp.load(Ordering::Acquire) != stamp {
            let holds = self.packed.iter().all(|source| source.of.is_at_home(arrays))
                && self.variables.iter().all(|source| source.of.is_at_home(arrays));
            if !holds {
                return false;
            }
            self.stamp.store(stamp, Ordering::Release);
        }
        true
    }

    fn copy_held(&self, rows: &[usize], buffers: &mut [Vec<u8>]) {
        for Held { array, group, lane, at, block } in &self.held {
            let values = self.arrays[*array as usize].bytes();
            let start = rows[*lane as usize] * block;
            buffers[*group as usize][*at..at + block].copy_from_slice(&values[start..start + block]);
        }
    }
}

impl<T> Source<T> {
    fn map<U>(self, make: impl FnOnce(T) -> U) -> Source<U> {
        Source { group: self.group, lane: self.lane, of: make(self.of) }
    }
}

impl Planned for Plan {
    fn chunks_inflated(&self) -> u64 {
        let packed: u64 = self.packed.iter().map(|source| source.of.chunks_inflated()).sum();
        let variables: u64 = self.variables.iter().map(|source| source.of.chunks_inflated()).sum();
        self.inflated + packed + variables
    }
}

impl Draft<'_> {
    /// Finds one column.
    fn place(&mut self, column: &ColumnInfo, target: Target) -> Result<()> {
        let Target { group, lane, at, .. } = target;
        match self.file.find(column.hash()) {
            Some(Place::Packed(Column { dataset, column: position })) => {
                let pool = &dataset.pool;
                let shape = std::iter::once(&pool.length).chain(&pool.element_shape).map(|&n| n as u64);
                column.check_array(pool.dtype, shape, &dataset.name)?;
                let sources = &mut self.plan.packed;
                let known = *self.packed.entry((Arc::as_ptr(&dataset), lane)).or_insert_with(|| {
                    sources.push(Source { group, lane, of: Columns::new(dataset) });
                    sources.len() - 1
                });
                sources[known].of.push(*column.hash(), Cell { column: position, at });
            }
            Some(Place::Standalone(array)) => {
                column.check_array(array.dtype, array.shape.iter().copied(), &array.name)?;
                match self.variables.get(&(Arc::as_ptr(&array), lane)) {
                    Some(known) => self.plan.variables[*known].of.push(at),
                    None => self.place_variable(&array, *column.hash(), target),
                }
            }
            None => return Err(Error::NotFound(format!("the store has lost the values of {column}; add them again"))),
        }
        Ok(())
    }

    fn place_variable(&mut self, array: &Arc<Standalone>, hash: ArrayHash, target: Target) {
        let Target { group, lane, at, block } = target;
        if let Some(mut of) = Variable::new(hash, array) {
            of.push(at);
            self.variables.insert((Arc::as_ptr(array), lane), self.plan.variables.len());
            self.plan.variables.push(Source { group, lane, of });
            return;
        }
        let (hashes, inflated) = (&mut self.hashes, &mut self.plan.inflated);
        let array = *self.arrays.entry(hash).or_insert_with(|| {
            hashes.push(hash);
            *inflated += filtered_chunks(array);
            (hashes.len() - 1) as u32
        });
        self.plan.held.push(Held { array, group: group as u32, lane: lane as u32, at, block });
    }
}
