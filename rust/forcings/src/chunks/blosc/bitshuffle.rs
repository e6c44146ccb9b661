//! The bit shuffle of Blosc 1: bits of equal significance gathered into planes. Undone here.

/// Undoes the shuffle of elements of `width` bytes: `planes` to `out`, which is as long. Where the elements are no
/// multiple of eight, Blosc 1 leaves a block as it is; bytes behind the last whole element always stay.
pub(super) fn bit_unshuffle(planes: &[u8], width: usize, out: &mut [u8]) {
    let count = out.len() / width;
    if count % 8 != 0 {
        out.copy_from_slice(planes);
        return;
    }
    // Bytes of one plane; each holds one bit of eight elements.
    let plane = count / 8;
    for byte in 0..width {
        for group in 0..plane {
            let rows = std::array::from_fn(|bit| planes[(byte * 8 + bit) * plane + group]);
            let bytes = transpose(u64::from_le_bytes(rows)).to_le_bytes();
            for (k, value) in bytes.into_iter().enumerate() {
                out[(group * 8 + k) * width + byte] = value;
            }
        }
    }
    out[count * width..].copy_from_slice(&planes[count * width..]);
}

/// Transposes eight bytes as a matrix of bits: bit k of byte i becomes bit i of byte k. Squares of one, two and four bits
/// are swapped across the diagonal.
fn transpose(mut bits: u64) -> u64 {
    for (shift, mask) in [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)] {
        let swap = (bits ^ (bits >> shift)) & mask;
        bits ^= swap ^ (swap << shift);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_of_bits_is_transposed() {
        for row in 0..8 {
            for column in 0..8 {
                assert_eq!(transpose(1 << (8 * row + column)), 1 << (8 * column + row), "{row} {column}");
            }
        }
    }
}
