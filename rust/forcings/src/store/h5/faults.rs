//! For tests: what goes wrong with the files of one folder, and when. A [`Disk`] watches every [`Step`] below a folder,
//! whichever thread makes it: it counts them, fails the n-th, may be gone from then on (a killed process: nothing
//! reaches the files any more), and records them. SQLite counts with the statements that begin and end its
//! transactions; what it does within one is its own business.

use super::disk::{Allowed, Step};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a step fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Harm {
    /// It does not happen.
    Refused(ErrorKind),
    /// Half of the bytes of a write are written. Any other step does not happen.
    Torn,
    /// It happens, and is reported as failed.
    Late,
}

/// Which steps fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// That with this number, counted from 0.
    Once(usize, Harm),
    /// That with this number and every later one.
    From(usize, ErrorKind),
    /// That with this number; from then on nothing happens any more.
    Gone(usize, Harm),
}

/// A step that was asked for and allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recorded {
    pub(crate) path: PathBuf,
    pub(crate) change: Change,
    /// The catalog before a COMMIT.
    pub(crate) catalog: Option<Vec<u8>>,
}

/// [`Step`] with its own bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    Create,
    Write { offset: u64, bytes: Vec<u8> },
    Truncate(u64),
    Sync,
    Rename(PathBuf),
    Remove,
    Statement(String),
}

#[derive(Default)]
struct State {
    steps: usize,
    fate: Option<Fate>,
    gone: bool,
    struck: bool,
    recording: Option<Vec<Recorded>>,
}

struct Watched {
    folder: PathBuf,
    state: Mutex<State>,
}

static WATCHED: Mutex<Vec<Arc<Watched>>> = Mutex::new(Vec::new());

/// The watch over a folder, until it is dropped.
pub(crate) struct Disk(Arc<Watched>);

impl Disk {
    /// Watches every file below `folder`. Nothing fails yet.
    pub(crate) fn under(folder: &Path) -> Self {
        let watched = Arc::new(Watched { folder: folder.to_path_buf(), state: Mutex::default() });
        WATCHED.lock().push(watched.clone());
        Disk(watched)
    }

    /// Counts from 0 again, heals what failed, and lets `fate` come.
    pub(crate) fn let_fail(&self, fate: Fate) {
        let mut state = self.0.state.lock();
        *state = State { fate: Some(fate), recording: state.recording.take(), ..State::default() };
    }

    /// Counts from 0 again; nothing fails any more.
    pub(crate) fn heal(&self) {
        let mut state = self.0.state.lock();
        *state = State { recording: state.recording.take(), ..State::default() };
    }

    /// The steps since the last [`Disk::let_fail`] or [`Disk::heal`].
    pub(crate) fn steps(&self) -> usize {
        self.0.state.lock().steps
    }

    /// Whether the fate came.
    pub(crate) fn struck(&self) -> bool {
        self.0.state.lock().struck
    }

    /// Keeps every step from now on.
    pub(crate) fn record(&self) {
        self.0.state.lock().recording = Some(Vec::new());
    }

    /// The steps since [`Disk::record`], which ends.
    pub(crate) fn recorded(&self) -> Vec<Recorded> {
        self.0.state.lock().recording.take().unwrap_or_default()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        WATCHED.lock().retain(|other| !Arc::ptr_eq(other, &self.0));
    }
}

/// Asks whether a step may be made.
pub(crate) fn ask(path: &Path, step: Step<'_>) -> Result<Allowed> {
    let watched = WATCHED.lock().iter().find(|watched| path.starts_with(&watched.folder)).cloned();
    let Some(watched) = watched else { return Ok(Allowed::Whole) };
    let mut state = watched.state.lock();
    let refused = |kind: ErrorKind| Err(Error::io(path, kind.into()));
    if state.gone {
        return refused(ErrorKind::NotConnected);
    }
    let number = state.steps;
    state.steps += 1;
    let harm = match state.fate {
        Some(Fate::Once(at, harm)) if number == at => Some(harm),
        Some(Fate::From(at, kind)) if number >= at => Some(Harm::Refused(kind)),
        Some(Fate::Gone(at, harm)) if number == at => {
            state.gone = true;
            Some(harm)
        }
        _ => None,
    };
    state.struck |= harm.is_some();
    let allowed = match harm {
        None => Allowed::Whole,
        Some(Harm::Refused(kind)) => return refused(kind),
        Some(Harm::Torn) if matches!(step, Step::Write { .. }) => Allowed::Torn,
        Some(Harm::Torn) => return refused(ErrorKind::Other),
        Some(Harm::Late) => Allowed::Late,
    };
    if let Some(recording) = &mut state.recording {
        let change = match step {
            Step::Create => Change::Create,
            Step::Write { offset, bytes } => Change::Write { offset, bytes: bytes.to_vec() },
            Step::Truncate(len) => Change::Truncate(len),
            Step::Sync => Change::Sync,
            Step::Rename(to) => Change::Rename(to.to_path_buf()),
            Step::Remove => Change::Remove,
            Step::Statement(text) => Change::Statement(text.to_string()),
        };
        let catalog = (step == Step::Statement("COMMIT")).then(|| std::fs::read(path).expect("it is open"));
        recording.push(Recorded { path: path.to_path_buf(), change, catalog });
    }
    Ok(allowed)
}
