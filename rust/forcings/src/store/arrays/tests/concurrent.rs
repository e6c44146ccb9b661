//! Readers while a writer works, and readers while nobody may call HDF5.

use super::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

#[test]
fn a_sweep_while_columns_come_and_go_sees_only_right_values() {
    let file = memory(DEFAULT);
    let (series, other) = (pool(DType::F64, &[], 60), pool(DType::F32, &[5], 60));
    let hashes: Vec<ArrayHash> = (0..20).map(|seed| put(&file, &series, seed)).collect();
    let expected: Vec<Array> = (0..20).map(|seed| array(&series, seed)).collect();
    let (done, reads) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let (file, hashes, expected, done, reads) = (&file, &hashes, &expected, &done, &reads);
            scope.spawn(move || {
                let mut k = thread;
                while !done.load(Ordering::Acquire) || reads.load(Ordering::Relaxed) < 50 {
                    k = (k + 7) % hashes.len();
                    assert_eq!(file.read(&hashes[k]).unwrap(), expected[k]);
                    let rows = file.read_rows(&hashes[k], 13..29).unwrap();
                    assert_eq!(rows.bytes(), &expected[k].bytes()[13 * 8..29 * 8]);
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for round in 0..60 {
            // Chunks of both datasets move, and take each other's places.
            let added = [put(&file, &series, 100 + round), put(&file, &other, 200 + round)];
            file.settle().unwrap();
            put_batch(&file, &other, 300 + 3 * round..303 + 3 * round);
            if round % 2 == 0 {
                file.remove_many(&added).unwrap();
            }
        }
        done.store(true, Ordering::Release);
    });
    let state = file.locate(&hashes[0]).unwrap().dataset.state.read().generation;
    assert!(state >= 80, "{state}");
}

#[test]
fn reading_needs_no_hdf5() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.nc");
    let series = pool(DType::F64, &[], 500);
    let file = create(&path);
    let hashes = put_batch(&file, &series, 0..30);
    file.close().unwrap();
    let lock = hdf5_sys::LOCK.lock();
    let reader = std::thread::spawn(move || {
        let file = open(&path, true);
        let arrays = file.read_many(&hashes).unwrap();
        let error = file.put_one(&series, hashes[0], arrays[0].view()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ReadOnlyStore);
        file.flush().unwrap();
        file.sync().unwrap();
        file.close().unwrap();
        arrays
    });
    let arrays = reader.join().unwrap();
    drop(lock);
    let series = pool(DType::F64, &[], 500);
    assert!(arrays.iter().enumerate().all(|(seed, read)| *read == array(&series, seed)));
}

#[test]
fn a_writable_store_that_is_only_read_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.nc");
    let file = create(&path);
    let hash = put(&file, &pool(DType::F64, &[], 50), 1);
    file.close().unwrap();
    let before = std::fs::read(&path).unwrap();
    let file = open(&path, false);
    file.read(&hash).unwrap();
    file.sync().unwrap();
    file.close().unwrap();
    assert!(std::fs::read(&path).unwrap() == before);
}
