//! Readers: the columnar way through a store. A reader is a plan that is built once over a filter; then every read
//! fills the same buffers with the values of all its series at one instant.

mod coherence;
mod cohort;
mod columns;
mod forecast;
mod rows;
mod static_reader;

pub use cohort::Group;
pub use forecast::{ForecastEntry, ForecastReader, ForecastSlot, Timeline};
pub use static_reader::StaticReader;

#[cfg(test)]
mod tests;
