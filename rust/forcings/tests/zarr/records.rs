//! Stores with times: one store for all of them, or one for each.

use crate::support::*;
use forcings::dataset::DimWindow;
use forcings::prefetch::{Order, PrefetchGroup};
use forcings::provider::{Provider, ProviderOptions};
use forcings::ErrorKind;
use std::sync::Arc;

/// `q(time, x)` and `mean(x)`.
fn timed() -> Store {
    let store = Store::new();
    store.array("q", &["time", "x"], &[4, 3], &[1, 2], &(0..12).map(f64::from).collect::<Vec<_>>());
    store.array("mean", &["x"], &[3], &[3], &[-1.0, -2.0, -3.0]);
    store
}

fn times() -> Option<Vec<f64>> {
    Some(vec![0.0, 6.0, 12.0, 18.0])
}

#[test]
fn a_record_is_read_by_its_own_chunks() {
    let store = timed();
    let provider = Provider::open(ProviderOptions { times: times(), ..store.options(&["q", "mean"]) }).unwrap();
    assert_eq!(provider.time_dim(), Some("time"));
    store.poison("q", |key| key.starts_with("2."));
    let data = provider.sample_at(13.5).unwrap();
    let q = data.variable("q").unwrap();
    assert_eq!((dims(q), f64s(q)), (vec!["x"], &[6.0, 7.0, 8.0][..]));
    assert_eq!(f64s(data.variable("mean").unwrap()), [-1.0, -2.0, -3.0]);
    let window = provider.with_window(DimWindow::new().indices("x", [2])).unwrap();
    assert_eq!(f64s(window.sample_at(12.0).unwrap().variable("q").unwrap()), [8.0]);
    assert_eq!(provider.sample_at(18.0).map(drop).unwrap_err().kind(), ErrorKind::Format);
    assert_eq!(provider.sample_at(-1.0).map(drop).unwrap_err().kind(), ErrorKind::OffGrid);
    let error = provider.with_window(DimWindow::new().all("time")).map(drop).unwrap_err();
    assert_error(&error, ErrorKind::Selection, &["\"time\""]);
}

#[test]
fn the_time_dimension_may_be_named_and_times_have_to_fit() {
    let store = Store::new();
    store.array("q", &["x", "step"], &[2, 3], &[2, 1], &(0..6).map(f64::from).collect::<Vec<_>>());
    let options = ProviderOptions { time_dim: Some("step".into()), ..store.options(&["q"]) };
    let times = |n: usize| Some((0..n).map(|i| i as f64).collect());
    let provider = Provider::open(ProviderOptions { times: times(3), ..options.clone() }).unwrap();
    assert_eq!(f64s(&provider.sample_at(1.0).unwrap().variables[0]), [1.0, 4.0]);
    for (options, kind, part) in [
        (ProviderOptions { times: times(2), ..options.clone() }, ErrorKind::InvalidParameter, "2 times"),
        (options.clone(), ErrorKind::InvalidParameter, "do not tell their times"),
        (
            ProviderOptions { time_dim: Some("t".into()), times: times(3), ..options.clone() },
            ErrorKind::NotFound,
            "\"t\" for time_dim; present are x, step",
        ),
    ] {
        assert_error(&Provider::open(options).map(drop).unwrap_err(), kind, &[part]);
    }
    // Without times a store is constant, its time axis an axis like any other.
    let whole = store.open(&["q"]);
    assert!(whole.is_const());
    assert_eq!(whole.materialize().unwrap().variables[0].shape, [2, 3]);
}

#[test]
fn a_store_for_each_time_is_read_whole() {
    let stores = [1.0, 2.0].map(|value| {
        let store = Store::new();
        store.array("q", &["x"], &[2], &[2], &[value, -value]);
        store
    });
    let files = stores.iter().map(|s| s.path().to_path_buf()).collect();
    let options = ProviderOptions { files, times: Some(vec![10.0, 20.0]), ..stores[0].options(&["q"]) };
    let provider = Provider::open(options).unwrap();
    assert_eq!(f64s(&provider.sample_at(19.0).unwrap().variables[0]), [1.0, -1.0]);
    assert_eq!(f64s(&provider.sample_at(20.0).unwrap().variables[0]), [2.0, -2.0]);
}

#[test]
fn a_group_takes_the_samples_of_a_store() {
    let store = timed();
    let provider = Provider::open(ProviderOptions { times: times(), ..store.options(&["q"]) }).unwrap();
    let group = PrefetchGroup::builder().member("q", Arc::new(provider.clone())).workers(2).build().unwrap();
    group.start(Order::Reverse, None).unwrap();
    for k in (0..4).rev() {
        let epoch = group.take(k).unwrap();
        let sample = epoch.get("q").unwrap();
        assert!(sample.data.same_bits(&provider.sample_at(6.0 * k as f64).unwrap()));
        assert!(sample.changed);
    }
}

#[test]
fn metadata_that_change_under_a_provider_are_found() {
    let store = timed();
    let provider = Provider::open(ProviderOptions { times: times(), ..store.options(&["q"]) }).unwrap();
    provider.sample_at(0.0).unwrap();
    store.put_json("q/.zarray", &v2("<f8", &[4, 3], &[1, 3]));
    let error = provider.sample_at(6.0).map(drop).unwrap_err();
    assert_error(&error, ErrorKind::Format, &["q/.zarray", "changed after the provider opened it"]);
}
