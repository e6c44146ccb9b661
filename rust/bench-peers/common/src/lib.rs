//! What the executables of the peers share: the values that they write, the checksum of what they read, and
//! their one way to take a request and report times.

pub mod checksum;
pub mod generator;
pub mod report;

pub use checksum::{bits_of_bytes, bits_of_f64, Checksum};
pub use report::{serve, Failure, Run};
