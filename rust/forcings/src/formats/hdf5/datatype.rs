//! Datatype messages, read from their exact bytes: only layouts of bits that the decoder reproduces count as numbers.

use super::cursor::Fields;
use crate::formats::{ByteOrder, ElementType, NumericType};

/// What one element is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number.
    Number(NumericType, ByteOrder),
    /// Text of a fixed number of bytes.
    Text,
    /// Text on the global heap.
    VarText,
    /// The address of an object.
    Reference,
    /// A list, on the global heap, of addresses of objects.
    References,
    /// Another type; the text names it.
    Other(String),
}

/// A datatype: its kind, and the bytes of one element in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Datatype {
    pub(super) kind: Kind,
    pub(super) size: usize,
}

impl Datatype {
    /// Reads the body of a datatype message; `None` when it is cut short.
    pub(super) fn parse(body: &[u8]) -> Option<Self> {
        let mut fields = Fields(body);
        let (class, bits, size) = head(&mut fields)?;
        let kind = match class {
            0 => integer(bits, size, fields)?,
            1 => float(bits, size, fields)?,
            3 => Kind::Text,
            7 if bits & 0x0f == 0 && size == 8 => Kind::Reference,
            9 if bits & 0x0f == 1 => Kind::VarText,
            // Of the base only its first fields: lists may nest as deep as the file likes.
            9 => match head(&mut fields)? {
                (7, bits, 8) if bits & 0x0f == 0 => Kind::References,
                _ => Kind::Other("variable-length list".into()),
            },
            2 => Kind::Other("time".into()),
            4 => Kind::Other("bit field".into()),
            5 => Kind::Other("opaque".into()),
            6 => Kind::Other("compound".into()),
            7 => Kind::Other("reference".into()),
            8 => Kind::Other("enum".into()),
            10 => Kind::Other("array".into()),
            other => Kind::Other(format!("datatype class {other}")),
        };
        Some(Datatype { kind, size })
    }

    /// How a container lists it.
    pub(super) fn element(&self) -> ElementType {
        match &self.kind {
            Kind::Number(number, order) => ElementType::Number(*number, *order),
            Kind::Text if self.size == 1 => ElementType::Char,
            Kind::Text | Kind::VarText => ElementType::String,
            Kind::Reference => ElementType::Other("reference".into()),
            Kind::References => ElementType::Other("variable-length list".into()),
            Kind::Other(name) => ElementType::Other(name.clone()),
        }
    }
}

/// Class, bits of the class, and size.
fn head(fields: &mut Fields) -> Option<(u8, u32, usize)> {
    Some((fields.u8()? & 0x0f, fields.uint(3)? as u32, fields.u32()? as usize))
}

fn integer(bits: u32, size: usize, mut properties: Fields) -> Option<Kind> {
    let (offset, precision) = (properties.u16()?, properties.u16()?);
    let number = match (size, bits & 0x08 != 0) {
        (1, true) => NumericType::I8,
        (1, false) => NumericType::U8,
        (2, true) => NumericType::I16,
        (2, false) => NumericType::U16,
        (4, true) => NumericType::I32,
        (4, false) => NumericType::U32,
        (8, true) => NumericType::I64,
        (8, false) => NumericType::U64,
        _ => return Some(Kind::Other(format!("integer of {size} bytes"))),
    };
    if offset != 0 || usize::from(precision) != 8 * size {
        return Some(Kind::Other(format!(
            "integer of {precision} bits in {size} bytes, which n-bit packs (write it as a type that uses all of its bits),"
        )));
    }
    Some(Kind::Number(number, order(bits & 1 != 0)))
}

fn float(bits: u32, size: usize, mut properties: Fields) -> Option<Kind> {
    let layout = (properties.uint(8)?, properties.u32()?, bits >> 8 & 0xff, bits >> 4 & 3);
    // Offset, precision, place and size of exponent and of mantissa, bias, sign bit, implied leading bit: IEEE 754.
    const SINGLE: (u64, u32, u32, u32) = (u64::from_le_bytes([0, 0, 32, 0, 23, 8, 0, 23]), 127, 31, 2);
    const DOUBLE: (u64, u32, u32, u32) = (u64::from_le_bytes([0, 0, 64, 0, 52, 11, 0, 52]), 1023, 63, 2);
    let order = match bits & 0x41 {
        0 => ByteOrder::Little,
        1 => ByteOrder::Big,
        _ => return Some(Kind::Other("float in VAX byte order".into())),
    };
    Some(match size {
        4 if layout == SINGLE => Kind::Number(NumericType::F32, order),
        8 if layout == DOUBLE => Kind::Number(NumericType::F64, order),
        _ => Kind::Other(format!("float of {size} bytes that is not IEEE single or double")),
    })
}

fn order(big: bool) -> ByteOrder {
    if big {
        ByteOrder::Big
    } else {
        ByteOrder::Little
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_lists_need_no_stack() {
        // As many levels as one message holds.
        let body = [0x19, 0, 0, 0, 16, 0, 0, 0].repeat(8191);
        let small = std::thread::Builder::new().stack_size(64 << 10);
        let parsed = small.spawn(move || Datatype::parse(&body)).unwrap().join().unwrap().unwrap();
        assert_eq!(parsed.kind, Kind::Other("variable-length list".into()));
    }
}
