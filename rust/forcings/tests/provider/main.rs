//! Providers over files that netCDF-C wrote.

mod damage;
mod samples;
mod support;
mod times;
mod windows;
