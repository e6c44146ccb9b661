//! Groups that deliver lists of windows. That those of a provider are right is tested with its files.

use super::fake::{group_of, Fake};
use crate::dataset::{Dataset, DimWindow, Selection};
use crate::prefetch::{Order, PrefetchGroup};
use crate::provider::Sampler;
use crate::{ErrorKind, Result};
use serde_json::json;
use std::sync::Arc;

fn windows() -> [DimWindow; 3] {
    let window = DimWindow::new;
    [window().range("x", 2, 5), window().indices("x", vec![9, 0, 9]), window()]
}

/// How a group cuts the list out of a sample; it differs from one of another anchor in every window.
fn expected(anchor: f64) -> Vec<Dataset> {
    Fake::new(0, 0, 1, 6).sample_windows_at(anchor, &windows().map(Into::into)).unwrap()
}

fn bytes(list: &[Dataset]) -> u64 {
    list.iter().map(|data| data.byte_len() as u64).sum()
}

#[test]
fn the_list_is_in_order_and_decoded_once() {
    let (builder, fake) = group_of(Fake::new(0, 0, 1, 6));
    let group: PrefetchGroup<Vec<Dataset>> = builder.windows(windows()).build().unwrap();
    group.start(Order::Reverse, None).unwrap();
    for k in (0..6).rev() {
        let (taken, expected) = (group.take(k).unwrap(), expected(k as f64));
        let list = &taken["m"].data;
        assert!(list.len() == 3 && list.iter().zip(&expected).all(|(a, b)| a.same_bits(b)), "epoch {k}");
    }
    assert_eq!(fake.calls(), 6);
}

#[test]
fn bytes_are_those_of_all_windows() {
    let (size, whole) = (bytes(&expected(0.0)), Fake::new(0, 0, 1, 6).bytes());
    assert!(size > whole, "the last window alone is everything");
    for (limit, oversize) in [(size, 0), (size - 1, 6)] {
        let (builder, _) = group_of(Fake::new(0, 0, 1, 6));
        let group = builder.windows(windows()).max_bytes(limit).build().unwrap();
        group.start(Order::Forward, None).unwrap();
        let taken: Vec<_> = (0..6).map(|k| group.take(k).unwrap()).collect();
        let stats = group.stats();
        assert_eq!((stats.peak_bytes, stats.oversize_epochs), (size, oversize));
        assert_eq!(group.alive_bytes(), 6 * size);
        drop(taken);
    }
}

#[test]
fn no_windows_are_empty_lists_for_which_nothing_is_decoded() {
    let (builder, fake) = group_of(Fake::new(0, 0, 1, 3));
    let group = builder.windows(Vec::<DimWindow>::new()).build().unwrap();
    group.start(Order::Forward, None).unwrap();
    assert!((0..3).all(|k| group.take(k).unwrap()["m"].data.is_empty()));
    assert_eq!((fake.calls(), group.stats().peak_bytes), (0, 0));
}

#[test]
fn a_window_that_names_no_dimensions_is_refused_at_construction_for_who_decodes() {
    let by_position = || Selection::from_value(&json!({"axes": [{"slice": [0, 1]}]})).unwrap();
    let fake = || Arc::new(Fake::new(0, 0, 1, 3));
    let refused =
        |builder: crate::prefetch::PrefetchGroupBuilder| builder.windows([by_position()]).build().unwrap_err();
    let error = refused(PrefetchGroup::builder().host_member("h", fake()).member("m", fake()));
    assert_eq!(error.kind(), ErrorKind::Selection, "{error}");
    // What the host makes, it makes under whatever windows it likes.
    PrefetchGroup::builder().host_member("h", fake()).windows([by_position()]).build().unwrap();
}

#[test]
fn a_window_that_fits_no_dimension_is_an_error_of_its_take() -> Result<()> {
    let (builder, _) = group_of(Fake::new(0, 0, 1, 3));
    let group = builder.windows([DimWindow::new().range("y", 0, 1)]).build()?;
    group.start(Order::Forward, None)?;
    let error = group.take(0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Selection);
    assert!(error.to_string().contains("\"y\""), "{error}");
    Ok(())
}
