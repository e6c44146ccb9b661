//! The provider over a reader of a store.

use super::cadence::tick_at;
use super::checks::already_selected;
use super::forecast_source::ForecastSource;
use super::series_source::SeriesSource;
use super::Sampler;
use crate::dataset::{reuse, Dataset, Selection};
use crate::readers::{ForecastReader, StaticReader};
use crate::time::cf::Calendar;
use crate::time::UnixMillis;
use crate::Result;
use parking_lot::Mutex;
use std::sync::Arc;

/// The series of a reader as data at a time, so that a prefetch group takes them beside files.
///
/// The refresh times are the instants of the reader's timeline, as Unix seconds; for forecasts, the starts of the windows.
/// A sample has one variable for each group of series of one element type and shape, in the order of
/// [`StaticReader::groups`]; for forecasts, of one element type and shape of the window, likewise ordered:
///
/// - `values`, with the dimensions `column`, then `element1`, … of the elements; for forecasts `column`, then `percentile` or
///   `scenario` where the type has them, `step`, and the elements. Its attributes are what all its series have in common:
///   `series_type`, `resolution`, `units`, and each feature as `feature_KEY`;
/// - over `column`, in the reader's order, the coordinates `id`, `owner_id`, `owner` and `name`;
/// - for forecasts, over `step` the seconds since the start of the window, and over `percentile` the percentiles if they are
///   the same in all.
///
/// Where there are several variables, each of these names ends in the element type and the extents, as in
/// `values_float64_2x3` and `column_float64_2x3`.
///
/// It shares the reader's plan and its store, and none of its buffers: sampling changes nothing and may be done from many
/// threads at once. The reader may go; like it, this keeps the store's shared state alive, but not open. A clone shares
/// everything.
#[derive(Clone)]
pub struct ReaderProvider(Arc<Inner>);

struct Inner {
    base: Arc<Base>,
    /// The window that is bound.
    window: Option<Selection>,
    buffer: Mutex<Option<(usize, Arc<Dataset>)>>,
}

/// What windowed copies share.
struct Base {
    /// Unix seconds.
    ticks: Vec<f64>,
    source: Box<dyn Source>,
}

/// A reader whose samples are numbered.
pub(super) trait Source: Send + Sync {
    /// When each sample begins to be in force, in order.
    fn instants(&self) -> Vec<UnixMillis>;

    /// A sample.
    ///
    /// # Errors
    /// Those of the reader's read.
    fn sample(&self, tick: usize) -> Result<Dataset>;

    /// Chunks that were inflated so far.
    fn chunks_inflated(&self) -> u64;
}

impl ReaderProvider {
    /// The values of static series.
    ///
    /// # Errors
    /// `NotFound` when the reader's filter matched nothing, or an array is gone; `Closed`; those of the file.
    pub fn of_series(reader: &StaticReader) -> Result<Self> {
        Ok(ReaderProvider::new(Base::of(Box::new(SeriesSource::new(reader)?)), None))
    }

    /// The windows of forecasts.
    ///
    /// # Errors
    /// As [`ReaderProvider::of_series`].
    pub fn of_forecasts(reader: &ForecastReader) -> Result<Self> {
        Ok(ReaderProvider::new(Base::of(Box::new(ForecastSource::new(reader)?)), None))
    }

    fn new(base: Arc<Base>, window: Option<Selection>) -> Self {
        ReaderProvider(Arc::new(Inner { base, window, buffer: Mutex::new(None) }))
    }

    /// The times at which the data change, ascending, in Unix seconds; at least one.
    pub fn refresh_times(&self) -> &[f64] {
        &self.0.base.ticks
    }

    /// The refresh time whose data are in force at `t`: `t` itself, or the last one before. Behind the last one, that.
    ///
    /// # Errors
    /// `OffGrid` before the first refresh time, `InvalidParameter` for NaN.
    pub fn anchor(&self, t: f64) -> Result<f64> {
        let ticks = self.refresh_times();
        Ok(ticks[tick_at(ticks, t)?])
    }

    /// The data in force at `t`.
    ///
    /// # Errors
    /// Those of [`anchor`](ReaderProvider::anchor) and of the reader's read: `OffGrid` where a step function has no value
    /// yet, `NotFound` when a series was removed, `Closed` after the store was closed, and what is wrong with the file.
    /// `Selection` for a bound window that does not fit.
    pub fn sample_at(&self, t: f64) -> Result<Dataset> {
        self.sample(tick_at(self.refresh_times(), t)?)
    }

    /// The data in force at `t`, which are kept until another time is asked for.
    ///
    /// # Errors
    /// As [`sample_at`](ReaderProvider::sample_at); what was kept before stays.
    pub fn refresh(&self, t: f64) -> Result<Arc<Dataset>> {
        let tick = tick_at(self.refresh_times(), t)?;
        if let Some((_, kept)) = self.0.buffer.lock().as_ref().filter(|(of, _)| *of == tick) {
            return Ok(kept.clone());
        }
        let data = Arc::new(self.sample(tick)?);
        *self.0.buffer.lock() = Some((tick, data.clone()));
        Ok(data)
    }

    /// What the last successful [`refresh`](ReaderProvider::refresh) gave.
    pub fn current(&self) -> Option<Arc<Dataset>> {
        self.0.buffer.lock().as_ref().map(|(_, data)| data.clone())
    }

    /// The data in force at `t` under `select`, everything or a window, instead of the window that is bound; nothing is
    /// kept.
    ///
    /// # Errors
    /// As [`sample_at`](ReaderProvider::sample_at), and `Selection` for a selection that does not fit.
    pub fn peek(&self, t: f64, select: &Selection) -> Result<Dataset> {
        if *select != Selection::All {
            select.named()?;
        }
        let whole = self.0.base.source.sample(tick_at(self.refresh_times(), t)?)?;
        match select {
            Selection::All => Ok(whole),
            window => whole.cut(window),
        }
    }

    /// A provider of the same series whose samples are cut to `window`. All columns are read: a chunk has many of them.
    ///
    /// # Errors
    /// `Selection`, before any read: this provider has a window already, or `window` is not in the named form.
    pub fn with_window(&self, window: impl Into<Selection>) -> Result<ReaderProvider> {
        let window = window.into();
        self.check_windows(std::slice::from_ref(&window))?;
        Ok(ReaderProvider::new(self.0.base.clone(), Some(window)))
    }

    /// The chunks that were inflated so far, for this provider and those it shares its series with.
    pub fn chunks_inflated(&self) -> u64 {
        self.0.base.source.chunks_inflated()
    }

    fn sample(&self, tick: usize) -> Result<Dataset> {
        let whole = self.0.base.source.sample(tick)?;
        match &self.0.window {
            Some(window) => whole.cut(window),
            None => Ok(whole),
        }
    }
}

impl Base {
    fn of(source: Box<dyn Source>) -> Arc<Self> {
        reuse::enter();
        let ticks = source.instants().into_iter().map(|at| at.0 as f64 / 1000.0).collect();
        Arc::new(Base { ticks, source })
    }
}

impl Drop for Base {
    fn drop(&mut self) {
        reuse::leave();
    }
}

impl Sampler for ReaderProvider {
    fn refresh_times(&self) -> &[f64] {
        ReaderProvider::refresh_times(self)
    }

    fn anchor(&self, t: f64) -> Result<f64> {
        ReaderProvider::anchor(self, t)
    }

    fn sample_at(&self, t: f64) -> Result<Dataset> {
        ReaderProvider::sample_at(self, t)
    }

    fn calendar(&self) -> Option<&str> {
        Some(Calendar::Standard.name())
    }

    fn check_windows(&self, windows: &[Selection]) -> Result<()> {
        windows.iter().try_for_each(|window| match self.0.window {
            Some(_) => Err(already_selected()),
            None => window.named().map(|_| ()),
        })
    }
}

impl std::fmt::Debug for ReaderProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReaderProvider")
            .field("times", &self.refresh_times().len())
            .field("window", &self.0.window)
            .finish_non_exhaustive()
    }
}
