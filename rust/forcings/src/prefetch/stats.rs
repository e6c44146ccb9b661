//! What a group counts, from its construction on; a new order resets nothing.

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

/// The part of [`Stats`] that the schedule counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Counters {
    pub(super) epochs_decoded: u64,
    pub(super) samples_decoded: u64,
    pub(super) samples_reused: u64,
    pub(super) oversize_epochs: u64,
}
