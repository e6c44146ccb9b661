//! Adding series.

use super::get;
use super::item::{new_series, ForcingsSeries};
use crate::{guard::guard, input, job};
use forcings::series::{NewSeries, SeriesId};
use forcings::{Error, Result};

/// Adds `n` series and writes their ids to `out_ids`, which has room for `n`: all of them or none. `mode` 0 is for
/// one series; 1, for many, writes whole chunks. The items and all they point to are borrowed. See `out_job` above.
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
