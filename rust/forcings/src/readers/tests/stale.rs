//! Readers over a store that changes: what they go on reading, and what they refuse.

use super::*;

#[test]
fn row_125_columns_are_those_of_the_build() {
    let store = Store::memory().unwrap();
    let arrays = [ramp(3, 1), ramp(3, 2)];
    store.add(&series(1, "load", &arrays[0])).unwrap();
    let mut reader = StaticReader::build(&store, &hourly()).unwrap();
    store.add(&series(2, "load", &arrays[1])).unwrap();
    reader.read_step(2).unwrap();
    assert_eq!(doubles(reader.values(0)), [1002.0]);
    assert_eq!(StaticReader::build(&store, &hourly()).unwrap().groups()[0].columns().len(), 2);
}

#[test]
fn row_124_a_removed_series_is_read_on_while_another_has_its_array() {
    let store = Store::memory().unwrap();
    let (shared, own) = (ramp(3, 1), ramp(3, 2));
    let ids =
        store.add_bulk(&[series(1, "load", &shared), series(2, "load", &shared), series(3, "load", &own)]).unwrap();
    let mut reader = StaticReader::build(&store, &hourly()).unwrap();
    reader.read_step(0).unwrap();
    assert_eq!(doubles(reader.values(0)), [1000.0, 1000.0, 2000.0]);

    let mut first = StaticReader::build(&store, &Filter { owner_id: Some(1), ..hourly() }).unwrap();
    store.remove(&ids[1..2]).unwrap();
    reader.read_step(1).unwrap();
    assert_eq!(doubles(reader.values(0)), [1001.0, 1001.0, 2001.0]);

    store.remove(&ids[2..3]).unwrap();
    for _ in 0..2 {
        let error = reader.read_step(1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("Component 3 (Bus)"), "{error}");
        assert!(reader.values(0).is_empty());
    }
    first.read_step(1).unwrap();
    assert_eq!(doubles(first.values(0)), [1001.0]);

    // Content counts, not rows: it comes back under another owner and with the values of another type.
    store.add(&listed::new(listed::IRREGULAR, 9, &[hour(0), hour(1), hour(9)], &own)).unwrap();
    reader.read_step(2).unwrap();
    assert_eq!(doubles(reader.values(0)), [1002.0, 1002.0, 2002.0]);
    store.remove(&ids[..1]).unwrap();
    let error = reader.read_step(2).unwrap_err().to_string();
    assert!(error.contains("Component 1 (Bus)") && error.contains("build a new reader"), "{error}");
}

#[test]
fn a_removal_that_is_rolled_back_leaves_the_reader_as_it_was() {
    let store = Store::memory().unwrap();
    let array = ramp(3, 1);
    let id = store.add(&series(1, "load", &array)).unwrap();
    let mut reader = StaticReader::build(&store, &hourly()).unwrap();
    store.begin().unwrap();
    store.remove(&[id]).unwrap();
    assert_eq!(kind_of(reader.read_step(1)), ErrorKind::NotFound);
    store.rollback().unwrap();
    reader.read_step(1).unwrap();
    assert_eq!(doubles(reader.values(0)), [1001.0]);
}

#[test]
fn a_column_that_another_array_took_is_never_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("s.nc"), &CreateOptions::default()).unwrap();
    let arrays = [ramp(3, 1), ramp(3, 2), ramp(3, 3)];
    let first = store.add(&series(1, "load", &arrays[0])).unwrap();
    store.add(&series(2, "load", &arrays[1])).unwrap();
    let mut reader = StaticReader::build(&store, &hourly()).unwrap();
    reader.read_step(0).unwrap();
    // The array leaves its column, which another takes; then it comes back under the same key, in another place.
    store.remove(&[first]).unwrap();
    store.flush().unwrap();
    store.add(&series(3, "load", &arrays[2])).unwrap();
    store.flush().unwrap();
    let error = reader.read_step(0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("Component 1 (Bus)"), "{error}");

    let mut fresh = StaticReader::build(&store, &hourly()).unwrap();
    fresh.read_step(2).unwrap();
    assert_eq!(doubles(fresh.values(0)), [2002.0, 3002.0]);
}

#[test]
fn an_array_that_moves_to_another_column_is_followed() {
    let store = Store::memory().unwrap();
    let arrays = [ramp(3, 1), ramp(3, 2), ramp(3, 3)];
    let first = store.add(&series(1, "load", &arrays[0])).unwrap();
    store.add(&series(2, "load", &arrays[1])).unwrap();
    let kept = Filter { owner_id: Some(2), ..hourly() };
    let mut reader = StaticReader::build(&store, &kept).unwrap();
    reader.read_step(1).unwrap();
    let shared = store.shared().arrays().unwrap();
    let hash = arrays[1].view().hash();
    let (before, key) = (shared.locate(&hash).unwrap(), shared.locate(&hash).unwrap().dataset.pool.clone());
    // Behind the catalog's back: out of its column, another array into that, and back in elsewhere.
    store.remove(&[first]).unwrap();
    store.flush().unwrap();
    shared.remove_many(&[hash]).unwrap();
    shared.put_one(&key, arrays[2].view().hash(), arrays[2].view()).unwrap();
    shared.put_one(&key, arrays[0].view().hash(), arrays[0].view()).unwrap();
    shared.put_one(&key, hash, arrays[1].view()).unwrap();
    shared.settle().unwrap();
    assert_ne!(shared.locate(&hash).unwrap().column, before.column);
    reader.read_step(1).unwrap();
    assert_eq!(doubles(reader.values(0)), [2001.0]);
    // Gone for good, although the catalog has its row.
    shared.remove_many(&[hash]).unwrap();
    for _ in 0..2 {
        let error = reader.read_step(1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("Component 2 (Bus)"), "{error}");
        assert!(reader.values(0).is_empty());
    }
    shared.put_one(&key, hash, arrays[1].view()).unwrap();
    reader.read_step(2).unwrap();
    assert_eq!(doubles(reader.values(0)), [2002.0]);
}

#[test]
fn another_array_file_in_the_place_of_the_first_is_planned_anew() {
    // The same arrays, in other columns of datasets that have other neighbours, and in other variables.
    let all: Vec<Array> = (0..6).map(|k| ramp(4, k)).collect();
    let instants = [hour(0), hour(1), hour(5), hour(9)];
    let filled = |order: &[usize], extra: usize| {
        let store = Store::memory().unwrap();
        for k in 0..extra {
            store.add(&series(100 + k as i64, "other", &ramp(4, 50 + k as i64))).unwrap();
        }
        let items: Vec<_> = order.iter().map(|k| series(*k as i64, "load", &all[*k])).collect();
        store.add_bulk(&items).unwrap();
        let breakpoints: Vec<_> =
            order.iter().map(|k| listed::new(listed::PERSISTENT, *k as i64, &instants, &all[*k])).collect();
        store.add_bulk(&breakpoints).unwrap();
        let own = ramp(4, 77);
        store.add(&listed::new(listed::PERSISTENT, 7, &instants, &own)).unwrap();
        store
    };
    let (before, after) = (filled(&[0, 1, 2, 3, 4, 5], 0), filled(&[5, 3, 1, 0, 4, 2], 3));
    let load = Filter { name: Some("load".into()), ..hourly() };
    let steps = Filter { series_type: Some(SeriesType::PersistentTimeSeries), ..Filter::default() };
    for filter in [load, steps] {
        let mut reader = StaticReader::build(&before, &filter).unwrap();
        let mut expected = StaticReader::build(&after, &filter).unwrap();
        for step in [0, 3, 1] {
            for store in [&before, &after, &after, &before] {
                reader.read_from(&store.shared().arrays().unwrap(), step).unwrap();
                expected.read_step(step).unwrap();
                assert_eq!(reader.values(0), expected.values(0));
            }
        }
    }
}

#[test]
fn compaction_moves_arrays_under_readers_of_every_type() {
    let folder = tempfile::tempdir().unwrap();
    for on_disk in [true, false] {
        let path = folder.path().join("s.nc");
        let store = if on_disk { Store::create(path, &CreateOptions::default()) } else { Store::memory() }.unwrap();
        let all: Vec<Array> = (0..8).map(|k| ramp(6, k)).collect();
        let instants: Vec<UnixMillis> = (0..6).map(|k| hour(k * k)).collect();
        let mut gone = Vec::new();
        for (k, array) in all.iter().enumerate() {
            // Every other array goes, so that those behind it move up.
            let name = if k % 2 == 0 { "gone" } else { "kept" };
            let regular = NewSeries::single(
                Owner::component(k as i64, "Bus"),
                name,
                hour(-((k / 2) as i64 % 2)),
                HOUR,
                array.view(),
            );
            let id = store.add(&regular).unwrap();
            gone.extend((k % 2 == 0).then_some(id));
        }
        for (k, array) in all.iter().enumerate().filter(|(k, _)| k % 2 == 1) {
            let own = ramp(6, 10 + k as i64);
            for values in [array, &own] {
                let owner = values.to_f64().unwrap()[0] as i64 / 1000;
                store.add(&listed::new(listed::IRREGULAR, owner, &instants, values)).unwrap();
                store.add(&listed::new(listed::PERSISTENT, owner, &instants[k % 3..], &cut(values, k % 3))).unwrap();
            }
        }
        let window = StaticReaderOptions {
            filter: Filter { name: Some("kept".into()), ..hourly() },
            start: Some(hour(0).into()),
            extent: None,
        };
        let mut readers = vec![
            StaticReader::with_options(&store, &window).unwrap(),
            StaticReader::build(&store, &listed::typed(listed::IRREGULAR)).unwrap(),
            StaticReader::build(&store, &listed::typed(listed::PERSISTENT)).unwrap(),
        ];
        let rows = |readers: &mut Vec<StaticReader>| -> Vec<Vec<u8>> {
            let row = |reader: &mut StaticReader| {
                reader.read_step(4).unwrap();
                reader.values(0).to_vec()
            };
            readers.iter_mut().map(row).collect()
        };
        let before = rows(&mut readers);
        assert_eq!(doubles(&before[0]), [1004.0, 3005.0, 5004.0, 7005.0]);
        assert_eq!(doubles(&before[1]), [1, 3, 5, 7, 11, 13, 15, 17].map(|k| (1000 * k + 4) as f64));
        store.remove(&gone).unwrap();
        store.compact_physical().unwrap();
        assert_eq!(rows(&mut readers), before);
    }
}

/// The steps of a scalar series from `first` on.
fn cut(values: &Array, first: usize) -> Array {
    Array::new(DType::F64, vec![values.shape()[0] - first], values.bytes()[8 * first..].to_vec()).unwrap()
}
