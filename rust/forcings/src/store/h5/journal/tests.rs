//! The journal's layer by itself: it reads as the file it stands for, and whatever happens to its steps, what the next
//! open finds is a committed state.

use super::*;
use crate::store::h5::faults::{Disk, Fate, Harm};
use crate::store::h5::{MemoryFile, PlainFile};
use proptest::prelude::*;
use std::io::ErrorKind as IoKind;
use std::path::PathBuf;

#[derive(Debug, Clone)]
enum Act {
    Write(u64, usize, u8),
    SetLen(u64),
    Commit,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (0..30_000u64, 1..9000usize, any::<u8>()).prop_map(|(at, len, byte)| Act::Write(at, len, byte)),
        2 => (0..30_000u64).prop_map(Act::SetLen),
        1 => Just(Act::Commit),
    ]
}

fn content(file: &dyn FileLayer) -> Vec<u8> {
    let mut bytes = vec![0; file.len() as usize];
    file.read_at(0, &mut bytes).unwrap();
    bytes
}

/// A file on the disk, opened as a store opens it when its catalog is at `generation`.
fn open(path: &Path, generation: u64, max_pages: usize) -> Result<JournalFile> {
    let mark = Mark::new(Some("pair"), generation);
    let file = Arc::new(PlainFile::open(path, false)?);
    recover(&file, &mark)?;
    Ok(JournalFile::limited(file, mark, max_pages))
}

fn start(folder: &Path) -> PathBuf {
    let path = folder.join("a.nc");
    std::fs::write(&path, (0..10_000u32).map(|k| (k % 251) as u8).collect::<Vec<_>>()).unwrap();
    path
}

/// Does what is asked; the states that were committed, the first one included, go to `states`, and `after_commit` hears
/// that SQLite would have committed.
fn run(file: &JournalFile, acts: &[Act], states: &mut Vec<Vec<u8>>, committed: &mut u64) -> Result<()> {
    for act in acts {
        match act {
            Act::Write(at, len, byte) => file.write_at(*at, &vec![*byte; *len])?,
            Act::SetLen(len) => file.set_len(*len)?,
            Act::Commit => {
                file.prepare()?;
                states.push(content(file));
                *committed += 1;
                file.finish()?;
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn it_reads_as_a_file(acts in prop::collection::vec(act(), 1..25), max_pages in 1..6usize) {
        let dir = tempfile::tempdir().unwrap();
        let path = start(dir.path());
        let mut committed = std::fs::read(&path).unwrap();
        let file = open(&path, 7, max_pages).unwrap();
        let model = MemoryFile::new();
        model.write_at(0, &committed).unwrap();
        let mut generation = 7;
        for act in &acts {
            match act {
                Act::Write(at, len, byte) => {
                    file.write_at(*at, &vec![*byte; *len]).unwrap();
                    model.write_at(*at, &vec![*byte; *len]).unwrap();
                }
                Act::SetLen(len) => {
                    file.set_len(*len).unwrap();
                    model.set_len(*len).unwrap();
                }
                Act::Commit => {
                    file.prepare().unwrap();
                    file.finish().unwrap();
                    generation += 1;
                    committed = content(&file);
                    prop_assert!(std::fs::read(&path).unwrap() == committed, "a commit is the whole file");
                    prop_assert!(!is_hot(&path).unwrap());
                }
            }
            prop_assert!(content(&file) == content(&model));
            prop_assert!(file.read_at(file.len(), &mut [0]).is_err());
        }
        drop(file);
        // Whatever was not committed is gone, however much of it was in the file.
        let reader = Arc::new(PlainFile::open(&path, true).unwrap());
        let view = undone_view(reader, &Mark::new(Some("pair"), generation)).unwrap();
        let seen = content(&*view);
        prop_assert!(seen.len() >= committed.len() && seen[..committed.len()] == committed[..]);
        drop(view);
        let file = open(&path, generation, max_pages).unwrap();
        let seen = content(&file);
        prop_assert!(seen.len() >= committed.len() && seen[..committed.len()] == committed[..]);
        file.release();
        prop_assert!(!journal_path(&path).exists());
    }

    #[test]
    fn a_stop_anywhere_leaves_a_committed_state(
        acts in prop::collection::vec(act(), 1..12),
        max_pages in 1..6usize,
        torn in any::<bool>(),
    ) {
        let acts: Vec<Act> = acts.into_iter().chain([Act::Commit, Act::SetLen(3), Act::Write(5000, 6000, 1)]).collect();
        let harm = if torn { Harm::Torn } else { Harm::Refused(IoKind::Other) };
        for stop in 0.. {
            let dir = tempfile::tempdir().unwrap();
            let disk = Disk::under(dir.path());
            let path = start(dir.path());
            let mut states = vec![std::fs::read(&path).unwrap()];
            let mut generation = 7;
            disk.let_fail(Fate::Gone(stop, harm));
            let file = open(&path, 7, max_pages);
            let ended = file.and_then(|file| run(&file, &acts, &mut states, &mut generation));
            let done = disk.steps() <= stop;
            prop_assert_eq!(ended.is_ok(), done);
            // Recovery is stopped at each of its steps, and then goes through.
            for stop in 0.. {
                disk.let_fail(Fate::Gone(stop, harm));
                if open(&path, generation, max_pages).is_ok() && disk.steps() <= stop {
                    break;
                }
            }
            disk.heal();
            let seen = content(&open(&path, generation, max_pages).unwrap());
            let expected = states.last().unwrap();
            prop_assert!(seen.len() >= expected.len() && seen[..expected.len()] == expected[..], "stopped at {}", stop);
            if done {
                break;
            }
        }
    }
}

#[test]
fn only_its_own_state_is_brought_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = start(dir.path());
    let before = std::fs::read(&path).unwrap();
    let file = open(&path, 7, 100).unwrap();
    file.write_at(10, b"changed").unwrap();
    file.prepare().unwrap();
    drop(file);
    let after = std::fs::read(&path).unwrap();
    assert!(is_hot(&path).unwrap() && after != before);
    for (pair, generation) in [("pair", 6), ("pair", 9), ("other", 7)] {
        let file = PlainFile::open(&path, false).unwrap();
        let error = recover(&file, &Mark::new(Some(pair), generation)).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Integrity);
        assert!(
            error.to_string().contains("a.nc-journal") && error.to_string().contains("remove the journal"),
            "{error}"
        );
        assert!(is_hot(&path).unwrap() && std::fs::read(&path).unwrap() == after);
    }
    let reader = Arc::new(PlainFile::open(&path, true).unwrap());
    assert!(content(&*undone_view(reader.clone(), &Mark::new(Some("pair"), 7)).unwrap()) == before);
    assert!(content(&*undone_view(reader, &Mark::new(Some("pair"), 8)).unwrap()) == after);
    // The catalog came to the next state: the changes stay.
    drop(open(&path, 8, 100).unwrap());
    assert!(!journal_path(&path).exists() && std::fs::read(&path).unwrap() == after);
}

#[test]
fn a_file_that_lost_its_end_is_not_made_up_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = start(dir.path());
    let file = open(&path, 7, 100).unwrap();
    file.write_at(10, b"changed").unwrap();
    file.prepare().unwrap();
    drop(file);
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(9000).unwrap();
    assert_eq!(open(&path, 7, 100).err().unwrap().kind(), crate::ErrorKind::Format);
}

#[test]
fn what_is_no_journal_is_removed_and_a_damaged_record_ends_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = start(dir.path());
    let journal = journal_path(&path);
    let before = std::fs::read(&path).unwrap();
    for noise in [vec![], vec![0; 600], b"no journal".to_vec(), vec![0xa5; 5000]] {
        std::fs::write(&journal, noise).unwrap();
        assert!(!is_hot(&path).unwrap());
        drop(open(&path, 7, 100).unwrap());
        assert!(!journal.exists() && std::fs::read(&path).unwrap() == before);
    }
    let file = open(&path, 7, 100).unwrap();
    file.write_at(10, b"first").unwrap();
    file.write_at(9000, b"second").unwrap();
    file.prepare().unwrap();
    drop(file);
    let (after, whole) = (std::fs::read(&path).unwrap(), std::fs::read(&journal).unwrap());
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        std::fs::write(&path, &after).unwrap();
        std::fs::write(&journal, &damaged).unwrap();
        // No byte of it does anything else than what was written: images are put back, or are not.
        match open(&path, 7, 100) {
            Ok(file) => content(&file).iter().enumerate().for_each(|(k, byte)| {
                assert!(*byte == before[k] || *byte == after[k], "byte {at}");
            }),
            Err(error) => panic!("byte {at}: {error}"),
        }
    }
}

#[test]
fn after_a_failed_step_nothing_more_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = start(dir.path());
    let disk = Disk::under(dir.path());
    let file = open(&path, 7, 100).unwrap();
    file.write_at(10, b"changed").unwrap();
    disk.let_fail(Fate::Once(3, Harm::Refused(IoKind::StorageFull)));
    assert_eq!(file.prepare().unwrap_err().kind(), crate::ErrorKind::Io);
    assert!(disk.struck());
    let steps = disk.steps();
    assert_eq!(file.prepare().unwrap_err().kind(), crate::ErrorKind::Hdf5);
    assert_eq!(file.finish().unwrap_err().kind(), crate::ErrorKind::Hdf5);
    assert_eq!(file.write_at(20_000, b"x").unwrap_err().kind(), crate::ErrorKind::Hdf5);
    assert_eq!(disk.steps(), steps);
    // Reads go on.
    let mut seen = [0; 7];
    file.read_at(10, &mut seen).unwrap();
    assert_eq!(&seen, b"changed");
}
