//! Reading and listing series.

use super::{get, series_ids, set_tables};
use crate::output::Out;
use crate::table::ForcingsTable;
use crate::wire::FilterObject;
use crate::{guard::guard, input, job, listing};
use forcings::time::UnixMillis;
use forcings::Result;

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
