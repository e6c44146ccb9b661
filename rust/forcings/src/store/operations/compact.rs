//! Reclaiming space: sets of features that no series has are deleted, free columns are counted, or left behind with a new
//! array file.

use crate::store::session::Session;
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

/// What [`Store::compact_physical`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PhysicalCompaction {
    /// Features that were deleted because no series has their set any more.
    pub feature_sets_reclaimed: u64,
    /// The length of the array file before.
    pub bytes_before: u64,
    /// Its length now.
    pub bytes_after: u64,
}

impl Store {
    /// Deletes what is left of the features of removed series, and counts the free columns of the array file.
    ///
    /// # Errors
    /// `InvalidParameter` inside a transaction, `ReadOnlyStore`, `Closed`, and errors of the disk.
    pub fn compact(&self) -> Result<CompactReport> {
        self.shared.change(|session| {
            let feature_sets_reclaimed = sweep(session)?;
            let arrays = self.shared.arrays()?;
            arrays.settle()?;
            Ok(CompactReport { slots_reclaimed: arrays.free_columns(), feature_sets_reclaimed })
        })
    }

    /// Writes the array file anew with the arrays that series have, and puts it in the place of the old one: free columns
    /// and the arrays of removed series are gone from it. Some rows of one dataset are held at a time, and the disk holds
    /// both files meanwhile. Readers go on. What other software has put beside the arrays is not kept.
    ///
    /// # Errors
    /// `InvalidParameter` inside a transaction, `ReadOnlyStore`, `Closed`, `Integrity` and `Format` when an array cannot
    /// be read, and errors of the disk. The store is as it was then; when the last step fails, it takes no change until
    /// it is opened again, which finishes that step.
    pub fn compact_physical(&self) -> Result<PhysicalCompaction> {
        self.shared.rewrite(sweep)
    }
}

/// Deletes features that no series has, and brings everything to the disk.
fn sweep(session: &mut Session) -> Result<u64> {
    if session.in_transaction() {
        return Err(Error::invalid("compact cannot run inside a transaction; commit or roll back first"));
    }
    // Arrays of removed series are freed by a flush.
    session.flush()?;
    let reclaimed = session.apply(|change| change.catalog().sweep_features())?;
    session.flush()?;
    Ok(reclaimed)
}
