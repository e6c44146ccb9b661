//! Which series a reader walks together: what their types ask them to have in common, and the one timeline that they get.
//! Knows the catalog's rows only.

use super::column::{ColumnInfo, Interner};
use super::group::Group;
use super::listed::common_reference;
use super::options::{Request, Window};
use super::plan::Plan;
use super::timeline::{Missed, Timeline};
use super::window::steps;
use crate::series::{SeriesInfo, SeriesType, TimeReference};
use crate::store::arrays::ArrayFile;
use crate::time::{Grid, UnixMillis};
use crate::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// Series that can be read together.
#[derive(Debug)]
pub(super) struct Cohort {
    pub timeline: Timeline,
    /// How instants of the timeline are to be spelled.
    pub reference: Option<TimeReference>,
    pub groups: Vec<Group>,
}

/// A cohort in the making.
#[derive(Debug)]
pub(super) struct Intake {
    axis: Axis,
    interner: Interner,
    columns: Vec<ColumnInfo>,
}

/// What is known of the timeline so far.
#[derive(Debug)]
enum Axis {
    /// The grid of the first series.
    Common(Option<Grid>),
    /// How far the series are ahead of the window, by lane.
    Window { window: Window, lanes: Lanes<usize> },
    /// The instants of irregular series, or the breakpoints of step functions, by lane.
    Listed { series_type: SeriesType, lanes: Lanes<Arc<[UnixMillis]>> },
}

/// Distinct values in the order in which they were first seen.
#[derive(Debug)]
struct Lanes<T> {
    known: HashMap<T, u32>,
    list: Vec<T>,
}

impl Cohort {
    /// Its series.
    pub(super) fn columns(&self) -> impl Iterator<Item = &ColumnInfo> {
        self.groups.iter().flat_map(Group::columns)
    }

    /// Finds every array. `readahead` is the number of bytes that are decoded ahead at most.
    ///
    /// # Errors
    /// Those of [`Plan::new`].
    pub(super) fn plan(&self, arrays: &ArrayFile, readahead: usize) -> Result<Plan> {
        Plan::new(arrays, &self.groups, &self.timeline, readahead)
    }

    /// The row of every lane at `at`.
    ///
    /// # Errors
    /// `OffGrid` when the timeline does not have the instant, naming a series that has no value yet.
    pub(super) fn rows_at(&self, at: UnixMillis, rows: &mut [usize]) -> Result<()> {
        self.timeline.rows_at(at, rows).map_err(|missed| self.no_value(at, missed))
    }

    fn no_value(&self, at: UnixMillis, missed: Missed) -> Error {
        let (lane, first) = match missed {
            Missed::Off(error) => return error,
            Missed::Before { lane, first } => (lane, first),
        };
        let column =
            self.columns().find(|column| column.lane() == lane).expect("each lane has the column it was made for");
        Error::OffGrid(match first {
            Some(first) => format!("{column} has no value at {at}: its first breakpoint is {first}"),
            None => {
                format!("{column} has no value at {at}, or ever: it has no breakpoints; leave it out of the filter")
            }
        })
    }
}

impl Intake {
    /// Nothing yet.
    pub(super) fn new(request: &Request) -> Self {
        let axis = match (request.series_type, request.window) {
            (SeriesType::SingleTimeSeries, None) => Axis::Common(None),
            (SeriesType::SingleTimeSeries, Some(window)) => Axis::Window { window, lanes: Lanes::new() },
            (series_type, _) => Axis::Listed { series_type, lanes: Lanes::new() },
        };
        Intake { axis, interner: Interner::default(), columns: Vec::new() }
    }

    /// Takes in a series.
    ///
    /// # Errors
    /// `InvalidParameter` when it is not on the grid of the first one, or has no step where the window starts; `Integrity`
    /// for a row without a time axis.
    pub(super) fn push(&mut self, info: SeriesInfo) -> Result<()> {
        let mut instants = None;
        let lane = match &mut self.axis {
            Axis::Common(known) => {
                let its = info.grid()?;
                let grid = *known.get_or_insert(its);
                if its != grid {
                    return Err(divergent(&info, &its, &self.columns[0], &grid));
                }
                0
            }
            Axis::Window { window, lanes } => {
                let offset = window.offset(&info)?;
                lanes.lane(offset)
            }
            Axis::Listed { lanes, .. } => {
                let lane = match lanes.known.get(info.instants()?) {
                    Some(lane) => *lane,
                    None => lanes.lane(info.instants()?.into()),
                };
                instants = Some(lanes.list[lane as usize].clone());
                lane
            }
        };
        self.columns.push(self.interner.column(info, instants, lane));
        Ok(())
    }

    /// The cohort of the series that were taken in. It has neither instants nor groups when there were none.
    ///
    /// # Errors
    /// `InvalidParameter` when they have no timeline together, naming series that are in the way: other instants, a window
    /// that one of them does not cover, no instants at all, faces of wall clocks beside instants.
    pub(super) fn finish(self) -> Result<Cohort> {
        let Intake { axis, columns, .. } = self;
        let Some(first) = columns.first() else {
            return Ok(Cohort { timeline: Timeline::Nothing, reference: None, groups: Vec::new() });
        };
        let timeline = match axis {
            Axis::Common(grid) => Timeline::Steps { grid: grid.map_or_else(|| first.grid(), Ok)?, offsets: vec![0] },
            Axis::Window { window, lanes } => {
                Timeline::Steps { grid: window.grid(&columns, &lanes.list)?, offsets: lanes.list }
            }
            Axis::Listed { series_type: SeriesType::PersistentTimeSeries, lanes } => {
                let mut union: Vec<UnixMillis> = lanes.list.iter().flat_map(|lane| lane.iter().copied()).collect();
                // The lanes are ascending runs, which this kind of sorting merges.
                union.sort();
                union.dedup();
                Timeline::Breakpoints { union, lanes: lanes.list }
            }
            Axis::Listed { lanes, .. } => match &lanes.list[..] {
                [instants] => Timeline::Instants(instants.clone()),
                several => return Err(several_vectors(&columns, several)),
            },
        };
        if timeline.len() == 0 {
            return Err(Error::invalid(format!("there is nothing to read: {first} has no steps")));
        }
        let reference = common_reference("StaticReader", &columns)?;
        Ok(Cohort { timeline, reference, groups: Group::of(columns) })
    }
}

impl<T: Clone + Eq + std::hash::Hash> Lanes<T> {
    fn new() -> Self {
        Lanes { known: HashMap::new(), list: Vec::new() }
    }

    /// The lane of a value, a new one if it was not seen before.
    fn lane(&mut self, value: T) -> u32 {
        *self.known.entry(value).or_insert_with_key(|value| {
            self.list.push(value.clone());
            (self.list.len() - 1) as u32
        })
    }
}

fn divergent(other: &SeriesInfo, its: &Grid, first: &ColumnInfo, grid: &Grid) -> Error {
    Error::invalid(format!(
        "a reader walks one grid, but {other} and {first} are on different ones: {}, the other {}; give the reader a start \
         (and an extent) that all of them cover, or narrow the filter to one grid (by initial timestamp and length) or to other series",
        steps(its),
        steps(grid).trim_start_matches("it "),
    ))
}

fn several_vectors(columns: &[ColumnInfo], vectors: &[Arc<[UnixMillis]>]) -> Error {
    let other = columns.iter().find(|column| column.lane() == 1).expect("each lane has the column it was made for");
    Error::invalid(format!(
        "a reader walks one list of instants, but the {} series have {} different ones: {} has {}, {other} has {}; narrow \
         the filter to series of one list, and build a reader for each",
        columns.len(),
        vectors.len(),
        columns[0],
        instants(&vectors[0]),
        instants(&vectors[1]),
    ))
}

fn instants(vector: &[UnixMillis]) -> String {
    match vector {
        [] => "none".into(),
        [only] => format!("the one {only}"),
        [first, .., last] => format!("{} from {first} to {last}", vector.len()),
    }
}

#[cfg(test)]
pub(super) mod tests;
