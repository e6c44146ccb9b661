//! Providers over files that netCDF-C wrote.

mod damage;
mod real;
mod remote;
mod samples;
mod support;
mod times;
mod windows;
