use super::*;
use crate::chunks::{decode_chunk, ChunkSite, Filter, Scratch};
use crate::ErrorKind;
use proptest::prelude::*;
use std::path::Path;

/// Frames of c-blosc with their names, which say what they hold; `make_blosc.py` beside the file made them.
const FRAMES: &[u8] = include_bytes!("../../../tests/data/filters/blosc.bin");

fn frames() -> Vec<(&'static str, &'static [u8])> {
    let mut rest = FRAMES;
    let mut found = Vec::new();
    while let Some((len, after)) = rest.split_first() {
        let (name, after) = after.split_at(usize::from(*len));
        let (size, after) = after.split_at(4);
        let (frame, after) = after.split_at(u32::from_le_bytes(size.try_into().unwrap()) as usize);
        found.push((std::str::from_utf8(name).unwrap(), frame));
        rest = after;
    }
    found
}

fn plain(name: &str) -> Vec<u8> {
    let fields: Vec<&str> = name.split('-').collect();
    let (width, len) = (fields[3].parse::<usize>().unwrap(), fields[4].parse::<usize>().unwrap());
    match fields[5] {
        "slow" => {
            let element = |i: u128| (i * i / 64).to_le_bytes().into_iter().chain([0; 16]).take(width);
            (0..).flat_map(element).take(len).collect()
        }
        "runs" => (0..len).map(|i| (i / 700) as u8).collect(),
        "far" => {
            let mut state = 1u32;
            let mut noise = || {
                state = state.wrapping_mul(1_103_515_245).wrapping_add(12345) & 0x7fff_ffff;
                (state >> 16) as u8
            };
            let noise: Vec<u8> = (0..9000).map(|_| noise()).collect();
            noise.into_iter().cycle().take(len).collect()
        }
        other => panic!("{other}"),
    }
}

fn frame(name: &str) -> Vec<u8> {
    frames().into_iter().find(|(n, _)| *n == name).unwrap().1.to_vec()
}

fn decode(frame: &[u8], len: usize) -> Decoded<Vec<u8>> {
    let mut out = vec![0xee; len];
    let found = decode_into(frame, &mut out, &mut Codecs::new())?;
    out.truncate(found);
    Ok(out)
}

#[test]
fn frames_of_c_blosc_decode() {
    let mut codecs = Codecs::new();
    let all = frames();
    assert_eq!(all.len(), 92);
    for (name, frame) in all {
        let expected = plain(name);
        assert_eq!(Header::parse(frame).map(|header| header.len), Ok(expected.len()), "{name}");
        // A target with room behind the frame's bytes keeps its own there.
        let mut out = vec![0xee; expected.len() + 3];
        assert_eq!(decode_into(frame, &mut out, &mut codecs), Ok(expected.len()), "{name}");
        assert!(out[..expected.len()] == expected && out[expected.len()..] == [0xee; 3], "{name}");
    }
}

#[test]
fn the_frames_are_of_every_kind() {
    let headers: Vec<Header> = frames().iter().map(|(_, frame)| Header::parse(frame).unwrap()).collect();
    for codec in [Codec::BloscLz, Codec::Lz4, Codec::Snappy, Codec::Zlib, Codec::Zstd] {
        for shuffle in [Shuffle::Bytes, Shuffle::Bits] {
            assert!(headers.iter().any(|h| (h.codec, h.shuffle, h.stored) == (codec, shuffle, false)));
        }
    }
    let split = |h: &Header| !h.whole_blocks && (2..=MAX_SPLITS).contains(&h.width) && h.block / h.width >= MIN_STREAM;
    assert!(headers.iter().any(|h| split(h) && h.len > h.block && !h.stored));
    assert!(headers.iter().any(|h| h.whole_blocks && h.len / h.block > 1 && h.len % h.block != 0));
    assert!(headers.iter().any(|h| h.len % h.block % h.width != 0));
    assert!(headers.iter().any(|h| h.stored && h.len > 0) && headers.iter().any(|h| h.len == 0));
}

#[test]
fn sizes_that_lie_are_refused() {
    let whole = frame("zstd-5-1-4-6002-slow");
    assert_eq!(decode(&whole, 6002).unwrap(), plain("zstd-5-1-4-6002-slow"));
    let change = |at: usize, value: i32| {
        let mut frame = whole.clone();
        frame[at..at + 4].copy_from_slice(&value.to_le_bytes());
        decode(&frame, 6002).unwrap_err()
    };
    let damaged = |error: CodecError, part: &str| {
        assert!(matches!(&error, CodecError::Damaged(text) if text.contains(part)), "{error:?} {part}");
    };
    damaged(change(4, i32::MAX), "holds 2147483647 bytes, 6002 are expected");
    damaged(change(4, -1), "no header");
    damaged(change(4, 6001), "frame");
    damaged(change(8, 0), "blocks of 0 bytes");
    damaged(change(8, 6003), "blocks of 6003 bytes");
    damaged(change(8, 1), "too few for 6002 blocks");
    damaged(change(12, 20), "its header says 20");
    damaged(change(16, 0), "block 0 of its Blosc frame lies outside");
    damaged(change(20, whole.len() as i32 + 1), "block 1 of its Blosc frame lies outside");
    damaged(change(24, -4), "block 2 of its Blosc frame lies outside");
    damaged(change(28, i32::MAX), "stream");
    damaged(decode(&whole[..15], 6002).unwrap_err(), "no header");
    damaged(decode(&whole, 6001).unwrap_err(), "6001 are expected");
    let mut stored = frame("blosclz-0-1-8-400-slow");
    stored.pop();
    stored[12..16].copy_from_slice(&415i32.to_le_bytes());
    damaged(decode(&stored, 400).unwrap_err(), "cut short");
}

#[test]
fn frames_of_blosc_2_and_unknown_compressors_are_unsupported() {
    let site = ChunkSite { path: Path::new("a.nc"), what: "variable \"u\"", chunk: 7 };
    for (at, value, what) in [
        (0, 5, "a Blosc frame of format 5 (Blosc 2)"),
        (2, 0xb1, "compressor 5 of Blosc"),
        (2, 0x99, "an extended Blosc frame"),
    ] {
        let mut frame = frame("zstd-5-1-4-6002-slow");
        frame[at] = value;
        let mut out = [0; 6002];
        let error = decode_chunk(&frame, &[Filter::Blosc], 0, &mut out, &mut Scratch::new(), &site).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let text = error.to_string();
        let expected =
            format!("a.nc: variable \"u\" is stored with {what}, which this library does not read; rewrite it");
        assert!(text.contains(&expected), "{text}");
    }
}

#[test]
fn copies_of_blosclz_reach_back_and_overlap() {
    let decode = |stream: &[u8], len: usize| {
        let mut out = vec![0; len];
        blosclz::decode(stream, &mut out).map(|found| out[..found].to_vec())
    };
    // Three literals, then copies from 3, 1 and 2 bytes back, the last of 9 + 255 + 1 bytes.
    let stream = [2, 7, 8, 9, 0x20, 2, 0x40, 0, 0xe0, 255, 1, 1, 0, 5];
    let mut expected = vec![7, 8, 9, 7, 8, 9, 9, 9, 9, 9];
    expected.extend([9; 265]);
    expected.push(5);
    assert_eq!(decode(&stream, 276).unwrap(), expected);
    assert_eq!(decode(&stream, 275), None);
    assert_eq!(decode(&stream[..11], 276), None);
    assert_eq!(decode(&[0, 7, 0x20, 1], 9), None);
    assert_eq!(decode(&[], 9).unwrap(), [0u8; 0]);
}

proptest! {
    #[test]
    fn damaged_frames_give_bytes_or_an_error(
        pick in any::<prop::sample::Index>(),
        harm in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        early in any::<bool>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let all = frames();
        let (name, frame) = all[pick.index(all.len())];
        let mut frame = frame.to_vec();
        for (at, value) in harm {
            let reach = if early { frame.len().min(64) } else { frame.len() };
            frame[at.index(reach)] = value;
        }
        let len = plain(name).len();
        let mut out = vec![0xee; len];
        if let Ok(found) = decode_into(&frame, &mut out, &mut Codecs::new()) {
            prop_assert!(found <= len && out[found..].iter().all(|byte| *byte == 0xee));
        }
        frame.truncate(cut.index(frame.len()));
        let len = frame.len() as i32;
        if let Some(size) = frame.get_mut(12..16) {
            size.copy_from_slice(&len.to_le_bytes());
        }
        let _ = decode(&frame, 70_001);
    }
}
