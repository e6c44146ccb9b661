//! Decoded data: fields with named dimensions, coordinates, and the selections that narrow them.

mod field;

pub use field::{Dataset, Field, FieldType, Values};
