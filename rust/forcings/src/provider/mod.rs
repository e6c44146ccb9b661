//! Providers: the data at a time, on a known list of times.
//!
//! [`Sampler`] is what a prefetch group needs of one; [`Provider`] is the one over files, local or behind URLs.

mod axis;
mod cadence;
mod files;
mod options;
mod pool;
mod remote;
mod sampler;
mod take;
mod time_unit;
mod windows;

pub use files::Provider;
pub use options::ProviderOptions;
pub use sampler::Sampler;
