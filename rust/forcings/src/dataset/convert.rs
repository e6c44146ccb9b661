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
