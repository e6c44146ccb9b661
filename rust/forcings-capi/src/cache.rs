//! Caches of remote files.

use crate::handle::{self, Object};
use crate::output::Out;
use crate::table::ForcingsTable;
use crate::{guard::guard, input, job};
use forcings::cache::Cache;
use forcings::{Error, Result};
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(crate) struct CacheObject(pub(crate) Cache);

impl Object for CacheObject {
    const NOUN: &'static str = "cache";
    const CLOSE_ORDER: u8 = 3;
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CacheObjectOptions {
    dir: Option<PathBuf>,
    offline: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClearOptions {
    older_than_s: Option<f64>,
    source: Option<String>,
}

/// Opens a cache. `options` is JSON: optionally `dir` (its root) and `offline`; what is missing comes from the environment.
/// Nothing is made on the disk before something is fetched.
#[no_mangle]
pub unsafe extern "C" fn forcings_cache_open(options: *const u8, options_len: u64, out_cache: *mut u64) -> i32 {
    guard("forcings_cache_open", || {
        // SAFETY: the caller passes a writable pointer and a text, as the header asks.
        let (out, options) = unsafe {
            (Out::new("out_cache", out_cache)?, input::json::<CacheObjectOptions>("options", options, options_len)?)
        };
        let cache = Cache::open(options.dir.as_deref(), options.offline)?;
        out.set(handle::insert(Arc::new(CacheObject(cache))));
        Ok(())
    })
}

/// Closes a cache. Providers that use it stay valid.
#[no_mangle]
pub extern "C" fn forcings_cache_close(cache: u64) -> i32 {
    guard("forcings_cache_close", || handle::close::<CacheObject>(cache))
}

/// A table with one row: `root` and `offline`.
#[no_mangle]
pub unsafe extern "C" fn forcings_cache_describe(cache: u64, out_table: *mut *mut ForcingsTable) -> i32 {
    guard("forcings_cache_describe", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let out = unsafe { Out::new("out_table", out_table) }?;
        let cache = &get(cache)?.0;
        let root = cache.root().to_string_lossy();
        let table = ForcingsTable::new(1)
            .texts("root", std::iter::once(Some(&*root)))
            .bools("offline", std::iter::once(Some(cache.is_offline())));
        out.set(table.into_raw());
        Ok(())
    })
}

/// A table of what the cache holds, one row for each source: `source` (none for files whose source is not known), `files`,
/// `bytes`. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_cache_usage(
    cache: u64,
    out_table: *mut *mut ForcingsTable,
    out_job: *mut u64,
) -> i32 {
    guard("forcings_cache_usage", || {
        // SAFETY: the caller passes a writable pointer, and another one or null, as the header asks.
        unsafe {
            let out = Out::new("out_table", out_table)?;
            let cache = get(cache)?;
            let count = move || {
                let sources = cache.0.usage()?.sources;
                // Sizes of files on a disk fit.
                let integer = |n: u64| Some(i64::try_from(n).unwrap_or(i64::MAX));
                Ok(ForcingsTable::new(sources.len())
                    .texts("source", sources.iter().map(|s| s.source.as_deref()))
                    .integers("files", sources.iter().map(|s| integer(s.files)))
                    .integers("bytes", sources.iter().map(|s| integer(s.bytes))))
            };
            job::run("forcings_cache_usage", out_job, count, move |table| out.set(table.into_raw()))
        }
    })
}

/// Removes files of a cache. `options` is JSON: optionally `older_than_s` (seconds since they were fetched) and `source`;
/// all files without either. The numbers of files and bytes that were removed are written. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_cache_clear(
    cache: u64,
    options: *const u8,
    options_len: u64,
    out_files: *mut u64,
    out_bytes: *mut u64,
    out_job: *mut u64,
) -> i32 {
    guard("forcings_cache_clear", || {
        // SAFETY: the caller passes writable pointers and a text, as the header asks.
        unsafe {
            let (files, bytes) = (Out::new("out_files", out_files)?, Out::new("out_bytes", out_bytes)?);
            let cache = get(cache)?;
            let options = input::json::<ClearOptions>("options", options, options_len)?;
            let older_than = options.older_than_s.map(seconds).transpose()?;
            let clear = move || cache.0.clear(older_than, options.source.as_deref());
            job::run("forcings_cache_clear", out_job, clear, move |cleared| {
                files.set(cleared.files);
                bytes.set(cleared.bytes);
            })
        }
    })
}

fn seconds(seconds: f64) -> Result<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| Error::invalid(format!("an age of {seconds} s cannot be; give a number that is not negative")))
}

/// The cache of a handle.
///
/// # Errors
/// Those of the handle.
pub(crate) fn get(cache: u64) -> Result<Arc<CacheObject>> {
    handle::get(cache)
}
