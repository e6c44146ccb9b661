//! What decoding knows of a file: dimensions, variables, attributes, layouts. One reader per container format stands
//! behind [`Container`]; none of them reads values.

mod classic;
pub(crate) mod hdf5;
mod header;
mod netcdf4;
mod numbers;
mod open;
pub mod zarr;

pub use header::{Attribute, AttributeValue, ByteOrder, Dimension, ElementType, NumericType, Variable};
pub use open::{open, open_group, open_source};

use crate::chunks::{ByteSource, Layout};
use crate::Result;
use std::sync::Arc;

/// What the names, attributes and numbers of a container mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conventions {
    /// Those of NetCDF and CF: a variable named like its dimension is a coordinate, packed numbers are unpacked, missing
    /// ones masked, and an axis is one of time by its units.
    Cf,
    /// None: every variable is data, every number is what is stored, and an axis is one of time by its name alone.
    Plain,
}

/// An open file of gridded data. Headers are parsed when it is opened; layouts when first asked for.
pub trait Container: Send + Sync {
    /// The dimensions of the group that is read, in file order.
    fn dimensions(&self) -> &[Dimension];

    /// The variables of that group, in file order; unreadable ones are listed with their problem.
    fn variables(&self) -> &[Variable];

    /// The attributes of that group.
    fn attributes(&self) -> &[Attribute];

    /// Where the elements of `variables()[variable]` lie.
    ///
    /// # Errors
    /// `Format` when the index of its chunks is damaged, `Unsupported` for a layout that cannot be read by offset.
    fn layout(&self, variable: usize) -> Result<Arc<Layout>>;

    /// The strings of a variable of type [`ElementType::String`], in row-major order, as bytes.
    ///
    /// # Errors
    /// `Format` when the heap that holds them is damaged.
    fn strings(&self, variable: usize) -> Result<Vec<Vec<u8>>>;

    /// The bytes that layouts point into; there are none where layouts hold objects of a store.
    fn source(&self) -> &Arc<dyn ByteSource>;

    /// How it is to be read.
    fn conventions(&self) -> Conventions {
        Conventions::Cf
    }

    /// Checks, where a container is more than one file, that its headers are still those that were read.
    ///
    /// # Errors
    /// `Format` when they are not, `Io`.
    fn check_unchanged(&self) -> Result<()> {
        Ok(())
    }
}
