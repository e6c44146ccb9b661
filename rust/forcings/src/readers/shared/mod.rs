//! Reading for any number of threads at once, by the plan of a reader but not in its buffers: every read fills those that
//! its caller brings.
//!
//! `kept` holds what was decoded last, so that a sweep decodes every chunk once whoever asks; `rows` reads columns and
//! variables through it; `series` is what a `StaticReader` gives to a provider. Its like for forecasts lies with them.

mod kept;
mod rows;
mod series;
mod tools;

pub(super) use kept::Kept;
pub(super) use rows::{SharedColumns, SharedVariable};
pub(crate) use series::SharedSeries;
pub(super) use tools::{Shelf, Tools};
