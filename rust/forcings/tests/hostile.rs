//! Files that are damaged or meant to do harm, as a provider meets them: an error of the right kind, or the right values.

#[path = "../src/formats/hdf5/tests/library.rs"]
mod library;

use forcings::chunks::Layout;
use forcings::dataset::{Dataset, DimWindow, Values};
use forcings::formats::{open, AttributeValue};
use forcings::provider::{Provider, ProviderOptions};
use forcings::{Error, ErrorKind};
use library::{Library, Spec};
use std::path::{Path, PathBuf};
use tempfile::tempdir;

fn provider(path: &Path) -> forcings::Result<Provider> {
    Provider::open(ProviderOptions::of_files([path]))
}

/// Everything that a file without times holds.
fn whole(path: &Path) -> forcings::Result<Dataset> {
    provider(path)?.materialize().map(|sample| sample.as_ref().clone())
}

fn write(path: &Path, build: impl FnOnce(&mut netcdf::FileMut)) -> Vec<u8> {
    let mut file = netcdf::create(path).unwrap();
    build(&mut file);
    file.close().unwrap();
    std::fs::read(path).unwrap()
}

fn f64s<'a>(sample: &'a Dataset, name: &str) -> &'a [f64] {
    match &sample.fields().find(|f| *f.name == *name).unwrap().values {
        Values::F64(values) => values,
        other => panic!("{name} is {:?}", other.field_type()),
    }
}

fn i32s<'a>(sample: &'a Dataset, name: &str) -> &'a [i32] {
    match &sample.fields().find(|f| *f.name == *name).unwrap().values {
        Values::I32(values) => values,
        other => panic!("{name} is {:?}", other.field_type()),
    }
}

fn assert_format(error: &Error, words: &[&str]) {
    assert_eq!(error.kind(), ErrorKind::Format, "{error}");
    let text = error.to_string();
    assert!(words.iter().all(|word| text.contains(word)), "{words:?} in: {text}");
}

#[test]
fn row_62_garbage_and_a_classic_header_of_two_bytes_are_format_errors() {
    let dir = tempdir().unwrap();
    for (name, bytes) in [("garbage.nc", &b"\x13\x37 neither this nor that"[..]), ("cut.nc", b"CDF\x01\0\0")] {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        assert_format(&provider(&path).map(drop).unwrap_err(), &[name]);
    }
}

/// A file of two chunks with a checksum each, and where the first one lies.
fn checked(dir: &Path) -> (PathBuf, Vec<u8>, std::ops::Range<usize>) {
    let path = dir.join("checked.h5");
    let library = Library::create(&path, false, 0);
    let spec =
        Spec { dims: vec![64], chunk: vec![32], deflate: true, shuffle: true, fletcher32: true, ..Spec::default() };
    library.dataset("x", &spec);
    library.write("x", &[0], &[64], &(0..64).map(|i| i * i).collect::<Vec<_>>());
    drop(library);
    let container = open(&path).unwrap();
    let layout = container.layout(0).unwrap();
    let Layout::Chunked(table) = &*layout else { panic!("{layout:?}") };
    let (offset, size) = (table.entries[0].offset as usize, table.entries[0].size as usize);
    let bytes = std::fs::read(&path).unwrap();
    (path, bytes, offset..offset + size)
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused() {
    let dir = tempdir().unwrap();
    let (path, bytes, _) = checked(dir.path());
    assert_eq!(i32s(&whole(&path).unwrap(), "x")[63], 63 * 63);
    for len in (0..bytes.len()).step_by(97).chain(bytes.len() - 9..bytes.len()) {
        std::fs::write(&path, &bytes[..len]).unwrap();
        assert_format(&provider(&path).map(drop).unwrap_err(), &["checked.h5"]);
    }
}

#[test]
fn every_flipped_bit_of_a_chunk_is_noticed() {
    let dir = tempdir().unwrap();
    let (path, bytes, chunk) = checked(dir.path());
    for at in chunk {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            std::fs::write(&path, &damaged).unwrap();
            assert_format(&whole(&path).unwrap_err(), &["checked.h5", "\"x\"", "chunk 0"]);
        }
    }
}

#[test]
fn sizes_of_chunks_that_lie_are_refused() {
    let dir = tempdir().unwrap();
    let (path, bytes, chunk) = checked(dir.path());
    // A key of the chunk index: stored bytes, filter mask, offsets; and the address of the chunk behind it.
    let key = [(chunk.len() as u32).to_le_bytes().as_slice(), &[0; 20], &(chunk.start as u64).to_le_bytes()].concat();
    let at = bytes.windows(key.len()).position(|window| window == key).unwrap();
    for (place, number) in [(0, u32::MAX), (0, 1 << 30), (0, chunk.len() as u32 - 1), (24, u32::MAX - 7), (4, 0b111)] {
        let mut lying = bytes.clone();
        lying[at + place..at + place + 4].copy_from_slice(&number.to_le_bytes());
        std::fs::write(&path, &lying).unwrap();
        assert_format(&whole(&path).unwrap_err(), &["checked.h5", "x"]);
    }
}

#[test]
fn chunks_that_decode_to_more_than_their_size_are_refused() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/filters/bombs.h5");
    let container = open(&path).unwrap();
    let names: Vec<String> = container.variables().iter().map(|v| v.name.clone()).collect();
    assert_eq!(names, ["blosc", "deflate", "lz4", "szip", "zstd"]);
    for name in names {
        let options = ProviderOptions { variables: vec![name.clone()], ..ProviderOptions::of_files([&path]) };
        let error = Provider::open(options).unwrap().materialize().map(drop).unwrap_err();
        assert_format(&error, &["bombs.h5", &format!("chunk 0 of variable \"{name}\"")]);
    }
}

#[test]
fn a_dimension_of_2_to_the_40_costs_what_is_read_of_it() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("vast.nc");
    let bytes = write(&path, |file| {
        file.add_dimension("x", 1 << 40).unwrap();
        let mut v = file.add_variable::<i32>("v", &["x"]).unwrap();
        v.set_fill_value(-7).unwrap();
    });
    assert!(bytes.len() < 1 << 20);
    let provider = provider(&path).unwrap();
    assert_format(&provider.materialize().map(drop).unwrap_err(), &["vast.nc", "\"v\"", "1099511627776 elements"]);
    let window = DimWindow::new().range_step("x", (1 << 40) - 5, 1 << 40, 2);
    let part = provider.with_window(window).unwrap().materialize().unwrap();
    assert!(f64s(&part, "v").iter().all(|v| v.is_nan()) && f64s(&part, "v").len() == 3);
}

#[test]
fn a_cycle_of_hard_links_ends_and_its_variables_are_read() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("cycle.h5");
    let library = Library::create(&path, false, 0);
    library.group("a");
    library.group("a/b");
    library.hard_link("/", "/a/b/top");
    library.hard_link("/a", "/a/b/again");
    library.dataset("a/b/y", &Spec { dims: vec![3], ..Spec::default() });
    library.write("a/b/y", &[0], &[3], &[5, 6, 7]);
    drop(library);
    for group in ["a/b", "a/b/again/b", "a/b/top/a/b/again/b/"] {
        let options = ProviderOptions { group: Some(group.into()), ..ProviderOptions::of_files([&path]) };
        let sample = Provider::open(options).unwrap().materialize().unwrap();
        assert_eq!(i32s(&sample, "y"), [5, 6, 7], "{group}");
    }
    assert_eq!(whole(&path).unwrap().variables.len(), 0);
}

#[test]
fn variables_without_dimension_scales_are_read() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("bare.h5");
    let library = Library::create(&path, false, 0);
    library.dataset("y", &Spec { dims: vec![2, 3], ..Spec::default() });
    library.write("y", &[0, 0], &[2, 3], &[1, 2, 3, 4, 5, 6]);
    drop(library);
    let sample = whole(&path).unwrap();
    assert_eq!(i32s(&sample, "y"), [1, 2, 3, 4, 5, 6]);
    let dims: Vec<&str> = sample.variables[0].dims.iter().map(|d| &**d).collect();
    assert_eq!(dims, ["phony_dim_0", "phony_dim_1"]);
}

#[test]
fn a_variable_with_the_name_of_a_foreign_dimension_is_no_coordinate() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("shadowed.nc");
    let bytes = write(&path, |file| {
        file.add_dimension("t", 3).unwrap();
        file.add_dimension("x", 4).unwrap();
        file.add_variable::<f64>("x", &["t"]).unwrap().put_values(&[1.0, 2.0, 3.0], ..).unwrap();
        file.add_variable::<f64>("y", &["x"]).unwrap().put_values(&[0.5; 4], ..).unwrap();
    });
    assert!(bytes.windows(15).any(|window| window == b"_nc4_non_coord_"));
    let sample = whole(&path).unwrap();
    let names: Vec<&str> = sample.variables.iter().map(|v| &*v.name).collect();
    assert_eq!((names, sample.coords.len()), (vec!["x", "y"], 0));
    assert_eq!((&*sample.variables[0].dims[0], f64s(&sample, "x")), ("t", &[1.0, 2.0, 3.0][..]));
    assert_eq!((&*sample.variables[1].dims[0], f64s(&sample, "y")), ("x", &[0.5; 4][..]));
}

#[test]
fn text_in_latin_1_is_kept_byte_for_byte() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("latin.nc");
    let mut file = netcdf::create_with(&path, netcdf::Options::empty()).unwrap();
    file.add_dimension("x", 2).unwrap();
    file.add_attribute("place", "Besan#on").unwrap();
    let mut v = file.add_variable::<i32>("v", &["x"]).unwrap();
    v.put_attribute("units", "#C").unwrap();
    file.enddef().unwrap();
    file.variable_mut("v").unwrap().put_values(&[3, 4], ..).unwrap();
    file.close().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    for (mark, latin) in [(&b"Besan#on"[..], 0xe7), (b"#C", 0xb0)] {
        let at = bytes.windows(mark.len()).position(|window| window == mark).unwrap();
        bytes[at + mark.iter().position(|b| *b == b'#').unwrap()] = latin;
    }
    std::fs::write(&path, &bytes).unwrap();
    let sample = whole(&path).unwrap();
    assert_eq!(i32s(&sample, "v"), [3, 4]);
    assert_eq!(sample.attributes[0].value, AttributeValue::Text(b"Besan\xe7on".to_vec()));
    assert_eq!(sample.variables[0].attributes[0].value, AttributeValue::Text(b"\xb0C".to_vec()));
}

#[test]
fn attributes_of_the_wrong_type_mean_nothing_or_are_refused() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("types.nc");
    write(&path, |file| {
        file.add_dimension("x", 3).unwrap();
        let mut v = file.add_variable::<i16>("v", &["x"]).unwrap();
        v.put_attribute("scale_factor", "0.5").unwrap();
        v.put_attribute("missing_value", "2").unwrap();
        v.put_attribute("units", 7).unwrap();
        v.put_values(&[1_i16, 2, 3], ..).unwrap();
        let mut w = file.add_variable::<i16>("w", &["x"]).unwrap();
        w.put_attribute("missing_value", 2.5).unwrap();
        w.put_attribute("_Unsigned", 1).unwrap();
        w.put_values(&[-1_i16, 2, 3], ..).unwrap();
    });
    let sample = whole(&path).unwrap();
    // A packing attribute makes float64 whatever it is; what is no number scales nothing.
    assert_eq!(f64s(&sample, "v"), [1.0, 2.0, 3.0]);
    // A value that the type does not have masks no cell.
    assert_eq!(f64s(&sample, "w"), [-1.0, 2.0, 3.0]);

    let path = dir.path().join("calendar.nc");
    write(&path, |file| {
        file.add_dimension("time", 2).unwrap();
        let mut time = file.add_variable::<f64>("time", &["time"]).unwrap();
        time.put_attribute("units", "days since 2001-01-01").unwrap();
        time.put_attribute("calendar", 5).unwrap();
        time.put_values(&[0.0, 1.0], ..).unwrap();
    });
    let times = provider(&path).unwrap().refresh_times().to_vec();
    assert_eq!(times, [978_307_200.0, 978_393_600.0]);
}
