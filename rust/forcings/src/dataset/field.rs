//! A decoded variable and a set of them.

use super::reuse;
use crate::formats::Attribute;
use std::mem::take;
use std::sync::Arc;

/// The element types of decoded fields. The numbers are part of the C interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names say it")]
pub enum FieldType {
    F64 = 0,
    F32 = 1,
    I64 = 2,
    I32 = 3,
    U64 = 4,
    Bool = 5,
    String = 6,
}

/// The elements of a field, row-major.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Values {
    F64(Vec<f64>),
    F32(Vec<f32>),
    I64(Vec<i64>),
    I32(Vec<i32>),
    U64(Vec<u64>),
    Bool(Vec<u8>),
    String(Vec<String>),
}

/// A decoded variable: named dimensions, slowest first, and its elements.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name in the file.
    pub name: Arc<str>,
    /// The names of its dimensions, slowest first.
    pub dims: Vec<Arc<str>>,
    /// Its extents, slowest first; empty for a scalar.
    pub shape: Vec<usize>,
    /// Its elements: `product(shape)` of them.
    pub values: Values,
    /// The attributes of the variable, as in the file.
    pub attributes: Arc<[Attribute]>,
}

/// What one sample holds: data variables and coordinates, each in file order. Samples may share coordinates.
#[derive(Debug, Clone, Default)]
pub struct Dataset {
    /// The data variables.
    pub variables: Vec<Field>,
    /// The coordinates: one-dimensional variables named like their dimension, and for the columns of a store what tells
    /// them apart.
    pub coords: Vec<Arc<Field>>,
    /// The attributes of the file.
    pub attributes: Arc<[Attribute]>,
}

impl Values {
    /// The element type.
    pub fn field_type(&self) -> FieldType {
        match self {
            Values::F64(_) => FieldType::F64,
            Values::F32(_) => FieldType::F32,
            Values::I64(_) => FieldType::I64,
            Values::I32(_) => FieldType::I32,
            Values::U64(_) => FieldType::U64,
            Values::Bool(_) => FieldType::Bool,
            Values::String(_) => FieldType::String,
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Values::F64(v) => v.len(),
            Values::F32(v) => v.len(),
            Values::I64(v) => v.len(),
            Values::I32(v) => v.len(),
            Values::U64(v) => v.len(),
            Values::Bool(v) => v.len(),
            Values::String(v) => v.len(),
        }
    }

    /// Whether there is not one element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the elements; strings count their UTF-8 length.
    pub fn byte_len(&self) -> usize {
        match self {
            Values::F64(v) => v.len() * 8,
            Values::F32(v) => v.len() * 4,
            Values::I64(v) => v.len() * 8,
            Values::I32(v) => v.len() * 4,
            Values::U64(v) => v.len() * 8,
            Values::Bool(v) => v.len(),
            Values::String(v) => v.iter().map(String::len).sum(),
        }
    }

    /// Equality bit for bit: NaN equals the same NaN, and the two zeros differ.
    pub fn same_bits(&self, other: &Values) -> bool {
        match (self, other) {
            (Values::F64(a), Values::F64(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
            }
            (Values::F32(a), Values::F32(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
            }
            (Values::I64(a), Values::I64(b)) => a == b,
            (Values::I32(a), Values::I32(b)) => a == b,
            (Values::U64(a), Values::U64(b)) => a == b,
            (Values::Bool(a), Values::Bool(b)) => a == b,
            (Values::String(a), Values::String(b)) => a == b,
            _ => false,
        }
    }
}

impl Drop for Values {
    fn drop(&mut self) {
        match self {
            Values::F64(v) => reuse::give(take(v)),
            Values::F32(v) => reuse::give(take(v)),
            Values::I64(v) => reuse::give(take(v)),
            Values::I32(v) => reuse::give(take(v)),
            Values::U64(v) => reuse::give(take(v)),
            Values::Bool(v) => reuse::give(take(v)),
            Values::String(_) => {}
        }
    }
}

impl Field {
    /// A field of no elements with the name, the dimensions and the attributes of this one.
    pub(crate) fn header(&self) -> Field {
        Field {
            name: self.name.clone(),
            dims: self.dims.clone(),
            shape: vec![0; self.dims.len()],
            values: Values::Bool(Vec::new()),
            attributes: self.attributes.clone(),
        }
    }

    /// Equality bit for bit: name, dimensions, shape, type, elements and attributes.
    pub fn same_bits(&self, other: &Field) -> bool {
        self.name == other.name
            && self.dims == other.dims
            && self.shape == other.shape
            && self.values.same_bits(&other.values)
            && self.attributes == other.attributes
    }
}

impl Dataset {
    /// The data variable of this name.
    pub fn variable(&self, name: &str) -> Option<&Field> {
        self.variables.iter().find(|f| &*f.name == name)
    }

    /// The coordinate of this name.
    pub fn coord(&self, name: &str) -> Option<&Field> {
        self.coords.iter().map(|f| &**f).find(|f| &*f.name == name)
    }

    /// The data variables, then the coordinates.
    pub fn fields(&self) -> impl Iterator<Item = &Field> {
        self.variables.iter().chain(self.coords.iter().map(|f| &**f))
    }

    /// Bytes of all elements, coordinates included: what a memory budget counts.
    pub fn byte_len(&self) -> usize {
        self.fields().map(|f| f.values.byte_len()).sum()
    }

    /// Equality bit for bit, attributes included.
    pub fn same_bits(&self, other: &Dataset) -> bool {
        (self.variables.len(), self.coords.len()) == (other.variables.len(), other.coords.len())
            && self.fields().zip(other.fields()).all(|(x, y)| x.same_bits(y))
            && self.attributes == other.attributes
    }
}
