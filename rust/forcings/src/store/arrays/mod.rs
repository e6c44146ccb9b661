//! The array file of a store: content-addressed arrays in a NetCDF-4 file, as columns of packed datasets or as variables
//! of their own.
//!
//! Reading goes by offset over the file's layer and never touches the HDF5 library ([`read`], [`open`]); writing goes
//! through it ([`write`], [`waiting`], [`standalone`]), and after every change the library is flushed and what changed is
//! read anew. What the arrays mean is the catalog's business.

mod compression;
mod index;
mod inventory;
mod open;
mod packed;
mod parallel;
mod pool;
mod read;
mod rewrite;
mod rows;
mod settle;
mod standalone;
mod waiting;
mod write;

pub use compression::Compression;
pub(crate) use index::{Place, Standalone};
pub(crate) use inventory::Portion;
pub(crate) use packed::{Column, DatasetState, PackedDataset};
pub(crate) use pool::PoolKey;
pub(crate) use read::Slab;
pub(crate) use standalone::Chunking;

use super::h5::{FileLayer, H5File};
use crate::array::ArrayHash;
use crate::chunks::ByteSource;
use crate::formats::hdf5::Hdf5File;
use crate::{Error, Result};
use index::Index;
use open::{VERSIONS, VERSION_ATTRIBUTE};
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use waiting::Waiting;
use write::Writer;

/// The group above that of the arrays.
const PARENT_GROUP: &str = "/time_series";
/// The group that holds every array.
const GROUP: &str = "/time_series/single";
/// The root attribute that holds the compression.
const COMPRESSION_ATTRIBUTE: &str = "compression";

/// An open array file. Any number of threads may read and one at a time writes, while the others read on.
pub(crate) struct ArrayFile {
    layer: Arc<dyn FileLayer>,
    source: Arc<dyn ByteSource>,
    compression: Compression,
    attributes: Mutex<BTreeMap<String, String>>,
    index: RwLock<Index>,
    /// Changes only under the lock of the writer. A hash that leaves it for the index is in both for a moment, so whoever
    /// looks for one looks here first.
    waiting: Mutex<Waiting>,
    writer: Mutex<Writer>,
}

/// Whether these bytes are an array file, of whatever version of the format.
pub(crate) fn is_array_file(source: Arc<dyn ByteSource>) -> bool {
    let attributes = Hdf5File::open(source).and_then(|file| open::text_attributes(&file));
    attributes.is_ok_and(|attributes| attributes.contains_key(VERSION_ATTRIBUTE))
}

impl ArrayFile {
    /// Makes an empty array file in `layer`, with these root attributes beside those of the format.
    ///
    /// # Errors
    /// `InvalidParameter` for a compression level above 9, `ReadOnlyStore`, `Io`, `Hdf5`.
    pub(crate) fn create(
        layer: Arc<dyn FileLayer>,
        compression: Compression,
        attributes: &[(&str, &str)],
    ) -> Result<Self> {
        compression.check()?;
        let file = H5File::create(&layer)?;
        let compression_text = compression.to_string();
        let own = [(VERSION_ATTRIBUTE, VERSIONS[0]), (COMPRESSION_ATTRIBUTE, compression_text.as_str())];
        for (name, text) in own.iter().chain(attributes) {
            file.set_text(name, text)?;
        }
        file.create_group(PARENT_GROUP)?;
        file.create_group(GROUP)?;
        file.flush()?;
        Self::over(layer, Writer::open(file))
    }

    /// Opens the array file in `layer`. The HDF5 library is not touched before the first change.
    ///
    /// # Errors
    /// `Format` when it is no HDF5 file or a damaged one, `IncompatibleFormat`, `Integrity` when a group is missing, a
    /// variable is none of the format, or hashes are.
    pub(crate) fn open(layer: Arc<dyn FileLayer>) -> Result<Self> {
        Self::over(layer, Writer::default())
    }

    fn over(layer: Arc<dyn FileLayer>, writer: Writer) -> Result<Self> {
        let source = layer.clone().into_source();
        let file = Hdf5File::open(source.clone())?;
        let attributes = open::text_attributes(&file)?;
        open::check_version(&attributes)?;
        let compression = Compression::from_attribute(attributes.get(COMPRESSION_ATTRIBUTE).map(String::as_str));
        let index = RwLock::new(open::index(&file)?);
        let (attributes, writer) = (Mutex::new(attributes), Mutex::new(writer));
        Ok(ArrayFile { layer, source, compression, attributes, index, waiting: Mutex::default(), writer })
    }

    /// Whether an array with this hash is stored.
    pub(crate) fn contains(&self, hash: &ArrayHash) -> bool {
        let waits = self.waiting.lock().contains(hash);
        waits || self.index.read().place(hash).is_some()
    }

    /// Where an array is; `None` if it is not stored, or waits: [`ArrayFile::settle`] gives it a place.
    pub(crate) fn find(&self, hash: &ArrayHash) -> Option<Place> {
        self.index.read().place(hash).cloned()
    }

    /// A number that changes whenever an array may have left its place. While it stays, whatever [`ArrayFile::find`] has
    /// answered still holds.
    pub(crate) fn stamp(&self) -> u64 {
        self.index.read().stamp()
    }

    /// The bytes that layouts point into.
    pub(crate) fn source(&self) -> &Arc<dyn ByteSource> {
        &self.source
    }

    /// A text attribute of the root group.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        self.attributes.lock().get(name).cloned()
    }

    /// Notes that the catalog has types of series that readers of the first version do not know.
    ///
    /// # Errors
    /// `ReadOnlyStore`, `Io`, `Hdf5`.
    pub(crate) fn raise_version(&self) -> Result<()> {
        match self.attribute(VERSION_ATTRIBUTE).as_deref() == Some(VERSIONS[1]) {
            true => Ok(()),
            false => self.set_attribute(VERSION_ATTRIBUTE, VERSIONS[1]),
        }
    }

    fn check_writable(&self) -> Result<()> {
        match self.layer.writable() {
            true => Ok(()),
            false => Err(Error::ReadOnlyStore { path: self.layer.path().to_path_buf() }),
        }
    }
}

impl fmt::Debug for ArrayFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrayFile").field("path", &self.layer.path()).field("compression", &self.compression).finish()
    }
}

#[cfg(test)]
mod tests;
