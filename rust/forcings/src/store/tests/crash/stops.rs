//! A script is stopped at each of its steps. Nothing that it does afterwards reaches a file, as if it had been killed;
//! then recovery is stopped at each of its own steps.

use super::*;
use crate::store::h5::faults::{Fate, Harm};
use std::io::ErrorKind as IoKind;

/// What a script leaves that was stopped at one of its steps.
struct Stopped {
    dir: tempfile::TempDir,
    disk: Disk,
    progress: Progress,
    ended: Result<()>,
}

/// Runs `acts` on a copy of `start`, and stops them at a step.
fn stop_at(stop: usize, harm: Harm, start: Option<&(tempfile::TempDir, Content)>, acts: &[Act]) -> Stopped {
    let dir = tempfile::tempdir().unwrap();
    let now = start.and_then(|(seed, now)| {
        copy_folder(seed.path(), dir.path());
        now.clone()
    });
    let disk = Disk::under(dir.path());
    disk.let_fail(Fate::Gone(stop, harm));
    let mut progress = Progress::new(&dir.path().join("a.nc"), now);
    let ended = progress.run(acts);
    // The handle goes as the process would: what it still tries to write is lost.
    drop(progress.store.take());
    Stopped { dir, disk, progress, ended }
}

/// A writer that is stopped within a commit may leave a hot journal.
const WRITER: [Act; 4] = [Act::Open { durable: false }, Act::Remove("a"), Act::Add("e", 1), Act::Flush];

/// Stops `acts` everywhere. Every `interrupted`-th stop is followed by recoveries that are stopped too.
fn stop_everywhere(start: Option<&(tempfile::TempDir, Content)>, acts: &[Act], interrupted: usize) {
    let mut stops = 0;
    for harm in [Harm::Refused(IoKind::Other), Harm::Torn] {
        for stop in 0.. {
            let Stopped { dir, disk, progress, ended } = stop_at(stop, harm, start, acts);
            let at = format!("{harm:?} at step {stop}, promised {:?}, maybe {:?}", progress.promised, progress.maybe);
            if !disk.struck() {
                ended.unwrap();
                break;
            }
            stops += 1;
            if stop % interrupted == 0 {
                recover_with_stops(&disk, dir.path(), harm);
            }
            disk.heal();
            let found = examine(&progress.path);
            assert!(progress.allows(&found), "{at}, found {found:?}");
            if found.is_some() {
                go_on(&progress.path, found, &at);
            }
        }
    }
    assert!(stops > 20, "{stops}");
}

/// Opens copies of the folder and stops each at another step, one after the other in one folder.
fn recover_with_stops(disk: &Disk, folder: &Path, harm: Harm) {
    let path = folder.join("a.nc");
    for stop in 0.. {
        disk.let_fail(Fate::Gone(stop, harm));
        drop(Store::open(&path, &writable()));
        if !disk.struck() {
            break;
        }
    }
}

/// The store takes another change and keeps it.
fn go_on(path: &Path, found: Content, at: &str) {
    let mut progress = Progress::new(path, found);
    progress.run(&[Act::Open { durable: false }, Act::Add("z", 990), Act::Close]).unwrap();
    assert_eq!(examine(path), progress.promised, "{at}");
}

#[test]
fn making_and_filling_a_store() {
    let acts = [
        Act::Create { overwrite: false, durable: false },
        Act::Add("a", 0),
        Act::Flush,
        Act::Bulk(&[("b", 10), ("c", 20)]),
        Act::Close,
    ];
    stop_everywhere(None, &acts, 4);
}

#[test]
fn transactions() {
    let acts = [
        Act::Open { durable: false },
        Act::Remove("a"),
        Act::Begin,
        Act::Bulk(&[("e", 40), ("f", 50)]),
        Act::Remove("c"),
        Act::Commit,
        Act::Begin,
        Act::Add("g", 60),
        Act::Remove("d"),
        Act::Rollback,
        Act::Add("h", 20),
        Act::Flush,
        Act::Begin,
        Act::Add("i", 80),
        Act::Close,
    ];
    stop_everywhere(Some(&seeded()), &acts, 4);
}

#[test]
fn a_pair_of_another_writer() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let file = Arc::new(h5::PlainFile::create(&path, false).unwrap());
    arrays::ArrayFile::create(file, Compression::None, &[]).unwrap().close().unwrap();
    catalog::Catalog::create(&catalog_path(&path)).unwrap().close().unwrap();
    stop_everywhere(Some(&(dir, content([]))), &[Act::Open { durable: false }, Act::Add("a", 0), Act::Close], 2);
}

#[test]
fn durable_changes() {
    let acts = [Act::Open { durable: true }, Act::Add("e", 40), Act::Remove("d"), Act::Add("f", 30), Act::Close];
    stop_everywhere(Some(&seeded()), &acts, 4);
}

#[test]
fn physical_compaction() {
    let acts =
        [Act::Open { durable: false }, Act::Remove("a"), Act::Compact, Act::Add("e", 40), Act::Remove("d"), Act::Close];
    stop_everywhere(Some(&seeded()), &acts, 2);
}

#[test]
fn replacing_a_store_by_an_empty_one() {
    let acts = [Act::Create { overwrite: true, durable: false }, Act::Add("e", 40), Act::Close];
    stop_everywhere(Some(&seeded()), &acts, 2);
}

#[test]
fn replacing_a_store_by_another() {
    stop_everywhere(Some(&seeded()), &[Act::Persist("other", 70)], 2);
}

#[test]
fn a_store_that_was_being_written_is_replaced() {
    // A hot journal of the old store must not reach the new one.
    let seed = seeded();
    let mut found = 0;
    for stop in 0.. {
        let Stopped { dir, disk, progress, .. } = stop_at(stop, Harm::Torn, Some(&seed), &WRITER);
        let path = dir.path().join("a.nc");
        let done = !disk.struck();
        disk.heal();
        if h5::journal::is_hot(&path).unwrap() {
            found += 1;
            let mut progress = Progress::new(&path, progress.promised);
            progress.run(&[Act::Persist("other", 70)]).unwrap();
            assert_eq!(examine(&path), content([("other", 70)]));
        }
        if done {
            break;
        }
    }
    assert!(found > 3, "{found}");
}

#[test]
fn readers_see_the_committed_state_too() {
    let seed = seeded();
    let mut found = 0;
    for stop in 0.. {
        let Stopped { dir, disk, progress, .. } = stop_at(stop, Harm::Torn, Some(&seed), &WRITER);
        let path = dir.path().join("a.nc");
        let (done, hot) = (!disk.struck(), h5::journal::is_hot(&path).unwrap());
        // Nothing may be written: the reader undoes the commit for itself.
        disk.let_fail(Fate::From(0, IoKind::PermissionDenied));
        let reader = Store::open(&path, &reading()).unwrap();
        assert!(reader.verify().unwrap().is_clean());
        let seen = Some(read_content(&reader));
        assert!(progress.allows(&seen), "stopped at {stop}: {seen:?}");
        assert_eq!(h5::journal::is_hot(&path).unwrap(), hot);
        drop(reader);
        // It may be: the commit is undone for all.
        disk.heal();
        let reader = Store::open(&path, &reading()).unwrap();
        assert_eq!(Some(read_content(&reader)), seen);
        assert!(!h5::journal::is_hot(&path).unwrap());
        found += usize::from(hot);
        if done {
            break;
        }
    }
    assert!(found > 3, "{found}");
}

#[test]
fn readers_that_come_together_after_a_stop_are_all_let_in() {
    let seed = seeded();
    let mut found = 0;
    for stop in 0.. {
        let Stopped { dir, disk, .. } = stop_at(stop, Harm::Torn, Some(&seed), &WRITER);
        let (path, done) = (dir.path().join("a.nc"), !disk.struck());
        disk.heal();
        found += usize::from(h5::journal::is_hot(&path).unwrap());
        let seen: Vec<_> = std::thread::scope(|scope| {
            let read = || read_content(&Store::open(&path, &reading()).unwrap());
            let readers: Vec<_> = (0..4).map(|_| scope.spawn(read)).collect();
            readers.into_iter().map(|reader| reader.join().unwrap()).collect()
        });
        assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "stopped at {stop}: {seen:?}");
        if done {
            break;
        }
    }
    assert!(found > 3, "{found}");
}
