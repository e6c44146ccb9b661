//! What a group delivers: one sample per member.

use crate::dataset::Dataset;
use std::ops::Index;
use std::sync::Arc;

/// A member's data in an epoch. They are shared and read-only: epochs with one anchor may get the same object.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The member's `sample_at` of the begin of the epoch.
    pub data: Arc<Dataset>,
    /// The entry of the member's `refresh_times` that is in force.
    pub anchor: f64,
    /// Whether the anchor differs from the one this member had in the entry before; always true in the first one.
    pub changed: bool,
}

/// The samples of an epoch, one per member, in byte-wise order of the keys.
#[derive(Debug, Clone)]
pub struct EpochSample {
    epoch: usize,
    time: f64,
    keys: Arc<[Arc<str>]>,
    samples: Vec<Sample>,
}

impl EpochSample {
    pub(super) fn new(epoch: usize, time: f64, keys: Arc<[Arc<str>]>, samples: Vec<Sample>) -> Self {
        debug_assert_eq!(keys.len(), samples.len());
        EpochSample { epoch, time, keys, samples }
    }

    /// The epoch, counted from 0.
    pub fn epoch(&self) -> usize {
        self.epoch
    }

    /// The time at which the epoch begins, in the unit of the members.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The number of members; never 0.
    #[allow(clippy::len_without_is_empty, reason = "a group has at least one member")]
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// The sample of the member with this key.
    pub fn get(&self, key: &str) -> Option<&Sample> {
        let at = self.keys.binary_search_by(|k| (**k).cmp(key)).ok()?;
        Some(&self.samples[at])
    }

    /// Keys and samples, in byte-wise order of the keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Sample)> {
        self.keys.iter().map(|key| &**key).zip(&self.samples)
    }
}

impl Index<&str> for EpochSample {
    type Output = Sample;

    /// The sample of a member.
    ///
    /// # Panics
    /// When no member has this key.
    fn index(&self, key: &str) -> &Sample {
        self.get(key).unwrap_or_else(|| panic!("the prefetch group has no member {key:?}"))
    }
}
