//! One fetch of a key at a time: among the threads of a cache, and by `flock` among processes.

use super::key::CacheKey;
use super::layout::{leads_out, Layout};
use crate::store::h5::lock::wait_for_lock;
use crate::{Error, Result};
use parking_lot::{Condvar, Mutex};
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The keys that threads of this cache are fetching. It serves where the filesystem has no locks.
#[derive(Debug, Default)]
pub(super) struct Locks {
    held: Mutex<HashSet<CacheKey>>,
    freed: Condvar,
}

/// A held key; released when dropped.
#[derive(Debug)]
pub(super) struct KeyLock<'a> {
    locks: &'a Locks,
    key: CacheKey,
    /// Closing it releases the lock. The file itself stays: removing it would let two processes hold "the" lock.
    _file: Option<File>,
}

impl Locks {
    /// Waits for the key. A filesystem without locks gives none: the rename alone keeps integrity there, and two
    /// processes may fetch the same file twice.
    ///
    /// # Errors
    /// `Io` when the lock file cannot be made or locked; `Integrity` when it is a symbolic link.
    pub(super) fn acquire(&self, layout: &Layout, key: &CacheKey) -> Result<KeyLock<'_>> {
        self.acquire_by(layout, key, wait_for_lock)
    }

    fn acquire_by(
        &self,
        layout: &Layout,
        key: &CacheKey,
        lock: impl Fn(&File) -> io::Result<()>,
    ) -> Result<KeyLock<'_>> {
        let mut held = self.held.lock();
        while !held.insert(key.clone()) {
            self.freed.wait(&mut held);
        }
        drop(held);
        let mut guard = KeyLock { locks: self, key: key.clone(), _file: None };
        let path = layout.lock(key);
        layout.make_parent(&path)?;
        let file = open(&path)?;
        loop {
            match lock(&file) {
                Ok(()) => break guard._file = Some(file),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if is_without_locks(&e) => break,
                Err(e) => return Err(Error::io(&path, e)),
            }
        }
        Ok(guard)
    }
}

impl Drop for KeyLock<'_> {
    fn drop(&mut self) {
        // First for the processes: the next thread then finds the lock free.
        self._file = None;
        self.locks.held.lock().remove(&self.key);
        self.locks.freed.notify_all();
    }
}

/// Opens the lock file for all who share the cache. One that another user made may be open for reading only.
fn open(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_NOFOLLOW).mode(0o666);
    let file = match options.clone().write(true).create(true).truncate(false).open(path) {
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => options.open(path).map_err(|_| e),
        other => other,
    };
    file.map_err(|e| match e.raw_os_error() {
        Some(libc::ELOOP) => leads_out(path),
        _ => Error::io(path, e),
    })
}

fn is_without_locks(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EOPNOTSUPP | libc::ENOLCK))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_filesystem_without_locks_still_serves_one_thread_at_a_time() {
        let root = tempfile::tempdir().unwrap();
        let (layout, locks) = (Layout::new(root.path().into()), Locks::default());
        let (inside, key) = (AtomicUsize::new(0), CacheKey::of_url("https://example.org/a.nc"));
        std::thread::scope(|scope| {
            for errno in [libc::ENOSYS, libc::EOPNOTSUPP, libc::ENOLCK, libc::ENOSYS] {
                let (layout, locks, inside, key) = (&layout, &locks, &inside, &key);
                scope.spawn(move || {
                    let refuse = |_: &File| Err(io::Error::from_raw_os_error(errno));
                    let guard = locks.acquire_by(layout, key, refuse).unwrap();
                    assert!(guard._file.is_none());
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        let broken = |_: &File| Err(io::Error::from_raw_os_error(libc::EIO));
        let error = locks.acquire_by(&layout, &key, broken).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Io);
        // The failed call left the key free.
        locks.acquire(&layout, &key).unwrap();
    }

    #[test]
    fn an_interrupted_wait_goes_on() {
        let root = tempfile::tempdir().unwrap();
        let (layout, locks) = (Layout::new(root.path().into()), Locks::default());
        let calls = AtomicUsize::new(0);
        let twice = |_: &File| match calls.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => Err(io::Error::from_raw_os_error(libc::EINTR)),
            _ => Ok(()),
        };
        let guard = locks.acquire_by(&layout, &CacheKey::of_url("a://b"), twice).unwrap();
        assert!(guard._file.is_some());
        assert_eq!(calls.load(Ordering::SeqCst), 3);
    }

    #[test]
    fn a_lock_file_that_is_a_link_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let (layout, key) = (Layout::new(root.path().join("c")), CacheKey::of_url("a://b"));
        layout.make_parent(&layout.lock(&key)).unwrap();
        std::os::unix::fs::symlink(root.path().join("elsewhere"), layout.lock(&key)).unwrap();
        let error = Locks::default().acquire(&layout, &key).unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Integrity);
        assert!(!root.path().join("elsewhere").exists());
    }
}
