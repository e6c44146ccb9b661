//! The content hash of an array, which is its address in a store.

use super::{ArrayView, DType};
use sha2::{Digest, Sha256};
use std::fmt;

/// SHA-256 of an array's type, shape and elements.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArrayHash([u8; 32]);

impl ArrayHash {
    /// Wraps the 32 bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        ArrayHash(bytes)
    }

    /// The 32 bytes, as the catalog keeps them.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// 64 lower-case hex digits, as the array file keeps them.
    pub fn to_hex(self) -> String {
        self.0.iter().map(|b| format!("{b:02x}")).collect()
    }

    /// Reads 64 hex digits.
    pub fn from_hex(hex: &str) -> Option<Self> {
        let digits = hex.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let high = (pair[0] as char).to_digit(16)?;
            let low = (pair[1] as char).to_digit(16)?;
            *byte = (high * 16 + low) as u8;
        }
        Some(ArrayHash(bytes))
    }
}

impl fmt::Debug for ArrayHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

const F64_NAN: [u8; 8] = 0x7ff8_0000_0000_0000_u64.to_le_bytes();
const F32_NAN: [u8; 4] = 0x7fc0_0000_u32.to_le_bytes();

pub(super) fn of(array: &ArrayView<'_>) -> ArrayHash {
    let mut sha = Sha256::new();
    sha.update(array.dtype().name());
    sha.update([0]);
    sha.update((array.shape().len() as u64).to_le_bytes());
    for &d in array.shape() {
        sha.update((d as u64).to_le_bytes());
    }
    match array.dtype() {
        DType::F64 => update_canonical(&mut sha, array.bytes(), F64_NAN, |b| f64::from_le_bytes(b).is_nan()),
        DType::F32 => update_canonical(&mut sha, array.bytes(), F32_NAN, |b| f32::from_le_bytes(b).is_nan()),
        _ => sha.update(array.bytes()),
    }
    ArrayHash(sha.finalize().into())
}

/// Feeds `bytes` with every NaN replaced by `nan`; runs without a NaN are fed as they are.
fn update_canonical<const N: usize>(sha: &mut Sha256, bytes: &[u8], nan: [u8; N], is_nan: impl Fn([u8; N]) -> bool) {
    let mut start = 0;
    for (i, element) in bytes.chunks_exact(N).enumerate() {
        if is_nan(element.try_into().expect("chunks of N")) {
            sha.update(&bytes[start..i * N]);
            sha.update(nan);
            start = (i + 1) * N;
        }
    }
    sha.update(&bytes[start..]);
}

#[cfg(test)]
mod tests {
    use crate::array::{Array, DType};

    fn hex(array: Array) -> String {
        array.view().hash().to_hex()
    }

    #[test]
    fn golden_values() {
        let ramp = [0.0, 1.0, 2.0, 3.0];
        let f32s: Vec<u8> = ramp.iter().flat_map(|&v| (v as f32).to_le_bytes()).collect();
        let i64s: Vec<u8> = (0..4i64).flat_map(i64::to_le_bytes).collect();
        let u64s: Vec<u8> = [1, u64::MAX].into_iter().flat_map(u64::to_le_bytes).collect();
        let cases = [
            (
                Array::from_f64(vec![4], &ramp).unwrap(),
                "f85b4f66e62c7c51f9c82d01eabed7fb5e3b5217a69296aaaff876e1144dd841",
            ),
            (
                Array::from_f64(vec![2, 2], &ramp).unwrap(),
                "11008e302d597ca8a47a9ec3ee06c871f6f057bf3ee8391b4bc6830c11c2a113",
            ),
            (
                Array::new(DType::F32, vec![4], f32s).unwrap(),
                "5c9195b71b14dd82c2153a3a038ec948ad57ccd7928a0456ffe9924dd640635f",
            ),
            (
                Array::new(DType::I64, vec![4], i64s).unwrap(),
                "766789141b8d79f200f1b2ffd4c14a890bac77dc1685645a96a7643e57d8e6b1",
            ),
            (
                Array::new(DType::U64, vec![2], u64s).unwrap(),
                "04383e31416520f466a888865927cdbcc6e535abc48965963ad3fa23756840d1",
            ),
            (
                Array::new(DType::Bool, vec![3], vec![1, 0, 1]).unwrap(),
                "0ac92b0feaec37f5ee30cffd2df07c86fd4c7a812e0deeca5e3baa2d5694e435",
            ),
            (
                Array::from_f64(vec![0], &[]).unwrap(),
                "fda6ea95090a90f9c0b5ee02ad3904aaf15ef67d729c993b4bcfa0bd98e0c433",
            ),
        ];
        for (array, expected) in cases {
            assert_eq!(hex(array), expected);
        }
    }

    #[test]
    fn every_nan_hashes_alike_and_signed_zeros_do_not() {
        for bits in [0x7ff8_0000_0000_0000, 0xfff8_0000_0000_0001, 0x7ff0_0000_0000_0001_u64] {
            let array = Array::from_f64(vec![3], &[1.0, f64::from_bits(bits), 3.0]).unwrap();
            assert_eq!(hex(array), "1743181154e4b3cf9e58222308d8501a9edd08ed19d08292bd6a81ffd49e3272");
        }
        let zero = |z| hex(Array::from_f64(vec![1], &[z]).unwrap());
        assert_ne!(zero(0.0), zero(-0.0));
    }
}
