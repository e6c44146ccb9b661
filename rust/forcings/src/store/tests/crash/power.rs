//! A power failure: of what was written and not synced, any part may be on the disk. The steps of a script are recorded;
//! at each of them states of the disk are drawn. SQLite's own durability is taken for granted: the catalog is what its last
//! commit left.

use super::*;
use crate::store::h5::faults::{Change, Recorded};

/// States that are drawn at each step.
const DRAWN: usize = 6;
const SECTOR: usize = 512;

/// A file as the disk has it, and what is not surely there yet.
#[derive(Clone, Default)]
struct Platter {
    synced: Vec<u8>,
    pending: Vec<Change>,
}

/// The folder as the disk has it.
#[derive(Clone, Default)]
struct Drive {
    files: BTreeMap<PathBuf, usize>,
    /// Names as they will be.
    pending_files: BTreeMap<PathBuf, usize>,
    platters: Vec<Platter>,
}

impl Drive {
    fn load(folder: &Path) -> Self {
        let mut drive = Drive::default();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            drive.platters.push(Platter { synced: fs::read(&path).unwrap(), pending: Vec::new() });
            drive.files.insert(path, drive.platters.len() - 1);
        }
        drive.pending_files = drive.files.clone();
        drive
    }

    fn apply(&mut self, step: &Recorded) {
        let Recorded { path, change, .. } = step;
        match change {
            Change::Create => {
                self.platters.push(Platter::default());
                self.pending_files.insert(path.clone(), self.platters.len() - 1);
            }
            Change::Write { .. } | Change::Truncate(_) => {
                self.platters[self.pending_files[path]].pending.push(change.clone());
            }
            Change::Sync => match self.pending_files.get(path) {
                Some(file) => {
                    let platter = &mut self.platters[*file];
                    for change in std::mem::take(&mut platter.pending) {
                        land(&mut platter.synced, &change);
                    }
                    // A file that is synced has a name.
                    if !self.files.values().any(|known| known == file) {
                        self.files.insert(path.clone(), *file);
                    }
                }
                None => self.files = self.pending_files.clone(),
            },
            Change::Rename(to) => {
                let file = self.pending_files.remove(path).unwrap();
                self.pending_files.insert(to.clone(), file);
            }
            Change::Remove => {
                self.pending_files.remove(path);
            }
            Change::Statement(_) => {}
        }
    }

    /// Writes what may be left after a failure now.
    fn fail(&self, dice: &mut Dice, from: &Path, to: &Path) {
        let names = if dice.roll(2) == 0 { &self.files } else { &self.pending_files };
        let luck = dice.roll(4);
        for (path, file) in names {
            let platter = &self.platters[*file];
            let mut bytes = platter.synced.clone();
            for change in &platter.pending {
                match (luck, dice.roll(3)) {
                    (0, _) | (1 | 2, 0) => land(&mut bytes, change),
                    (1 | 2, 1) => tear(&mut bytes, change, dice),
                    _ => {}
                }
            }
            fs::write(to.join(path.strip_prefix(from).unwrap()), bytes).unwrap();
        }
    }
}

fn land(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write { offset, bytes: new } => {
            let end = *offset as usize + new.len();
            bytes.resize(bytes.len().max(end), 0);
            bytes[*offset as usize..end].copy_from_slice(new);
        }
        Change::Truncate(len) => bytes.resize(*len as usize, 0),
        _ => {}
    }
}

/// Some sectors of a write are written, others are not.
fn tear(bytes: &mut Vec<u8>, change: &Change, dice: &mut Dice) {
    let Change::Write { offset, bytes: new } = change else { return };
    let mut at = 0;
    while at < new.len() {
        let start = *offset as usize + at;
        let end = (start / SECTOR * SECTOR + SECTOR).min(*offset as usize + new.len());
        if dice.roll(2) == 0 {
            let part = Change::Write { offset: start as u64, bytes: new[at..at + end - start].to_vec() };
            land(bytes, &part);
        }
        at += end - start;
    }
}

fn fail_everywhere(acts: &[Act]) {
    let (seed, now) = seeded();
    let folder = seed.path();
    let path = folder.join("a.nc");
    let mut drive = Drive::load(folder);
    let disk = Disk::under(folder);
    disk.record();
    let mut progress = Progress::new(&path, now.clone());
    // What is promised before each step, and what may be there.
    let mut allowed: Vec<(usize, Vec<Content>)> = Vec::new();
    for act in acts {
        let before = progress.promised.clone();
        let from = disk.steps();
        progress.act(act).unwrap();
        allowed.push((from, vec![before, progress.promised.clone()]));
    }
    drop(progress.store.take());
    let steps = disk.recorded();
    drop(disk);
    let catalog = catalog_path(&path);
    let last = fs::read(&catalog).unwrap();
    let mut dice = Dice(1);
    for (number, step) in steps.iter().enumerate() {
        let next_commit = steps[number..].iter().find_map(|step| step.catalog.as_ref()).unwrap_or(&last);
        let (_, expected) = allowed.iter().rev().find(|(from, _)| *from <= number).unwrap();
        for _ in 0..DRAWN {
            let dir = tempfile::tempdir().unwrap();
            drive.fail(&mut dice, folder, dir.path());
            let path = dir.path().join("a.nc");
            fs::write(catalog_path(&path), next_commit).unwrap();
            let found = examine(&path);
            assert!(expected.contains(&found), "before step {number}, {step:?}: {found:?} is none of {expected:?}");
        }
        drive.apply(step);
    }
    assert!(steps.len() > 20);
}

#[test]
fn a_power_failure_keeps_what_was_promised() {
    fail_everywhere(&[
        Act::Open { durable: false },
        Act::Remove("a"),
        Act::Add("e", 40),
        Act::Flush,
        Act::Bulk(&[("f", 50), ("g", 60)]),
        Act::Remove("c"),
        Act::Close,
    ]);
}
