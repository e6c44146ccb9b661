//! Time-dependent data for solvers.
//!
//! A [`store`] keeps time series in a pair of files (NetCDF-4 arrays, SQLite catalog); [`readers`] walk it column by
//! column; a [`provider`] answers "the data at time t" over files or over a reader; a [`prefetch`] group decodes the
//! coming epochs on native threads while the solver runs, in any order.

pub mod array;
pub mod cache;
pub mod chunks;
pub mod dataset;
pub mod error;
pub mod formats;
pub mod prefetch;
pub mod provider;
pub mod readers;
pub mod series;
pub mod store;
pub mod time;

pub use error::{Error, ErrorKind, Result};
