//! What the group counts as held by its consumer, and that it lets go of what it need not keep.

use super::fake::{group_of, take_all, Fake};
use crate::dataset::Dataset;
use crate::formats::Attribute;
use crate::prefetch::{Order, PrefetchGroup};
use crate::provider::Sampler;
use crate::Result;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

#[test]
fn delivered_samples_are_alive_until_dropped() {
    let (builder, fake) = group_of(Fake::new(0, 0, 1, 5));
    let bytes = fake.bytes();
    let group = builder.build().unwrap();
    let alive = || (group.alive_slots(), group.alive_bytes());
    group.start(Order::Forward, None).unwrap();
    assert_eq!(alive(), (0, 0));
    let mut taken = take_all(&group, 0..3);
    assert_eq!(alive(), (3, 3 * bytes));
    taken.pop();
    assert_eq!(alive(), (2, 2 * bytes), "the group remembers the last one, but not for the consumer");
    let data = taken.pop().unwrap()["m"].data.clone();
    assert_eq!(alive(), (2, 2 * bytes), "a reference to the data counts");
    drop((data, taken));
    assert_eq!(alive(), (0, 0));
}

#[test]
fn a_shared_sample_counts_once() {
    let (hourly, coarse) = (Fake::new(0, 0, 1, 4), Fake::new(1, 0, 4, 1).with(|fake| fake.elements = 1000));
    let (small, large) = (hourly.bytes(), coarse.bytes());
    let group =
        PrefetchGroup::builder().member("h", Arc::new(hourly)).member("c", Arc::new(coarse)).depth(3).build().unwrap();
    group.start(Order::Forward, None).unwrap();
    let mut taken = take_all(&group, 0..3);
    assert_eq!((group.alive_slots(), group.alive_bytes()), (3, 3 * small + large));
    taken.drain(..2);
    assert_eq!((group.alive_slots(), group.alive_bytes()), (1, small + large));
    taken.clear();
    assert_eq!((group.alive_slots(), group.alive_bytes()), (0, 0), "the coming epoch still needs the coarse one");
}

#[test]
fn what_is_taken_again_is_alive_again() {
    let group = group_of(Fake::new(0, 0, 1, 3)).0.build().unwrap();
    group.start(Order::Explicit(vec![1, 1, 1]), None).unwrap();
    drop(group.take(1).unwrap());
    assert_eq!(group.alive_slots(), 0);
    let again = group.take(1).unwrap();
    assert_eq!(group.alive_slots(), 1);
    drop(again);
    assert_eq!(group.alive_slots(), 0);
}

#[test]
fn a_small_budget_keeps_nothing_behind_the_consumer() {
    let (builder, _) = group_of(Fake::new(0, 0, 1, 3));
    let group = builder.max_bytes(1).build().unwrap();
    group.start(Order::Forward, None).unwrap();
    let taken = take_all(&group, 0..3);
    for epoch in &taken {
        assert_eq!(Arc::strong_count(&epoch["m"].data), 1);
    }
}

#[test]
fn a_closed_group_keeps_nothing() {
    let group = group_of(Fake::new(0, 0, 1, 3)).0.build().unwrap();
    group.start(Order::Forward, None).unwrap();
    let taken = take_all(&group, 0..1);
    group.close();
    assert_eq!(Arc::strong_count(&taken[0]["m"].data), 1);
    assert_eq!(group.alive_slots(), 1);
}

/// Counts the samples that are alive: each holds the tag.
struct Counted {
    times: Vec<f64>,
    tag: Arc<[Attribute]>,
    most: AtomicUsize,
}

impl Sampler for Counted {
    fn refresh_times(&self) -> &[f64] {
        &self.times
    }

    fn anchor(&self, t: f64) -> Result<f64> {
        Ok(t)
    }

    fn sample_at(&self, _: f64) -> Result<Dataset> {
        let dataset = Dataset { attributes: self.tag.clone(), ..Dataset::default() };
        self.most.fetch_max(Arc::strong_count(&self.tag) - 1, Ordering::SeqCst);
        Ok(dataset)
    }

    fn calendar(&self) -> Option<&str> {
        None
    }
}

#[test]
fn a_long_sweep_keeps_the_epochs_ahead_and_the_last_one() {
    for (depth, workers, inline) in [(1, 1, false), (2, 1, false), (4, 3, false), (2, 1, true)] {
        let times = (0..300).map(f64::from).collect();
        let counted = Arc::new(Counted { times, tag: Arc::new([]), most: AtomicUsize::new(0) });
        let builder = PrefetchGroup::builder().member("m", counted.clone());
        let group = builder.depth(depth).workers(workers).inline(inline).build().unwrap();
        group.start(Order::Forward, None).unwrap();
        for k in 0..300 {
            drop(group.take(k).unwrap());
        }
        // What a take lets go of may be freed right after the next decode has begun.
        let most = counted.most.load(Ordering::SeqCst);
        assert!(most <= depth + 2, "{most} samples with depth {depth}");
    }
}
