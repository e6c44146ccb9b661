//! Files in memory, for tests of what is decoded from them.

use crate::chunks::{ByteSource, Layout, MemorySource};
use crate::formats::{Attribute, AttributeValue, ByteOrder, Container, Dimension, ElementType, NumericType, Variable};
use crate::{Error, Result};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// Numbers that a test file can hold.
pub(super) trait Element: Copy {
    const TYPE: NumericType;
    fn bytes(self, order: ByteOrder) -> Vec<u8>;
}

macro_rules! element {
    ($($number:ty => $name:ident),*) => {$(
        impl Element for $number {
            const TYPE: NumericType = NumericType::$name;
            fn bytes(self, order: ByteOrder) -> Vec<u8> {
                match order {
                    ByteOrder::Little => self.to_le_bytes().to_vec(),
                    ByteOrder::Big => self.to_be_bytes().to_vec(),
                }
            }
        }
    )*};
}

element!(i8 => I8, u8 => U8, i16 => I16, u16 => U16, i32 => I32, u32 => U32, i64 => I64, u64 => U64, f32 => F32, f64 => F64);

/// A container whose variables are contiguous in memory. It counts the layouts that were asked for.
#[derive(Default)]
pub(super) struct MemoryFile {
    dims: Vec<Dimension>,
    variables: Vec<Variable>,
    offsets: Vec<u64>,
    strings: Vec<Vec<Vec<u8>>>,
    bytes: Vec<u8>,
    attributes: Vec<Attribute>,
    source: Option<Arc<dyn ByteSource>>,
    reads: AtomicUsize,
}

impl MemoryFile {
    /// A file of these dimensions.
    pub(super) fn new(dims: &[(&str, u64)]) -> Self {
        let dims = dims.iter().map(|(name, len)| Dimension { name: name.to_string(), len: *len, unlimited: false });
        MemoryFile { dims: dims.collect(), ..MemoryFile::default() }
    }

    pub(super) fn numbers<T: Element>(self, name: &str, dims: &[&str], values: &[T]) -> Self {
        self.ordered(name, dims, values, ByteOrder::Little)
    }

    pub(super) fn ordered<T: Element>(self, name: &str, dims: &[&str], values: &[T], order: ByteOrder) -> Self {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.bytes(order)).collect();
        self.variable(name, dims, ElementType::Number(T::TYPE, order), &bytes, &[])
    }

    pub(super) fn chars(self, name: &str, dims: &[&str], bytes: &[u8]) -> Self {
        self.variable(name, dims, ElementType::Char, bytes, &[])
    }

    pub(super) fn strings(self, name: &str, dims: &[&str], values: &[&str]) -> Self {
        self.variable(name, dims, ElementType::String, &[], values)
    }

    pub(super) fn other(self, name: &str, dims: &[&str]) -> Self {
        self.variable(name, dims, ElementType::Other("compound".into()), &[], &[])
    }

    fn variable(mut self, name: &str, dims: &[&str], element: ElementType, bytes: &[u8], strings: &[&str]) -> Self {
        let position = |name: &&str| self.dims.iter().position(|d| d.name == *name).expect("a dimension of the file");
        let dimensions: Vec<usize> = dims.iter().map(position).collect();
        let shape: Vec<u64> = dimensions.iter().map(|d| self.dims[*d].len).collect();
        self.variables.push(Variable {
            name: name.into(),
            dimensions,
            shape,
            element,
            attributes: vec![],
            fill: None,
            problem: None,
        });
        self.offsets.push(self.bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
        self.strings.push(strings.iter().map(|s| s.as_bytes().to_vec()).collect());
        self.source = Some(Arc::new(MemorySource::new("memory.nc", self.bytes.clone())));
        self
    }

    /// Gives the last variable an attribute.
    pub(super) fn with(self, name: &str, value: AttributeValue) -> Self {
        let numeric = match &value {
            AttributeValue::Integers(_) => Some(NumericType::I32),
            AttributeValue::Floats(_) => Some(NumericType::F64),
            _ => None,
        };
        self.change(|v| v.attributes.push(Attribute { name: name.into(), value, numeric }))
    }

    pub(super) fn units(self, units: &str) -> Self {
        self.with("units", AttributeValue::Text(units.into()))
    }

    /// Changes the last variable.
    pub(super) fn change(mut self, change: impl FnOnce(&mut Variable)) -> Self {
        change(self.variables.last_mut().expect("a variable"));
        self
    }

    /// How often the layout or the strings of a variable were asked for: before every read of values.
    pub(super) fn reads(&self) -> usize {
        self.reads.load(Ordering::Relaxed)
    }
}

impl Container for MemoryFile {
    fn dimensions(&self) -> &[Dimension] {
        &self.dims
    }

    fn variables(&self) -> &[Variable] {
        &self.variables
    }

    fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    fn layout(&self, variable: usize) -> Result<Arc<Layout>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(Layout::Contiguous { offset: self.offsets[variable] }))
    }

    fn strings(&self, variable: usize) -> Result<Vec<Vec<u8>>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.strings.get(variable).cloned().ok_or_else(|| Error::invalid("no such variable"))
    }

    fn source(&self) -> &Arc<dyn ByteSource> {
        self.source.as_ref().expect("a variable was added")
    }
}
