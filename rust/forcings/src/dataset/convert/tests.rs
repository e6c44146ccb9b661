use super::*;
use crate::dataset::packing::Target;

fn rules(stored: NumericType, order: ByteOrder, missing: &[u64], packing: Option<(f64, f64)>) -> Rules {
    Rules { stored, order, missing: missing.to_vec(), packing, target: Target::F64 }
}

fn doubles_of(rules: &Rules, raw: &[u8]) -> (Vec<u64>, bool) {
    let overflow = Overflow::default();
    let mut out = vec![-1.0; raw.len() / rules.stored.width()];
    to_float(rules, &overflow)(raw, &mut out);
    let doubles: Vec<u64> = out.iter().map(|v: &f64| v.to_bits()).collect();
    assert_eq!(singles_of(rules, raw), singles(&out), "singles are those doubles, rounded");
    (doubles, overflow.load(Ordering::Relaxed))
}

fn singles_of(rules: &Rules, raw: &[u8]) -> Vec<u32> {
    let mut out = vec![-1.0; raw.len() / rules.stored.width()];
    to_float(rules, &Overflow::default())(raw, &mut out);
    out.iter().map(|v: &f32| v.to_bits()).collect()
}

fn singles(doubles: &[f64]) -> Vec<u32> {
    doubles.iter().map(|v| if v.is_nan() { 0x7fc0_0000 } else { (*v as f32).to_bits() }).collect()
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn every_stored_type_in_both_byte_orders() {
    macro_rules! check {
        ($($number:ident $type:ty: $values:expr;)*) => {$(
            let values: &[$type] = &$values;
            let expected: Vec<f64> = values.iter().map(|v| *v as f64).collect();
            let little: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
            let big: Vec<u8> = values.iter().flat_map(|v| v.to_be_bytes()).collect();
            for (order, raw) in [(ByteOrder::Little, little), (ByteOrder::Big, big)] {
                let plain = rules(NumericType::$number, order, &[], None);
                assert_eq!(doubles_of(&plain, &raw), (bits(&expected), false), "{:?} {order:?}", plain.stored);
                let packed = rules(NumericType::$number, order, &[], Some((0.1, -3.0)));
                let scaled: Vec<f64> = expected.iter().map(|v| v * 0.1 + -3.0).collect();
                assert_eq!(doubles_of(&packed, &raw).0, bits(&scaled), "{:?} {order:?}", packed.stored);
            }
        )*};
    }
    check! {
        I8 i8: [-128, -1, 0, 127];
        U8 u8: [0, 127, 255];
        I16 i16: [i16::MIN, -1, 300, i16::MAX];
        U16 u16: [0, 300, u16::MAX];
        I32 i32: [i32::MIN, -7, i32::MAX];
        U32 u32: [0, u32::MAX];
        I64 i64: [-(1 << 53), 0, 1 << 53];
        U64 u64: [0, 1 << 53];
        F32 f32: [-0.0, 1.5e-40, f32::MAX, f32::INFINITY];
        F64 f64: [-0.0, 5e-324, f64::MAX, f64::NEG_INFINITY];
    }
}

#[test]
fn masks_compare_bits_before_unpacking() {
    let raw: Vec<u8> = [1_i16, -1, 5, 7].iter().flat_map(|v| v.to_le_bytes()).collect();
    let one = rules(NumericType::I16, ByteOrder::Little, &[0xffff], Some((2.0, 1.0)));
    assert_eq!(doubles_of(&one, &raw).0, bits(&[3.0, f64::NAN, 11.0, 15.0]));
    let two = rules(NumericType::I16, ByteOrder::Little, &[5, 7], Some((2.0, 1.0)));
    assert_eq!(doubles_of(&two, &raw).0, bits(&[3.0, -1.0, f64::NAN, f64::NAN]));
    let plain = rules(NumericType::I16, ByteOrder::Little, &[5, 7], None);
    assert_eq!(doubles_of(&plain, &raw).0, bits(&[1.0, -1.0, f64::NAN, f64::NAN]));
    let zeros: Vec<u8> = [0.0_f32, -0.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let zero = rules(NumericType::F32, ByteOrder::Little, &[0], None);
    assert_eq!(doubles_of(&zero, &zeros).0, bits(&[f64::NAN, -0.0]));
}

#[test]
fn unpacking_rounds_twice_and_adds_zero() {
    let (scale, offset) = (0.1, 1e-17);
    let raw = 3.0_f64.to_le_bytes();
    let packed = rules(NumericType::F64, ByteOrder::Little, &[], Some((scale, offset)));
    let product: f64 = 3.0 * scale;
    assert_eq!(doubles_of(&packed, &raw).0, bits(&[product + offset]));
    let scaled = rules(NumericType::F64, ByteOrder::Little, &[], Some((2.0, 0.0)));
    assert_eq!(doubles_of(&scaled, &(-0.0_f64).to_le_bytes()).0, bits(&[0.0]));
    let payload = f64::from_bits(0x7ff8_0000_0000_1234);
    assert_eq!(doubles_of(&scaled, &payload.to_le_bytes()).0, bits(&[f64::NAN]));
    let plain = rules(NumericType::F64, ByteOrder::Little, &[], None);
    assert_eq!(doubles_of(&plain, &payload.to_le_bytes()).0, bits(&[payload]));
}

#[test]
fn integers_past_two_to_the_53_are_reported_unless_masked() {
    let large = (1_i64 << 53) + 1;
    let raw: Vec<u8> = [7, large].iter().flat_map(|v| v.to_le_bytes()).collect();
    let unmasked = rules(NumericType::I64, ByteOrder::Little, &[7], None);
    assert!(doubles_of(&unmasked, &raw).1);
    let masked = rules(NumericType::I64, ByteOrder::Little, &[large as u64], None);
    assert_eq!(doubles_of(&masked, &raw), (bits(&[7.0, f64::NAN]), false));
    let negative = rules(NumericType::I64, ByteOrder::Little, &[7], None);
    assert!(doubles_of(&negative, &(-large).to_le_bytes()).1);
}

#[test]
fn integers_are_widened_exactly() {
    let rules = |stored, order| rules(stored, order, &[], None);
    let mut short = [0; 2];
    to_i32(&rules(NumericType::I16, ByteOrder::Big))(&[0xff, 0xfe, 0x01, 0x02], &mut short);
    assert_eq!(short, [-2, 258]);
    let mut long = [0; 1];
    let overflow = Overflow::default();
    to_i64(&rules(NumericType::U32, ByteOrder::Little), &overflow)(&u32::MAX.to_le_bytes(), &mut long);
    assert_eq!(long, [i64::from(u32::MAX)]);
    to_i64(&rules(NumericType::U64, ByteOrder::Big), &overflow)(&(i64::MAX as u64).to_be_bytes(), &mut long);
    assert_eq!((long, overflow.load(Ordering::Relaxed)), ([i64::MAX], false));
    to_i64(&rules(NumericType::I64, ByteOrder::Little), &overflow)(&i64::MIN.to_le_bytes(), &mut long);
    assert_eq!((long, overflow.load(Ordering::Relaxed)), ([i64::MIN], false));
    to_i64(&rules(NumericType::U64, ByteOrder::Little), &overflow)(&(1_u64 << 63).to_le_bytes(), &mut long);
    assert!(overflow.load(Ordering::Relaxed));
}

#[test]
fn singles_are_computed_in_double_precision_and_rounded_once() {
    let sum = rules(NumericType::I32, ByteOrder::Little, &[], Some((1.0, 0.6)));
    assert_eq!(singles_of(&sum, &16_777_216_i32.to_le_bytes()), [16_777_216.0_f32.to_bits()]);
    // In single precision throughout, the sum would be 16777216 again.
    assert_eq!(singles_of(&sum, &16_777_217_i32.to_le_bytes()), [16_777_218.0_f32.to_bits()]);
    // 0.1 and 0.1f32 differ, and so do their products.
    let scaled = rules(NumericType::I16, ByteOrder::Little, &[], Some((0.1, 0.0)));
    let differs = (1..=i16::MAX).find(|v| (f64::from(*v) * 0.1) as f32 != f32::from(*v) * 0.1_f32).unwrap();
    assert_eq!(singles_of(&scaled, &differs.to_le_bytes()), singles(&[f64::from(differs) * 0.1]));
    let plain = rules(NumericType::F64, ByteOrder::Little, &[], None);
    assert_eq!(singles_of(&plain, &1e39_f64.to_le_bytes()), [f32::INFINITY.to_bits()]);
    // Stored singles are not touched, whatever their bits; masked ones are the canonical NaN.
    let stored = rules(NumericType::F32, ByteOrder::Big, &[0x7f80_0001], None);
    let raw: Vec<u8> = [0x7f80_0001_u32, 0xffc0_1234, 0x0000_0001].iter().flat_map(|b| b.to_be_bytes()).collect();
    assert_eq!(singles_of(&stored, &raw), [0x7fc0_0000, 0xffc0_1234, 1]);
}
