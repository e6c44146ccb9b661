//! The store: a pair of files, arrays and catalog, kept consistent.

pub(crate) mod catalog;

pub use catalog::Filter;
