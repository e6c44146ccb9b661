//! Zarr stores: written by hand here, or by zarr-python.

mod access;
mod hostile;
mod http;
mod python;
mod random;
mod records;
mod selections;
mod support;
mod values;
