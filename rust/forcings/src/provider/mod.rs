//! Providers: the data at a time, on a known list of times.
//!
//! [`Sampler`] is what a prefetch group needs of one; [`Provider`] is the one over files.

mod axis;
mod cadence;
mod options;
mod pool;
#[allow(clippy::module_inception, reason = "the module is named after its one type")]
mod provider;
mod sampler;
mod windows;

pub use options::ProviderOptions;
pub use provider::Provider;
pub use sampler::Sampler;
