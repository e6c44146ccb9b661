//! Operations on a store: results, status numbers, and handles that were closed.

mod common;

use common::*;
use forcings_capi::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// Calls `f` with an out-parameter for a table and answers the integers of one of its columns, in order of rows.
fn integers(column: &str, f: impl FnOnce(*mut *mut ForcingsTable) -> i32) -> Vec<i64> {
    let mut table = null_mut();
    ok(f(&mut table));
    // SAFETY: a table of the library, which is freed last.
    unsafe {
        let found = take_integers(table, column);
        forcings_table_free(table);
        found
    }
}

unsafe fn take_integers(table: *const ForcingsTable, column: &str) -> Vec<i64> {
    let (mut rows, mut columns) = (0, 0);
    // SAFETY: the caller's table, and local variables.
    unsafe {
        ok(forcings_table_size(table, &mut rows, &mut columns));
        for i in 0..columns {
            let (mut name, mut name_len, mut kind) = (null(), 0, 0);
            let (mut values, mut ends, mut nulls) = (null::<c_void>(), null(), null());
            ok(forcings_table_column(
                table,
                i,
                &mut name,
                &mut name_len,
                &mut kind,
                &mut values,
                &mut ends,
                &mut nulls,
            ));
            if std::slice::from_raw_parts(name, name_len as usize) == column.as_bytes() {
                assert_eq!((kind, nulls), (0, null()), "{column}");
                return std::slice::from_raw_parts(values.cast(), rows as usize).to_vec();
            }
        }
    }
    panic!("the table has no column {column}");
}

fn list(store: u64, filter: &str) -> Vec<i64> {
    integers("id", |table| {
        let mut features = null_mut();
        // SAFETY: a text and local variables.
        unsafe {
            let status =
                forcings_store_list(store, filter.as_ptr(), filter.len() as u64, table, &mut features, null_mut());
            forcings_table_free(features);
            status
        }
    })
}

/// A call with one text that answers a number: its status and the number.
fn counted(
    f: unsafe extern "C" fn(u64, *const u8, u64, *mut u64, *mut u64) -> i32,
    store: u64,
    text: &str,
) -> (i32, u64) {
    let mut n = 7;
    // SAFETY: a text and a local variable.
    (unsafe { f(store, text.as_ptr(), text.len() as u64, &mut n, null_mut()) }, n)
}

fn transform(store: u64, options: &str) -> (i32, u64, Vec<i64>) {
    let (mut sources, mut table) = (7, null_mut());
    // SAFETY: a text and local variables; the table is freed.
    unsafe {
        let status = forcings_store_transform(
            store,
            options.as_ptr(),
            options.len() as u64,
            &mut sources,
            &mut table,
            null_mut(),
        );
        let ids = if table.is_null() { Vec::new() } else { take_integers(table, "id") };
        forcings_table_free(table);
        (status, sources, ids)
    }
}

fn copy(store: u64, id: i64, options: &str) -> (i32, i64) {
    let mut copy = 7;
    // SAFETY: a text and a local variable.
    let status =
        unsafe { forcings_store_copy(store, id, options.as_ptr(), options.len() as u64, &mut copy, null_mut()) };
    (status, copy)
}

fn rename(store: u64, id: i64, name: &[u8]) -> i32 {
    // SAFETY: a text.
    unsafe { forcings_store_rename(store, id, name.as_ptr(), name.len() as u64, null_mut()) }
}

fn clear(store: u64, owner: Option<&str>) -> (i32, u64) {
    let (start, len) = owner.map_or((null(), 0), |text| (text.as_ptr(), text.len() as u64));
    let mut n = 7;
    // SAFETY: a text or null, and a local variable.
    (unsafe { forcings_store_clear(store, start, len, &mut n, null_mut()) }, n)
}

fn close(store: u64) {
    // SAFETY: a null `out_job` is legal.
    ok(unsafe { forcings_store_close(store, null_mut()) });
}

#[test]
fn forecasts_are_derived_once() {
    let store = memory_store();
    let (_, id) = add_load(store, 1, &[1.0, 2.0, 3.0, 4.0]);
    let options = r#"{"horizon":{"ms":7200000},"interval":{"ms":3600000},"filter":{}}"#;
    assert_eq!(transform(store, options), (0, 1, vec![id + 1]));
    assert_eq!(transform(store, options), (0, 1, vec![]));
    let none = r#"{"horizon":{"ms":7200000},"interval":{"ms":3600000},"filter":{"name":"none"}}"#;
    assert_eq!(transform(store, none), (0, 0, vec![]));
    for wrong in [
        r#"{"horizon":{"ms":7200000},"interval":{"ms":3600000}}"#,
        r#"{"horizon":{"ms":1,"months":1},"interval":{"ms":3600000},"filter":{}}"#,
        r#"{"horizon":{"ms":86400000},"interval":{"ms":3600000},"filter":{}}"#,
    ] {
        assert_eq!(transform(store, wrong), (1, 0, vec![]), "{wrong}");
    }
    close(store);
    assert_eq!(transform(store, options), (63, 0, vec![]));
}

#[test]
fn series_are_renamed_copied_moved_and_removed() {
    let store = memory_store();
    let (_, a) = add_load(store, 1, &[1.0]);
    let (_, b) = add_load(store, 2, &[1.0]);
    assert_eq!(rename(store, a, b"demand"), 0);
    assert_eq!(list(store, r#"{"name":"demand"}"#), [a]);
    assert_eq!(rename(store, 99, b"x"), 2);
    assert_eq!(rename(store, a, b"\xff"), 1);

    let to = |id: i64, category: &str, name: &str| {
        format!(r#"{{"owner":{{"id":{id},"type":"Bus","category":"{category}"}},"name":{name}}}"#)
    };
    let (status, c) = copy(store, a, &to(3, "Component", "null"));
    assert_eq!((status, list(store, r#"{"owner_id":3,"name":"demand"}"#)), (0, vec![c]));
    assert_eq!(copy(store, a, &to(3, "Component", "null")), (3, 0));
    assert_eq!(copy(store, a, &to(3, "SupplementalAttribute", "null")), (1, 0));
    assert_eq!(copy(store, 99, &to(3, "SupplementalAttribute", "null")), (2, 0));
    assert_eq!(copy(store, a, &to(3, "Bus", "null")), (1, 0));

    let moving = r#"{"old":3,"new":1,"category":"Component"}"#;
    assert_eq!(counted(forcings_store_replace_owner, store, moving), (3, 0));
    let moving = r#"{"old":3,"new":2,"category":"Component"}"#;
    assert_eq!(counted(forcings_store_replace_owner, store, moving), (0, 1));
    assert_eq!(list(store, r#"{"owner_id":2}"#), [b, c]);
    assert_eq!(counted(forcings_store_replace_owner, store, r#"{"old":3,"new":2,"category":"Bus"}"#), (1, 0));

    assert_eq!(counted(forcings_store_remove_matching, store, r#"{"owner_id":9}"#), (0, 0));
    assert_eq!(counted(forcings_store_remove_matching, store, r#"{"nme":"load"}"#), (1, 0));
    assert_eq!(counted(forcings_store_remove_matching, store, r#"{"name":"load"}"#), (0, 1));
    assert_eq!(clear(store, Some(r#"{"id":1,"category":"Component"}"#)), (0, 1));
    assert_eq!(clear(store, Some(r#"{"id":1}"#)), (1, 0));
    assert_eq!(clear(store, Some("")), (1, 0), "an empty text is not the same as none");
    assert_eq!(clear(store, None), (0, 1));
    assert_eq!(clear(store, None), (0, 0));
    close(store);
    assert_eq!(rename(store, a, b"x"), 63);
    assert_eq!(copy(store, a, &to(3, "Component", "null")), (63, 0));
    assert_eq!(counted(forcings_store_replace_owner, store, moving), (63, 0));
    assert_eq!(counted(forcings_store_remove_matching, store, "{}"), (63, 0));
    assert_eq!(clear(store, None), (63, 0));
}

#[test]
fn entities_are_associated() {
    let store = memory_store();
    let add = |relation: i32, list: &str| {
        // SAFETY: a text.
        unsafe { forcings_relation_add(store, relation, list.as_ptr(), list.len() as u64, null_mut()) }
    };
    let both = r#"[{"from_id":1,"from_type":"Generator","to_id":7,"to_type":"Outage"},
                   {"from_id":2,"from_type":"Load","to_id":7,"to_type":"Outage"}]"#;
    for relation in [0, 1] {
        assert_eq!(add(relation, both), 0);
        assert_eq!(add(relation, both), 4);
    }
    assert_eq!(add(2, both), 1);
    assert_eq!(add(0, r#"[{"from_id":1}]"#), 1);

    let by = |call: unsafe extern "C" fn(u64, i32, *const u8, u64, *mut u64, *mut u64) -> i32, r: i32, f: &str| {
        let mut n = 7;
        // SAFETY: a text and a local variable.
        (unsafe { call(store, r, f.as_ptr(), f.len() as u64, &mut n, null_mut()) }, n)
    };
    let found = |relation: i32, filter: &str| {
        integers("from_id", |table| {
            // SAFETY: a text and a local variable.
            unsafe { forcings_relation_list(store, relation, filter.as_ptr(), filter.len() as u64, table, null_mut()) }
        })
    };
    assert_eq!(found(0, "{}"), [1, 2]);
    assert_eq!(found(0, r#"{"from_types":["Load","Bus"],"to_id":7}"#), [2]);
    assert_eq!(found(1, r#"{"to_types":[]}"#), [0; 0]);
    assert_eq!(by(forcings_relation_count, 1, r#"{"to_id":7}"#), (0, 2));
    assert_eq!(by(forcings_relation_count, 5, "{}"), (1, 0));
    assert_eq!(by(forcings_relation_count, 0, r#"{"id":7}"#), (1, 0));

    let replace = |relation: i32, category: i32, old: i64, new: i64| {
        let mut n = 7;
        // SAFETY: a local variable.
        (unsafe { forcings_relation_replace(store, relation, category, old, new, &mut n, null_mut()) }, n)
    };
    assert_eq!(replace(0, 0, 1, 2), (4, 0));
    assert_eq!(replace(0, 1, 7, 8), (0, 2));
    assert_eq!(replace(1, 0, 7, 8), (0, 2));
    assert_eq!(replace(0, 2, 7, 8), (1, 0));
    let (mut from, mut to) = (null_mut(), null_mut());
    // SAFETY: a text and local variables; the tables are freed.
    unsafe {
        ok(forcings_relation_types(store, 0, b"{}".as_ptr(), 2, &mut from, &mut to, null_mut()));
        let (mut rows, mut columns) = (0, 0);
        ok(forcings_table_size(from, &mut rows, &mut columns));
        assert_eq!((rows, columns), (2, 1));
        ok(forcings_table_size(to, &mut rows, &mut columns));
        assert_eq!((rows, columns), (1, 1));
        forcings_table_free(from);
        forcings_table_free(to);
    }
    assert_eq!(by(forcings_relation_remove, 0, r#"{"from_id":1,"to_id":8}"#), (0, 1));
    assert_eq!(by(forcings_relation_remove, 0, "{}"), (0, 1));
    close(store);
    assert_eq!(by(forcings_relation_remove, 0, "{}"), (63, 0));
    assert_eq!(add(0, both), 63);
    assert_eq!(replace(0, 0, 1, 2), (63, 0));
}

#[test]
fn a_store_is_summed_up() {
    let store = memory_store();
    add_load(store, 5, &[1.0, 2.0]);
    add_load(store, 3, &[1.0, 2.0]);
    let distinct = |field: &str, table: *mut *mut ForcingsTable| {
        // SAFETY: a text and a local variable.
        unsafe { forcings_store_distinct(store, field.as_ptr(), field.len() as u64, table, null_mut()) }
    };
    assert_eq!(integers("value", |table| distinct("component_id", table)), [3, 5]);
    assert_eq!(integers("value", |table| distinct("attribute_id", table)), [0; 0]);
    assert_eq!(integers("value_ms", |table| distinct("resolution", table)), [3_600_000]);
    let mut table = null_mut();
    assert_eq!((distinct("colour", &mut table), table), (1, null_mut()));
    // SAFETY: texts and local variables; the tables are freed.
    unsafe {
        let groups =
            |forecasts| integers("series", |table| forcings_store_summary(store, forecasts, table, null_mut()));
        assert_eq!((groups(0), groups(1)), (vec![2], vec![]));
        let (mut counts, mut types) = (null_mut(), null_mut());
        ok(forcings_store_counts(store, &mut counts, &mut types, null_mut()));
        assert_eq!((take_integers(counts, "static_series"), take_integers(counts, "arrays")), (vec![2], vec![1]));
        assert_eq!(take_integers(types, "series"), [2]);
        forcings_table_free(counts);
        forcings_table_free(types);
        let windows = |text: &str, table| {
            forcings_store_forecast_parameters(store, text.as_ptr(), text.len() as u64, table, null_mut())
        };
        assert_eq!(integers("count", |table| windows("{}", table)), [0; 0]);
        transform(store, r#"{"horizon":{"ms":3600000},"interval":{"ms":3600000},"filter":{}}"#);
        assert_eq!(integers("count", |table| windows(r#"{"interval":{"ms":3600000}}"#, table)), [2]);
        assert_eq!(windows(r#"{"horizon":{"ms":1}}"#, &mut table), 1);
        close(store);
        assert_eq!(forcings_store_counts(store, &mut counts, &mut types, null_mut()), 63);
        assert_eq!((counts, types), (null_mut(), null_mut()), "the places are zeroed");
        assert_eq!(forcings_store_counts(store, null_mut(), &mut types, null_mut()), 1);
        assert_eq!(forcings_store_summary(store, 0, &mut table, null_mut()), 63);
        assert_eq!(windows("{}", &mut table), 63);
    }
    assert_eq!(distinct("name", &mut table), 63);
}

#[test]
fn a_store_is_checked_compacted_and_written_elsewhere() {
    let store = memory_store();
    add_load(store, 1, &[1.0, 2.0]);
    let state = || {
        let (mut known, mut series, mut open) = (7, 7, 7);
        // SAFETY: local variables.
        let status = unsafe { forcings_store_state(store, &mut known, &mut series, &mut open) };
        (status, known, series, open)
    };
    assert_eq!(state(), (0, 1, 1, 0));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("copy.nc").into_os_string().into_string().unwrap();
    let persist = |overwrite: u8| {
        // SAFETY: a text.
        unsafe { forcings_store_persist(store, path.as_ptr(), path.len() as u64, overwrite, null_mut()) }
    };
    let (mut counts, mut findings, mut series, mut table) = (null_mut(), null_mut(), null_mut(), null_mut());
    // SAFETY: local variables; the tables are freed.
    unsafe {
        ok(forcings_store_begin(store, null_mut()));
        assert_eq!(state(), (0, 1, 1, 1));
        assert_eq!(forcings_store_compact(store, &mut table, null_mut()), 1);
        assert_eq!(forcings_store_compact_physical(store, &mut table, null_mut()), 1);
        assert_eq!(persist(0), 1);
        ok(forcings_store_commit(store, null_mut()));

        ok(forcings_store_verify(store, &mut counts, &mut findings, &mut series, null_mut()));
        assert_eq!((take_integers(counts, "arrays"), take_integers(counts, "series")), (vec![1], vec![1]));
        assert_eq!(take_integers(series, "id"), [0; 0]);
        [counts, findings, series].into_iter().for_each(|table| forcings_table_free(table));
        assert_eq!(integers("length", |table| forcings_store_check(store, table, null_mut())), [2]);
        add_load(store, 2, &[1.0, 2.0, 3.0]);
        assert_eq!(forcings_store_check(store, &mut table, null_mut()), 21);
        let compacted = integers("feature_sets_reclaimed", |table| forcings_store_compact(store, table, null_mut()));
        assert_eq!(compacted, [0]);
        for may_shrink in [true, false] {
            let mut table = null_mut();
            ok(forcings_store_compact_physical(store, &mut table, null_mut()));
            let [before, after] = ["bytes_before", "bytes_after"].map(|name| take_integers(table, name)[0]);
            assert!(0 < after && (after == before || may_shrink && after < before), "{before} {after}");
            assert_eq!(take_integers(table, "feature_sets_reclaimed"), [0]);
            forcings_table_free(table);
            assert_eq!(list(store, "{}"), [1, 2]);
        }
        assert_eq!((persist(0), persist(0), persist(1)), (0, 62, 0));
        close(store);
        assert_eq!((persist(1), state()), (63, (63, 0, 0, 0)));
        assert_eq!(forcings_store_verify(store, &mut counts, &mut findings, &mut series, null_mut()), 63);
        assert_eq!(forcings_store_check(store, &mut table, null_mut()), 63);
        assert_eq!(forcings_store_compact(store, &mut table, null_mut()), 63);
        assert_eq!(forcings_store_compact_physical(store, &mut table, null_mut()), 63);
        let options = br#"{"read_only":true,"durable":false}"#;
        let mut copy = 0;
        ok(forcings_store_open(
            path.as_ptr(),
            path.len() as u64,
            options.as_ptr(),
            options.len() as u64,
            &mut copy,
            null_mut(),
        ));
        assert_eq!(list(copy, "{}"), [1, 2]);
        assert_eq!(forcings_store_compact(copy, &mut table, null_mut()), 60);
        assert_eq!(forcings_store_compact_physical(copy, &mut table, null_mut()), 60);
        close(copy);
    }
}
