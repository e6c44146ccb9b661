//! A regular grid of instants: a start, a period and a number of steps, and which step an instant belongs to.

use super::{Period, UnixMillis};
use crate::{Error, Result};

/// `len` instants from `start` on, `period` apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    start: UnixMillis,
    period: Period,
    len: usize,
}

impl Grid {
    /// The grid of these parts.
    ///
    /// # Errors
    /// `InvalidParameter` when the period is not positive or the end of the grid is out of range.
    pub fn new(start: UnixMillis, period: Period, len: usize) -> Result<Self> {
        if !period.is_positive() {
            return Err(Error::invalid(format!("a grid cannot step by {period}: a resolution must be positive")));
        }
        let too_long = || Error::invalid(format!("a grid of {len} steps of {period} from {start} is out of range"));
        let steps = i64::try_from(len).map_err(|_| too_long())?;
        period.add(start, steps).map_err(|_| too_long())?;
        Ok(Grid { start, period, len })
    }

    /// The first instant.
    pub fn start(&self) -> UnixMillis {
        self.start
    }

    /// The step.
    pub fn period(&self) -> Period {
        self.period
    }

    /// The number of steps.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no steps.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The instant of step `k`.
    ///
    /// # Errors
    /// `OffGrid` when there is no step `k`.
    pub fn at(&self, k: usize) -> Result<UnixMillis> {
        if k >= self.len {
            return Err(Error::OffGrid(format!("step {k} does not exist: {}", self.describe())));
        }
        Ok(self.step(k))
    }

    /// The instant just past the last step, where the cover of its value ends.
    pub fn end(&self) -> UnixMillis {
        self.step(self.len)
    }

    /// Every instant, in order.
    pub fn instants(&self) -> impl ExactSizeIterator<Item = UnixMillis> + '_ {
        (0..self.len).map(|k| self.step(k))
    }

    /// The step that is exactly `at`.
    ///
    /// # Errors
    /// `OffGrid` before the start, between steps, or past the last step.
    pub fn index_of(&self, at: UnixMillis) -> Result<usize> {
        let k = self.period.floor_steps(self.start, at);
        let off = |why: &str| Err(Error::OffGrid(format!("{at} {why}: {}", self.describe())));
        match usize::try_from(k) {
            Err(_) => off("lies before the first step"),
            Ok(k) if k >= self.len => off("lies past the last step"),
            Ok(k) if self.step(k) == at => Ok(k),
            Ok(k) => off(&format!("lies inside the step that begins at {}", self.step(k))),
        }
    }

    /// The step whose cover `at` lies in: 0 before the start, `len` past the end.
    pub fn floor_index(&self, at: UnixMillis) -> usize {
        self.clamp(self.period.floor_steps(self.start, at))
    }

    /// The first step that does not lie before `at`, or `len`.
    pub fn ceil_index(&self, at: UnixMillis) -> usize {
        let floor = self.floor_index(at);
        if floor < self.len && self.step(floor) < at {
            floor + 1
        } else {
            floor
        }
    }

    /// Whether stepping from the instant of step `offset` gives the same `len` instants as this grid. Calendar grids
    /// that start on a day 29 to 31 are not always closed under this: February 29 plus a month is not March 31.
    pub fn sub_grid_is_anchorable(&self, offset: usize, len: usize) -> bool {
        if matches!(self.period, Period::Fixed(_)) || offset == 0 || len < 2 {
            return true;
        }
        let step = |from: UnixMillis, k: usize| i64::try_from(k).ok().and_then(|k| self.period.add(from, k).ok());
        let Some(anchor) = step(self.start, offset) else { return false };
        if anchor.date().day == self.start.date().day {
            return true;
        }
        (0..len).all(|j| {
            let own = step(anchor, j);
            own.is_some() && own == offset.checked_add(j).and_then(|k| step(self.start, k))
        })
    }

    /// The grid of the steps `offset..offset + len` of this one.
    ///
    /// # Errors
    /// `InvalidParameter` when the steps do not exist or cannot be said by a start and a period.
    pub fn slice(&self, offset: usize, len: usize) -> Result<Grid> {
        if offset.checked_add(len).is_none_or(|end| end > self.len) {
            return Err(Error::invalid(format!("the steps {offset} + {len} do not exist: {}", self.describe())));
        }
        let start = self.step(offset);
        if !self.sub_grid_is_anchorable(offset, len) {
            return Err(Error::invalid(format!(
                "{len} steps from {start} are no grid of their own: stepping {} from there misses month ends of the \
                 grid that starts at {}; begin at a step on day {}, or take one step at a time",
                self.period,
                self.start,
                self.start.date().day
            )));
        }
        Grid::new(start, self.period, len)
    }

    /// `k <= len`, which `new` has checked.
    fn step(&self, k: usize) -> UnixMillis {
        self.period.add(self.start, k as i64).expect("a grid's steps up to its end are in range")
    }

    fn clamp(&self, k: i64) -> usize {
        usize::try_from(k.max(0)).unwrap_or(usize::MAX).min(self.len)
    }

    fn describe(&self) -> String {
        match self.len {
            0 => format!("the grid from {} has no steps", self.start),
            n => format!("the grid has {n} steps of {} from {} to {}", self.period, self.start, self.step(n - 1)),
        }
    }
}

#[cfg(test)]
mod tests;
