//! Providers: the data at a time, on a known list of times.

mod sampler;

pub use sampler::Sampler;
