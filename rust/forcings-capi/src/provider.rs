//! Providers: over gridded files, and over readers of a store.

mod object;
#[cfg(test)]
mod tests;

pub(crate) use object::{ProviderObject, NO_ANCHOR};

use crate::handle;
use crate::output::{self, Out};
use crate::sample::ForcingsSample;
use crate::table::ForcingsTable;
use crate::{guard::guard, input, job, reader};
use forcings::dataset::{FloatType, Selection};
use forcings::provider::{Provider, ProviderOptions};
use forcings::Result;
use serde::Deserialize;
use std::sync::Arc;

/// `files` are the parts of one time series of records; `times` replaces their time axis; `select` is a selection in its
/// wire form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProviderObjectOptions {
    files: Vec<std::path::PathBuf>,
    format: String,
    store_access: Option<String>,
    times: Option<Vec<f64>>,
    time_dim: Option<String>,
    variables: Vec<String>,
    select: Option<serde_json::Value>,
    group: Option<String>,
    records_per_sample: Option<usize>,
    eltype: Option<Eltype>,
    threads: Option<usize>,
    cache: Option<u64>,
    auth_realm: Option<String>,
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Eltype {
    Float64,
    Float32,
}

impl From<Eltype> for FloatType {
    fn from(eltype: Eltype) -> Self {
        match eltype {
            Eltype::Float64 => FloatType::F64,
            Eltype::Float32 => FloatType::F32,
        }
    }
}

/// Opens a provider. `options` is JSON: `files` (paths or URLs), `format` (`"netcdf"`, or `"zarr"` for the folders or URLs
/// of stores), `variables` (names; none for all, but a store cannot be listed), and optionally `times`, `time_dim`,
/// `select` (a selection in its wire form), `group`, `records_per_sample` (1, or 2 for a bracket), `eltype` of
/// floating-point data variables (`"float64"`, `"float32"`), `threads` that share a large sample (1); for URLs `cache`
/// (the handle of one), `auth_realm`, `name` (of the source, for the cache) and `store_access` (`"cached"`). URLs need
/// `times`, unless they are of one Zarr store, and nothing is fetched here. An option that is none of these is refused. See
/// `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_provider_open(
    options: *const u8,
    options_len: u64,
    out_provider: *mut u64,
    out_job: *mut u64,
) -> i32 {
    guard("forcings_provider_open", || {
        // SAFETY: the caller passes writable pointers and a text, as the header asks.
        unsafe {
            let out = Out::new("out_provider", out_provider)?;
            let o = input::json::<ProviderObjectOptions>("options", options, options_len)?;
            let select = o.select.as_ref().map(Selection::from_value).transpose()?;
            let options = ProviderOptions {
                files: o.files,
                format: o.format,
                store_access: o.store_access,
                times: o.times,
                time_dim: o.time_dim,
                variables: o.variables,
                select,
                group: o.group,
                records_per_sample: o.records_per_sample.unwrap_or(1),
                eltype: o.eltype.map_or(FloatType::F64, FloatType::from),
                threads: o.threads.unwrap_or(1),
                cache: o.cache.map(crate::cache::get).transpose()?.map(|c| c.0.clone()),
                auth_realm: o.auth_realm,
                name: o.name,
            };
            let open = move || Provider::open(options);
            let deliver = move |provider| out.set(insert(ProviderObject::Files(provider)));
            job::run("forcings_provider_open", out_job, open, deliver)
        }
    })
}

/// A provider over the series of a reader, of either kind: its refresh times are the instants of the reader's timeline, or
/// the starts of the windows, in seconds since 1970. It uses none of the reader's buffers, and the reader may be closed.
/// See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_provider_from_reader(reader: u64, out_provider: *mut u64, out_job: *mut u64) -> i32 {
    guard("forcings_provider_from_reader", || {
        // SAFETY: the caller passes a writable pointer, and another one or null, as the header asks.
        unsafe {
            let out = Out::new("out_provider", out_provider)?;
            let reader = reader::get(reader)?;
            let make = move || reader.provider();
            let deliver = move |provider| out.set(insert(ProviderObject::Reader(provider)));
            job::run("forcings_provider_from_reader", out_job, make, deliver)
        }
    })
}

/// Closes a provider. What was made from it stays valid.
#[no_mangle]
pub extern "C" fn forcings_provider_close(provider: u64) -> i32 {
    guard("forcings_provider_close", || handle::close::<ProviderObject>(provider))
}

/// The refresh times. Writes up to `capacity` of them and always their number.
#[no_mangle]
pub unsafe extern "C" fn forcings_provider_times(
    provider: u64,
    out_times: *mut f64,
    capacity: u64,
    out_count: *mut u64,
) -> i32 {
    guard("forcings_provider_times", || {
        // SAFETY: the caller passes writable pointers, the first with room for `capacity` numbers.
        unsafe {
            let count = Out::new("out_count", out_count)?;
            output::fill("out_times", get(provider)?.sampler().refresh_times(), out_times, capacity, &count)
        }
    })
}

/// A table with one row: `calendar` (none for explicit times), `is_const`, `supports_selection`.
#[no_mangle]
pub unsafe extern "C" fn forcings_provider_describe(provider: u64, out_table: *mut *mut ForcingsTable) -> i32 {
    guard("forcings_provider_describe", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let out = unsafe { Out::new("out_table", out_table) }?;
        let provider = get(provider)?;
        let table = ForcingsTable::new(1)
            .texts("calendar", std::iter::once(provider.sampler().calendar()))
            .bools("is_const", std::iter::once(Some(provider.is_const())))
            .bools("supports_selection", std::iter::once(Some(provider.supports_selection())));
        out.set(table.into_raw());
        Ok(())
    })
}

/// Decodes the data in force at `t`; constant data ignore it, and their anchor is 0. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_provider_sample_at(
    provider: u64,
    t: f64,
    out_sample: *mut *mut ForcingsSample,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: the caller passes a writable pointer, and another one or null, as the header asks.
    unsafe {
        decode("forcings_provider_sample_at", provider, out_sample, out_job, move |p| {
            Ok(ForcingsSample::single(Arc::new(p.sampler().sample_at(t)?), p.anchor(t)?))
        })
    }
}

/// As `forcings_provider_sample_at`; the provider keeps what it decoded for the next call. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_provider_refresh(
    provider: u64,
    t: f64,
    out_sample: *mut *mut ForcingsSample,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: as above.
    unsafe {
        decode("forcings_provider_refresh", provider, out_sample, out_job, move |p| {
            Ok(ForcingsSample::single(p.refresh(t)?, p.anchor(t)?))
        })
    }
}

/// As `forcings_provider_sample_at` under `select`, a selection in its wire form, instead of the one that is baked in; the
/// provider keeps nothing of it. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_provider_peek(
    provider: u64,
    t: f64,
    select: *const u8,
    select_len: u64,
    out_sample: *mut *mut ForcingsSample,
    out_job: *mut u64,
) -> i32 {
    guard("forcings_provider_peek", || {
        // SAFETY: the caller passes a writable pointer, another one or null, and a text, as the header asks.
        unsafe {
            let out = Out::new("out_sample", out_sample)?;
            let select = Selection::from_json(input::text("select", select, select_len)?)?;
            let provider = get(provider)?;
            let peek = move || {
                let data = provider.peek(t, &select)?;
                Ok(ForcingsSample::single(Arc::new(data), provider.anchor(t)?))
            };
            job::run("forcings_provider_peek", out_job, peek, move |sample| out.set(sample.into_raw()))
        }
    })
}

/// Decodes everything. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_provider_materialize(
    provider: u64,
    out_sample: *mut *mut ForcingsSample,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: as above.
    unsafe {
        decode("forcings_provider_materialize", provider, out_sample, out_job, |p| {
            Ok(ForcingsSample::single(p.materialize()?, NO_ANCHOR))
        })
    }
}

/// Fetches the files of the refresh times in force from `from` to before `to` into the cache, and decodes nothing. Writes
/// their number; local files count as none. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_provider_prefetch(
    provider: u64,
    from: f64,
    to: f64,
    out_files: *mut u64,
    out_job: *mut u64,
) -> i32 {
    guard("forcings_provider_prefetch", || {
        // SAFETY: the caller passes a writable pointer, and another one or null, as the header asks.
        unsafe {
            let out = Out::new("out_files", out_files)?;
            let provider = get(provider)?;
            let fetch = move || provider.prefetch(from, to);
            job::run("forcings_provider_prefetch", out_job, fetch, move |files| out.set(files as u64))
        }
    })
}

/// A call that gives a sample.
///
/// # Safety
/// `out_sample` is valid for a write until the call or its job has ended; `out_job` is null or valid for a write.
unsafe fn decode(
    operation: &'static str,
    provider: u64,
    out_sample: *mut *mut ForcingsSample,
    out_job: *mut u64,
    call: impl FnOnce(&ProviderObject) -> Result<ForcingsSample> + Send + 'static,
) -> i32 {
    guard(operation, || {
        // SAFETY: the caller's promise.
        unsafe {
            let out = Out::new("out_sample", out_sample)?;
            let provider = get(provider)?;
            job::run(operation, out_job, move || call(&provider), move |sample| out.set(sample.into_raw()))
        }
    })
}

pub(crate) fn insert(provider: ProviderObject) -> u64 {
    handle::insert(Arc::new(provider))
}

pub(crate) fn get(provider: u64) -> Result<Arc<ProviderObject>> {
    handle::get(provider)
}
