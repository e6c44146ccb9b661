//! From runs of stored numbers to values, in one pass. There is one closure for each combination of stored type, byte
//! order, masking and packing, so that their loops hold no branch and the compiler can vectorise them.

use super::packing::Rules;
use crate::formats::{ByteOrder, NumericType};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// Decodes a run: stored bytes to as many values.
pub(super) type Convert<T> = Box<dyn Fn(&[u8], &mut [T]) + Send + Sync>;

/// Set by a closure that met a value which its target cannot hold.
pub(super) type Overflow = Arc<AtomicBool>;

/// Up to here doubles hold every integer.
const EXACT: u64 = 1 << 53;

/// A type of stored numbers, seen as the bits of one element.
trait Stored: 'static {
    type Bits: Copy + Eq + Send + Sync + 'static;
    const WIDTH: usize;
    fn load<const BIG: bool>(bytes: &[u8]) -> Self::Bits;
    fn bits(wide: u64) -> Self::Bits;
    fn double(bits: Self::Bits) -> f64;
}

/// A stored integer.
trait Integer: Stored {
    fn value(bits: Self::Bits) -> i128;
    /// The value modulo 2^64, which is exact where `fits`.
    fn narrow(bits: Self::Bits) -> i64;
    fn fits(bits: Self::Bits) -> bool;
}

macro_rules! stored {
    ($($number:ty, $bits:ty, $double:expr;)*) => {$(
        impl Stored for $number {
            type Bits = $bits;
            const WIDTH: usize = size_of::<$bits>();

            #[inline(always)]
            fn load<const BIG: bool>(bytes: &[u8]) -> $bits {
                let bytes = bytes.try_into().expect("a chunk of exactly this width");
                if BIG { <$bits>::from_be_bytes(bytes) } else { <$bits>::from_le_bytes(bytes) }
            }

            #[inline(always)]
            fn bits(wide: u64) -> $bits {
                wide as $bits
            }

            #[inline(always)]
            fn double(bits: $bits) -> f64 {
                $double(bits)
            }
        }
    )*};
}

stored! {
    i8, u8, |b| f64::from(b as i8);
    u8, u8, f64::from;
    i16, u16, |b| f64::from(b as i16);
    u16, u16, f64::from;
    i32, u32, |b| f64::from(b as i32);
    u32, u32, f64::from;
    i64, u64, |b| b as i64 as f64;
    u64, u64, |b| b as f64;
    f32, u32, |b| f64::from(f32::from_bits(b));
    f64, u64, f64::from_bits;
}

macro_rules! integer {
    ($($number:ty),*) => {$(
        impl Integer for $number {
            #[inline(always)]
            fn value(bits: Self::Bits) -> i128 {
                (bits as $number).into()
            }

            #[inline(always)]
            fn narrow(bits: Self::Bits) -> i64 {
                (bits as $number) as i64
            }

            #[inline(always)]
            fn fits(bits: Self::Bits) -> bool {
                <$number>::MIN != 0 || (bits as u64) <= i64::MAX as u64
            }
        }
    )*};
}

integer!(i8, u8, i16, u16, i32, u32, i64, u64);

/// Calls `$function` with the stored type and the byte order of the rules as its parameters.
macro_rules! with_type {
    ($rules:expr, $function:ident $arguments:tt, [$($number:ident => $type:ty),*], $otherwise:expr) => {
        match ($rules.stored, $rules.order) {
            $(
                (NumericType::$number, ByteOrder::Little) => $function::<$type, false> $arguments,
                (NumericType::$number, ByteOrder::Big) => $function::<$type, true> $arguments,
            )*
            #[allow(unreachable_patterns, reason = "some uses list every type")]
            _ => $otherwise,
        }
    };
}

/// To doubles. An unpacked integer beyond 2^53 that is not masked sets `overflow`.
pub(super) fn to_f64(rules: &Rules, overflow: &Overflow) -> Convert<f64> {
    if rules.packing.is_none() {
        let counted = with_type!(rules, counted(rules, overflow), [I64 => i64, U64 => u64], None);
        if let Some(convert) = counted {
            return convert;
        }
    }
    with_type!(
        rules,
        doubles(rules),
        [I8 => i8, U8 => u8, I16 => i16, U16 => u16, I32 => i32, U32 => u32, I64 => i64, U64 => u64, F32 => f32,
         F64 => f64],
        unreachable!("every type is listed")
    )
}

/// To int32, for stored types that fit.
pub(super) fn to_i32(rules: &Rules) -> Convert<i32> {
    with_type!(
        rules,
        words(),
        [I8 => i8, U8 => u8, I16 => i16, U16 => u16, I32 => i32],
        unreachable!("the target int32 is chosen for these types only")
    )
}

/// To int64; a number beyond its range sets `overflow`.
pub(super) fn to_i64(rules: &Rules, overflow: &Overflow) -> Convert<i64> {
    with_type!(
        rules,
        long_words(overflow),
        [U32 => u32, I64 => i64, U64 => u64],
        unreachable!("the target int64 is chosen for these types only")
    )
}

fn doubles<S: Stored, const BIG: bool>(rules: &Rules) -> Convert<f64> {
    let missing: Vec<S::Bits> = rules.missing.iter().map(|m| S::bits(*m)).collect();
    match (&missing[..], rules.packing) {
        ([], None) => Box::new(|raw, out| each::<S, BIG, _>(raw, out, S::double)),
        ([], Some((scale, offset))) => {
            Box::new(move |raw, out| each::<S, BIG, _>(raw, out, |b| unpack(S::double(b), scale, offset)))
        }
        (&[one], None) => {
            Box::new(move |raw, out| each::<S, BIG, _>(raw, out, |b| if b == one { f64::NAN } else { S::double(b) }))
        }
        (&[one], Some((scale, offset))) => Box::new(move |raw, out| {
            each::<S, BIG, _>(raw, out, |b| if b == one { f64::NAN } else { unpack(S::double(b), scale, offset) })
        }),
        (_, None) => Box::new(move |raw, out| {
            each::<S, BIG, _>(raw, out, |b| if any(&missing, b) { f64::NAN } else { S::double(b) })
        }),
        (_, Some((scale, offset))) => {
            Box::new(move |raw, out| {
                each::<S, BIG, _>(raw, out, |b| {
                    if any(&missing, b) {
                        f64::NAN
                    } else {
                        unpack(S::double(b), scale, offset)
                    }
                })
            })
        }
    }
}

/// For 64-bit integers, whose doubles may be inexact.
fn counted<S: Integer, const BIG: bool>(rules: &Rules, overflow: &Overflow) -> Option<Convert<f64>> {
    let missing: Vec<S::Bits> = rules.missing.iter().map(|m| S::bits(*m)).collect();
    let overflow = overflow.clone();
    Some(Box::new(move |raw, out| {
        let mut beyond = false;
        each::<S, BIG, _>(raw, out, |b| {
            let masked = any(&missing, b);
            beyond |= !masked & (S::value(b).unsigned_abs() > EXACT.into());
            if masked {
                f64::NAN
            } else {
                S::double(b)
            }
        });
        overflow.fetch_or(beyond, Ordering::Relaxed);
    }))
}

fn words<S: Integer, const BIG: bool>() -> Convert<i32> {
    Box::new(|raw, out| each::<S, BIG, _>(raw, out, |b| S::narrow(b) as i32))
}

fn long_words<S: Integer, const BIG: bool>(overflow: &Overflow) -> Convert<i64> {
    let overflow = overflow.clone();
    Box::new(move |raw, out| {
        let mut beyond = false;
        each::<S, BIG, _>(raw, out, |b| {
            beyond |= !S::fits(b);
            S::narrow(b)
        });
        overflow.fetch_or(beyond, Ordering::Relaxed);
    })
}

#[inline(always)]
fn each<S: Stored, const BIG: bool, T>(raw: &[u8], out: &mut [T], mut value: impl FnMut(S::Bits) -> T) {
    for (bytes, cell) in raw.chunks_exact(S::WIDTH).zip(out) {
        *cell = value(S::load::<BIG>(bytes));
    }
}

/// Two roundings, never fused. Any NaN becomes the canonical one, since its payload would depend on the machine.
#[inline(always)]
fn unpack(stored: f64, scale: f64, offset: f64) -> f64 {
    let value = stored * scale + offset;
    if value.is_nan() {
        f64::NAN
    } else {
        value
    }
}

#[inline(always)]
fn any<B: Copy + Eq>(missing: &[B], bits: B) -> bool {
    missing.iter().fold(false, |found, m| found | (*m == bits))
}

#[cfg(test)]
mod tests {
    use super::super::packing::Target;
    use super::*;

    fn rules(stored: NumericType, order: ByteOrder, missing: &[u64], packing: Option<(f64, f64)>) -> Rules {
        Rules { stored, order, missing: missing.to_vec(), packing, target: Target::F64 }
    }

    fn doubles_of(rules: &Rules, raw: &[u8]) -> (Vec<u64>, bool) {
        let overflow = Overflow::default();
        let mut out = vec![-1.0; raw.len() / rules.stored.width()];
        to_f64(rules, &overflow)(raw, &mut out);
        (out.iter().map(|v| v.to_bits()).collect(), overflow.load(Ordering::Relaxed))
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
}
