//! Where things stand below the cache root, and the rule that nothing stands outside it.

use super::key::CacheKey;
use super::url::Url;
use crate::{Error, Result};
use std::fs::{DirBuilder, Metadata};
use std::io::ErrorKind::{AlreadyExists, NotADirectory, NotFound};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The folders of the format's version. Names are made of keys and checked suffixes only, so that none can climb out.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    root: PathBuf,
}

impl Layout {
    pub(super) fn new(root: PathBuf) -> Self {
        Layout { root }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn blobs(&self) -> PathBuf {
        self.root.join("v1/blobs")
    }

    pub(super) fn manifests(&self) -> PathBuf {
        self.root.join("v1/meta")
    }

    pub(super) fn staging(&self) -> PathBuf {
        self.root.join("v1/tmp")
    }

    pub(super) fn blob(&self, key: &CacheKey, extension: Option<&str>) -> PathBuf {
        let name = match extension {
            Some(extension) => format!("{key}.{extension}"),
            None => key.to_string(),
        };
        self.blobs_of(key).join(name)
    }

    pub(super) fn manifest(&self, key: &CacheKey) -> PathBuf {
        self.manifests().join(format!("{key}.json"))
    }

    pub(super) fn lock(&self, key: &CacheKey) -> PathBuf {
        self.root.join("v1/locks").join(format!("{key}.lock"))
    }

    /// The blob of a key, under whatever suffix it was stored; the one of `url` is looked for first.
    ///
    /// # Errors
    /// `Io`; `Integrity` for a symbolic link, which might lead anywhere.
    pub(super) fn find_blob(&self, key: &CacheKey, url: &Url) -> Result<Option<PathBuf>> {
        let likely = self.blob(key, url.extension().as_deref());
        if self.is_file(&likely)? {
            return Ok(Some(likely));
        }
        Ok(self.blobs_named(key)?.into_iter().next())
    }

    /// All blobs of a key, by name.
    ///
    /// # Errors
    /// As [`find_blob`](Self::find_blob).
    pub(super) fn blobs_named(&self, key: &CacheKey) -> Result<Vec<PathBuf>> {
        let dir = self.blobs_of(key);
        let mut found = Vec::new();
        for name in self.names(&dir)? {
            if blob_key(&name).as_ref() == Some(key) && self.is_file(&dir.join(&name))? {
                found.push(dir.join(name));
            }
        }
        found.sort();
        Ok(found)
    }

    /// The names in a folder of the cache; none if it is not there.
    ///
    /// # Errors
    /// `Io`; `Integrity` for a symbolic link on the way.
    pub(super) fn names(&self, dir: &Path) -> Result<Vec<String>> {
        self.metadata(dir)?;
        let entries = match std::fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(e) if matches!(e.kind(), NotFound | NotADirectory) => return Ok(Vec::new()),
            Err(e) => return Err(Error::io(dir, e)),
        };
        let mut names = Vec::new();
        for entry in entries {
            // A name that is not text is none of the cache's.
            names.extend(entry.map_err(|e| Error::io(dir, e))?.file_name().into_string().ok());
        }
        Ok(names)
    }

    /// What stands at a path of the cache, if anything does.
    ///
    /// # Errors
    /// `Io`; `Integrity` for a symbolic link there or on the way.
    pub(super) fn metadata(&self, path: &Path) -> Result<Option<Metadata>> {
        self.check_inside(path)?;
        match std::fs::symlink_metadata(path) {
            Ok(meta) if meta.is_symlink() => Err(leads_out(path)),
            Ok(meta) => Ok(Some(meta)),
            Err(e) if matches!(e.kind(), NotFound | NotADirectory) => Ok(None),
            Err(e) => Err(Error::io(path, e)),
        }
    }

    /// Makes the folder of `path`, which lies below the root, with the modes that the user's mask allows.
    ///
    /// # Errors
    /// `Io`; `Integrity` for a symbolic link on the way.
    pub(super) fn make_parent(&self, path: &Path) -> Result<()> {
        let dir = path.parent().unwrap_or(&self.root);
        self.check_inside(path)?;
        match DirBuilder::new().recursive(true).mode(0o777).create(dir) {
            Err(e) if e.kind() != AlreadyExists => Err(Error::io(dir, e)),
            // Another process may have made a part of it meanwhile.
            _ => self.check_inside(path),
        }
    }

    fn blobs_of(&self, key: &CacheKey) -> PathBuf {
        self.blobs().join(&key.as_str()[..2])
    }

    fn is_file(&self, path: &Path) -> Result<bool> {
        Ok(self.metadata(path)?.is_some_and(|meta| meta.is_file()))
    }

    /// Refuses a path below the root that passes through a symbolic link. The root itself may be one.
    fn check_inside(&self, path: &Path) -> Result<()> {
        let below = path.ancestors().skip(1).take_while(|dir| *dir != self.root);
        for dir in below {
            if std::fs::symlink_metadata(dir).is_ok_and(|meta| meta.is_symlink()) {
                return Err(leads_out(dir));
            }
        }
        Ok(())
    }
}

/// The key that a name in a blob folder belongs to; foreign names have none.
pub(super) fn blob_key(name: &str) -> Option<CacheKey> {
    let (key, rest) = (name.get(..64)?, name.get(64..)?);
    (rest.is_empty() || rest.starts_with('.')).then(|| CacheKey::parse(key)).flatten()
}

pub(super) fn leads_out(path: &Path) -> Error {
    let path = path.display();
    Error::Integrity(format!(
        "{path} is a symbolic link, and the cache neither reads nor writes outside its root; remove it, or make the root \
         itself the link"
    ))
}
