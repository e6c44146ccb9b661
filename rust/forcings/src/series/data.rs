//! What a new series holds: its time axis and its values, by type.

use super::{SeriesType, Windows};
use crate::array::ArrayView;
use crate::time::{Period, UnixMillis};

/// The time axis and the values, by type.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum SeriesData<'a> {
    /// A `SingleTimeSeries`: step `k` covers the time from `initial` plus `k` resolutions to the next step.
    Single {
        /// The first instant.
        initial: UnixMillis,
        /// The step.
        resolution: Period,
        /// Values of shape `[steps, *element_shape]`.
        values: ArrayView<'a>,
    },
    /// A `NonSequentialTimeSeries`: a value at each listed instant, and none between them.
    NonSequential {
        /// The instants, strictly ascending.
        timestamps: Vec<UnixMillis>,
        /// Values of shape `[instants, *element_shape]`.
        values: ArrayView<'a>,
    },
    /// A `PersistentTimeSeries`: each value holds from its breakpoint to the next, the last one without end.
    Persistent {
        /// The breakpoints, strictly ascending.
        timestamps: Vec<UnixMillis>,
        /// Values of shape `[breakpoints, *element_shape]`.
        values: ArrayView<'a>,
    },
    /// A `Deterministic` forecast: one future per window.
    Deterministic {
        /// The windows.
        windows: Windows,
        /// Values of shape `[steps, windows, *element_shape]`.
        values: ArrayView<'a>,
    },
    /// A `Probabilistic` forecast: a value per percentile.
    Probabilistic {
        /// The windows.
        windows: Windows,
        /// The percentiles, strictly ascending and finite.
        percentiles: Vec<f64>,
        /// Values of shape `[percentiles, steps, windows, *element_shape]`.
        values: ArrayView<'a>,
    },
    /// A forecast of `Scenarios`: equally likely futures.
    Scenarios {
        /// The windows.
        windows: Windows,
        /// Values of shape `[scenarios, steps, windows, *element_shape]`.
        values: ArrayView<'a>,
    },
}

impl<'a> SeriesData<'a> {
    /// The type.
    pub fn series_type(&self) -> SeriesType {
        match self {
            SeriesData::Single { .. } => SeriesType::SingleTimeSeries,
            SeriesData::NonSequential { .. } => SeriesType::NonSequentialTimeSeries,
            SeriesData::Persistent { .. } => SeriesType::PersistentTimeSeries,
            SeriesData::Deterministic { .. } => SeriesType::Deterministic,
            SeriesData::Probabilistic { .. } => SeriesType::Probabilistic,
            SeriesData::Scenarios { .. } => SeriesType::Scenarios,
        }
    }

    /// The values.
    pub fn values(&self) -> &ArrayView<'a> {
        match self {
            SeriesData::Single { values, .. }
            | SeriesData::NonSequential { values, .. }
            | SeriesData::Persistent { values, .. }
            | SeriesData::Deterministic { values, .. }
            | SeriesData::Probabilistic { values, .. }
            | SeriesData::Scenarios { values, .. } => values,
        }
    }

    /// The first instant, where the type has a regular axis.
    pub fn initial(&self) -> Option<UnixMillis> {
        match self {
            SeriesData::Single { initial, .. } => Some(*initial),
            _ => self.windows().map(|windows| windows.initial),
        }
    }

    /// The step of the time axis, if the type has one.
    pub fn resolution(&self) -> Option<Period> {
        match self {
            SeriesData::Single { resolution, .. } => Some(*resolution),
            _ => self.windows().map(|windows| windows.resolution),
        }
    }

    /// The instants of an irregular series.
    pub fn timestamps(&self) -> Option<&[UnixMillis]> {
        match self {
            SeriesData::NonSequential { timestamps, .. } | SeriesData::Persistent { timestamps, .. } => {
                Some(timestamps)
            }
            _ => None,
        }
    }

    /// The windows of a forecast.
    pub fn windows(&self) -> Option<&Windows> {
        match self {
            SeriesData::Deterministic { windows, .. }
            | SeriesData::Probabilistic { windows, .. }
            | SeriesData::Scenarios { windows, .. } => Some(windows),
            _ => None,
        }
    }

    /// The percentiles of a probabilistic forecast.
    pub fn percentiles(&self) -> Option<&[f64]> {
        match self {
            SeriesData::Probabilistic { percentiles, .. } => Some(percentiles),
            _ => None,
        }
    }
}
