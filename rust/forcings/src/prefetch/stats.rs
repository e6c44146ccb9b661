//! What a group counts, from its construction on; a new order resets nothing.

use crate::error::GroupState;

/// Statistics of a prefetch group, cumulative since it was built.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Seconds in which the consumer was blocked.
    pub waited_s: f64,
    /// Seconds spent decoding, summed over the workers, discarded samples included.
    pub decode_s: f64,
    /// The most bytes of decoded samples that were held for coming epochs at one moment.
    pub peak_bytes: u64,
    /// Entries of orders whose samples all became ready.
    pub epochs_decoded: u64,
    /// Samples decoded and stored.
    pub samples_decoded: u64,
    /// Samples served by one that was there already.
    pub samples_reused: u64,
    /// Entries that became ready and are larger than the memory budget.
    pub oversize_epochs: u64,
    /// Whether decoding runs beside the consumer.
    pub overlap: bool,
    /// How many epochs are held ahead at present.
    pub depth: usize,
    /// Samples written to disk.
    pub samples_spilled: u64,
    /// Samples read back from there, which count as decoded too.
    pub samples_restored: u64,
    /// Bytes written there.
    pub spilled_bytes: u64,
}

/// Where a group stands in its order, at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// Why nothing can be taken; `None` while an entry is left.
    pub state: Option<GroupState>,
    /// Entries of the present order, and how many of them were taken.
    pub entries: usize,
    /// See `entries`.
    pub taken: usize,
    /// The epoch that comes next, counted from 0.
    pub next: Option<usize>,
    /// Entries held ahead, and how many of them are finished.
    pub held: usize,
    /// See `held`.
    pub finished: usize,
    /// Bytes of samples that are decoded for entries held ahead.
    pub bytes: u64,
}

/// The part of [`Stats`] that the schedule counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Counters {
    pub(super) epochs_decoded: u64,
    pub(super) samples_decoded: u64,
    pub(super) samples_reused: u64,
    pub(super) oversize_epochs: u64,
}
