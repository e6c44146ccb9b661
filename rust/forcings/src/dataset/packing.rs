//! The rules by which stored numbers become values: their type, the values that mean "missing", and the packing.
//!
//! - `scale_factor` or `add_offset`, whatever its value, makes the result float64: the stored number as a double, times
//!   the scale, plus the offset, each rounded. Only a scale of 1 with an offset of 0 computes nothing; a scale without an
//!   offset does add zero, so that -0.0 becomes 0.0. A result that is NaN is the canonical quiet NaN.
//! - `_FillValue` and every value of `missing_value` mask. They are compared bit by bit with the stored number in the
//!   variable's own type, so that 0.0 does not mask -0.0. A masked cell is the canonical quiet NaN.
//! - Integers that are neither packed nor declare such a value stay integers: int32 up to 32 bits signed, else int64.
//! - `_Unsigned` says how integers of either kind are meant.

use super::attributes::{numbers, text, Number};
use crate::formats::{ByteOrder, NumericType, Variable};

/// The type of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    I32,
    I64,
    F64,
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

    /// The rules of a variable whose numbers are taken as they are: a time axis.
    pub(super) fn raw(variable: &Variable, declared: NumericType, order: ByteOrder) -> Self {
        let stored = signedness(variable, declared);
        Rules { stored, order, missing: Vec::new(), packing: None, target: unpacked(stored) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::{Attribute, AttributeValue, ElementType};

    fn variable(attributes: &[(&str, AttributeValue, Option<NumericType>)]) -> Variable {
        let attribute = |(name, value, numeric): &(&str, AttributeValue, Option<NumericType>)| Attribute {
            name: name.to_string(),
            value: value.clone(),
            numeric: *numeric,
        };
        Variable {
            name: "v".into(),
            dimensions: vec![],
            shape: vec![],
            element: ElementType::Char,
            attributes: attributes.iter().map(attribute).collect(),
            fill: None,
            problem: None,
        }
    }

    fn rules(stored: NumericType, attributes: &[(&str, AttributeValue, Option<NumericType>)]) -> Rules {
        Rules::of(&variable(attributes), stored, ByteOrder::Little)
    }

    fn floats(list: &[f64]) -> AttributeValue {
        AttributeValue::Floats(list.to_vec())
    }

    fn integers(list: &[i64]) -> AttributeValue {
        AttributeValue::Integers(list.to_vec())
    }

    fn words(text: &str) -> AttributeValue {
        AttributeValue::Text(text.into())
    }

    #[test]
    fn integers_keep_one_of_two_widths() {
        use NumericType::*;
        for stored in [I8, U8, I16, U16, I32] {
            assert_eq!(rules(stored, &[]).target, Target::I32);
        }
        for stored in [U32, I64, U64] {
            assert_eq!(rules(stored, &[]).target, Target::I64);
        }
        assert_eq!(rules(F32, &[]).target, Target::F64);
    }

    #[test]
    fn the_presence_of_packing_decides_the_type_not_its_value() {
        for value in [floats(&[1.0]), words("none"), floats(&[])] {
            let rules = rules(NumericType::I16, &[("scale_factor", value, None)]);
            assert_eq!((rules.target, rules.packing), (Target::F64, None));
        }
        let offset = rules(NumericType::I16, &[("add_offset", integers(&[3, 9]), None)]);
        assert_eq!(offset.packing, Some((1.0, 3.0)));
        let scale = rules(NumericType::I16, &[("scale_factor", floats(&[0.5]), None)]);
        assert_eq!(scale.packing, Some((0.5, 0.0)));
    }

    #[test]
    fn missing_values_are_compared_in_the_variables_own_type() {
        use NumericType::*;
        let missing = |stored, value| rules(stored, &[("missing_value", value, None)]).missing;
        assert_eq!(missing(I16, integers(&[-999, 7, 7])), [7, 64_537]);
        assert_eq!(missing(I16, floats(&[-999.0, -999.5, f64::NAN, 1e30])), [64_537]);
        assert_eq!(missing(I16, integers(&[70_000])), [0; 0]);
        assert_eq!(missing(F32, floats(&[1e20])), [u64::from(1e20_f32.to_bits())]);
        assert_eq!(missing(F32, floats(&[1e300])), [0; 0]);
        assert_eq!(missing(F64, integers(&[-1])), [(-1.0_f64).to_bits()]);
        assert_eq!(missing(U64, AttributeValue::Unsigned(vec![u64::MAX])), [u64::MAX]);
        assert_eq!(missing(I64, integers(&[i64::MIN])), [1 << 63]);
    }

    #[test]
    fn an_integer_that_declares_a_fill_value_becomes_a_float() {
        assert_eq!(rules(NumericType::I32, &[("_FillValue", integers(&[0]), None)]).target, Target::F64);
        assert_eq!(rules(NumericType::I32, &[("_FillValue", integers(&[1 << 40]), None)]).target, Target::F64);
        assert_eq!(rules(NumericType::I32, &[("missing_value", words("none"), None)]).target, Target::I32);
    }

    #[test]
    fn unsigned_is_honoured_in_both_directions_and_for_fill_values() {
        use NumericType::*;
        let fill = ("_FillValue", integers(&[-1]), Some(I8));
        let unsigned = rules(I8, &[("_Unsigned", words("True"), None), fill.clone()]);
        assert_eq!((unsigned.stored, &unsigned.missing[..]), (U8, &[255][..]));
        let wider = ("_FillValue", integers(&[255]), Some(I16));
        assert_eq!(rules(I8, &[("_Unsigned", words("true"), None), wider]).missing, [255]);
        let signed = rules(U16, &[("_Unsigned", words("false"), None)]);
        assert_eq!((signed.stored, signed.target), (I16, Target::I32));
        assert_eq!(rules(U8, &[fill]).missing, [0; 0]);
        assert_eq!(rules(F32, &[("_Unsigned", words("true"), None)]).stored, F32);
    }

    #[test]
    fn a_raw_variable_ignores_packing_and_fill_values() {
        let packed = variable(&[("scale_factor", floats(&[2.0]), None), ("_FillValue", integers(&[0]), None)]);
        let raw = Rules::raw(&packed, NumericType::I32, ByteOrder::Big);
        assert_eq!((raw.target, raw.packing, raw.missing.len()), (Target::I32, None, 0));
    }
}
