//! Where the objects of a store are: below a local folder, or behind URLs, from where a cache fetches them.

use crate::cache::{Cache, Request};
use crate::{Error, Result};
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::path::{Path, PathBuf};

/// The objects of one store.
#[derive(Debug)]
pub struct Objects {
    root: PathBuf,
    remote: Option<Remote>,
}

#[derive(Debug)]
struct Remote {
    base: String,
    cache: Cache,
    auth_realm: Option<String>,
    source: Option<String>,
}

impl Remote {
    fn request(&self, key: &str) -> Request {
        let (auth_realm, source) = (self.auth_realm.clone(), self.source.clone());
        Request { auth_realm, source, ..Request::new(format!("{}/{key}", self.base)) }
    }
}

/// An object that is there.
pub(super) struct Found {
    /// The file that holds it.
    pub(super) path: PathBuf,
    /// Its bytes.
    pub(super) len: u64,
}

impl Objects {
    /// The objects below a folder.
    ///
    /// # Errors
    /// `Io` when there is no such folder.
    pub fn of_folder(root: impl Into<PathBuf>) -> Result<Self> {
        let root = root.into();
        let meta = std::fs::metadata(&root).map_err(|e| Error::io(&root, e))?;
        if !meta.is_dir() {
            return Err(Error::format(&root, "a Zarr store is a folder, and this is a file"));
        }
        Ok(Objects { root, remote: None })
    }

    /// The objects below a URL, fetched into `cache` with the credential of `auth_realm`, as those of `source`.
    ///
    /// # Errors
    /// `InvalidParameter` for a URL that cannot be continued.
    pub fn of_url(url: &str, cache: Cache, auth_realm: Option<String>, source: Option<String>) -> Result<Self> {
        if url.contains(['?', '#']) {
            return Err(Error::invalid(format!(
                "{url} holds '?' or '#', so that the names of the objects of a Zarr store cannot be put behind it"
            )));
        }
        let base = url.trim_end_matches('/').to_string();
        Ok(Objects { root: url.into(), remote: Some(Remote { base, cache, auth_realm, source }) })
    }

    /// The folder or the URL.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Fetches that may wait at a time.
    pub(super) fn fetchers(&self) -> usize {
        self.remote.as_ref().map_or(0, |r| if r.cache.is_offline() { 0 } else { r.cache.fetch_concurrency() })
    }

    /// Whether the objects are files of the user's, which may change.
    pub(super) fn are_local(&self) -> bool {
        self.remote.is_none()
    }

    /// The path or the URL of an object.
    pub(super) fn name(&self, key: &str) -> PathBuf {
        match &self.remote {
            Some(remote) => format!("{}/{key}", remote.base).into(),
            None => self.root.join(key),
        }
    }

    /// Whether nothing has to be fetched for the object of a key.
    pub(super) fn is_at_hand(&self, key: &str) -> bool {
        self.remote.as_ref().is_none_or(|remote| remote.cache.holds(&remote.request(key)))
    }

    /// The object of a key; `None` where it is certain that there is none, and offline where the cache has none.
    ///
    /// # Errors
    /// Those of [`Cache::fetch`] and `Io`, when it is not certain.
    pub(super) fn find(&self, key: &str) -> Result<Option<Found>> {
        match self.get(key) {
            Err(Error::NotFound(_) | Error::CacheMiss { .. }) => Ok(None),
            result => result.map(Some),
        }
    }

    /// The object of a key, which has to be there.
    ///
    /// # Errors
    /// `NotFound` or `CacheMiss` when it is not, else those of [`find`](Self::find).
    pub(super) fn get(&self, key: &str) -> Result<Found> {
        let name = self.name(key);
        let absent = || Error::NotFound(format!("{} is not there", name.display()));
        let path = match &self.remote {
            None => name.clone(),
            Some(remote) => {
                let _permit = remote.cache.fetch_permit();
                remote.cache.fetch(&remote.request(key))?.path
            }
        };
        match std::fs::metadata(&path) {
            Ok(meta) if meta.is_file() => Ok(Found { path, len: meta.len() }),
            // The folder of other keys.
            Ok(meta) if meta.is_dir() => Err(absent()),
            // Opening a pipe would wait for someone to write into it.
            Ok(_) => Err(Error::format(&path, "this is neither a regular file nor a link to one")),
            Err(e) if matches!(e.kind(), NotFound | NotADirectory) => Err(absent()),
            Err(e) => Err(Error::io(&path, e)),
        }
    }
}
