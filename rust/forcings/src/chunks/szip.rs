//! Szip chunks (CCSDS 121.0-B): parameters are checked here, the bits are read by the decoder of `hdf5-reader`.

use super::codecs::{CodecError, Decoded};

/// Decodes a chunk into `to`, as far as it goes; returns the bytes that it holds. `client`: options, pixels in a block,
/// bits of a pixel, pixels in a scanline.
pub(super) fn decode(from: &[u8], client: &[u32; 4], to: &mut [u8]) -> Decoded<usize> {
    let plain = hdf5_reader::filters::szip::decompress_with_limit(from, client, to.len())
        .map_err(|e| CodecError::damaged(format!("its szip stream is damaged: {e}")))?;
    let found = plain.len();
    to[..found].copy_from_slice(&plain);
    Ok(found)
}
