//! Every filter that HDF5 files come with, against what the C library reads behind it; `data/filters/make_filters.py` wrote
//! the file.

mod container_support;

use container_support::{bytes, named};
use forcings::chunks::{Filter, Layout};
use forcings::formats::{open, Container};
use forcings::ErrorKind;
use std::path::Path;
use std::sync::Arc;

fn file() -> Arc<dyn Container> {
    open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/filters/filters.h5")).unwrap()
}

fn names(file: &dyn Container) -> Vec<String> {
    let names = file.variables().iter().map(|v| v.name.clone());
    names.filter(|name| !name.ends_with("_plain")).collect()
}

fn filters(file: &dyn Container, name: &str) -> Vec<Filter> {
    match &*file.layout(named(file, name).0).unwrap() {
        Layout::Chunked(table) => table.filters.clone(),
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn every_filter_gives_the_bits_that_the_c_library_reads() {
    let file = file();
    let names = names(file.as_ref());
    let read: Vec<&String> = names.iter().filter(|name| !name.starts_with("lacks_")).collect();
    assert_eq!(read.len(), 77);
    for name in &read {
        let (index, variable) = named(file.as_ref(), name);
        let (plain, expected) = named(file.as_ref(), &format!("{name}_plain"));
        assert_eq!((&variable.element, &variable.shape), (&expected.element, &expected.shape), "{name}");
        let found = bytes(file.as_ref(), index).unwrap();
        assert!(found == bytes(file.as_ref(), plain).unwrap(), "{name}");
    }
    for (prefix, filter) in
        [("zstd", Filter::Zstd), ("lz4", Filter::Lz4), ("blosc", Filter::Blosc), ("nbit", Filter::Verbatim)]
    {
        let all = read.iter().filter(|name| name.starts_with(prefix));
        assert!(all.clone().count() >= 2 && all.clone().all(|name| filters(file.as_ref(), name).contains(&filter)));
    }
    let is_scaled = |name: &str| matches!(filters(file.as_ref(), name)[0], Filter::ScaleOffset(_));
    assert!(read.iter().all(|name| name.starts_with("scaleoffset") == is_scaled(name)));
    let is_szip = |name: &str| filters(file.as_ref(), name).iter().any(|f| matches!(f, Filter::Szip(_)));
    assert!(read.iter().all(|name| name.starts_with("szip") == is_szip(name)));
}

#[test]
fn the_values_are_those_that_were_written() {
    let file = file();
    let pattern: Vec<i32> = (0..240).map(|i| i * i % 1009 - 300).collect();
    let written: Vec<u8> = pattern.iter().flat_map(|v| v.to_le_bytes()).collect();
    for name in [
        "deflate_shuffle_fletcher32",
        "szip_nn_i4",
        "szip_ec_be_i4",
        "szip_shuffle",
        "scaleoffset_i4",
        "scaleoffset_be_i4",
        "scaleoffset_packed",
        "zstd_shuffle_fletcher32",
        "lz4",
        "masked",
        "nbit",
    ] {
        assert!(bytes(file.as_ref(), named(file.as_ref(), name).0).unwrap() == written, "{name}");
    }
    let eighths: Vec<u8> = (0..2000).flat_map(|i| (f64::from(i) / 8.0).to_le_bytes()).collect();
    for codec in ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"] {
        let index = named(file.as_ref(), &format!("blosc_{codec}")).0;
        assert!(bytes(file.as_ref(), index).unwrap() == eighths, "{codec}");
    }
}

#[test]
fn the_masks_of_chunks_are_of_every_kind() {
    let file = file();
    let Layout::Chunked(table) = &*file.layout(named(file.as_ref(), "masked").0).unwrap() else { panic!() };
    let masks: Vec<u32> = table.entries.iter().map(|e| e.filter_mask).collect();
    assert_eq!(masks, [0, 0b10, 0, 0, 0b11, 0, 0, 0, 0]);
}

#[test]
fn a_filter_that_is_not_read_fails_its_own_variable_by_id_and_name() {
    let file = file();
    for (name, words) in [
        ("lacks_bzip2", "filter 307 ("),
        ("lacks_lzf", "filter 32000 (lzf)"),
        ("lacks_blosc2", "filter 32026 (blosc2"),
        ("lacks_bitshuffle", "filter 32008 (bitshuffle"),
        ("lacks_zfp", "filter 32013 ("),
        ("lacks_nbit", "integer of 17 bits in 4 bytes, which n-bit packs (write it as"),
    ] {
        let (index, _) = named(file.as_ref(), name);
        let error = bytes(file.as_ref(), index).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{name}: {error}");
        let text = error.to_string();
        assert!(text.contains(words) && text.contains(name) && text.contains("filters.h5"), "{text}");
    }
}
