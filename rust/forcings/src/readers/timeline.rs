//! The axis of a reader, and which row of its array each column has at an instant of that axis. Columns that always
//! read the same row share a lane.

use crate::time::{Grid, Period, UnixMillis};
use crate::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// An axis with its lanes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Timeline {
    /// No series was selected.
    Nothing,
    /// A grid; lane `k` is `offsets[k]` rows ahead of it.
    Steps { grid: Grid, offsets: Vec<usize> },
    /// Listed instants, one lane.
    Instants(Arc<[UnixMillis]>),
    /// The union of the breakpoints of all lanes, ascending. A lane has the row of its last breakpoint.
    Breakpoints { union: Vec<UnixMillis>, lanes: Vec<Arc<[UnixMillis]>> },
}

/// Why there is no row to read.
#[derive(Debug)]
pub(super) enum Missed {
    /// The axis does not have the instant.
    Off(Error),
    /// A lane has no value yet.
    Before {
        /// Its number.
        lane: usize,
        /// Its first breakpoint; `None` if it has none at all.
        first: Option<UnixMillis>,
    },
}

impl Timeline {
    /// The number of instants.
    pub(super) fn len(&self) -> usize {
        match self {
            Timeline::Nothing => 0,
            Timeline::Steps { grid, .. } => grid.len(),
            Timeline::Instants(instants) => instants.len(),
            Timeline::Breakpoints { union, .. } => union.len(),
        }
    }

    /// The number of lanes.
    pub(super) fn lanes(&self) -> usize {
        match self {
            Timeline::Nothing => 0,
            Timeline::Steps { offsets, .. } => offsets.len(),
            Timeline::Instants(_) => 1,
            Timeline::Breakpoints { lanes, .. } => lanes.len(),
        }
    }

    /// The grid of regular series.
    pub(super) fn grid(&self) -> Option<&Grid> {
        match self {
            Timeline::Steps { grid, .. } => Some(grid),
            _ => None,
        }
    }

    /// The step of regular series.
    pub(super) fn resolution(&self) -> Option<Period> {
        self.grid().map(Grid::period)
    }

    /// Every instant, in order.
    pub(super) fn instants(&self) -> Vec<UnixMillis> {
        match self {
            Timeline::Steps { grid, .. } => grid.instants().collect(),
            _ => self.listed().to_vec(),
        }
    }

    /// The instant at position `i`.
    ///
    /// # Errors
    /// `OffGrid` when there is none.
    pub(super) fn at(&self, i: usize) -> Result<UnixMillis> {
        if let Timeline::Steps { grid, .. } = self {
            return grid.at(i);
        }
        let missing = || Error::OffGrid(format!("position {i} does not exist: {}", self.describe()));
        self.listed().get(i).copied().ok_or_else(missing)
    }

    /// The position of `at`; of breakpoints, of the last one that does not lie after it.
    ///
    /// # Errors
    /// `OffGrid` when there is none.
    pub(super) fn index_of(&self, at: UnixMillis) -> Result<usize> {
        let off = |why: &str| Error::OffGrid(format!("{at} {why}: {}", self.describe()));
        match self {
            Timeline::Nothing => Err(off("is not on it")),
            Timeline::Steps { grid, .. } => grid.index_of(at),
            Timeline::Instants(instants) => instants.binary_search(&at).map_err(|_| off("is none of its instants")),
            Timeline::Breakpoints { union, .. } => in_force(union, at).ok_or_else(|| off("lies before the first")),
        }
    }

    /// The row of every lane at `at`. Breakpoints are in force at any later instant; the others have what they list.
    pub(super) fn rows_at(&self, at: UnixMillis, rows: &mut [usize]) -> std::result::Result<(), Missed> {
        if let Timeline::Breakpoints { lanes, .. } = self {
            for (lane, (row, breakpoints)) in rows.iter_mut().zip(lanes).enumerate() {
                let first = breakpoints.first().copied();
                *row = in_force(breakpoints, at).ok_or(Missed::Before { lane, first })?;
            }
            return Ok(());
        }
        let i = self.index_of(at).map_err(Missed::Off)?;
        match self {
            Timeline::Steps { offsets, .. } => rows.iter_mut().zip(offsets).for_each(|(row, offset)| *row = i + offset),
            _ => rows.fill(i),
        }
        Ok(())
    }

    /// The rows that a lane can be asked for.
    pub(super) fn rows_of(&self, lane: usize) -> Range<u64> {
        let (start, len) = match self {
            Timeline::Nothing => (0, 0),
            Timeline::Steps { grid, offsets } => (offsets[lane], grid.len()),
            Timeline::Instants(instants) => (0, instants.len()),
            Timeline::Breakpoints { lanes, .. } => (0, lanes[lane].len()),
        };
        start as u64..(start + len) as u64
    }

    fn listed(&self) -> &[UnixMillis] {
        match self {
            Timeline::Nothing | Timeline::Steps { .. } => &[],
            Timeline::Instants(instants) => instants,
            Timeline::Breakpoints { union, .. } => union,
        }
    }

    fn describe(&self) -> String {
        match self.listed() {
            [] => "the timeline has no instants".into(),
            [only] => format!("the timeline has one instant, {only}"),
            [first, .., last] => {
                format!("the timeline has {} instants from {first} to {last}", self.listed().len())
            }
        }
    }
}

/// The position of the last breakpoint that does not lie after `at`.
fn in_force(breakpoints: &[UnixMillis], at: UnixMillis) -> Option<usize> {
    breakpoints.partition_point(|b| *b <= at).checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use proptest::prelude::*;

    fn ms(values: &[i64]) -> Arc<[UnixMillis]> {
        values.iter().map(|v| UnixMillis(*v)).collect()
    }

    fn rows(timeline: &Timeline, at: i64) -> std::result::Result<Vec<usize>, Missed> {
        let mut rows = vec![usize::MAX; timeline.lanes()];
        timeline.rows_at(UnixMillis(at), &mut rows).map(|()| rows)
    }

    #[test]
    fn lanes_of_a_grid_are_ahead_of_it() {
        let grid = Grid::new(UnixMillis(100), Period::Fixed(10), 3).unwrap();
        let timeline = Timeline::Steps { grid, offsets: vec![2, 0, 7] };
        assert_eq!((timeline.len(), timeline.lanes(), timeline.resolution()), (3, 3, Some(Period::Fixed(10))));
        assert_eq!(rows(&timeline, 110).unwrap(), [3, 1, 8]);
        for off in [90, 105, 130] {
            assert!(matches!(rows(&timeline, off), Err(Missed::Off(e)) if e.kind() == ErrorKind::OffGrid));
        }
    }

    #[test]
    fn listed_instants_are_met_exactly() {
        let timeline = Timeline::Instants(ms(&[1, 4, 9]));
        assert_eq!((timeline.len(), timeline.lanes(), timeline.resolution()), (3, 1, None));
        for (i, at) in [1, 4, 9].into_iter().enumerate() {
            assert_eq!(rows(&timeline, at).unwrap(), [i]);
            assert_eq!((timeline.at(i).unwrap(), timeline.index_of(UnixMillis(at)).unwrap()), (UnixMillis(at), i));
        }
        for off in [0, 2, 10] {
            assert!(matches!(rows(&timeline, off), Err(Missed::Off(e)) if e.kind() == ErrorKind::OffGrid));
        }
        assert_eq!(timeline.at(3).unwrap_err().kind(), ErrorKind::OffGrid);
    }

    #[test]
    fn breakpoints_carry_forward_in_every_lane() {
        let lanes = vec![ms(&[1, 4, 7, 10]), ms(&[1, 6])];
        let timeline = Timeline::Breakpoints { union: ms(&[1, 4, 6, 7, 10]).to_vec(), lanes };
        for (at, expected) in [(1, [0, 0]), (3, [0, 0]), (4, [1, 0]), (6, [1, 1]), (7, [2, 1]), (1000, [3, 1])] {
            assert_eq!(rows(&timeline, at).unwrap(), expected, "{at}");
        }
        assert_eq!(timeline.index_of(UnixMillis(5)).unwrap(), 1);
        assert_eq!(timeline.index_of(UnixMillis(99)).unwrap(), 4);
        assert_eq!(timeline.index_of(UnixMillis(0)).unwrap_err().kind(), ErrorKind::OffGrid);
        let timeline = Timeline::Breakpoints { union: ms(&[1, 9]).to_vec(), lanes: vec![ms(&[1]), ms(&[9]), ms(&[])] };
        assert!(matches!(rows(&timeline, 8), Err(Missed::Before { lane: 1, first: Some(UnixMillis(9)) })));
        assert!(matches!(rows(&timeline, 9), Err(Missed::Before { lane: 2, first: None })));
    }

    proptest! {
        #[test]
        fn the_breakpoint_in_force_is_the_last_that_is_not_later(
            values in proptest::collection::btree_set(0i64..50, 0..10), at in -1i64..52,
        ) {
            let list: Vec<i64> = values.into_iter().collect();
            let expected = list.iter().rposition(|v| *v <= at);
            prop_assert_eq!(in_force(&ms(&list), UnixMillis(at)), expected);
        }
    }
}
