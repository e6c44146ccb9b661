//! Epochs decoded ahead of their consumer, in any declared order.
//!
//! A [`PrefetchGroup`] holds members, each of which answers `sample_at(t)` on its own list of times. The union of the
//! lists gives the epochs; an [`Order`] says how they will be taken; worker threads decode what comes next while the
//! consumer computes. What is decoded when is decided by a schedule that knows no thread and no clock; the threads
//! serve it.

mod alive;
mod budget;
mod builder;
mod depth;
#[cfg(all(test, feature = "shuttle"))]
mod explored;
mod fetch;
mod group;
mod host;
mod orders;
mod plan;
mod sample;
mod schedule;
mod shared;
mod spill;
mod stats;
pub(crate) mod sync;
#[cfg(all(test, not(feature = "shuttle")))]
mod tests;
mod trace;
mod waker;

pub use builder::PrefetchGroupBuilder;
pub use group::PrefetchGroup;
pub use host::{HostJob, HostWork};
pub use orders::Order;
pub use sample::{EpochSample, Sample};
pub use stats::{Snapshot, Stats};
pub use trace::{Activity, Interval};
pub use waker::Waker;
