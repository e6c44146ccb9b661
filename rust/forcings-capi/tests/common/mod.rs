//! Calls of the C interface as a program in C would make them. Every pointer passed is a local variable.

#![allow(dead_code, reason = "each test file uses a part of this")]

use forcings_capi::*;
use std::ptr::{null, null_mut};

/// The last error of this thread: status, text, state and numbers.
pub(crate) fn last_error() -> (i32, String, i64, [i64; 2]) {
    let (mut text, mut len, mut state, mut numbers) = (std::ptr::null(), 0, 0, [0; 2]);
    // SAFETY: local variables; the text is valid until the next failure on this thread.
    unsafe {
        let status = forcings_last_error(&mut text, &mut len, &mut state, numbers.as_mut_ptr());
        let text = if len == 0 { &[][..] } else { std::slice::from_raw_parts(text, len as usize) };
        (status, String::from_utf8(text.to_vec()).unwrap(), state, numbers)
    }
}

/// Panics with the text of the error unless `status` is 0.
pub(crate) fn ok(status: i32) {
    assert_eq!(status, 0, "{}", last_error().1);
}

pub(crate) fn memory_store() -> u64 {
    let mut store = 0;
    // SAFETY: a local variable.
    ok(unsafe { forcings_store_memory(&mut store) });
    store
}

/// A file of the Julia tests.
pub(crate) fn data(name: &str) -> String {
    format!("{}/../../julia/test/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn open_provider(file: &str) -> (i32, u64) {
    let options = format!(r#"{{"files":["{}"],"format":"netcdf","variables":[]}}"#, data(file));
    let mut provider = 0;
    // SAFETY: a text and local variables.
    let status = unsafe { forcings_provider_open(options.as_ptr(), options.len() as u64, &mut provider, null_mut()) };
    (status, provider)
}

pub(crate) fn build_group(provider: u64, inline: bool) -> u64 {
    let options = format!(r#"{{"keys":["winds"],"depth":2,"inline":{inline}}}"#);
    let mut group = 0;
    // SAFETY: a text, one handle, and a local variable.
    ok(unsafe { forcings_group_build(options.as_ptr(), options.len() as u64, &provider, 1, &mut group) });
    group
}

/// A regular hourly series from 1970 on, whose parts are borrowed.
pub(crate) fn hourly(meta: &str, shape: &[u64], values: &[f64]) -> ForcingsSeries {
    ForcingsSeries {
        size: size_of::<ForcingsSeries>() as u64,
        meta: meta.as_ptr(),
        meta_len: meta.len() as u64,
        time_reference: null(),
        time_reference_len: 0,
        series_type: 0,
        initial_ms: 0,
        resolution_ms: 3_600_000,
        resolution_months: 0,
        horizon_ms: 0,
        horizon_months: 0,
        interval_ms: 0,
        interval_months: 0,
        timestamps: null(),
        timestamps_len: 0,
        percentiles: null(),
        percentiles_len: 0,
        shape: shape.as_ptr(),
        rank: shape.len() as u64,
        values: values.as_ptr().cast(),
        values_len: 8 * values.len() as u64,
        dtype: 0,
    }
}

/// The owner and the name of a series.
pub(crate) fn meta(owner: i64, name: &str) -> String {
    format!(r#"{{"owner":{{"id":{owner},"type":"Bus","category":"Component"}},"name":"{name}","features":{{}}}}"#)
}

pub(crate) fn add_load(store: u64, owner: i64, values: &[f64]) -> (i32, i64) {
    let (meta, shape) = (meta(owner, "load"), [values.len() as u64]);
    let item = hourly(&meta, &shape, values);
    let mut id = 0;
    // SAFETY: an item and what it points to, and a local variable.
    let status = unsafe { forcings_store_add(store, &item, 1, 0, &mut id, null_mut()) };
    (status, id)
}
