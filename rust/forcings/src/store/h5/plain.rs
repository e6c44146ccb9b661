//! The array file on disk, as it is: `pread`, `pwrite`, and the lock that keeps a second writer out.

use super::layer::FileLayer;
use super::{disk, holder, lock};
use crate::chunks::ByteSource;
use crate::{Error, Result};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;

/// Bytes that are appended before the disk is told to begin with them.
const WRITE_BACK: u64 = 8 << 20;

/// A locked file. The lock goes with the handle, or with the process.
#[derive(Debug)]
pub(crate) struct PlainFile {
    file: File,
    path: PathBuf,
    len: AtomicU64,
    /// The end of what the disk was told to begin with.
    begun: AtomicU64,
    writable: bool,
    released: AtomicBool,
    /// Whether its name is another file's, and so is what says who holds it.
    detached: AtomicBool,
}

impl PlainFile {
    /// Opens an existing file, for reading only or for both.
    ///
    /// # Errors
    /// `Io` when there is no such file or the system refuses, `StoreInUse` when another handle holds it.
    pub(crate) fn open(path: impl AsRef<Path>, read_only: bool) -> Result<Self> {
        let path = path.as_ref();
        let file = Self::locked(path, OpenOptions::new().read(true).write(!read_only), !read_only)?;
        if !read_only {
            holder::announce(path);
        }
        Ok(file)
    }

    /// Opens the file at `at` for both, under the name `path` that it is about to get from a file that this process holds:
    /// [`PlainFile::attach`] says when it has.
    ///
    /// # Errors
    /// As [`PlainFile::open`].
    pub(crate) fn adopt(at: &Path, path: &Path) -> Result<Self> {
        let mut file = Self::locked(at, OpenOptions::new().read(true).write(true), true)?;
        file.path = path.to_path_buf();
        file.detach();
        Ok(file)
    }

    /// The file has got its name.
    pub(crate) fn attach(&self) {
        self.detached.store(false, Ordering::SeqCst);
    }

    /// Makes an empty file, or empties the one that is there if `overwrite` says so.
    ///
    /// # Errors
    /// `StoreExists` when there is a file with content and `overwrite` is false, `StoreInUse` when another handle holds
    /// it, `Io` when the system refuses.
    pub(crate) fn create(path: impl AsRef<Path>, overwrite: bool) -> Result<Self> {
        let path = path.as_ref();
        drop(disk::open_or_create(path)?);
        let file = Self::open(path, false)?;
        if file.len() > 0 && !overwrite {
            return Err(Error::StoreExists { path: path.to_path_buf() });
        }
        if file.len() > 0 {
            file.set_len(0)?;
        }
        Ok(file)
    }

    fn locked(path: &Path, options: &OpenOptions, writable: bool) -> Result<Self> {
        loop {
            let file = options.open(path).map_err(|e| Error::io(path, e))?;
            if !lock::try_lock(&file, writable).map_err(|e| Error::io(path, e))? {
                return Err(Error::StoreInUse(holder::in_use(path, writable)));
            }
            let meta = file.metadata().map_err(|e| Error::io(path, e))?;
            if meta.is_dir() {
                return Err(Error::io(path, std::io::ErrorKind::IsADirectory.into()));
            }
            // The path may have been given to another file between the open and the lock.
            let current = std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
            if (current.dev(), current.ino()) != (meta.dev(), meta.ino()) {
                continue;
            }
            return Ok(PlainFile {
                file,
                path: path.to_path_buf(),
                len: AtomicU64::new(meta.len()),
                begun: AtomicU64::new(meta.len()),
                writable,
                released: AtomicBool::new(false),
                detached: AtomicBool::new(false),
            });
        }
    }

    fn check_held(&self) -> Result<()> {
        match self.released.load(Ordering::SeqCst) {
            true => Err(Error::Closed("store")),
            false => Ok(()),
        }
    }

    /// Whether what is written outlives this handle: a file that was removed goes with the last that has it open.
    fn check_named(&self) -> Result<()> {
        let links = self.file.metadata().map_err(|e| Error::io(&self.path, e))?.nlink();
        if links > 0 || self.detached.load(Ordering::SeqCst) {
            return Ok(());
        }
        let why =
            "the file was removed while the store had it open, so that nothing can be kept in it; read what you need \
                   and write it to a new store";
        Err(Error::io(&self.path, std::io::Error::new(std::io::ErrorKind::NotFound, why)))
    }

    fn check_writable(&self) -> Result<()> {
        self.check_held()?;
        match self.writable {
            true => Ok(()),
            false => Err(Error::ReadOnlyStore { path: self.path.clone() }),
        }
    }
}

impl Drop for PlainFile {
    fn drop(&mut self) {
        self.release();
    }
}

impl ByteSource for PlainFile {
    fn len(&self) -> u64 {
        self.len.load(Ordering::Acquire)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(buffer, offset).map_err(|e| match e.kind() {
            std::io::ErrorKind::UnexpectedEof => Error::format(
                &self.path,
                format!("{} bytes at offset {offset} lie beyond the end of the file", buffer.len()),
            ),
            _ => Error::io(&self.path, e),
        })?;
        // Checked last: bytes that came while the lock was held are good.
        self.check_held()
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

impl FileLayer for PlainFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.check_writable()?;
        disk::write_at(&self.file, &self.path, offset, bytes)?;
        let end = offset + bytes.len() as u64;
        self.len.fetch_max(end, Ordering::AcqRel);
        let begun = self.begun.load(Ordering::Relaxed);
        if end.saturating_sub(begun) >= WRITE_BACK {
            self.begun.fetch_max(end, Ordering::Relaxed);
            disk::begin_write_back(&self.file, begun..end);
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.check_writable()?;
        disk::set_len(&self.file, &self.path, len)?;
        self.len.store(len, Ordering::Release);
        self.begun.fetch_min(len, Ordering::Relaxed);
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        disk::sync(&self.file, &self.path)?;
        self.check_named()
    }

    fn writable(&self) -> bool {
        self.writable
    }

    fn release(&self) {
        if self.released.swap(true, Ordering::SeqCst) {
            return;
        }
        if self.writable && !self.detached.load(Ordering::SeqCst) {
            holder::withdraw(&self.path);
        }
        lock::unlock(&self.file);
    }

    fn detach(&self) {
        self.detached.store(true, Ordering::SeqCst);
    }

    fn into_source(self: Arc<Self>) -> Arc<dyn ByteSource> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn one_writer_or_many_readers() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.nc");
        let writer = PlainFile::create(&path, false).unwrap();
        writer.write_at(0, b"x").unwrap();
        for error in [
            PlainFile::open(&path, true).unwrap_err(),
            PlainFile::open(&path, false).unwrap_err(),
            PlainFile::create(&path, true).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::StoreInUse);
            assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
        }
        drop(writer);
        assert!(!dir.path().join("a.nc.lock").exists());
        let readers = [PlainFile::open(&path, true).unwrap(), PlainFile::open(&path, true).unwrap()];
        let error = PlainFile::open(&path, false).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StoreInUse);
        assert!(error.to_string().contains("reading"), "{error}");
        assert_eq!(readers[0].write_at(0, b"y").unwrap_err().kind(), ErrorKind::ReadOnlyStore);
        assert_eq!(readers[0].set_len(0).unwrap_err().kind(), ErrorKind::ReadOnlyStore);
        readers.iter().for_each(FileLayer::release);
        assert_eq!(readers[0].read_at(0, &mut [0]).unwrap_err().kind(), ErrorKind::Closed);
        PlainFile::open(&path, false).unwrap();
    }

    #[test]
    fn content_is_kept_unless_it_may_be_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.nc");
        std::fs::write(&path, "hello").unwrap();
        assert_eq!(PlainFile::create(&path, false).unwrap_err().kind(), ErrorKind::StoreExists);
        assert_eq!(std::fs::read(&path).unwrap(), b"hello");
        assert_eq!(PlainFile::create(&path, true).unwrap().len(), 0);
        assert_eq!(PlainFile::open(dir.path().join("none"), true).unwrap_err().kind(), ErrorKind::Io);
        assert_eq!(PlainFile::open(dir.path(), true).unwrap_err().kind(), ErrorKind::Io);
    }

    #[test]
    fn a_write_past_the_end_leaves_zeros() {
        let dir = tempfile::tempdir().unwrap();
        let file = PlainFile::create(dir.path().join("a.nc"), false).unwrap();
        file.write_at(0, b"abcd").unwrap();
        file.set_len(2).unwrap();
        file.write_at(4, b"e").unwrap();
        let mut all = [9; 5];
        file.read_at(0, &mut all).unwrap();
        assert_eq!(&all, b"ab\0\0e");
        assert_eq!(file.len(), 5);
    }
}
