//! Providers: the data at a time, on a known list of times.
//!
//! [`Sampler`] is what a prefetch group needs of one; [`Provider`] is the one over files, local or behind URLs,
//! [`ReaderProvider`] the one over a reader of a store.

mod axis;
mod cadence;
mod checks;
mod columns;
mod files;
mod forecast_source;
mod options;
mod pool;
mod reader_provider;
mod remote;
mod sampler;
mod series_source;
mod take;
mod time_unit;
mod windows;

pub use files::Provider;
pub use options::ProviderOptions;
pub use reader_provider::ReaderProvider;
pub use sampler::Sampler;
