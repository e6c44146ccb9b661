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
