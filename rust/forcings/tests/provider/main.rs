//! Providers over files that netCDF-C wrote.

mod brackets;
mod damage;
mod real;
mod remote;
mod rows;
mod samples;
mod support;
mod times;
mod values;
mod windows;
