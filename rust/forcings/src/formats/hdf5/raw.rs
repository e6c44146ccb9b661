//! The stored elements of a small dataset, whole: what strings are read from.

use super::Hdf5Dataset;
use crate::chunks::Layout;
use crate::Result;

/// All elements, row-major, in file byte order.
///
/// # Errors
/// `Format` when they cannot all be there, and what reading them gives.
pub(super) fn read(dataset: &Hdf5Dataset) -> Result<Vec<u8>> {
    let layout = dataset.layout()?;
    let total = dataset.total_bytes()?;
    if total > dataset.plausible_bytes() {
        return Err(dataset.damaged(&format!("{total} bytes of elements are more than the file can hold")));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(total as usize).map_err(|_| dataset.damaged("no memory for its elements"))?;
    let width = dataset.element_width();
    match dataset.fill() {
        Some(fill) => (0..total / width as u64).for_each(|_| bytes.extend_from_slice(fill)),
        None => bytes.resize(total as usize, 0),
    }
    match layout {
        Layout::Unallocated => {}
        Layout::Compact(data) => bytes.copy_from_slice(&data[..total as usize]),
        Layout::Contiguous { offset } => dataset.file().source().read_at(offset, &mut bytes)?,
        Layout::Chunked(_) | Layout::Records { .. } => {
            return Err(dataset.unsupported(&format!("strings of {} in chunks", dataset.name())))
        }
    }
    Ok(bytes)
}
