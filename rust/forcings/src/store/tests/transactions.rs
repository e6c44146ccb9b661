//! Transactions: nesting, deferred frees, what is on the disk after which call.

use super::*;
use std::process::Command;

#[test]
fn a_rollback_restores_rows_and_arrays() {
    let (_dir, stores) = stores();
    for store in stores {
        let a = add(&store, 1, "a", &ramp(0));
        store.begin().unwrap();
        assert!(store.in_transaction());
        let arrays = [ramp(20), ramp(30)];
        store.add_bulk(&[series(1, "b", &arrays[0]), series(1, "c", &arrays[1])]).unwrap();
        store.remove(&[a]).unwrap();
        assert_eq!(names(&store), ["b", "c"], "reads see what the transaction did");
        assert_eq!(store.read(a).unwrap_err().kind(), ErrorKind::NotFound);
        store.rollback().unwrap();
        assert!(!store.in_transaction());
        assert_eq!(names(&store), ["a"]);
        assert_eq!(store.read(a).unwrap().values, ramp(0));
        for values in &arrays {
            assert!(!holds(&store, values.view().hash()));
        }
        let next = add(&store, 1, "d", &ramp(40));
        assert!(next.0 > a.0 + 2, "ids of the undone transaction were issued again");
    }
}

#[test]
fn inner_transactions_end_one_by_one() {
    let (_dir, stores) = stores();
    for store in stores {
        store.begin().unwrap();
        add(&store, 1, "outer", &ramp(0));
        store.begin().unwrap();
        add(&store, 1, "undone", &ramp(10));
        store.begin().unwrap();
        add(&store, 1, "undone with its parent", &ramp(20));
        store.commit().unwrap();
        store.rollback().unwrap();
        store.begin().unwrap();
        add(&store, 1, "inner", &ramp(30));
        store.commit().unwrap();
        assert_eq!(names(&store), ["outer", "inner"]);
        store.commit().unwrap();
        assert_eq!(names(&store), ["outer", "inner"]);
        let held: Vec<u32> = [0, 10, 20, 30].into_iter().filter(|&n| holds(&store, ramp(n).view().hash())).collect();
        assert_eq!(held, [0, 30]);

        store.begin().unwrap();
        store.begin().unwrap();
        add(&store, 1, "all undone", &ramp(40));
        store.commit().unwrap();
        store.rollback().unwrap();
        assert_eq!(names(&store), ["outer", "inner"]);
        assert!(!holds(&store, ramp(40).view().hash()));
    }
}

#[test]
fn a_removed_array_waits_for_the_outermost_commit() {
    let (_dir, stores) = stores();
    for store in stores {
        let values = ramp(0);
        let hash = values.view().hash();
        let a = add(&store, 1, "a", &values);
        store.begin().unwrap();
        store.begin().unwrap();
        store.remove(&[a]).unwrap();
        store.commit().unwrap();
        assert!(holds(&store, hash));
        store.rollback().unwrap();
        assert_eq!(store.read(a).unwrap().values, values);

        store.begin().unwrap();
        store.remove(&[a]).unwrap();
        let b = add(&store, 1, "b", &values);
        store.commit().unwrap();
        assert_eq!(store.read(b).unwrap().values, values);

        store.begin().unwrap();
        store.remove(&[b]).unwrap();
        store.commit().unwrap();
        assert!(!holds(&store, hash));
    }
}

#[test]
fn a_failed_change_leaves_the_transaction_usable() {
    let (_dir, stores) = stores();
    for store in stores {
        store.begin().unwrap();
        add(&store, 1, "a", &ramp(0));
        let values = ramp(10);
        assert_eq!(store.add(&series(1, "a", &values)).unwrap_err().kind(), ErrorKind::DuplicateTimeSeries);
        assert_eq!(store.remove(&[SeriesId(99)]).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(store.flush().unwrap_err().kind(), ErrorKind::InvalidParameter);
        add(&store, 1, "b", &ramp(20));
        store.commit().unwrap();
        assert_eq!(names(&store), ["a", "b"]);
        assert!(!holds(&store, values.view().hash()));
    }
}

#[test]
fn a_transaction_must_be_open_to_end() {
    let (_dir, stores) = stores();
    for store in stores {
        add(&store, 1, "a", &ramp(0));
        assert_eq!(store.commit().unwrap_err().kind(), ErrorKind::InvalidParameter);
        assert_eq!(store.rollback().unwrap_err().kind(), ErrorKind::InvalidParameter);
        assert_eq!(names(&store), ["a"]);
        store.begin().unwrap();
        store.commit().unwrap();
        assert_eq!(store.commit().unwrap_err().kind(), ErrorKind::InvalidParameter);
    }
}

#[test]
fn an_open_transaction_ends_undone_with_its_store() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let store = Store::create(&path, &CreateOptions::default()).unwrap();
    add(&store, 1, "kept", &ramp(0));
    for close in [true, false] {
        let store = if close { store.clone() } else { Store::open(&path, &writable()).unwrap() };
        store.begin().unwrap();
        store.begin().unwrap();
        add(&store, 1, "lost", &ramp(10));
        if close {
            store.close().unwrap();
        }
        drop(store);
    }
    let store = Store::open(&path, &writable()).unwrap();
    assert_eq!(names(&store), ["kept"]);
    assert!(!holds(&store, ramp(10).view().hash()));
    assert!(add(&store, 1, "next", &ramp(20)) > SeriesId(3), "ids were issued twice");
}

#[test]
fn files_hold_what_was_promised() {
    let dir = tempfile::tempdir().unwrap();
    for durable in [false, true] {
        let options = CreateOptions { durable, overwrite: true, ..CreateOptions::default() };
        let store = Store::create(dir.path().join("a.nc"), &options).unwrap();
        let on_disk = || names(&open_copy(&store, dir.path()));
        let a = add(&store, 1, "a", &ramp(0));
        if !durable {
            store.flush().unwrap();
        }
        assert_eq!(on_disk(), ["a"]);
        store.begin().unwrap();
        add(&store, 1, "b", &ramp(10));
        store.remove(&[a]).unwrap();
        store.commit().unwrap();
        let copy = open_copy(&store, dir.path());
        let generation = copy.shared().look(|session| session.catalog().meta(catalog::MetaKey::Generation)).unwrap();
        assert_eq!(generation.as_deref(), Some("2"), "one commit for `a`, one for the transaction");
        assert_eq!(copy.shared().arrays().unwrap().attribute("generation"), generation);
        let listed = all(&copy);
        assert_eq!(listed.len(), 1);
        assert_eq!(copy.read(listed[0].id).unwrap().values, ramp(10));
        let report = copy.verify().unwrap();
        assert!(report.is_clean() && report.unused_variables == 1, "{report:?}");
        drop(copy);
        store.flush().unwrap();
        let copy = open_copy(&store, dir.path());
        let report = copy.verify().unwrap();
        assert!(report.is_clean() && report.unused_variables == 0, "{report:?}");
        assert!(!holds(&copy, ramp(0).view().hash()));
        drop(copy);
        store.close().unwrap();
        assert_eq!(on_disk(), ["b"]);
    }
}

#[test]
fn many_threads_share_a_store() {
    let (_dir, stores) = stores();
    for store in stores {
        std::thread::scope(|scope| {
            for owner in 0..4 {
                let store = store.clone();
                scope.spawn(move || {
                    for n in 0..8 {
                        let values = ramp(n * 10);
                        let id = add(&store, owner, &format!("{n}"), &values);
                        assert_eq!(store.read(id).unwrap().values, values);
                    }
                });
            }
        });
        assert_eq!(all(&store).len(), 32);
    }
}

/// Runs itself in a second process, which dies with work in hand.
#[test]
fn a_process_that_dies_leaves_what_was_promised() {
    const NAME: &str = "store::tests::transactions::a_process_that_dies_leaves_what_was_promised";
    const VARIABLE: &str = "FORCINGS_TEST_STORE_TO_ABANDON";
    if let Ok(path) = std::env::var(VARIABLE) {
        let durable = path.ends_with("durable.nc");
        let store = Store::create(path, &CreateOptions { durable, ..CreateOptions::default() }).unwrap();
        let kept = add(&store, 1, "kept", &ramp(0));
        store.flush().unwrap();
        let values = ramp(10);
        store.add_bulk(&[series(2, "later", &values), series(3, "later", &values)]).unwrap();
        store.remove(&[kept]).unwrap();
        store.begin().unwrap();
        add(&store, 4, "lost", &ramp(20));
        std::process::abort();
    }
    let dir = tempfile::tempdir().unwrap();
    for (name, read_only) in [("lazy.nc", true), ("lazy.nc", false), ("durable.nc", true), ("durable.nc", false)] {
        let path = dir.path().join(name);
        let _ = std::fs::remove_file(&path);
        let _ = std::fs::remove_file(super::super::pair::catalog_path(&path));
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", NAME])
            .env(VARIABLE, &path)
            .output()
            .unwrap()
            .status;
        assert!(!status.success());
        let store = Store::open(&path, &OpenOptions { read_only, durable: false }).unwrap();
        // Opening a transaction commits what was done before it.
        assert_eq!(names(&store), ["later", "later"], "{name}");
        for info in all(&store) {
            assert_eq!(store.read(info.id).unwrap().values, ramp(10));
        }
    }
}
