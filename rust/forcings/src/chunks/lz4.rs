//! The frame of the LZ4 filter of HDF5 (32004): the length, the length of a block, and blocks of raw LZ4.

use super::codecs::{CodecError, Codecs, Decoded};

/// Decodes a frame into `to`, as far as it goes; returns the bytes that it holds.
pub(super) fn decode(from: &[u8], to: &mut [u8]) -> Decoded<usize> {
    let damaged = |detail: &str| CodecError::damaged(format!("its LZ4 frame {detail}"));
    let (Some(total), Some(block)) = (big_endian(from, 0, 8), big_endian(from, 8, 4)) else {
        return Err(damaged("has no header"));
    };
    let room = to.len();
    let target = usize::try_from(total).ok().and_then(|total| to.get_mut(..total));
    let target = target.ok_or_else(|| damaged(&format!("holds {total} bytes, {room} are expected")))?;
    if target.is_empty() {
        return Ok(0);
    }
    let block =
        usize::try_from(block).ok().filter(|block| *block > 0).ok_or_else(|| damaged("has blocks of no bytes"))?;
    let total = target.len();
    let mut at = 12;
    for part in target.chunks_mut(block) {
        let size = big_endian(from, at, 4).ok_or_else(|| damaged("is cut short"))? as usize;
        let stored = from[at + 4..].get(..size).ok_or_else(|| damaged("is cut short"))?;
        at += 4 + size;
        // What did not get smaller is kept as it is.
        if size == part.len() {
            part.copy_from_slice(stored);
        } else if Codecs::lz4(stored, part)? != part.len() {
            return Err(damaged("has a block that is too short"));
        }
    }
    Ok(total)
}

/// The number of `width` bytes, at most eight, at `at`.
fn big_endian(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(width)?)?;
    Some(bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(total: u64, block: u32, blocks: &[&[u8]]) -> Vec<u8> {
        let mut frame = [total.to_be_bytes().as_slice(), &block.to_be_bytes()].concat();
        for bytes in blocks {
            frame.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
            frame.extend_from_slice(bytes);
        }
        frame
    }

    fn decoded(frame: &[u8], len: usize) -> Decoded<Vec<u8>> {
        let mut out = vec![0xee; len];
        let found = decode(frame, &mut out)?;
        out.truncate(found);
        Ok(out)
    }

    #[test]
    fn blocks_are_compressed_or_kept() {
        let plain: Vec<u8> = (0..250).map(|i| i / 50).collect();
        let packed = lz4_flex::block::compress(&plain[..100]);
        let good = frame(250, 100, &[&packed, &plain[100..200], &plain[200..]]);
        assert_eq!(decoded(&good, 250).unwrap(), plain);
        assert_eq!(decoded(&good, 300).unwrap(), plain);
        assert_eq!(decoded(&frame(0, 0, &[]), 9).unwrap(), [0u8; 0]);
        for (bad, len) in [
            (good.clone(), 249),
            (good[..good.len() - 1].to_vec(), 250),
            (good[..11].to_vec(), 250),
            (frame(250, 0, &[&packed]), 250),
            (frame(u64::MAX, 100, &[&packed]), 250),
            (frame(101, 101, &[&packed]), 101),
            (frame(99, 99, &[&packed]), 99),
        ] {
            assert!(decoded(&bad, len).is_err(), "{len}");
        }
    }
}
