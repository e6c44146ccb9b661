//! Windows cut out of a regular series, as a derived forecast is read.

use crate::array::{byte_len, Array};
use crate::series::Windows;
use crate::{Error, Result};
use std::ops::Range;

/// Which rows of the series the windows have: each has `steps` rows, and starts `stride` rows after the one before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    pub(super) steps: usize,
    stride: usize,
}

impl Cut {
    /// How these windows lie on rows that are one resolution apart.
    ///
    /// # Errors
    /// `InvalidParameter` when they do not.
    pub(super) fn of(windows: &Windows) -> Result<Self> {
        Ok(Cut { steps: windows.steps()?, stride: windows.stride()? })
    }

    /// The rows that the windows of `range` have; `None` when there are not as many rows as `length`.
    pub(super) fn rows(&self, range: &Range<usize>, length: usize) -> Option<Range<usize>> {
        let start = range.start.checked_mul(self.stride)?;
        let end = match range.end.checked_sub(1) {
            Some(last) if !range.is_empty() => last.checked_mul(self.stride)?.checked_add(self.steps)?,
            _ => start,
        };
        (end <= length).then_some(start..end)
    }

    /// The first `count` windows of `rows`, as `[steps, windows, *element_shape]`.
    ///
    /// # Errors
    /// `Integrity` when there are fewer rows, or more windows than fit into memory.
    pub(super) fn windows(&self, rows: &Array, first: usize, count: usize) -> Result<Array> {
        let (&length, element_shape) =
            rows.shape().split_first().ok_or_else(|| Error::Integrity("a series has no axis".into()))?;
        let taken = self.rows(&(0..count), length.saturating_sub(first));
        let taken = taken.ok_or_else(|| Error::Integrity(format!("{length} rows are too few for {count} windows")))?;
        let block = byte_len(rows.dtype(), element_shape)?;
        let shape: Vec<usize> = [self.steps, count].iter().chain(element_shape).copied().collect();
        let len = byte_len(rows.dtype(), &shape)?;
        let mut bytes = Vec::new();
        let no_memory = |_| Error::Integrity(format!("there is no memory for {count} windows of {} steps", self.steps));
        bytes.try_reserve_exact(len).map_err(no_memory)?;
        let rows_bytes = &rows.bytes()[first * block..][..taken.len() * block];
        for step in 0..self.steps {
            for window in 0..count {
                bytes.extend_from_slice(&rows_bytes[(window * self.stride + step) * block..][..block]);
            }
        }
        Array::new(rows.dtype(), shape, bytes)
    }
}
