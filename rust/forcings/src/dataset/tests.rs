//! Decoding files in memory: types, text, roles, projection, selections, records.

mod rows;

use super::testing::MemoryFile;
use super::*;
use crate::formats::{AttributeValue, ByteOrder};
use crate::ErrorKind;

fn all() -> Request {
    Request::default()
}

fn only(variables: &[&str]) -> Request {
    Request { variables: variables.iter().map(|v| v.to_string()).collect(), ..Request::default() }
}

fn select(json: &str) -> Request {
    Request { select: Selection::from_json(json).unwrap(), ..Request::default() }
}

fn get(file: &MemoryFile, request: &Request) -> Dataset {
    decode(file, request, DecodeOptions::default()).unwrap()
}

fn refused(file: &MemoryFile, request: &Request) -> (ErrorKind, String) {
    let reads = file.reads();
    let error = decode(file, request, DecodeOptions::default()).unwrap_err();
    assert_eq!(file.reads(), reads, "refused before any value is read");
    (error.kind(), error.to_string())
}

fn selection_refused(file: &MemoryFile, json: &str, reason: &str) {
    let (kind, text) = refused(file, &select(json));
    assert_eq!(kind, ErrorKind::Selection, "{json}: {text}");
    assert!(text.contains(reason), "{json}: {text}");
}

fn f64s(field: &Field) -> &[f64] {
    match &field.values {
        Values::F64(values) => values,
        other => panic!("{} is {:?}", field.name, other.field_type()),
    }
}

fn i32s(field: &Field) -> &[i32] {
    match &field.values {
        Values::I32(values) => values,
        other => panic!("{} is {:?}", field.name, other.field_type()),
    }
}

fn strings(field: &Field) -> &[String] {
    match &field.values {
        Values::String(values) => values,
        other => panic!("{} is {:?}", field.name, other.field_type()),
    }
}

fn dims(field: &Field) -> Vec<&str> {
    field.dims.iter().map(|d| &**d).collect()
}

/// ps(time, lat, lon), t(time, lev, lat, lon), u(time, lat, lon_edge), a scalar and a time axis.
fn staggered() -> MemoryFile {
    let count = |n: usize| (0..n).map(|i| i as f32).collect::<Vec<_>>();
    MemoryFile::new(&[("time", 2), ("lev", 3), ("lat", 4), ("lon", 5), ("lon_edge", 6), ("spare", 7)])
        .numbers("time", &["time"], &[10, 20])
        .units("hours since 2000-01-01")
        .with("scale_factor", AttributeValue::Floats(vec![2.0]))
        .with("_FillValue", AttributeValue::Integers(vec![10]))
        .numbers("lat", &["lat"], &[-1.5, -0.5, 0.5, 1.5])
        .numbers("lon", &["lon"], &count(5))
        .numbers("ps", &["time", "lat", "lon"], &count(40))
        .numbers("t", &["time", "lev", "lat", "lon"], &count(120))
        .numbers("u", &["time", "lat", "lon_edge"], &count(48))
        .numbers("flag", &[], &[7_i16])
}

#[test]
fn a_packed_int16_with_a_fill_cell_is_float64_with_nan() {
    let file = MemoryFile::new(&[("x", 4)])
        .numbers("p", &["x"], &[1_i16, -999, 3, 4])
        .with("scale_factor", AttributeValue::Floats(vec![0.01]))
        .with("add_offset", AttributeValue::Floats(vec![273.15]))
        .with("_FillValue", AttributeValue::Integers(vec![-999]))
        .with("missing_value", AttributeValue::Integers(vec![7, 4]));
    let dataset = get(&file, &all());
    let expected = [1.0 * 0.01 + 273.15, f64::NAN, 3.0 * 0.01 + 273.15, f64::NAN];
    assert!(dataset.variables[0].values.same_bits(&Values::F64(expected.to_vec())));
    assert_eq!(dataset.variables[0].attributes.len(), 4);
}

#[test]
fn an_int32_time_axis_stays_as_it_is_whatever_its_attributes() {
    let dataset = get(&staggered(), &all());
    let time = dataset.coord("time").unwrap();
    assert_eq!(i32s(time), [10, 20]);
    assert_eq!(time.attributes[0].value, AttributeValue::Text("hours since 2000-01-01".into()));
}

#[test]
fn coordinates_are_the_variables_of_one_dimension_with_their_own_name() {
    let dataset = get(&staggered(), &all());
    let names: Vec<&str> = dataset.fields().map(|f| &*f.name).collect();
    assert_eq!(names, ["ps", "t", "u", "flag", "time", "lat", "lon"]);
    assert_eq!(dataset.coords.len(), 3);
    let flag = dataset.variable("flag").unwrap();
    assert_eq!((dims(flag).len(), flag.shape.len(), i32s(flag)), (0, 0, &[7][..]));
    let names = MemoryFile::new(&[("x", 2), ("y", 2)]).numbers("x", &["x", "y"], &[1, 2, 3, 4]);
    assert_eq!(get(&names, &all()).coords.len(), 0);
}

#[test]
fn big_endian_data_and_zero_extents() {
    let file = MemoryFile::new(&[("x", 2), ("none", 0)])
        .ordered("b", &["x"], &[1.5_f64, -0.0], ByteOrder::Big)
        .ordered("s", &["x"], &[1_u16, 65_535], ByteOrder::Big)
        .numbers::<i64>("empty", &["x", "none"], &[]);
    let dataset = get(&file, &all());
    assert!(dataset.variables[0].values.same_bits(&Values::F64(vec![1.5, -0.0])));
    assert_eq!(i32s(&dataset.variables[1]), [1, 65_535]);
    assert!(dataset.variables[2].values.same_bits(&Values::I64(vec![])));
    assert_eq!(dataset.variables[2].shape, [2, 0]);
}

#[test]
fn integers_beyond_their_result_type_are_errors_that_name_the_variable() {
    let large = MemoryFile::new(&[("x", 2)]).numbers("n", &["x"], &[1, u64::MAX]);
    let error = decode(&large, &all(), DecodeOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "memory.nc: variable \"n\" holds an integer beyond 2^63 - 1, the largest int64");
    let masked = MemoryFile::new(&[("x", 2)])
        .numbers("n", &["x"], &[(1_i64 << 53) + 1, 0])
        .with("_FillValue", AttributeValue::Integers(vec![0]));
    let error = decode(&masked, &all(), DecodeOptions::default()).unwrap_err();
    assert!(error.to_string().contains("\"n\" holds an integer beyond 2^53"), "{error}");
    let narrowed = get(&masked, &select(r#"{"dims": {"x": {"indices": [1]}}}"#));
    assert!(f64s(&narrowed.variables[0])[0].is_nan());
}

#[test]
fn a_projection_keeps_coordinates_and_decodes_nothing_else() {
    let file = staggered();
    let dataset = get(&file, &only(&["u", "flag", "u"]));
    assert_eq!(dataset.variables.iter().map(|f| &*f.name).collect::<Vec<_>>(), ["u", "flag"]);
    assert_eq!(dataset.coords.len(), 3);
    assert_eq!(file.reads(), 5);
    let broken = staggered().change(|flag| flag.problem = Some("its filter 32015 (zstd) is missing".into()));
    assert_eq!(get(&broken, &only(&["ps"])).variables.len(), 1);
    let error = decode(&broken, &only(&["flag"]), DecodeOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("\"flag\" cannot be read: its filter 32015 (zstd) is missing"), "{error}");
}

#[test]
fn names_that_are_no_data_variables_are_refused_with_a_list() {
    for name in ["typo", "lat"] {
        let (kind, text) = refused(&staggered(), &only(&["ps", name]));
        assert_eq!(kind, ErrorKind::NotFound);
        let expected = "there are \"ps\", \"t\", \"u\", \"flag\"";
        assert!(text.contains(&format!("no data variable \"{name}\"")) && text.contains(expected), "{text}");
    }
}

#[test]
fn types_that_are_not_decoded_are_left_out_unless_they_are_named() {
    let file = MemoryFile::new(&[("x", 2)]).other("pair", &["x"]).numbers("v", &["x"], &[1, 2]);
    assert_eq!(get(&file, &all()).variables.len(), 1);
    let (kind, text) = refused(&file, &only(&["pair"]));
    assert_eq!((kind, text.contains("type compound")), (ErrorKind::Unsupported, true));
}

#[test]
fn strings_obey_selections() {
    let file = MemoryFile::new(&[("a", 2), ("b", 3)]).strings("s", &["a", "b"], &["p", "q", "r", "s", "t", "ü"]);
    assert_eq!(strings(&get(&file, &all()).variables[0]), ["p", "q", "r", "s", "t", "ü"]);
    let picked = get(&file, &select(r#"{"dims": {"b": {"indices": [2, 0]}, "a": {"slice": [1, 2]}}}"#));
    assert_eq!(
        (strings(&picked.variables[0]), &picked.variables[0].shape[..]),
        (&["ü".into(), "s".into()][..], &[1, 2][..])
    );
}

#[test]
fn a_name_that_two_dimensions_have_means_both() {
    let file = MemoryFile::new(&[("x", 4), ("x", 2)])
        .numbers("long", &["x"], &[1, 2, 3, 4])
        .numbers("short", &["x"], &[5, 6, 0, 0])
        .change(|v| (v.dimensions, v.shape) = (vec![1], vec![2]));
    let dataset = get(&file, &select(r#"{"dims": {"x": {"indices": [1, 0]}}}"#));
    assert_eq!((i32s(&dataset.variables[0]), i32s(&dataset.variables[1])), (&[2, 1][..], &[6, 5][..]));
    selection_refused(&file, r#"{"dims": {"x": {"indices": [3]}}}"#, "outside its length 2");
}

fn records(dim: &str, indices: &[u64], squeeze: bool) -> Request {
    Request { records: Some(Records { dim: dim.into(), indices: indices.to_vec(), squeeze }), ..Request::default() }
}

#[test]
fn records_are_read_in_order_and_keep_their_dimension() {
    let dataset = get(&staggered(), &records("time", &[1, 0, 1], false));
    assert_eq!(i32s(dataset.coord("time").unwrap()), [20, 10, 20]);
    let ps = dataset.variable("ps").unwrap();
    assert_eq!((&ps.shape[..], f64s(ps)[0], f64s(ps)[20]), (&[3, 4, 5][..], 20.0, 0.0));
    assert_eq!(dataset.variable("flag").unwrap().shape, [0; 0]);
}

#[test]
fn one_squeezed_record_loses_its_dimension_wherever_it_stands() {
    let file = MemoryFile::new(&[("x", 2), ("time", 3)])
        .numbers("time", &["time"], &[0, 1, 2])
        .numbers("v", &["x", "time"], &[1, 2, 3, 4, 5, 6])
        .numbers("x", &["x"], &[8, 9]);
    let dataset = get(&file, &records("time", &[2], true));
    let v = &dataset.variables[0];
    assert_eq!((dims(v), &v.shape[..], i32s(v)), (vec!["x"], &[2][..], &[3, 6][..]));
    assert_eq!(dataset.coords.iter().map(|c| &*c.name).collect::<Vec<_>>(), ["x"]);
}

#[test]
fn records_that_do_not_fit_are_refused() {
    let file = staggered();
    for (request, reason) in [
        (records("spare", &[0], false), "no field of this read has; present are \"time\""),
        (records("time", &[], false), "is empty"),
        (records("time", &[0, 2], false), "record 2 of dimension \"time\" is outside 0:1"),
        (records("time", &[0, 1], true), "2 records cannot leave out"),
        (
            Request {
                records: records("lev", &[0], false).records,
                ..select(r#"{"dims": {"lev": {"slice": [0, 1]}}}"#)
            },
            "narrowed by the selection and by records",
        ),
    ] {
        let (kind, text) = refused(&file, &request);
        assert_eq!(kind, ErrorKind::Selection);
        assert!(text.contains(reason), "{text}");
    }
}

#[test]
fn cells_beyond_a_short_variable_hold_its_fill_value() {
    let file = MemoryFile::new(&[("time", 4), ("x", 2)])
        .numbers("v", &["time", "x"], &[1_i16, 2, 3, 4, 0, 0, 0, 0])
        .change(|v| {
            v.shape = vec![2, 2];
            v.fill = Some((-5_i16).to_le_bytes().to_vec());
        })
        .strings("s", &["time"], &["one"])
        .change(|v| v.shape = vec![1]);
    let dataset = get(&file, &all());
    assert_eq!(i32s(&dataset.variables[0]), [1, 2, 3, 4, -5, -5, -5, -5]);
    assert_eq!(strings(&dataset.variables[1]), ["one", "", "", ""]);
    let request = Request {
        records: records("time", &[3, 1], false).records,
        ..select(r#"{"dims": {"x": {"indices": [1, 0]}}}"#)
    };
    assert_eq!(i32s(&get(&file, &request).variables[0]), [-5, -5, 4, 3]);
    let masked = file.change(|_| {});
    assert_eq!(get(&masked, &records("time", &[3], true)).variables[0].shape, [2]);
}

#[test]
fn a_fill_value_that_no_cell_of_the_read_has_matters_to_none() {
    let file = MemoryFile::new(&[("time", 3)]).numbers("v", &["time"], &[7_u64, 8, 0]).change(|v| {
        v.shape = vec![2];
        v.fill = Some((u64::MAX - 1).to_le_bytes().to_vec());
    });
    let written = get(&file, &records("time", &[1, 0], false));
    assert!(written.variables[0].values.same_bits(&Values::I64(vec![8, 7])));
    let error = decode(&file, &records("time", &[2], false), DecodeOptions::default()).unwrap_err();
    assert!(error.to_string().contains("2^63"), "{error}");
}

#[test]
fn a_shape_that_contradicts_its_dimensions_fails_its_own_variable() {
    let bad: [fn(&mut crate::formats::Variable); 2] = [|v| v.shape = vec![3], |v| v.dimensions = vec![9]];
    for bad in bad {
        let file = MemoryFile::new(&[("x", 2)]).numbers("w", &["x"], &[1, 2]).numbers("v", &["x"], &[1, 2]).change(bad);
        assert_eq!(get(&file, &all()).variables.len(), 1);
        let (kind, text) = refused(&file, &only(&["v"]));
        assert_eq!((kind, text.contains("does not fit its dimensions")), (ErrorKind::Unsupported, true));
    }
}

#[test]
fn what_has_no_room_in_memory_is_refused() {
    let error = |dims: &[(&str, u64)], names: &[&str]| {
        let file = MemoryFile::new(dims).numbers::<f64>("v", names, &[]);
        decode(&file, &all(), DecodeOptions::default()).unwrap_err().to_string()
    };
    assert!(error(&[("x", 1 << 40), ("y", 1 << 40)], &["x", "y"]).contains("too large for memory"));
    assert!(error(&[("x", 1 << 58)], &["x"]).contains("cannot hold its 288230376151711744 elements"));
    let strings = MemoryFile::new(&[("x", 1 << 40)]).strings("s", &["x"], &[]);
    assert!(decode(&strings, &all(), DecodeOptions::default()).unwrap_err().to_string().contains("cannot hold"));
}
