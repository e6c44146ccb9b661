//! The provider over files, local or behind URLs.

use super::cadence::{Cadence, Place};
use super::checks::{already_selected, check_steps, check_time, names_time};
use super::options::ProviderOptions;
use super::pool::{FilePool, Remote};
use super::remote::{assign, name_source};
use super::take::{no_time_dim, Take};
use super::{windows, Sampler};
use crate::dataset::{CoordWindow, Dataset, DecodeOptions, DimWindow, FloatType, Request, Selection};
use crate::time::cf::Calendar;
use crate::{Error, Result};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::Arc;

/// The data of files at a time.
///
/// A sample is the record of the last refresh time at or before `t`, without its time dimension. With two records in a
/// sample it is a bracket: that record and the one of the next refresh time, the time dimension where it stands in the
/// file, with extent 2. Its coordinate holds the two times: Unix seconds in the calendar of the data, as its attributes
/// say, or the given times as they are where the files do not tell what they count. At the last refresh time both
/// records, and both times, are the last ones.
///
/// Sampling changes nothing and may be done from many threads at once; [`refresh`](Provider::refresh) also keeps the last
/// sample. A clone shares everything, that sample included.
#[derive(Clone)]
pub struct Provider(Arc<Inner>);

struct Inner {
    source: Arc<Source>,
    /// The selection that is baked in.
    select: Option<Selection>,
    options: DecodeOptions,
    buffer: Mutex<Option<Buffered>>,
}

/// What a provider shares with its windowed copies.
pub(super) struct Source {
    pub(super) pool: FilePool,
    pub(super) cadence: Cadence,
    pub(super) variables: Vec<String>,
    /// Whether a sample has two records.
    pub(super) bracket: bool,
}

struct Buffered {
    /// The tick that it was decoded for; `None` for constant data.
    tick: Option<usize>,
    data: Arc<Dataset>,
}

// Workers share providers.
const _: () = {
    const fn shared_by_threads<T: Send + Sync>() {}
    shared_by_threads::<Provider>()
};

impl Provider {
    /// Opens the files, finds their times, and checks the variables and the selection against the first file. Files
    /// behind URLs are not looked at: what does not fit them is an error of the first sample.
    ///
    /// # Errors
    /// `InvalidParameter` for options that contradict each other or the files, `NotFound` for a variable or dimension
    /// that is not there, `Selection` for a selection that does not fit, `Io` and `Format` from the files.
    pub fn open(options: ProviderOptions) -> Result<Self> {
        options.check()?;
        if options.is_remote() {
            return Provider::over_urls(options);
        }
        let pool = FilePool::new(options.files.clone(), options.group.clone(), None).of_arrays(options.arrays());
        let cadence = Cadence::of(&pool, &options)?;
        let decode = options.decode_options();
        let ProviderOptions { variables, select, records_per_sample, .. } = options;
        let bracket = records_per_sample == 2;
        if bracket && cadence.time_dim.is_none() {
            return Err(no_time_dim(pool.path(0)));
        }
        check_time(select.as_ref(), cadence.time_dim.as_deref())?;
        let first = pool.open(0)?;
        let request =
            Request { variables: variables.clone(), select: select.clone().unwrap_or_default(), records: None };
        first.schema.check(&request)?;
        let source = Source { pool, cadence, variables, bracket };
        Ok(Provider::new(Arc::new(source), select, decode))
    }

    fn over_urls(options: ProviderOptions) -> Result<Self> {
        let (decode, bracket) = (options.decode_options(), options.records_per_sample == 2);
        let arrays = options.arrays();
        let ProviderOptions { files, times, time_dim, variables, select, group, cache, auth_realm, name, .. } = options;
        let Some(cache) = cache else {
            return Err(Error::invalid("URLs need a cache"));
        };
        check_time(select.as_ref(), time_dim.as_deref())?;
        let (cadence, files) = match times {
            Some(times) => {
                let assigned = assign(&files, &times, time_dim.as_deref())?;
                Cadence::of_remote(times, assigned, time_dim)
            }
            None => (Cadence::default(), files),
        };
        let pool = FilePool::new(files, group, Some(Remote { cache, auth_realm, name })).of_arrays(arrays);
        let source = Source { pool, cadence, variables, bracket };
        Ok(Provider::new(Arc::new(source), select, decode))
    }

    fn new(source: Arc<Source>, select: Option<Selection>, options: DecodeOptions) -> Self {
        Provider(Arc::new(Inner { source, select, options, buffer: Mutex::new(None) }))
    }

    /// The times at which the data change, ascending; empty if they never do.
    pub fn refresh_times(&self) -> &[f64] {
        &self.0.source.cadence.ticks
    }

    /// Whether the data do not depend on time.
    pub fn is_const(&self) -> bool {
        self.refresh_times().is_empty()
    }

    /// The refresh time whose data are in force at `t`: `t` itself, or the last one before. Behind the last one, that.
    ///
    /// # Errors
    /// `OffGrid` before the first refresh time; `InvalidParameter` for NaN, and for constant data, which have none.
    pub fn anchor(&self, t: f64) -> Result<f64> {
        match self.tick_at(t)? {
            Some(tick) => Ok(self.refresh_times()[tick]),
            None => Err(Error::invalid("the data are constant and have no refresh times; use materialize")),
        }
    }

    /// The calendar in which the refresh times are counted, as Unix seconds; `None` for times in a caller's own unit.
    pub fn calendar(&self) -> Option<Calendar> {
        self.0.source.cadence.calendar
    }

    /// The dimension along which the records lie, which samples of one record do not have.
    pub fn time_dim(&self) -> Option<&str> {
        self.0.source.cadence.time_dim.as_deref()
    }

    /// Whether windows can be bound to it.
    pub fn supports_selection(&self) -> bool {
        true
    }

    /// The data in force at `t`. Constant data ignore `t`.
    ///
    /// # Errors
    /// Those of [`anchor`](Provider::anchor) for data that change, and those of reading and decoding.
    pub fn sample_at(&self, t: f64) -> Result<Dataset> {
        self.sample(self.tick_at(t)?)
    }

    /// The data in force at `t`, which are kept until another time is asked for.
    ///
    /// # Errors
    /// As [`sample_at`](Provider::sample_at); what was kept before stays.
    pub fn refresh(&self, t: f64) -> Result<Arc<Dataset>> {
        let tick = self.tick_at(t)?;
        if let Some(kept) = self.0.buffer.lock().as_ref().filter(|b| b.tick == tick) {
            return Ok(kept.data.clone());
        }
        let data = Arc::new(self.sample(tick)?);
        *self.0.buffer.lock() = Some(Buffered { tick, data: data.clone() });
        Ok(data)
    }

    /// What the last successful [`refresh`](Provider::refresh) or [`materialize`](Provider::materialize) gave.
    pub fn current(&self) -> Option<Arc<Dataset>> {
        self.0.buffer.lock().as_ref().map(|b| b.data.clone())
    }

    /// The data in force at `t` under `select` instead of the selection that is baked in; read afresh, and nothing is
    /// kept. Constant data ignore `t`.
    ///
    /// # Errors
    /// As [`sample_at`](Provider::sample_at); `Selection` too, before anything is fetched for one that names the time
    /// dimension.
    pub fn peek(&self, t: f64, select: &Selection) -> Result<Dataset> {
        check_time(Some(select), self.time_dim())?;
        self.sample_under(self.tick_at(t)?, select)
    }

    /// The data that do not depend on time, which are kept.
    ///
    /// # Errors
    /// `InvalidParameter` for data that change with time, and those of reading and decoding.
    pub fn materialize(&self) -> Result<Arc<Dataset>> {
        if !self.is_const() {
            return Err(Error::invalid("the data change with time; use refresh or sample_at with a time"));
        }
        self.refresh(0.0)
    }

    /// Fetches the files of the refresh times in force from `from` to before `to` into the cache, and decodes nothing;
    /// offline, checks that they are there. For samples of two records, that includes the file of the refresh time behind
    /// them. Returns their number. Local files count as none. Of a Zarr store it fetches the chunks that the samples need;
    /// their objects are counted anew for each sample. One that never changes is fetched whatever the times.
    ///
    /// # Errors
    /// `InvalidParameter` for NaN; else that of the first file or object that could not be fetched.
    pub fn prefetch(&self, from: f64, to: f64) -> Result<usize> {
        if from.is_nan() || to.is_nan() {
            return Err(Error::invalid(format!("the times {from} to {to} are no window")));
        }
        let Source { pool, cadence, bracket, .. } = &*self.0.source;
        let first = cadence.ticks.partition_point(|tick| *tick <= from).saturating_sub(1);
        let mut behind = cadence.ticks.partition_point(|tick| *tick < to);
        if *bracket && first < behind {
            behind = (behind + 1).min(cadence.ticks.len());
        }
        if pool.are_remote_stores() {
            let ticks: Vec<Option<usize>> =
                if self.is_const() { vec![None] } else { (first..behind.max(first)).map(Some).collect() };
            return ticks.into_iter().try_fold(0, |n, tick| Ok(n + self.fetch_objects(tick)?));
        }
        let mut done = HashSet::new();
        for tick in first..behind.max(first) {
            let file = cadence.places[tick].file;
            if let (Some(url), true) = (pool.url(file), done.insert(file)) {
                pool.fetch(file).map_err(|e| name_source(e, url, cadence.ticks[tick]))?;
            }
        }
        Ok(done.iter().filter(|file| pool.url(**file).is_some()).count())
    }

    /// Fetches what one sample needs of a store.
    fn fetch_objects(&self, tick: Option<usize>) -> Result<usize> {
        let take = Take::open(&self.0.source, tick)?;
        take.fetch(&take.check(self.0.select.as_ref().unwrap_or(&Selection::All))?)
    }

    /// A provider of the same files, open and parsed as they are, whose samples are read under `window`.
    ///
    /// # Errors
    /// `Selection`, before any read: this provider has a selection already, `window` is not in the named form, or it
    /// names the time dimension.
    pub fn with_window(&self, window: impl Into<Selection>) -> Result<Provider> {
        let window = window.into();
        self.check_window(&window)?;
        Ok(Provider::new(self.0.source.clone(), Some(window), self.0.options))
    }

    /// A provider of the same files, open and parsed as they are, whose floating-point data variables have this type.
    pub fn with_eltype(&self, eltype: FloatType) -> Provider {
        Provider::new(self.0.source.clone(), self.0.select.clone(), DecodeOptions { eltype, ..self.0.options })
    }

    /// The samples that `with_window(w).sample_at(t)` gives for each of the windows, decoded together.
    ///
    /// # Errors
    /// What the first window at fault would raise alone.
    pub fn sample_windows_at(&self, t: f64, windows: &[Selection]) -> Result<Vec<Dataset>> {
        if windows.is_empty() {
            return Ok(Vec::new());
        }
        windows.iter().try_for_each(|w| self.check_window(w))?;
        windows.iter().try_for_each(check_steps)?;
        self.read(self.tick_at(t)?, |take, options| windows::sample(take, windows, options))
    }

    /// The window of the cells whose coordinates lie in these intervals, found on the axes of the file of the first
    /// refresh time. That file is opened, and fetched if it is behind a URL.
    ///
    /// # Errors
    /// `Selection`: this provider has a selection already; a coordinate is not there, is the time axis, holds no numbers
    /// or does not run one way; a bound is NaN; an interval has no cell. Those of opening the file and reading.
    pub fn coord_window(&self, window: &CoordWindow) -> Result<DimWindow> {
        self.check_unselected()?;
        if let Some(dim) = self.time_dim().filter(|dim| window.names().any(|name| name == *dim)) {
            return Err(names_time(dim));
        }
        let Source { pool, cadence, .. } = &*self.0.source;
        let first = cadence.places.first().map_or(0, |place| place.file);
        let found = pool.open(first).and_then(|file| {
            let found = file.schema.coord_window(&*file.container, window);
            pool.check_unchanged(first)?;
            found
        });
        match (pool.url(first), cadence.ticks.first()) {
            (Some(url), Some(tick)) => found.map_err(|e| name_source(e, url, *tick)),
            _ => found,
        }
    }

    /// The files behind URLs that the sample at `t` is decoded from. Of stores, only a decode knows which objects it needs.
    fn urls_at(&self, t: f64) -> Vec<usize> {
        let Source { pool, cadence, bracket, .. } = &*self.0.source;
        let mut files = match self.tick_at(t) {
            Ok(Some(tick)) => {
                let successor = cadence.places.get(tick + 1).filter(|_| *bracket);
                std::iter::once(&cadence.places[tick]).chain(successor).map(|place| place.file).collect()
            }
            Ok(None) => vec![0],
            Err(_) => Vec::new(),
        };
        files.dedup();
        files.retain(|file| pool.is_fetched(*file));
        files
    }

    fn check_unselected(&self) -> Result<()> {
        if self.0.select.is_some() {
            return Err(already_selected());
        }
        Ok(())
    }

    fn check_window(&self, window: &Selection) -> Result<()> {
        self.check_unselected()?;
        let dims = window.named()?;
        match self.time_dim() {
            Some(dim) if dims.contains_key(dim) => Err(names_time(dim)),
            _ => Ok(()),
        }
    }

    /// The position of the refresh time in force at `t`; `None` for constant data.
    fn tick_at(&self, t: f64) -> Result<Option<usize>> {
        if self.is_const() {
            return Ok(None);
        }
        self.0.source.cadence.index_at(t).map(Some)
    }

    fn sample(&self, tick: Option<usize>) -> Result<Dataset> {
        match &self.0.select {
            Some(select) => self.sample_under(tick, select),
            None => self.sample_under(tick, &Selection::All),
        }
    }

    fn sample_under(&self, tick: Option<usize>, select: &Selection) -> Result<Dataset> {
        self.read(tick, |take, options| take.decode(&take.check(select)?, options))
    }

    /// Reads from the files of a tick, and makes sure that they were those that were opened, from the first byte to the
    /// last: what a changed file gives is worth nothing, errors included.
    fn read<R>(&self, tick: Option<usize>, decode: impl FnOnce(&Take, DecodeOptions) -> Result<R>) -> Result<R> {
        let source = &*self.0.source;
        let take = Take::open(source, tick)?;
        let result = decode(&take, self.0.options);
        take.check_unchanged()?;
        result
    }
}

impl Source {
    /// Where the data of a tick are, or constant ones.
    pub(super) fn place(&self, tick: Option<usize>) -> Place {
        tick.map_or(Place { file: 0, record: None }, |tick| self.cadence.places[tick])
    }
}

impl Sampler for Provider {
    fn refresh_times(&self) -> &[f64] {
        Provider::refresh_times(self)
    }

    fn anchor(&self, t: f64) -> Result<f64> {
        Provider::anchor(self, t)
    }

    fn sample_at(&self, t: f64) -> Result<Dataset> {
        Provider::sample_at(self, t)
    }

    fn check_windows(&self, windows: &[Selection]) -> Result<()> {
        windows.iter().try_for_each(|window| self.check_window(window))
    }

    fn sample_windows_at(&self, t: f64, windows: &[Selection]) -> Result<Vec<Dataset>> {
        Provider::sample_windows_at(self, t, windows)
    }

    fn files_at(&self, t: f64) -> Vec<usize> {
        self.urls_at(t)
    }

    fn fetch_file(&self, file: usize) -> Result<()> {
        let pool = &self.0.source.pool;
        if file >= pool.len() {
            return Err(Error::invalid(format!("there is no file {file}; the provider has {}", pool.len())));
        }
        pool.fetch(file).map(|_| ())
    }

    fn calendar(&self) -> Option<&str> {
        // The two Gregorian calendars count the same seconds, and so have one name here.
        self.calendar().map(|c| if c.shares_time_line(Calendar::Standard) { Calendar::Standard } else { c }.name())
    }
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let source = &self.0.source;
        f.debug_struct("Provider")
            .field("first_file", &source.pool.path(0))
            .field("files", &source.pool.len())
            .field("times", &source.cadence.ticks.len())
            .field("select", &self.0.select)
            .finish_non_exhaustive()
    }
}
