//! Reading and listing series.

use super::{get, series_ids, set_tables};
use crate::output::Out;
use crate::table::ForcingsTable;
use crate::wire::{FilterObject, RangeObject};
use crate::{guard::guard, input, job, listing};

/// Reads `n` series, whole or in a range of time. `range` is JSON: `from`, `to`, each null or an object of `ms` and `kind`
/// (`floating` fits every series, `utc` those that are not zoneless, `zoneless` those that are); the range is half-open.
///
/// Two tables: the rows of `forcings_store_list`, of what was read, and their features. The first has more columns: `values`,
/// their `shape` (see `ForcingsSeries`), `timestamps_ms`. A derived forecast has the values of its regular series that its
/// windows cover, with the shape of these. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_read(
    store: u64,
    ids: *const i64,
    n: u64,
    range: *const u8,
    range_len: u64,
    out_table: *mut *mut ForcingsTable,
    out_features: *mut *mut ForcingsTable,
    out_job: *mut u64,
) -> i32 {
    guard("forcings_store_read", || {
        // SAFETY: the caller passes writable pointers, an array and a text, as the header asks.
        unsafe {
            let outs = (Out::new("out_table", out_table)?, Out::new("out_features", out_features)?);
            let ids = series_ids(ids, n)?;
            let range = input::json::<RangeObject>("range", range, range_len)?.into_range();
            let store = get(store)?;
            let read = move || Ok(listing::read_tables(store.0.read_as_stored(&ids, &range)?));
            job::run("forcings_store_read", out_job, read, move |tables| set_tables(&outs, tables))
        }
    })
}

/// Lists the series that match `filter`, by ascending id. `filter` is a JSON object with any of `owner_id`, `owner_type`,
/// `owner_category`, `name`, `name_glob`, `resolution`, `interval`, `series_type`, `initial_ms`, `length`, `zoneless`,
/// `features` (among others), `exact_features` (no others), `ids`; a period is `{"ms": 3600000}` or `{"months": 1}`.
///
/// The first table has one row per series: `id`, `name`, `type`, `owner_id`, `owner_type`, `owner_category`, `initial_ms`,
/// `length` (not of forecasts), `count` (of windows), `scenarios`, `percentiles`, `dtype`, `element_shape`,
/// `time_reference`, `units`, `ext`, and for each of the periods `resolution`, `horizon` and `interval` two columns, its name
/// with `_ms` or `_months` behind it. The second has one line per feature: `row` (from 0), `key`, `kind` (0 `int`, 1
/// `float`, 2 `bool`, 3 `text`) and the columns of these names. See `out_job` above.
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
            let list = move || Ok(listing::tables(&store.0.list(&filter)?));
            job::run("forcings_store_list", out_job, list, move |tables| set_tables(&outs, tables))
        }
    })
}

/// Whether any series matches `filter`, as `forcings_store_list` takes it. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_has(
    store: u64,
    filter: *const u8,
    filter_len: u64,
    out_found: *mut u8,
    out_job: *mut u64,
) -> i32 {
    guard("forcings_store_has", || {
        // SAFETY: the caller passes writable pointers and a text, as the header asks.
        unsafe {
            let out = Out::new("out_found", out_found)?;
            let filter = input::json::<FilterObject>("filter", filter, filter_len)?.into_filter()?;
            let store = get(store)?;
            let any = move || store.0.any(&filter);
            job::run("forcings_store_has", out_job, any, move |found| out.set(u8::from(found)))
        }
    })
}
