//! The groups of a reader: columns of one element type and shape, in an order that depends on the series alone.

use super::column::ColumnInfo;
use super::listed::by_owner;
use crate::array::DType;
use crate::{Error, Result};

/// The columns of a reader that share an element type and shape, and so one buffer.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    dtype: DType,
    element_shape: Vec<usize>,
    columns: Vec<ColumnInfo>,
}

impl Group {
    /// Groups columns: by type code, then by element shape; inside a group by owner id, owner category, name and features.
    pub(super) fn of(mut columns: Vec<ColumnInfo>) -> Vec<Group> {
        columns.sort_unstable_by(|a, b| {
            (a.dtype() as u8, a.element_shape()).cmp(&(b.dtype() as u8, b.element_shape())).then_with(|| by_owner(a, b))
        });
        let same = |a: &ColumnInfo, b: &ColumnInfo| (a.dtype(), a.element_shape()) == (b.dtype(), b.element_shape());
        let mut sizes: Vec<usize> = columns.chunk_by(same).map(<[_]>::len).collect();
        let mut groups = Vec::new();
        while let Some(size) = sizes.pop() {
            let mut columns = columns.split_off(columns.len() - size);
            columns.shrink_to_fit();
            let (dtype, element_shape) = (columns[0].dtype(), columns[0].element_shape().to_vec());
            groups.push(Group { dtype, element_shape, columns });
        }
        groups.reverse();
        groups
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape of one series' value at one instant; empty for a scalar.
    pub fn element_shape(&self) -> &[usize] {
        &self.element_shape
    }

    /// The series, by owner id, owner category, name and features.
    pub fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    /// Bytes of one series' value at one instant.
    pub fn element_bytes(&self) -> usize {
        self.element_shape.iter().product::<usize>() * self.dtype.width()
    }

    /// A buffer for one instant.
    ///
    /// # Errors
    /// `Integrity` when there is no memory for it.
    pub(super) fn buffer(&self) -> Result<Vec<u8>> {
        let n = self.columns.len();
        let block = self.element_shape.iter().try_fold(self.dtype.width(), |block, n| block.checked_mul(*n));
        let len = block.and_then(|block| block.checked_mul(n));
        let mut buffer = Vec::new();
        len.and_then(|len| buffer.try_reserve_exact(len).ok().map(|()| len))
            .map(|len| buffer.resize(len, 0))
            .ok_or_else(|| {
                Error::Integrity(format!("there is no memory for {n} columns of {:?}", self.element_shape))
            })?;
        Ok(buffer)
    }
}
