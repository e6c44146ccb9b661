//! The samples taken are those of a sampler asked alone, bit for bit, however they were decoded.

use super::fake::{Fake, Latency};
use crate::prefetch::{Order, PrefetchGroup};
use crate::provider::Sampler;
use std::sync::Arc;

/// Three members over eight epochs: one for each epoch, a coarse one, and a coarse one of other times.
pub(super) fn members(latency: &Latency) -> [(&'static str, Fake); 3] {
    [("hourly", Fake::new(1, 0, 1, 8)), ("slow", Fake::new(2, 0, 3, 3)), ("coarse", Fake::new(3, 0, 2, 4))]
        .map(|(key, fake)| (key, fake.with(|fake| fake.latency = latency.clone())))
}

pub(super) fn orders() -> Vec<(Order, Vec<usize>)> {
    let list = vec![3, 3, 0, 7, 0, 1, 2, 2, 6];
    vec![
        (Order::Forward, (0..8).collect()),
        (Order::Reverse, (0..8).rev().collect()),
        (Order::Explicit(list.clone()), list),
    ]
}

fn check(group: &PrefetchGroup, order: Order, epochs: &[usize]) {
    let fresh = members(&Latency::None);
    let mut before: Vec<Option<f64>> = vec![None; fresh.len()];
    group.start(order, None).unwrap();
    for &k in epochs {
        let epoch = group.take(k).unwrap();
        let t = group.boundaries()[k];
        assert_eq!((epoch.epoch(), epoch.time(), epoch.len()), (k, t, fresh.len()));
        for ((key, fake), before) in fresh.iter().zip(&mut before) {
            let sample = &epoch[key];
            assert!(sample.data.same_bits(&fake.sample_at(t).unwrap()), "{key} in epoch {k}");
            assert_eq!(sample.anchor, fake.anchor(t).unwrap());
            assert_eq!(sample.changed, before.replace(sample.anchor) != Some(sample.anchor));
        }
    }
}

#[test]
fn every_order_depth_number_of_workers_and_budget() {
    let one_slot: u64 = members(&Latency::None).iter().map(|(_, fake)| fake.bytes()).sum();
    for max_bytes in [None, Some(1), Some(2 * one_slot)] {
        for depth in 1..=4 {
            for workers in 0..=4 {
                let mut builder = PrefetchGroup::builder().depth(depth).max_bytes(max_bytes);
                builder = if workers == 0 { builder.inline(true) } else { builder.workers(workers) };
                for (key, fake) in members(&Latency::Random) {
                    builder = builder.member(key, Arc::new(fake));
                }
                let group = builder.build().unwrap();
                let mut entries = 0;
                for (order, epochs) in orders() {
                    check(&group, order, &epochs);
                    entries += epochs.len() as u64;
                }
                let stats = group.stats();
                assert_eq!(stats.epochs_decoded, entries);
                assert_eq!(stats.samples_decoded + stats.samples_reused, 3 * entries);
                assert_eq!(stats.oversize_epochs, if max_bytes == Some(1) { entries } else { 0 });
                assert_eq!(stats.overlap, workers > 0);
                assert!(max_bytes != Some(2 * one_slot) || stats.peak_bytes <= 2 * one_slot);
            }
        }
    }
}

#[test]
fn two_groups_share_their_samplers() {
    let members = members(&Latency::Random).map(|(key, fake)| (key, Arc::new(fake)));
    let build = || {
        let mut builder = PrefetchGroup::builder().workers(2);
        for (key, fake) in &members {
            builder = builder.member(*key, fake.clone());
        }
        builder.build().unwrap()
    };
    let (a, b) = (build(), build());
    std::thread::scope(|scope| {
        scope.spawn(|| check(&a, Order::Forward, &[0, 1, 2, 3, 4, 5, 6, 7]));
        scope.spawn(|| check(&b, Order::Reverse, &[7, 6, 5, 4, 3, 2, 1, 0]));
    });
}

#[test]
fn row_116_coarse_members_are_decoded_once_per_anchor() {
    let coarse = Arc::new(Fake::new(3, 0, 4, 2));
    let group = PrefetchGroup::builder()
        .member("hourly", Arc::new(Fake::new(1, 0, 1, 8)))
        .member("coarse", coarse.clone())
        .depth(1)
        .build()
        .unwrap();
    for order in [Order::Forward, Order::Reverse] {
        let epochs = order.clone().resolve(8, None).unwrap();
        group.start(order, None).unwrap();
        super::fake::take_all(&group, epochs);
    }
    assert_eq!(coarse.calls(), 3, "the second sweep begins with what the first one ended with");
}

#[test]
fn row_120_everything_has_changed_when_an_order_begins() {
    let builder = PrefetchGroup::builder().member("fine", Arc::new(Fake::new(1, 0, 1, 4)));
    let group = builder.member("coarse", Arc::new(Fake::new(2, 0, 4, 1))).build().unwrap();
    let changed = |k| group.take(k).unwrap().iter().map(|(_, sample)| sample.changed).collect::<Vec<_>>();
    for _ in 0..2 {
        group.start(Order::Explicit(vec![1, 2, 2]), None).unwrap();
        assert_eq!([changed(1), changed(2), changed(2)], [[true, true], [false, true], [false, false]]);
    }
}

#[test]
fn row_102_a_repeated_anchor_gives_the_same_object() {
    let group = PrefetchGroup::builder().member("m", Arc::new(Fake::new(1, 0, 1, 5))).build().unwrap();
    group.start(Order::Explicit(vec![4, 4, 2]), None).unwrap();
    let taken = super::fake::take_all(&group, [4, 4, 2]);
    assert!(Arc::ptr_eq(&taken[0]["m"].data, &taken[1]["m"].data));
    assert_eq!(taken.iter().map(|epoch| epoch["m"].changed).collect::<Vec<_>>(), [true, false, true]);
}
