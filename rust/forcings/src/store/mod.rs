//! A store of time series: a NetCDF-4 file of arrays and an SQLite catalog of what they mean.

mod arrays;
mod h5;
