//! Readers: the columnar way through a store. A reader is a plan that is built once over a filter; then every read
//! fills the same buffers with the values of all its series at one instant.

mod cohort;
mod column;
mod columns;
mod forecast;
mod group;
mod link;
mod listed;
mod options;
mod plan;
mod readahead;
mod rows;
mod shared;
mod static_reader;
mod timeline;
mod variable;
mod window;

pub use column::ColumnInfo;
pub(crate) use forecast::SharedForecasts;
pub use forecast::{ForecastEntry, ForecastReader, ForecastSlot, ForecastTimeline};
pub use group::Group;
pub use options::StaticReaderOptions;
pub use readahead::DEFAULT_READAHEAD;
pub(crate) use shared::SharedSeries;
pub use static_reader::StaticReader;

#[cfg(test)]
mod tests;
