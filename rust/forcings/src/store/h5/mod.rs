//! Writing HDF5: the only module that calls the C library. Above it stands [`H5File`] with groups, variables and
//! attributes by the conventions of NetCDF-4; below it a [`FileLayer`] that every byte of the file passes through
//! (`plain` on the disk, `journal` over it).
//! Reading is done elsewhere, by offset and without the library.

mod attribute;
mod dataset;
pub(crate) mod disk;
mod driver;
#[cfg(test)]
pub(crate) mod faults;
mod file;
mod holder;
pub(crate) mod journal;
mod layer;
mod library;
pub(crate) mod lock;
mod overlay;
mod pages;
mod plain;

pub(crate) use dataset::{Variable, VariableSpec};
pub(crate) use file::H5File;
pub(crate) use journal::{JournalFile, Mark};
pub(crate) use layer::{FileLayer, MemoryFile};
pub(crate) use plain::PlainFile;

#[cfg(test)]
pub(crate) mod tests;
