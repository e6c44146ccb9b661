//! Decoded samples on disk, for a later sweep to read back instead of decoding them again.
//!
//! Samples are named by their member and anchor and go, one behind the other, into one temporary file without a name; what
//! they look like stays in memory. Spilling is a help and never in the way: whatever fails here is decoded. It knows
//! neither orders nor budgets.

mod outline;
mod raw;
mod sampler;
#[cfg(all(test, not(feature = "shuttle")))]
mod tests;

use super::sync::Mutex;
use crate::dataset::Dataset;
use crate::{Error, Result};
use outline::Outline;
use raw::Medium;
pub(super) use sampler::SpillingSampler;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file that the members of a group share, and what lies where in it.
pub(super) struct Spill {
    folder: PathBuf,
    max_bytes: u64,
    state: Mutex<State>,
}

/// Names a sample: the member, and the bits of its anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    member: usize,
    anchor: u64,
}

/// How much was spilled and read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counts {
    pub(super) spilled: u64,
    pub(super) restored: u64,
    pub(super) bytes: u64,
}

struct State {
    /// `None` once it is closed.
    medium: Option<Arc<dyn Medium>>,
    samples: HashMap<Key, Slot>,
    /// Per member, what its latest sample looks like: most look alike, and share it.
    outlines: HashMap<usize, Arc<Outline>>,
    /// Where the next sample begins.
    end: u64,
    /// Whether writing has failed.
    stopped: bool,
    counts: Counts,
    error: Option<String>,
}

enum Slot {
    /// A thread writes it.
    Writing,
    Written(Record),
    /// It could not be read, and is not written again.
    Lost,
}

#[derive(Clone)]
struct Record {
    at: u64,
    bytes: u64,
    outline: Arc<Outline>,
}

impl Key {
    fn new(member: usize, anchor: f64) -> Self {
        // Adding zero makes one of the two zeros.
        Key { member, anchor: (anchor + 0.0).to_bits() }
    }
}

impl Spill {
    /// An empty file in `folder`, of `max_bytes` at most.
    ///
    /// # Errors
    /// `Io` when there is no such folder, or no file can be made in it.
    pub(super) fn create(folder: &Path, max_bytes: Option<u64>) -> Result<Self> {
        let file = tempfile::tempfile_in(folder).map_err(|error| Error::io(folder, error))?;
        Ok(Spill::on(Arc::new(file), folder, max_bytes.unwrap_or(u64::MAX)))
    }

    fn on(medium: Arc<dyn Medium>, folder: &Path, max_bytes: u64) -> Self {
        let state = State {
            medium: Some(medium),
            samples: HashMap::new(),
            outlines: HashMap::new(),
            end: 0,
            stopped: false,
            counts: Counts::default(),
            error: None,
        };
        Spill { folder: folder.to_path_buf(), max_bytes, state: Mutex::new(state) }
    }

    pub(super) fn counts(&self) -> Counts {
        self.state.lock().counts
    }

    /// The first thing that went wrong.
    pub(super) fn error(&self) -> Option<String> {
        self.state.lock().error.clone()
    }

    /// Gives the file back to the system. Nothing is spilled or read back after that.
    pub(super) fn close(&self) {
        let mut state = self.state.lock();
        let gone = (state.medium.take(), std::mem::take(&mut state.samples), std::mem::take(&mut state.outlines));
        drop(state);
        drop(gone);
    }

    fn holds(&self, key: Key) -> bool {
        matches!(self.state.lock().samples.get(&key), Some(Slot::Written(_)))
    }

    /// Reads a sample back; `None` if it is not there, or cannot be read.
    fn restore(&self, key: Key) -> Option<Vec<Dataset>> {
        let (medium, record) = {
            let state = self.state.lock();
            let Slot::Written(record) = state.samples.get(&key)? else { return None };
            (state.medium.clone()?, record.clone())
        };
        let restored = record.outline.read(&*medium, record.at, record.bytes);
        let mut state = self.state.lock();
        match restored {
            Ok(data) => {
                state.counts.restored += 1;
                Some(data)
            }
            Err(error) => {
                state.samples.insert(key, Slot::Lost);
                self.note(&mut state, "a sample could not be read back and is decoded again", &error);
                None
            }
        }
    }

    /// Writes a sample, unless it is there, or there is no room.
    fn keep(&self, key: Key, data: &[Dataset]) {
        let bytes = raw::byte_len(data);
        let Some((medium, at)) = self.reserve(key, bytes) else { return };
        let written = raw::write(data, &*medium, at);
        let outline = Outline::of(data);
        let mut state = self.state.lock();
        match written {
            Ok(()) if state.medium.is_some() => {
                let latest = state.outlines.get(&key.member).filter(|latest| latest.same_bits(&outline));
                let outline = latest.cloned().unwrap_or_else(|| Arc::new(outline));
                state.outlines.insert(key.member, outline.clone());
                state.samples.insert(key, Slot::Written(Record { at, bytes, outline }));
                state.counts.spilled += 1;
                state.counts.bytes += bytes;
            }
            Ok(()) => {}
            Err(error) => {
                state.stopped = true;
                self.note(&mut state, "writing failed, and nothing more is spilled", &error);
            }
        }
    }

    /// The place for a sample of so many bytes, which the caller now writes.
    fn reserve(&self, key: Key, bytes: u64) -> Option<(Arc<dyn Medium>, u64)> {
        let mut state = self.state.lock();
        let at = state.end;
        let end = at.checked_add(bytes).filter(|end| *end <= self.max_bytes)?;
        if state.stopped || state.samples.contains_key(&key) {
            return None;
        }
        let medium = state.medium.clone()?;
        state.samples.insert(key, Slot::Writing);
        state.end = end;
        Some((medium, at))
    }

    fn note(&self, state: &mut State, what: &str, error: &io::Error) {
        state.error.get_or_insert_with(|| format!("spilling to {}: {what}: {error}", self.folder.display()));
    }
}
