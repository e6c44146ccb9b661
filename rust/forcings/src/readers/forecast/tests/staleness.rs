//! Readers of stores that change under them.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering};

fn remove(store: &Store, owner: i64, series_type: SeriesType) {
    let ids: Vec<SeriesId> = store
        .list(&Filter { owner_id: Some(owner), series_type: Some(series_type), ..Filter::default() })
        .unwrap()
        .iter()
        .map(|info| info.id)
        .collect();
    assert!(!ids.is_empty());
    store.remove(&ids).unwrap();
}

/// Fails, naming owner 1, and leaves nothing behind.
fn check_gone(reader: &mut ForecastReader) {
    for k in [0, 1] {
        let error = reader.read_window(k).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("Component 1 (Bus)"), "{error}");
        assert!((0..reader.slots().len()).all(|slot| reader.values(slot).is_empty()));
    }
}

#[test]
fn row_142_an_array_that_is_gone_is_an_error_even_within_a_block_that_is_held() {
    for flush in [false, true] {
        let store = Store::memory().unwrap();
        let (mine, other) = (pattern(DType::F64, vec![3, 4], 1), pattern(DType::F64, vec![3, 4], 2));
        store.add(&dense(1, windows(3, 24, 4), &mine)).unwrap();
        store.add(&dense(2, windows(3, 24, 4), &other)).unwrap();
        let mut reader = ForecastReader::build(&store, &deterministic()).unwrap();
        reader.read_window(0).unwrap();
        remove(&store, 1, SeriesType::Deterministic);
        if flush {
            store.flush().unwrap();
        }
        check_gone(&mut reader);
        // The same content comes back.
        store.add(&dense(3, windows(3, 24, 4), &mine)).unwrap();
        reader.read_window(1).unwrap();
        assert_eq!((reader.values(0), reader.values(1)), (&*window_of(&mine, 1, 1), &*window_of(&other, 1, 1)));
    }
}

#[test]
fn row_142_holds_for_derived_windows_too() {
    let store = Store::memory().unwrap();
    let (mine, other) = (pattern(DType::F64, vec![24], 1), pattern(DType::F64, vec![24], 2));
    derive(&store, 1, &mine, 4, 2);
    derive(&store, 2, &other, 4, 2);
    let mut reader = ForecastReader::build(&store, &deterministic()).unwrap();
    reader.read_window(0).unwrap();
    remove(&store, 1, SeriesType::DeterministicSingleTimeSeries);
    // The series that it was derived from still has the array.
    reader.read_window(1).unwrap();
    check_window(&reader, 1, [&mine, &other]);
    remove(&store, 1, SeriesType::SingleTimeSeries);
    check_gone(&mut reader);
    store.flush().unwrap();
    check_gone(&mut reader);
    // Another array takes its column, then it comes back in another place.
    store.add(&single(3, &pattern(DType::F64, vec![24], 3))).unwrap();
    check_gone(&mut reader);
    store.add(&single(4, &mine)).unwrap();
    reader.read_window(2).unwrap();
    check_window(&reader, 2, [&mine, &other]);
}

fn check_window(reader: &ForecastReader, k: usize, sources: [&Array; 2]) {
    for (slot, source) in sources.iter().enumerate() {
        assert_eq!(reader.values(slot), &source.bytes()[16 * k..16 * k + 32]);
    }
}

#[test]
fn a_shared_array_goes_on_and_a_rolled_back_removal_is_none() {
    let store = Store::memory().unwrap();
    let shared = pattern(DType::F64, vec![3, 4], 1);
    store.add(&dense(1, windows(3, 24, 4), &shared)).unwrap();
    let second = store.add(&dense(2, windows(3, 24, 4), &shared)).unwrap();
    let mut reader = ForecastReader::build(&store, &deterministic()).unwrap();
    remove(&store, 1, SeriesType::Deterministic);
    store.flush().unwrap();
    reader.read_window(2).unwrap();
    assert_eq!(reader.values(0), window_of(&shared, 1, 2));
    store.begin().unwrap();
    store.remove(&[second]).unwrap();
    check_gone(&mut reader);
    store.rollback().unwrap();
    reader.read_window(3).unwrap();
    assert_eq!(reader.values(0), window_of(&shared, 1, 3));
}

#[test]
fn arrays_that_move_behind_the_catalogs_back_are_followed_by_their_hashes() {
    let store = Store::memory().unwrap();
    let values: Vec<Array> = (0..3).map(|k| pattern(DType::F64, vec![24], k)).collect();
    for (owner, values) in (1..3).zip(&values) {
        derive(&store, owner, values, 4, 2);
    }
    let mut reader = ForecastReader::build(&store, &deterministic()).unwrap();
    reader.read_window(1).unwrap();
    let arrays = store.shared().arrays().unwrap();
    let hashes: Vec<_> = values.iter().map(|v| v.view().hash()).collect();
    let before = arrays.locate(&hashes[0]).unwrap();
    let pool = before.dataset.pool.clone();
    arrays.remove_many(&hashes[..1]).unwrap();
    arrays.put_one(&pool, hashes[2], values[2].view()).unwrap();
    check_gone(&mut reader);
    arrays.put_one(&pool, hashes[0], values[0].view()).unwrap();
    arrays.settle().unwrap();
    assert_ne!(arrays.locate(&hashes[0]).unwrap().column, before.column);
    for k in [1, 2] {
        reader.read_window(k).unwrap();
        check_window(&reader, k, [&values[0], &values[1]]);
    }
}

#[test]
fn what_is_added_later_is_not_seen_and_a_closed_store_says_so() {
    let store = Store::memory().unwrap();
    let (first, later) = (pattern(DType::F64, vec![3, 4], 1), pattern(DType::F64, vec![3, 4], 2));
    store.add(&dense(1, windows(3, 24, 4), &first)).unwrap();
    let mut reader = ForecastReader::build(&store, &deterministic()).unwrap();
    store.add(&dense(2, windows(3, 24, 4), &later)).unwrap();
    reader.read_window(0).unwrap();
    assert_eq!((reader.entries().len(), reader.slots().len()), (1, 1));
    store.close().unwrap();
    assert_eq!(kind_of(reader.read_window(0)), ErrorKind::Closed);
    assert!(reader.values(0).is_empty());
    assert_eq!(kind_of(ForecastReader::build(&store, &deterministic())), ErrorKind::Closed);
}

#[test]
fn rows_that_contradict_their_arrays_are_refused() {
    let (plane, line) = (pattern(DType::F64, vec![3, 4], 1), pattern(DType::F64, vec![24], 2));
    let (dense_type, derived_type) = (SeriesType::Deterministic, SeriesType::DeterministicSingleTimeSeries);
    let cases = [
        (dense_type, "count = 5"),
        (dense_type, "count = NULL"),
        (dense_type, "element_shape = '[5]', count = 5"),
        (dense_type, "dtype = 'i64'"),
        (dense_type, "horizon = 'PT4H'"),
        (derived_type, "count = 12"),
        (derived_type, "interval = 'PT1H30M'"),
        (derived_type, "count = 9223372036854775807"),
        (derived_type, "length = 25"),
        (derived_type, "length = NULL"),
        (dense_type, "name = 'load'"),
        (derived_type, "name = 'load'"),
    ];
    for (series_type, change) in cases {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.nc");
        let store = Store::create(&path, &CreateOptions::default()).unwrap();
        store.add(&dense(1, windows(3, 24, 4), &plane)).unwrap();
        derive(&store, 2, &line, 4, 2);
        store.close().unwrap();
        let catalog = rusqlite::Connection::open(folder.path().join("s.nc.sqlite")).unwrap();
        let sql = format!("UPDATE time_series_associations SET {change} WHERE time_series_type = '{series_type}'");
        assert_eq!(catalog.execute(&sql, []).unwrap(), 1);
        drop(catalog);
        let store = Store::open(&path, &OpenOptions { read_only: true, ..OpenOptions::default() }).unwrap();
        let owner_id = Some(if series_type == dense_type { 1 } else { 2 });
        let built = ForecastReader::build(&store, &Filter { owner_id, ..filter(series_type) });
        match change.starts_with("name") {
            true => drop(built.unwrap()),
            false => {
                let error = built.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Integrity, "{change}: {error}");
                assert!(error.to_string().contains("`load`"), "{error}");
            }
        }
    }
}

#[test]
fn a_sweep_is_right_while_columns_of_its_datasets_are_added_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("s.nc"), &CreateOptions::default()).unwrap();
    let sources: Vec<Array> = (0..20).map(|k| pattern(DType::F64, vec![60], k)).collect();
    let planes: Vec<Array> = (0..5).map(|k| pattern(DType::F64, vec![6, 19], k)).collect();
    for (owner, values) in sources.iter().enumerate() {
        derive(&store, owner as i64, values, 6, 3);
    }
    for (k, values) in planes.iter().enumerate() {
        store.add(&dense(100 + k as i64, windows(6, 3, 19), values)).unwrap();
    }
    let mut reader = ForecastReader::build(&store, &deterministic()).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for k in 0..12 {
                let (line, plane) = (pattern(DType::F64, vec![60], 900 + k), pattern(DType::F64, vec![6, 19], 900 + k));
                let single = store.add(&single(1000 + k as i64, &line)).unwrap();
                let dense = store.add(&dense(2000 + k as i64, windows(6, 3, 19), &plane)).unwrap();
                if k % 3 != 0 {
                    store.remove(&[single, dense]).unwrap();
                    store.flush().unwrap();
                }
            }
            done.store(true, Ordering::SeqCst);
        });
        while !done.load(Ordering::SeqCst) {
            for k in (0..19).chain((0..19).rev()) {
                reader.read_window(k).unwrap();
                for (slot, source) in sources.iter().enumerate() {
                    assert_eq!(reader.values(slot), &source.bytes()[24 * k..24 * k + 48]);
                }
                for (slot, plane) in planes.iter().enumerate() {
                    assert_eq!(reader.values(20 + slot), window_of(plane, 1, k));
                }
            }
        }
    });
}
