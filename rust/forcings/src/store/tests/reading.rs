//! Reading back what was added, whole and by range; listing; closed and read-only stores.

use super::*;
use crate::array::DType;
use crate::series::TimeRange;
use proptest::prelude::*;

#[test]
fn every_type_and_shape_reads_back() {
    let (_dir, stores) = stores();
    for store in stores {
        let mut expected = Vec::new();
        for (i, dtype) in DType::ALL.into_iter().enumerate() {
            for element_shape in [vec![], vec![3], vec![3, 2]] {
                let shape: Vec<usize> = std::iter::once(5).chain(element_shape.clone()).collect();
                let bytes = crate::array::byte_len(dtype, &shape).unwrap();
                let content: Vec<u8> = match dtype {
                    DType::Bool => (0..bytes).map(|k| (k % 3 == 0) as u8).collect(),
                    _ => (0..bytes).map(|k| (k * 37 + i) as u8).collect(),
                };
                let values = Array::new(dtype, shape, content).unwrap();
                let mut new = series(i as i64, &format!("{element_shape:?}"), &values);
                new.features = [("year", 2030)].into_iter().collect();
                new.units = Some("MW".into());
                new.ext = Some("{}".into());
                let id = store.add(&new).unwrap();
                expected.push((id, new.name.clone(), values.clone()));
            }
        }
        let empty = Array::from_f64(vec![0], &[]).unwrap();
        expected.push((add(&store, 99, "empty", &empty), "empty".into(), empty));
        for (id, name, values) in &expected {
            let read = store.read(*id).unwrap();
            assert_eq!((&read.info.id, &read.info.name, &read.values), (id, name, values));
            assert_eq!(read.info.grid().unwrap().start(), START);
        }
        let ids: Vec<SeriesId> = expected.iter().rev().map(|(id, ..)| *id).collect();
        for (read, (id, _, values)) in store.read_many(&ids).unwrap().iter().zip(expected.iter().rev()) {
            assert_eq!((&read.info.id, &read.values), (id, values));
        }
        let read = store.read(expected[4].0).unwrap();
        assert_eq!((read.info.units.as_deref(), read.info.ext.as_deref()), (Some("MW"), Some("{}")));
        assert_eq!(read.info.features, [("year", 2030)].into_iter().collect());
    }
}

#[test]
fn ranges_of_many_are_those_of_each() {
    let (_dir, stores) = stores();
    for store in stores {
        let mut ids = Vec::new();
        for owner in 0..12 {
            // Some arrays are shared, some are longer than others.
            let len = if owner % 3 == 0 { 30 } else { 48 };
            let numbers: Vec<f64> = (0..len).map(|k| f64::from(k + owner / 2)).collect();
            ids.push(add(&store, i64::from(owner), "load", &Array::from_f64(vec![len as usize], &numbers).unwrap()));
        }
        ids.push(ids[3]);
        let at = |hours: i64| Some(UnixMillis(START.0 + hours * HOUR));
        for (from, to) in [(None, None), (at(7), at(29)), (at(25), None), (None, at(0)), (at(40), at(41))] {
            let each: Vec<_> = ids.iter().map(|&id| store.read_range(id, from, to).unwrap()).collect();
            let range = TimeRange::floating(from, to);
            assert_eq!(store.read_within(&ids, &range).unwrap(), each);
            assert_eq!(store.read_as_stored(&ids, &range).unwrap(), each);
        }
        assert!(store.any(&Filter::default()).unwrap());
        assert!(!store.any(&Filter { owner_id: Some(99), ..Filter::default() }).unwrap());
    }
}

#[test]
fn a_monthly_series_from_a_month_end_reopens() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let store = Store::create(&path, &CreateOptions::default()).unwrap();
    let january = UnixMillis::from_rfc3339("2024-01-31T00:00:00Z").unwrap();
    let values = Array::from_f64(vec![14], &(0..14).map(f64::from).collect::<Vec<_>>()).unwrap();
    let owner = Owner::component(1, "Bus");
    let id = store.add(&NewSeries::single(owner, "price", january, Period::Months(1), values.view())).unwrap();
    store.close().unwrap();

    let store = Store::open(&path, &reading()).unwrap();
    let monthly = Filter { resolution: Some(Period::Months(1)), ..Filter::default() };
    assert_eq!(store.list(&monthly).unwrap().len(), 1);
    let month_of_days = Filter { resolution: Some(Period::Fixed(31 * 24 * HOUR)), ..Filter::default() };
    assert!(store.list(&month_of_days).unwrap().is_empty());
    let read = store.read(id).unwrap();
    assert_eq!(read.values, values);
    let days: Vec<String> = read.info.grid().unwrap().instants().map(|t| t.to_string()[..10].to_string()).collect();
    assert_eq!(days[..4], ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"]);
    assert_eq!(days[13], "2025-02-28");
}

#[test]
fn an_unknown_id_is_not_found() {
    let store = Store::memory().unwrap();
    let id = add(&store, 1, "load", &ramp(0));
    let unknown = SeriesId(id.0 + 1);
    for error in [
        store.read(unknown).unwrap_err(),
        store.read_range(unknown, None, None).unwrap_err(),
        store.read_many(&[id, unknown]).unwrap_err(),
        store.remove(&[id, unknown]).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }
    assert_eq!(names(&store), ["load"]);
    assert!(store.read_many(&[]).unwrap().is_empty());
    let twice = store.read_many(&[id, id]).unwrap();
    assert_eq!((&twice[0], &twice[1]), (&store.read(id).unwrap(), &store.read(id).unwrap()));
}

#[test]
fn a_closed_store_says_so() {
    let (_dir, stores) = stores();
    for store in stores {
        let values = ramp(0);
        let id = add(&store, 1, "load", &values);
        let other = store.clone();
        other.close().unwrap();
        other.close().unwrap();
        assert!(!store.is_open());
        assert!(!store.in_transaction());
        let errors = [
            store.add(&series(2, "load", &values)).unwrap_err(),
            store.add_bulk(&[series(2, "load", &values)]).unwrap_err(),
            store.add_bulk(&[]).unwrap_err(),
            store.read(id).unwrap_err(),
            store.read_range(id, None, None).unwrap_err(),
            store.read_many(&[id]).unwrap_err(),
            store.list(&Filter::default()).unwrap_err(),
            store.remove(&[id]).unwrap_err(),
            store.begin().unwrap_err(),
            store.commit().unwrap_err(),
            store.rollback().unwrap_err(),
            store.flush().unwrap_err(),
            store.shared().arrays().err().unwrap(),
            store.shared().missing_ids(&[id]).unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
        }
    }
}

#[test]
fn a_store_for_reading_takes_no_change() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let values = ramp(0);
    let store = Store::create(&path, &CreateOptions::default()).unwrap();
    let id = add(&store, 1, "load", &values);
    store.close().unwrap();
    let before = (std::fs::read(&path).unwrap(), std::fs::read(super::super::pair::catalog_path(&path)).unwrap());
    let readers = [Store::open(&path, &reading()).unwrap(), Store::open(&path, &reading()).unwrap()];
    for store in &readers {
        assert!(store.read_only());
        assert_eq!(store.read(id).unwrap().values, values);
        let errors = [
            store.add(&series(2, "load", &values)).unwrap_err(),
            store.add_bulk(&[]).unwrap_err(),
            store.remove(&[SeriesId(99)]).unwrap_err(),
            store.begin().unwrap_err(),
            store.commit().unwrap_err(),
            store.rollback().unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::ReadOnlyStore, "{error}");
        }
        store.flush().unwrap();
    }
    readers[0].close().unwrap();
    assert_eq!(readers[1].read(id).unwrap().values, values);
    drop(readers);
    let after = (std::fs::read(&path).unwrap(), std::fs::read(super::super::pair::catalog_path(&path)).unwrap());
    assert!(before == after, "reading changed a file");
}

#[test]
fn a_row_that_does_not_fit_its_array_is_refused_by_every_read() {
    let (_dir, stores) = stores();
    for store in stores {
        let id = add(&store, 1, "load", &ramp(0));
        for change in ["length = 3", "length = 5", "length = 0", "dtype = 'i64'", "element_shape = '[1]'"] {
            sql(&store, &format!("SAVEPOINT s; UPDATE time_series_associations SET {change}"));
            let hour = UnixMillis(START.0 + HOUR);
            for result in [
                store.read(id).map(|_| ()),
                store.read_range(id, Some(START), Some(hour)).map(|_| ()),
                store.read_range(id, Some(hour), Some(hour)).map(|_| ()),
                store.read_many(&[id]).map(|_| ()),
            ] {
                let error = result.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Integrity, "{change}: {error}");
                assert!(error.to_string().contains("`load` of Component 1"), "{error}");
            }
            sql(&store, "ROLLBACK TO s; RELEASE s");
        }
        assert_eq!(store.read(id).unwrap().values, ramp(0));
    }
}

#[test]
fn a_truncated_array_file_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let store = Store::create(&path, &CreateOptions::default()).unwrap();
    add(&store, 1, "load", &ramp(0));
    store.close().unwrap();
    let whole = std::fs::read(&path).unwrap();
    for len in (0..whole.len()).step_by(whole.len() / 40).chain([whole.len() - 1]) {
        std::fs::write(&path, &whole[..len]).unwrap();
        for options in [reading(), writable()] {
            let error = Store::open(&path, &options).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Format, "{len} bytes: {error}");
            assert!(error.to_string().contains("a.nc"), "{error}");
        }
    }
    std::fs::write(&path, &whole).unwrap();
    assert_eq!(names(&Store::open(&path, &writable()).unwrap()), ["load"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn flipped_bytes_of_the_array_file_do_no_harm(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..12),
    ) {
        static WHOLE: std::sync::OnceLock<[Vec<u8>; 2]> = std::sync::OnceLock::new();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.nc");
        let catalog = super::super::pair::catalog_path(&path);
        let [arrays, rows] = WHOLE.get_or_init(|| {
            let store = Store::create(&path, &CreateOptions { overwrite: true, ..CreateOptions::default() }).unwrap();
            let all: Vec<Array> = (0..3).map(|n| ramp(n * 10)).collect();
            store.add_bulk(&[series(1, "load", &all[0]), series(2, "load", &all[1])]).unwrap();
            add(&store, 3, "load", &all[2]);
            store.close().unwrap();
            [std::fs::read(&path).unwrap(), std::fs::read(&catalog).unwrap()]
        });
        let mut damaged = arrays.clone();
        for (at, by) in flips {
            damaged[at.index(arrays.len())] ^= by;
        }
        std::fs::write(&path, damaged).unwrap();
        std::fs::write(&catalog, rows).unwrap();
        if let Ok(store) = Store::open(&path, &reading()) {
            for info in all(&store) {
                let _ = store.read(info.id);
            }
            let hourly = Filter { resolution: Some(Period::hours(1)), ..Filter::default() };
            if let Ok(mut reader) = crate::readers::StaticReader::build(&store, &hourly) {
                (0..4).for_each(|step| drop(reader.read_step(step)));
            }
        }
    }
}
