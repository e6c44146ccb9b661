//! A change that fails leaves the store as it was; arrays are shared, and go with their last series.

use super::*;
use crate::store::arrays::ArrayFile;
use crate::store::catalog::Catalog;
use crate::store::h5::faults::{Disk, Fate};
use crate::store::h5::tests::Full;
use crate::store::h5::MemoryFile;
use std::sync::atomic::Ordering;

#[test]
fn a_duplicate_is_refused_and_the_first_values_stay() {
    let (_dir, stores) = stores();
    for store in stores {
        let (first, second) = (ramp(0), ramp(10));
        let id = add(&store, 1, "load", &first);
        let error = store.add(&series(1, "load", &second)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DuplicateTimeSeries);
        assert!(error.to_string().contains("SingleTimeSeries `load` of Component 1 (Bus), resolution PT1H"), "{error}");
        assert_eq!(store.read(id).unwrap().values, first);
        assert!(!holds(&store, second.view().hash()), "the array of the refused series stayed");
        // A duplicate of content that is stored already must not take it away.
        assert_eq!(store.add(&series(1, "load", &first)).unwrap_err().kind(), ErrorKind::DuplicateTimeSeries);
        assert_eq!(store.read(id).unwrap().values, first);
    }
}

#[test]
fn a_bulk_with_a_bad_item_changes_nothing() {
    let (_dir, stores) = stores();
    for store in stores {
        let arrays: Vec<Array> = (0..5).map(|n| ramp(n * 10)).collect();
        let kept = add(&store, 3, "load", &arrays[0]);
        let items = |owners: [i64; 5]| -> Vec<NewSeries<'_>> {
            owners.into_iter().zip(&arrays).map(|(owner, values)| series(owner, "load", values)).collect()
        };
        let mut reserved = items([10, 11, 12, 13, 14]);
        reserved[2].features = [("resolution", 1)].into_iter().collect();
        for (bulk, kind) in [
            (items([1, 2, 3, 4, 5]), ErrorKind::DuplicateTimeSeries),
            (items([6, 7, 6, 8, 9]), ErrorKind::DuplicateTimeSeries),
            (reserved, ErrorKind::InvalidParameter),
        ] {
            assert_eq!(store.add_bulk(&bulk).unwrap_err().kind(), kind);
            assert_eq!(all(&store).iter().map(|info| info.id).collect::<Vec<_>>(), [kept]);
            for values in &arrays[1..] {
                assert!(!holds(&store, values.view().hash()), "an array of the refused bulk stayed");
            }
            assert_eq!(store.read(kept).unwrap().values, arrays[0]);
        }
        let ids = store.add_bulk(&items([1, 2, 4, 5, 6])).unwrap();
        for (id, values) in ids.iter().zip(&arrays) {
            assert_eq!(&store.read(*id).unwrap().values, values);
        }
        assert!(store.add_bulk(&[]).unwrap().is_empty());
    }
}

#[test]
fn identical_arrays_are_stored_once_and_freed_with_the_last_series() {
    let (_dir, stores) = stores();
    for store in stores {
        let values = ramp(0);
        let hash = values.view().hash();
        let a = add(&store, 1, "load", &values);
        let ids = store.add_bulk(&[series(2, "load", &values), series(3, "load", &values)]).unwrap();
        let count = all(&store).iter().filter(|info| info.hash == hash).count();
        assert_eq!(count, 3);
        store.remove(&[a]).unwrap();
        store.remove(&ids[..1]).unwrap();
        store.flush().unwrap();
        assert!(holds(&store, hash));
        assert_eq!(store.read(ids[1]).unwrap().values, values);
        store.remove(&ids[1..]).unwrap();
        store.flush().unwrap();
        assert!(!holds(&store, hash));
        // The same content again, and removed and added within one flush.
        let b = add(&store, 1, "load", &values);
        store.remove(&[b]).unwrap();
        let c = add(&store, 1, "load", &values);
        assert!(c > b && b > ids[1], "an id was issued twice");
        store.flush().unwrap();
        assert_eq!(store.read(c).unwrap().values, values);
    }
}

#[test]
fn removing_counts_for_readers() {
    let (_dir, stores) = stores();
    for store in stores {
        let a = add(&store, 1, "load", &ramp(0));
        let shared = store.shared().clone();
        let before = shared.removals();
        let b = add(&store, 2, "load", &ramp(0));
        assert_eq!(shared.removals(), before, "an added series is no reason to look again");
        store.remove(&[a]).unwrap();
        assert!(shared.removals() > before);
        assert_eq!(shared.missing_ids(&[a, b]).unwrap(), [a]);
        let before = shared.removals();
        store.begin().unwrap();
        let c = add(&store, 3, "load", &ramp(9));
        store.rollback().unwrap();
        assert!(shared.removals() > before);
        assert_eq!(shared.missing_ids(&[a, b, c]).unwrap(), [a, c]);
    }
}

#[test]
fn what_sqlite_gives_up_is_taken_out_of_the_arrays_too() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path().join("a.nc"), &CreateOptions::default()).unwrap();
    let kept = add(&store, 1, "kept", &ramp(0));
    store.flush().unwrap();
    // RAISE(ROLLBACK) ends the whole transaction, as a full disk does.
    sql(
        &store,
        "CREATE TEMP TRIGGER poison BEFORE INSERT ON time_series_associations WHEN NEW.name = 'poison'
         BEGIN SELECT RAISE(ROLLBACK, 'the disk is full'); END",
    );
    for explicit in [false, true] {
        if explicit {
            store.begin().unwrap();
        }
        add(&store, 2, "lost", &ramp(10));
        store.remove(&[kept]).unwrap();
        let (third, fourth) = (ramp(20), ramp(30));
        let error = store.add_bulk(&[series(3, "lost", &third), series(3, "poison", &fourth)]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Integrity);
        let undone =
            if explicit { "the whole transaction was undone" } else { "all changes since the last flush were undone" };
        for part in ["the disk is full", "a.nc.sqlite", undone] {
            assert!(error.to_string().contains(part), "{error}");
        }
        assert!(!store.in_transaction());
        assert_eq!(names(&store), ["kept"]);
        assert_eq!(store.read(kept).unwrap().values, ramp(0));
        for n in [10, 20, 30] {
            assert!(!holds(&store, ramp(n).view().hash()));
        }
    }
    sql(&store, "DROP TRIGGER poison");
    add(&store, 2, "later", &ramp(10));
    store.flush().unwrap();
    let copy = open_copy(&store, dir.path());
    assert_eq!(names(&copy), ["kept", "later"]);
}

#[test]
fn a_commit_that_fails_may_be_tried_again_or_undone() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path().join("a.nc"), &CreateOptions::default()).unwrap();
    // A deferred foreign key makes COMMIT fail and leaves the transaction open, as a lock held by another process does.
    sql(&store, "CREATE TABLE a (x PRIMARY KEY); CREATE TABLE b (x REFERENCES a DEFERRABLE INITIALLY DEFERRED)");
    add(&store, 1, "implicit", &ramp(0));
    sql(&store, "INSERT INTO b VALUES (1)");
    assert_eq!(store.flush().unwrap_err().kind(), ErrorKind::Catalog);
    assert_eq!(store.close().unwrap_err().kind(), ErrorKind::Catalog);
    assert!(store.is_open());
    assert_eq!(names(&store), ["implicit"]);
    sql(&store, "DELETE FROM b");
    store.flush().unwrap();

    store.begin().unwrap();
    add(&store, 1, "explicit", &ramp(1));
    sql(&store, "INSERT INTO b VALUES (1)");
    assert_eq!(store.commit().unwrap_err().kind(), ErrorKind::Catalog);
    assert!(store.in_transaction());
    store.rollback().unwrap();
    assert!(!holds(&store, ramp(1).view().hash()));
    assert_eq!(names(&store), ["implicit"]);
    store.flush().unwrap();
    let copy = open_copy(&store, dir.path());
    assert_eq!(names(&copy), ["implicit"]);
}

#[test]
fn a_durable_add_that_cannot_be_committed_is_undone() {
    let dir = tempfile::tempdir().unwrap();
    let options = CreateOptions { durable: true, ..CreateOptions::default() };
    let store = Store::create(dir.path().join("a.nc"), &options).unwrap();
    sql(
        &store,
        "CREATE TABLE a (x PRIMARY KEY); CREATE TABLE b (x REFERENCES a DEFERRABLE INITIALLY DEFERRED);
         CREATE TRIGGER poison AFTER INSERT ON time_series_associations WHEN NEW.name = 'poison'
         BEGIN INSERT INTO b VALUES (1); END",
    );
    add(&store, 1, "kept", &ramp(0));
    let values = ramp(1);
    assert_eq!(store.add(&series(1, "poison", &values)).unwrap_err().kind(), ErrorKind::Catalog);
    assert!(!holds(&store, values.view().hash()));
    assert_eq!(names(&store), ["kept"]);
    add(&store, 2, "next", &values);
    assert_eq!(names(&open_copy(&store, dir.path())), ["kept", "next"]);
}

/// A store, and its disk with room for any number of writes.
fn on_a_disk_that_may_fill_up() -> (Arc<Full>, Store) {
    let layer = Arc::new(Full { inner: MemoryFile::new(), left: usize::MAX.into() });
    let arrays = ArrayFile::create(layer.clone(), Compression::default(), &[]).unwrap();
    let path = Path::new("full.nc");
    let shared = Shared::new(path, false, Promise::EveryFlush, arrays, Catalog::memory().unwrap()).unwrap();
    (layer, Store::of(shared))
}

/// Changes the store until something fails; `expected` follows what succeeded.
fn change(store: &Store, expected: &mut Vec<&str>) -> Result<()> {
    let (c, d, e) = (ramp(20), ramp(30), ramp(40));
    store.add(&series(1, "c", &c))?;
    expected.push("c");
    store.add_bulk(&[series(1, "d", &d), series(1, "e", &e)])?;
    expected.extend(["d", "e"]);
    let first = all(store)[0].id;
    store.remove(&[first])?;
    expected.remove(0);
    store.flush()
}

#[test]
fn a_disk_that_fills_up_under_the_arrays_leaves_no_rows_without_one() {
    let mut failures = 0;
    for left in 0.. {
        let (layer, store) = on_a_disk_that_may_fill_up();
        add(&store, 1, "a", &ramp(0));
        add(&store, 1, "b", &ramp(10));
        store.flush().unwrap();
        layer.left.store(left, Ordering::Relaxed);
        let mut expected = vec!["a", "b"];
        let result = change(&store, &mut expected);
        assert_eq!(names(&store), expected, "after {left} writes");
        for info in all(&store) {
            let place = ["a", "b", "c", "d", "e"].iter().position(|name| *name == info.name).unwrap();
            match store.read(info.id) {
                Ok(read) => assert_eq!(read.values, ramp(10 * place as u32), "after {left} writes"),
                // The array file says that it needs to be opened again, or what kept the array from being written.
                Err(error) => {
                    let kinds = [ErrorKind::Integrity, ErrorKind::Io, ErrorKind::Hdf5];
                    assert!(kinds.contains(&error.kind()), "after {left} writes: {error}");
                }
            }
        }
        match result {
            Ok(()) => break,
            Err(error) => assert!([ErrorKind::Io, ErrorKind::Hdf5].contains(&error.kind()), "{error}"),
        }
        failures += 1;
    }
    assert!(failures > 10, "{failures}");
}

#[test]
fn a_store_whose_disk_was_full_can_be_closed_and_opened_again() {
    let (layer, store) = on_a_disk_that_may_fill_up();
    add(&store, 1, "unflushed", &ramp(0));
    layer.left.store(0, Ordering::Relaxed);
    assert_eq!(store.flush().unwrap_err().kind(), ErrorKind::Io);
    let values = ramp(10);
    layer.left.store(usize::MAX, Ordering::Relaxed);
    assert_eq!(store.add(&series(2, "refused", &values)).unwrap_err().kind(), ErrorKind::Hdf5);
    assert_eq!(names(&store), ["unflushed"]);
    assert_eq!(store.flush().unwrap_err().kind(), ErrorKind::Hdf5);
    assert!(store.is_open());
    // The close that gives the lock up says that something was lost; the next has nothing to say.
    assert_eq!(store.close().unwrap_err().kind(), ErrorKind::Hdf5);
    assert!(!store.is_open());
    store.close().unwrap();
    assert_eq!(store.list(&Filter::default()).unwrap_err().kind(), ErrorKind::Closed);
}

#[test]
fn what_could_not_be_undone_is_undone_before_anyone_looks() {
    let mut stuck = 0;
    for step in 0..12 {
        for durable in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("a.nc");
            let store = Store::create(&path, &CreateOptions { durable, ..CreateOptions::default() }).unwrap();
            add(&store, 1, "load", &ramp(0));
            store.flush().unwrap();
            let names = |store: &Store| store.list(&Filter::default()).map(|rows| rows.len());
            let disk = Disk::under(dir.path());
            disk.let_fail(Fate::From(step, std::io::ErrorKind::StorageFull));
            let (new, values) = (ramp(1), ramp(2));
            let twice = [series(2, "load", &new), series(3, "load", &values), series(2, "load", &values)];
            store.add_bulk(&twice).unwrap_err();
            stuck += usize::from(names(&store).is_err());
            disk.heal();
            assert_eq!(names(&store).unwrap(), 1, "step {step}");
            let _ = store.close();
            drop(store);
            let store = Store::open(&path, &writable()).unwrap();
            assert_eq!(names(&store).unwrap(), 1, "step {step}");
            store.flush().unwrap();
            assert!(store.verify().unwrap().is_clean(), "step {step}");
        }
    }
    assert!(stuck > 0);
}

#[test]
fn what_sqlite_gives_up_unnoticed_is_told_by_the_next_call() {
    let calls: [fn(&Store) -> Result<()>; 5] = [
        |store| store.add(&series(3, "later", &ramp(20))).map(drop),
        |store| store.flush(),
        |store| store.list(&Filter::default()).map(drop),
        |store| store.begin(),
        |store| store.close(),
    ];
    for explicit in [false, true] {
        for call in calls {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("a.nc");
            let store = Store::create(&path, &CreateOptions::default()).unwrap();
            add(&store, 1, "kept", &ramp(0));
            store.flush().unwrap();
            if explicit {
                store.begin().unwrap();
            }
            add(&store, 2, "lost", &ramp(10));
            // As a statement does that only reads, and meets a disk that fails.
            sql(&store, "ROLLBACK");
            let error = call(&store).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Integrity, "{error}");
            let undone = if explicit { "the whole transaction was undone" } else { "since the last flush were undone" };
            assert!(error.to_string().contains(undone), "{error}");
            assert!(!store.in_transaction());
            assert_eq!(names(&store), ["kept"]);
            add(&store, 3, "later", &ramp(20));
            store.flush().unwrap();
            assert_eq!(names(&open_copy(&store, dir.path())), ["kept", "later"]);
        }
    }
}

#[test]
fn a_transaction_that_cannot_be_rolled_back_is_undone_before_the_next_use() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path().join("a.nc"), &CreateOptions::default()).unwrap();
    add(&store, 1, "kept", &ramp(0));
    store.begin().unwrap();
    add(&store, 2, "lost", &ramp(10));
    let disk = Disk::under(dir.path());
    disk.let_fail(Fate::From(0, std::io::ErrorKind::StorageFull));
    let error = store.rollback().unwrap_err();
    assert!(error.to_string().contains("undone before the store is used again"), "{error}");
    assert!(store.list(&Filter::default()).is_err());
    disk.heal();
    assert_eq!(names(&store), ["kept"]);
    assert!(!store.in_transaction());
    // The next transaction is an outermost one.
    store.begin().unwrap();
    add(&store, 3, "later", &ramp(20));
    store.commit().unwrap();
    assert_eq!(names(&open_copy(&store, dir.path())), ["kept", "later"]);
}
