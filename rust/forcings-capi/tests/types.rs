//! Every type of series through the C interface and back: what a caller describes, what tables say of it.

mod common;

use common::*;
use forcings_capi::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

const HOUR: i64 = 3_600_000;

/// A table that is freed with its last row read.
struct Table(*mut ForcingsTable);

impl Drop for Table {
    fn drop(&mut self) {
        // SAFETY: a table of the calls below, given back once.
        unsafe { forcings_table_free(self.0) };
    }
}

/// One cell of a column of lists, or of one with a fixed width.
struct Cell {
    values: *const c_void,
    start: usize,
    len: usize,
}

impl Table {
    /// The cell of a column in a row; `None` where the row has no value.
    fn cell(&self, column: &str, row: usize) -> Option<Cell> {
        let (mut rows, mut columns) = (0, 0);
        // SAFETY: local variables and a table that is alive; what is read lies in the column, as its kind says.
        unsafe {
            ok(forcings_table_size(self.0, &mut rows, &mut columns));
            for i in 0..columns {
                let (mut name, mut name_len, mut kind) = (null(), 0, 0);
                let (mut values, mut ends, mut nulls) = (null(), null(), null());
                let out = (&mut name, &mut name_len, &mut kind, &mut values, &mut ends, &mut nulls);
                ok(forcings_table_column(self.0, i, out.0, out.1, out.2, out.3, out.4, out.5));
                if std::slice::from_raw_parts(name, name_len as usize) != column.as_bytes() {
                    continue;
                }
                if !nulls.is_null() && *nulls.add(row) == 1 {
                    return None;
                }
                let end = |i: usize| *ends.add(i) as usize;
                return Some(match kind {
                    3 | 4 | 6 => {
                        let start = row.checked_sub(1).map_or(0, end);
                        Cell { values, start, len: end(row) - start }
                    }
                    5 => Cell { values: (*values.cast::<*const u8>().add(row)).cast(), start: 0, len: end(row) / 8 },
                    _ => Cell { values, start: row, len: 1 },
                });
            }
        }
        panic!("there is no column {column}")
    }

    fn integers(&self, column: &str, row: usize) -> Option<&[i64]> {
        // SAFETY: the column has 64-bit integers, and lives as long as the table.
        self.cell(column, row)
            .map(|c| unsafe { std::slice::from_raw_parts(c.values.cast::<i64>().add(c.start), c.len) })
    }

    fn doubles(&self, column: &str, row: usize) -> Option<&[f64]> {
        // SAFETY: the column has doubles, and lives as long as the table.
        self.cell(column, row)
            .map(|c| unsafe { std::slice::from_raw_parts(c.values.cast::<f64>().add(c.start), c.len) })
    }

    fn text(&self, column: &str, row: usize) -> Option<&str> {
        // SAFETY: the column has UTF-8, and lives as long as the table.
        let bytes = |c: Cell| unsafe { std::slice::from_raw_parts(c.values.cast::<u8>().add(c.start), c.len) };
        self.cell(column, row).map(|c| std::str::from_utf8(bytes(c)).unwrap())
    }
}

fn add(store: u64, item: &ForcingsSeries) -> i64 {
    let mut id = 0;
    // SAFETY: an item and a local variable.
    ok(unsafe { forcings_series_check(item) });
    // SAFETY: as above.
    ok(unsafe { forcings_store_add(store, item, 1, 1, &mut id, null_mut()) });
    id
}

fn read(store: u64, ids: &[i64], range: &str) -> (i32, Table) {
    let (mut table, mut features) = (null_mut(), null_mut());
    let (range, len, n) = (range.as_ptr(), range.len() as u64, ids.len() as u64);
    // SAFETY: an array, a text and local variables.
    let status =
        unsafe { forcings_store_read(store, ids.as_ptr(), n, range, len, &mut table, &mut features, null_mut()) };
    drop(Table(features));
    (status, Table(table))
}

fn list(store: u64, filter: &str) -> Vec<i64> {
    let (mut table, mut features) = (null_mut(), null_mut());
    let (start, len) = (filter.as_ptr(), filter.len() as u64);
    // SAFETY: a text and local variables.
    ok(unsafe { forcings_store_list(store, start, len, &mut table, &mut features, null_mut()) });
    drop(Table(features));
    let (table, mut rows, mut columns) = (Table(table), 0, 0);
    // SAFETY: local variables and a table that is alive.
    ok(unsafe { forcings_table_size(table.0, &mut rows, &mut columns) });
    (0..rows as usize).map(|i| table.integers("id", i).unwrap()[0]).collect()
}

fn numbers(n: usize) -> Vec<f64> {
    (0..n).map(|i| i as f64).collect()
}

#[test]
fn every_type_comes_back_as_it_was_added() {
    let store = memory_store();
    let name = meta(1, "x");
    let (times, levels) = ([-HOUR, 0, 5 * HOUR], [0.1, 0.5]);
    let forecast = |item| ForcingsSeries { horizon_ms: 3 * HOUR, interval_ms: HOUR, ..item };
    let irregular =
        |series_type, item| ForcingsSeries { series_type, timestamps: times.as_ptr(), timestamps_len: 3, ..item };
    let (six, twelve, many) = (numbers(6), numbers(12), numbers(24));
    let items = [
        ("SingleTimeSeries", ForcingsSeries { initial_ms: -1, ..hourly(&name, &[3, 2], &six) }),
        ("NonSequentialTimeSeries", irregular(1, hourly(&name, &[3, 2], &six))),
        ("PersistentTimeSeries", irregular(2, hourly(&name, &[3, 2], &six))),
        ("Deterministic", forecast(ForcingsSeries { series_type: 3, ..hourly(&name, &[3, 2, 2], &twelve) })),
        (
            "Probabilistic",
            forecast(ForcingsSeries {
                series_type: 5,
                percentiles: levels.as_ptr(),
                percentiles_len: 2,
                ..hourly(&name, &[2, 3, 2, 2], &many)
            }),
        ),
        ("Scenarios", forecast(ForcingsSeries { series_type: 6, ..hourly(&name, &[4, 3, 2], &many) })),
    ];
    let ids: Vec<i64> = items.iter().map(|(_, item)| add(store, item)).collect();
    let (status, table) = read(store, &ids, "{}");
    ok(status);
    for (row, (series_type, item)) in items.iter().enumerate() {
        assert_eq!(table.text("type", row), Some(*series_type));
        // SAFETY: the item's own arrays.
        let (values, shape) = unsafe {
            (
                std::slice::from_raw_parts(item.values.cast::<f64>(), item.values_len as usize / 8),
                std::slice::from_raw_parts(item.shape.cast::<i64>(), item.rank as usize),
            )
        };
        assert_eq!(table.doubles("values", row), Some(values), "{series_type}");
        assert_eq!(table.integers("shape", row), Some(shape), "{series_type}");
        let irregular = matches!(item.series_type, 1 | 2);
        assert_eq!(table.integers("timestamps_ms", row), irregular.then_some(&times[..]));
        assert_eq!(table.integers("initial_ms", row), (!irregular).then_some(&[item.initial_ms][..]));
        assert_eq!(table.integers("resolution_ms", row), (!irregular).then_some(&[HOUR][..]));
        assert_eq!(table.doubles("percentiles", row), (item.series_type == 5).then_some(&levels[..]));
        assert_eq!(table.integers("scenarios", row), (item.series_type == 6).then_some(&[4][..]));
        let windows = item.series_type >= 3;
        assert_eq!(table.integers("length", row), (!windows).then_some(&[3][..]));
        assert_eq!(table.integers("count", row), windows.then_some(&[2][..]));
        assert_eq!(table.integers("horizon_ms", row), windows.then_some(&[3 * HOUR][..]));
        assert_eq!(table.integers("interval_ms", row), windows.then_some(&[HOUR][..]));
        assert_eq!(table.integers("interval_months", row), None);
        let element: &[i64] = if item.series_type == 6 { &[] } else { &[2] };
        assert_eq!(table.integers("element_shape", row), Some(element), "{series_type}");
    }
    // Only the second window of each forecast, and the step in force of the others.
    let (status, table) = read(store, &ids, r#"{"from":{"ms":3600000,"kind":"utc"}}"#);
    ok(status);
    assert_eq!(table.integers("timestamps_ms", 1), Some(&[5 * HOUR][..]));
    assert_eq!(table.integers("timestamps_ms", 2), Some(&[0, 5 * HOUR][..]));
    assert_eq!(table.integers("shape", 3), Some(&[3, 1, 2][..]));
    assert_eq!(table.doubles("values", 3), Some(&[2.0, 3.0, 6.0, 7.0, 10.0, 11.0][..]));
    // SAFETY: a null `out_job` is legal.
    ok(unsafe { forcings_store_close(store, null_mut()) });
}

#[test]
fn references_are_kept_and_bound_ranges() {
    let store = memory_store();
    let values = numbers(2);
    let mut ids = Vec::new();
    for (owner, reference) in [(1, None), (2, Some("zoneless")), (3, Some("-0730")), (4, Some("America/Denver"))] {
        let meta = meta(owner, "x");
        let text = reference.unwrap_or_default();
        let item = ForcingsSeries {
            time_reference: if reference.is_some() { text.as_ptr() } else { null() },
            time_reference_len: text.len() as u64,
            ..hourly(&meta, &[2], &values)
        };
        ids.push(add(store, &item));
    }
    let (status, table) = read(store, &ids, "{}");
    ok(status);
    let texts: Vec<_> = (0..4).map(|row| table.text("time_reference", row)).collect();
    assert_eq!(texts, [None, Some("zoneless"), Some("-07:30"), Some("America/Denver")]);
    assert_eq!(list(store, r#"{"zoneless":true}"#), ids[1..2]);
    let range = |kind: &str| format!(r#"{{"from":{{"ms":0,"kind":"{kind}"}}}}"#);
    for (ids, kind, status) in [
        (&ids[..1], "utc", 0),
        (&ids[1..2], "utc", 1),
        (&ids[1..2], "zoneless", 0),
        (&ids[..1], "zoneless", 1),
        (&ids[..], "floating", 1),
        (&ids[2..], "floating", 0),
    ] {
        assert_eq!(read(store, ids, &range(kind)).0, status, "{kind} {ids:?}");
    }
    // SAFETY: a null `out_job` is legal.
    ok(unsafe { forcings_store_close(store, null_mut()) });
}

#[test]
fn descriptions_are_checked() {
    let (name, values) = (meta(1, "x"), numbers(6));
    let fine = hourly(&name, &[6], &values);
    let check = |item: &ForcingsSeries| {
        // SAFETY: an item whose parts are alive.
        let status = unsafe { forcings_series_check(item) };
        if status == 0 {
            String::new()
        } else {
            last_error().1
        }
    };
    assert_eq!(check(&ForcingsSeries { meta: null(), ..hourly(&name, &[6], &values) }), "");
    assert_eq!(check(&fine), "");
    let descending = [HOUR, 0];
    let cases = [
        (ForcingsSeries { size: 8, ..hourly(&name, &[6], &values) }, "size"),
        (ForcingsSeries { dtype: 6, ..hourly(&name, &[6], &values) }, "element type 6"),
        (ForcingsSeries { series_type: 7, ..hourly(&name, &[6], &values) }, "no type 7"),
        (ForcingsSeries { series_type: 4, ..hourly(&name, &[6], &values) }, "transform"),
        (ForcingsSeries { resolution_ms: 0, ..hourly(&name, &[6], &values) }, "positive"),
        (ForcingsSeries { resolution_months: 1, ..hourly(&name, &[6], &values) }, "both"),
        (ForcingsSeries { resolution_ms: 0, resolution_months: 1 << 40, ..hourly(&name, &[6], &values) }, "too long"),
        (ForcingsSeries { values_len: 8, ..hourly(&name, &[6], &values) }, "bytes"),
        (ForcingsSeries { series_type: 3, horizon_ms: 3 * HOUR, ..hourly(&name, &[6], &values) }, "shape"),
        (ForcingsSeries { series_type: 3, horizon_ms: HOUR / 2, ..hourly(&name, &[2, 3], &values) }, "steps"),
        (
            ForcingsSeries {
                series_type: 1,
                timestamps: descending.as_ptr(),
                timestamps_len: 2,
                ..hourly(&name, &[2, 3], &values)
            },
            "00:00:00Z follows 1970-01-01T01",
        ),
        (ForcingsSeries { time_reference: b"+99".as_ptr(), time_reference_len: 3, ..fine }, "+99"),
    ];
    for (item, part) in cases {
        let text = check(&item);
        assert!(text.contains(part), "{text:?} lacks {part:?}");
    }
}

#[test]
fn every_filter_narrows_a_listing() {
    let store = memory_store();
    let values = numbers(6);
    let names = [meta(1, "wind 1"), meta(2, "wind 2")];
    let first = add(store, &hourly(&names[0], &[6], &values));
    let forecast = ForcingsSeries {
        series_type: 3,
        initial_ms: HOUR,
        horizon_ms: 2 * HOUR,
        interval_ms: 2 * HOUR,
        ..hourly(&names[1], &[2, 3], &values)
    };
    let second = add(store, &forecast);
    for (filter, expected) in [
        (r#"{"name_glob":"wind*"}"#, vec![first, second]),
        (r#"{"name_glob":"*2"}"#, vec![second]),
        (r#"{"interval":{"ms":7200000}}"#, vec![second]),
        (r#"{"initial_ms":0}"#, vec![first]),
        (r#"{"length":6}"#, vec![first]),
        (r#"{"series_type":"Deterministic"}"#, vec![second]),
        (r#"{"exact_features":{}}"#, vec![first, second]),
        (r#"{"exact_features":{"a":1}}"#, vec![]),
        (r#"{"zoneless":false,"resolution":{"ms":3600000}}"#, vec![first, second]),
    ] {
        assert_eq!(list(store, filter), expected, "{filter}");
        let mut found = 7;
        // SAFETY: a text and a local variable.
        ok(unsafe { forcings_store_has(store, filter.as_ptr(), filter.len() as u64, &mut found, null_mut()) });
        assert_eq!(found, u8::from(!expected.is_empty()));
    }
    // SAFETY: a null `out_job` is legal.
    ok(unsafe { forcings_store_close(store, null_mut()) });
}
