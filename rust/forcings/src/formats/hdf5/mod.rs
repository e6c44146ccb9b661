//! HDF5 files as far as reading by offset needs them: groups, headers, attributes, chunk tables, strings. Any
//! [`ByteSource`] will do, and no C library is involved. Old and rare metadata structures are parsed by `hdf5-reader`,
//! which never reads an element for us.
//!
//! Nothing is read when a file is opened but its superblock, and nothing outlives the [`Hdf5File`]: after a change of the
//! file, open it again.

mod attribute;
mod chunk_btree;
mod chunk_table;
mod cursor;
mod dataset;
mod dataspace;
mod datatype;
mod group;
mod header;
mod heap;
mod raw;
mod storage;

#[cfg(test)]
pub(super) mod tests;

pub(crate) use attribute::RawAttribute;
pub(crate) use dataset::Hdf5Dataset;
pub(crate) use heap::GlobalHeap;

use crate::chunks::ByteSource;
use crate::formats::Attribute;
use crate::{Error, Result};
use group::{Link, Target};
use hdf5_reader::messages;
use hdf5_reader::superblock::Superblock;
use header::ObjectHeader;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use storage::FileBytes;

/// The most soft links that one path may lead through.
const MAX_SOFT_LINKS: usize = 64;

/// The signature at the start of a superblock.
pub(crate) const SIGNATURE: [u8; 8] = *b"\x89HDF\r\n\x1a\n";

/// An open HDF5 file; clones share it.
#[derive(Clone)]
pub(crate) struct Hdf5File(Arc<Inner>);

struct Inner {
    bytes: FileBytes,
    root: u64,
    /// Links of the groups that were listed, by the address of the group.
    groups: Mutex<HashMap<u64, Arc<Links>>>,
}

struct Links {
    ordered: Vec<Link>,
    by_name: HashMap<String, usize>,
}

/// What an object of a file is.
pub(crate) enum Object {
    /// A group, at this address.
    Group(u64),
    /// A dataset.
    Dataset(Box<Hdf5Dataset>),
    /// A named datatype.
    Datatype,
}

impl Hdf5File {
    /// Opens the file in `source`, behind a user block if it has one.
    ///
    /// # Errors
    /// `Format` when there is no superblock, or the source is shorter than the superblock says.
    pub(crate) fn open(source: Arc<dyn ByteSource>) -> Result<Self> {
        let unplaced = FileBytes::new(source.clone(), 0, 8, 8);
        let superblock = Superblock::parse_from_storage(&unplaced).map_err(|e| unplaced.error("superblock", e))?;
        let root = superblock.root_object_header_address().map_err(|e| unplaced.error("superblock", e))?;
        let (offset_size, length_size) = (superblock.offset_size, superblock.length_size);
        if ![2, 4, 8].contains(&offset_size) || ![2, 4, 8].contains(&length_size) {
            return Err(unplaced.damaged("superblock: its sizes of addresses and lengths are unknown"));
        }
        if source.len() < superblock.eof_address {
            return Err(unplaced.damaged(format!(
                "the file is truncated: it has {} bytes, its superblock says {}",
                source.len(),
                superblock.eof_address
            )));
        }
        let bytes = FileBytes::new(source, superblock.base_address, offset_size, length_size);
        Ok(Hdf5File(Arc::new(Inner { bytes, root, groups: Mutex::default() })))
    }

    /// The names in a group, in creation order where it is tracked, else by name.
    ///
    /// # Errors
    /// `NotFound` when there is no such group, `Format` when it is damaged.
    pub(crate) fn member_names(&self, group: &str) -> Result<Vec<String>> {
        let links = self.links(self.group_address(group)?)?;
        Ok(links.ordered.iter().map(|link| link.name.clone()).collect())
    }

    /// The dataset at this path.
    ///
    /// # Errors
    /// `NotFound` when there is none, `Format` when its header is damaged.
    pub(crate) fn dataset(&self, path: &str) -> Result<Hdf5Dataset> {
        match self.object(path)? {
            Object::Dataset(dataset) => Ok(*dataset),
            _ => Err(self.not_found(path, "is not a dataset")),
        }
    }

    /// The dataset whose header is at `address`.
    ///
    /// # Errors
    /// `Format` when there is none.
    pub(crate) fn dataset_at(&self, address: u64) -> Result<Hdf5Dataset> {
        let header = ObjectHeader::read(self.bytes(), address)?;
        Hdf5Dataset::open(self, &format!("at address {address}"), address, header)
    }

    /// The attributes of the root group.
    ///
    /// # Errors
    /// `Format` when what holds them is damaged.
    pub(crate) fn root_attributes(&self) -> Result<Vec<Attribute>> {
        self.group_attributes("/")
    }

    /// The attributes of a group.
    ///
    /// # Errors
    /// `NotFound` when there is no such group, `Format` when what holds them is damaged.
    pub(crate) fn group_attributes(&self, group: &str) -> Result<Vec<Attribute>> {
        let header = ObjectHeader::read(self.bytes(), self.group_address(group)?)?;
        let mut heap = self.heap();
        Ok(attribute::attributes(self.bytes(), &header)?.iter().map(|a| a.decode(&mut heap)).collect())
    }

    /// A reader of the values that attributes keep on the global heap.
    pub(crate) fn heap(&self) -> GlobalHeap<'_> {
        GlobalHeap::new(self.bytes())
    }

    /// What is at this path.
    ///
    /// # Errors
    /// `NotFound` when nothing is, `Format` when what is there is damaged.
    pub(crate) fn object(&self, path: &str) -> Result<Object> {
        let address = self.resolve(self.0.root, path, &mut 0)?;
        let header = ObjectHeader::read(self.bytes(), address)?;
        if group::is_group(&header) {
            Ok(Object::Group(address))
        } else if header.has(messages::MSG_DATASPACE) || header.has(messages::MSG_DATA_LAYOUT) {
            let name = path.trim_start_matches('/');
            Ok(Object::Dataset(Box::new(Hdf5Dataset::open(self, name, address, header)?)))
        } else if header.has(messages::MSG_DATATYPE) {
            Ok(Object::Datatype)
        } else {
            // A group without one link may have no message that tells it from nothing.
            Ok(Object::Group(address))
        }
    }

    /// The bytes that layouts point into.
    pub(crate) fn source(&self) -> &Arc<dyn ByteSource> {
        self.0.bytes.source()
    }

    fn bytes(&self) -> &FileBytes {
        &self.0.bytes
    }

    fn group_address(&self, path: &str) -> Result<u64> {
        match self.object(path)? {
            Object::Group(address) => Ok(address),
            _ => Err(self.not_found(path, "is not a group")),
        }
    }

    fn links(&self, group: u64) -> Result<Arc<Links>> {
        if let Some(links) = self.0.groups.lock().get(&group) {
            return Ok(links.clone());
        }
        let ordered = group::links(self.bytes(), &ObjectHeader::read(self.bytes(), group)?)?;
        let by_name = ordered.iter().enumerate().map(|(i, link)| (link.name.clone(), i)).collect();
        let links = Arc::new(Links { ordered, by_name });
        self.0.groups.lock().insert(group, links.clone());
        Ok(links)
    }

    /// The address of the object at `path` below `group`, or below the root where it starts with a slash.
    fn resolve(&self, group: u64, path: &str, soft_links: &mut usize) -> Result<u64> {
        let mut at = if path.starts_with('/') { self.0.root } else { group };
        for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
            let links = self.links(at)?;
            let link = links.by_name.get(name).map(|i| &links.ordered[*i]);
            at = match link.map(|link| &link.target) {
                None => return Err(self.not_found(path, "does not exist")),
                Some(Target::Object(address)) => *address,
                Some(Target::Broken(why)) => {
                    return Err(self.bytes().damaged(format!("{path} cannot be opened: {why}")))
                }
                Some(Target::Path(target)) => {
                    *soft_links += 1;
                    if *soft_links > MAX_SOFT_LINKS {
                        return Err(self.bytes().damaged(format!("{path}: soft links run in a circle")));
                    }
                    self.resolve(at, target, soft_links)?
                }
            };
        }
        Ok(at)
    }

    fn not_found(&self, path: &str, what: &str) -> Error {
        Error::NotFound(format!("{}: {path} {what}", self.source().path().display()))
    }
}
