//! Providers over files that netCDF-C wrote.

mod damage;
#[path = "../../src/formats/hdf5/tests/library.rs"]
mod library;
mod random_files;
mod real;
mod remote;
mod samples;
mod support;
mod times;
mod windowed_reads;
mod windows;
