//! From runs of stored numbers to values, in one pass. There is one closure for each combination of stored type, byte
//! order, masking and packing, so that their loops hold no branch and the compiler can vectorise them.

#[cfg(test)]
mod tests;

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
pub(super) trait Stored: 'static {
    type Bits: Copy + Eq + Send + Sync + 'static;
    const WIDTH: usize;
    fn load<const BIG: bool>(bytes: &[u8]) -> Self::Bits;
    fn bits(wide: u64) -> Self::Bits;
    fn double(bits: Self::Bits) -> f64;
    fn single(bits: Self::Bits) -> f32;
}

/// A type of results. Every one but the stored single itself is computed as a double, and rounded to a single once.
pub(super) trait Float: Copy + Default + Send + Sync + 'static {
    const NAN: Self;
    fn of(value: f64) -> Self;
    fn stored<S: Stored>(bits: S::Bits) -> Self;
}

impl Float for f64 {
    const NAN: f64 = f64::NAN;

    #[inline(always)]
    fn of(value: f64) -> f64 {
        value
    }

    #[inline(always)]
    fn stored<S: Stored>(bits: S::Bits) -> f64 {
        S::double(bits)
    }
}

impl Float for f32 {
    const NAN: f32 = f32::NAN;

    #[inline(always)]
    fn of(value: f64) -> f32 {
        value as f32
    }

    #[inline(always)]
    fn stored<S: Stored>(bits: S::Bits) -> f32 {
        S::single(bits)
    }
}

/// A stored integer.
trait Integer: Stored {
    fn value(bits: Self::Bits) -> i128;
    /// The value modulo 2^64, which is exact where `fits`.
    fn narrow(bits: Self::Bits) -> i64;
    fn fits(bits: Self::Bits) -> bool;
}

/// A type of results that are whole numbers.
trait Whole: Copy + 'static {
    /// The value itself, of stored types that fit.
    fn of(value: i64) -> Self;
}

impl Whole for i32 {
    #[inline(always)]
    fn of(value: i64) -> i32 {
        value as i32
    }
}

impl Whole for i64 {
    #[inline(always)]
    fn of(value: i64) -> i64 {
        value
    }
}

macro_rules! stored {
    ($($number:ty, $bits:ty, $double:expr, $single:expr;)*) => {$(
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

            #[inline(always)]
            fn single(bits: $bits) -> f32 {
                $single(bits)
            }
        }
    )*};
}

stored! {
    i8, u8, |b| f64::from(b as i8), |b| f32::from(b as i8);
    u8, u8, f64::from, f32::from;
    i16, u16, |b| f64::from(b as i16), |b| f32::from(b as i16);
    u16, u16, f64::from, f32::from;
    i32, u32, |b| f64::from(b as i32), |b| b as i32 as f32;
    u32, u32, f64::from, |b| b as f32;
    i64, u64, |b| b as i64 as f64, |b| b as i64 as f64 as f32;
    u64, u64, |b| b as f64, |b| b as f64 as f32;
    f32, u32, |b| f64::from(f32::from_bits(b)), f32::from_bits;
    f64, u64, f64::from_bits, |b| single(f64::from_bits(b));
}

/// Rounded to a single; NaN becomes the canonical one.
#[inline(always)]
fn single(value: f64) -> f32 {
    if value.is_nan() {
        f32::NAN
    } else {
        value as f32
    }
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

/// Calls `$function` with the stored type, the byte order of the rules and the type of the results as its parameters.
macro_rules! with_type {
    ($rules:expr, $result:ident, $function:ident $arguments:tt, [$($number:ident => $type:ty),*], $otherwise:expr) => {
        match ($rules.stored, $rules.order) {
            $(
                (NumericType::$number, ByteOrder::Little) => $function::<$type, false, $result> $arguments,
                (NumericType::$number, ByteOrder::Big) => $function::<$type, true, $result> $arguments,
            )*
            #[allow(unreachable_patterns, reason = "some uses list every type")]
            _ => $otherwise,
        }
    };
}

/// To doubles or singles. An unpacked integer beyond 2^53 that is not masked sets `overflow`.
pub(super) fn to_float<F: Float>(rules: &Rules, overflow: &Overflow) -> Convert<F> {
    if rules.packing.is_none() {
        let counted = with_type!(rules, F, counted(rules, overflow), [I64 => i64, U64 => u64], None);
        if let Some(convert) = counted {
            return convert;
        }
    }
    with_type!(
        rules,
        F,
        floats(rules),
        [I8 => i8, U8 => u8, I16 => i16, U16 => u16, I32 => i32, U32 => u32, I64 => i64, U64 => u64, F32 => f32,
         F64 => f64],
        unreachable!("every type is listed")
    )
}

/// To bytes that are 0 or 1.
pub(super) fn to_bool() -> Convert<u8> {
    Box::new(|raw, out| raw.iter().zip(out).for_each(|(byte, truth)| *truth = u8::from(*byte != 0)))
}

/// To int32, for stored types that fit.
pub(super) fn to_i32(rules: &Rules) -> Convert<i32> {
    with_type!(
        rules,
        i32,
        words(),
        [I8 => i8, U8 => u8, I16 => i16, U16 => u16, I32 => i32],
        unreachable!("the target int32 is chosen for these types only")
    )
}

/// To int64; a number beyond its range sets `overflow`.
pub(super) fn to_i64(rules: &Rules, overflow: &Overflow) -> Convert<i64> {
    with_type!(
        rules,
        i64,
        long_words(overflow),
        [U32 => u32, I64 => i64, U64 => u64],
        unreachable!("the target int64 is chosen for these types only")
    )
}

fn floats<S: Stored, const BIG: bool, F: Float>(rules: &Rules) -> Convert<F> {
    let missing: Vec<S::Bits> = rules.missing.iter().map(|m| S::bits(*m)).collect();
    let plain = F::stored::<S>;
    match (&missing[..], rules.packing) {
        ([], None) => Box::new(move |raw, out| each::<S, BIG, _>(raw, out, plain)),
        ([], Some(packing)) => Box::new(move |raw, out| each::<S, BIG, _>(raw, out, |b| unpack::<S, F>(b, packing))),
        (&[one], None) => {
            Box::new(move |raw, out| each::<S, BIG, _>(raw, out, |b| if b == one { F::NAN } else { plain(b) }))
        }
        (&[one], Some(packing)) => Box::new(move |raw, out| {
            each::<S, BIG, _>(raw, out, |b| if b == one { F::NAN } else { unpack::<S, F>(b, packing) })
        }),
        (_, None) => {
            Box::new(move |raw, out| each::<S, BIG, _>(raw, out, |b| if any(&missing, b) { F::NAN } else { plain(b) }))
        }
        (_, Some(packing)) => Box::new(move |raw, out| {
            each::<S, BIG, _>(raw, out, |b| if any(&missing, b) { F::NAN } else { unpack::<S, F>(b, packing) })
        }),
    }
}

/// For 64-bit integers, whose doubles may be inexact.
fn counted<S: Integer, const BIG: bool, F: Float>(rules: &Rules, overflow: &Overflow) -> Option<Convert<F>> {
    let missing: Vec<S::Bits> = rules.missing.iter().map(|m| S::bits(*m)).collect();
    let overflow = overflow.clone();
    Some(Box::new(move |raw, out| {
        let mut beyond = false;
        each::<S, BIG, _>(raw, out, |b| {
            let masked = any(&missing, b);
            beyond |= !masked & (S::value(b).unsigned_abs() > EXACT.into());
            if masked {
                F::NAN
            } else {
                F::stored::<S>(b)
            }
        });
        overflow.fetch_or(beyond, Ordering::Relaxed);
    }))
}

fn words<S: Integer, const BIG: bool, T: Whole>() -> Convert<T> {
    Box::new(|raw, out| each::<S, BIG, _>(raw, out, |b| T::of(S::narrow(b))))
}

fn long_words<S: Integer, const BIG: bool, T: Whole>(overflow: &Overflow) -> Convert<T> {
    let overflow = overflow.clone();
    Box::new(move |raw, out| {
        let mut beyond = false;
        each::<S, BIG, _>(raw, out, |b| {
            beyond |= !S::fits(b);
            T::of(S::narrow(b))
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

/// Two roundings, never fused, and one more where the result is a single. Any NaN becomes the canonical one, since its
/// payload would depend on the machine.
#[inline(always)]
fn unpack<S: Stored, F: Float>(stored: S::Bits, (scale, offset): (f64, f64)) -> F {
    let value = S::double(stored) * scale + offset;
    if value.is_nan() {
        F::NAN
    } else {
        F::of(value)
    }
}

#[inline(always)]
fn any<B: Copy + Eq>(missing: &[B], bits: B) -> bool {
    missing.iter().fold(false, |found, m| found | (*m == bits))
}
