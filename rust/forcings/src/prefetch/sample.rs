//! What a group delivers: one sample per member.

use crate::dataset::Dataset;
use std::ops::Index;
use std::sync::Arc;

/// A member's data in an epoch. They are shared and read-only: epochs with one anchor may get the same object.
#[derive(Debug)]
pub struct Sample<T = Dataset> {
    /// The member's `sample_at` of the begin of the epoch, or its samples under the windows of the group, or what the
    /// group's transform made of them.
    pub data: Arc<T>,
    /// The entry of the member's `refresh_times` that is in force.
    pub anchor: f64,
    /// Whether the anchor differs from the one this member had in the entry before; always true in the first one.
    pub changed: bool,
}

impl<T> Clone for Sample<T> {
    fn clone(&self) -> Self {
        Sample { data: self.data.clone(), anchor: self.anchor, changed: self.changed }
    }
}

/// The samples of an epoch, one per member, in byte-wise order of the keys.
#[derive(Debug)]
pub struct EpochSample<T = Dataset> {
    epoch: usize,
    time: f64,
    keys: Arc<[Arc<str>]>,
    samples: Vec<Sample<T>>,
}

impl<T> Clone for EpochSample<T> {
    fn clone(&self) -> Self {
        EpochSample { keys: self.keys.clone(), samples: self.samples.clone(), ..*self }
    }
}

impl<T> EpochSample<T> {
    pub(super) fn new(epoch: usize, time: f64, keys: Arc<[Arc<str>]>, samples: Vec<Sample<T>>) -> Self {
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
    pub fn get(&self, key: &str) -> Option<&Sample<T>> {
        let at = self.keys.binary_search_by(|k| (**k).cmp(key)).ok()?;
        Some(&self.samples[at])
    }

    /// Keys and samples, in byte-wise order of the keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Sample<T>)> {
        self.keys.iter().map(|key| &**key).zip(&self.samples)
    }
}

impl<T> Index<&str> for EpochSample<T> {
    type Output = Sample<T>;

    /// The sample of a member.
    ///
    /// # Panics
    /// When no member has this key.
    fn index(&self, key: &str) -> &Sample<T> {
        self.get(key).unwrap_or_else(|| panic!("the prefetch group has no member {key:?}"))
    }
}
