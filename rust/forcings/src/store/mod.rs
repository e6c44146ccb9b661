//! The store: a pair of files, a NetCDF-4 file of arrays and an SQLite catalog of what they mean, kept consistent.

mod arrays;
pub(crate) mod catalog;
mod h5;

pub use catalog::Filter;
