//! The bytes under the array file: what a file must be able to do for HDF5 to live in it, and a file held in memory.
//!
//! Layers are stacked: `JournalFile` over `PlainFile` makes commits whole, `Overlay` takes what a layer has refused.

use crate::chunks::ByteSource;
use crate::{Error, Result};
use parking_lot::RwLock;
use std::path::Path;
use std::sync::Arc;

/// A file that HDF5 writes. Every call may come from any thread; writers are serialised by the HDF5 lock.
pub(crate) trait FileLayer: ByteSource {
    /// Stores `bytes` at `offset` and grows the file if they end behind its end; a gap reads as zeros.
    ///
    /// # Errors
    /// `Io` from the system, `ReadOnlyStore` for a file that was opened for reading.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()>;

    /// Moves the end of the file; new bytes read as zeros.
    ///
    /// # Errors
    /// As [`FileLayer::write_at`].
    fn set_len(&self, len: u64) -> Result<()>;

    /// Returns when all bytes written before are on the disk.
    ///
    /// # Errors
    /// `Io` from the system; the state of the disk is then unknown.
    fn sync(&self) -> Result<()>;

    /// Brings every change to the disk, in such a way that all of them since the last [`FileLayer::finish`] are undone
    /// when the file is next opened, unless its owner says then that they count. A layer that cannot undo only syncs.
    ///
    /// # Errors
    /// `Io` from the system. The layer refuses every later change then.
    fn prepare(&self) -> Result<()> {
        self.sync()
    }

    /// The changes that were prepared count: they are not undone any more.
    ///
    /// # Errors
    /// `Io` from the system. The changes count all the same.
    fn finish(&self) -> Result<()> {
        Ok(())
    }

    /// Leaves nothing beside the file that is of no use any more.
    ///
    /// # Errors
    /// `Io` from the system.
    fn tidy(&self) -> Result<()> {
        Ok(())
    }

    /// Whether the file may be changed.
    fn writable(&self) -> bool;

    /// Gives the lock up, for handles that outlive the store. Later reads and writes are `Closed` errors, since others may
    /// have changed the file by then.
    fn release(&self);

    /// The name of the file is another file's from here on; this one is only read until its last handle goes.
    fn detach(&self) {}

    /// The same file as a source of bytes.
    fn into_source(self: Arc<Self>) -> Arc<dyn ByteSource>;
}

/// A file that lives in memory and goes with its last handle.
#[derive(Debug)]
pub(crate) struct MemoryFile {
    content: RwLock<Content>,
}

#[derive(Debug)]
enum Content {
    Held(Vec<u8>),
    /// The bytes are gone; this many they were.
    Released(u64),
}

impl Content {
    fn held(&mut self) -> Result<&mut Vec<u8>> {
        match self {
            Content::Held(bytes) => Ok(bytes),
            Content::Released(_) => Err(Error::Closed("store")),
        }
    }
}

impl MemoryFile {
    /// An empty file.
    pub(crate) fn new() -> Self {
        MemoryFile { content: RwLock::new(Content::Held(Vec::new())) }
    }

    fn grow(&self, bytes: &mut Vec<u8>, len: usize) -> Result<()> {
        if let Some(more) = len.checked_sub(bytes.len()) {
            bytes.try_reserve(more).map_err(|_| Error::io(self.path(), std::io::ErrorKind::OutOfMemory.into()))?;
            bytes.resize(len, 0);
        }
        Ok(())
    }

    fn position(&self, offset: u64) -> Result<usize> {
        usize::try_from(offset).map_err(|_| Error::io(self.path(), std::io::ErrorKind::FileTooLarge.into()))
    }
}

impl ByteSource for MemoryFile {
    fn len(&self) -> u64 {
        match &*self.content.read() {
            Content::Held(bytes) => bytes.len() as u64,
            Content::Released(len) => *len,
        }
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let content = self.content.read();
        let Content::Held(bytes) = &*content else { return Err(Error::Closed("store")) };
        let start = self.position(offset)?;
        let run = start.checked_add(buffer.len()).and_then(|end| bytes.get(start..end)).ok_or_else(|| {
            let detail = format!("{} bytes at offset {offset} lie beyond the end of the file", buffer.len());
            Error::format(self.path(), detail)
        })?;
        buffer.copy_from_slice(run);
        Ok(())
    }

    fn path(&self) -> &Path {
        Path::new(":memory:")
    }
}

impl FileLayer for MemoryFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let start = self.position(offset)?;
        let end = self.position(offset.saturating_add(bytes.len() as u64))?;
        let mut content = self.content.write();
        let all = content.held()?;
        self.grow(all, end)?;
        all[start..end].copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<()> {
        let len = self.position(len)?;
        let mut content = self.content.write();
        let bytes = content.held()?;
        bytes.truncate(len);
        self.grow(bytes, len)
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }

    fn writable(&self) -> bool {
        true
    }

    fn release(&self) {
        let mut content = self.content.write();
        if let Content::Held(bytes) = &*content {
            *content = Content::Released(bytes.len() as u64);
        }
    }

    fn into_source(self: Arc<Self>) -> Arc<dyn ByteSource> {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_and_growth_read_as_zeros() {
        let file = MemoryFile::new();
        file.write_at(3, b"abc").unwrap();
        file.set_len(8).unwrap();
        let mut all = [9; 8];
        file.read_at(0, &mut all).unwrap();
        assert_eq!(&all, b"\0\0\0abc\0\0");
        file.set_len(4).unwrap();
        file.set_len(6).unwrap();
        file.read_at(3, &mut all[..3]).unwrap();
        assert_eq!(&all[..3], b"a\0\0");
        assert!(file.read_at(4, &mut all[..3]).is_err());
        assert!(file.read_at(u64::MAX, &mut all[..3]).is_err());
        file.release();
        assert_eq!(file.read_at(0, &mut all[..1]).unwrap_err().kind(), crate::ErrorKind::Closed);
    }
}
