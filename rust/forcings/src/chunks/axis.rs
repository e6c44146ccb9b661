//! What is read along one axis, and how that splits into runs of evenly spaced elements within single blocks.

use crate::{Error, Result};
use std::ops::Range;

/// The positions that are read along one axis, 0-based.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AxisRead {
    /// Every position.
    All,
    /// `start`, `start + step`, .. before `stop`.
    Slice {
        /// The first position.
        start: u64,
        /// The end, which is not read; `start <= stop <= extent`.
        stop: u64,
        /// At least 1.
        step: u64,
    },
    /// These positions, in this order; repeats are read again.
    Indices(Vec<u64>),
}

impl AxisRead {
    /// The number of positions that are read of an axis of `extent`.
    ///
    /// # Errors
    /// `Selection` when a position lies outside or a step is zero; `what` and `axis` name the place.
    pub fn count(&self, extent: u64, what: &str, axis: usize) -> Result<u64> {
        let refuse = |detail: String| {
            Err(Error::Selection(format!("axis {axis} of {what} has {extent} positions (counted from 0): {detail}")))
        };
        match self {
            AxisRead::All => Ok(extent),
            AxisRead::Slice { step: 0, .. } => refuse("a slice with step 0 selects nothing".into()),
            AxisRead::Slice { start, stop, step } if start <= stop && *stop <= extent => {
                Ok((stop - start).div_ceil(*step))
            }
            AxisRead::Slice { start, stop, .. } => refuse(format!("the slice {start}..{stop} does not fit")),
            AxisRead::Indices(list) => match list.iter().find(|&&i| i >= extent) {
                Some(i) => refuse(format!("there is no position {i}")),
                None => Ok(list.len() as u64),
            },
        }
    }

    /// Whether every position is read once, in order.
    pub(super) fn is_full(&self, extent: u64) -> bool {
        match *self {
            AxisRead::All => true,
            AxisRead::Slice { start, stop, step } => start == 0 && stop == extent && step == 1,
            AxisRead::Indices(_) => false,
        }
    }
}

/// Evenly spaced elements of one block that lie next to each other in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// The first position along the output's axis.
    pub out: usize,
    /// The first position within the block.
    pub src: u64,
    /// The number of elements.
    pub len: usize,
    /// From one element to the next, in positions of the block; 1 for a single element.
    pub stride: i64,
}

impl Run {
    /// The lowest and the highest position within the block.
    pub(super) fn bounds(&self) -> (u64, u64) {
        let end = self.src.wrapping_add_signed(self.stride * (self.len as i64 - 1));
        (self.src.min(end), self.src.max(end))
    }
}

/// The runs that lie in the blocks of one coordinate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Touched {
    /// The coordinate along this axis of the grid of blocks.
    pub coord: u64,
    /// Its part of [`AxisPlan::runs`].
    pub runs: Range<usize>,
    /// The lowest and the highest position within the block.
    pub bounds: (u64, u64),
    /// The number of elements.
    pub count: usize,
}

/// The reads along one axis, by block. Each output position belongs to exactly one run.
#[derive(Debug)]
pub(super) struct AxisPlan {
    pub touched: Vec<Touched>,
    pub runs: Vec<Run>,
}

impl AxisPlan {
    /// Splits `read`, checked by [`AxisRead::count`], over blocks of `extent` elements. A position stands for `unit`
    /// elements that lie next to each other (the axes behind this one, when they are read whole), out of
    /// `positions * unit` of this axis. Positions beyond them belong to no run.
    pub(super) fn new(read: &AxisRead, positions: u64, unit: u64, extent: u64) -> Self {
        let mut split = Split { extent, runs: Vec::new() };
        match read {
            AxisRead::All => split.push_range(0, 0, positions * unit),
            AxisRead::Slice { start, stop, step: 1 } => {
                split.push_range(0, start * unit, (*stop).min(positions).saturating_sub(*start) * unit);
            }
            AxisRead::Slice { start, stop, step } => {
                let stop = (*stop).min(positions);
                let picks = (0..stop.saturating_sub(*start).div_ceil(*step)).map(|k| start + k * step);
                split.push_picks(picks, positions, unit);
            }
            AxisRead::Indices(list) => split.push_picks(list.iter().copied(), positions, unit),
        }
        let mut runs = split.runs;
        runs.sort_by_key(|(coord, _)| *coord);
        let mut touched: Vec<Touched> = Vec::new();
        for (i, (coord, run)) in runs.iter().enumerate() {
            let (low, high) = run.bounds();
            match touched.last_mut().filter(|t| t.coord == *coord) {
                Some(t) => {
                    t.runs.end = i + 1;
                    t.bounds = (t.bounds.0.min(low), t.bounds.1.max(high));
                    t.count += run.len;
                }
                None => touched.push(Touched { coord: *coord, runs: i..i + 1, bounds: (low, high), count: run.len }),
            }
        }
        AxisPlan { touched, runs: runs.into_iter().map(|(_, run)| run).collect() }
    }
}

/// Collects runs with the coordinates of their blocks.
struct Split {
    extent: u64,
    runs: Vec<(u64, Run)>,
}

impl Split {
    fn push_picks(&mut self, picks: impl Iterator<Item = u64>, positions: u64, unit: u64) {
        for (k, pick) in picks.enumerate().filter(|(_, pick)| *pick < positions) {
            self.push_range(k * unit as usize, pick * unit, unit);
        }
    }

    /// Adds `len` elements from `src` on, cut at the borders of blocks.
    fn push_range(&mut self, mut out: usize, mut src: u64, mut len: u64) {
        while len > 0 {
            let (coord, within) = (src / self.extent, src % self.extent);
            let piece = len.min(self.extent - within);
            self.push(coord, Run { out, src: within, len: piece as usize, stride: 1 });
            out += piece as usize;
            src += piece;
            len -= piece;
        }
    }

    /// Adds a run of stride 1, as a part of the last run where it continues that.
    fn push(&mut self, coord: u64, run: Run) {
        if let Some((_, last)) = self.runs.last_mut().filter(|(c, last)| *c == coord && last.out + last.len == run.out)
        {
            let step = run.src as i64 - last.src.wrapping_add_signed(last.stride * (last.len as i64 - 1)) as i64;
            if last.len == 1 && run.len == 1 {
                last.stride = step;
            }
            if step == last.stride && (run.len == 1 || step == 1) {
                last.len += run.len;
                return;
            }
        }
        self.runs.push((coord, run));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(out: usize, src: u64, len: usize, stride: i64) -> Run {
        Run { out, src, len, stride }
    }

    #[test]
    fn a_whole_axis_is_one_run_for_each_block() {
        let plan = AxisPlan::new(&AxisRead::All, 10, 1, 4);
        assert_eq!(plan.runs, [run(0, 0, 4, 1), run(4, 0, 4, 1), run(8, 0, 2, 1)]);
        assert_eq!(plan.touched.iter().map(|t| t.coord).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn a_stepped_slice_touches_only_the_blocks_it_meets() {
        let plan = AxisPlan::new(&AxisRead::Slice { start: 1, stop: 10, step: 5 }, 10, 1, 2);
        assert_eq!(plan.runs, [run(0, 1, 1, 1), run(1, 0, 1, 1)]);
        assert_eq!(plan.touched.iter().map(|t| t.coord).collect::<Vec<_>>(), [0, 3]);
    }

    #[test]
    fn an_index_list_is_grouped_by_block_and_packed_into_runs() {
        let list = AxisRead::Indices(vec![7, 6, 5, 0, 2, 3, 4, 4, 4]);
        let plan = AxisPlan::new(&list, 8, 1, 4);
        assert_eq!(plan.runs, [run(3, 0, 2, 2), run(5, 3, 1, 1), run(0, 3, 3, -1), run(6, 0, 3, 0)]);
        assert_eq!(plan.touched[0].bounds, (0, 3));
        assert_eq!(plan.touched[1].count, 6);
    }

    #[test]
    fn positions_of_several_elements_join_where_they_meet() {
        let plan = AxisPlan::new(&AxisRead::Indices(vec![1, 2, 0]), 3, 5, 100);
        assert_eq!(plan.runs, [run(0, 5, 10, 1), run(10, 0, 5, 1)]);
    }

    #[test]
    fn positions_beyond_what_is_written_belong_to_no_run() {
        let slice = |start, step| AxisRead::Slice { start, stop: 9, step };
        for (read, runs) in [
            (slice(3, 1), vec![run(0, 6, 4, 1)]),
            (slice(2, 2), vec![run(0, 4, 2, 1), run(2, 8, 2, 1)]),
            (slice(7, 1), vec![]),
            (slice(6, 3), vec![]),
            (AxisRead::Indices(vec![8, 4, 5, 0]), vec![run(2, 8, 2, 1), run(6, 0, 2, 1)]),
            (AxisRead::All, vec![run(0, 0, 10, 1)]),
        ] {
            assert_eq!(AxisPlan::new(&read, 5, 2, 100).runs, runs, "{read:?}");
        }
    }

    #[test]
    fn positions_outside_are_refused_by_name() {
        let text = AxisRead::Indices(vec![0, 9]).count(9, "variable \"u\"", 2).unwrap_err().to_string();
        assert_eq!(text, "axis 2 of variable \"u\" has 9 positions (counted from 0): there is no position 9");
        for read in [
            AxisRead::Slice { start: 3, stop: 2, step: 1 },
            AxisRead::Slice { start: 0, stop: 10, step: 1 },
            AxisRead::Slice { start: 0, stop: 9, step: 0 },
        ] {
            assert_eq!(read.count(9, "x", 0).unwrap_err().kind(), crate::ErrorKind::Selection);
        }
    }
}
