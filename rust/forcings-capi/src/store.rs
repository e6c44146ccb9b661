//! Stores.

use crate::handle::{self, Object};
use crate::output::Out;
use crate::table::ForcingsTable;
use crate::wire::{features, FilterObject, SeriesObject};
use crate::{guard::guard, input, job, listing};
use forcings::array::{ArrayView, DType};
use forcings::series::{NewSeries, SeriesData, SeriesId};
use forcings::store::{Compression, CreateOptions, OpenOptions, Store};
use forcings::time::UnixMillis;
use forcings::{Error, Result};
use serde::Deserialize;
use std::sync::Arc;

pub(crate) struct StoreObject(pub(crate) Store);

impl Object for StoreObject {
    const NOUN: &'static str = "store";
    const CLOSE_ORDER: u8 = 3;

    fn close(&self) -> Result<()> {
        self.0.close()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateObject {
    compression: Option<String>,
    durable: bool,
    overwrite: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenObject {
    read_only: bool,
    durable: bool,
}

/// One series to add. `size` is `sizeof(ForcingsSeries)`.
#[repr(C)]
pub struct ForcingsSeries {
    /// The size of this struct in bytes.
    pub size: u64,
    /// JSON: `owner` (`id`, `type`, `category`), `name`, `features`, `units`, `ext`, `series` (`type`, `initial_ms`,
    /// `resolution` with either `ms` or `months`).
    pub meta: *const u8,
    /// Its length in bytes.
    pub meta_len: u64,
    /// The extents of the values, slowest first; the first is time.
    pub shape: *const u64,
    /// Their number.
    pub rank: u64,
    /// The values, row-major and little-endian.
    pub values: *const u8,
    /// Their length in bytes.
    pub values_len: u64,
    /// Their type: 0 `double`, 1 `float`, 2 `int64_t`, 3 `int32_t`, 4 `uint64_t`, 5 bytes 0 or 1.
    pub dtype: u64,
}

/// Creates a store at `path`. `options` is JSON: `compression` (a text or null), `durable`, `overwrite`. See `out_job`
/// above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_create(
    path: *const u8,
    path_len: u64,
    options: *const u8,
    options_len: u64,
    out_store: *mut u64,
    out_job: *mut u64,
) -> i32 {
    guard("forcings_store_create", || {
        // SAFETY: the caller passes writable pointers and texts, as the header asks.
        unsafe {
            let out = Out::new("out_store", out_store)?;
            let path = input::text("path", path, path_len)?.to_owned();
            let options = input::json::<CreateObject>("options", options, options_len)?;
            let compression = options.compression.map_or(Ok(Compression::default()), |text| text.parse())?;
            let options = CreateOptions { compression, durable: options.durable, overwrite: options.overwrite };
            job::run(
                "forcings_store_create",
                out_job,
                move || Store::create(path, &options),
                move |store| out.set(insert(store)),
            )
        }
    })
}

/// Opens the store whose array file is `path`. `options` is JSON: `read_only`, `durable`. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_open(
    path: *const u8,
    path_len: u64,
    options: *const u8,
    options_len: u64,
    out_store: *mut u64,
    out_job: *mut u64,
) -> i32 {
    guard("forcings_store_open", || {
        // SAFETY: the caller passes writable pointers and texts, as the header asks.
        unsafe {
            let out = Out::new("out_store", out_store)?;
            let path = input::text("path", path, path_len)?.to_owned();
            let options = input::json::<OpenObject>("options", options, options_len)?;
            let options = OpenOptions { read_only: options.read_only, durable: options.durable };
            job::run(
                "forcings_store_open",
                out_job,
                move || Store::open(path, &options),
                move |store| out.set(insert(store)),
            )
        }
    })
}

/// Creates a store in memory.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_memory(out_store: *mut u64) -> i32 {
    guard("forcings_store_memory", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let out = unsafe { Out::new("out_store", out_store) }?;
        out.set(insert(Store::memory()?));
        Ok(())
    })
}

/// Flushes and closes a store; an open transaction is undone. After an error the store is still open. See `out_job`
/// above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_close(store: u64, out_job: *mut u64) -> i32 {
    guard("forcings_store_close", || {
        // SAFETY: the caller passes null or a writable pointer, as the header asks.
        unsafe { job::run("forcings_store_close", out_job, move || handle::close::<StoreObject>(store), |()| ()) }
    })
}

/// Writes everything to disk. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_flush(store: u64, out_job: *mut u64) -> i32 {
    // SAFETY: the caller passes null or a writable pointer, as the header asks.
    unsafe { run("forcings_store_flush", store, out_job, Store::flush) }
}

/// Begins a transaction, which may be within another one. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_begin(store: u64, out_job: *mut u64) -> i32 {
    // SAFETY: as above.
    unsafe { run("forcings_store_begin", store, out_job, Store::begin) }
}

/// Ends the innermost transaction and keeps its changes. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_commit(store: u64, out_job: *mut u64) -> i32 {
    // SAFETY: as above.
    unsafe { run("forcings_store_commit", store, out_job, Store::commit) }
}

/// Undoes the innermost transaction. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_rollback(store: u64, out_job: *mut u64) -> i32 {
    // SAFETY: as above.
    unsafe { run("forcings_store_rollback", store, out_job, Store::rollback) }
}

/// Adds `n` series and writes their ids to `out_ids`, which has room for `n`: all of them or none. `mode` 0 adds them one
/// by one, for a few; 1 writes whole chunks, for many. The items and all they point to are borrowed. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_add(
    store: u64,
    items: *const ForcingsSeries,
    n: u64,
    mode: i32,
    out_ids: *mut i64,
    out_job: *mut u64,
) -> i32 {
    guard("forcings_store_add", || {
        input::places("out_ids", out_ids, n)?;
        let store = get(store)?;
        // SAFETY: the caller keeps the items, and what they point to, until the call or its job has ended.
        let series: Vec<NewSeries<'static>> = unsafe { input::slice("items", items, n)? }
            .iter()
            .map(|item| unsafe { new_series(item) })
            .collect::<Result<_>>()?;
        let add = move || match mode {
            0 if series.len() == 1 => Ok(vec![store.0.add(&series[0])?]),
            0 | 1 => store.0.add_bulk(&series),
            _ => Err(Error::invalid(format!("there is no mode {mode}; 0 and 1 are modes"))),
        };
        let out = Ids(out_ids);
        // SAFETY: the caller passes null or a writable pointer; and room for `n` ids, as many as there are series.
        unsafe { job::run("forcings_store_add", out_job, add, move |ids: Vec<SeriesId>| out.write(&ids)) }
    })
}

/// Reads `n` series whole, or the part of them from the step that covers `from` up to, not including, `to` (milliseconds;
/// null for no bound). Two tables: the rows of `forcings_store_list` with a column `values`, and their features. See
/// `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_read(
    store: u64,
    ids: *const i64,
    n: u64,
    from: *const i64,
    to: *const i64,
    out_table: *mut *mut ForcingsTable,
    out_features: *mut *mut ForcingsTable,
    out_job: *mut u64,
) -> i32 {
    guard("forcings_store_read", || {
        // SAFETY: the caller passes writable pointers, an array, and instants or null, as the header asks.
        unsafe {
            let outs = (Out::new("out_table", out_table)?, Out::new("out_features", out_features)?);
            let ids = series_ids(ids, n)?;
            let (from, to) = (from.as_ref().map(|t| UnixMillis(*t)), to.as_ref().map(|t| UnixMillis(*t)));
            let store = get(store)?;
            let read = move || {
                let series = if from.is_none() && to.is_none() {
                    store.0.read_many(&ids)?
                } else {
                    ids.iter().map(|&id| store.0.read_range(id, from, to)).collect::<Result<_>>()?
                };
                let (infos, values): (Vec<_>, Vec<_>) = series.into_iter().map(|s| (s.info, s.values)).unzip();
                Ok(listing::tables(&infos, Some(values)))
            };
            job::run("forcings_store_read", out_job, read, move |tables| set_tables(&outs, tables))
        }
    })
}

/// Lists the series that match `filter`, a JSON object with any of `owner_id`, `owner_type`, `owner_category`, `name`,
/// `resolution`, `series_type`, `features`, `ids`, by ascending id.
///
/// The first table has one row per series: `id`, `name`, `type`, `owner_id`, `owner_type`, `owner_category`, `initial_ms`,
/// `resolution_ms` or `resolution_months`, `length`, `dtype`, `element_shape`, `units`, `ext`. The second has one line per
/// feature: `row` (from 0), `key`, `kind` (0 `int`, 1 `float`, 2 `bool`, 3 `text`) and the columns of these names. See
/// `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_list(
    store: u64,
    filter: *const u8,
    filter_len: u64,
    out_table: *mut *mut ForcingsTable,
    out_features: *mut *mut ForcingsTable,
    out_job: *mut u64,
) -> i32 {
    guard("forcings_store_list", || {
        // SAFETY: the caller passes writable pointers and a text, as the header asks.
        unsafe {
            let outs = (Out::new("out_table", out_table)?, Out::new("out_features", out_features)?);
            let filter = input::json::<FilterObject>("filter", filter, filter_len)?.into_filter()?;
            let store = get(store)?;
            let list = move || Ok(listing::tables(&store.0.list(&filter)?, None));
            job::run("forcings_store_list", out_job, list, move |tables| set_tables(&outs, tables))
        }
    })
}

/// Removes `n` series: all of them or none. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_remove(store: u64, ids: *const i64, n: u64, out_job: *mut u64) -> i32 {
    guard("forcings_store_remove", || {
        // SAFETY: the caller passes an array and null or a writable pointer, as the header asks.
        unsafe {
            let ids = series_ids(ids, n)?;
            let store = get(store)?;
            job::run("forcings_store_remove", out_job, move || store.0.remove(&ids), |_| ())
        }
    })
}

/// Where the ids of added series go.
struct Ids(*mut i64);

// SAFETY: the places are written by one thread, the one that ends the call or finishes its job.
unsafe impl Send for Ids {}

impl Ids {
    /// # Safety
    /// There must be room for as many ids, as `forcings_store_add` asks of its caller.
    unsafe fn write(self, ids: &[SeriesId]) {
        for (i, id) in ids.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { self.0.add(i).write(id.0) };
        }
    }
}

type TableOut = Out<*mut ForcingsTable>;

/// Two tables on their way out.
pub(crate) fn set_tables(outs: &(TableOut, TableOut), tables: (ForcingsTable, ForcingsTable)) {
    outs.0.set(tables.0.into_raw());
    outs.1.set(tables.1.into_raw());
}

/// # Safety
/// What the item points to must stay valid for `'a`.
unsafe fn new_series<'a>(item: &ForcingsSeries) -> Result<NewSeries<'a>> {
    if item.size != size_of::<ForcingsSeries>() as u64 {
        return Err(Error::invalid(format!(
            "a ForcingsSeries has {} bytes, not {}",
            size_of::<ForcingsSeries>(),
            item.size
        )));
    }
    // SAFETY: the caller's promise.
    let (meta, shape, bytes) = unsafe {
        (
            input::json::<SeriesObject>("meta", item.meta, item.meta_len)?,
            input::slice("shape", item.shape.cast::<usize>(), item.rank)?,
            input::slice("values", item.values, item.values_len)?,
        )
    };
    let dtype = u8::try_from(item.dtype).ok().and_then(DType::from_code);
    let dtype = dtype.ok_or_else(|| Error::invalid(format!("there is no element type {}", item.dtype)))?;
    let values = ArrayView::new(dtype, shape, bytes)?;
    let (initial, resolution) = meta.series.into_grid()?;
    Ok(NewSeries {
        owner: meta.owner.into_owner()?,
        name: meta.name,
        features: features(meta.features),
        units: meta.units,
        ext: meta.ext,
        time_reference: None,
        data: SeriesData::Single { initial, resolution, values },
    })
}

/// # Safety
/// A pointer that is not null must be valid for reads of `n` numbers.
unsafe fn series_ids(ids: *const i64, n: u64) -> Result<Vec<SeriesId>> {
    // SAFETY: the caller's promise.
    Ok(unsafe { input::slice("ids", ids, n) }?.iter().map(|&id| SeriesId(id)).collect())
}

/// A call that takes only the store.
///
/// # Safety
/// `out_job` is null or valid for a write.
unsafe fn run(operation: &'static str, store: u64, out_job: *mut u64, call: fn(&Store) -> Result<()>) -> i32 {
    guard(operation, || {
        let store = get(store)?;
        // SAFETY: the caller's promise.
        unsafe { job::run(operation, out_job, move || call(&store.0), |()| ()) }
    })
}

fn insert(store: Store) -> u64 {
    handle::insert(Arc::new(StoreObject(store)))
}

pub(crate) fn get(store: u64) -> Result<Arc<StoreObject>> {
    handle::get(store)
}
