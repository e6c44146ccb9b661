//! The bytes of an HDF5 file, addressed as the file addresses itself: from the superblock on. Lends a [`ByteSource`] to
//! the metadata parsers of `hdf5-reader`, and reads bounded pieces for ours.

use crate::chunks::ByteSource;
use crate::{Error, Result};
use hdf5_reader::error::Error as H5Error;
use hdf5_reader::{Storage, StorageBuffer};
use std::io;
use std::sync::Arc;

/// The most bytes that one piece of metadata may have.
const MAX_METADATA_BYTES: u64 = 256 << 20;

/// A source seen from the superblock on, with the widths of its addresses.
pub(super) struct FileBytes {
    source: Arc<dyn ByteSource>,
    base: u64,
    /// Bytes per address.
    pub(super) offset_size: u8,
    /// Bytes per length.
    pub(super) length_size: u8,
}

impl FileBytes {
    /// The bytes of `source` behind its first `base` ones.
    pub(super) fn new(source: Arc<dyn ByteSource>, base: u64, offset_size: u8, length_size: u8) -> Self {
        FileBytes { source, base, offset_size, length_size }
    }

    pub(super) fn source(&self) -> &Arc<dyn ByteSource> {
        &self.source
    }

    /// Whether `address` stands for "nowhere".
    pub(super) fn is_undefined(&self, address: u64) -> bool {
        hdf5_reader::io::Cursor::is_undefined_offset(address, self.offset_size)
    }

    /// The place in the source of `size` bytes at `address`.
    ///
    /// # Errors
    /// `Format` when they do not lie inside the file; `what` names them.
    pub(super) fn absolute(&self, address: u64, size: u64, what: &str) -> Result<u64> {
        let inside = address.checked_add(size).is_some_and(|end| end <= Storage::len(self));
        match address.checked_add(self.base) {
            Some(offset) if inside => Ok(offset),
            _ => Err(self.damaged(format!("{what}: {size} bytes at address {address} lie outside the file"))),
        }
    }

    /// `size` bytes of metadata at `address`.
    ///
    /// # Errors
    /// `Format` when they do not lie inside the file or are implausibly many.
    pub(super) fn read(&self, address: u64, size: u64, what: &str) -> Result<Vec<u8>> {
        let offset = self.absolute(address, size, what)?;
        if size > MAX_METADATA_BYTES {
            return Err(self.damaged(format!("{what}: {size} bytes of metadata exceed {MAX_METADATA_BYTES}")));
        }
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(size as usize)
            .map_err(|_| self.damaged(format!("{what}: no memory for {size} bytes")))?;
        bytes.resize(size as usize, 0);
        self.source.read_at(offset, &mut bytes)?;
        Ok(bytes)
    }

    /// At most `size` bytes at `address`: fewer where the file ends.
    pub(super) fn read_up_to(&self, address: u64, size: u64, what: &str) -> Result<Vec<u8>> {
        self.read(address, size.min(Storage::len(self).saturating_sub(address)), what)
    }

    /// A `Format` error about this file.
    pub(super) fn damaged(&self, detail: impl Into<String>) -> Error {
        Error::format(self.source.path(), detail)
    }

    /// Our error for one of `hdf5-reader`'s; `what` names the part of the file.
    pub(super) fn error(&self, what: &str, error: H5Error) -> Error {
        match error {
            H5Error::Io(e) => Error::io(self.source.path(), e),
            H5Error::Context { source, .. } => self.error(what, *source),
            H5Error::UnsupportedEncoding(text) | H5Error::UnsupportedFilter(text) => {
                Error::Unsupported(format!("{}: {what}: {text}", self.source.path().display()))
            }
            other => self.damaged(format!("{what}: {other}")),
        }
    }
}

impl Storage for FileBytes {
    fn len(&self) -> u64 {
        self.source.len().saturating_sub(self.base)
    }

    fn read_range(&self, offset: u64, len: usize) -> hdf5_reader::error::Result<StorageBuffer> {
        match self.read(offset, len as u64, "metadata") {
            Ok(bytes) => Ok(StorageBuffer::from_vec(bytes)),
            Err(Error::Io { source, .. }) => Err(H5Error::Io(source)),
            Err(Error::Format { detail, .. }) => Err(H5Error::InvalidData(detail)),
            Err(other) => Err(H5Error::Io(io::Error::other(other))),
        }
    }
}
