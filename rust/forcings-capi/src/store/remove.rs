//! Removing series.

use super::series_ids;
use crate::call;
use forcings::store::Store;

/// Removes `n` series: all of them or none. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_remove(store: u64, ids: *const i64, n: u64, out_job: *mut u64) -> i32 {
    // SAFETY: the caller passes an array and null or a writable pointer, as the header asks.
    unsafe {
        call::nothing("forcings_store_remove", store, out_job, || {
            let ids = series_ids(ids, n)?;
            Ok(move |store: &Store| store.remove(&ids))
        })
    }
}
