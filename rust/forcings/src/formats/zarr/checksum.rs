//! CRC-32C (Castagnoli), the checksum of shard indexes and of the codec `crc32c`.

/// The polynomial, its bits reversed.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// Bytes that one step takes in.
const LANES: usize = 8;

/// `TABLES[k][b]`: what byte `b` does to the checksum from `k` bytes before the end of a step.
static TABLES: [[u32; 256]; LANES] = tables();

const fn tables() -> [[u32; 256]; LANES] {
    let mut tables = [[0; 256]; LANES];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut lane = 1;
    while lane < LANES {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[lane - 1][byte];
            tables[lane][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        lane += 1;
    }
    tables
}

/// The checksum of these bytes.
pub(super) fn crc32c(bytes: &[u8]) -> u32 {
    let mut steps = bytes.chunks_exact(LANES);
    let mut crc = !0;
    for step in &mut steps {
        let step = u64::from_le_bytes(step.try_into().expect("steps have this length")) ^ u64::from(crc);
        crc = step.to_be_bytes().iter().zip(&TABLES).fold(0, |crc, (byte, table)| crc ^ table[usize::from(*byte)]);
    }
    for byte in steps.remainder() {
        crc = crc >> 8 ^ TABLES[0][usize::from(crc as u8 ^ byte)];
    }
    !crc
}

/// The bytes before the checksum at their end, little-endian, if it is theirs.
pub(super) fn verified(bytes: &[u8]) -> Option<&[u8]> {
    let (data, stored) = bytes.split_last_chunk::<4>()?;
    (crc32c(data) == u32::from_le_bytes(*stored)).then_some(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 3720, B.4.
    #[test]
    fn the_checksum_is_castagnolis() {
        let ascending: Vec<u8> = (0..32).collect();
        let descending: Vec<u8> = (0..32).rev().collect();
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c(&ascending), 0x46dd_794e);
        assert_eq!(crc32c(&descending), 0x113f_db5c);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(b""), 0);
    }

    #[test]
    fn a_changed_bit_is_found_wherever_it_is() {
        let mut bytes: Vec<u8> = (0..29).collect();
        let sum = crc32c(&bytes);
        bytes.extend(sum.to_le_bytes());
        assert_eq!(verified(&bytes), Some(&bytes[..29]));
        for bit in 0..8 * bytes.len() {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(verified(&bytes), None);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(verified(&bytes[..3]), None);
    }
}
