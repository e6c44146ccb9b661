//! Half-precision numbers, which are widened to single precision when a chunk is decoded. Every one is exact there.

use crate::formats::ByteOrder;

/// Widens stored halves to singles in the same byte order; `to` has twice the bytes of `from`.
pub(super) fn widen(from: &[u8], to: &mut [u8], order: ByteOrder) {
    for (half, single) in from.chunks_exact(2).zip(to.chunks_exact_mut(4)) {
        let half = [half[0], half[1]];
        single.copy_from_slice(&match order {
            ByteOrder::Little => single_bits(u16::from_le_bytes(half)).to_le_bytes(),
            ByteOrder::Big => single_bits(u16::from_be_bytes(half)).to_be_bytes(),
        });
    }
}

/// The single-precision bits of a half: 1 sign bit, 5 of exponent, 10 of fraction.
pub(super) fn single_bits(half: u16) -> u32 {
    let half = u32::from(half);
    let (sign, exponent, fraction) = ((half & 0x8000) << 16, half >> 10 & 0x1f, half & 0x3ff);
    sign | match (exponent, fraction) {
        (0, 0) => 0,
        // Subnormal: the highest bit of the fraction becomes the implied one.
        (0, _) => {
            let shift = fraction.leading_zeros() - 21;
            (113 - shift) << 23 | (fraction << shift & 0x3ff) << 13
        }
        (0x1f, _) => 0xff << 23 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    }
}

/// The nearest half, to even where two are as near.
pub(super) fn nearest(value: f64) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 48 & 0x8000) as u16;
    let magnitude = value.abs();
    if value.is_nan() {
        return sign | 0x7e00;
    }
    // Beyond the middle between the largest half and the next power of two.
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // Below 2^-14 halves are 2^-24 apart; above, 1024 of them lie between two powers of two. The bits of a half count
    // on through both, so that rounding up into the next power needs no care.
    let exponent = ((bits >> 52 & 0x7ff) as i32 - 1023).max(-14);
    let steps = magnitude * 2f64.powi(10 - exponent);
    let whole = steps.trunc();
    let up = steps - whole > 0.5 || (steps - whole == 0.5 && whole % 2.0 == 1.0);
    sign | (((exponent + 14) as u16) << 10).wrapping_add(whole as u16 + u16::from(up))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_is_the_number_that_its_bits_say() {
        for half in 0..=u16::MAX {
            let single = f32::from_bits(single_bits(half));
            let (exponent, fraction) = (i32::from(half >> 10 & 0x1f), f64::from(half & 0x3ff));
            let expected = match exponent {
                0 => fraction * 2f64.powi(-24),
                0x1f if fraction == 0.0 => f64::INFINITY,
                0x1f => f64::NAN,
                _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
            };
            assert_eq!(single.is_sign_negative(), half & 0x8000 != 0);
            assert!(f64::from(single).abs() == expected || (single.is_nan() && expected.is_nan()), "{half:04x}");
            let back = nearest(single.into());
            assert_eq!(back, if single.is_nan() { half & 0x8000 | 0x7e00 } else { half });
        }
    }

    #[test]
    fn what_is_no_half_becomes_the_nearest_one() {
        for (value, half) in [
            (0.1, 0x2e66),
            (1.0 + 1.0 / 2048.0, 0x3c00),
            (1.0 + 3.0 / 2048.0, 0x3c02),
            (65519.9, 0x7bff),
            (65520.0, 0x7c00),
            (-1e300, 0xfc00),
            (2f64.powi(-25), 0),
            (2f64.powi(-25) * 1.01, 1),
            (2f64.powi(-14) * (1.0 - 2f64.powi(-12)), 0x400),
            (5e-324, 0),
        ] {
            assert_eq!(nearest(value), half, "{value}");
        }
    }

    #[test]
    fn bytes_are_widened_in_their_order() {
        let mut out = [0; 8];
        widen(&[0x00, 0x3c, 0x01, 0x80], &mut out, ByteOrder::Little);
        assert_eq!(out[..4], 1f32.to_le_bytes());
        assert_eq!(out[4..], (-(2f32.powi(-24))).to_le_bytes());
        widen(&[0x3c, 0x00, 0x7c, 0x00], &mut out, ByteOrder::Big);
        assert_eq!(out[..4], 1f32.to_be_bytes());
        assert_eq!(out[4..], f32::INFINITY.to_be_bytes());
    }
}
