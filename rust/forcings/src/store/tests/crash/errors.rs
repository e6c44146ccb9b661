//! Each step of a script fails, once or from then on, or is made and reported as failed. The store says so, is of use or
//! can be closed, and opens again with what was promised.

use super::*;
use crate::store::h5::faults::{Fate, Harm};
use std::io::ErrorKind as IoKind;

fn fail_everywhere(acts: &[Act]) {
    let seed = seeded();
    let fates: [fn(usize) -> Fate; 3] = [
        |step| Fate::Once(step, Harm::Refused(IoKind::StorageFull)),
        |step| Fate::Once(step, Harm::Late),
        |step| Fate::From(step, IoKind::StorageFull),
    ];
    for fate in fates {
        let mut failed = 0;
        for step in 0.. {
            let dir = tempfile::tempdir().unwrap();
            copy_folder(seed.0.path(), dir.path());
            let disk = Disk::under(dir.path());
            disk.let_fail(fate(step));
            let mut progress = Progress::new(&dir.path().join("a.nc"), seed.1.clone());
            let mut allowed = Vec::new();
            let mut ended = Ok(());
            for act in acts {
                let next = progress.next(act);
                ended = progress.act(act);
                if let Err(error) = &ended {
                    let kinds = [ErrorKind::Io, ErrorKind::Hdf5, ErrorKind::Catalog, ErrorKind::Integrity];
                    assert!(kinds.contains(&error.kind()), "{:?} in {act:?}: {error}", fate(step));
                    // What the failed call was to do may have happened, if it was made to fail afterwards.
                    allowed = vec![progress.promised.clone()];
                    allowed.extend(progress.maybe.clone());
                    // Outside of a transaction, closing keeps what was done, the failed call included.
                    match &progress.before {
                        Some(before) => allowed.push(before.clone()),
                        None => allowed.extend([progress.now.clone(), next]),
                    }
                    break;
                }
            }
            let struck = disk.struck();
            disk.heal();
            if let Some(store) = progress.store.take() {
                for info in all(&store) {
                    match store.read(info.id) {
                        Ok(read) => assert!((0..1000).any(|n| read.values == ramp(n))),
                        // What waited cannot be written any more.
                        Err(error) => {
                            assert!([ErrorKind::Integrity, ErrorKind::Hdf5].contains(&error.kind()), "{error}");
                        }
                    }
                }
                let _ = store.close();
            }
            if ended.is_ok() {
                // What fails behind a commit, and before the next, need not be told.
                assert_eq!(examine(&progress.path), progress.promised, "{:?}", fate(step));
                if !struck {
                    break;
                }
                continue;
            }
            failed += 1;
            let found = examine(&progress.path);
            assert!(allowed.contains(&found), "{:?}: {found:?} is none of {allowed:?}", fate(step));
        }
        assert!(failed > 10, "{failed}");
    }
}

#[test]
fn of_changes_and_commits() {
    fail_everywhere(&[
        Act::Open { durable: false },
        Act::Remove("a"),
        Act::Add("e", 40),
        Act::Flush,
        Act::Begin,
        Act::Bulk(&[("f", 50), ("g", 60)]),
        Act::Remove("c"),
        Act::Commit,
        Act::Close,
    ]);
}

#[test]
fn of_durable_changes() {
    fail_everywhere(&[Act::Open { durable: true }, Act::Remove("a"), Act::Add("e", 40), Act::Close]);
}

#[test]
fn of_a_compaction() {
    fail_everywhere(&[Act::Open { durable: false }, Act::Remove("a"), Act::Compact, Act::Add("e", 1), Act::Close]);
}

#[test]
fn of_a_replacement() {
    fail_everywhere(&[Act::Create { overwrite: true, durable: false }, Act::Add("e", 40), Act::Close]);
    fail_everywhere(&[Act::Persist("other", 70)]);
}

#[test]
fn more_than_the_failed_call_is_undone_and_it_says_so() {
    let mut told = [0, 0];
    for step in 0..8 {
        let fate = Fate::Once(step, Harm::Refused(IoKind::StorageFull));
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(dir.path().join("a.nc"), &CreateOptions::default()).unwrap();
        let disk = Disk::under(dir.path());
        // A change that is refused, behind one that is not flushed.
        add(&store, 1, "a", &ramp(0));
        disk.let_fail(fate);
        let error = store.add(&series(1, "a", &ramp(1))).unwrap_err();
        disk.heal();
        if names(&store).is_empty() {
            assert_eq!(error.kind(), ErrorKind::Integrity, "{error}");
            assert!(error.to_string().contains("all changes since the last flush were undone"), "{error}");
            told[0] += 1;
        }
        // An inner transaction that cannot be undone alone.
        store.clear().unwrap();
        store.begin().unwrap();
        add(&store, 1, "b", &ramp(0));
        store.begin().unwrap();
        add(&store, 1, "c", &ramp(1));
        disk.let_fail(fate);
        let ended = store.rollback();
        disk.heal();
        match ended {
            Ok(()) => assert_eq!((names(&store), store.in_transaction()), (vec!["b".to_string()], true)),
            Err(error) => {
                assert_eq!((names(&store), store.in_transaction()), (Vec::new(), false));
                assert_eq!(error.kind(), ErrorKind::Integrity, "{error}");
                assert!(error.to_string().contains("the whole transaction was undone"), "{error}");
                told[1] += 1;
            }
        }
    }
    assert!(told[0] > 0 && told[1] > 0, "{told:?}");
}
