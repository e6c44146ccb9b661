//! Removing series.

use super::{get, series_ids};
use crate::{guard::guard, job};

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
