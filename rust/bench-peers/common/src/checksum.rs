//! A checksum that both sides of a comparison can afford to compute in the timed part. Depends on nothing: benchmarks
//! include this file by path.

/// `Σ (index + 1) · Σ bits` modulo 2^64 over the steps (windows, epochs) of a sweep: equal for any order of visits and
/// of columns, different if a value changes or sits at another step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checksum(u64);

impl Checksum {
    /// Adds the sum of the bit patterns at a step (0-based).
    pub fn add(&mut self, index: usize, bits: u64) {
        self.0 = self.0.wrapping_add((index as u64).wrapping_add(1).wrapping_mul(bits));
    }

    /// Sixteen hexadecimal digits: JSON numbers do not hold 64 bits everywhere.
    pub fn hex(self) -> String {
        format!("{:016x}", self.0)
    }
}

/// The sum modulo 2^64 of the bit patterns of little-endian elements, each read as an unsigned integer; those of 8 bytes
/// with their halves exchanged, so that the sum does not push out the half that varies most in doubles.
///
/// # Panics
/// If `width` is not 1, 4 or 8.
pub fn bits_of_bytes(bytes: &[u8], width: usize) -> u64 {
    fn sum<const N: usize>(bytes: &[u8], bits: impl Fn([u8; N]) -> u64) -> u64 {
        bytes.chunks_exact(N).fold(0, |sum, element| sum.wrapping_add(bits(element.try_into().expect("N bytes"))))
    }
    match width {
        1 => sum::<1>(bytes, |b| b[0].into()),
        4 => sum::<4>(bytes, |b| u32::from_le_bytes(b).into()),
        8 => sum::<8>(bytes, |b| u64::from_le_bytes(b).rotate_left(32)),
        _ => panic!("elements of {width} bytes"),
    }
}

/// The same sum over doubles.
pub fn bits_of_f64(values: &[f64]) -> u64 {
    values.iter().fold(0, |sum, x| sum.wrapping_add(x.to_bits().rotate_left(32)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_bit_patterns_by_width() {
        assert_eq!(bits_of_bytes(&[1, 2, 255], 1), 258);
        assert_eq!(bits_of_bytes(&[1, 0, 0, 0, 0, 1, 0, 0], 4), 257);
        let bytes: Vec<u8> = [1.5f64, -2.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        assert_eq!(bits_of_bytes(&bytes, 8), bits_of_f64(&[-2.0, 1.5]));
        assert_eq!(bits_of_f64(&[1.5, 1.5]), 2 * 0x3FF8_0000);
    }

    #[test]
    fn steps_count_and_their_order_of_visit_does_not() {
        let sum = |steps: &[(usize, u64)]| {
            let mut checksum = Checksum::default();
            steps.iter().for_each(|&(index, bits)| checksum.add(index, bits));
            checksum
        };
        assert_eq!(sum(&[(0, 10), (1, 20)]).hex(), "0000000000000032");
        assert_eq!(sum(&[(0, 10), (1, 20)]), sum(&[(1, 20), (0, 10)]));
        assert_ne!(sum(&[(0, 10), (1, 20)]), sum(&[(0, 20), (1, 10)]));
    }
}
