//! The one axis of a forecast reader: the instants at which the windows of all its forecasts start.

use crate::series::Windows;
use crate::time::{Grid, Period, UnixMillis};
use crate::{Error, Result};
use std::fmt;

/// Regular starts of windows. The horizon is no part of it: forecasts with windows of different lengths may share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForecastTimeline {
    resolution: Period,
    interval: Period,
    starts: Grid,
}

impl ForecastTimeline {
    /// That of these windows.
    ///
    /// # Errors
    /// `InvalidParameter` when the windows break a rule.
    pub(super) fn of(windows: &Windows) -> Result<Self> {
        Ok(ForecastTimeline { resolution: windows.resolution, interval: windows.interval, starts: windows.starts()? })
    }

    /// The start of the first window.
    pub fn initial(&self) -> UnixMillis {
        self.starts.start()
    }

    /// From step to step within a window.
    pub fn resolution(&self) -> Period {
        self.resolution
    }

    /// From the start of a window to that of the next; zero where there is one window at most.
    pub fn interval(&self) -> Period {
        self.interval
    }

    /// The number of windows.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// The start of every window, in order.
    pub fn instants(&self) -> impl ExactSizeIterator<Item = UnixMillis> + '_ {
        self.starts.instants()
    }

    /// The start of window `k`.
    ///
    /// # Errors
    /// `OffGrid` when there is no window `k`.
    pub fn at(&self, k: usize) -> Result<UnixMillis> {
        self.starts.at(k).map_err(|_| Error::OffGrid(format!("window {k} does not exist: there are {self}")))
    }

    /// The window that starts exactly at `at`.
    ///
    /// # Errors
    /// `OffGrid` when none does.
    pub fn index_of(&self, at: UnixMillis) -> Result<usize> {
        self.starts.index_of(at).map_err(|_| Error::OffGrid(format!("no window starts at {at}: there are {self}")))
    }
}

impl fmt::Display for ForecastTimeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, initial, interval) = (self.count(), self.initial(), self.interval);
        write!(f, "{count} windows with the interval {interval} from {initial}")
    }
}
