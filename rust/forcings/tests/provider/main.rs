//! Providers over files that netCDF-C wrote.

mod damage;
mod real;
mod samples;
mod support;
mod times;
mod windows;
