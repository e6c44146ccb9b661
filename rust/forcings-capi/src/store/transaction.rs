//! Transactions.

use crate::call;
use forcings::store::Store;

/// Begins a transaction, which may be within another one. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_begin(store: u64, out_job: *mut u64) -> i32 {
    // SAFETY: the caller passes null or a writable pointer, as the header asks.
    unsafe { call::nothing("forcings_store_begin", store, out_job, || Ok(Store::begin)) }
}

/// Ends the innermost transaction and keeps its changes. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_commit(store: u64, out_job: *mut u64) -> i32 {
    // SAFETY: the caller passes null or a writable pointer, as the header asks.
    unsafe { call::nothing("forcings_store_commit", store, out_job, || Ok(Store::commit)) }
}

/// Undoes the innermost transaction. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_rollback(store: u64, out_job: *mut u64) -> i32 {
    // SAFETY: the caller passes null or a writable pointer, as the header asks.
    unsafe { call::nothing("forcings_store_rollback", store, out_job, || Ok(Store::rollback)) }
}
