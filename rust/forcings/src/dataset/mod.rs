//! Decoded data: fields with named dimensions, coordinates, the selections that narrow them, and the rules by which the
//! stored numbers and characters of a file become values.

mod attributes;
mod convert;
mod coord_window;
mod cut;
mod decode;
mod field;
pub(crate) mod gather;
mod packing;
mod plan;
mod read;
pub(crate) mod resolve;
pub(crate) mod reuse;
mod schema;
mod select;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod text;

pub use coord_window::CoordWindow;
pub use decode::{decode, DecodeOptions, FloatType, Request};
pub(crate) use decode::{decode_parts, Bracket, Part, Second};
pub use field::{Dataset, Field, FieldType, Values};
pub use resolve::Records;
pub use schema::Schema;
pub use select::{AxisSelect, DimWindow, Selection};
