//! One error type for the whole crate, and the stable number of each kind that the C interface hands out.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The result of every fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a [`PrefetchGroup`](crate::prefetch) refused a call. Epochs count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupState {
    /// No order was started.
    NotStarted,
    /// Every entry of the order was taken.
    Exhausted,
    /// The order was cancelled.
    Cancelled,
    /// An entry raised its stored error; `next` is the epoch of the entry behind it.
    Failed {
        /// The epoch of the entry that follows the failed one, if the order has one.
        next: Option<usize>,
    },
    /// Another epoch is the next entry of the order.
    WrongEpoch {
        /// The epoch that was asked for.
        asked: usize,
        /// The epoch that comes next.
        expected: usize,
    },
    /// The group was closed.
    Closed,
}

/// Code of the program around the library failed, in a way that the program itself can tell best.
#[derive(Debug, Clone)]
pub struct HostError {
    /// What went wrong, for those who know nothing of the cause.
    pub text: String,
    /// What the program wants back where the error is raised, such as an exception of its language.
    pub cause: Arc<dyn Any + Send + Sync>,
}

impl std::fmt::Display for HostError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Everything that can go wrong. Texts name the thing at fault and the way out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument breaks a rule.
    #[error("{0}")]
    InvalidParameter(String),
    /// No such series, variable, array or file content.
    #[error("{0}")]
    NotFound(String),
    /// The identity is already in the catalog.
    #[error("{0}")]
    DuplicateTimeSeries(String),
    /// The pair is already associated.
    #[error("{0}")]
    DuplicateAssociation(String),
    /// An instant lies outside a grid, or between its steps.
    #[error("{0}")]
    OffGrid(String),
    /// A window or another selection does not fit the data.
    #[error("{0}")]
    Selection(String),
    /// A file is not what it should be: another format, truncated, damaged, or hostile.
    #[error("{path}: {detail}")]
    Format {
        /// The file, or another name for the source of the bytes.
        path: PathBuf,
        /// What is wrong with it, and where.
        detail: String,
    },
    /// Stored state contradicts itself.
    #[error("{0}")]
    Integrity(String),
    /// The store was written in another version of the format.
    #[error("the store has data format version {found}, this library reads {expected}")]
    IncompatibleFormat {
        /// The version in the file, or `unspecified`.
        found: String,
        /// The versions this library reads.
        expected: String,
    },
    /// The data need a feature that this build lacks (a filter, a type, a scheme).
    #[error("{0}")]
    Unsupported(String),
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// SQLite refused.
    #[error("catalog {}: {source}", path.display())]
    Catalog {
        /// The catalog file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// The HDF5 library refused.
    #[error("HDF5: {0}")]
    Hdf5(String),
    /// Offline, and the resource is not in the cache.
    #[error("{url} is not in the cache (key {key}) and the cache is offline")]
    CacheMiss {
        /// The resolved address.
        url: String,
        /// Its cache key.
        key: String,
    },
    /// A remote source could not be asked, or its answer not be used.
    #[error("{url} could not be fetched: {detail}")]
    Transport {
        /// The resolved address.
        url: String,
        /// What each of the sources said.
        detail: String,
    },
    /// The store was opened for reading.
    #[error("the store {} is open for reading only; open it without read_only to change it", path.display())]
    ReadOnlyStore {
        /// The array file of the store.
        path: PathBuf,
    },
    /// Another handle holds the store.
    #[error("{0}")]
    StoreInUse(String),
    /// A file is already there.
    #[error("{} already exists; pass overwrite to replace the store that it holds", path.display())]
    StoreExists {
        /// The array file of the store.
        path: PathBuf,
    },
    /// The object was closed.
    #[error("this {0} is closed")]
    Closed(&'static str),
    /// A prefetch group refused the call in its present state.
    #[error("{}", group_text(.0))]
    Group(GroupState),
    /// A transform or a member that the program around the library has failed.
    #[error("{0}")]
    Host(HostError),
    /// A bug of this library, caught at its boundary.
    #[error("internal error: {0}")]
    Panic(String),
}

/// The kind of an [`Error`], with the status number of the C interface. Numbers are never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i32)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each kind is documented at its variant of `Error`")]
pub enum ErrorKind {
    InvalidParameter = 1,
    NotFound = 2,
    DuplicateTimeSeries = 3,
    DuplicateAssociation = 4,
    OffGrid = 5,
    Selection = 6,
    Format = 20,
    Integrity = 21,
    IncompatibleFormat = 22,
    Unsupported = 23,
    Io = 40,
    Catalog = 41,
    Hdf5 = 42,
    CacheMiss = 43,
    Transport = 44,
    ReadOnlyStore = 60,
    StoreInUse = 61,
    StoreExists = 62,
    Closed = 63,
    Group = 64,
    Host = 65,
    Panic = 99,
}

impl Error {
    /// The kind, which callers match on instead of the text.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::InvalidParameter(_) => ErrorKind::InvalidParameter,
            Error::NotFound(_) => ErrorKind::NotFound,
            Error::DuplicateTimeSeries(_) => ErrorKind::DuplicateTimeSeries,
            Error::DuplicateAssociation(_) => ErrorKind::DuplicateAssociation,
            Error::OffGrid(_) => ErrorKind::OffGrid,
            Error::Selection(_) => ErrorKind::Selection,
            Error::Format { .. } => ErrorKind::Format,
            Error::Integrity(_) => ErrorKind::Integrity,
            Error::IncompatibleFormat { .. } => ErrorKind::IncompatibleFormat,
            Error::Unsupported(_) => ErrorKind::Unsupported,
            Error::Io { .. } => ErrorKind::Io,
            Error::Catalog { .. } => ErrorKind::Catalog,
            Error::Hdf5(_) => ErrorKind::Hdf5,
            Error::CacheMiss { .. } => ErrorKind::CacheMiss,
            Error::Transport { .. } => ErrorKind::Transport,
            Error::ReadOnlyStore { .. } => ErrorKind::ReadOnlyStore,
            Error::StoreInUse(_) => ErrorKind::StoreInUse,
            Error::StoreExists { .. } => ErrorKind::StoreExists,
            Error::Closed(_) => ErrorKind::Closed,
            Error::Group(_) => ErrorKind::Group,
            Error::Host(_) => ErrorKind::Host,
            Error::Panic(_) => ErrorKind::Panic,
        }
    }

    /// An [`Error::InvalidParameter`].
    pub fn invalid(text: impl Into<String>) -> Self {
        Error::InvalidParameter(text.into())
    }

    /// An [`Error::Io`] about `path`.
    pub fn io(path: impl AsRef<Path>, source: std::io::Error) -> Self {
        Error::Io { path: path.as_ref().to_path_buf(), source }
    }

    /// An [`Error::Format`] about `path`.
    pub fn format(path: impl AsRef<Path>, detail: impl Into<String>) -> Self {
        Error::Format { path: path.as_ref().to_path_buf(), detail: detail.into() }
    }
}

fn group_text(state: &GroupState) -> String {
    match state {
        GroupState::NotStarted => "no order was started; call start first".into(),
        GroupState::Exhausted => "every entry of the order was taken; call start again".into(),
        GroupState::Cancelled => "the order was cancelled; call start again".into(),
        GroupState::Failed { next: Some(k) } => {
            format!("the order ended with an error; call start again, from epoch {k} to go on behind it")
        }
        GroupState::Failed { next: None } => "the order ended with an error at its last entry; call start again".into(),
        GroupState::WrongEpoch { asked, expected } => {
            format!("epoch {asked} was asked for, but epoch {expected} comes next in the order")
        }
        GroupState::Closed => "this prefetch group is closed".into(),
    }
}
