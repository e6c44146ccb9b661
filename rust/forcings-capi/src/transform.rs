//! Forecasts derived from regular series.

use crate::output::Out;
use crate::table::ForcingsTable;
use crate::wire::{FilterObject, PeriodObject};
use crate::{guard::guard, input, job, store};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TransformObject {
    horizon: PeriodObject,
    interval: PeriodObject,
    filter: FilterObject,
}

/// Derives a forecast from every regular series that matches, all or none. `options` is JSON: `horizon`, `interval`
/// (periods), `filter` (see `forcings_store_list`).
///
/// `out_sources` receives the number of series that match. The table has the column `id`, the new forecasts by ascending
/// source; a series that had the same forecast already has none there. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_transform(
    store: u64,
    options: *const u8,
    options_len: u64,
    out_sources: *mut u64,
    out_table: *mut *mut ForcingsTable,
    out_job: *mut u64,
) -> i32 {
    guard("forcings_store_transform", || {
        // SAFETY: the caller passes writable pointers and a text, as the header asks.
        unsafe {
            let outs = (Out::new("out_sources", out_sources), Out::new("out_table", out_table));
            let outs = (outs.0?, outs.1?);
            let options = input::json::<TransformObject>("options", options, options_len)?;
            let (horizon, interval) = (options.horizon.into_period()?, options.interval.into_period()?);
            let filter = options.filter.into_filter()?;
            let store = store::get(store)?;
            let transform = move || store.0.transform_single_time_series(horizon, interval, &filter);
            job::run("forcings_store_transform", out_job, transform, move |made| {
                let table = ForcingsTable::new(made.ids.len()).integers("id", made.ids.iter().map(|id| Some(id.0)));
                outs.0.set(made.sources as u64);
                outs.1.set(table.into_raw());
            })
        }
    })
}
