//! The time axis of a forecast: windows that start at regular instants, and the steps of each.

use crate::time::{Grid, Period, UnixMillis};
use crate::{Error, Result};
use std::ops::Range;

/// Window `w` starts `w` intervals after `initial`; its step `s` lies `s` resolutions after that. A forecast of one
/// window may have the interval zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    /// The start of the first window.
    pub initial: UnixMillis,
    /// From step to step within a window.
    pub resolution: Period,
    /// The span of one window: a whole number of resolutions.
    pub horizon: Period,
    /// From the start of a window to that of the next; windows may overlap, or leave gaps.
    pub interval: Period,
    /// The number of windows.
    pub count: usize,
}

impl Windows {
    /// The number of steps of one window.
    ///
    /// # Errors
    /// `InvalidParameter` when the horizon is not a whole, positive number of resolutions.
    pub fn steps(&self) -> Result<usize> {
        let steps = self.horizon.exact_steps(self.resolution)?;
        usize::try_from(steps).map_err(|_| Error::invalid(format!("{steps} steps are too many")))
    }

    /// The windows of these periods that fit into a grid, whose every step is one step of theirs.
    ///
    /// # Errors
    /// `InvalidParameter` when the periods are no whole numbers of steps, leave gaps, or are longer than the grid, and
    /// when a window makes no grid of its own.
    pub(crate) fn over(grid: &Grid, horizon: Period, interval: Period) -> Result<Windows> {
        let mut windows = Windows { initial: grid.start(), resolution: grid.period(), horizon, interval, count: 1 };
        let (steps, stride) = (windows.steps()?, windows.stride()?);
        if steps > grid.len() {
            return Err(Error::invalid(format!("a window has {steps} steps, the series only {}", grid.len())));
        }
        if stride > steps {
            return Err(Error::invalid(format!("windows of {horizon} leave gaps at the interval {interval}")));
        }
        match (grid.len() - steps).checked_div(stride) {
            Some(more) => windows.count = more + 1,
            None if steps == grid.len() => {}
            None => {
                return Err(Error::invalid(format!(
                    "with the interval zero the one window must be the whole series: it has {steps} of {} steps",
                    grid.len()
                )))
            }
        }
        match (0..windows.count).find(|w| !grid.sub_grid_is_anchorable(w * stride, steps)) {
            None => Ok(windows),
            Some(w) => Err(Error::invalid(format!(
                "window {w} starts at a shortened month end, {}: stepping {} from there misses the series' own steps",
                grid.at(w * stride)?,
                grid.period()
            ))),
        }
    }

    /// The resolutions from the start of a window to that of the next; 0 for the interval zero.
    ///
    /// # Errors
    /// `InvalidParameter` when the interval is no whole number of resolutions.
    pub(crate) fn stride(&self) -> Result<usize> {
        if self.interval.is_zero() {
            return Ok(0);
        }
        let stride = self.interval.exact_steps(self.resolution)?;
        usize::try_from(stride).map_err(|_| Error::invalid(format!("{stride} steps are too many")))
    }

    /// The start of window `w`.
    ///
    /// # Errors
    /// `OffGrid` when there is no window `w`, `InvalidParameter` when the windows break a rule.
    pub fn start(&self, w: usize) -> Result<UnixMillis> {
        self.starts()?.at(w)
    }

    /// The instants of the steps of window `w`.
    ///
    /// # Errors
    /// As [`Windows::start`].
    pub fn window(&self, w: usize) -> Result<Grid> {
        Grid::new(self.start(w)?, self.resolution, self.steps()?)
    }

    /// The windows that start in `[from, to)`. A bound that is `None`, a start before the first window and an end behind
    /// the last are the forecast's own; a start anywhere else must be exactly that of a window.
    ///
    /// # Errors
    /// `InvalidParameter` for another start, and for windows that make no grid of their own.
    pub(crate) fn select(&self, from: Option<UnixMillis>, to: Option<UnixMillis>) -> Result<Range<usize>> {
        let starts = self.starts()?;
        let first = match from {
            Some(from) if from > self.initial => starts.index_of(from).map_err(|e| match e {
                Error::OffGrid(why) => Error::invalid(format!("no window starts at {from}: {why}")),
                other => other,
            })?,
            _ => 0,
        };
        let end = to.map_or(starts.len(), |to| starts.ceil_index(to)).max(first);
        starts.slice(first, end - first)?;
        Ok(first..end)
    }

    /// The same windows, but only those of `range`, which must exist.
    pub(crate) fn part(&self, range: &Range<usize>) -> Result<Windows> {
        let initial = if range.start == 0 { self.initial } else { self.start(range.start)? };
        Ok(Windows { initial, count: range.len(), ..*self })
    }

    /// Checks the periods, and that every instant has a text.
    ///
    /// # Errors
    /// `InvalidParameter` with the rule that is broken.
    pub(crate) fn validate(&self) -> Result<()> {
        let steps = self.steps()?;
        let starts = self.starts()?;
        let last = starts.at(self.count.saturating_sub(1)).unwrap_or(self.initial);
        for instant in [self.initial, Grid::new(last, self.resolution, steps)?.at(steps - 1)?] {
            if !instant.is_writable() {
                return Err(Error::invalid(format!("{instant} lies outside the years 0 to 9999")));
            }
        }
        Ok(())
    }

    /// The starts of the windows. For the interval zero the grid has a step that means nothing.
    ///
    /// # Errors
    /// `InvalidParameter` when there are several windows at the interval zero, it is negative, or they are out of range.
    pub(crate) fn starts(&self) -> Result<Grid> {
        let interval = match self.interval {
            zero if zero.is_zero() && self.count > 1 => {
                return Err(Error::invalid(format!(
                    "{} windows cannot all start at {}: an interval of zero is for a single window",
                    self.count, self.initial
                )))
            }
            // Where the only window starts, whatever the step is.
            zero if zero.is_zero() => Period::Fixed(1),
            interval if interval.is_positive() => interval,
            interval => return Err(Error::invalid(format!("the interval {interval} is not positive"))),
        };
        Grid::new(self.initial, interval, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    const DAY: i64 = 86_400_000;

    fn daily(interval: Period, count: usize) -> Windows {
        Windows { initial: UnixMillis(0), resolution: Period::hours(1), horizon: Period::hours(24), interval, count }
    }

    #[test]
    fn steps_need_not_divide_the_interval() {
        let windows = daily(Period::Fixed(DAY / 2 + 1), 3);
        windows.validate().unwrap();
        assert_eq!((windows.steps().unwrap(), windows.start(2).unwrap()), (24, UnixMillis(DAY + 2)));
        assert_eq!(windows.window(1).unwrap().at(23).unwrap(), UnixMillis(DAY / 2 + 1 + 23 * 3_600_000));
        assert_eq!(windows.start(3).unwrap_err().kind(), ErrorKind::OffGrid);
        daily(Period::Months(1), 5).validate().unwrap();
        daily(Period::Fixed(100 * DAY), 5).validate().unwrap();
    }

    #[test]
    fn rows_46_76_and_80_periods_that_do_not_fit_are_refused() {
        let day = Period::Fixed(DAY);
        let (fine, hour) = (daily(day, 2), Period::hours(1));
        let bad = [
            Windows { resolution: Period::Months(1), ..fine },
            Windows { horizon: Period::Months(1), ..fine },
            Windows { horizon: Period::Fixed(90 * 60_000), ..fine },
            Windows { horizon: Period::Fixed(0), ..fine },
            Windows { horizon: Period::hours(-24), resolution: Period::hours(-1), ..fine },
            Windows { interval: Period::hours(-1), ..fine },
            Windows { interval: Period::Fixed(0), ..fine },
            Windows { interval: Period::Months(0), ..fine },
            Windows { initial: UnixMillis(UnixMillis::MIN_WRITABLE.0 - 1), ..fine },
            Windows { initial: UnixMillis(UnixMillis::MAX_WRITABLE.0 - DAY), ..fine },
            Windows { count: usize::MAX, ..fine },
        ];
        for windows in bad {
            assert_eq!(windows.validate().unwrap_err().kind(), ErrorKind::InvalidParameter, "{windows:?}");
        }
        for count in [0, 1] {
            for interval in [Period::Fixed(0), Period::Months(0), hour] {
                daily(interval, count).validate().unwrap();
            }
        }
    }

    #[test]
    fn rows_61_to_63_and_80_a_range_starts_with_a_window_and_is_clipped() {
        let windows = daily(Period::Fixed(DAY), 4);
        let at = |t: i64| Some(UnixMillis(t));
        let cases = [
            (None, None, 0..4),
            (at(DAY), at(3 * DAY), 1..3),
            (at(DAY), at(3 * DAY + 1), 1..4),
            (at(DAY), at(DAY), 1..1),
            (at(-9), at(100 * DAY), 0..4),
            (at(-9), at(-3), 0..0),
            (at(3 * DAY), None, 3..4),
            (at(0), Some(UnixMillis::MAX_WRITABLE), 0..4),
        ];
        for (from, to, expected) in cases {
            assert_eq!(windows.select(from, to).unwrap(), expected, "{from:?} {to:?}");
        }
        for from in [1, DAY - 1, 4 * DAY, 400 * DAY] {
            assert_eq!(windows.select(at(from), None).unwrap_err().kind(), ErrorKind::InvalidParameter);
        }
        let single = daily(Period::Fixed(0), 1);
        assert_eq!(single.select(at(0), None).unwrap(), 0..1);
        assert_eq!(single.select(at(0), at(0)).unwrap(), 0..0);
        assert_eq!(single.select(at(1), None).unwrap_err().kind(), ErrorKind::InvalidParameter);
    }

    #[test]
    fn rows_39_and_40_windows_from_a_month_end() {
        let day = |text: &str| UnixMillis::from_rfc3339(&format!("{text}T00:00:00Z")).unwrap();
        let windows = Windows { initial: day("2024-01-31"), ..daily(Period::Months(1), 4) };
        let february = Some(day("2024-02-29"));
        assert_eq!(windows.start(1).unwrap(), day("2024-02-29"));
        assert_eq!(windows.select(february, Some(day("2024-03-01"))).unwrap(), 1..2);
        assert_eq!(windows.select(february, None).unwrap_err().kind(), ErrorKind::InvalidParameter);
        assert_eq!(windows.select(Some(day("2024-03-31")), None).unwrap(), 2..4);
        assert_eq!(windows.part(&(2..4)).unwrap().initial, day("2024-03-31"));
    }
}
