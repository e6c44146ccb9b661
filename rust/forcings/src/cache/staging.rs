//! Files in the making: written beside the blobs, hashed on the way, and renamed when they are whole.

use super::key::{hex, CacheKey};
use super::layout::Layout;
use crate::{Error, Result};
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file in the making. Dropped before [`publish`](Staging::publish), it is removed.
pub(super) struct Staging {
    path: PathBuf,
    file: File,
    sha: Sha256,
    len: u64,
    limit: u64,
    published: bool,
}

impl Staging {
    /// Makes an empty file for `key` that may grow to `limit` bytes. All who share the cache may read it.
    ///
    /// # Errors
    /// `Io`; `Integrity` when the folder is a symbolic link.
    pub(super) fn create(layout: &Layout, key: &CacheKey, limit: u64) -> Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let dir = layout.staging();
        loop {
            let (pid, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            let path = dir.join(format!("{key}-{pid}-{count}.part"));
            layout.make_parent(&path)?;
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).mode(0o644).custom_flags(libc::O_NOFOLLOW);
            match options.open(&path) {
                Ok(file) => {
                    return Ok(Staging { path, file, sha: Sha256::new(), len: 0, limit, published: false });
                }
                // A file of a process that was killed, or of one with this number on another machine.
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => return Err(Error::io(&path, e)),
            }
        }
    }

    /// The number of bytes so far.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The number of bytes that it may grow to.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// `Io`; `Unsupported` beyond the limit.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() as u64 > self.limit - self.len {
            return Err(too_large(self.limit));
        }
        self.file.write_all(bytes).map_err(|e| Error::io(&self.path, e))?;
        self.sha.update(bytes);
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Forgets all bytes.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn restart(&mut self) -> Result<()> {
        self.file.set_len(0).and_then(|()| self.file.rewind()).map_err(|e| Error::io(&self.path, e))?;
        self.sha = Sha256::new();
        self.len = 0;
        Ok(())
    }

    /// SHA-256 of the bytes so far, in hex digits.
    pub(super) fn sha256(&self) -> String {
        hex(&self.sha.clone().finalize())
    }

    /// Gives the file its name, in place of whatever has it. The bytes reach the disk before the name does.
    ///
    /// # Errors
    /// `Io`; `Integrity` when the target's folder is a symbolic link.
    pub(super) fn publish(mut self, layout: &Layout, target: &Path) -> Result<()> {
        self.file.sync_data().map_err(|e| Error::io(&self.path, e))?;
        layout.make_parent(target)?;
        std::fs::rename(&self.path, target).map_err(|e| Error::io(target, e))?;
        self.published = true;
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.published {
            // What cannot be removed is no worse than what a killed process leaves; `clear` removes both.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

pub(super) fn too_large(limit: u64) -> Error {
    Error::Unsupported(format!("the file is larger than {limit} bytes; raise max_file_bytes of the cache to allow it"))
}
