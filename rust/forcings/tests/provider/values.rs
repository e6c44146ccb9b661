//! What the stored numbers and characters of a file become, in double and in single precision.

use crate::support::*;
use forcings::dataset::{decode, Dataset, DecodeOptions, DimWindow, Field, FloatType, Request, Selection, Values};
use forcings::formats::{self, AttributeValue};
use forcings::provider::ProviderOptions;
use netcdf::types::NcVariableType;
use std::path::Path;
use tempfile::tempdir;

/// A byte that netCDF-C takes for text.
#[repr(transparent)]
#[derive(Clone, Copy)]
struct Character(u8);

// SAFETY: a character of netCDF is one byte.
unsafe impl netcdf::NcTypeDescriptor for Character {
    fn type_descriptor() -> NcVariableType {
        NcVariableType::Char
    }
}

/// The whole of a file, no record chosen.
fn whole(path: &Path) -> Dataset {
    decode(&*formats::open(path).unwrap(), &Request::default(), DecodeOptions::default()).unwrap()
}

#[test]
pub(crate) fn row_53_a_packed_int16_with_a_fill_cell_is_float64_with_nan() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.nc");
    write(&path, |file| {
        file.add_dimension("x", 4).unwrap();
        let mut v = file.add_variable::<i16>("v", &["x"]).unwrap();
        v.set_fill_value(-999_i16).unwrap();
        v.put_attribute("scale_factor", 0.01).unwrap();
        v.put_attribute("add_offset", 273.15).unwrap();
        v.put_values(&[1_i16, -999, 3, -4], ..).unwrap();
    });
    let expected = [1.0 * 0.01 + 273.15, f64::NAN, 3.0 * 0.01 + 273.15, -4.0 * 0.01 + 273.15];
    let data = open(files(&[&path])).materialize().unwrap();
    assert!(data.variables[0].values.same_bits(&Values::F64(expected.to_vec())));
}

#[test]
pub(crate) fn row_54_a_time_axis_of_int32_stays_int32_with_its_units_and_calendar() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.nc");
    write(&path, |file| {
        file.add_dimension("time", 3).unwrap();
        let mut time = file.add_variable::<i32>("time", &["time"]).unwrap();
        time.put_attribute("units", "hours since 2000-01-01").unwrap();
        time.put_attribute("calendar", "noleap").unwrap();
        time.put_attribute("scale_factor", 2.0).unwrap();
        time.put_attribute("_FillValue", 12).unwrap();
        time.put_values(&[6, 12, 18], ..).unwrap();
    });
    let data = whole(&path);
    let time = data.coord("time").unwrap();
    assert!(time.values.same_bits(&Values::I32(vec![6, 12, 18])));
    let text = |name: &str| time.attributes.iter().find(|a| a.name == name).unwrap().value.clone();
    assert_eq!(text("units"), AttributeValue::Text(b"hours since 2000-01-01".to_vec()));
    assert_eq!(text("calendar"), AttributeValue::Text(b"noleap".to_vec()));
}

#[test]
pub(crate) fn rows_55_and_56_characters_beside_numbers_are_strings_of_one_and_nul_is_empty() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let mut file = netcdf::create_with(&path, netcdf::Options::empty()).unwrap();
    file.add_dimension("n", 4).unwrap();
    file.add_variable_with_type("label", &["n"], &NcVariableType::Char).unwrap();
    file.add_variable::<f32>("value", &["n"]).unwrap();
    file.enddef().unwrap();
    file.variable_mut("value").unwrap().put_values(&[1.0_f32, 2.0, 3.0, 4.0], ..).unwrap();
    let text: Vec<Character> = b"a\0 c".iter().map(|byte| Character(*byte)).collect();
    file.variable_mut("label").unwrap().put_values(&text, ..).unwrap();
    file.close().unwrap();
    let data = whole(&path);
    let label = data.variable("label").unwrap();
    let expected = ["a", "", " ", "c"].map(String::from).to_vec();
    assert!(label.values.same_bits(&Values::String(expected)), "{:?}", label.values);
    assert_eq!(label.shape, [4]);
}

/// Every kind of variable over two records; `f` has values that singles cannot hold.
fn kinds(path: &Path, first: i32) {
    write(path, |file| {
        file.add_dimension("time", 2).unwrap();
        file.add_dimension("x", 3).unwrap();
        let mut time = file.add_variable::<f64>("time", &["time"]).unwrap();
        time.put_attribute("units", "days since 2000-01-01").unwrap();
        time.put_attribute("bounds", "edges").unwrap();
        time.put_values(&[f64::from(first), f64::from(first) + 1.0], ..).unwrap();
        file.add_variable::<f64>("x", &["x"]).unwrap().put_values(&[0.1, 0.2, 0.3], ..).unwrap();
        let dims = ["time", "x"];
        let doubles = [0.1, 1e300, -1e-300, 16_777_217.0, f64::from(first), f64::NAN];
        file.add_variable::<f64>("f", &dims).unwrap().put_values(&doubles, ..).unwrap();
        let singles = [0.1_f32, f32::MAX, -0.0, 1e-45, first as f32, f32::NAN];
        file.add_variable::<f32>("s", &dims).unwrap().put_values(&singles, ..).unwrap();
        let mut packed = file.add_variable::<i16>("p", &dims).unwrap();
        packed.put_attribute("scale_factor", 0.1).unwrap();
        packed.put_attribute("add_offset", 1000.7).unwrap();
        packed.put_attribute("missing_value", 7_i16).unwrap();
        packed.put_values(&[1_i16, 7, -32_768, 32_767, 3, first as i16], ..).unwrap();
        file.add_variable::<i64>("n", &dims).unwrap().put_values(&[1_i64, -2, 1 << 60, 4, 5, 6], ..).unwrap();
        let mut counted = file.add_variable::<i32>("c", &["x"]).unwrap();
        counted.put_attribute("missing_value", 5).unwrap();
        counted.put_values(&[5, 16_777_217, -3], ..).unwrap();
        let mut short = file.add_variable::<i16>("h", &dims).unwrap();
        short.put_attribute("missing_value", 5_i16).unwrap();
        short.put_values(&[5_i16, i16::MIN, i16::MAX, 1, 2, 3], ..).unwrap();
        // Seconds that singles know to 128 s.
        let mut bounds = file.add_variable::<f64>("edges", &dims).unwrap();
        bounds.put_values(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0].map(|t| 978_307_201.0 + t), ..).unwrap();
        let mut reference = file.add_variable::<f64>("reference", &dims).unwrap();
        reference.put_attribute("units", "seconds since 1970-01-01").unwrap();
        reference.put_values(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0].map(|t| 978_307_201.0 + t), ..).unwrap();
        file.add_string_variable("t", &["x"]).unwrap().put_string("north", [1]).unwrap();
    });
}

/// Doubles as singles, rounded once, with one NaN; but for those that must be exact.
fn rounded(field: &Field, is_coord: bool) -> Values {
    match &field.values {
        Values::F64(values) if !is_coord && !["c", "edges", "reference"].contains(&&*field.name) => {
            Values::F32(values.iter().map(|v| if v.is_nan() { f32::NAN } else { *v as f32 }).collect())
        }
        other => other.clone(),
    }
}

#[test]
fn singles_are_the_doubles_rounded_once_and_nothing_else_changes() {
    let dir = tempdir().unwrap();
    let paths = [0, 2].map(|first| {
        let path = dir.path().join(format!("{first}.nc"));
        kinds(&path, first);
        path
    });
    for records_per_sample in [1, 2] {
        let options = ProviderOptions { records_per_sample, ..ProviderOptions::of_files(&paths) };
        let doubles = open(options.clone());
        let singles = open(ProviderOptions { eltype: FloatType::F32, ..options });
        let windows: [Selection; 2] =
            [DimWindow::new().indices("x", [2, 0]).into(), DimWindow::new().range("x", 1, 3).into()];
        for t in doubles.refresh_times() {
            let mut pairs = vec![(doubles.sample_at(*t).unwrap(), singles.sample_at(*t).unwrap())];
            let both = [&doubles, &singles].map(|p| p.sample_windows_at(*t, &windows).unwrap());
            let [wide, narrow] = both;
            pairs.extend(wide.into_iter().zip(narrow));
            for (wide, narrow) in pairs {
                for (a, b) in wide.variables.iter().zip(&narrow.variables) {
                    assert!(b.values.same_bits(&rounded(a, false)), "{}: {:?} {:?}", a.name, a.values, b.values);
                    assert_eq!((&a.shape, &a.attributes), (&b.shape, &b.attributes));
                }
                for (a, b) in wide.coords.iter().zip(&narrow.coords) {
                    assert!(b.same_bits(a), "{}", a.name);
                }
                assert_eq!((wide.variables.len(), wide.coords.len()), (narrow.variables.len(), narrow.coords.len()));
            }
        }
    }
}

#[test]
fn an_integer_that_a_double_cannot_hold_is_an_error_in_single_precision_too() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.nc");
    write(&path, |file| {
        file.add_dimension("x", 1).unwrap();
        let mut v = file.add_variable::<i64>("v", &["x"]).unwrap();
        v.put_attribute("missing_value", 0_i64).unwrap();
        v.put_values(&[(1_i64 << 53) + 1], ..).unwrap();
    });
    let single = open(ProviderOptions { eltype: FloatType::F32, ..files(&[&path]) });
    assert_says(&single.materialize().map(drop).unwrap_err(), &["\"v\"", "2^53"]);
}
