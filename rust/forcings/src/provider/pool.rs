//! The open files of a provider: parsed once, shared by all threads and windows, and checked against replacement. Those
//! behind URLs are fetched before they are opened.

use super::options::url_of;
use crate::cache::{Cache, Entry, Request};
use crate::dataset::{reuse, Schema};
use crate::formats::zarr::{Objects, ZarrStore};
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
    /// The arrays to read, where each path or URL is that of a Zarr store.
    arrays: Option<Vec<String>>,
    remote: Option<Remote>,
    slots: Vec<Slot>,
    /// The open files, the one used last at the end.
    recent: Mutex<VecDeque<usize>>,
}

/// How URLs are fetched.
pub(super) struct Remote {
    pub(super) cache: Cache,
    pub(super) auth_realm: Option<String>,
    pub(super) name: Option<String>,
}

struct Slot {
    /// The path, or the URL.
    path: PathBuf,
    identity: OnceLock<Identity>,
    open: Mutex<Option<Arc<OpenFile>>>,
}

/// What tells a file from one that took its place.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Identity {
    File(Stamp),
    /// The hash of a cached file. The cache never writes to a file in place, so one that is open stays as it is.
    Content(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    len: u64,
    modified: (i64, i64),
}

impl FilePool {
    pub(super) fn new(files: Vec<PathBuf>, group: Option<String>, remote: Option<Remote>) -> Self {
        reuse::enter();
        let slot = |path| Slot { path, identity: OnceLock::new(), open: Mutex::new(None) };
        let slots = files.into_iter().map(slot).collect();
        FilePool { group, arrays: None, remote, slots, recent: Mutex::default() }
    }

    /// The same, where `arrays` are the ones to read of Zarr stores.
    pub(super) fn of_arrays(mut self, arrays: Option<Vec<String>>) -> Self {
        self.arrays = arrays;
        self
    }

    /// Whether they are stores of many objects behind URLs.
    pub(super) fn are_remote_stores(&self) -> bool {
        self.arrays.is_some() && self.remote.is_some()
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The path, or the URL.
    pub(super) fn path(&self, file: usize) -> &Path {
        &self.slots[file].path
    }

    pub(super) fn url(&self, file: usize) -> Option<&str> {
        url_of(self.path(file))
    }

    /// Whether it is a file behind a URL, and no store.
    pub(super) fn is_fetched(&self, file: usize) -> bool {
        self.url(file).is_some() && self.remote.is_some() && self.arrays.is_none()
    }

    /// Fetches the file into the cache if it is a URL and not there yet; offline, checks that it is there. Tells whether
    /// it is one.
    ///
    /// # Errors
    /// Those of [`Cache::fetch`].
    pub(super) fn fetch(&self, file: usize) -> Result<Option<Entry>> {
        let (Some(url), Some(remote), None) = (self.url(file), &self.remote, &self.arrays) else { return Ok(None) };
        let request =
            Request { auth_realm: remote.auth_realm.clone(), source: remote.name.clone(), ..Request::new(url) };
        remote.cache.fetch(&request).map(Some)
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
                    let container = match &self.arrays {
                        Some(arrays) => self.open_store(file, arrays)?,
                        None => self.open_file(file)?,
                    };
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

    fn open_file(&self, file: usize) -> Result<Arc<dyn Container>> {
        let slot = &self.slots[file];
        let fetched = self.fetch(file)?;
        let path = fetched.as_ref().map_or(slot.path.as_path(), |entry| &entry.path);
        // Taken first: if the file changes while it is opened, the next check will tell.
        let identity = match fetched.as_ref().and_then(|entry| entry.manifest.as_ref()) {
            Some(manifest) => Identity::Content(manifest.sha256_content.to_ascii_lowercase()),
            None => Identity::File(Stamp::of(path)?),
        };
        if *slot.identity.get_or_init(|| identity.clone()) != identity {
            return Err(slot.changed());
        }
        formats::open_group(path, self.group.as_deref())
    }

    fn open_store(&self, file: usize, arrays: &[String]) -> Result<Arc<dyn Container>> {
        let objects = match (self.url(file), &self.remote) {
            (Some(url), Some(Remote { cache, auth_realm, name })) => {
                Objects::of_url(url, cache.clone(), auth_realm.clone(), name.clone())?
            }
            _ => Objects::of_folder(self.path(file))?,
        };
        Ok(Arc::new(ZarrStore::open(objects, arrays)?))
    }

    /// Checks that the file is still the one that was opened.
    ///
    /// # Errors
    /// `Format` when it was replaced, truncated or written to, `Io` when it is gone.
    pub(super) fn check_unchanged(&self, file: usize) -> Result<()> {
        let slot = &self.slots[file];
        if self.arrays.is_some() {
            return slot.open.lock().as_ref().map_or(Ok(()), |open| open.container.check_unchanged());
        }
        match slot.identity.get() {
            Some(Identity::File(stamp)) if self.url(file).is_none() && *stamp != Stamp::of(&slot.path)? => {
                Err(slot.changed())
            }
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

impl Drop for FilePool {
    fn drop(&mut self) {
        reuse::leave();
    }
}

impl Slot {
    fn changed(&self) -> Error {
        let detail = "the file was replaced or changed after the provider opened it; make a new provider";
        Error::format(&self.path, detail)
    }
}

impl Stamp {
    fn of(path: &Path) -> Result<Self> {
        let meta = std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
        if !meta.is_file() && !meta.is_dir() {
            // Opening a pipe would wait for someone to write into it.
            return Err(Error::format(path, "this is neither a regular file nor a link to one"));
        }
        Ok(Stamp {
            device: meta.dev(),
            inode: meta.ino(),
            len: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
        })
    }
}
