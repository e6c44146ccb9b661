//! Groups that keep to a part of the time.

use super::fake::{group_of, Fake};
use crate::prefetch::{Order, PrefetchGroup};
use crate::provider::Sampler;
use crate::ErrorKind;
use std::sync::Arc;

/// An hourly member and one of every three hours, over the hours 0 to 7.
fn clipped(begin: f64, end: f64) -> crate::Result<PrefetchGroup> {
    let builder = PrefetchGroup::builder().member("fine", Arc::new(Fake::new(1, 0, 1, 8)));
    builder.member("coarse", Arc::new(Fake::new(2, 0, 3, 3))).clip(begin, end).build()
}

#[test]
fn the_epochs_left_begin_in_the_clip_with_the_data_in_force_there() {
    let nothing_clipped = (0..8).map(f64::from).collect::<Vec<_>>();
    let cases: [(f64, f64, &[f64]); 9] = [
        (1.5, 5.0, &[1.5, 2.0, 3.0, 4.0]),
        (2.0, 4.0, &[2.0, 3.0]),
        (2.0, 4.5, &[2.0, 3.0, 4.0]),
        (-5.0, 3.0, &[0.0, 1.0, 2.0]),
        (0.0, 0.25, &[0.0]),
        (4.25, 4.75, &[4.25]),
        (-0.0, 1.0, &[0.0]),
        (20.0, 30.0, &[20.0]),
        (-1e9, 1e9, &nothing_clipped),
    ];
    for (begin, end, expected) in cases {
        let group = clipped(begin, end).unwrap();
        assert_eq!(group.boundaries(), expected, "from {begin} to {end}");
        group.start(Order::Forward, None).unwrap();
        for (k, &t) in expected.iter().enumerate() {
            let epoch = group.take(k).unwrap();
            assert_eq!(epoch.time(), t);
            for (key, fake) in [("fine", Fake::new(1, 0, 1, 8)), ("coarse", Fake::new(2, 0, 3, 3))] {
                assert_eq!(epoch[key].anchor, fake.anchor(t).unwrap(), "{key} at {t}");
                assert!(epoch[key].data.same_bits(&fake.sample_at(t).unwrap()), "{key} at {t}");
            }
        }
    }
}

#[test]
fn a_clip_without_an_epoch_or_without_an_extent_is_refused() {
    let text = |begin, end| {
        let error = clipped(begin, end).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        error.to_string()
    };
    for end in [-1.0, 0.0] {
        assert!(text(-5.0, end).contains("times begin at 0: no epoch is left"), "{}", text(-5.0, end));
    }
    for (begin, end) in [(3.0, 3.0), (4.0, 3.0), (f64::NAN, 3.0), (0.0, f64::NAN), (0.0, f64::INFINITY)] {
        assert!(text(begin, end).contains("no interval of time"), "{}", text(begin, end));
    }
}

#[test]
fn what_lies_outside_is_never_decoded() {
    let (builder, fake) = group_of(Fake::new(0, 0, 1, 8).with(|fake| fake.panicking = vec![0.0, 1.0, 5.0, 6.0, 7.0]));
    let group = builder.clip(2.5, 5.0).depth(8).build().unwrap();
    group.start(Order::Forward, None).unwrap();
    (0..3).for_each(|k| drop(group.take(k).unwrap()));
    assert_eq!(fake.calls(), 3);
}
