//! Reclaiming space: sets of features that no series has are deleted, free columns are counted.

use crate::store::Store;
use crate::{Error, Result};

/// What [`Store::compact`] found and did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CompactReport {
    /// Columns of the array file that hold no array and are filled before the file grows. Those of removed series count,
    /// and those that were never used. The file does not shrink.
    pub slots_reclaimed: u64,
    /// Features that were deleted because no series has their set any more.
    pub feature_sets_reclaimed: u64,
}

impl Store {
    /// Deletes what is left of the features of removed series, and counts the free columns of the array file.
    ///
    /// # Errors
    /// `InvalidParameter` inside a transaction, `ReadOnlyStore`, `Closed`, and errors of the disk.
    pub fn compact(&self) -> Result<CompactReport> {
        self.shared.change(|session| {
            if session.in_transaction() {
                return Err(Error::invalid("compact cannot run inside a transaction; commit or roll back first"));
            }
            // Arrays of removed series are freed by a flush.
            session.flush()?;
            let feature_sets_reclaimed = session.apply(|change| change.catalog().sweep_features())?;
            session.flush()?;
            Ok(CompactReport { slots_reclaimed: self.shared.arrays()?.free_columns(), feature_sets_reclaimed })
        })
    }
}
