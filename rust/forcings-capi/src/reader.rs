//! Readers over a store: what both kinds have in common, and readers of static series. `forecast_reader` builds those of
//! forecasts.

use crate::handle::{self, Exclusive, Object, POINTERS};
use crate::output::{self, Out};
use crate::store;
use crate::table::ForcingsTable;
use crate::wire::{BoundObject, FilterObject};
use crate::{guard::guard, input, job, listing};
use forcings::provider::ReaderProvider;
use forcings::readers::{ForecastReader, StaticReader, StaticReaderOptions, DEFAULT_READAHEAD};
use forcings::series::{SeriesType, TimeReference};
use forcings::store::Store;
use forcings::time::{Period, UnixMillis};
use forcings::{Error, Result};
use serde::Deserialize;
use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::sync::Arc;

pub(crate) struct ReaderObject {
    reader: Arc<Exclusive<Reader>>,
}

impl Object for ReaderObject {
    const NOUN: &'static str = "reader";
    const CLOSE_ORDER: u8 = 2;
}

/// A reader of either kind, and whether its last read succeeded.
pub(crate) struct Reader {
    kind: Kind,
    filled: bool,
}

pub(crate) enum Kind {
    Static(StaticReader),
    Forecast(ForecastReader),
}

/// Keeps the buffer of a reader. Opaque and counted: one `forcings_buffer_release` for each.
pub struct ForcingsBuffer {
    _reader: Arc<Exclusive<Reader>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StaticReaderObject {
    filter: FilterObject,
    start: Option<BoundObject>,
    extent: Option<u64>,
    readahead: Option<u64>,
}

/// Builds a reader of static series. `options` is JSON: `filter` (see `forcings_store_list`), `start` (a bound, see
/// `forcings_store_read`) and `extent` (a number of steps) for a window, `readahead` in bytes. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_reader_build(
    store: u64,
    options: *const u8,
    options_len: u64,
    out_reader: *mut u64,
    out_job: *mut u64,
) -> i32 {
    guard("forcings_reader_build", || {
        // SAFETY: the caller passes writable pointers and a text, as the header asks.
        unsafe {
            let out = Out::new("out_reader", out_reader)?;
            let options = input::json::<StaticReaderObject>("options", options, options_len)?;
            let readahead = options.readahead;
            let options = StaticReaderOptions {
                filter: options.filter.into_filter()?,
                start: options.start.map(BoundObject::into_bound),
                extent: options.extent,
            };
            let make = move |store: &Store| {
                let mut reader = StaticReader::with_options(store, &options)?;
                if let Some(bytes) = other_readahead(readahead)? {
                    reader.set_readahead(bytes);
                }
                Ok(Kind::Static(reader))
            };
            build("forcings_reader_build", store, out, out_job, make)
        }
    })
}

/// Closes a reader. Buffers that are held stay valid.
#[no_mangle]
pub extern "C" fn forcings_reader_close(reader: u64) -> i32 {
    guard("forcings_reader_close", || handle::close::<ReaderObject>(reader))
}

/// What a reader walks: a table of one row with the columns `type`, `series` (how many), `length` (of the
/// timeline), `resolution_ms`, `resolution_months`, `interval_ms`, `interval_months` and `time_reference`.
#[no_mangle]
pub unsafe extern "C" fn forcings_reader_describe(reader: u64, out_table: *mut *mut ForcingsTable) -> i32 {
    // SAFETY: the caller passes a writable pointer, as the header asks.
    unsafe {
        table("forcings_reader_describe", reader, out_table, |r| {
            let reference = r.time_reference().map(ToString::to_string);
            let [resolution, interval] = r.periods();
            Ok(ForcingsTable::new(1)
                .texts("type", [Some(r.series_type().name())].into_iter())
                .counts("series", [Some(r.series() as u64)].into_iter())
                .counts("length", [Some(r.len() as u64)].into_iter())
                .periods(["resolution_ms", "resolution_months"], [resolution].into_iter())
                .periods(["interval_ms", "interval_months"], [interval].into_iter())
                .texts("time_reference", [reference.as_deref()].into_iter()))
        })
    }
}

/// The instants of the timeline, of forecasts the starts of the windows, in milliseconds since 1970: up to `capacity` of
/// them are written, `out_count` is the number of all.
#[no_mangle]
pub unsafe extern "C" fn forcings_reader_timestamps(
    reader: u64,
    out_ms: *mut i64,
    capacity: u64,
    out_count: *mut u64,
) -> i32 {
    guard("forcings_reader_timestamps", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let count = unsafe { Out::new("out_count", out_count) }?;
        with(reader, |r| {
            let instants: Vec<i64> = r.timestamps().into_iter().map(|at| at.0).collect();
            // SAFETY: the caller passes `capacity` writable places.
            unsafe { output::fill("out_ms", &instants, out_ms, capacity, &count) }
        })
    })
}

/// The groups of a reader of static series: a table with one row per group and the columns `dtype`, `columns`,
/// `element_shape`.
#[no_mangle]
pub unsafe extern "C" fn forcings_reader_groups(reader: u64, out_table: *mut *mut ForcingsTable) -> i32 {
    // SAFETY: the caller passes a writable pointer, as the header asks.
    unsafe {
        table("forcings_reader_groups", reader, out_table, |r| {
            let groups = r.of_series()?.groups();
            Ok(ForcingsTable::new(groups.len())
                .integers("dtype", groups.iter().map(|g| Some(i64::from(g.dtype() as u8))))
                .integers("columns", groups.iter().map(|g| Some(g.columns().len() as i64)))
                .integer_lists("element_shape", groups.iter().map(|g| g.element_shape())))
        })
    }
}

/// The series of a group, in the order of its columns: the two tables of `forcings_store_list`.
#[no_mangle]
pub unsafe extern "C" fn forcings_reader_columns(
    reader: u64,
    group: u64,
    out_table: *mut *mut ForcingsTable,
    out_features: *mut *mut ForcingsTable,
) -> i32 {
    guard("forcings_reader_columns", || {
        // SAFETY: the caller passes writable pointers, as the header asks.
        let outs = unsafe { (Out::new("out_table", out_table)?, Out::new("out_features", out_features)?) };
        with(reader, |r| {
            let group = r.part(group)?;
            let columns = r.of_series()?.groups()[group].columns();
            let infos: Vec<_> = columns.iter().map(|column| column.info()).collect();
            store::set_tables(&outs, listing::tables(&infos));
            Ok(())
        })
    })
}

/// The buffer of a group or slot, which every read overwrites in place: `out_values` points to its values, row-major, of
/// a group `[columns, element...]`, of a slot its window. The memory stays valid until `out_buffer` is released, also
/// beyond the reader's close. There is no buffer before the first read and after one that failed: the status
/// `InvalidParameter`.
#[no_mangle]
pub unsafe extern "C" fn forcings_reader_values(
    reader: u64,
    part: u64,
    out_values: *mut *const c_void,
    out_len: *mut u64,
    out_buffer: *mut *mut ForcingsBuffer,
) -> i32 {
    guard("forcings_reader_values", || {
        // SAFETY: the caller passes writable pointers, as the header asks.
        let (values, len, buffer) = unsafe {
            (Out::new("out_values", out_values)?, Out::new("out_len", out_len)?, Out::new("out_buffer", out_buffer)?)
        };
        let object = handle::get::<ReaderObject>(reader)?;
        object.reader.with(|r| {
            let bytes = r.values(part)?;
            values.set(bytes.as_ptr().cast());
            len.set(bytes.len() as u64);
            Ok(())
        })?;
        POINTERS.fetch_add(1, Ordering::Relaxed);
        buffer.set(Box::into_raw(Box::new(ForcingsBuffer { _reader: Arc::clone(&object.reader) })));
        Ok(())
    })
}

/// Gives a buffer back; null is ignored.
#[no_mangle]
pub unsafe extern "C" fn forcings_buffer_release(buffer: *mut ForcingsBuffer) {
    if !buffer.is_null() {
        POINTERS.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the caller gives back a buffer of `forcings_reader_values` once.
        drop(unsafe { Box::from_raw(buffer) });
    }
}

/// Reads the values at an instant of the timeline, in milliseconds since 1970; of forecasts, the windows that start there.
#[no_mangle]
pub extern "C" fn forcings_reader_read(reader: u64, at_ms: i64) -> i32 {
    guard("forcings_reader_read", || with(reader, |r| r.read(UnixMillis(at_ms))))
}

/// Reads the values of a step or window, counted from 0.
#[no_mangle]
pub extern "C" fn forcings_reader_read_step(reader: u64, step: u64) -> i32 {
    guard("forcings_reader_read_step", || with(reader, |r| r.read_step(input::index("step", step)?)))
}

/// The step or window, counted from 0, whose instant is `at_ms`; of step functions, that of the last breakpoint that is
/// not later.
#[no_mangle]
pub unsafe extern "C" fn forcings_reader_index_at(reader: u64, at_ms: i64, out_step: *mut u64) -> i32 {
    guard("forcings_reader_index_at", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let out = unsafe { Out::new("out_step", out_step) }?;
        with(reader, |r| {
            out.set(r.index_at(UnixMillis(at_ms))? as u64);
            Ok(())
        })
    })
}

/// The bytes to be decoded ahead, if they are not what a reader begins with: setting them makes it plan anew.
///
/// # Errors
/// `InvalidParameter` when they exceed what memory can hold.
pub(crate) fn other_readahead(bytes: Option<u64>) -> Result<Option<usize>> {
    let bytes = bytes.map(|bytes| input::index("readahead", bytes)).transpose()?;
    Ok(bytes.filter(|&bytes| bytes != DEFAULT_READAHEAD))
}

/// Runs `make` on a store, here or as a job, and hands out the reader.
///
/// # Safety
/// As `job::run`.
pub(crate) unsafe fn build(
    operation: &'static str,
    store: u64,
    out: Out<u64>,
    out_job: *mut u64,
    make: impl FnOnce(&Store) -> Result<Kind> + Send + 'static,
) -> Result<()> {
    let store = store::get(store)?;
    let deliver = move |reader| out.set(handle::insert(Arc::new(reader)));
    // SAFETY: the caller's promise.
    unsafe { job::run(operation, out_job, move || make(&store.0).map(ReaderObject::new), deliver) }
}

/// A call that answers with a table of what a reader has.
///
/// # Safety
/// `out_table` is null, which is refused, or as `Out::new` asks.
pub(crate) unsafe fn table(
    operation: &'static str,
    reader: u64,
    out_table: *mut *mut ForcingsTable,
    body: impl FnOnce(&mut Reader) -> Result<ForcingsTable>,
) -> i32 {
    guard(operation, || {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new("out_table", out_table) }?;
        out.set(with(reader, body)?.into_raw());
        Ok(())
    })
}

/// Runs `body` on the reader that `handle` names.
///
/// # Errors
/// Those of the handle and of `body`.
pub(crate) fn with<R>(reader: u64, body: impl FnOnce(&mut Reader) -> Result<R>) -> Result<R> {
    get(reader)?.reader.with(body)
}

/// The reader that `handle` names.
///
/// # Errors
/// Those of the handle.
pub(crate) fn get(reader: u64) -> Result<Arc<ReaderObject>> {
    handle::get(reader)
}

impl ReaderObject {
    /// A provider over its series.
    ///
    /// # Errors
    /// Those of [`ReaderProvider`].
    pub(crate) fn provider(&self) -> Result<ReaderProvider> {
        self.reader.with(|reader| match &reader.kind {
            Kind::Static(reader) => ReaderProvider::of_series(reader),
            Kind::Forecast(reader) => ReaderProvider::of_forecasts(reader),
        })
    }

    fn new(kind: Kind) -> Self {
        ReaderObject { reader: Arc::new(Exclusive::new("reader", Reader { kind, filled: false })) }
    }
}

impl Reader {
    /// The reader of static series that this is.
    ///
    /// # Errors
    /// `InvalidParameter` when it is of the other kind.
    fn of_series(&self) -> Result<&StaticReader> {
        match &self.kind {
            Kind::Static(reader) => Ok(reader),
            Kind::Forecast(_) => Err(Error::invalid("a reader of forecasts has slots, and no groups")),
        }
    }

    /// The reader of forecasts that this is.
    ///
    /// # Errors
    /// `InvalidParameter` when it is of the other kind.
    pub(crate) fn of_forecasts(&self) -> Result<&ForecastReader> {
        match &self.kind {
            Kind::Forecast(reader) => Ok(reader),
            Kind::Static(_) => Err(Error::invalid("a reader of static series has groups, and no slots")),
        }
    }

    fn series_type(&self) -> SeriesType {
        match &self.kind {
            Kind::Static(reader) => reader.series_type(),
            Kind::Forecast(reader) => reader.series_type(),
        }
    }

    fn series(&self) -> usize {
        match &self.kind {
            Kind::Static(reader) => reader.groups().iter().map(|group| group.columns().len()).sum(),
            Kind::Forecast(reader) => reader.entries().len(),
        }
    }

    fn len(&self) -> usize {
        match &self.kind {
            Kind::Static(reader) => reader.len(),
            Kind::Forecast(reader) => reader.len(),
        }
    }

    /// Resolution and interval.
    fn periods(&self) -> [Option<Period>; 2] {
        match &self.kind {
            Kind::Static(reader) => [reader.resolution(), None],
            Kind::Forecast(reader) => {
                let timeline = reader.timeline();
                [timeline.map(|t| t.resolution()), timeline.map(|t| t.interval())]
            }
        }
    }

    fn time_reference(&self) -> Option<&TimeReference> {
        match &self.kind {
            Kind::Static(reader) => reader.time_reference(),
            Kind::Forecast(reader) => reader.time_reference(),
        }
    }

    fn timestamps(&self) -> Vec<UnixMillis> {
        match &self.kind {
            Kind::Static(reader) => reader.timestamps(),
            Kind::Forecast(reader) => reader.timestamps(),
        }
    }

    fn index_at(&self, at: UnixMillis) -> Result<usize> {
        match &self.kind {
            Kind::Static(reader) => reader.index_at(at),
            Kind::Forecast(reader) => reader.index_at(at),
        }
    }

    fn read(&mut self, at: UnixMillis) -> Result<()> {
        self.filled = false;
        match &mut self.kind {
            Kind::Static(reader) => reader.read(at)?,
            Kind::Forecast(reader) => reader.read(at)?,
        }
        self.filled = true;
        Ok(())
    }

    fn read_step(&mut self, step: usize) -> Result<()> {
        self.filled = false;
        match &mut self.kind {
            Kind::Static(reader) => reader.read_step(step)?,
            Kind::Forecast(reader) => reader.read_window(step)?,
        }
        self.filled = true;
        Ok(())
    }

    fn values(&self, part: u64) -> Result<&[u8]> {
        let part = self.part(part)?;
        if !self.filled {
            return Err(Error::invalid("the reader has no values: read an instant first"));
        }
        Ok(match &self.kind {
            Kind::Static(reader) => reader.values(part),
            Kind::Forecast(reader) => reader.values(part),
        })
    }

    /// The position of a group or slot that exists.
    fn part(&self, part: u64) -> Result<usize> {
        let (n, noun) = match &self.kind {
            Kind::Static(reader) => (reader.groups().len(), "group"),
            Kind::Forecast(reader) => (reader.slots().len(), "slot"),
        };
        usize::try_from(part)
            .ok()
            .filter(|&part| part < n)
            .ok_or_else(|| Error::invalid(format!("there is no {noun} {part}; the reader has {n}")))
    }
}
