//! Providers over files that netCDF-C wrote.

mod brackets;
mod damage;
#[path = "../../src/formats/hdf5/tests/library.rs"]
mod library;
mod random_files;
mod real;
mod remote;
mod rows;
mod samples;
mod support;
#[path = "../../src/store/tests/rows/table.rs"]
mod table;
mod times;
mod values;
mod windowed_reads;
mod windows;
