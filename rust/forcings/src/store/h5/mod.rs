//! Writing HDF5: the only module that calls the C library. Above it stands [`H5File`] with groups, variables and
//! attributes by the conventions of NetCDF-4; below it a [`FileLayer`] that every byte of the file passes through.
//! Reading is done elsewhere, by offset and without the library.

mod attribute;
mod dataset;
mod driver;
mod file;
mod holder;
mod layer;
mod library;
mod overlay;
mod plain;

pub(crate) use dataset::{Variable, VariableSpec};
pub(crate) use file::H5File;
pub(crate) use layer::{FileLayer, MemoryFile};
pub(crate) use plain::PlainFile;

#[cfg(test)]
pub(crate) mod tests;
