//! Damaged and hostile stores: an error with its kind, and no more memory than the store can account for.

use crate::support::*;
use forcings::ErrorKind;
use serde_json::{json, Value};

/// `q(8)` in one shard of four chunks, with an index behind them.
fn shard() -> (Store, Vec<u8>) {
    let store = Store::new();
    let index = json!([{ "name": "bytes", "configuration": { "endian": "little" } }, { "name": "crc32c" }]);
    let codecs = json!([{ "name": "sharding_indexed", "configuration": {
        "chunk_shape": [2], "codecs": plain(), "index_codecs": index, "index_location": "end" } }]);
    store.put_json("q/zarr.json", &v3("float64", &[8], &[8], codecs));
    let mut object = f64_bytes(&[1.0, 2.0, 3.0, 4.0, 7.0, 8.0]);
    let parts = [(0u64, 16u64), (16, 16), (u64::MAX, u64::MAX), (32, 16)];
    let index: Vec<u8> = parts.iter().flat_map(|(o, n)| [o.to_le_bytes(), n.to_le_bytes()].concat()).collect();
    object.extend(&index);
    object.extend(crc32c(&index).to_le_bytes());
    store.put("q/c/0", &object);
    (store, object)
}

/// The index with other entries and a checksum that fits.
fn reindexed(object: &[u8], parts: &[(u64, u64)]) -> Vec<u8> {
    let index: Vec<u8> = parts.iter().flat_map(|(o, n)| [o.to_le_bytes(), n.to_le_bytes()].concat()).collect();
    [&object[..48], &index, &crc32c(&index).to_le_bytes()].concat()
}

#[test]
fn chunks_of_a_shard_are_found_by_its_index_and_missing_ones_filled() {
    let (store, _) = shard();
    let data = store.read(&["q"]).unwrap();
    assert_eq!(f64s(&data.variables[0]), [1.0, 2.0, 3.0, 4.0, 0.0, 0.0, 7.0, 8.0]);
    store.remove("q/c/0");
    assert_eq!(f64s(&store.read(&["q"]).unwrap().variables[0]), [0.0; 8]);
}

#[test]
fn only_the_chunks_of_a_shard_that_are_needed_are_decoded() {
    let (store, object) = shard();
    let parts = [(0, 16), (16, 3), (u64::MAX, u64::MAX), (32, 16)];
    store.put("q/c/0", reindexed(&object, &parts));
    let json = r#"{"axes": [{"indices": [7, 0, 5]}]}"#;
    assert_eq!(f64s(&store.read_under(&["q"], Some(json)).unwrap().variables[0]), [8.0, 1.0, 0.0]);
    assert_error(&store.refusal("q"), ErrorKind::Format, &["q/c/0", "chunk 1", "3 bytes are stored, 16 are expected"]);
}

#[test]
fn shards_that_lie_are_refused() {
    let (store, object) = shard();
    let mut flipped = object.clone();
    flipped[50] ^= 1;
    let (end, none) = (object.len() as u64, (u64::MAX, u64::MAX));
    for (bytes, part) in [
        (flipped, "CRC-32C of the shard index differs"),
        (object[..60].to_vec(), "cannot hold the index"),
        (Vec::new(), "cannot hold the index"),
        (reindexed(&object, &[(end - 8, 16), none, none, none]), "leads out of"),
        (reindexed(&object, &[(u64::MAX - 4, 16), none, none, none]), "leads out of"),
        (reindexed(&object, &[(0, 1 << 60), none, none, none]), "leads out of"),
        (reindexed(&object, &[(0, 0), none, none, none]), "0 bytes are stored"),
    ] {
        store.put("q/c/0", bytes);
        assert_error(&store.refusal("q"), ErrorKind::Format, &["q/c/0", part]);
    }
}

#[test]
fn metadata_that_contradict_the_format_are_refused() {
    let good = v2("<f8", &[2], &[2]);
    let shards =
        |settings: Value| v3("float64", &[4], &[4], json!([{ "name": "sharding_indexed", "configuration": settings }]));
    let good_v3 = v3("float64", &[2], &[2], plain());
    let cases = [
        (".zarray", json!([])),
        (".zarray", json!({})),
        (".zarray", with(good.clone(), &[("zarr_format", json!(3))])),
        (".zarray", with(good.clone(), &[("shape", json!(2))])),
        (".zarray", with(good.clone(), &[("shape", json!([-1]))])),
        (".zarray", with(good.clone(), &[("shape", json!([2.5]))])),
        (".zarray", with(good.clone(), &[("shape", json!([2, 2]))])),
        (".zarray", with(good.clone(), &[("shape", json!([u64::MAX]))])),
        (".zarray", with(good.clone(), &[("shape", json!(vec![1; 65])), ("chunks", json!(vec![1; 65]))])),
        (".zarray", with(good.clone(), &[("chunks", json!([0]))])),
        (".zarray", with(good.clone(), &[("chunks", json!({}))])),
        (".zarray", with(good.clone(), &[("order", json!("K"))])),
        (".zarray", with(good.clone(), &[("fill_value", json!("nothing"))])),
        (".zarray", with(good.clone(), &[("filters", json!("delta"))])),
        (".zarray", with(good.clone(), &[("compressor", json!("zlib"))])),
        ("zarr.json", with(good_v3.clone(), &[("zarr_format", json!("3"))])),
        ("zarr.json", with(good_v3.clone(), &[("node_type", json!("group"))])),
        ("zarr.json", with(good_v3.clone(), &[("chunk_grid", json!({ "name": "regular" }))])),
        ("zarr.json", with(good_v3.clone(), &[("codecs", json!([]))])),
        ("zarr.json", with(good_v3.clone(), &[("codecs", json!(["bytes"]))])),
        (
            "zarr.json",
            with(
                good_v3.clone(),
                &[("codecs", json!([{ "name": "transpose", "configuration": { "order": [1] } }, "bytes"]))],
            ),
        ),
        ("zarr.json", with(good_v3.clone(), &[("attributes", json!([]))])),
        ("zarr.json", shards(json!({ "chunk_shape": [3], "codecs": plain(), "index_codecs": plain() }))),
        ("zarr.json", shards(json!({ "chunk_shape": [0], "codecs": plain(), "index_codecs": plain() }))),
        ("zarr.json", shards(json!({ "chunk_shape": [2, 2], "codecs": plain(), "index_codecs": plain() }))),
        ("zarr.json", shards(json!({ "chunk_shape": [2], "codecs": plain() }))),
        (
            "zarr.json",
            shards(
                json!({ "chunk_shape": [2], "codecs": plain(), "index_codecs": plain(), "index_location": "middle" }),
            ),
        ),
    ];
    for (document, metadata) in cases {
        let store = Store::new();
        store.put_json(&format!("q/{document}"), &metadata);
        assert_error(&store.refusal("q"), ErrorKind::Format, &[document, "damaged"]);
    }
    let store = Store::new();
    for text in ["", "{", "\u{0}", "nul", "[[[["] {
        store.put("q/zarr.json", text);
        assert_error(&store.refusal("q"), ErrorKind::Format, &["q/zarr.json", "JSON"]);
    }
    store.put("q/zarr.json", [0xff; 40]);
    assert_error(&store.refusal("q"), ErrorKind::Format, &["UTF-8"]);
    store.put("q/zarr.json", vec![b' '; (16 << 20) + 1]);
    assert_error(&store.refusal("q"), ErrorKind::Format, &["too many for metadata"]);
}

#[test]
fn a_small_object_cannot_ask_for_a_large_chunk() {
    let store = Store::new();
    let huge = 1usize << 40;
    for (name, compressor) in
        [("z", json!({ "id": "zlib" })), ("s", json!({ "id": "zstd" })), ("b", json!({ "id": "blosc" }))]
    {
        let metadata = with(v2("<f8", &[4], &[huge]), &[("compressor", compressor)]);
        store.put_json(&format!("{name}/.zarray"), &metadata);
        store.put(&format!("{name}/0"), [120; 300]);
        assert_error(&store.refusal(name), ErrorKind::Format, &["300 stored bytes cannot expand to", "chunk 0"]);
    }
    // An extent that overflows, and an object that is shorter than its chunk.
    store.put_json("o/.zarray", &v2("<f8", &[4, 4], &[1 << 40, 1 << 40]));
    assert_error(&store.refusal("o"), ErrorKind::Format, &["too large"]);
    store.put_json("p/.zarray", &v2("<f8", &[4], &[huge]));
    store.put("p/0", [0; 32]);
    assert_error(&store.refusal("p"), ErrorKind::Format, &["32 bytes are stored"]);
    // A shard of more chunks than it has bytes.
    let codecs = json!([{ "name": "sharding_indexed", "configuration": {
        "chunk_shape": [1], "codecs": plain(), "index_codecs": plain() } }]);
    store.put_json("i/zarr.json", &v3("float64", &[4], &[1 << 24], codecs));
    store.put("i/c/0", [0; 64]);
    assert_error(&store.refusal("i"), ErrorKind::Format, &["cannot hold the index"]);
}

#[test]
fn chunks_that_no_object_should_ask_for_are_refused_whatever_their_ratio() {
    let store = Store::new();
    for (id, len, most) in [("zstd", 4 << 30, "4294967295 are the most"), ("blosc", 1 << 28, "2147483647 are the most")]
    {
        store.put_json("q/.zarray", &with(v2("<f8", &[4], &[len]), &[("compressor", json!({ "id": id }))]));
        store.put("q/0", vec![0x5a; 1 << 20]);
        assert_error(&store.refusal("q"), ErrorKind::Format, &["q/0", "too large", most]);
    }
    // LZ4 gains less than the others.
    store.put_json("q/.zarray", &with(v2("<f8", &[4], &[4096]), &[("compressor", json!({ "id": "lz4" }))]));
    store.put("q/0", [0; 127]);
    assert_error(&store.refusal("q"), ErrorKind::Format, &["127 stored bytes cannot expand to 32768"]);
}

#[test]
fn a_small_chunk_cannot_have_a_large_object() {
    let store = Store::new();
    for id in ["zlib", "gzip", "zstd", "blosc", "lz4"] {
        store.put_json("q/.zarray", &with(v2("<f8", &[4], &[4]), &[("compressor", json!({ "id": id }))]));
        store.put("q/0", "");
        // A file with a hole.
        std::fs::File::options().write(true).open(store.path().join("q/0")).unwrap().set_len(1 << 38).unwrap();
        let parts = ["q/0", "274877906944 stored bytes are too many for a chunk of 32"];
        assert_error(&store.refusal("q"), ErrorKind::Format, &parts);
    }
}

#[test]
fn chunks_of_a_shard_cannot_each_be_the_whole_shard() {
    let store = Store::new();
    let inner = json!([{ "name": "bytes", "configuration": { "endian": "little" } }, { "name": "zstd" }]);
    let codecs = json!([{ "name": "sharding_indexed", "configuration": {
        "chunk_shape": [2], "codecs": inner, "index_codecs": plain(), "index_location": "end" } }]);
    store.put_json("q/zarr.json", &v3("float64", &[8], &[8], codecs));
    let mut object = vec![0; 1 << 17];
    for _ in 0..4 {
        object.extend([0u64.to_le_bytes(), (1u64 << 17).to_le_bytes()].concat());
    }
    store.put("q/c/0", &object);
    let parts = ["q/c/0", "131072 stored bytes are too many for a chunk of 16"];
    assert_error(&store.refusal("q"), ErrorKind::Format, &parts);
}

#[test]
fn a_bomb_ends_at_the_size_of_its_chunk() {
    let store = Store::new();
    let bytes = vec![0; 1 << 20];
    let mut zlib = vec![0; 1 << 20];
    let len =
        libdeflater::Compressor::new(libdeflater::CompressionLvl::best()).zlib_compress(&bytes, &mut zlib).unwrap();
    store.put_json("z/.zarray", &with(v2("<f8", &[4], &[4]), &[("compressor", json!({ "id": "zlib" }))]));
    store.put("z/0", &zlib[..len]);
    assert_error(&store.refusal("z"), ErrorKind::Format, &["z/0", "more than the 32 bytes"]);
    store.put_json("s/.zarray", &with(v2("<f8", &[4], &[4]), &[("compressor", json!({ "id": "zstd" }))]));
    store.put("s/0", zstd::bulk::compress(&bytes, 3).unwrap());
    assert_error(&store.refusal("s"), ErrorKind::Format, &["s/0", "Zstandard"]);
    store.put("s/0", zstd::bulk::compress(&bytes[..24], 3).unwrap());
    assert_error(&store.refusal("s"), ErrorKind::Format, &["it holds 24 bytes, 32 are expected"]);
}

#[test]
fn metadata_alone_cannot_ask_for_more_cells_than_are_bearable() {
    let store = Store::new();
    store.put_json("many/.zarray", &v2("|i1", &[1 << 28], &[1]));
    assert_error(
        &store.refusal("many"),
        ErrorKind::Selection,
        &["more chunks than can be read at once", "select less"],
    );
    store.put_json("large/.zarray", &v2("|i1", &[1 << 60], &[1 << 50]));
    let error = store.refusal("large");
    assert_eq!(error.kind(), ErrorKind::Format, "{error}");
    // A part of it is a read like any other.
    let json = r#"{"axes": [{"indices": [1152921504606846975, 0]}]}"#;
    assert_eq!(store.read_under(&["large"], Some(json)).unwrap().variables[0].shape, [2]);
}

#[test]
fn every_cut_of_an_object_is_refused_or_right() {
    let (store, object) = shard();
    let original: Value = serde_json::from_slice(&store.get("q/zarr.json")).unwrap();
    let original = with(original, &[("attributes", json!({ "units": "K" }))]);
    store.put_json("q/zarr.json", &original);
    let whole = store.read(&["q"]).unwrap();
    for len in 0..object.len() {
        store.put("q/c/0", &object[..len]);
        assert_eq!(store.refusal("q").kind(), ErrorKind::Format, "{len}");
    }
    let metadata = store.get("q/zarr.json");
    store.put("q/c/0", &object);
    for len in 0..metadata.len() {
        store.put("q/zarr.json", &metadata[..len]);
        assert_eq!(store.refusal("q").kind(), ErrorKind::Format, "{len}");
    }
    // Any flipped bit of the metadata is refused, or changes what is said of the data, or changes no value.
    let telling = ["shape", "chunk_grid", "data_type", "fill_value", "codecs", "chunk_key_encoding"];
    let mut same = 0;
    for bit in 0..8 * metadata.len() {
        let mut flipped = metadata.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        store.put("q/zarr.json", &flipped);
        if let Ok(data) = store.read(&["q"]) {
            let parsed: Value = serde_json::from_slice(&flipped).unwrap();
            assert_ne!(parsed, original, "{bit}");
            if telling.iter().all(|name| parsed[name] == original[name]) {
                same += 1;
                assert!(data.variables[0].values.same_bits(&whole.variables[0].values), "{bit}");
            }
        }
    }
    assert!(same > 0, "a unit changes no value");
}
