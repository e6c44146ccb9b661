//! Hashes of files, remembered while the files stay as they are.

use super::key::hex;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Paths that are remembered; with one more, all are forgotten.
const MAX_PATHS: usize = 512;

/// A change so soon after another may leave the time stamp as it was.
const TIME_STAMP_STEP: Duration = Duration::from_secs(2);

/// The hashes of files that did not change since.
#[derive(Debug, Default)]
pub(super) struct DigestMemo {
    known: Mutex<HashMap<PathBuf, (Stamp, String)>>,
    #[cfg(test)]
    pub(super) computed: std::sync::atomic::AtomicUsize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    len: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl DigestMemo {
    /// SHA-256 of a file, in hex digits, and its length.
    ///
    /// # Errors
    /// Those of reading.
    pub(super) fn digest(&self, path: &Path) -> io::Result<(u64, String)> {
        let mut file = File::open(path)?;
        let meta = file.metadata()?;
        let stamp = Stamp::of(&meta);
        if let Some((_, digest)) = self.known.lock().get(path).filter(|(known, _)| *known == stamp) {
            return Ok((stamp.len, digest.clone()));
        }
        let (len, digest) = digest(&mut file)?;
        #[cfg(test)]
        self.computed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let settled = |time: SystemTime| time.elapsed().is_ok_and(|age| age > TIME_STAMP_STEP);
        if Stamp::of(&file.metadata()?) == stamp && meta.modified().is_ok_and(settled) {
            let mut known = self.known.lock();
            if known.len() >= MAX_PATHS {
                known.clear();
            }
            known.insert(path.into(), (stamp, digest.clone()));
        }
        Ok((len, digest))
    }
}

impl Stamp {
    fn of(meta: &Metadata) -> Self {
        Stamp {
            device: meta.dev(),
            inode: meta.ino(),
            len: meta.len(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }
}

fn digest(file: &mut File) -> io::Result<(u64, String)> {
    let (mut sha, mut len, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok((len, hex(&sha.finalize()))),
            Ok(n) => {
                sha.update(&buffer[..n]);
                len += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}
