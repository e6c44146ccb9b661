//! Mutants of small files, one to four bytes changed: each is opened and read in a child process with limits, which no
//! crash, hang or hunger for memory survives. `FORCINGS_MUTANTS` asks for another number of them.

mod container_support;
#[path = "../src/formats/hdf5/tests/library.rs"]
mod library;
#[path = "mutation/limits.rs"]
mod limits;
mod mutant_files;
mod mutation;

use forcings::chunks::MemorySource;
use forcings::formats::{open_source, ElementType};
use forcings::provider::{Provider, ProviderOptions};
use limits::{computed, limit};
use mutation::{repair, Random};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

const MUTANTS: u64 = 10_000;
/// Processes at a time.
const LANES: u64 = 2;

/// What one child may use: bytes of address space in all; seconds of computing, and of waiting, for each mutant.
const MAX_MEMORY: u64 = 1 << 30;
const MAX_COMPUTE: u64 = 10;
const MAX_WAIT: u32 = 120;

/// Variables with more elements are listed, not read.
const MAX_ELEMENTS: u64 = 1 << 20;

/// Tells a child where the files are, and its mutants: the first, and the one behind the last.
const TASK: &str = "FORCINGS_TEST_MUTANTS";

/// Names a folder in which the files are left, to look at or to fuzz from.
const KEEP: &str = "FORCINGS_KEEP_MUTANT_FILES";

#[test]
fn no_mutant_crashes_hangs_or_takes_more_memory_than_there_is() {
    if let Ok(task) = std::env::var(TASK) {
        return serve(&task);
    }
    let dir = tempfile::tempdir().unwrap();
    let files = mutant_files::write(dir.path());
    assert_eq!(files.len(), 20);
    let keep = std::env::var_os(KEEP).map(PathBuf::from);
    for (name, path) in &files {
        let bytes = std::fs::read(path).unwrap();
        if let Some(folder) = &keep {
            std::fs::write(folder.join(name), &bytes).unwrap();
        }
        assert!(bytes.len() < 64 << 10, "{name} has {} bytes", bytes.len());
        let (listed, read) = exercise(bytes);
        assert!(listed > 0 && read == listed, "{name}: {read} of {listed} variables can be read");
    }
    let count = std::env::var("FORCINGS_MUTANTS").map_or(MUTANTS, |n| n.parse().expect("a number of mutants"));
    let lane = |lane: u64| lead(dir.path(), lane, count * lane / LANES, count * (lane + 1) / LANES);
    let outcomes: Vec<(u64, Vec<String>)> = std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES).map(|i| scope.spawn(move || lane(i))).collect();
        lanes.into_iter().map(|lane| lane.join().unwrap()).collect()
    });
    let failed: Vec<&String> = outcomes.iter().flat_map(|(_, failed)| failed).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    let noticed: u64 = outcomes.iter().map(|(noticed, _)| noticed).sum();
    assert!(noticed > count / 10, "only {noticed} of {count} mutants could not be read whole");
}

/// Has children read the mutants of a range, each one behind the one that ended the child before. Returns how many could
/// not be read whole, and a text for each that ended a child.
fn lead(dir: &Path, lane: u64, mut from: u64, until: u64) -> (u64, Vec<String>) {
    let (mut noticed, mut failed) = (0, Vec::new());
    while from < until {
        let report = Report::at(dir, lane);
        report.set(from, 0);
        let name = "no_mutant_crashes_hangs_or_takes_more_memory_than_there_is";
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(TASK, format!("{lane} {from} {until} {}", dir.display()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let (at, harmed) = report.get();
        noticed += harmed;
        if status.success() {
            assert_eq!(at, until);
            break;
        }
        failed.push(format!("mutant {at} of {}: {status}", mutant_files::NAMES[(at % 20) as usize]));
        assert!(failed.len() < 20, "{failed:#?}");
        from = at + 1;
    }
    (noticed, failed)
}

/// In a child: reads its mutants under limits.
fn serve(task: &str) {
    let parts: Vec<&str> = task.splitn(4, ' ').collect();
    let [lane, from, until] = [0, 1, 2].map(|i| parts[i].parse::<u64>().unwrap());
    let dir = PathBuf::from(parts[3]);
    let report = Report::at(&dir, lane);
    let files: Vec<Vec<u8>> = mutant_files::NAMES.iter().map(|name| std::fs::read(dir.join(name)).unwrap()).collect();
    let whole: Vec<(usize, usize)> = files.iter().map(|bytes| exercise(bytes.clone())).collect();
    let path = dir.join(format!("lane{lane}.nc"));
    let scratch = std::fs::File::create(&path).unwrap();
    limit(libc::RLIMIT_CORE, 0);
    limit(libc::RLIMIT_AS, MAX_MEMORY);
    let mut noticed = 0;
    for number in from..until {
        report.set(number, noticed);
        limit(libc::RLIMIT_CPU, computed() + MAX_COMPUTE);
        // SAFETY: it only sets a timer of this process, whose signal ends it.
        unsafe { libc::alarm(MAX_WAIT) };
        let file = (number % files.len() as u64) as usize;
        let mutant = mutated(&files[file], number);
        // Over the one before: a file that is cut to nothing first goes to the disk each time.
        scratch.write_all_at(&mutant, 0).unwrap();
        scratch.set_len(mutant.len() as u64).unwrap();
        sample(&path);
        noticed += u64::from(exercise(mutant) != whole[file]);
    }
    report.set(until, noticed);
}

/// Reads all variables of a file, and of its groups `g` and `a`: how many there are, and how many could be read.
fn exercise(bytes: Vec<u8>) -> (usize, usize) {
    let source = Arc::new(MemorySource::new("mutant", bytes));
    let (mut listed, mut read) = (0, 0);
    for group in [None, Some("g"), Some("a")] {
        let Ok(file) = open_source(source.clone(), group) else { continue };
        for (i, variable) in file.variables().iter().enumerate() {
            let count = variable.shape.iter().fold(1_u64, |n, len| n.saturating_mul(*len));
            let good = match variable.element {
                ElementType::String => file.strings(i).is_ok(),
                _ if count > MAX_ELEMENTS => file.layout(i).is_ok(),
                _ => container_support::bytes(file.as_ref(), i).is_ok(),
            };
            listed += 1;
            read += usize::from(good);
        }
    }
    (listed, read)
}

/// The first and the last sample of a file, if it has any.
fn sample(path: &Path) {
    let Ok(provider) = Provider::open(ProviderOptions::of_files([path])) else { return };
    let _ = provider.materialize();
    let times = provider.refresh_times();
    for t in [times.first(), times.last()].into_iter().flatten() {
        let _ = provider.sample_at(*t);
    }
}

/// The mutant of this number: one to four bytes changed, the checksums of object headers often made right again, so that
/// damage gets past them.
fn mutated(file: &[u8], number: u64) -> Vec<u8> {
    let mut random = Random::new(number);
    let mut mutant = file.to_vec();
    // Headers are dense in the first bytes.
    let reach = if random.below(2) == 0 { mutant.len().min(2048) } else { mutant.len() };
    for _ in 0..1 + random.below(4) {
        let at = random.below(reach);
        match random.below(5) {
            0 => mutant[at] = 0xff,
            1 => mutant[at] = 0,
            2 => mutant[at] ^= 1 << random.below(8),
            3 => mutant[at] = mutant[at].wrapping_add(1),
            _ => mutant[at] = random.below(256) as u8,
        }
    }
    if random.below(4) != 0 {
        repair(&mut mutant);
    }
    mutant
}

/// How far a child has come, in a file that outlives it: its mutant, and how many before could not be read whole.
struct Report(std::fs::File);

impl Report {
    fn at(dir: &Path, lane: u64) -> Self {
        let path = dir.join(format!("lane{lane}.report"));
        let options = std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        Report(options.unwrap())
    }

    fn set(&self, mutant: u64, noticed: u64) {
        let bytes = [mutant.to_le_bytes(), noticed.to_le_bytes()].concat();
        self.0.write_all_at(&bytes, 0).unwrap();
    }

    fn get(&self) -> (u64, u64) {
        let mut bytes = [0; 16];
        self.0.read_exact_at(&mut bytes, 0).unwrap();
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        (number(0), number(8))
    }
}
