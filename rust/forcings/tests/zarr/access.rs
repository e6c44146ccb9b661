//! What is refused before anything is read.

use crate::support::*;
use forcings::cache::{Cache, CacheOptions};
use forcings::provider::{Provider, ProviderOptions};
use forcings::ErrorKind::{Format, InvalidParameter, Io, NotFound, Unsupported};

#[test]
fn row_97_a_store_without_variables_is_refused() {
    let root = tempfile::tempdir().unwrap();
    for source in ["/no/such/store", "https://example.org/grid.zarr"] {
        let options = ProviderOptions { cache: Some(cache(&root, false)), ..options(source, &[]) };
        let error = Provider::open(options).map(drop).unwrap_err();
        assert_error(&error, InvalidParameter, &["cannot be listed", "give the names"]);
    }
}

#[test]
fn names_that_lead_out_of_the_store_are_refused() {
    let store = Store::new();
    store.array("q", &["x"], &[1], &[1], &[1.0]);
    for name in ["../q", "/etc/q", "a/../../q", ".", "", "a\\..\\b"] {
        assert_eq!(store.refusal(name).kind(), InvalidParameter, "{name}");
    }
    // What would end the path of a URL is a name like any other in a folder.
    let root = tempfile::tempdir().unwrap();
    for (name, c) in [("q?x", "'?'"), ("q#x", "'#'"), ("T 2m", "' '")] {
        assert_eq!(store.refusal(name).kind(), NotFound, "{name}");
        let options = options("https://example.org/grid.zarr", &[name]);
        let options = ProviderOptions { cache: Some(cache(&root, false)), ..options };
        assert_error(&Provider::open(options).map(drop).unwrap_err(), InvalidParameter, &[name, c]);
    }
}

#[test]
fn options_that_do_not_fit_a_store_are_refused() {
    let (store, root) = (Store::new(), tempfile::tempdir().unwrap());
    let with_cache = |source: &str| ProviderOptions { cache: Some(cache(&root, false)), ..options(source, &["q"]) };
    let url = "https://example.org/grid.zarr";
    for (options, kind, part) in [
        (ProviderOptions { group: Some("g".into()), ..store.options(&["q"]) }, InvalidParameter, "group/array"),
        (ProviderOptions { store_access: Some("direct".into()), ..with_cache(url) }, Unsupported, "direct access"),
        (ProviderOptions { store_access: Some("fast".into()), ..with_cache(url) }, InvalidParameter, "\"fast\""),
        (
            ProviderOptions { format: "netcdf".into(), store_access: Some("cached".into()), ..with_cache("a.nc") },
            InvalidParameter,
            "\"zarr\" alone",
        ),
        (options(url, &["q"]), InvalidParameter, "a cache"),
        (options("/no/such/store", &["q"]), Io, "/no/such/store"),
    ] {
        assert_error(&Provider::open(options).map(drop).unwrap_err(), kind, &[part]);
    }
    let query = Provider::open(with_cache("https://example.org/grid.zarr?token=x")).unwrap();
    assert_error(&query.materialize().map(drop).unwrap_err(), InvalidParameter, &["'?' or '#'"]);
    store.put("file", "x");
    let error = Provider::open(options(store.path().join("file"), &["q"])).map(drop).unwrap_err();
    assert_error(&error, Format, &["is a folder"]);
}

#[test]
fn the_environment_asks_for_direct_access_and_the_caller_wins() {
    let (store, root) = (Store::new(), tempfile::tempdir().unwrap());
    let mut environment = CacheOptions::at(root.path());
    environment.direct_stores = true;
    let cache = Cache::with_options(environment).unwrap();
    let options = ProviderOptions { cache: Some(cache), ..options("https://example.org/grid.zarr", &["q"]) };
    assert_error(&Provider::open(options.clone()).map(drop).unwrap_err(), Unsupported, &["direct access"]);
    let own = ProviderOptions { store_access: Some("cached".into()), ..options.clone() };
    assert!(Provider::open(own).is_ok());
    // A folder is read without a cache anyway.
    store.array("q", &["x"], &[1], &[1], &[1.0]);
    let local = ProviderOptions { files: vec![store.path().into()], ..options };
    assert_eq!(f64s(&Provider::open(local).unwrap().materialize().unwrap().variables[0]), [1.0]);
}

#[test]
fn what_stands_in_the_place_of_an_object_is_no_object() {
    let store = Store::new();
    store.array("q", &["x"], &[2], &[1], &[1.0, 2.0]);
    store.remove("q/1");
    store.put("q/1/0", "x");
    assert_eq!(f64s(&store.read(&["q"]).unwrap().variables[0]), [1.0, 0.0]);
}
