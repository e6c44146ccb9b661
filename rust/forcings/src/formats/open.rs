//! Opens files of gridded data, whatever format their content is in.

use super::classic::{self, Classic};
use super::hdf5;
use super::netcdf4::NetCdf4;
use super::Container;
use crate::chunks::{ByteSource, FileSource};
use crate::{Error, Result};
use std::path::Path;
use std::sync::Arc;

/// Opens the root group of a file. Its content decides about its format, not its name.
///
/// # Errors
/// `Io` when there is no such file, `Format` when it is no NetCDF file, truncated or damaged.
pub fn open(path: impl AsRef<Path>) -> Result<Arc<dyn Container>> {
    open_group(path, None)
}

/// Opens a group of a file, such as `a/b`; `None` is the root.
///
/// # Errors
/// As [`open`], and `NotFound` when there is no such group.
pub fn open_group(path: impl AsRef<Path>, group: Option<&str>) -> Result<Arc<dyn Container>> {
    open_source(Arc::new(FileSource::open(path)?), group)
}

/// Opens a group of the file whose bytes these are.
///
/// # Errors
/// As [`open_group`].
pub fn open_source(source: Arc<dyn ByteSource>, group: Option<&str>) -> Result<Arc<dyn Container>> {
    let group = group.unwrap_or("/");
    let mut start = vec![0; source.len().min(8) as usize];
    source.read_at(0, &mut start)?;
    if start.starts_with(&classic::SIGNATURE) {
        if !group.trim_matches('/').is_empty() {
            return Err(Error::NotFound(format!(
                "{}: group {group} does not exist; a NetCDF classic file has none",
                source.path().display()
            )));
        }
        return Ok(Arc::new(Classic::open(source)?));
    }
    if has_superblock(source.as_ref())? {
        return Ok(Arc::new(NetCdf4::open(source, group)?));
    }
    let detail = match start.len() {
        0 => "the file is empty".to_string(),
        _ => format!("it is no NetCDF file (neither classic nor NetCDF-4): it starts with {}", start.escape_ascii()),
    };
    Err(Error::format(source.path(), detail))
}

/// Whether an HDF5 superblock is at the start, or behind a user block of 512 bytes doubled any number of times.
fn has_superblock(source: &dyn ByteSource) -> Result<bool> {
    let mut at = 0_u64;
    while at.checked_add(hdf5::SIGNATURE.len() as u64).is_some_and(|end| end <= source.len()) {
        let mut start = [0; 8];
        source.read_at(at, &mut start)?;
        if start == hdf5::SIGNATURE {
            return Ok(true);
        }
        at = if at == 0 { 512 } else { at.saturating_mul(2) };
    }
    Ok(false)
}
