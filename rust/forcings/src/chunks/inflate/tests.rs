use super::*;
use flate2::{Compress, Compression, FlushCompress};
use libdeflater::{CompressionLvl, Compressor, DecompressionError, Decompressor};
use proptest::collection::vec;
use proptest::prelude::*;

/// The loops that the processor has, and those that any has.
const LOOPS: [Loops; 2] =
    [Loops { pair: fast::pair, one: fast::one }, Loops { pair: fast::pair_by::<false>, one: fast::one_by::<false> }];

/// What fills the room before a stream is decoded.
const UNTOUCHED: u8 = 0xa5;

/// What libdeflate makes of a stream in a room of `len` bytes.
fn expected(frame: Frame, stream: &[u8], len: usize) -> Result<Vec<u8>, Fault> {
    let mut out = vec![UNTOUCHED; len];
    let found = match frame {
        Frame::Zlib => Decompressor::new().zlib_decompress(stream, &mut out),
        Frame::Gzip => Decompressor::new().gzip_decompress(stream, &mut out),
    };
    out.truncate(*found.as_ref().unwrap_or(&0));
    found.map(|_| out).map_err(|e| match e {
        DecompressionError::BadData => Fault::Damaged,
        DecompressionError::InsufficientSpace => Fault::TooLong,
    })
}

/// Decodes both streams with all loops, and compares them with libdeflate: their bytes, or that they are refused.
fn check(frame: Frame, streams: [(&[u8], usize); 2]) {
    let wanted = streams.map(|(stream, len)| expected(frame, stream, len));
    let mut inflater = Inflater::new();
    for loops in LOOPS {
        // Bytes behind the room, which no copy may reach.
        let mut rooms = streams.map(|(_, len)| vec![UNTOUCHED; len + 300]);
        let [a, b] = &mut rooms;
        let jobs = [
            Job { from: streams[0].0, to: &mut a[..streams[0].1] },
            Job { from: streams[1].0, to: &mut b[..streams[1].1] },
        ];
        let found = inflater.decode(frame, jobs, loops);
        for ((found, wanted), (room, (_, len))) in found.into_iter().zip(&wanted).zip(rooms.iter().zip(streams)) {
            assert_eq!(found.is_ok(), wanted.is_ok(), "{found:?}, not {wanted:?}");
            assert!(room[len..].iter().all(|byte| *byte == UNTOUCHED), "bytes behind the room were written");
            if let (Ok(found), Ok(wanted)) = (found, wanted) {
                assert_eq!(&room[..found], &wanted[..]);
            }
        }
    }
}

fn libdeflate(plain: &[u8], level: i32, frame: Frame) -> Vec<u8> {
    let mut compressor = Compressor::new(CompressionLvl::new(level).unwrap());
    let mut out = vec![0; plain.len() + plain.len() / 8 + 200];
    let len = match frame {
        Frame::Zlib => compressor.zlib_compress(plain, &mut out).unwrap(),
        Frame::Gzip => compressor.gzip_compress(plain, &mut out).unwrap(),
    };
    out.truncate(len);
    out
}

/// A zlib stream of another compressor, whose blocks end at multiples of `part`.
fn miniz(plain: &[u8], level: u32, part: usize) -> Vec<u8> {
    let mut compress = Compress::new(Compression::new(level), true);
    let mut out = Vec::new();
    for part in plain.chunks(part) {
        out.reserve(part.len() * 2 + 1000);
        compress.compress_vec(part, &mut out, FlushCompress::Sync).unwrap();
    }
    out.reserve(1000);
    compress.compress_vec(&[], &mut out, FlushCompress::Finish).unwrap();
    assert_eq!(compress.total_in(), plain.len() as u64);
    out
}

/// Bytes of many kinds: noise over few or many values, runs, repetitions at any distance, shuffled numbers, mixtures.
fn plains() -> impl Strategy<Value = Vec<u8>> {
    let noise = (1u16..=256, vec(any::<u8>(), 0..3000))
        .prop_map(|(values, bytes)| bytes.into_iter().map(|b| (u16::from(b) % values) as u8).collect());
    let runs = vec((any::<u8>(), 1usize..700), 0..40)
        .prop_map(|runs| runs.into_iter().flat_map(|(byte, len)| vec![byte; len]).collect());
    let repeats =
        (vec(any::<u8>(), 1..400), vec((0usize..400, 1usize..300), 0..60)).prop_map(|(mut bytes, repeats)| {
            for (back, len) in repeats {
                let start = bytes.len().saturating_sub(back + 1);
                (0..len).for_each(|k| bytes.push(bytes[start + k]));
            }
            bytes
        });
    let numbers = (any::<u64>(), 0u64..5000, 1u64..400).prop_map(|(seed, count, scale)| {
        let value = |k: u64| ((k as f32 / 50.0).sin() * 300.0 + (mixed(seed ^ k) % scale) as f32 / 64.0).to_le_bytes();
        let values: Vec<[u8; 4]> = (0..count).map(value).collect();
        (0..4).flat_map(|plane| values.iter().map(move |value| value[plane])).collect()
    });
    let part = prop_oneof![noise, runs, repeats, numbers];
    vec(part, 1..4).prop_map(|parts: Vec<Vec<u8>>| parts.concat())
}

/// SplitMix64.
fn mixed(state: u64) -> u64 {
    let z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// Bits of a stream, written.
#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    used: u32,
}

impl Writer {
    /// `count` bits, the lowest first.
    fn put(&mut self, bits: u32, count: u32) {
        for k in 0..count {
            if self.used % 8 == 0 {
                self.bytes.push(0);
            }
            *self.bytes.last_mut().unwrap() |= ((bits >> k & 1) as u8) << (self.used % 8);
            self.used += 1;
        }
    }

    /// The head of a last block whose codes have words of these lengths, each written as it is.
    fn head(symbols: &[u8], distances: &[u8]) -> Writer {
        let mut writer = Writer::default();
        writer.put(0b101, 3);
        writer.put(symbols.len() as u32 - 257, 5);
        writer.put(distances.len() as u32 - 1, 5);
        writer.put(15, 4);
        // Lengths 0 to 15 have words of four bits, in order; the repetitions none.
        for symbol in [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15] {
            writer.put(if symbol < 16 { 4 } else { 0 }, 3);
        }
        for &length in symbols.iter().chain(distances) {
            writer.put(u32::from(length).reverse_bits() >> 28, 4);
        }
        writer
    }

    /// The stream in a frame of zlib, whose checksum is that of `plain`.
    fn zlib(self, plain: &[u8]) -> Vec<u8> {
        [&[0x78, 0x01], &self.bytes[..], &libdeflater::adler32(plain).to_be_bytes()].concat()
    }
}

/// What a raw stream in a frame of zlib decodes to, so that the right checksum can be put behind it.
fn with_checksum(raw: &[u8], room: usize) -> Vec<u8> {
    let mut out = vec![0; room];
    let len = Decompressor::new().deflate_decompress(raw, &mut out).unwrap_or(0);
    [&[0x78, 0x01], raw, &libdeflater::adler32(&out[..len]).to_be_bytes()].concat()
}

/// The lengths of a complete code with words for `count` of `symbols`, of any shape that `seed` gives.
fn complete(symbols: usize, count: usize, seed: u64) -> Vec<u8> {
    // Words are split in two until there are enough.
    let mut words = vec![1u8, 1];
    let mut turn = seed;
    while words.len() < count {
        turn = mixed(turn);
        let at = turn as usize % words.len();
        if words[at] < 15 {
            words[at] += 1;
            words.push(words[at]);
        }
    }
    let mut lengths = vec![0; symbols];
    // A step that is coprime to the number of places visits them all.
    let step = (1..).map(|k| (seed as usize % symbols + k) | 1).find(|step| gcd(*step, symbols) == 1).unwrap();
    for (k, word) in words.into_iter().enumerate() {
        lengths[(seed as usize / 7 + k * step) % symbols] = word;
    }
    lengths
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 {
        a
    } else {
        gcd(b, a % b)
    }
}

#[test]
fn nothing_and_little_are_whole_streams() {
    for frame in [Frame::Zlib, Frame::Gzip] {
        for plain in [&b""[..], b"a", b"abcabcabcabcabcabcabc", &[7; 1000]] {
            for level in [0, 1, 6, 12] {
                let stream = libdeflate(plain, level, frame);
                assert_eq!(expected(frame, &stream, plain.len()).as_deref(), Ok(plain));
                check(frame, [(&stream, plain.len()), (&stream, plain.len() + 1)]);
            }
        }
    }
}

#[test]
fn faults_have_their_kinds() {
    let plain: Vec<u8> = (0..50_000u64).map(|k| mixed(k / 3) as u8 % 50).collect();
    let stream = libdeflate(&plain, 6, Frame::Zlib);
    let mut rooms = [vec![0; plain.len() - 1], vec![0; plain.len()]];
    let [a, b] = &mut rooms;
    let cut = &stream[..stream.len() - 5];
    let jobs = [Job { from: &stream, to: a }, Job { from: cut, to: b }];
    assert_eq!(Inflater::new().pair(Frame::Zlib, jobs), [Err(Fault::TooLong), Err(Fault::Damaged)]);
}

#[test]
fn a_stream_cut_anywhere_or_with_any_bit_flipped_ends_as_with_libdeflate() {
    let plain: Vec<u8> = (0..3000u64).map(|k| if k % 900 < 300 { 0 } else { mixed(k / 5) as u8 % 70 }).collect();
    for frame in [Frame::Zlib, Frame::Gzip] {
        let whole = libdeflate(&plain, 5, frame);
        for cut in 0..whole.len() {
            check(frame, [(&whole[..cut], plain.len()), (&whole, plain.len())]);
        }
        let mut flipped = whole.clone();
        for bit in 0..8 * whole.len() {
            flipped[bit / 8] ^= 1 << (bit % 8);
            check(frame, [(&whole, plain.len()), (&flipped, plain.len() + 100)]);
            flipped[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn every_header_of_gzip_is_taken_or_refused_as_by_libdeflate() {
    let plain = [3; 500];
    let bare = libdeflate(&plain, 6, Frame::Gzip);
    for flags in 0..=255u8 {
        for fields in [&b""[..], b"\x03\0abcname\0comment\0cc", b"name\0comment\0", b"\xff\xffab", b"\0\0\0\0\0\0"] {
            let mut stream = bare.clone();
            stream[3] = flags;
            stream.splice(10..10, fields.iter().copied());
            check(Frame::Gzip, [(&stream, 500), (&stream[..20], 500)]);
        }
    }
    // Names that never end, up to the last byte that there is.
    for len in 10..40 {
        let stream = [&bare[..3], &[0x08], &bare[4..10], &vec![b'x'; len]].concat();
        check(Frame::Gzip, [(&stream, 500), (&bare, 500)]);
    }
}

#[test]
fn codes_of_one_word_or_none_stand_for_their_symbol() {
    // The end of the block alone, with a word of one bit; a literal alone, which never ends.
    for symbol in [256, 65] {
        let mut symbols = [0; 257];
        symbols[symbol] = 1;
        for bits in 0..4 {
            let mut writer = Writer::head(&symbols, &[0]);
            writer.put(bits, 2);
            let stream = writer.zlib(&[]);
            check(Frame::Zlib, [(&stream, 1000), (&stream, 0)]);
        }
    }
    // A distance with one word of one bit, with one of two, and without any.
    for distances in [[1, 0], [0, 1], [2, 0], [0, 0], [1, 1]] {
        let mut symbols = [0; 259];
        (symbols[65], symbols[256], symbols[257]) = (1, 2, 2);
        let mut writer = Writer::head(&symbols, &distances);
        // "AA", "A" and three more from one or two bytes before, the end.
        writer.put(0b011_1100, 7);
        let raw = writer.bytes.clone();
        for room in [0, 4, 5, 6, 100] {
            let stream = with_checksum(&raw, room);
            check(Frame::Zlib, [(&stream, room), (&stream, room + 1)]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn two_streams_decode_to_what_was_encoded(
        a in plains(), b in plains(), level in 0i32..=12, other in 0u32..10, part in 1usize..5000, gzip in any::<bool>(),
    ) {
        if gzip {
            let streams = [libdeflate(&a, level, Frame::Gzip), libdeflate(&b, other as i32, Frame::Gzip)];
            check(Frame::Gzip, [(&streams[0], a.len()), (&streams[1], b.len())]);
        } else {
            let streams = [libdeflate(&a, level, Frame::Zlib), miniz(&b, other, part.max(b.len() / 50))];
            prop_assert_eq!(expected(Frame::Zlib, &streams[1], b.len()), Ok(b.clone()));
            check(Frame::Zlib, [(&streams[0], a.len()), (&streams[1], b.len())]);
        }
    }

    #[test]
    fn damaged_streams_and_wrong_rooms_end_as_with_libdeflate(
        a in plains(), b in plains(), level in 1i32..=12, cut in 0.0..1.0f64, flips in vec(any::<u32>(), 0..4), short in 0usize..600,
    ) {
        let mut first = libdeflate(&a, level, Frame::Zlib);
        for flip in flips {
            let bit = flip as usize % (8 * first.len());
            first[bit / 8] ^= 1 << (bit % 8);
        }
        let second = miniz(&b, level as u32 % 10, b.len().max(1));
        let end = (second.len() as f64 * cut) as usize;
        check(Frame::Zlib, [(&first, a.len()), (&second[..end], b.len())]);
        check(Frame::Zlib, [(&second, b.len().saturating_sub(short)), (&first, a.len() + short)]);
    }

    #[test]
    fn any_bits_behind_any_complete_codes_end_as_with_libdeflate(
        seed in any::<u64>(), counts in (2usize..=286, 2usize..=30), bits in vec(any::<u8>(), 1..6000), room in 0usize..20_000,
    ) {
        let (symbols, distances) = (complete(288, counts.0, seed), complete(32, counts.1, mixed(seed)));
        let mut writer = Writer::head(&symbols, &distances);
        bits.iter().for_each(|byte| writer.put(u32::from(*byte), 8));
        // What the bits before the end of the block decode to, if one comes before the bits end.
        let stream = with_checksum(&writer.bytes, room);
        let other = libdeflate(&bits, 6, Frame::Zlib);
        check(Frame::Zlib, [(&stream, room), (&other, bits.len())]);
    }

    #[test]
    fn any_lengths_of_words_are_codes_or_none_as_with_libdeflate(
        symbols in vec(0u8..6, 257..=288), distances in vec(0u8..4, 1..=32), bits in vec(any::<u8>(), 1..200),
    ) {
        let mut writer = Writer::head(&symbols, &distances);
        bits.iter().for_each(|byte| writer.put(u32::from(*byte), 8));
        let stream = with_checksum(&writer.bytes, 5000);
        check(Frame::Zlib, [(&stream, 5000), (&stream, 5000)]);
    }
}
