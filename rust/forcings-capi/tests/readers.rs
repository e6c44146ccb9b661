//! Readers of both kinds through the C interface: what they are built from, what they say of themselves, what they read.

mod common;

use common::*;
use forcings_capi::*;
use std::ptr::{null, null_mut};

const HOUR: i64 = 3_600_000;

/// Builds a reader; the status and its handle.
fn build(forecasts: bool, store: u64, options: &str) -> (i32, u64) {
    let call = if forecasts { forcings_forecast_reader_build } else { forcings_reader_build };
    let mut reader = 0;
    // SAFETY: a text and a local variable.
    (unsafe { call(store, options.as_ptr(), options.len() as u64, &mut reader, null_mut()) }, reader)
}

fn timestamps(reader: u64) -> Vec<i64> {
    let mut count = 0;
    // SAFETY: no places and a local variable, then as many places as were asked for.
    unsafe {
        ok(forcings_reader_timestamps(reader, null_mut(), 0, &mut count));
        let mut times = vec![0; count as usize];
        ok(forcings_reader_timestamps(reader, times.as_mut_ptr(), count, &mut count));
        times
    }
}

/// The values of a group or slot, or the status.
fn values(reader: u64, part: u64) -> Result<Vec<f64>, i32> {
    let (mut start, mut len, mut buffer) = (null(), 0, null_mut());
    // SAFETY: local variables; the values are doubles in a buffer that is held while they are copied.
    unsafe {
        match forcings_reader_values(reader, part, &mut start, &mut len, &mut buffer) {
            0 => {
                let values = std::slice::from_raw_parts(start.cast::<f64>(), len as usize / 8).to_vec();
                forcings_buffer_release(buffer);
                Ok(values)
            }
            status => Err(status),
        }
    }
}

/// The integers of a column, and the texts where it has texts.
fn column(table: *mut ForcingsTable, wanted: &str) -> (Vec<Option<i64>>, Vec<String>) {
    let (mut rows, mut columns) = (0, 0);
    // SAFETY: local variables and a table that is alive; what is read lies in the column, as its kind says.
    unsafe {
        ok(forcings_table_size(table, &mut rows, &mut columns));
        for i in 0..columns {
            let (mut name, mut name_len, mut kind) = (null(), 0, 0);
            let (mut values, mut ends, mut nulls) = (null(), null(), null());
            let out = (&mut name, &mut name_len, &mut kind, &mut values, &mut ends, &mut nulls);
            ok(forcings_table_column(table, i, out.0, out.1, out.2, out.3, out.4, out.5));
            if std::slice::from_raw_parts(name, name_len as usize) != wanted.as_bytes() {
                continue;
            }
            let is_null = |row: usize| !nulls.is_null() && *nulls.add(row) == 1;
            if kind == 3 {
                let end = |row: usize| *ends.add(row) as usize;
                let text = |row: usize| {
                    let start = row.checked_sub(1).map_or(0, end);
                    std::slice::from_raw_parts(values.cast::<u8>().add(start), end(row) - start)
                };
                let texts = (0..rows as usize).map(|row| String::from_utf8(text(row).to_vec()).unwrap());
                return (Vec::new(), texts.collect());
            }
            let integer = |row: usize| (!is_null(row)).then(|| *values.cast::<i64>().add(row));
            return ((0..rows as usize).map(integer).collect(), Vec::new());
        }
    }
    panic!("there is no column {wanted}")
}

fn add(store: u64, item: &ForcingsSeries) {
    let mut id = 0;
    // SAFETY: an item and a local variable.
    ok(unsafe { forcings_store_add(store, item, 1, 0, &mut id, null_mut()) });
}

/// Two hourly series, of 6 steps from the first hour on and of 4 from the third.
fn ragged() -> u64 {
    let store = memory_store();
    let (first, second) = ([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [12.0, 13.0, 14.0, 15.0]);
    add(store, &hourly(&meta(1, "load"), &[6], &first));
    add(store, &ForcingsSeries { initial_ms: 2 * HOUR, ..hourly(&meta(2, "load"), &[4], &second) });
    store
}

fn close(store: u64, readers: &[u64]) {
    readers.iter().for_each(|&reader| ok(forcings_reader_close(reader)));
    // SAFETY: a null `out_job` is legal.
    ok(unsafe { forcings_store_close(store, null_mut()) });
}

#[test]
fn a_window_has_a_start_and_an_extent() {
    let store = ragged();
    let filter = r#""filter":{"resolution":{"ms":3600000}}"#;
    for (options, part) in [
        (format!("{{{filter}}}"), "start"),
        (format!(r#"{{{filter},"extent":2}}"#), "start"),
        (format!(r#"{{{filter},"start":{{"ms":0,"kind":"utc"}}}}"#), "load"),
        (format!(r#"{{{filter},"start":{{"ms":7200000,"kind":"zoneless"}}}}"#), "load"),
        (format!(r#"{{{filter},"start":{{"ms":7200000,"kind":"utc"}},"extent":5}}"#), "5 steps"),
        (format!(r#"{{{filter},"start":7200000}}"#), "options"),
        (format!(r#"{{{filter},"ahead":1}}"#), "ahead"),
        ("{}".into(), "filter"),
    ] {
        assert_eq!(build(false, store, &options), (1, 0), "{options}");
        let (_, text, ..) = last_error();
        assert!(text.contains(part), "{options}: {text}");
    }
    let options = format!(r#"{{{filter},"start":{{"ms":10800000,"kind":"floating"}},"extent":2,"readahead":0}}"#);
    let (status, reader) = build(false, store, &options);
    ok(status);
    assert_eq!(timestamps(reader), [3 * HOUR, 4 * HOUR]);
    assert_eq!(values(reader, 0), Err(1), "nothing was read");
    ok(forcings_reader_read_step(reader, 1));
    assert_eq!(values(reader, 0).unwrap(), [4.0, 14.0]);
    ok(forcings_reader_read(reader, 3 * HOUR));
    assert_eq!(values(reader, 0).unwrap(), [3.0, 13.0]);
    assert_eq!(values(reader, 1), Err(1), "there is one group");
    assert_eq!(forcings_reader_read(reader, 0), 5);
    assert_eq!(values(reader, 0), Err(1), "the last read failed");
    // SAFETY: local variables.
    unsafe {
        let mut table = null_mut();
        ok(forcings_reader_describe(reader, &mut table));
        assert_eq!(column(table, "type").1, ["SingleTimeSeries"]);
        let expected = [("series", Some(2)), ("length", Some(2)), ("resolution_ms", Some(HOUR)), ("interval_ms", None)];
        for (name, value) in expected {
            assert_eq!(column(table, name).0, [value], "{name}");
        }
        forcings_table_free(table);
        assert_eq!(forcings_reader_slots(reader, &mut table), 1);
        assert_eq!(forcings_reader_entries(reader, &mut table, &mut null_mut()), 1);
    }
    close(store, &[reader]);
}

#[test]
fn forecasts_share_slots() {
    let store = memory_store();
    let (windows, other) = ([0.0, 10.0, 1.0, 11.0, 2.0, 12.0], [5.0, 15.0]);
    let forecast =
        |steps: i64, item| ForcingsSeries { series_type: 3, horizon_ms: steps * HOUR, interval_ms: HOUR, ..item };
    add(store, &forecast(3, hourly(&meta(1, "wind"), &[3, 2], &windows)));
    add(store, &forecast(1, hourly(&meta(2, "wind"), &[1, 2], &other)));
    add(store, &forecast(3, hourly(&meta(3, "wind"), &[3, 2], &windows)));
    assert_eq!(build(true, store, r#"{"filter":{"resolution":{"ms":3600000}}}"#), (1, 0), "no type");
    let options = r#"{"filter":{"series_type":"Deterministic","resolution":{"ms":3600000}}}"#;
    assert_eq!(build(false, store, options), (1, 0), "a reader of static series");
    let (status, reader) = build(true, store, options);
    ok(status);
    assert_eq!(timestamps(reader), [0, HOUR]);
    ok(forcings_reader_read(reader, HOUR));
    assert_eq!(values(reader, 0).unwrap(), [10.0, 11.0, 12.0]);
    assert_eq!(values(reader, 1).unwrap(), [15.0]);
    ok(forcings_reader_read_step(reader, 0));
    assert_eq!(values(reader, 0).unwrap(), [0.0, 1.0, 2.0]);
    assert_eq!(values(reader, 2), Err(1), "there are two slots");
    assert_eq!(forcings_reader_read_step(reader, 2), 5);
    assert_eq!(values(reader, 0), Err(1), "the last read failed");
    // SAFETY: local variables.
    unsafe {
        let (mut table, mut features, mut step) = (null_mut(), null_mut(), 7);
        ok(forcings_reader_entries(reader, &mut table, &mut features));
        assert_eq!(column(table, "slot").0, [Some(0), Some(1), Some(0)]);
        assert_eq!(column(table, "owner_id").0, [Some(1), Some(2), Some(3)]);
        forcings_table_free(table);
        forcings_table_free(features);
        ok(forcings_reader_slots(reader, &mut table));
        assert_eq!(column(table, "dtype").0, [Some(0), Some(0)]);
        forcings_table_free(table);
        ok(forcings_reader_describe(reader, &mut table));
        assert_eq!((column(table, "series").0, column(table, "interval_ms").0), (vec![Some(3)], vec![Some(HOUR)]));
        forcings_table_free(table);
        ok(forcings_reader_index_at(reader, HOUR, &mut step));
        assert_eq!(step, 1);
        assert_eq!(forcings_reader_groups(reader, &mut table), 1);
        assert_eq!(forcings_reader_columns(reader, 0, &mut table, &mut features), 1);
    }
    close(store, &[reader]);
}
