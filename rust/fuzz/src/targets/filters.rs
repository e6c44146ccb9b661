//! Chunks behind each filter. The first two bytes of an input are the length in memory, but for parameters of the filter.

use forcings::chunks::{
    decode_chunk, fetch_pair, ChunkEntry, ChunkFetch, ChunkSite, Filter, MemorySource, ScaleOffset, Scratch,
};
use libdeflater::{adler32, DecompressionError, Decompressor};
use std::path::Path;

pub(super) fn blosc(bytes: &[u8]) -> String {
    decode(Filter::Blosc, bytes)
}

pub(super) fn lz4(bytes: &[u8]) -> String {
    decode(Filter::Lz4, bytes)
}

/// Two bare DEFLATE streams, the first one's length in two bytes more. Decoded at once they must give what libdeflate makes
/// of each. They get the checksums of that, or mutants would only ever have wrong ones.
pub(super) fn inflate(bytes: &[u8]) -> String {
    let Some(([low, high, first_low, first_high], streams)) = bytes.split_first_chunk::<4>() else {
        return "too short".into();
    };
    let room = usize::from(u16::from_le_bytes([*low, *high]));
    let first = usize::from(u16::from_le_bytes([*first_low, *first_high])).min(streams.len());
    let (wanted, framed): (Vec<_>, Vec<_>) =
        [&streams[..first], &streams[first..]].into_iter().map(|stream| framed(stream, room)).unzip();
    let source = MemorySource::new("input", framed.concat());
    let mut parts = [(); 2].map(|()| (vec![0; room], Scratch::new()));
    let mut fetches = framed.iter().zip(&mut parts).scan(0, |offset, (stream, (out, scratch))| {
        let entry = ChunkEntry { offset: *offset, size: stream.len() as u32, filter_mask: 0 };
        *offset += stream.len() as u64;
        let site = ChunkSite { path: Path::new("input"), what: "x", chunk: 0 };
        Some(ChunkFetch { source: &source, entry, filters: &[Filter::Deflate], out, scratch, site })
    });
    let found = fetch_pair([(); 2].map(|()| fetches.next().expect("there are two")));
    drop(fetches);
    let outcomes = found.into_iter().zip(&wanted).zip(&parts);
    outcomes.map(|((found, wanted), (out, _))| agreed(found, wanted, out)).collect::<Vec<_>>().join(";")
}

/// How the decoding of a stream to `out` ended, which must be as with libdeflate.
fn agreed(found: forcings::Result<()>, wanted: &Wanted, out: &[u8]) -> &'static str {
    match (found, wanted) {
        (Ok(()), Ok(wanted)) => {
            assert_eq!(out, wanted);
            "read"
        }
        (Ok(()), Err(_)) => panic!("libdeflate refuses it"),
        (Err(e), Ok(wanted)) => {
            let expands = e.to_string().contains("cannot expand");
            assert!(wanted.len() < out.len() || expands, "libdeflate reads it: {e}");
            "of another length"
        }
        (Err(_), Err(_)) => "refused",
    }
}

/// What libdeflate makes of a stream.
type Wanted = Result<Vec<u8>, DecompressionError>;

/// What libdeflate makes of a stream in a frame of zlib, and that: the frame vouches for what the stream holds.
fn framed(stream: &[u8], room: usize) -> (Wanted, Vec<u8>) {
    let (mut decoder, mut plain) = (Decompressor::new(), vec![0; room]);
    let len = decoder.deflate_decompress(stream, &mut plain).unwrap_or(0);
    let framed = [&[0x78, 0x01], stream, &adler32(&plain[..len]).to_be_bytes()].concat();
    let wanted = decoder.zlib_decompress(&framed, &mut plain).map(|len| {
        plain.truncate(len);
        plain
    });
    (wanted, framed)
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
