use super::*;
use crate::chunks::{encode_chunk, EncodeFilter, MemorySource};
use crate::ErrorKind;
use proptest::prelude::*;

fn site() -> ChunkSite<'static> {
    ChunkSite { path: Path::new("a.nc"), what: "variable \"u\"", chunk: 7 }
}

fn decode(raw: &[u8], filters: &[Filter], mask: u32, len: usize) -> Result<Vec<u8>> {
    decode_over(0xee, raw, filters, mask, len)
}

/// Into a buffer that holds `before` everywhere.
fn decode_over(before: u8, raw: &[u8], filters: &[Filter], mask: u32, len: usize) -> Result<Vec<u8>> {
    let mut out = vec![before; len];
    decode_chunk(raw, filters, mask, &mut out, &mut Scratch::new(), &site()).map(|()| out)
}

#[test]
fn chunks_written_by_hdf5_decode() {
    let raw = [1, 2, 3, 4, 5, 6, 7, 0x0c, 0x10, 0x20, 0x1e];
    assert_eq!(decode(&raw, &[Filter::Fletcher32], 0, 7).unwrap(), [1, 2, 3, 4, 5, 6, 7]);

    let raw = [1, 0, 0xfe, 0, 1, 0xff, 0, 0, 0xff, 0, 0, 0xff, 0, 1, 2, 3];
    let plain = decode(&raw, &[Filter::Shuffle(4), Filter::Fletcher32], 0, 12).unwrap();
    assert_eq!(plain, [1i32, 256, -2].map(i32::to_le_bytes).concat());

    let raw = [120, 94, 99, 96, 64, 7, 63, 126, 48, 216, 219, 31, 0, 0, 12, 187, 3, 47, 38, 119, 219, 16];
    let filters = [Filter::Shuffle(8), Filter::Deflate, Filter::Fletcher32];
    assert_eq!(decode(&raw, &filters, 0, 24).unwrap(), [1.5f64, 1.5, -2.0].map(f64::to_le_bytes).concat());
}

#[test]
fn a_checksum_below_another_step_is_checked_and_cut_off() {
    let mut plain: Vec<u8> = (0..64).collect();
    let sum = fletcher32(&plain);
    plain.extend_from_slice(&sum.to_le_bytes());
    let raw = encode_chunk(&plain, &[EncodeFilter::Deflate(6)], &mut Scratch::new()).unwrap();
    let filters = [Filter::Fletcher32, Filter::Deflate];
    assert_eq!(decode(&raw, &filters, 0, 64).unwrap(), plain[..64]);
    plain[3] ^= 1;
    let raw = encode_chunk(&plain, &[EncodeFilter::Deflate(6)], &mut Scratch::new()).unwrap();
    let text = decode(&raw, &filters, 0, 64).unwrap_err().to_string();
    assert_eq!(text, "a.nc: chunk 7 of variable \"u\": the Fletcher-32 checksum differs");
}

#[test]
fn long_data_do_not_overflow_the_checksum() {
    // By the definition, with the sums taken modulo 65535 after every word.
    assert_eq!(fletcher32(&[0xff; 2000]), 0xffff_ffff);
    assert_eq!(fletcher32(&[0xfe; 721]), {
        let words = (0..361u64).map(|i| if i < 360 { 0xfefe } else { 0xfe00 });
        let (low, high) = words.fold((0, 0), |(l, h), w| ((l + w) % 65535, (h + (l + w) % 65535) % 65535));
        (high << 16 | low) as u32
    });
}

#[test]
fn the_mask_skips_filters() {
    let filters = [Filter::Shuffle(2), Filter::Deflate, Filter::Unknown { id: 32015, name: "zstd".into() }];
    assert_eq!(decode(&[1, 2, 3, 4], &filters, 0b111, 4).unwrap(), [1, 2, 3, 4]);
    assert_eq!(decode(&[1, 3, 2, 4], &filters, 0b110, 4).unwrap(), [1, 2, 3, 4]);
    let error = decode(&[1, 2, 3, 4], &filters, 0b011, 4).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let text = error.to_string();
    assert!(text.contains("variable \"u\"") && text.contains("32015 (zstd)"), "{text}");
}

fn scale_offset(count: u32) -> Filter {
    let mut client = vec![2, 0, count, 0, 2, 1, 0, 0];
    client.resize(20, 0);
    Filter::ScaleOffset(crate::chunks::ScaleOffset::parse(&client).unwrap())
}

/// Codes of no bits: every one of the elements is 7.
const SEVENS: [u8; 21] = [0, 0, 0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

#[test]
fn other_compressors_stand_where_deflate_stands() {
    let plain: Vec<u8> = (0..64).collect();
    let mut planes = vec![0; 64];
    crate::chunks::shuffle::shuffle(&plain, 4, &mut planes);
    let sum = fletcher32(&planes).to_le_bytes();
    let below = [&planes[..], &sum].concat();
    let frame = |codec: &[u8]| {
        [&(below.len() as u64).to_be_bytes()[..], &[0, 0, 1, 0], &(codec.len() as u32).to_be_bytes(), codec].concat()
    };
    let blosc = [&[2, 1, 2, 1, 68, 0, 0, 0, 68, 0, 0, 0, 84, 0, 0, 0][..], &below].concat();
    for (filter, raw) in [
        (Filter::Zstd, zstd::bulk::compress(&below, 1).unwrap()),
        (Filter::Lz4, frame(&lz4_flex::block::compress(&below))),
        (Filter::Blosc, blosc),
    ] {
        let filters = [Filter::Shuffle(4), Filter::Fletcher32, filter.clone()];
        assert_eq!(decode(&raw, &filters, 0, 64).unwrap(), plain, "{filter:?}");
        assert_eq!(decode(&below, &filters, 0b100, 64).unwrap(), plain, "{filter:?}");
        for (len, mask) in [(63, 0), (65, 0), (64, 0b010)] {
            assert_eq!(decode(&raw, &filters, mask, len).unwrap_err().kind(), ErrorKind::Format, "{filter:?} {len}");
        }
        let twice = [filter.clone(), Filter::Deflate];
        assert_eq!(decode(&raw, &twice, 0, 64).unwrap_err().kind(), ErrorKind::Unsupported, "{filter:?}");
    }
}

#[test]
fn what_lies_above_scale_offset_is_of_any_length_up_to_a_bound() {
    let sevens = [7i16; 100].map(i16::to_le_bytes).concat();
    let filters = [scale_offset(100), Filter::Shuffle(2), Filter::Deflate, Filter::Fletcher32];
    let mut planes = [0; 21];
    crate::chunks::shuffle::shuffle(&SEVENS, 2, &mut planes);
    let mut raw = encode_chunk(&planes, &[EncodeFilter::Deflate(3)], &mut Scratch::new()).unwrap();
    raw.extend_from_slice(&fletcher32(&raw).to_le_bytes());
    assert_eq!(decode(&raw, &filters, 0, 200).unwrap(), sevens);
    assert_eq!(decode(&SEVENS, &filters, 0b1110, 200).unwrap(), sevens);
    assert_eq!(decode(&raw, &filters, 0, 202).unwrap_err().kind(), ErrorKind::Format);
    let long = encode_chunk(&[0; 223], &[EncodeFilter::Deflate(3)], &mut Scratch::new()).unwrap();
    let error = decode(&long, &filters[..3], 0, 200).unwrap_err().to_string();
    assert!(error.contains("inflates to more than the 222 bytes"), "{error}");
    let last = [Filter::Deflate, scale_offset(100)];
    assert_eq!(decode(&raw, &last, 0, 200).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn a_filter_that_found_nothing_to_do_moves_nothing() {
    assert_eq!(decode(&[1, 2, 3], &[Filter::Verbatim], 0, 3).unwrap(), [1, 2, 3]);
    assert_eq!(decode(&[1, 2, 3], &[Filter::Verbatim], 0, 4).unwrap_err().kind(), ErrorKind::Format);
    let raw = encode_chunk(&[5; 100], &[EncodeFilter::Deflate(3)], &mut Scratch::new()).unwrap();
    assert_eq!(decode(&raw, &[Filter::Verbatim, Filter::Deflate], 0, 100).unwrap(), [5; 100]);
}

#[test]
fn lengths_that_lie_are_format_errors() {
    let mut scratch = Scratch::new();
    let raw = encode_chunk(&[5; 100], &[EncodeFilter::Deflate(3)], &mut scratch).unwrap();
    for (raw, filters, len) in [
        (&raw[..], vec![Filter::Deflate], 99),
        (&raw[..], vec![Filter::Deflate], 101),
        (&raw[..], vec![Filter::Deflate], 1 << 20),
        (&raw[..raw.len() - 2], vec![Filter::Deflate], 100),
        (&[][..], vec![Filter::Deflate], 100),
        (&[1, 2, 3][..], vec![Filter::Fletcher32], 1),
        (&[1, 2, 3, 4][..], vec![Filter::Shuffle(2)], 8),
        (&[1, 2, 3, 4][..], vec![Filter::Shuffle(0)], 4),
        (&[1, 2, 3, 4][..], vec![], 8),
    ] {
        let error = decode(raw, &filters, 0, len).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Format, "{filters:?} {len}: {error}");
    }
    let error = decode(&raw, &[Filter::Deflate, Filter::Deflate], 0, 100).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[test]
fn a_chunk_outside_the_source_or_too_small_for_its_length_is_refused_before_it_is_read() {
    let source = MemorySource::new("a.nc", vec![0; 100]);
    let mut out = vec![0; 16];
    for (offset, size, filters) in
        [(90, 11, vec![Filter::Deflate]), (u64::MAX - 3, 11, vec![Filter::Deflate]), (0, 15, vec![])]
    {
        let entry = ChunkEntry { offset, size, filter_mask: 0 };
        let error = fetch_chunk(&source, entry, &filters, &mut out, &mut Scratch::new(), &site()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Format, "{offset} {size}");
    }
    let entry = ChunkEntry { offset: 0, size: 100, filter_mask: 0 };
    assert!(check_expansion(entry, &[Filter::Deflate], 103_200, &site()).is_ok());
    assert!(check_expansion(entry, &[Filter::Deflate], 103_201, &site()).is_err());
    assert!(check_expansion(entry, &[], 101, &site()).is_err());
    for (filters, most) in [
        (vec![Filter::Szip([0; 4])], 819_200),
        (vec![Filter::Lz4, Filter::Fletcher32], 25_600),
        (vec![Filter::Shuffle(2), Filter::Zstd], 3_276_800),
        (vec![scale_offset(1)], 64 << 20),
        // Undone last first: what inflates is below the bound of what follows.
        (vec![scale_offset(1), Filter::Deflate], 64 << 20),
    ] {
        assert!(check_expansion(entry, &filters, most, &site()).is_ok(), "{filters:?}");
        assert!(check_expansion(entry, &filters, most + 1, &site()).is_err(), "{filters:?}");
    }
}

proptest! {
    #[test]
    fn bytes_of_any_kind_give_every_byte_of_an_answer_or_an_error(
        raw in proptest::collection::vec(any::<u8>(), 0..200),
        picks in proptest::collection::vec(0usize..10, 0..5),
        mask in 0u32..32,
        len in 0usize..300,
    ) {
        let filters: Vec<Filter> = picks
            .iter()
            .map(|p| match p {
                0 => Filter::Shuffle(8),
                1 => Filter::Shuffle(3),
                2 => Filter::Deflate,
                3 => Filter::Zstd,
                4 => Filter::Lz4,
                5 => Filter::Blosc,
                6 => Filter::Szip([32, 8, 16, 64]),
                7 => scale_offset(len as u32 / 2),
                8 => Filter::Verbatim,
                _ => Filter::Fletcher32,
            })
            .collect();
        let [one, other] = [0xee, 0x11].map(|before| decode_over(before, &raw, &filters, mask, len).ok());
        prop_assert_eq!(one, other);
    }
}
