//! Handles and counted pointers over their life, jobs, wake-up calls. One test: it counts what is alive in the process.

mod common;

use common::*;
use forcings_capi::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::mpsc;

fn live() -> (u64, u64) {
    let (mut handles, mut pointers) = (0, 0);
    // SAFETY: local variables.
    ok(unsafe { forcings_live_count(&mut handles, &mut pointers) });
    (handles, pointers)
}

fn is_open(handle: u64) -> bool {
    let mut open = 0;
    // SAFETY: a local variable.
    ok(unsafe { forcings_handle_is_open(handle, &mut open) });
    open == 1
}

/// Calls made on native threads, as an event loop would see them.
unsafe extern "C" fn wake(context: *mut c_void) -> i32 {
    // SAFETY: the context is the sender of the test below, which outlives the session.
    let sender = unsafe { &*context.cast::<mpsc::SyncSender<()>>() };
    let _ = sender.try_send(());
    0
}

fn drain() -> Vec<u64> {
    let (mut handles, mut count) = ([0; 8], 0);
    // SAFETY: room for 8 handles, and a local variable.
    ok(unsafe { forcings_session_drain(handles.as_mut_ptr(), 8, &mut count) });
    handles[..count as usize].to_vec()
}

#[test]
fn from_the_first_handle_to_the_shutdown() {
    assert_eq!(live(), (0, 0));
    let (sender, woken) = mpsc::sync_channel::<()>(64);
    let context: *const mpsc::SyncSender<()> = &sender;
    // SAFETY: the sender outlives the session, which is detached below.
    ok(unsafe { forcings_session_attach(context.cast_mut().cast(), Some(wake)) });

    closing_twice_does_nothing();
    a_job_wakes_its_waiter(&woken);
    a_group_wakes_its_consumer(&woken);
    samples_and_buffers_outlive_what_they_came_from();

    let store = memory_store();
    let (status, provider) = open_provider("winds.nc");
    ok(status);
    let group = build_group(provider, false);
    forcings_handle_release(provider);
    while is_open(provider) {
        std::thread::yield_now();
    }
    forcings_handle_release(provider);
    assert_eq!(live(), (2, 0));
    ok(forcings_session_detach());
    ok(forcings_shutdown());
    assert_eq!(live(), (0, 0));
    assert!(!is_open(store) && !is_open(group));
    ok(forcings_shutdown());
    assert_eq!(add_load(store, 1, &[1.0]).0, 63);
}

fn closing_twice_does_nothing() {
    let store = memory_store();
    assert!(is_open(store));
    // SAFETY: a null `out_job` is legal.
    unsafe {
        ok(forcings_store_close(store, null_mut()));
        ok(forcings_store_close(store, null_mut()));
        assert_eq!(forcings_store_flush(store, null_mut()), 63);
        assert_eq!(forcings_store_close(0, null_mut()), 1, "0 is never a handle");
        let other = memory_store();
        assert_ne!(other, store, "a slot is used again, a handle is not");
        ok(forcings_store_close(store, null_mut()));
        assert!(is_open(other));
        ok(forcings_store_close(other, null_mut()));
    }
    assert!(!is_open(u64::MAX));
}

fn a_job_wakes_its_waiter(woken: &mpsc::Receiver<()>) {
    let store = memory_store();
    ok(add_load(store, 1, &[1.0, 2.0]).0);
    let (mut table, mut features, mut job) = (null_mut(), null_mut(), 0);
    // SAFETY: a text, and local variables that outlive the job.
    unsafe {
        ok(forcings_store_list(store, b"{}".as_ptr(), 2, &mut table, &mut features, &mut job));
        while !drain().contains(&job) {
            woken.recv().unwrap();
        }
        assert!(table.is_null(), "results are delivered by the finish");
        ok(forcings_job_finish(job));
        let (mut rows, mut columns) = (0, 0);
        ok(forcings_table_size(table, &mut rows, &mut columns));
        assert_eq!(rows, 1);
        forcings_table_free(table);
        forcings_table_free(features);
        ok(forcings_store_close(store, null_mut()));
    }
    assert_eq!(live(), (0, 0));
}

fn a_group_wakes_its_consumer(woken: &mpsc::Receiver<()>) {
    let (status, provider) = open_provider("winds.nc");
    ok(status);
    let group = build_group(provider, false);
    ok(forcings_provider_close(provider));
    // SAFETY: local variables.
    unsafe {
        ok(forcings_group_start(group, 1, null(), 0, -1));
        for k in (0..12).rev() {
            let mut sample = null_mut();
            loop {
                ok(forcings_group_try_take(group, k, &mut sample));
                if !sample.is_null() {
                    break;
                }
                woken.recv().unwrap();
                drain();
            }
            let (mut anchor, mut changed, mut first, mut value, mut time) = (0.0, 0, 7, 7, 0.0);
            let places = (&mut anchor, &mut changed, &mut first, &mut value);
            ok(forcings_sample_members(sample, places.0, places.1, places.2, places.3, 1, &mut time));
            assert_eq!((anchor, time, changed), (978_307_200.0 + 21_600.0 * k as f64, anchor, 1));
            assert_eq!((first, value), (0, 0), "it has a dataset, and no value of ours");
            forcings_sample_release(sample);
        }
        let (mut slots, mut bytes) = (9, 9);
        ok(forcings_group_alive(group, &mut slots, &mut bytes));
        assert_eq!((slots, bytes), (0, 0));
        ok(forcings_group_close(group, null_mut()));
    }
    assert_eq!(live(), (0, 0));
}

fn samples_and_buffers_outlive_what_they_came_from() {
    let (status, provider) = open_provider("winds.nc");
    ok(status);
    let store = memory_store();
    ok(add_load(store, 1, &[1.5, 2.5]).0);
    // SAFETY: texts and local variables; the pointers are read while sample and buffer are held.
    unsafe {
        let mut sample = null_mut();
        ok(forcings_provider_sample_at(provider, 978_307_200.0, &mut sample, null_mut()));
        ok(forcings_provider_close(provider));
        let (mut found, mut kind, mut rank, mut shape, mut values) = (0, 0, 0, null(), null());
        let mut field = |name: &str| {
            ok(forcings_sample_field(
                sample,
                0,
                name.as_ptr(),
                name.len() as u64,
                &mut found,
                &mut kind,
                &mut rank,
                &mut shape,
                &mut values,
            ));
            (found, kind, rank, shape, values)
        };
        assert_eq!(field("none").0, 0);
        let (found, kind, rank, shape, values) = field("gusts");
        assert_eq!((found, kind, rank, *shape), (1, 3, 1, 6));
        assert_eq!(std::slice::from_raw_parts(values.cast::<i32>(), 6), [0, 1, 2, 3, 4, 5]);
        forcings_sample_release(sample);

        let options = br#"{"filter":{"resolution":{"ms":3600000}}}"#;
        let (mut reader, mut bytes, mut len, mut buffer) = (0, null(), 0, null_mut());
        ok(forcings_reader_build(store, options.as_ptr(), options.len() as u64, &mut reader, null_mut()));
        assert_eq!(forcings_reader_values(reader, 0, &mut bytes, &mut len, &mut buffer), 1, "nothing was read");
        ok(forcings_reader_read(reader, 3_600_000));
        ok(forcings_reader_values(reader, 0, &mut bytes, &mut len, &mut buffer));
        ok(forcings_reader_close(reader));
        ok(forcings_store_close(store, null_mut()));
        assert_eq!((len, *bytes.cast::<f64>()), (8, 2.5));
        forcings_buffer_release(buffer);
    }
    assert_eq!(live(), (0, 0));
}
