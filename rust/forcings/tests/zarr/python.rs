//! Stores that zarr-python wrote (data/zarr/make.py): every type, codec, order, key and shard that is read, bit for bit.

use crate::support::*;
use forcings::dataset::{Selection, Values};
use serde_json::Value;
use std::io::Read;

/// Unpacks the stores.
fn stores() -> (Store, Vec<Value>) {
    let packed = include_bytes!("../data/zarr/python.tar.gz");
    let mut tar = vec![0; u32::from_le_bytes(*packed.last_chunk().unwrap()) as usize];
    libdeflater::Decompressor::new().gzip_decompress(packed, &mut tar).unwrap();
    let store = Store::new();
    let mut rest = &tar[..];
    loop {
        let mut head = [0; 512];
        rest.read_exact(&mut head).unwrap();
        if head[0] == 0 {
            break;
        }
        let text = |bytes: &[u8]| String::from_utf8(bytes.split(|b| *b == 0).next().unwrap().to_vec()).unwrap();
        let len = usize::from_str_radix(text(&head[124..135]).trim(), 8).unwrap();
        store.put(&text(&head[..100]), &rest[..len]);
        rest = &rest[len.next_multiple_of(512)..];
    }
    let cases: Vec<Value> = serde_json::from_slice(&store.get("cases.json")).unwrap();
    (store, cases)
}

/// Element `i` of every array, as make.py says.
fn base(i: usize) -> i64 {
    (i as i64 * 37) % 251 - 125
}

/// A number in half precision, where an eighth of a small integer is exact.
fn float(i: usize) -> f64 {
    [f64::NAN, -0.0, f64::INFINITY, f64::NEG_INFINITY].get(i).copied().unwrap_or(base(i) as f64 / 8.0)
}

/// Element `i` of an integer type: scaled towards the ends of the type.
fn integer(i: usize, bits: u32, signed: bool) -> i64 {
    let top: i128 = (1i128 << (bits - u32::from(signed))) - 1;
    let wrapped = (i128::from(base(i)) * (top / 125)).rem_euclid(1 << bits);
    let value = if signed && wrapped > top { wrapped - (1 << bits) } else { wrapped };
    (if bits == 64 && !signed { value >> 1 } else { value }) as i64
}

/// What an array holds; `rows` elements were written, the rest is the fill value.
fn expected(case: &Value, count: usize, written: usize) -> Values {
    let name = case["name"].as_str().unwrap();
    let fill = match name {
        "absent_v2_nan" | "absent_v3_nan" => f64::NAN,
        "absent_v2_minus" => -7.0,
        "absent_v3_shards" => -3.0,
        // The half that is nearest to 0.1.
        "absent_v3_half" => 0.0999755859375,
        _ => 0.0,
    };
    let floats = || (0..count).map(|i| if i < written { float(i) } else { fill }).collect();
    let integers =
        |bits, signed| (0..count).map(move |i| if i < written { integer(i, bits, signed) } else { fill as i64 });
    let dtype = case["dtype"].as_str().unwrap();
    let bits = 8 * dtype[1..].parse::<u32>().unwrap();
    match &dtype[..1] {
        "b" => Values::Bool((0..count).map(|i| u8::from(base(i).rem_euclid(3) == 0)).collect()),
        "f" => Values::F64(floats()),
        kind if bits < 32 || (bits == 32 && kind == "i") => {
            Values::I32(integers(bits, kind == "i").map(|n| n as i32).collect())
        }
        kind => Values::I64(integers(bits, kind == "i").collect()),
    }
}

fn extents(case: &Value) -> Vec<usize> {
    case["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect()
}

#[test]
fn rows_91_and_92_and_119_every_array_of_zarr_python_is_read_to_the_bit() {
    let (store, cases) = stores();
    assert_eq!(cases.len(), 92);
    for case in &cases {
        let name = case["name"].as_str().unwrap();
        let shape = extents(case);
        let count = shape.iter().product();
        let written = case["rows"].as_u64().map_or(count, |rows| rows as usize * shape[1..].iter().product::<usize>());
        let data = store.read(&[name]).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(data.coords.is_empty());
        let field = data.variable(name).unwrap();
        assert_eq!(field.shape, shape, "{name}");
        match case["dims"].as_array() {
            Some(names) => assert_eq!(dims(field), names.iter().map(|n| n.as_str().unwrap()).collect::<Vec<_>>()),
            None => assert_eq!(dims(field), (0..shape.len()).map(|i| format!("dim_{i}")).collect::<Vec<_>>()),
        }
        let expected = expected(case, count, written);
        assert!(field.values.same_bits(&expected), "{name}:\n{:?}\n{expected:?}", field.values);
    }
}

#[test]
fn windows_of_every_array_are_those_of_the_whole() {
    let (store, cases) = stores();
    for case in cases.iter().filter(|case| extents(case).len() == 3) {
        let name = case["name"].as_str().unwrap();
        let shape = extents(case);
        let picks = [vec![shape[0] - 1, 0, 3], (1..shape[1]).step_by(2).collect(), vec![4, 0, 0, 1]];
        let json = format!(
            r#"{{"axes": [{{"indices": {:?}}}, {{"slice": [1, {}, 2]}}, {{"indices": {:?}}}]}}"#,
            picks[0], shape[1], picks[2]
        );
        assert!(Selection::from_json(&json).is_ok());
        let whole = store.read(&[name]).unwrap();
        let part = store.read_under(&[name], Some(&json)).unwrap();
        let source = |at: Vec<usize>| {
            let at: Vec<usize> = at.iter().zip(&picks).map(|(a, list)| list[*a]).collect();
            linear(&at, &shape)
        };
        let at: Vec<usize> = positions(&[3, picks[1].len(), 4]).map(source).collect();
        let picked = match &whole.variables[0].values {
            Values::F64(v) => Values::F64(at.iter().map(|i| v[*i]).collect()),
            Values::I64(v) => Values::I64(at.iter().map(|i| v[*i]).collect()),
            Values::I32(v) => Values::I32(at.iter().map(|i| v[*i]).collect()),
            Values::Bool(v) => Values::Bool(at.iter().map(|i| v[*i]).collect()),
            other => panic!("{other:?}"),
        };
        assert!(part.variables[0].values.same_bits(&picked), "{name}");
    }
}
