//! The parts of a header, the same for every container format.

/// A named extent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dimension {
    /// Its name in the file, or `phony_dim_N` where the file has none.
    pub name: String,
    /// Its current length.
    pub len: u64,
    /// Whether it may grow.
    pub unlimited: bool,
}

/// Numbers that this library decodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum NumericType {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl NumericType {
    /// Bytes per element.
    pub fn width(self) -> usize {
        match self {
            NumericType::I8 | NumericType::U8 => 1,
            NumericType::I16 | NumericType::U16 => 2,
            NumericType::I32 | NumericType::U32 | NumericType::F32 => 4,
            NumericType::I64 | NumericType::U64 | NumericType::F64 => 8,
        }
    }
}

/// The order of the bytes of one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ByteOrder {
    Little,
    Big,
}

/// The type of a variable's elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElementType {
    /// A number.
    Number(NumericType, ByteOrder),
    /// A byte that is not zero where it is true.
    Bool,
    /// One byte of text.
    Char,
    /// Text of any length.
    String,
    /// A type that is listed but not read (compound, enum, opaque, odd widths); the text names it.
    Other(String),
}

impl ElementType {
    /// Bytes per element; 1 where they have no width of their own.
    pub fn width(&self) -> usize {
        match self {
            ElementType::Number(number, _) => number.width(),
            ElementType::Bool | ElementType::Char | ElementType::String | ElementType::Other(_) => 1,
        }
    }
}

/// An attribute's value. Text stays as bytes, NULs and all, since files disagree about its encoding.
#[derive(Debug, Clone, PartialEq)]
pub enum AttributeValue {
    /// Characters.
    Text(Vec<u8>),
    /// Strings of any length.
    Strings(Vec<Vec<u8>>),
    /// Integers of any width but unsigned 64 bit.
    Integers(Vec<i64>),
    /// Unsigned 64-bit integers.
    Unsigned(Vec<u64>),
    /// Doubles, or singles widened.
    Floats(Vec<f64>),
    /// A value of a type that is not read; the text names it.
    Other(String),
}

/// A named value of a variable or a group.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: AttributeValue,
    /// The exact type of a numeric value, which decides how packing and masking compare it.
    pub numeric: Option<NumericType>,
}

/// A variable's header.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its dimensions, slowest first, as positions in [`Container::dimensions`](super::Container::dimensions).
    pub dimensions: Vec<usize>,
    /// Its extents, slowest first.
    pub shape: Vec<u64>,
    /// The type of its elements.
    pub element: ElementType,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// One element as stored in cells that were never written, in the byte order of the file; zeros where it is `None`.
    pub fill: Option<Vec<u8>>,
    /// Why it cannot be read, if so.
    pub problem: Option<String>,
}

impl Variable {
    /// The attribute of this name.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|a| a.name == name)
    }
}
