//! What a prefetch group needs of a member: its times, and the data at one of them.

use crate::dataset::Dataset;
use crate::Result;

/// Anything that answers `sample_at(t)` on a known list of times.
///
/// An implementation is a function of time: the same `t` always gives the same anchor, and times with one anchor give
/// the same data, bit for bit. Calls come from many threads at once.
pub trait Sampler: Send + Sync {
    /// The times at which the data change, ascending and finite; empty if they never do.
    fn refresh_times(&self) -> &[f64];

    /// The entry of [`refresh_times`](Sampler::refresh_times) whose data are in force at `t`.
    ///
    /// # Errors
    /// `OffGrid` or another kind when there are no data at `t`, as before the first entry.
    fn anchor(&self, t: f64) -> Result<f64>;

    /// The data in force at `t`.
    ///
    /// # Errors
    /// Those of [`anchor`](Sampler::anchor), and whatever reading and decoding may raise.
    fn sample_at(&self, t: f64) -> Result<Dataset>;

    /// The name of the calendar in which the times are counted; `None` where they are numbers in the caller's own unit.
    fn calendar(&self) -> Option<&str>;
}
