//! The stored elements of a small dataset, whole: what strings are read from.

use super::Hdf5Dataset;
use crate::chunks::{read_bytes_into, AxisRead, ReadRequest};
use crate::Result;

/// All elements in this shape, row-major, in file byte order.
///
/// # Errors
/// `Format` when the file cannot hold so many, and what reading them gives.
pub(super) fn read(dataset: &Hdf5Dataset, shape: &[u64]) -> Result<Vec<u8>> {
    let layout = dataset.layout_in(shape)?;
    let total = dataset.total_bytes(shape)?;
    if total > dataset.plausible_bytes() {
        return Err(dataset.damaged(&format!("{total} bytes of elements are more than the file can hold")));
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(total as usize).map_err(|_| dataset.damaged("no memory for its elements"))?;
    bytes.resize(total as usize, 0);
    let request = ReadRequest {
        source: dataset.file().source().as_ref(),
        layout: &layout,
        shape,
        element_width: dataset.element_width(),
        fill: dataset.fill(),
        axes: &vec![AxisRead::All; shape.len()],
        what: &format!("variable {}", dataset.name()),
    };
    read_bytes_into(&request, &mut bytes, 1)?;
    Ok(bytes)
}
