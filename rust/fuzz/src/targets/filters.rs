//! Chunks behind each filter. The first two bytes of an input are the length in memory, but for parameters of the filter.

use forcings::chunks::{decode_chunk, ChunkSite, Filter, ScaleOffset, Scratch};
use std::path::Path;

pub(super) fn blosc(bytes: &[u8]) -> String {
    decode(Filter::Blosc, bytes)
}

pub(super) fn lz4(bytes: &[u8]) -> String {
    decode(Filter::Lz4, bytes)
}

/// Five bytes more: options, pixels in a block, bits of a pixel; pixels in a scanline take two.
pub(super) fn szip(bytes: &[u8]) -> String {
    let Some(([options, block, bits, low, high], rest)) = bytes.split_first_chunk::<5>() else {
        return "too short".into();
    };
    let line = u32::from(u16::from_le_bytes([*low, *high]));
    decode(Filter::Szip([u32::from(*options), u32::from(*block), u32::from(*bits), line]), rest)
}

/// Nine bytes are the parameters that count.
pub(super) fn scale_offset(bytes: &[u8]) -> String {
    let Some(([kind, factor, count, class, width, sign, order, filled, fill], rest)) = bytes.split_first_chunk::<9>()
    else {
        return "too short".into();
    };
    let mut client: Vec<u32> =
        [kind, factor, count, class, width, sign, order, filled, fill].map(|b| u32::from(*b)).to_vec();
    client.resize(20, 0);
    match ScaleOffset::parse(&client) {
        Some(parameters) => decode(Filter::ScaleOffset(parameters), rest),
        None => "no parameters".into(),
    }
}

fn decode(filter: Filter, bytes: &[u8]) -> String {
    let Some((len, stored)) = bytes.split_first_chunk::<2>() else { return "too short".into() };
    let mut out = vec![0; usize::from(u16::from_le_bytes(*len))];
    let site = ChunkSite { path: Path::new("input"), what: "x", chunk: 0 };
    match decode_chunk(stored, &[filter], 0, &mut out, &mut Scratch::new(), &site) {
        Ok(()) => "read".into(),
        Err(e) => e.to_string(),
    }
}
