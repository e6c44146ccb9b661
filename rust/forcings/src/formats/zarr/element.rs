//! The types of elements, as both versions name them, and their fill values.

use super::attributes::{float, named};
use super::half;
use super::json::{short, Fault, Part};
use crate::formats::{ByteOrder, ElementType, NumericType};
use serde_json::Value;

/// What the elements of an array are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    /// Half precision, read as single.
    Half,
    Number(NumericType),
}

/// The elements of an array, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) kind: Kind,
    pub(super) order: ByteOrder,
}

impl Element {
    /// A type of version 2, such as `<f8`.
    ///
    /// # Errors
    /// `Unsupported` for a type that is not read, which is named.
    pub(super) fn of_v2(dtype: &Value) -> Part<Self> {
        let unsupported = || Fault::unsupported(format!("its elements are of the type {}", short(dtype)));
        let text = dtype.as_str().ok_or_else(unsupported)?;
        let (order, code) = match text.split_at_checked(1).ok_or_else(unsupported)? {
            ("<", code) => (Some(ByteOrder::Little), code),
            (">", code) => (Some(ByteOrder::Big), code),
            ("|", code) => (None, code),
            _ => return Err(unsupported()),
        };
        let kind = match code {
            "b1" => Kind::Bool,
            "i1" => Kind::Number(NumericType::I8),
            "i2" => Kind::Number(NumericType::I16),
            "i4" => Kind::Number(NumericType::I32),
            "i8" => Kind::Number(NumericType::I64),
            "u1" => Kind::Number(NumericType::U8),
            "u2" => Kind::Number(NumericType::U16),
            "u4" => Kind::Number(NumericType::U32),
            "u8" => Kind::Number(NumericType::U64),
            "f2" => Kind::Half,
            "f4" => Kind::Number(NumericType::F32),
            "f8" => Kind::Number(NumericType::F64),
            _ => return Err(unsupported()),
        };
        match order {
            None if kind.stored_width() > 1 => {
                Err(Fault::damaged(format!("its type {} says nothing of the order of bytes", short(dtype))))
            }
            order => Ok(Element { kind, order: order.unwrap_or(ByteOrder::Little) }),
        }
    }

    /// The type as which its elements are read.
    pub(super) fn kind(&self) -> ElementType {
        match self.kind {
            Kind::Bool => ElementType::Bool,
            Kind::Half => ElementType::Number(NumericType::F32, self.order),
            Kind::Number(number) => ElementType::Number(number, self.order),
        }
    }

    /// A fill value as one element in the type as which it is read: JSON's `null` is zero.
    ///
    /// # Errors
    /// `Damaged` for what is no value of this type.
    pub(super) fn fill(&self, value: &Value) -> Part<Vec<u8>> {
        let bits = if value.is_null() { Some(0) } else { self.kind.bits(value) };
        let bits =
            bits.ok_or_else(|| Fault::damaged(format!("its \"fill_value\" {} is no value of its type", short(value))))?;
        let width = self.kind.width();
        Ok(match self.order {
            ByteOrder::Little => bits.to_le_bytes()[..width].to_vec(),
            ByteOrder::Big => bits.to_be_bytes()[8 - width..].to_vec(),
        })
    }
}

impl Kind {
    /// A type of version 3.
    ///
    /// # Errors
    /// `Unsupported` for a type that is not read, which is named.
    pub(super) fn of_v3(data_type: &Value) -> Part<Self> {
        Ok(match data_type.as_str() {
            Some("bool") => Kind::Bool,
            Some("int8") => Kind::Number(NumericType::I8),
            Some("int16") => Kind::Number(NumericType::I16),
            Some("int32") => Kind::Number(NumericType::I32),
            Some("int64") => Kind::Number(NumericType::I64),
            Some("uint8") => Kind::Number(NumericType::U8),
            Some("uint16") => Kind::Number(NumericType::U16),
            Some("uint32") => Kind::Number(NumericType::U32),
            Some("uint64") => Kind::Number(NumericType::U64),
            Some("float16") => Kind::Half,
            Some("float32") => Kind::Number(NumericType::F32),
            Some("float64") => Kind::Number(NumericType::F64),
            _ => return Err(Fault::unsupported(format!("its elements are of the type {}", short(data_type)))),
        })
    }

    /// Bytes of one element in the store.
    pub(super) fn stored_width(self) -> usize {
        match self {
            Kind::Half => 2,
            other => other.width(),
        }
    }

    /// Bytes of one element as it is read.
    pub(super) fn width(self) -> usize {
        match self {
            Kind::Bool => 1,
            Kind::Half => 4,
            Kind::Number(number) => number.width(),
        }
    }

    /// The bits of a fill value, in the low bytes.
    fn bits(self, value: &Value) -> Option<u64> {
        use NumericType::*;
        let number = match self {
            Kind::Bool => return value.as_bool().or_else(|| Some(integer(value, 0, 1)? == 1)).map(u64::from),
            Kind::Half => {
                return self.float_bits(value, |v| half::nearest(v).into()).map(|b| half::single_bits(b as u16).into())
            }
            Kind::Number(number) => number,
        };
        let within = |low: i128, high: i128| integer(value, low, high).map(|n| n as u64);
        match number {
            I8 => within(i8::MIN.into(), i8::MAX.into()),
            U8 => within(0, u8::MAX.into()),
            I16 => within(i16::MIN.into(), i16::MAX.into()),
            U16 => within(0, u16::MAX.into()),
            I32 => within(i32::MIN.into(), i32::MAX.into()),
            U32 => within(0, u32::MAX.into()),
            I64 => within(i64::MIN.into(), i64::MAX.into()),
            U64 => within(0, u64::MAX.into()),
            F32 => self.float_bits(value, |v| (v as f32).to_bits().into()),
            F64 => self.float_bits(value, f64::to_bits),
        }
    }

    /// A floating-point number, by its value, its name, or its bits (`0x7fc00000`).
    fn float_bits(self, value: &Value, bits: impl Fn(f64) -> u64) -> Option<u64> {
        let Some(text) = value.as_str() else { return float(value).map(bits) };
        if let Some(hex) = text.strip_prefix("0x") {
            let whole = hex.len() == 2 * self.stored_width() && hex.bytes().all(|b| b.is_ascii_hexdigit());
            return whole.then(|| u64::from_str_radix(hex, 16).ok()).flatten();
        }
        named(text).or_else(|| float(value)).map(bits)
    }
}

/// A whole number within bounds; Python may write it as `0.0`.
fn integer(value: &Value, low: i128, high: i128) -> Option<i128> {
    let number = value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
    let number = number.or_else(|| value.as_f64().filter(|f| f.fract() == 0.0).map(|f| f as i128))?;
    (low..=high).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn v2(dtype: &str) -> Element {
        Element::of_v2(&json!(dtype)).unwrap()
    }

    #[test]
    fn types_of_both_versions_are_the_same() {
        for (v2_name, v3_name) in [
            ("|b1", "bool"),
            ("|i1", "int8"),
            ("<i2", "int16"),
            ("<i4", "int32"),
            ("<i8", "int64"),
            ("|u1", "uint8"),
            ("<u2", "uint16"),
            ("<u4", "uint32"),
            ("<u8", "uint64"),
            ("<f2", "float16"),
            ("<f4", "float32"),
            ("<f8", "float64"),
        ] {
            assert_eq!(v2(v2_name).kind, Kind::of_v3(&json!(v3_name)).unwrap());
            assert_eq!(v2(v2_name).order, ByteOrder::Little);
        }
        assert_eq!(v2(">f8").order, ByteOrder::Big);
        for unread in [json!("<c16"), json!("<M8[ns]"), json!("|S3"), json!("|O"), json!([["a", "<f4"]]), json!("é")] {
            let Err(Fault::Unsupported(text)) = Element::of_v2(&unread) else { panic!("{unread}") };
            assert!(text.contains(unread.to_string().as_str()), "{text}");
        }
        assert!(matches!(Element::of_v2(&json!("|f8")), Err(Fault::Damaged(_))));
        assert!(matches!(Kind::of_v3(&json!({"name": "x"})), Err(Fault::Unsupported(_))));
    }

    #[test]
    fn fill_values_are_read_in_every_spelling() {
        let fill = |dtype: &str, value: Value| v2(dtype).fill(&value).unwrap();
        assert_eq!(fill("<f8", json!(null)), [0; 8]);
        assert_eq!(fill("<f8", json!(-0.0)), (-0.0f64).to_le_bytes());
        assert_eq!(fill(">f8", json!("NaN")), f64::NAN.to_be_bytes());
        assert_eq!(fill("<f4", json!("-Infinity")), f32::NEG_INFINITY.to_le_bytes());
        assert_eq!(fill("<f4", json!("0xffc00001")), f32::from_bits(0xffc0_0001).to_le_bytes());
        assert_eq!(fill("<f8", json!("0x7ff8000000000001")), 0x7ff8_0000_0000_0001_u64.to_le_bytes());
        assert_eq!(fill("<f4", json!(0.1)), 0.1f32.to_le_bytes());
        assert_eq!(fill("<f4", json!(-32768)), (-32768f32).to_le_bytes());
        assert_eq!(fill("<f2", json!(0.5)), 0.5f32.to_le_bytes());
        assert_eq!(fill("<f2", json!("0x3c00")), 1f32.to_le_bytes());
        assert_eq!(fill("<f2", json!("Infinity")), f32::INFINITY.to_le_bytes());
        assert_eq!(fill("|i1", json!(-1)), [255]);
        assert_eq!(fill(">i2", json!(-2)), [255, 254]);
        assert_eq!(fill("<i4", json!(0.0)), [0; 4]);
        assert_eq!(fill("<u8", json!(u64::MAX)), [255; 8]);
        assert_eq!(fill("<i8", json!(i64::MIN)), i64::MIN.to_le_bytes());
        assert_eq!(fill("|b1", json!(true)), [1]);
        assert_eq!(fill("|b1", json!(0)), [0]);
        assert_eq!(
            v2("<f8").fill(&json!(format!("{}NaN", super::super::json::NUMBER))).unwrap(),
            f64::NAN.to_le_bytes()
        );
        for (dtype, value) in [
            ("|i1", json!(128)),
            ("|u1", json!(-1)),
            ("<u8", json!(-1)),
            ("<i4", json!(0.5)),
            ("<i4", json!("0")),
            ("<i8", json!(1e300)),
            ("<f8", json!("nan")),
            ("<f8", json!("0x7fc00000")),
            ("<f4", json!("0x+fc00000")),
            ("<f4", json!([0])),
            ("|b1", json!(2)),
            ("|b1", json!("true")),
        ] {
            assert!(matches!(v2(dtype).fill(&value), Err(Fault::Damaged(_))), "{dtype} {value}");
        }
    }
}
