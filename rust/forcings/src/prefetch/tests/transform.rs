//! Groups that deliver what a function makes of the data.

use super::fake::{group_of, Fake, Latency};
use crate::dataset::DimWindow;
use crate::error::GroupState;
use crate::prefetch::{Order, PrefetchGroup};
use crate::{Error, ErrorKind};
use parking_lot::Mutex;
use std::sync::Arc;

/// The number that a fake puts first into its values.
fn number(data: &crate::dataset::Dataset) -> f64 {
    match &data.variable("value").unwrap().values {
        crate::dataset::Values::F64(values) => values[0],
        other => panic!("{other:?}"),
    }
}

#[test]
fn it_is_called_once_for_each_member_and_anchor_that_is_decoded() {
    let calls = Arc::new(Mutex::new(Vec::new()));
    let log = calls.clone();
    let group = PrefetchGroup::builder()
        .member("fine", Arc::new(Fake::new(1, 0, 1, 6).with(|fake| fake.latency = Latency::Random)))
        .member("coarse", Arc::new(Fake::new(2, 0, 3, 2)))
        .workers(3)
        .transform(move |key, data| {
            log.lock().push((key.to_string(), number(&data)));
            number(&data)
        })
        .build()
        .unwrap();
    group.start(Order::Forward, None).unwrap();
    let taken: Vec<_> = (0..6).map(|k| group.take(k).unwrap()).collect();
    for (k, epoch) in taken.iter().enumerate() {
        assert_eq!((*epoch["fine"].data, *epoch["coarse"].data), (1e3 + k as f64, 2e3 + (k / 3 * 3) as f64));
        assert!(Arc::ptr_eq(&epoch["coarse"].data, &taken[k / 3 * 3]["coarse"].data), "one result for one anchor");
    }
    let mut calls = calls.lock().clone();
    calls.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let fine = (0..6).map(|k| ("fine".to_string(), 1e3 + f64::from(k)));
    let coarse = [2e3, 2e3 + 3.0].map(|x| ("coarse".to_string(), x));
    assert_eq!(calls, coarse.into_iter().chain(fine).collect::<Vec<_>>());
}

#[test]
fn row_113_its_error_is_raised_at_the_take_and_ends_the_order() {
    for inline in [false, true] {
        let (builder, _) = group_of(Fake::new(0, 0, 1, 5));
        let group = builder
            .depth(4)
            .inline(inline)
            .try_transform(|key, data| match number(&data) {
                2.0 => Err(Error::NotFound(format!("{key} is of no use"))),
                x => Ok(x),
            })
            .build()
            .unwrap();
        group.start(Order::Forward, None).unwrap();
        assert!((0..2).all(|k| *group.take(k).unwrap()["m"].data == k as f64));
        let error = group.take(2).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::NotFound, "m is of no use"));
        let after = group.take(3).unwrap_err();
        assert!(matches!(after, Error::Group(GroupState::Failed { next: Some(3) })), "{after}");
        group.start(Order::Forward, Some(3)).unwrap();
        assert!((3..5).all(|k| *group.take(k).unwrap()["m"].data == k as f64));
    }
}

#[test]
fn its_panic_is_an_error_that_names_the_member() {
    let (builder, _) = group_of(Fake::new(0, 0, 1, 3));
    let transform = |_: &str, data| if number(&data) == 1.0 { panic!("bad luck") } else { number(&data) };
    let group = builder.transform(transform).build().unwrap();
    group.start(Order::Forward, None).unwrap();
    group.take(0).unwrap();
    let error = group.take(1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Panic);
    assert!(error.to_string().contains("member \"m\" panicked at the time 1: bad luck"), "{error}");
    group.start(Order::Forward, Some(2)).unwrap();
    assert_eq!(*group.take(2).unwrap()["m"].data, 2.0);
}

#[test]
fn the_budget_goes_by_the_data_that_it_is_given() {
    let (builder, fake) = group_of(Fake::new(0, 0, 1, 6));
    let size = fake.bytes();
    let group = builder.depth(4).max_bytes(2 * size).transform(|_, data| vec![number(&data); 10_000]).build().unwrap();
    group.start(Order::Forward, None).unwrap();
    for k in 0..6 {
        assert_eq!(*group.take(k).unwrap()["m"].data, vec![k as f64; 10_000]);
    }
    let stats = group.stats();
    assert!(stats.peak_bytes <= 2 * size && stats.peak_bytes >= size, "{stats:?}");
    assert_eq!(stats.oversize_epochs, 0);
}

#[test]
fn one_after_another_and_on_lists_of_windows() {
    let (builder, _) = group_of(Fake::new(0, 0, 1, 3));
    let windows = [DimWindow::new().range("x", 0, 1), DimWindow::new().range("x", 0, 4)];
    let lengths = |_: &str, list: Vec<crate::dataset::Dataset>| -> Vec<usize> {
        list.iter().map(|data| data.coord("x").unwrap().values.len()).collect()
    };
    let builder = builder.windows(windows).transform(lengths);
    let group = builder.transform(|key, lengths| format!("{key}: {lengths:?}")).build().unwrap();
    group.start(Order::Forward, None).unwrap();
    assert_eq!(*group.take(0).unwrap()["m"].data, "m: [1, 4]");
}
