//! Status numbers by value, out-parameters that are zeroed first, arguments that are refused.

mod common;

use common::*;
use forcings_capi::*;
use std::ptr::{null, null_mut};

#[test]
fn every_null_out_parameter_is_refused() {
    let store = memory_store();
    let mut n = 7;
    // SAFETY: null pointers are refused before they are used; the others are local variables.
    unsafe {
        assert_eq!(forcings_store_memory(null_mut()), 1);
        assert_eq!(forcings_live_count(&mut n, null_mut()), 1);
        assert_eq!(n, 0, "the places that are there are zeroed");
        assert_eq!(forcings_store_list(store, b"{}".as_ptr(), 2, null_mut(), null_mut(), null_mut()), 1);
        assert_eq!(forcings_reader_describe(store, null_mut()), 1);
        assert_eq!(forcings_group_boundaries(store, null_mut(), 3, &mut n), 1);
        assert_eq!(forcings_last_error(null_mut(), null_mut(), null_mut(), null_mut()), 1);
        assert_eq!(forcings_session_attach(null_mut(), None), 1);
    }
    ok(unsafe_close(store));
}

fn unsafe_close(store: u64) -> i32 {
    // SAFETY: a null `out_job` is legal.
    unsafe { forcings_store_close(store, null_mut()) }
}

#[test]
fn kinds_have_their_numbers() {
    let store = memory_store();
    let (status, id) = add_load(store, 1, &[1.0, 2.0]);
    ok(status);
    assert_eq!(add_load(store, 1, &[1.0, 2.0]), (3, 0));
    let (_, text, state, numbers) = last_error();
    assert!(text.contains("load"), "{text}");
    assert_eq!((state, numbers), (0, [-1, -1]));
    let ids = [id + 1];
    // SAFETY: arrays and local variables.
    unsafe {
        assert_eq!(forcings_store_remove(store, ids.as_ptr(), 1, null_mut()), 2);
        let mut reader = 0;
        let options = br#"{"filter":{"resolution":{"ms":3600000}}}"#;
        ok(forcings_reader_build(store, options.as_ptr(), options.len() as u64, &mut reader, null_mut()));
        assert_eq!(forcings_reader_read(reader, 1), 5);
        assert_eq!(forcings_reader_read_step(reader, 2), 5);
        assert_eq!(forcings_reader_read_step(store, 0), 1, "the handle of something else");
        ok(unsafe_close(store));
        assert_eq!(forcings_reader_read_step(reader, 0), 63);
        ok(forcings_reader_close(reader));
        assert_eq!(forcings_reader_read_step(reader, 0), 63);
    }
    assert_eq!(open_provider("none.nc"), (40, 0));
    assert_eq!(open_provider("make.py"), (20, 0));
}

#[test]
fn structured_arguments_are_checked() {
    let store = memory_store();
    let (mut table, mut features) = (null_mut(), null_mut());
    for filter in ["", "[]", "{", r#"{"nme":"load"}"#, r#"{"owner_id":"x"}"#, "\u{fffd}"] {
        // SAFETY: a text and local variables.
        let status = unsafe {
            forcings_store_list(store, filter.as_ptr(), filter.len() as u64, &mut table, &mut features, null_mut())
        };
        assert_eq!((status, table, features), (1, null_mut(), null_mut()), "{filter}");
        assert!(last_error().1.starts_with("filter"), "{}", last_error().1);
    }
    let meta = "{}";
    let item = ForcingsSeries { size: 1, ..hourly(meta, &[], &[]) };
    let mut id = 7;
    // SAFETY: an item and a local variable.
    unsafe {
        assert_eq!(forcings_store_add(store, &item, 1, 0, &mut id, null_mut()), 1);
        let item = ForcingsSeries { size: size_of::<ForcingsSeries>() as u64, ..item };
        assert_eq!(forcings_store_add(store, &item, 1, 0, &mut id, null_mut()), 1);
        let item = ForcingsSeries { dtype: 17, ..item };
        assert_eq!(forcings_store_add(store, &item, 1, 0, &mut id, null_mut()), 1);
        assert_eq!(forcings_store_add(store, null(), 1, 0, &mut id, null_mut()), 1);
        assert_eq!(forcings_series_check(null()), 1);
    }
    ok(unsafe_close(store));
}

#[test]
fn a_group_says_what_it_expects_in_numbers() {
    let (status, provider) = open_provider("winds.nc");
    ok(status);
    let group = build_group(provider, true);
    ok(forcings_provider_close(provider));
    let mut sample = null_mut();
    // SAFETY: local variables; the list of epochs is read only for order 2.
    unsafe {
        assert_eq!(forcings_group_try_take(group, 0, &mut sample), 64);
        assert_eq!(last_error().2, 1);
        ok(forcings_group_start(group, 0, null(), 0, 3));
        assert_eq!(forcings_group_try_take(group, 5, &mut sample), 64);
        assert_eq!((last_error().2, last_error().3), (5, [5, 3]));
        assert_eq!(forcings_group_start(group, 3, null(), 0, -1), 1);
        assert_eq!(forcings_group_start(group, 0, null(), 0, -2), 1);
        ok(forcings_group_cancel(group, 1, null_mut()));
        assert_eq!(forcings_group_try_take(group, 3, &mut sample), 64);
        assert_eq!(last_error().2, 3);
        ok(forcings_group_note_wait(group, 0, 5));
        ok(forcings_group_close(group, null_mut()));
        assert_eq!(forcings_group_try_take(group, 3, &mut sample), 63);
    }
    assert!(sample.is_null());
}
