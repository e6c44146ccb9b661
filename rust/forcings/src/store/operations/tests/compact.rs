//! Physical compaction: what it keeps, what it leaves behind, and who may read meanwhile.

use super::*;
use crate::readers::StaticReader;
use crate::series::SeriesData;
use crate::store::pair::catalog_path;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

/// A year of hours.
fn long(n: u32) -> Array {
    let values: Vec<f64> = (0..8760u32).map(|k| f64::from(k.wrapping_mul(n + 1) % 1009)).collect();
    Array::from_f64(vec![8760], &values).unwrap()
}

fn add_uneven(store: &Store, owner: i64, values: &Array) -> SeriesId {
    let timestamps = [0, 1, 5, 100].map(|k| UnixMillis(START.0 + k)).to_vec();
    let data = SeriesData::NonSequential { timestamps, values: values.view() };
    store.add(&NewSeries::new(Owner::component(owner, "Bus"), "uneven", data)).unwrap()
}

/// Columns in two datasets of one pool, another pool, and variables of their own; every second series is removed.
fn fill(store: &Store) -> Vec<(SeriesId, Array)> {
    let mut series = Vec::new();
    for batch in 0..2 {
        let values: Vec<Array> = (0..6).map(|n| long(10 * batch + n)).collect();
        let new: Vec<_> = values
            .iter()
            .enumerate()
            .map(|(k, values)| {
                let owner = Owner::component(i64::from(10 * batch) + k as i64, "Bus");
                NewSeries::single(owner, "long", START, Period::hours(1), values.view())
            })
            .collect();
        let ids = store.add_bulk(&new).unwrap();
        series.extend(ids.into_iter().zip(values));
    }
    for n in 0..6 {
        let values = ramp(100 + n);
        series.push((add(store, i64::from(n), "short", &values), values));
        let values = ramp(200 + n);
        series.push((add_uneven(store, i64::from(n), &values), values));
    }
    let removed: Vec<SeriesId> = series.iter().step_by(2).map(|(id, _)| *id).collect();
    store.remove(&removed).unwrap();
    series.into_iter().skip(1).step_by(2).collect()
}

fn check(store: &Store, series: &[(SeriesId, Array)]) {
    for (id, values) in series {
        assert_eq!(&store.read(*id).unwrap().values, values);
    }
    let ids: Vec<SeriesId> = series.iter().map(|(id, _)| *id).collect();
    assert!(store.read_many(&ids).unwrap().iter().zip(series).all(|(read, (_, values))| read.values == *values));
    let report = store.verify().unwrap();
    assert!(report.is_clean(), "{report:?}");
}

#[test]
fn what_series_have_is_kept_and_the_rest_is_gone() {
    let (dir, stores) = stores();
    for store in stores {
        let mut series = fill(&store);
        store.flush().unwrap();
        let on_disk = || fs::metadata(store.path()).map(|meta| meta.len()).ok();
        let before = on_disk();
        let report = store.compact_physical().unwrap();
        assert!(report.bytes_after < report.bytes_before * 3 / 4, "{report:?}");
        if let (Some(before), Some(after)) = (before, on_disk()) {
            assert_eq!((before, after), (report.bytes_before, report.bytes_after));
        }
        check(&store, &series);
        assert_eq!(store.verify().unwrap().unused_variables, 0);
        assert_eq!(store.compact().unwrap().slots_reclaimed, 0, "no free column is left");
        // Another time there is nothing to gain, and the store goes on.
        let again = store.compact_physical().unwrap();
        assert_eq!(again.bytes_after, again.bytes_before);
        let values = ramp(900);
        series.push((add(&store, 50, "later", &values), values));
        store.begin().unwrap();
        store.remove(&[series[0].0]).unwrap();
        store.rollback().unwrap();
        check(&store, &series);
        if store.path().exists() {
            let path = store.path().to_path_buf();
            store.close().unwrap();
            netcdf::open(&path).unwrap();
            let store = Store::open(&path, &OpenOptions::default()).unwrap();
            check(&store, &series);
            let values = ramp(901);
            series.push((add(&store, 51, "last", &values), values));
            store.close().unwrap();
            check(&Store::open(&path, &reading()).unwrap(), &series);
        }
    }
    let mut names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.nc", "a.nc.sqlite", "b.nc", "b.nc.sqlite"]);
}

#[test]
fn an_empty_store_stays_one() {
    let (_dir, stores) = stores();
    for store in stores {
        let id = add(&store, 1, "a", &ramp(0));
        store.remove(&[id]).unwrap();
        store.compact_physical().unwrap();
        assert_eq!(store.verify().unwrap(), Default::default());
        assert!(add(&store, 1, "a", &ramp(0)) > id, "a number was issued twice");
        assert_eq!(all(&store).len(), 1);
    }
}

#[test]
fn it_is_refused_where_nothing_may_change() {
    let (_dir, stores) = stores();
    for store in stores {
        add(&store, 1, "a", &ramp(0));
        store.begin().unwrap();
        assert_eq!(kind(store.compact_physical()), ErrorKind::InvalidParameter);
        store.rollback().unwrap();
        store.compact_physical().unwrap();
        store.close().unwrap();
        assert_eq!(kind(store.compact_physical()), ErrorKind::Closed);
    }
    let (_dir, store, _) = read_only();
    assert_eq!(kind(store.compact_physical()), ErrorKind::ReadOnlyStore);
}

#[test]
fn readers_that_were_built_before_go_on() {
    let (_dir, stores) = stores();
    for store in stores {
        let series = fill(&store);
        let filter = Filter { name: Some("long".into()), resolution: Some(Period::hours(1)), ..Filter::default() };
        let mut reader = StaticReader::build(&store, &filter).unwrap();
        let mut expected = Vec::new();
        let mut row = |reader: &mut StaticReader, step: usize| {
            reader.read_step(step).unwrap();
            let values: Vec<f64> =
                reader.values(0).chunks(8).map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap())).collect();
            expected.push((step, values.clone()));
            values
        };
        let before = row(&mut reader, 4000);
        store.compact_physical().unwrap();
        assert_eq!(row(&mut reader, 4000), before);
        let mut fresh = StaticReader::build(&store, &filter).unwrap();
        for step in [0, 4001, 8759] {
            assert_eq!(row(&mut reader, step), row(&mut fresh, step));
        }
        store.remove(&[series[0].0]).unwrap();
        store.compact_physical().unwrap();
        assert_eq!(kind(reader.read_step(0)), ErrorKind::NotFound);
        store.close().unwrap();
        assert_eq!(kind(fresh.read_step(0)), ErrorKind::Closed);
    }
}

#[test]
fn reading_goes_on_meanwhile_and_only_sees_right_values() {
    let (_dir, stores) = stores();
    for store in stores {
        let series = fill(&store);
        let done = AtomicBool::new(false);
        let filter = Filter { name: Some("long".into()), resolution: Some(Period::hours(1)), ..Filter::default() };
        let mut reader = StaticReader::build(&store, &filter).unwrap();
        let order: Vec<Array> = all(&store)
            .into_iter()
            .filter(|info| info.name == "long")
            .map(|info| series.iter().find(|(id, _)| *id == info.id).unwrap().1.clone())
            .collect();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::SeqCst) {
                    for (id, values) in &series {
                        assert_eq!(&store.read(*id).unwrap().values, values);
                    }
                }
            });
            scope.spawn(|| {
                for step in (0..8760).cycle() {
                    reader.read_step(step).unwrap();
                    let row = order.iter().flat_map(|values| &values.bytes()[8 * step..8 * step + 8]);
                    assert!(row.eq(reader.values(0)));
                    if done.load(Ordering::SeqCst) {
                        break;
                    }
                }
            });
            for _ in 0..12 {
                store.compact_physical().unwrap();
            }
            done.store(true, Ordering::SeqCst);
        });
    }
}

#[test]
fn the_lock_moves_to_the_new_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let store = Store::create(&path, &CreateOptions::default()).unwrap();
    add(&store, 1, "a", &ramp(0));
    store.compact_physical().unwrap();
    for options in [reading(), OpenOptions::default()] {
        let error = Store::open(&path, &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StoreInUse);
        assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
    }
    // A copy after a flush is a store.
    add(&store, 2, "b", &ramp(1));
    store.flush().unwrap();
    let copy = dir.path().join("copy.nc");
    fs::copy(&path, &copy).unwrap();
    fs::copy(catalog_path(&path), catalog_path(&copy)).unwrap();
    assert_eq!(all(&Store::open(&copy, &reading()).unwrap()), all(&store));
    drop(store);
    assert!(!dir.path().join("a.nc.lock").exists());
    Store::open(&path, &OpenOptions::default()).unwrap();
}
