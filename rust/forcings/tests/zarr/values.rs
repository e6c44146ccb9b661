//! What the values of arrays are, from stores whose every byte is written here.

use crate::support::*;
use forcings::dataset::Values;
use forcings::formats::{Attribute, AttributeValue};
use forcings::ErrorKind;
use serde_json::json;

#[test]
fn row_91_absent_chunks_hold_the_fill_value_and_stay_numbers() {
    let store = Store::new();
    let codecs = [
        ("zero", json!(0.0), [0.0f64; 4]),
        ("null", json!(null), [0.0; 4]),
        ("minus", json!(-32767.0), [-32767.0; 4]),
        ("negative_zero", json!(-0.0), [-0.0; 4]),
        ("nan", json!("NaN"), [f64::NAN; 4]),
    ];
    for (name, fill, expected) in codecs {
        store.put_json(&format!("{name}/.zarray"), &with(v2("<f8", &[6], &[4]), &[("fill_value", fill)]));
        store.put(&format!("{name}/1"), f64_bytes(&[1.0, 2.0, 9.0, 9.0]));
        let data = store.read(&[name]).unwrap();
        let expected = Values::F64([&expected[..], &[1.0, 2.0]].concat());
        assert!(data.variables[0].values.same_bits(&expected), "{name}: {:?}", data.variables[0].values);
    }
}

#[test]
fn row_92_a_stored_value_equal_to_the_fill_value_is_that_value() {
    let store = Store::new();
    let metadata = with(v2("<f8", &[3], &[3]), &[("fill_value", json!(-999.0))]);
    store.put_json("q/.zarray", &metadata);
    store.put_json(
        "q/.zattrs",
        &json!({ "_FillValue": -999.0, "missing_value": 5.0, "scale_factor": 2.0, "add_offset": 1.0 }),
    );
    store.put("q/0", f64_bytes(&[0.0, -999.0, 5.0]));
    let data = store.read(&["q"]).unwrap();
    // Neither masked nor unpacked, and the attributes are all there.
    assert_eq!(f64s(&data.variables[0]), [0.0, -999.0, 5.0]);
    assert_eq!(data.variables[0].attributes.len(), 4);
    let zero = v2("<f8", &[2], &[2]);
    store.put_json("z/.zarray", &zero);
    store.put("z/0", f64_bytes(&[0.0, 1.0]));
    assert_eq!(f64s(&store.read(&["z"]).unwrap().variables[0]), [0.0, 1.0]);
}

#[test]
fn integers_keep_their_type_and_signs_are_not_lost() {
    let store = Store::new();
    let cases: [(&str, Vec<u8>, Values); 5] = [
        ("|u1", vec![0, 255], Values::I32(vec![0, 255])),
        ("<u2", vec![255, 255, 1, 0], Values::I32(vec![65535, 1])),
        (">u4", vec![255; 8], Values::I64(vec![u32::MAX.into(); 2])),
        ("<i8", vec![255; 16], Values::I64(vec![-1, -1])),
        ("|b1", vec![2, 0], Values::Bool(vec![1, 0])),
    ];
    for (i, (dtype, bytes, expected)) in cases.into_iter().enumerate() {
        let name = format!("a{i}");
        store.put_json(&format!("{name}/.zarray"), &v2(dtype, &[2], &[2]));
        // `_Unsigned` says nothing here.
        store.put_json(&format!("{name}/.zattrs"), &json!({ "_Unsigned": "true", "_FillValue": 1 }));
        store.put(&format!("{name}/0"), bytes);
        assert!(store.read(&[&name]).unwrap().variables[0].values.same_bits(&expected), "{dtype}");
    }
    store.put_json("big/.zarray", &v2("<u8", &[2], &[2]));
    store.put("big/0", [[255; 8], [0; 8]].concat());
    assert_error(&store.refusal("big"), ErrorKind::Format, &["\"big\"", "beyond 2^63"]);
}

#[test]
fn row_119_special_values_travel_to_the_bit() {
    let store = Store::new();
    let payload = f64::from_bits(0x7ff8_0000_dead_beef);
    let values = [payload, -0.0, f64::NEG_INFINITY, f64::MIN_POSITIVE / 3.0];
    store.array("d", &["x"], &[4], &[2], &values);
    assert!(store.read(&["d"]).unwrap().variables[0].values.same_bits(&Values::F64(values.to_vec())));
    let singles = [f32::from_bits(0x7fc0_1234), -0.0, f32::INFINITY, 0.1];
    store.put_json("s/.zarray", &v2(">f4", &[4], &[4]));
    store.put("s/0", singles.iter().flat_map(|s| s.to_be_bytes()).collect::<Vec<_>>());
    let widened = Values::F64(singles.iter().map(|s| f64::from(*s)).collect());
    assert!(store.read(&["s"]).unwrap().variables[0].values.same_bits(&widened));
}

#[test]
fn edge_chunks_are_whole_and_their_padding_is_never_seen() {
    let store = Store::new();
    let values: Vec<f64> = (0..35).map(f64::from).collect();
    store.array("q", &["y", "x"], &[5, 7], &[2, 3], &values);
    let data = store.read(&["q"]).unwrap();
    assert_eq!(f64s(&data.variables[0]), values);
    let picked = store.read_under(&["q"], Some(r#"{"dims": {"x": {"indices": [6, 6, 0]}, "y": {"slice": [4, 5]}}}"#));
    assert_eq!(f64s(&picked.unwrap().variables[0]), [34.0, 34.0, 28.0]);
}

#[test]
fn row_94_separators_of_both_versions() {
    let store = Store::new();
    for (name, separator, key) in [("n", json!(null), "1.0"), ("e", json!(""), "1.0"), ("s", json!("/"), "1/0")] {
        let metadata = with(v2("<f8", &[2, 1], &[1, 1]), &[("dimension_separator", separator)]);
        store.put_json(&format!("{name}/.zarray"), &metadata);
        store.put(&format!("{name}/{key}"), f64_bytes(&[7.0]));
        assert_eq!(f64s(&store.read(&[name]).unwrap().variables[0]), [0.0, 7.0], "{name}");
    }
    let metadata = with(v2("<f8", &[2, 1], &[1, 1]), &[("dimension_separator", json!("-"))]);
    store.put_json("bad/.zarray", &metadata);
    assert_error(&store.refusal("bad"), ErrorKind::Format, &["bad/.zarray", "separator"]);
}

#[test]
fn names_of_dimensions_come_from_the_format_then_the_attribute() {
    let store = Store::new();
    let attribute = json!({ "_ARRAY_DIMENSIONS": ["a", "b"] });
    let metadata = v3("float64", &[1, 2], &[1, 2], plain());
    for (name, changes, expected) in [
        ("both", vec![("dimension_names", json!(["y", "x"])), ("attributes", attribute.clone())], ["y", "x"]),
        ("some", vec![("dimension_names", json!(["y", null])), ("attributes", attribute.clone())], ["a", "b"]),
        ("short", vec![("attributes", json!({ "_ARRAY_DIMENSIONS": ["a"] }))], ["dim_0", "dim_1"]),
        ("none", vec![], ["dim_0", "dim_1"]),
    ] {
        store.put_json(&format!("{name}/zarr.json"), &with(metadata.clone(), &changes));
        assert_eq!(dims(&store.read(&[name]).unwrap().variables[0]), expected, "{name}");
    }
    store.put_json("bad/zarr.json", &with(metadata, &[("dimension_names", json!(["y"]))]));
    assert_error(&store.refusal("bad"), ErrorKind::Format, &["no names for 2 dimensions"]);
}

#[test]
fn attributes_are_kept_and_arrays_may_lie_in_groups() {
    let store = Store::new();
    store.put_json("g/h/q/.zarray", &v2("<f8", &[], &[]));
    store.put("g/h/q/.zattrs", r#"{"units": "K", "valid": NaN, "levels": [1, 2]}"#);
    store.put("g/h/q/0", f64_bytes(&[4.0]));
    let data = store.read(&["g/h/q"]).unwrap();
    let field = data.variable("g/h/q").unwrap();
    assert_eq!((field.dims.len(), f64s(field)), (0, &[4.0][..]));
    let get = |name: &str| field.attributes.iter().find(|a: &&Attribute| a.name == name).unwrap().value.clone();
    assert_eq!(get("units"), AttributeValue::Text(b"K".to_vec()));
    assert_eq!(get("levels"), AttributeValue::Integers(vec![1, 2]));
    assert!(matches!(get("valid"), AttributeValue::Floats(v) if v[0].is_nan()));
    assert!(data.attributes.is_empty() && data.coords.is_empty());
}

#[test]
fn what_is_not_read_is_named() {
    let store = Store::new();
    let array = v2("<f8", &[2], &[2]);
    let v3_with = |codecs| v3("float64", &[2], &[2], codecs);
    let bytes = json!({ "name": "bytes", "configuration": { "endian": "little" } });
    let checksums = |n| json!([vec![bytes.clone()], vec![json!("crc32c"); n]].concat());
    let shards = json!([{ "name": "sharding_indexed", "configuration": {
        "chunk_shape": [1], "codecs": plain(), "index_codecs": plain() } }]);
    let cases = [
        (".zarray", with(array.clone(), &[("dtype", json!("<M8[ns]"))]), "<M8[ns]"),
        (".zarray", with(array.clone(), &[("dtype", json!([["a", "<f4"]]))]), "<f4"),
        (".zarray", with(array.clone(), &[("compressor", json!({ "id": "bz2" }))]), "\"bz2\""),
        (
            ".zarray",
            with(array.clone(), &[("filters", json!([{ "id": "delta", "dtype": "<f8" }]))]),
            "filter \"delta\"",
        ),
        ("zarr.json", v3("complex64", &[2], &[2], plain()), "complex64"),
        ("zarr.json", v3_with(json!([bytes, { "name": "pcodec" }])), "\"pcodec\""),
        ("zarr.json", v3_with(json!([{ "name": "vlen-utf8" }])), "\"vlen-utf8\""),
        ("zarr.json", v3_with(checksums(9)), "more than 8 checksums"),
        ("zarr.json", v3("float64", &[2], &[1 << 25], shards), "more than 16777216 chunks"),
        ("zarr.json", v3_with(json!([bytes, "gzip", "zstd"])), "compressed twice"),
        ("zarr.json", with(v3_with(plain()), &[("chunk_grid", json!({ "name": "rectilinear" }))]), "rectilinear"),
        ("zarr.json", with(v3_with(plain()), &[("storage_transformers", json!([{ "name": "x" }]))]), "transformer"),
        ("zarr.json", with(v3_with(plain()), &[("extra", json!({ "must_understand": true }))]), "\"extra\""),
    ];
    let way_out = "; rewrite the array with blosc, zlib, gzip, zstd or no compressor, and without filters";
    for (i, (document, metadata, part)) in cases.into_iter().enumerate() {
        let name = format!("a{i}");
        store.put_json(&format!("{name}/{document}"), &metadata);
        assert_error(&store.refusal(&name), ErrorKind::Unsupported, &[part, &name, way_out]);
    }
    store.put_json("eight/zarr.json", &v3_with(checksums(8)));
    assert_eq!(f64s(&store.read(&["eight"]).unwrap().variables[0]), [0.0, 0.0]);
    // What only the chunks tell.
    store.put_json("b/.zarray", &with(array, &[("compressor", json!({ "id": "blosc" }))]));
    let header = [[5, 1, 0, 8], 16u32.to_le_bytes(), 16u32.to_le_bytes(), 16u32.to_le_bytes()].concat();
    store.put("b/0", header);
    assert_error(&store.refusal("b"), ErrorKind::Unsupported, &["b/0", "Blosc", way_out]);
    let optional = with(v3_with(plain()), &[("extra", json!({ "must_understand": false }))]);
    store.put_json("ok/zarr.json", &optional);
    assert_eq!(f64s(&store.read(&["ok"]).unwrap().variables[0]), [0.0, 0.0]);
    assert!(store.read(&["ok"]).unwrap().variable("ok").is_some());
}

#[test]
fn a_local_name_may_have_a_space() {
    let store = Store::new();
    store.array("T 2m", &["x"], &[2], &[2], &[1.0, 2.0]);
    assert_eq!(f64s(&store.read(&["T 2m"]).unwrap().variables[0]), [1.0, 2.0]);
}

#[test]
fn an_array_given_twice_is_read_once() {
    let store = Store::new();
    store.array("q", &["x"], &[2], &[2], &[1.0, 2.0]);
    assert_eq!(store.read(&["q", "q"]).unwrap().variables.len(), 1);
    assert_error(&store.refusal("absent"), ErrorKind::NotFound, &["\"absent\"", "zarr.json"]);
}
