//! What the groups of this interface deliver of a member: datasets of ours, or a value of the caller's.

use crate::host::HostValue;
use forcings::dataset::Dataset;

/// The data of a member in an epoch.
pub(crate) enum Payload {
    /// One dataset, or one for each window of the group.
    Data(Vec<Dataset>),
    /// What the caller has made.
    Host(HostValue),
}

impl Payload {
    pub(crate) fn datasets(&self) -> &[Dataset] {
        match self {
            Payload::Data(datasets) => datasets,
            Payload::Host(_) => &[],
        }
    }

    /// The number that the caller gave its value; 0 for data of ours.
    pub(crate) fn token(&self) -> u64 {
        match self {
            Payload::Data(_) => 0,
            Payload::Host(value) => value.token(),
        }
    }
}
