//! The span that a caller names for a cohort of regular series: where each of them stands when it begins, and whether
//! each covers it. A series is never dropped, cut or shifted to make it fit.

use super::column::ColumnInfo;
use super::options::Window;
use crate::series::SeriesInfo;
use crate::time::Grid;
use crate::{Error, Result};
use std::collections::HashSet;

impl Window {
    /// How many steps of the series come before the window. It may be more than the series has.
    ///
    /// # Errors
    /// `InvalidParameter` when the window does not start at a step of its grid, or starts with an instant where the series
    /// has faces of a clock, or the other way round; names the series.
    pub(super) fn offset(&self, series: &SeriesInfo) -> Result<usize> {
        self.start.check(series)?;
        let (grid, at) = (series.grid()?, self.start.digits());
        let k = grid.period().floor_steps(grid.start(), at);
        let meets = k >= 0 && grid.period().add(grid.start(), k).is_ok_and(|step| step == at);
        usize::try_from(k).ok().filter(|_| meets).ok_or_else(|| {
            Error::invalid(format!(
                "the window starts at {at}, which is no step of {series}: {}; start at a step that all series have, or \
                 leave this one out of the filter",
                steps(&grid)
            ))
        })
    }

    /// The grid of the window. `offsets` belong to the columns' lanes; there is at least one column.
    ///
    /// # Errors
    /// `InvalidParameter`, naming the series, for a window without steps, for steps that are no grid of their own, and
    /// when a series does not cover it.
    pub(super) fn grid(&self, columns: &[ColumnInfo], offsets: &[usize]) -> Result<Grid> {
        let reach = |column: &ColumnInfo| Ok(column.grid()?.len().saturating_sub(offsets[column.lane()]));
        let (mut shortest, mut least) = (&columns[0], reach(&columns[0])?);
        for column in columns {
            let steps = reach(column)?;
            if steps < least {
                (shortest, least) = (column, steps);
            }
        }
        let len = match self.extent {
            Some(extent) => usize::try_from(extent).unwrap_or(usize::MAX),
            None => least,
        };
        let start = self.start.digits();
        if len == 0 {
            return Err(Error::invalid(match self.extent {
                Some(_) => "a window of 0 steps is empty: ask for at least one".into(),
                None => format!(
                    "the window from {start} is empty: {shortest} ended before, {}; start earlier, or leave it out of the \
                     filter",
                    steps(&shortest.grid()?)
                ),
            }));
        }
        let period = columns[0].grid()?.period();
        let mut seen = HashSet::new();
        for column in columns {
            let (grid, offset) = (column.grid()?, offsets[column.lane()]);
            if seen.insert((grid.start(), offset)) && !grid.sub_grid_is_anchorable(offset, len) {
                return Err(Error::invalid(format!(
                    "{len} steps of {period} from {start} are not those of {column}, which misses month ends counted \
                     from there: {}; start at a step on day {}, or take one step at a time",
                    steps(&grid),
                    grid.start().date().day
                )));
            }
        }
        for column in columns {
            let grid = column.grid()?;
            if offsets[column.lane()].checked_add(len).is_none_or(|end| end > grid.len()) {
                return Err(Error::invalid(format!(
                    "{column} does not cover {len} steps from {start}: {}; ask for at most {least} steps, or leave it \
                     out of the filter",
                    steps(&grid)
                )));
            }
        }
        Grid::new(start, period, len)
    }
}

/// A grid for an error text.
pub(super) fn steps(grid: &Grid) -> String {
    format!("it has {} steps of {} from {}", grid.len(), grid.period(), grid.start())
}

#[cfg(test)]
mod tests;
