//! What the cache holds, and how it is made smaller.

use super::fetch::{Cache, Inner};
use super::key::CacheKey;
use super::layout::blob_key;
use super::manifest::Manifest;
use crate::time::UnixMillis;
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A file in the making that nobody wrote to for so long was left by a process that was killed.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// What a cache holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// Files, with a manifest or without.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The same for each source, by name; first come files whose manifest names none, or that have none.
    pub sources: Vec<SourceUsage>,
    /// Bytes of downloads under way or broken off.
    pub staged_bytes: u64,
}

/// What a cache holds of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceUsage {
    /// The name that fetched the files.
    pub source: Option<String>,
    /// Their number.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cleared {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Cache {
    /// Counts what the cache holds. A damaged manifest counts as none.
    ///
    /// # Errors
    /// `Io`; `Integrity` for symbolic links.
    pub fn usage(&self) -> Result<Usage> {
        let inner = self.inner();
        let (mut usage, mut sources) = (Usage::default(), BTreeMap::<Option<String>, (u64, u64)>::new());
        for key in inner.keys()? {
            let (files, bytes) = inner.size(&key)?;
            let source = inner.manifest(&key).ok().flatten().and_then(|m| m.source_loader);
            let sum = sources.entry(source).or_default();
            *sum = (sum.0 + files, sum.1 + bytes);
            usage.files += files;
            usage.bytes += bytes;
        }
        let row = |(source, (files, bytes))| SourceUsage { source, files, bytes };
        usage.sources = sources.into_iter().map(row).collect();
        for name in inner.layout.names(&inner.layout.staging())? {
            let path = inner.layout.staging().join(name);
            usage.staged_bytes += std::fs::symlink_metadata(path).map_or(0, |meta| meta.len());
        }
        Ok(usage)
    }

    /// Removes files: those fetched longer ago than `older_than`, of the given source; all without either. What killed
    /// processes left behind goes too. A file that a reader has open stays readable for it.
    ///
    /// # Errors
    /// `InvalidParameter` for an offline cache; `Io`; `Integrity` for symbolic links.
    pub fn clear(&self, older_than: Option<Duration>, source: Option<&str>) -> Result<Cleared> {
        let inner = self.inner();
        if inner.offline {
            return Err(Error::invalid(
                "the cache is offline, and nothing is written then; open it online to clear it",
            ));
        }
        let now = UnixMillis::now();
        let mut cleared = Cleared::default();
        for key in inner.keys()? {
            if !inner.is_cleared(&key, older_than, source, now)? {
                continue;
            }
            let _lock = inner.locks.acquire(&inner.layout, &key)?;
            // It may have been fetched anew meanwhile.
            if inner.is_cleared(&key, older_than, source, now)? {
                let (files, bytes) = inner.size(&key)?;
                for path in inner.blobs(&key)?.into_iter().chain([inner.layout.manifest(&key)]) {
                    super::fetch::remove(&path)?;
                }
                cleared.files += files;
                cleared.bytes += bytes;
            }
        }
        inner.remove_abandoned()?;
        Ok(cleared)
    }
}

impl Inner {
    /// The keys of all blobs and manifests.
    fn keys(&self) -> Result<BTreeSet<CacheKey>> {
        let mut keys = BTreeSet::new();
        for dir in self.layout.names(&self.layout.blobs())? {
            let is_ours = dir.len() == 2 && dir.bytes().all(|b| b.is_ascii_hexdigit());
            if is_ours {
                let names = self.layout.names(&self.layout.blobs().join(&dir))?;
                keys.extend(
                    names.iter().filter_map(|name| blob_key(name)).filter(|key| key.as_str().starts_with(&dir)),
                );
            }
        }
        let names = self.layout.names(&self.layout.manifests())?;
        keys.extend(names.iter().filter_map(|name| CacheKey::parse(name.strip_suffix(".json")?)));
        Ok(keys)
    }

    fn blobs(&self, key: &CacheKey) -> Result<Vec<PathBuf>> {
        self.layout.blobs_named(key)
    }

    fn size(&self, key: &CacheKey) -> Result<(u64, u64)> {
        let sizes =
            self.blobs(key)?.into_iter().map(|path| std::fs::symlink_metadata(path).map_or(0, |meta| meta.len()));
        Ok(sizes.fold((0, 0), |(files, bytes), len| (files + 1, bytes + len)))
    }

    fn is_cleared(
        &self,
        key: &CacheKey,
        older_than: Option<Duration>,
        source: Option<&str>,
        now: UnixMillis,
    ) -> Result<bool> {
        // A damaged manifest says nothing about its file.
        let manifest = self.manifest(key).ok().flatten();
        if source.is_some() && manifest.as_ref().and_then(|m| m.source_loader.as_deref()) != source {
            return Ok(false);
        }
        let Some(limit) = older_than else { return Ok(true) };
        let fetched = manifest.as_ref().and_then(|m: &Manifest| m.age(now));
        let age = match fetched {
            Some(age) => Some(age),
            None => self.blobs(key)?.first().and_then(|path| age(path)),
        };
        // Of unknown age is a manifest without a date and without a file.
        Ok(age.is_none_or(|age| age > limit))
    }

    fn remove_abandoned(&self) -> Result<()> {
        for name in self.layout.names(&self.layout.staging())? {
            let path = self.layout.staging().join(name);
            if path.extension().is_some_and(|e| e == "part") && age(&path).is_some_and(|age| age > ABANDONED) {
                super::fetch::remove(&path)?;
            }
        }
        Ok(())
    }
}

/// The time since a file was last written to.
fn age(path: &Path) -> Option<Duration> {
    SystemTime::now().duration_since(std::fs::symlink_metadata(path).ok()?.modified().ok()?).ok()
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} files, {} bytes", self.files, self.bytes)
    }
}
