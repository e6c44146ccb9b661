//! What a store is after its process was stopped: at every step that changes a file, whole and torn, recovery included
//! ([`stops`]); after a power failure ([`power`]); by a signal ([`signal`]).

mod errors;
mod power;
mod signal;
mod stops;

use super::*;
use crate::store::h5::faults::Disk;
use crate::store::pair::catalog_path;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// The series of a store, by name, with the first of their values. `None` where there is no store.
type Content = Option<BTreeMap<String, u32>>;

fn content<'a>(series: impl IntoIterator<Item = (&'a str, u32)>) -> Content {
    Some(series.into_iter().map(|(name, n)| (name.to_string(), n)).collect())
}

/// What a script has done so far.
struct Progress {
    path: PathBuf,
    store: Option<Store>,
    /// Whether every change is promised.
    durable: bool,
    /// What the store holds for its user.
    now: Content,
    /// What it held when the transaction that is open began.
    before: Option<Content>,
    /// What the disk was promised to hold.
    promised: Content,
    /// What it may hold beside that: the step that was under way would have promised it.
    maybe: Option<Content>,
}

/// One operation.
#[derive(Debug, Clone)]
enum Act {
    Create {
        overwrite: bool,
        durable: bool,
    },
    Open {
        durable: bool,
    },
    Add(&'static str, u32),
    Bulk(&'static [(&'static str, u32)]),
    Remove(&'static str),
    Flush,
    Begin,
    Commit,
    Rollback,
    Compact,
    /// A store in memory with this series takes the place of the one on the disk.
    Persist(&'static str, u32),
    Close,
}

impl Progress {
    fn new(path: &Path, now: Content) -> Self {
        let (path, promised) = (path.to_path_buf(), now.clone());
        Progress { path, store: None, durable: false, promised, now, before: None, maybe: None }
    }

    fn run(&mut self, acts: &[Act]) -> Result<()> {
        acts.iter().try_for_each(|act| self.act(act))
    }

    fn act(&mut self, act: &Act) -> Result<()> {
        if let Act::Create { durable, .. } | Act::Open { durable } = act {
            self.durable = *durable;
        }
        let next = self.next(act);
        let commits = match act {
            Act::Add(..) | Act::Bulk(..) | Act::Remove(..) => self.durable && self.before.is_none(),
            Act::Open { .. } | Act::Rollback => false,
            _ => true,
        };
        // A transaction that begins, and a close that ends one, promise what was there before it.
        let promise = match act {
            Act::Close => self.before.clone().unwrap_or_else(|| self.now.clone()),
            Act::Begin | Act::Flush | Act::Compact | Act::Commit => self.now.clone(),
            _ => next.clone(),
        };
        self.maybe = commits.then(|| promise.clone());
        self.execute(act)?;
        match act {
            Act::Begin => self.before = Some(self.now.clone()),
            Act::Commit | Act::Rollback | Act::Close => self.before = None,
            _ => {}
        }
        self.now = next;
        if commits {
            self.promised = promise;
        }
        self.maybe = None;
        Ok(())
    }

    fn next(&self, act: &Act) -> Content {
        let mut next = self.now.clone();
        let mut add = |name: &str, n: u32| next.as_mut().expect("a store is open").insert(name.to_string(), n);
        match act {
            Act::Create { .. } => return content([]),
            Act::Persist(name, n) => return content([(*name, *n)]),
            Act::Add(name, n) => {
                add(name, *n);
            }
            Act::Bulk(series) => series.iter().for_each(|(name, n)| {
                add(name, *n);
            }),
            Act::Remove(name) => {
                next.as_mut().expect("a store is open").remove(*name);
            }
            Act::Rollback | Act::Close => return self.before.clone().unwrap_or(next),
            _ => {}
        }
        next
    }

    fn execute(&mut self, act: &Act) -> Result<()> {
        match act {
            Act::Create { overwrite, durable } => {
                let options = CreateOptions { overwrite: *overwrite, durable: *durable, ..CreateOptions::default() };
                self.store = Some(Store::create(&self.path, &options)?);
            }
            Act::Open { durable } => {
                self.store = Some(Store::open(&self.path, &OpenOptions { read_only: false, durable: *durable })?);
            }
            Act::Add(name, n) => drop(self.store().add(&series(1, name, &ramp(*n)))?),
            Act::Bulk(items) => {
                let values: Vec<Array> = items.iter().map(|(_, n)| ramp(*n)).collect();
                let new: Vec<_> =
                    items.iter().zip(&values).map(|((name, _), values)| series(1, name, values)).collect();
                self.store().add_bulk(&new)?;
            }
            Act::Remove(name) => {
                let found = all(self.store()).into_iter().find(|info| info.name == *name).expect("it was added");
                self.store().remove(&[found.id])?;
            }
            Act::Flush => self.store().flush()?,
            Act::Begin => self.store().begin()?,
            Act::Commit => self.store().commit()?,
            Act::Rollback => self.store().rollback()?,
            Act::Compact => drop(self.store().compact_physical()?),
            Act::Persist(name, n) => {
                let memory = Store::memory()?;
                memory.add(&series(1, name, &ramp(*n)))?;
                memory.persist(&self.path, true)?;
            }
            Act::Close => self.store.take().expect("a store is open").close()?,
        }
        Ok(())
    }

    fn store(&self) -> &Store {
        self.store.as_ref().expect("a store is open")
    }

    /// Whether the disk may hold this.
    fn allows(&self, found: &Content) -> bool {
        *found == self.promised || self.maybe.as_ref() == Some(found)
    }
}

/// What the store at `path` holds. It must be sound, and whatever is no part of it gone.
fn examine(path: &Path) -> Content {
    let store = match Store::open(path, &writable()) {
        Ok(store) => store,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
            assert!(!path.exists() && !catalog_path(path).exists(), "half a store: {error}");
            return None;
        }
    };
    let report = store.verify().unwrap();
    assert!(report.is_clean(), "{:?}", report.findings);
    let found = read_content(&store);
    store.flush().unwrap();
    let report = store.verify().unwrap();
    assert!(report.is_clean(), "{:?}", report.findings);
    store.close().unwrap();
    let left = |entry: fs::DirEntry| entry.file_name().to_string_lossy().starts_with(".forcings-");
    assert!(!fs::read_dir(path.parent().unwrap()).unwrap().any(|entry| left(entry.unwrap())));
    for suffix in ["-journal", "-intent"] {
        assert!(!catalog::suffixed(path, suffix).exists(), "{suffix} was left");
    }
    Some(found)
}

fn read_content(store: &Store) -> BTreeMap<String, u32> {
    let read = |info: SeriesInfo| {
        let values = store.read(info.id).unwrap().values;
        let first = f64::from_le_bytes(values.bytes()[..8].try_into().unwrap()) as u32;
        assert_eq!(values, ramp(first));
        (info.name, first)
    };
    all(store).into_iter().map(read).collect()
}

/// Numbers that look random and come again with their seed (SplitMix64).
struct Dice(u64);

impl Dice {
    /// One of the first `sides` numbers.
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }
}

/// Copies the files of a folder, and of the folders in it.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_folder(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// A folder with a store of three series, of which one is removed and one is in a variable of its own.
fn seeded() -> (tempfile::TempDir, Content) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let mut progress = Progress::new(&path, None);
    progress
        .run(&[
            Act::Create { overwrite: false, durable: false },
            Act::Bulk(&[("a", 0), ("b", 10), ("c", 20)]),
            Act::Add("d", 30),
            Act::Flush,
            Act::Remove("b"),
            Act::Close,
        ])
        .unwrap();
    (dir, progress.promised)
}
