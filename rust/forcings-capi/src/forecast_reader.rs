//! Readers of forecasts: building one, and the slots and entries that only they have. `reader` has what they share with
//! readers of static series.

use crate::output::Out;
use crate::reader::{self, other_readahead, with, Kind};
use crate::store;
use crate::table::ForcingsTable;
use crate::wire::FilterObject;
use crate::{guard::guard, input, listing};
use forcings::readers::ForecastReader;
use forcings::store::Store;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ForecastReaderObject {
    filter: FilterObject,
    readahead: Option<u64>,
}

/// Builds a reader of forecasts, for which every `forcings_reader_` function stands that speaks of slots or of no part at
/// all. `options` is JSON: `filter` (see `forcings_store_list`), `readahead` in bytes. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_forecast_reader_build(
    store: u64,
    options: *const u8,
    options_len: u64,
    out_reader: *mut u64,
    out_job: *mut u64,
) -> i32 {
    guard("forcings_forecast_reader_build", || {
        // SAFETY: the caller passes writable pointers and a text, as the header asks.
        unsafe {
            let out = Out::new("out_reader", out_reader)?;
            let options = input::json::<ForecastReaderObject>("options", options, options_len)?;
            let (filter, readahead) = (options.filter.into_filter()?, options.readahead);
            let make = move |store: &Store| {
                let mut reader = ForecastReader::build(store, &filter)?;
                if let Some(bytes) = other_readahead(readahead)? {
                    reader.set_readahead(bytes);
                }
                Ok(Kind::Forecast(reader))
            };
            reader::build("forcings_forecast_reader_build", store, out, out_job, make)
        }
    })
}

/// The slots of a reader of forecasts: a table with one row per slot and the columns `dtype`, `window_shape`, which is
/// `[steps, element...]`, with percentiles or scenarios in front.
#[no_mangle]
pub unsafe extern "C" fn forcings_reader_slots(reader: u64, out_table: *mut *mut ForcingsTable) -> i32 {
    // SAFETY: the caller passes a writable pointer, as the header asks.
    unsafe {
        reader::table("forcings_reader_slots", reader, out_table, |r| {
            let slots = r.of_forecasts()?.slots();
            Ok(ForcingsTable::new(slots.len())
                .integers("dtype", slots.iter().map(|s| Some(i64::from(s.dtype() as u8))))
                .integer_lists("window_shape", slots.iter().map(|s| s.window_shape())))
        })
    }
}

/// The forecasts of a reader: the two tables of `forcings_store_list`, the first with the column `slot` too, which counts
/// from 0.
#[no_mangle]
pub unsafe extern "C" fn forcings_reader_entries(
    reader: u64,
    out_table: *mut *mut ForcingsTable,
    out_features: *mut *mut ForcingsTable,
) -> i32 {
    guard("forcings_reader_entries", || {
        // SAFETY: the caller passes writable pointers, as the header asks.
        let outs = unsafe { (Out::new("out_table", out_table)?, Out::new("out_features", out_features)?) };
        with(reader, |r| {
            let entries = r.of_forecasts()?.entries();
            let infos: Vec<_> = entries.iter().map(|entry| entry.info().clone()).collect();
            let (table, features) = listing::tables(&infos);
            let table = table.integers("slot", entries.iter().map(|entry| Some(entry.slot() as i64)));
            store::set_tables(&outs, (table, features));
            Ok(())
        })
    })
}
