//! Windows through the C interface: several at once, by coordinate values, and what is refused.

mod common;

use common::*;
use forcings::ErrorKind;
use forcings_capi::*;
use std::ptr::{null, null_mut};

const T0: f64 = 978_307_200.0;

fn winds() -> u64 {
    let (status, provider) = open_provider("winds.nc");
    ok(status);
    provider
}

/// The extents of `uwnd` in a member of a sample, slowest first; the status if there is no such member.
fn extents(sample: *mut ForcingsSample, member: u64) -> Result<Vec<u64>, i32> {
    let (mut found, mut kind, mut rank, mut shape, mut values) = (0, 0, 0, null(), null());
    let name = "uwnd";
    // SAFETY: the sample is not given back before its end; the rest are local variables.
    unsafe {
        let (text, len) = (name.as_ptr(), name.len() as u64);
        match forcings_sample_field(
            sample,
            member,
            text,
            len,
            &mut found,
            &mut kind,
            &mut rank,
            &mut shape,
            &mut values,
        ) {
            0 => Ok(std::slice::from_raw_parts(shape, rank as usize).to_vec()),
            status => Err(status),
        }
    }
}

fn sample_windows(provider: u64, windows: &str, sample: &mut *mut ForcingsSample) -> i32 {
    // SAFETY: a text and a local variable of the caller.
    unsafe {
        forcings_provider_sample_windows_at(provider, T0, windows.as_ptr(), windows.len() as u64, sample, null_mut())
    }
}

#[test]
fn a_sample_of_windows_has_a_member_for_each() {
    let (provider, mut sample) = (winds(), null_mut());
    let windows = r#"[{"dims": {"lat": {"slice": [1, 3]}}}, {"dims": {"lon": {"indices": [5, 0, 0]}}}]"#;
    ok(sample_windows(provider, windows, &mut sample));
    assert_eq!((extents(sample, 0), extents(sample, 1)), (Ok(vec![2, 6]), Ok(vec![4, 3])));
    assert_eq!(extents(sample, 2), Err(ErrorKind::InvalidParameter as i32));
    let (mut anchors, mut changed, mut firsts, mut values, mut time) = ([0.0; 2], [0; 2], [7; 2], [7; 2], 0.0);
    // SAFETY: arrays of two members and local variables; the sample is given back once.
    unsafe {
        let (anchors, changed) = (anchors.as_mut_ptr(), changed.as_mut_ptr());
        let (firsts, values) = (firsts.as_mut_ptr(), values.as_mut_ptr());
        ok(forcings_sample_members(sample, anchors, changed, firsts, values, 2, &mut time));
        forcings_sample_release(sample);
    }
    assert_eq!((anchors, changed, firsts, values, time), ([T0; 2], [1; 2], [0, 1], [0; 2], T0));
    ok(sample_windows(provider, "[]", &mut sample));
    assert!(extents(sample, 0).is_err());
    // SAFETY: given back once.
    unsafe { forcings_sample_release(sample) };
    for (windows, kind, part) in [
        (r#"[{"dims": {"lat": "all"}}, {"axes": []}]"#, ErrorKind::Selection, "names its dimensions"),
        (r#"[{"dims": {"time": "all"}}]"#, ErrorKind::Selection, "time dimension"),
        (r#"[{"dim": {}}]"#, ErrorKind::Selection, "unknown key \"dim\""),
        (r#"[{"dims": {"lat": {"slice": [0, -1]}}}]"#, ErrorKind::Selection, "is not an index"),
        (r#"{"dims": {}}"#, ErrorKind::InvalidParameter, "windows: "),
        ("[", ErrorKind::InvalidParameter, "windows: "),
    ] {
        sample = std::ptr::dangling_mut();
        assert_eq!(sample_windows(provider, windows, &mut sample), kind as i32, "{windows}");
        assert!(sample.is_null() && last_error().1.contains(part), "{windows}: {}", last_error().1);
    }
    ok(forcings_provider_close(provider));
}

fn coord_window(provider: u64, names: &str, bounds: &[f64], table: &mut *mut ForcingsTable) -> i32 {
    let (text, len) = (names.as_ptr(), names.len() as u64);
    // SAFETY: a text, an array, and a local variable of the caller.
    unsafe {
        forcings_provider_coord_window(provider, text, len, bounds.as_ptr(), bounds.len() as u64, table, null_mut())
    }
}

#[test]
fn a_window_by_coordinates_is_a_table_of_cells() {
    let (provider, mut table) = (winds(), null_mut());
    ok(coord_window(provider, r#"["lon", "lat"]"#, &[15.0, 40.0, 10.0, 10.0], &mut table));
    let (mut rows, mut columns) = (0, 0);
    // SAFETY: local variables, and a table that is freed once.
    unsafe {
        ok(forcings_table_size(table, &mut rows, &mut columns));
        let column = |i: u64| {
            let (mut name, mut len, mut kind, mut values) = (null(), 0, 0, null());
            let (mut ends, mut nulls) = (null(), null());
            ok(forcings_table_column(table, i, &mut name, &mut len, &mut kind, &mut values, &mut ends, &mut nulls));
            (std::str::from_utf8(std::slice::from_raw_parts(name, len as usize)).unwrap(), values)
        };
        let integers = |i| std::slice::from_raw_parts(column(i).1.cast::<i64>(), 2).to_vec();
        assert_eq!((0..columns).map(|i| column(i).0).collect::<Vec<_>>(), ["dim", "start", "stop", "indices"]);
        // In the order of the names: lat, lon.
        assert_eq!((integers(1), integers(2)), (vec![1, 1], vec![2, 3]));
        forcings_table_free(table);
    }
    assert_eq!((rows, columns), (2, 4));
    for (names, bounds, kind, part) in [
        (r#"["lat"]"#, &[1.0][..], ErrorKind::InvalidParameter, "1 bounds for 1 coordinates"),
        (r#"["lat"]"#, &[1.0, 2.0], ErrorKind::Selection, "from 0 to 30 in 4 cells"),
        (r#"["lat"]"#, &[f64::NAN, 2.0], ErrorKind::Selection, "NaN"),
        (r#"["station"]"#, &[0.0, 1.0], ErrorKind::Selection, "no coordinate"),
        ("lat", &[0.0, 1.0], ErrorKind::InvalidParameter, "names: "),
    ] {
        table = std::ptr::dangling_mut();
        assert_eq!(coord_window(provider, names, bounds, &mut table), kind as i32, "{names} {bounds:?}");
        assert!(table.is_null() && last_error().1.contains(part), "{}", last_error().1);
    }
    ok(forcings_provider_close(provider));
    assert_eq!(coord_window(provider, "[]", &[], &mut table), ErrorKind::Closed as i32);
}
