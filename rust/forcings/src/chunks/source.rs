//! Where bytes come from.

use crate::{Error, Result};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Bytes that can be read at any offset from any thread.
pub trait ByteSource: Send + Sync {
    /// The number of bytes.
    fn len(&self) -> u64;

    /// Whether there is not one byte.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `buffer` from `offset` on.
    ///
    /// # Errors
    /// `Io` from the system, `Format` when the source ends before the buffer is full.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()>;

    /// The name that error texts use.
    fn path(&self) -> &Path;
}

/// A file, read by `pread`; its length is taken when it is opened.
#[derive(Debug)]
pub struct FileSource {
    file: File,
    len: u64,
    path: PathBuf,
}

impl FileSource {
    /// Opens `path` for reading.
    ///
    /// # Errors
    /// `Io` when there is no such file, it is a folder, or the system refuses.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        let file = File::open(&path).map_err(|e| Error::io(&path, e))?;
        let meta = file.metadata().map_err(|e| Error::io(&path, e))?;
        if meta.is_dir() {
            return Err(Error::io(&path, std::io::ErrorKind::IsADirectory.into()));
        }
        Ok(FileSource { file, len: meta.len(), path })
    }
}

impl ByteSource for FileSource {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.file.read_exact_at(buffer, offset).map_err(|e| match e.kind() {
            std::io::ErrorKind::UnexpectedEof => Error::format(
                &self.path,
                format!("{} bytes at offset {offset} lie beyond the end of the file", buffer.len()),
            ),
            _ => Error::io(&self.path, e),
        })
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

/// Bytes in memory.
#[derive(Debug, Clone)]
pub struct MemorySource {
    bytes: Vec<u8>,
    path: PathBuf,
}

impl MemorySource {
    /// Takes `bytes` over; `name` stands for the path in error texts.
    pub fn new(name: impl AsRef<Path>, bytes: Vec<u8>) -> Self {
        MemorySource { bytes, path: name.as_ref().to_path_buf() }
    }
}

impl ByteSource for MemorySource {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let found =
            usize::try_from(offset).ok().and_then(|start| self.bytes.get(start..start.checked_add(buffer.len())?));
        let found = found.ok_or_else(|| {
            Error::format(&self.path, format!("{} bytes at offset {offset} lie beyond the end", buffer.len()))
        })?;
        buffer.copy_from_slice(found);
        Ok(())
    }

    fn path(&self) -> &Path {
        &self.path
    }
}
