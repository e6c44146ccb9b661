//! The open files of a provider: parsed once, shared by all threads and windows, and checked against replacement.

use crate::dataset::Schema;
use crate::formats::{self, Container};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Files that are kept open. A provider of more files reopens those that were used least recently.
const MAX_OPEN: usize = 64;

/// A file with its parsed header. Chunk tables are built in the container when first asked for.
pub(super) struct OpenFile {
    pub(super) container: Arc<dyn Container>,
    pub(super) schema: Schema,
}

/// The files of one provider.
pub(super) struct FilePool {
    group: Option<String>,
    slots: Vec<Slot>,
    /// The open files, the one used last at the end.
    recent: Mutex<VecDeque<usize>>,
}

struct Slot {
    path: PathBuf,
    identity: OnceLock<Identity>,
    open: Mutex<Option<Arc<OpenFile>>>,
}

/// What tells a file from one that took its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
    len: u64,
    modified: (i64, i64),
}

impl FilePool {
    pub(super) fn new(files: Vec<PathBuf>, group: Option<String>) -> Self {
        let slot = |path| Slot { path, identity: OnceLock::new(), open: Mutex::new(None) };
        FilePool { group, slots: files.into_iter().map(slot).collect(), recent: Mutex::default() }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn path(&self, file: usize) -> &Path {
        &self.slots[file].path
    }

    /// The open file. Threads that ask for one file wait for the one that opens it.
    ///
    /// # Errors
    /// `Io` and `Format` from opening; `Format` when the file is not the one that was opened before.
    pub(super) fn open(&self, file: usize) -> Result<Arc<OpenFile>> {
        let slot = &self.slots[file];
        let opened = {
            let mut open = slot.open.lock();
            match &*open {
                Some(opened) => opened.clone(),
                None => {
                    // Taken first: if the file changes while it is opened, the next check will tell.
                    let identity = Identity::of(&slot.path)?;
                    if *slot.identity.get_or_init(|| identity) != identity {
                        return Err(slot.changed());
                    }
                    let container = formats::open_group(&slot.path, self.group.as_deref())?;
                    let schema = Schema::of(&*container);
                    open.insert(Arc::new(OpenFile { container, schema })).clone()
                }
            }
        };
        if let Some(oldest) = self.note_use(file) {
            // Readers of that file keep it alive until they are done.
            *self.slots[oldest].open.lock() = None;
        }
        Ok(opened)
    }

    /// Checks that the file is still the one that was opened.
    ///
    /// # Errors
    /// `Format` when it was replaced, truncated or written to, `Io` when it is gone.
    pub(super) fn check_unchanged(&self, file: usize) -> Result<()> {
        let slot = &self.slots[file];
        match slot.identity.get() {
            Some(identity) if *identity != Identity::of(&slot.path)? => Err(slot.changed()),
            _ => Ok(()),
        }
    }

    /// Puts the file at the end of the list; the one to close, if there are too many.
    fn note_use(&self, file: usize) -> Option<usize> {
        let mut recent = self.recent.lock();
        if recent.back() == Some(&file) {
            return None;
        }
        recent.retain(|f| *f != file);
        recent.push_back(file);
        if recent.len() > MAX_OPEN {
            recent.pop_front()
        } else {
            None
        }
    }
}

impl Slot {
    fn changed(&self) -> Error {
        let detail = "the file was replaced or changed after the provider opened it; make a new provider";
        Error::format(&self.path, detail)
    }
}

impl Identity {
    fn of(path: &Path) -> Result<Self> {
        let meta = std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
        if !meta.is_file() && !meta.is_dir() {
            // Opening a pipe would wait for someone to write into it.
            return Err(Error::format(path, "this is neither a regular file nor a link to one"));
        }
        Ok(Identity {
            device: meta.dev(),
            inode: meta.ino(),
            len: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
        })
    }
}
