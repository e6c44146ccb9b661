//! Dataspace messages: the extents of datasets and attributes.

use super::header::parse;
use super::storage::FileBytes;
use crate::Result;
use hdf5_reader::messages::dataspace::DataspaceType;
use hdf5_reader::messages::{self, HdfMessage};

/// A dataspace: extents, and the most they may become (`None`: no bound). `None` for the null dataspace.
pub(super) type Space = Option<(Vec<u64>, Vec<Option<u64>>)>;

/// The body of a dataspace message, read.
///
/// # Errors
/// `Format` when it is damaged.
pub(super) fn dataspace(file: &FileBytes, body: &[u8]) -> Result<Space> {
    let HdfMessage::Dataspace(space) = parse(file, messages::MSG_DATASPACE, body)? else {
        return Err(file.damaged("a dataspace is damaged"));
    };
    if space.dataspace_type == DataspaceType::Null {
        return Ok(None);
    }
    let unlimited = u64::MAX >> (64 - 8 * u32::from(file.length_size.clamp(1, 8)));
    let max = match space.max_dims {
        Some(max) => max.into_iter().map(|m| (m != u64::MAX && m != unlimited).then_some(m)).collect(),
        None => space.dims.iter().copied().map(Some).collect(),
    };
    Ok(Some((space.dims, max)))
}
