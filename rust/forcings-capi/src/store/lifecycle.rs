//! Creating, opening, flushing and closing stores.

use super::StoreObject;
use crate::handle;
use crate::output::Out;
use crate::{call, guard::guard, input, job};
use forcings::store::{Compression, CreateOptions, OpenOptions, Store};
use serde::Deserialize;
use std::sync::Arc;

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
    unsafe { call::nothing("forcings_store_flush", store, out_job, || Ok(Store::flush)) }
}

fn insert(store: Store) -> u64 {
    handle::insert(Arc::new(StoreObject(store)))
}
