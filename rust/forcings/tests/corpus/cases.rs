//! The cases: their keys and blobs, and what one read of a NetCDF file gives, whole and record by record.

use crate::expected::Expected;
use crate::files::*;
use crate::sockets::without_sockets;
use forcings::cache::{Cache, CacheKey, Manifest};
use forcings::dataset::{decode, DecodeOptions, Request, Selection, Values};
use forcings::formats;
use forcings::provider::{Provider, ProviderOptions};
use serde_json::{json, Map, Value};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::Path;

/// What no run may silently lose.
const FORMATS: [&str; 2] = ["netcdf", "zarr"];

#[test]
fn the_index_lists_every_case_and_every_format_has_its_runner() {
    let listed: BTreeSet<String> = FORMATS.iter().flat_map(|f| cases_of(f)).map(|(entry, _)| entry.file).collect();
    let folder = std::fs::read_dir(folder().join("cases")).unwrap();
    let there: BTreeSet<String> =
        folder.map(|file| format!("cases/{}", file.unwrap().file_name().to_str().unwrap())).collect();
    assert_eq!(listed, there);
    assert_eq!(read::<Index>("cases.json").cases.len(), there.len());
}

#[test]
fn every_key_and_blob_is_what_is_said_of_it() {
    without_sockets(|| {
        let cache = cache();
        for (entry, case) in FORMATS.iter().flat_map(|f| cases_of(f)) {
            check_keys(&entry, &case);
            for Object { url, blob } in &case.objects {
                check_blob(url, blob, &cache);
            }
            if case.objects.is_empty() {
                check_blob(&case.resolved_url, &case.blob, &cache);
            }
        }
    });
}

#[test]
fn cases_of_netcdf_decode_to_what_they_hold() {
    let cases = cases_of("netcdf");
    assert!(cases.len() >= 50, "{}", cases.len());
    without_sockets(|| {
        let cache = cache();
        for (_, case) in &cases {
            check_decode(case, &cache);
            check_provider(case, &cache);
        }
    });
}

/// A case in the shape of those of other makers: less is said of coordinates, more of all else.
#[test]
fn a_case_may_leave_out_shapes_and_tell_more() {
    let case: Case = serde_json::from_value(json!({
        "schema": "earthsciio/cache-case/v1",
        "id": "demo-window", "loader": "met", "kind": "grid",
        "format": "netcdf", "transport": "file", "store": "local",
        "resolved_url": "https://example.org/met/2031/06/20310615.nc",
        "cache_key": "b0f3d1b53f0d42f746d5c7db5c06aec5d2c0a8a318e3235b2d907b48cb97f46f",
        "blob_path": "cache/v1/blobs/b0/b0f3d1b53f0d42f746d5c7db5c06aec5d2c0a8a318e3235b2d907b48cb97f46f.nc",
        "manifest_path": "cache/v1/meta/b0f3d1b53f0d42f746d5c7db5c06aec5d2c0a8a318e3235b2d907b48cb97f46f.json",
        "content_sha256": "00", "bytes": 640,
        "variables": ["q"],
        "select": { "dims": { "lat": { "slice": [0, 2] }, "lon": { "indices": [2, 0] } } },
        "decode": { "member_glob": "*.csv", "numeric_columns": ["a"], "time_dim": "time" },
        "expected": {
            "variables": { "q": { "dtype": "float64", "dims": ["time", "lat", "lon"], "shape": [1, 2, 2],
                                  "fill_value": null, "data": [[[3.5, 1.5], [null, 4.5]]] } },
            "coords": { "lat": { "dtype": "float64", "data": [10.0, 11.0] },
                        "lon": { "dtype": "float64", "data": [102.0, 100.0] },
                        "time": { "dtype": "int32", "data": [6], "units": "hours since 2031-06-15 00:00:00",
                                  "calendar": "standard" } }
        }
    }))
    .unwrap();
    assert_eq!(case.decode.time_dim.as_deref(), Some("time"));
    let Expected { variables, coords } = &case.expected;
    assert!(variables["q"].values().same_bits(&Values::F64(vec![3.5, 1.5, f64::NAN, 4.5])));
    assert!(coords["lat"].values().same_bits(&Values::F64(vec![10.0, 11.0])));
    assert!(coords["time"].values().same_bits(&Values::I32(vec![6])));
}

#[test]
fn shapes_are_compared_where_they_are_given() {
    let checked = |change: &dyn Fn(&mut Map<String, Value>)| {
        let mut case: Value = read("cases/coordinates.json");
        for kind in ["variables", "coords"] {
            for field in case["expected"][kind].as_object_mut().unwrap().values_mut() {
                change(field.as_object_mut().unwrap());
            }
        }
        let case: Case = serde_json::from_value(case).unwrap();
        let outcome = std::panic::catch_unwind(|| check_decode(&case, &cache()));
        outcome.is_ok()
    };
    let set = |field: &mut Map<String, Value>, name: &str, value| field.insert(name.into(), value);
    assert!(checked(&|field| drop((field.remove("dims"), field.remove("shape")))));
    assert!(checked(&|field| drop(set(field, "fill_value", json!(7)))));
    assert!(!checked(&|field| drop(set(field, "dims", json!(["elsewhere"])))));
    assert!(!checked(&|field| drop(set(field, "data", json!([0.5])))));
}

/// The key is that of the URL; for a store, that of its first object.
fn check_keys(entry: &IndexEntry, case: &Case) {
    assert_eq!((entry.id.as_str(), case.schema.as_str()), (case.id.as_str(), "earthsciio/cache-case/v1"));
    let url = case.objects.first().map_or(&case.resolved_url, |object| &object.url);
    let key = CacheKey::of_url(url);
    for said in [&entry.cache_key, &case.blob.cache_key] {
        assert_eq!(said, key.as_str(), "{}", case.id);
    }
    assert_eq!(entry.blob_path, case.blob.blob_path);
    assert_eq!(case.manifest_path, format!("cache/v1/meta/{key}.json"));
}

/// The cache finds the blob, whose bytes are those that its manifest and the case tell.
fn check_blob(url: &str, blob: &Blob, cache: &Cache) {
    let entry = cache.fetch_url(url).unwrap();
    assert_eq!(entry.path, folder().join(&blob.blob_path).canonicalize().unwrap());
    let bytes = std::fs::read(&entry.path).unwrap();
    let hash: String = Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!((&hash, bytes.len() as u64), (&blob.content_sha256, blob.bytes), "{url}");
    let manifest_path = folder().join(format!("cache/v1/meta/{}.json", blob.cache_key));
    let stored = std::fs::read(&manifest_path).unwrap();
    let manifest = Manifest::parse(&stored, &CacheKey::of_url(url), &manifest_path).unwrap();
    assert_eq!((manifest.url.as_str(), &manifest.sha256_content, manifest.bytes), (url, &hash, blob.bytes));
    assert!(manifest.to_bytes() == stored, "{url}: the manifest is not in its canonical form");
    assert_eq!(entry.manifest.as_ref(), Some(&manifest));
}

fn selection(case: &Case) -> Selection {
    case.select.as_ref().map_or(Selection::All, |select| Selection::from_value(select).unwrap())
}

/// The whole file, under the case's selection.
fn check_decode(case: &Case, cache: &Cache) {
    let path = cache.fetch_url(&case.resolved_url).unwrap().path;
    let container = formats::open_group(&path, case.decode.group.as_deref()).unwrap();
    let request = Request { variables: case.variables.clone(), select: selection(case), records: None };
    let data = decode(&*container, &request, DecodeOptions::default());
    case.expected.check(&case.id, &data.unwrap_or_else(|e| panic!("{}: {e}", case.id)));
    check_times(case, &path);
}

/// The times of the file's own axis.
fn check_times(case: &Case, path: &Path) {
    let options = ProviderOptions { group: case.decode.group.clone(), ..ProviderOptions::of_files([path]) };
    let provider = Provider::open(options).unwrap_or_else(|e| panic!("{}: {e}", case.id));
    assert_eq!(provider.time_dim(), case.decode.time_dim.as_deref(), "{}", case.id);
    let expected = case.decode.refresh_times_s.as_deref().unwrap_or_default();
    assert_eq!(provider.refresh_times(), expected, "{}", case.id);
}

/// Record by record through a provider over the URL, with the numbers of the axis as its times.
fn check_provider(case: &Case, cache: &Cache) {
    let time_dim = case.decode.time_dim.as_deref();
    let times = time_dim.map_or(vec![0.0], |dim| case.expected.coords[dim].numbers());
    let options = ProviderOptions {
        cache: Some(cache.clone()),
        group: case.decode.group.clone(),
        times: Some(times.clone()),
        variables: case.variables.clone(),
        select: Some(selection(case)),
        threads: 3,
        ..ProviderOptions::of_files([&case.resolved_url])
    };
    let provider = Provider::open(options).unwrap();
    for (index, &t) in times.iter().enumerate() {
        let sample = provider.sample_at(t).unwrap_or_else(|e| panic!("{} at {t}: {e}", case.id));
        let expected = time_dim.map_or(case.expected.clone(), |dim| case.expected.record(dim, index));
        expected.check(&format!("{} at {t}", case.id), &sample);
    }
}
