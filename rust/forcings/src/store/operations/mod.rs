//! What a store does beside adding, reading and removing single series: each file is one group of operations.

mod change;
mod compact;
mod enumerate;
mod persist;
mod relations;
mod verify;

pub use compact::{CompactReport, PhysicalCompaction};
pub use enumerate::State;
pub use relations::Associations;
pub use verify::{Finding, VerifyReport};

#[cfg(test)]
pub(super) mod tests;
