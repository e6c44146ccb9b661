//! NetCDF-4 files written by netCDF-C, and what this library finds in them.

mod container_support;

use container_support::{bytes, compare, named};
use forcings::formats::{open, open_group, AttributeValue, ElementType};
use forcings::ErrorKind;
use netcdf::types::NcVariableType;
use netcdf::{Endianness, FileMut};
use std::path::PathBuf;

fn create() -> (tempfile::TempDir, PathBuf, FileMut) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.nc");
    let file = netcdf::create(&path).unwrap();
    (dir, path, file)
}

/// One byte of text.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
struct Character(u8);

// SAFETY: a transparent wrapper of one byte, which is what `NC_CHAR` is in memory.
unsafe impl netcdf::NcTypeDescriptor for Character {
    fn type_descriptor() -> NcVariableType {
        NcVariableType::Char
    }
}

fn characters(text: &str) -> Vec<Character> {
    text.bytes().map(Character).collect()
}

#[test]
fn every_type_in_both_byte_orders_and_every_storage() {
    let (_dir, path, mut file) = create();
    file.add_dimension("y", 5).unwrap();
    file.add_dimension("x", 7).unwrap();
    file.add_unlimited_dimension("t").unwrap();
    macro_rules! write {
        ($($type:ty),*) => {$(
            for (suffix, order) in [("le", Endianness::Little), ("be", Endianness::Big)] {
                let name = |kind: &str| format!("{}_{suffix}_{kind}", stringify!($type));
                let values: Vec<$type> = (0..35).map(|i| (i * 3) as $type).collect();
                let mut plain = file.add_variable::<$type>(&name("contiguous"), &["y", "x"]).unwrap();
                plain.set_endianness(order).unwrap();
                plain.put_values(&values, ..).unwrap();
                plain.put_attribute("one", values[9]).unwrap();
                plain.put_attribute("some", values[3..9].to_vec()).unwrap();
                let mut deflated = file.add_variable::<$type>(&name("deflated"), &["t", "y", "x"]).unwrap();
                deflated.set_chunking(&[2, 3, 4]).unwrap();
                deflated.set_compression(4, true).unwrap();
                deflated.set_fill_value::<$type>(77 as $type).unwrap();
                deflated.set_endianness(order).unwrap();
                deflated.put_values(&values, ([1, 0, 0], [1, 5, 7])).unwrap();
                let mut chunked = file.add_variable::<$type>(&name("chunked"), &["x"]).unwrap();
                chunked.set_chunking(&[3]).unwrap();
                chunked.set_endianness(order).unwrap();
                chunked.put_values(&values[..4], ([0], [4])).unwrap();
                let mut scalar = file.add_variable::<$type>(&name("scalar"), &[]).unwrap();
                scalar.set_endianness(order).unwrap();
                scalar.put_value(values[11], ()).unwrap();
                let mut unwritten = file.add_variable::<$type>(&name("unwritten"), &["y"]).unwrap();
                unwritten.set_endianness(order).unwrap();
            }
        )*};
    }
    write!(i8, u8, i16, u16, i32, u32, i64, u64, f32, f64);
    file.close().unwrap();
    compare(&path, None);
}

#[test]
fn text_strings_and_characters() {
    let (_dir, path, mut file) = create();
    file.add_dimension("n", 4).unwrap();
    file.add_unlimited_dimension("t").unwrap();
    let mut text = file.add_variable_with_type("text", &["n"], &NcVariableType::Char).unwrap();
    text.put_values(&characters("ab\0d"), ..).unwrap();
    text.put_attribute("long_name", "grüße").unwrap();
    text.put_attribute("list", vec!["a".to_string(), String::new(), "ccc".to_string()]).unwrap();
    text.put_attribute("empty", "").unwrap();
    text.put_attribute("nul", "a\0b\0").unwrap();
    let mut strings = file.add_string_variable("strings", &["n"]).unwrap();
    for (i, s) in ["one", "", "drei µ"].iter().enumerate() {
        strings.put_string(s, i).unwrap();
    }
    let mut growing = file.add_string_variable("growing", &["t", "n"]).unwrap();
    growing.set_chunking(&[2, 3]).unwrap();
    growing.set_compression(1, false).unwrap();
    growing.put_string("last", [4, 3]).unwrap();
    // So many that HDF5 keeps them outside the header.
    for i in 0..30 {
        growing.put_attribute(&format!("note{}", 30 - i), i).unwrap();
    }
    file.add_string_variable("scalar", &[]).unwrap().put_string("alone", ()).unwrap();
    file.close().unwrap();
    compare(&path, None);

    let file = open(&path).unwrap();
    let (_, text) = named(file.as_ref(), "text");
    assert_eq!(text.element, ElementType::Char);
    assert_eq!(text.attribute("nul").unwrap().value, AttributeValue::Text(b"a\0b\0".to_vec()));
    let (number, scalar) = named(file.as_ref(), "scalar");
    assert_eq!(scalar.element, ElementType::String);
    assert_eq!(file.strings(number).unwrap(), [b"alone"]);
    assert!(file.strings(named(file.as_ref(), "text").0).is_err());
}

#[test]
fn dimensions_coordinates_and_shorter_records() {
    let (_dir, path, mut file) = create();
    file.add_dimension("lat", 3).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("unused", 9).unwrap();
    file.add_unlimited_dimension("never").unwrap();
    file.add_dimension("lon", 4).unwrap();
    let mut time = file.add_variable::<f64>("time", &["time"]).unwrap();
    time.put_attribute("units", "days since 2000-01-01").unwrap();
    time.put_values(&[0.5, 1.5, 2.5], ..).unwrap();
    file.add_variable::<f32>("lat", &["lat"]).unwrap().put_values(&[1_f32, 2.0, 3.0], ..).unwrap();
    let mut full = file.add_variable::<i16>("full", &["time", "lat", "lon"]).unwrap();
    full.put_values(&(0..36).collect::<Vec<i16>>(), ([0, 0, 0], [3, 3, 4])).unwrap();
    let mut short = file.add_variable::<i16>("short", &["time", "lon"]).unwrap();
    short.put_values(&[1_i16, 2, 3, 4], ([0, 0], [1, 4])).unwrap();
    file.add_variable::<i32>("empty", &["never", "lat"]).unwrap();
    // A variable with the name of a dimension that is not its coordinate.
    file.add_variable::<i32>("lon", &["lat"]).unwrap().put_values(&[7, 8, 9], ..).unwrap();
    // A coordinate variable of two dimensions.
    file.add_variable::<i8>("unused", &["unused", "lat"]).unwrap().put_values(&[3_i8; 27], ..).unwrap();
    let twice = file.add_variable::<i32>("twice", &["lat", "lat"]);
    twice.unwrap().put_values(&(0..9).collect::<Vec<i32>>(), ..).unwrap();
    file.close().unwrap();
    compare(&path, None);

    let file = open(&path).unwrap();
    let (number, short) = named(file.as_ref(), "short");
    assert_eq!(short.shape, [3, 4]);
    let fill = i16::from_le_bytes(short.fill.clone().unwrap().try_into().unwrap());
    let values: Vec<i16> =
        bytes(file.as_ref(), number).unwrap().chunks(2).map(|b| i16::from_le_bytes([b[0], b[1]])).collect();
    assert_eq!(values[..4], [1, 2, 3, 4]);
    assert_eq!(values[4..], [fill; 8]);
}

#[test]
fn groups_inherit_dimensions() {
    let (_dir, path, mut file) = create();
    file.add_dimension("x", 3).unwrap();
    file.add_unlimited_dimension("t").unwrap();
    file.add_variable::<i32>("top", &["x"]).unwrap();
    {
        let mut outer = file.add_group("outer").unwrap();
        outer.add_dimension("y", 2).unwrap();
        outer.add_attribute("note", "outer").unwrap();
        outer.add_variable::<i32>("a", &["t", "y"]).unwrap().put_values(&[1, 2, 3, 4], ([0, 0], [2, 2])).unwrap();
        let mut inner = outer.add_group("inner").unwrap();
        inner.add_dimension("x", 5).unwrap();
        inner.add_variable::<f64>("b", &["y", "x"]).unwrap().put_values(&[2.5; 10], ..).unwrap();
        inner.add_variable::<f64>("x", &["x"]).unwrap().put_values(&[0.0, 1.0, 2.0, 3.0, 4.0], ..).unwrap();
    }
    file.close().unwrap();
    compare(&path, None);
    compare(&path, Some("outer"));
    compare(&path, Some("outer/inner"));

    let names = |group| {
        let group = open_group(&path, Some(group)).unwrap();
        group.dimensions().iter().map(|d| (d.name.clone(), d.len)).collect::<Vec<_>>()
    };
    assert_eq!(names("/"), [("x".to_string(), 3), ("t".to_string(), 2)]);
    assert_eq!(names("outer"), [("t".to_string(), 2), ("y".to_string(), 2)]);
    assert_eq!(names("/outer/inner/"), [("y".to_string(), 2), ("x".to_string(), 5)]);
    assert_eq!(open_group(&path, Some("outer/none")).err().unwrap().kind(), ErrorKind::NotFound);
    assert_eq!(open_group(&path, Some("top")).err().unwrap().kind(), ErrorKind::NotFound);
}

#[test]
fn user_defined_types_are_listed_and_not_read() {
    #[derive(Debug, Clone, Copy)]
    #[repr(C)]
    struct Blob([u8; 6]);
    // SAFETY: six bytes, as the opaque type says.
    unsafe impl netcdf::NcTypeDescriptor for Blob {
        fn type_descriptor() -> NcVariableType {
            NcVariableType::Opaque(netcdf::types::OpaqueType { name: "blob".into(), size: 6 })
        }
    }
    let (_dir, path, mut file) = create();
    file.add_type::<Blob>().unwrap();
    file.add_dimension("x", 3).unwrap();
    file.add_variable::<Blob>("blobs", &["x"]).unwrap().put_values(&[Blob([1; 6]); 3], ..).unwrap();
    file.add_variable::<i32>("after", &["x"]).unwrap().put_values(&[1, 2, 3], ..).unwrap();
    file.close().unwrap();
    compare(&path, None);
    let file = open(&path).unwrap();
    let (number, blobs) = named(file.as_ref(), "blobs");
    assert_eq!(blobs.element, ElementType::Other("opaque".into()));
    let error = file.layout(number).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("blobs"), "{error}");
}

#[test]
fn a_file_is_read_while_another_thread_holds_the_library() {
    let (_dir, path, mut file) = create();
    file.add_dimension("x", 3).unwrap();
    file.add_variable::<i32>("v", &["x"]).unwrap().put_values(&[1, 2, 3], ..).unwrap();
    file.close().unwrap();
    let _held = hdf5_sys::LOCK.lock();
    let found = std::thread::spawn(move || {
        let file = open(&path).unwrap();
        bytes(file.as_ref(), 0).unwrap()
    });
    assert_eq!(found.join().unwrap(), [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
}
