//! Providers over readers through the C interface: both kinds, whatever is closed first, and what they do not have.

mod common;

use common::*;
use forcings::ErrorKind;
use forcings_capi::*;
use std::ptr::{null, null_mut};

fn build_reader(store: u64, filter: &str) -> u64 {
    let options = format!(r#"{{"filter":{filter}}}"#);
    let call = if filter.contains("series_type") { forcings_forecast_reader_build } else { forcings_reader_build };
    let mut reader = 0;
    // SAFETY: a text and a local variable.
    ok(unsafe { call(store, options.as_ptr(), options.len() as u64, &mut reader, null_mut()) });
    reader
}

fn provider_of(reader: u64) -> (i32, u64) {
    let mut provider = 0;
    // SAFETY: a local variable.
    (unsafe { forcings_provider_from_reader(reader, &mut provider, null_mut()) }, provider)
}

fn times(provider: u64) -> Vec<f64> {
    let (mut times, mut count) = ([0.0; 8], 0);
    // SAFETY: eight places and a local variable.
    ok(unsafe { forcings_provider_times(provider, times.as_mut_ptr(), 8, &mut count) });
    times[..count as usize].to_vec()
}

/// The doubles `values` of a sample with their extents, and the sample is given back.
fn values_of(sample: *mut ForcingsSample) -> (Vec<u64>, Vec<f64>) {
    let (mut found, mut kind, mut rank, mut shape, mut values) = (0, 0, 0, null(), null());
    let name = "values";
    // SAFETY: the sample is given back behind the last use of what it holds; the rest are local variables.
    unsafe {
        let (text, len) = (name.as_ptr(), name.len() as u64);
        let out = (&mut found, &mut kind, &mut rank, &mut shape, &mut values);
        ok(forcings_sample_field(sample, 0, text, len, out.0, out.1, out.2, out.3, out.4));
        assert_eq!((found, kind), (1, 0));
        let shape = std::slice::from_raw_parts(shape, rank as usize).to_vec();
        let values = std::slice::from_raw_parts(values.cast::<f64>(), shape.iter().product::<u64>() as usize).to_vec();
        forcings_sample_release(sample);
        (shape, values)
    }
}

fn sample_at(provider: u64, t: f64) -> Result<(Vec<u64>, Vec<f64>), i32> {
    let mut sample = null_mut();
    // SAFETY: a local variable.
    match unsafe { forcings_provider_sample_at(provider, t, &mut sample, null_mut()) } {
        0 => Ok(values_of(sample)),
        status => Err(status),
    }
}

fn close_store(store: u64) {
    // SAFETY: a null `out_job` is legal.
    ok(unsafe { forcings_store_close(store, null_mut()) });
}

const HOURLY: &str = r#"{"resolution":{"ms":3600000}}"#;

#[test]
fn it_lives_as_long_as_the_store_whatever_becomes_of_the_reader() {
    let store = memory_store();
    ok(add_load(store, 1, &[1.0, 2.0, 3.0]).0);
    ok(add_load(store, 2, &[10.0, 20.0, 30.0]).0);
    let reader = build_reader(store, HOURLY);
    let (status, provider) = provider_of(reader);
    ok(status);
    ok(forcings_reader_close(reader));
    assert_eq!(provider_of(reader), (ErrorKind::Closed as i32, 0));
    assert_eq!(times(provider), [0.0, 3600.0, 7200.0]);
    assert_eq!(sample_at(provider, 3601.0), Ok((vec![2], vec![2.0, 20.0])));
    assert_eq!(sample_at(provider, -1.0), Err(ErrorKind::OffGrid as i32));

    let (mut windowed, window) = (0, r#"{"dims": {"column": {"indices": [1]}}}"#);
    let (mut sample, mut files, mut table) = (null_mut(), 7, null_mut());
    // SAFETY: texts and local variables.
    unsafe {
        ok(forcings_provider_with_window(provider, window.as_ptr(), window.len() as u64, &mut windowed));
        ok(forcings_provider_refresh(windowed, 7200.0, &mut sample, null_mut()));
        assert_eq!(values_of(sample), (vec![1], vec![30.0]));
        ok(forcings_provider_peek(windowed, 0.0, b"{}".as_ptr(), 2, &mut sample, null_mut()));
        assert_eq!(values_of(sample), (vec![2], vec![1.0, 10.0]));
        ok(forcings_provider_prefetch(provider, 0.0, 7200.0, &mut files, null_mut()));
        assert_eq!(files, 0);
        assert_eq!(forcings_provider_prefetch(provider, f64::NAN, 0.0, &mut files, null_mut()), 1);
        assert_eq!(forcings_provider_materialize(provider, &mut sample, null_mut()), 1);
        assert!(last_error().1.contains("change with time"), "{}", last_error().1);
        let (names, bounds) = (r#"["id"]"#, [0.0, 9.0]);
        let (text, len) = (names.as_ptr(), names.len() as u64);
        let status = forcings_provider_coord_window(provider, text, len, bounds.as_ptr(), 2, &mut table, null_mut());
        assert_eq!(status, ErrorKind::Selection as i32);
    }
    let group = build_group(windowed, true);
    ok(forcings_provider_close(windowed));
    // SAFETY: no list and local variables.
    unsafe {
        ok(forcings_group_start(group, 1, null(), 0, -1));
        let mut decoded = 0;
        ok(forcings_group_decode_one(group, &mut decoded));
        ok(forcings_group_try_take(group, 2, &mut sample));
    }
    assert_eq!(values_of(sample), (vec![1], vec![30.0]));
    close_store(store);
    assert_eq!(sample_at(provider, 0.0), Err(ErrorKind::Closed as i32));
    ok(forcings_provider_close(provider));
    // SAFETY: a null `out_job` is legal.
    ok(unsafe { forcings_group_close(group, null_mut()) });
}

#[test]
fn windows_of_forecasts_have_a_column_for_each() {
    let store = memory_store();
    let meta = meta(1, "wind");
    let item = hourly(&meta, &[3, 2], &[0.0, 10.0, 1.0, 11.0, 2.0, 12.0]);
    let item = ForcingsSeries { series_type: 3, horizon_ms: 3 * 3_600_000, interval_ms: 3_600_000, ..item };
    let mut id = 0;
    // SAFETY: an item and a local variable.
    ok(unsafe { forcings_store_add(store, &item, 1, 0, &mut id, null_mut()) });
    let reader = build_reader(store, r#"{"series_type":"Deterministic","resolution":{"ms":3600000}}"#);
    let (status, provider) = provider_of(reader);
    ok(status);
    assert_eq!(times(provider), [0.0, 3600.0]);
    assert_eq!(sample_at(provider, 1e9), Ok((vec![1, 3], vec![10.0, 11.0, 12.0])));
    close_store(store);
    assert_eq!(provider_of(reader).0, ErrorKind::Closed as i32);
    ok(forcings_provider_close(provider));
    ok(forcings_reader_close(reader));
}

#[test]
fn nothing_is_made_of_nothing() {
    let store = memory_store();
    let reader = build_reader(store, HOURLY);
    assert_eq!(provider_of(reader), (ErrorKind::NotFound as i32, 0));
    assert!(last_error().1.contains("matched no SingleTimeSeries"), "{}", last_error().1);
    assert_eq!(provider_of(0), (ErrorKind::InvalidParameter as i32, 0));
    close_store(store);
}
