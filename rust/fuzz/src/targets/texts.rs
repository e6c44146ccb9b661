//! Texts: selections in their wire form, manifests of the cache, CF time units, the metadata of Zarr arrays.

use forcings::cache::{CacheKey, Manifest};
use forcings::dataset::Selection;
use forcings::formats::zarr;
use forcings::time::cf::CfTime;
use std::path::Path;

pub(super) const SELECTION: &[&[u8]] = &[
    b"{\"dims\": {",
    b"{\"axes\": [",
    b"\"slice\": [0, 3]",
    b"\"slice\": [0, 9, 2]",
    b"{\"indices\": [0, 1]}",
    b"\"all\"",
    b"\"all_records\": true",
    b"18446744073709551615",
    b"1e9",
    b"-1",
    b"null",
    b"\\u0000",
];
pub(super) const MANIFEST: &[&[u8]] = &[
    b"\"schema\": \"earthsciio/manifest/v1\"",
    b"\"bytes\": 18446744073709551615",
    b"\"etag\": null",
    b"\"sha256_content\"",
    b"\"url\": \"https://example.com/a.nc\"",
    b"\"fetched_at\": \"2024-02-29T23:59:60Z\"",
];
pub(super) const CF_TIME: &[&[u8]] = &[
    b" since ",
    b"days",
    b"microseconds",
    b"hours since 1970-01-01T00:00:00Z",
    b"0000-00-00",
    b"-4713-11-24",
    b"+14:00",
    b"12:59:60.999999999",
    b"\n360_day",
    b"\nnoleap",
    b"\njulian",
];
pub(super) const ZARR: &[&[u8]] = &[
    b"\"zarr_format\": 3",
    b"\"shape\": [4, 0]",
    b"\"chunk_shape\": [2, 1]",
    b"18446744073709551615",
    b"{\"name\": \"crc32c\"}",
    b"{\"name\": \"sharding_indexed\", \"configuration\": {",
    b"\"index_location\": \"start\"",
    b"\"order\": [1, 0]",
    b"\"0x7fc00000\"",
    b"-Infinity",
    b"NaN",
    b"null",
    b"\\\"",
];

pub(super) fn selection(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    match Selection::from_json(&text) {
        Ok(selection) => {
            let again = Selection::from_json(&selection.to_json()).expect("its own form is read");
            assert_eq!(again, selection);
            format!("read {:?}", std::mem::discriminant(&selection))
        }
        Err(e) => e.to_string(),
    }
}

pub(super) fn manifest(bytes: &[u8]) -> String {
    let key = CacheKey::of_url("https://example.com/a.nc");
    match Manifest::parse(bytes, &key, Path::new("manifest")) {
        Ok(manifest) => {
            let again = Manifest::parse(&manifest.to_bytes(), &key, Path::new("manifest"));
            assert_eq!(again.expect("its own form is read"), manifest);
            "read".into()
        }
        Err(e) => e.to_string(),
    }
}

/// Units, and in the line behind them a calendar.
pub(super) fn cf_time(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let (units, calendar) = text.split_once('\n').map_or((&*text, None), |(units, name)| (units, Some(name)));
    match CfTime::parse(units, calendar) {
        Ok(time) => {
            for value in [0.0, -1.5, 1e9, f64::NAN, f64::MAX] {
                assert!(time.to_unix(value).map_or(true, f64::is_finite));
            }
            format!("read {:?}", time.calendar())
        }
        Err(e) => e.to_string(),
    }
}

/// A `.zarray` or a `zarr.json`.
pub(super) fn zarr(bytes: &[u8]) -> String {
    zarr::check_metadata(bytes).map_or_else(|e| e.to_string(), |()| "read".into())
}
