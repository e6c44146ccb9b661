//! The status numbers, for the header. They are the numbers of the core's error kinds.

use forcings::ErrorKind;

/// What a function returns. Numbers are never used again for something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub enum ForcingsStatus {
    /// The call succeeded.
    Ok = 0,
    /// An argument breaks a rule.
    InvalidParameter = 1,
    /// There is no such series, variable, array or file content.
    NotFound = 2,
    /// A series of this identity is in the store.
    DuplicateTimeSeries = 3,
    /// The pair is already associated.
    DuplicateAssociation = 4,
    /// An instant lies outside a grid, or between its steps.
    OffGrid = 5,
    /// A window or another selection does not fit the data.
    Selection = 6,
    /// A file is not what it should be.
    Format = 20,
    /// Stored state contradicts itself.
    Integrity = 21,
    /// The store was written in another version of the format.
    IncompatibleFormat = 22,
    /// The data need a feature that the library lacks.
    Unsupported = 23,
    /// The operating system refused.
    Io = 40,
    /// SQLite refused.
    Catalog = 41,
    /// The HDF5 library refused.
    Hdf5 = 42,
    /// The cache is offline and does not hold the resource.
    CacheMiss = 43,
    /// A remote source could not be asked, or its answer not be used.
    Transport = 44,
    /// The store was opened for reading only.
    ReadOnlyStore = 60,
    /// Another handle holds the store.
    StoreInUse = 61,
    /// There is a store already.
    StoreExists = 62,
    /// The object was closed.
    Closed = 63,
    /// A prefetch group refused the call in its present state.
    Group = 64,
    /// The caller's own code failed: what it passed to `forcings_host_fail`.
    Host = 65,
    /// A bug of the library, caught at its boundary.
    Internal = 99,
}

/// Each status beside the kind whose number it is.
const PAIRS: [(ForcingsStatus, ErrorKind); 22] = [
    (ForcingsStatus::InvalidParameter, ErrorKind::InvalidParameter),
    (ForcingsStatus::NotFound, ErrorKind::NotFound),
    (ForcingsStatus::DuplicateTimeSeries, ErrorKind::DuplicateTimeSeries),
    (ForcingsStatus::DuplicateAssociation, ErrorKind::DuplicateAssociation),
    (ForcingsStatus::OffGrid, ErrorKind::OffGrid),
    (ForcingsStatus::Selection, ErrorKind::Selection),
    (ForcingsStatus::Format, ErrorKind::Format),
    (ForcingsStatus::Integrity, ErrorKind::Integrity),
    (ForcingsStatus::IncompatibleFormat, ErrorKind::IncompatibleFormat),
    (ForcingsStatus::Unsupported, ErrorKind::Unsupported),
    (ForcingsStatus::Io, ErrorKind::Io),
    (ForcingsStatus::Catalog, ErrorKind::Catalog),
    (ForcingsStatus::Hdf5, ErrorKind::Hdf5),
    (ForcingsStatus::CacheMiss, ErrorKind::CacheMiss),
    (ForcingsStatus::Transport, ErrorKind::Transport),
    (ForcingsStatus::ReadOnlyStore, ErrorKind::ReadOnlyStore),
    (ForcingsStatus::StoreInUse, ErrorKind::StoreInUse),
    (ForcingsStatus::StoreExists, ErrorKind::StoreExists),
    (ForcingsStatus::Closed, ErrorKind::Closed),
    (ForcingsStatus::Group, ErrorKind::Group),
    (ForcingsStatus::Host, ErrorKind::Host),
    (ForcingsStatus::Internal, ErrorKind::Panic),
];

const _: () = {
    let mut i = 0;
    while i < PAIRS.len() {
        assert!(PAIRS[i].0 as i32 == PAIRS[i].1 as i32);
        i += 1;
    }
};
