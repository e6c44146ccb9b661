//! The rules by which stored numbers become values: their type, the values that mean "missing", and the packing.
//!
//! - `scale_factor` or `add_offset`, whatever its value, makes the result float64: the stored number as a double, times
//!   the scale, plus the offset, each rounded. Only a scale of 1 with an offset of 0 computes nothing; a scale without an
//!   offset does add zero, so that -0.0 becomes 0.0. A result that is NaN is the canonical quiet NaN.
//! - `_FillValue` and every value of `missing_value` mask. They are compared bit by bit with the stored number in the
//!   variable's own type, so that 0.0 does not mask -0.0. A masked cell is the canonical quiet NaN.
//! - Integers that are neither packed nor declare such a value stay integers: int32 up to 32 bits signed, else int64.
//! - `_Unsigned` says how integers of either kind are meant.

#[cfg(test)]
mod tests;

use super::attributes::{numbers, text, Number};
use crate::formats::{ByteOrder, NumericType, Variable};

/// The type of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    I32,
    I64,
    F64,
    /// One byte, 0 or 1.
    Bool,
}

/// How the numbers of one variable are decoded.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rules {
    /// The stored type, after `_Unsigned`.
    pub(super) stored: NumericType,
    pub(super) order: ByteOrder,
    /// The bit patterns of missing values, each once, zero-extended from the width of the stored type.
    pub(super) missing: Vec<u64>,
    /// Scale and offset, where there is something to compute.
    pub(super) packing: Option<(f64, f64)>,
    pub(super) target: Target,
}

impl Rules {
    /// The rules of a variable of these numbers.
    pub(super) fn of(variable: &Variable, declared: NumericType, order: ByteOrder) -> Self {
        let stored = signedness(variable, declared);
        let attribute_numbers = |name| variable.attribute(name).map(|a| (numbers(a), a.numeric));
        let mut missing = Vec::new();
        let mut declares_missing = false;
        for (values, kind) in ["_FillValue", "missing_value"].into_iter().filter_map(attribute_numbers) {
            // An attribute that was written for the type before `_Unsigned` holds the same bits.
            let same_bits = stored != declared && kind == Some(declared);
            declares_missing |= !values.is_empty();
            missing.extend(values.into_iter().filter_map(|v| bits(v, stored, same_bits)));
        }
        missing.sort_unstable();
        missing.dedup();

        let scale = attribute_numbers("scale_factor").map(|(values, _)| values.first().map_or(1.0, |n| n.as_f64()));
        let offset = attribute_numbers("add_offset").map(|(values, _)| values.first().map_or(0.0, |n| n.as_f64()));
        let packed = scale.is_some() || offset.is_some();
        let factors = (scale.unwrap_or(1.0), offset.unwrap_or(0.0));
        let target = if packed || declares_missing { Target::F64 } else { unpacked(stored) };
        Rules { stored, order, missing, packing: (factors != (1.0, 0.0)).then_some(factors), target }
    }

    /// Whether the values are the stored integers, and single precision would round some of them.
    pub(super) fn exceeds_singles(&self) -> bool {
        use NumericType::*;
        self.target == Target::F64 && self.packing.is_none() && matches!(self.stored, I32 | U32 | I64 | U64)
    }

    /// The rules of bytes that are true where they are not zero.
    pub(super) fn bools() -> Self {
        Rules { target: Target::Bool, ..Rules::plain(NumericType::U8, ByteOrder::Little) }
    }

    /// The rules of numbers that no attribute says anything about.
    pub(super) fn plain(stored: NumericType, order: ByteOrder) -> Self {
        Rules { stored, order, missing: Vec::new(), packing: None, target: unpacked(stored) }
    }

    /// The rules of a variable whose numbers are taken as they are: a time axis.
    pub(super) fn raw(variable: &Variable, declared: NumericType, order: ByteOrder) -> Self {
        Rules::plain(signedness(variable, declared), order)
    }
}

fn unpacked(stored: NumericType) -> Target {
    use NumericType::*;
    match stored {
        I8 | U8 | I16 | U16 | I32 => Target::I32,
        U32 | I64 | U64 => Target::I64,
        F32 | F64 => Target::F64,
    }
}

fn signedness(variable: &Variable, declared: NumericType) -> NumericType {
    use NumericType::*;
    let flag = text(&variable.attributes, "_Unsigned").map(|t| t.trim().to_ascii_lowercase());
    match (flag.as_deref(), declared) {
        (Some("true"), I8) => U8,
        (Some("true"), I16) => U16,
        (Some("true"), I32) => U32,
        (Some("true"), I64) => U64,
        (Some("false"), U8) => I8,
        (Some("false"), U16) => I16,
        (Some("false"), U32) => I32,
        (Some("false"), U64) => I64,
        (_, declared) => declared,
    }
}

/// The bits of `value` in a type, or `None` where the type has no such value. Single precision rounds.
fn bits(value: Number, stored: NumericType, same_bits: bool) -> Option<u64> {
    use NumericType::*;
    let range = match stored {
        F32 => {
            let single = value.as_f64() as f32;
            return (single.is_finite() || !value.as_f64().is_finite()).then(|| single.to_bits().into());
        }
        F64 => return Some(value.as_f64().to_bits()),
        I8 => i8::MIN.into()..=i8::MAX.into(),
        U8 => 0..=u8::MAX.into(),
        I16 => i16::MIN.into()..=i16::MAX.into(),
        U16 => 0..=u16::MAX.into(),
        I32 => i32::MIN.into()..=i32::MAX.into(),
        U32 => 0..=u32::MAX.into(),
        I64 => i64::MIN.into()..=i64::MAX.into(),
        U64 => 0..=u64::MAX.into(),
    };
    let integer: i128 = match value {
        Number::Integer(i) => i,
        Number::Float(f) if f.fract() == 0.0 => f as i128,
        Number::Float(_) => return None,
    };
    let mask = u64::MAX >> (64 - 8 * stored.width());
    (same_bits || range.contains(&integer)).then_some(integer as u64 & mask)
}
