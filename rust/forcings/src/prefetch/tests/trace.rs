//! What a group records of itself.

use super::fake::{group_of, Fake, Latency};
use crate::dataset::Dataset;
use crate::prefetch::{Activity, Interval, Order, PrefetchGroup};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

fn told(intervals: &[Interval]) -> Vec<(Activity, Option<usize>, usize)> {
    intervals.iter().map(|i| (i.activity, i.member, i.epoch)).collect()
}

#[test]
fn nothing_is_recorded_unless_asked_for() {
    let group = group_of(Fake::new(0, 0, 1, 2)).0.build().unwrap();
    group.start(Order::Forward, None).unwrap();
    group.take(0).unwrap();
    assert!(group.trace().is_none());
    let idle = group_of(Fake::new(0, 0, 1, 2)).0.trace(true).build().unwrap();
    assert_eq!(idle.trace(), Some(vec![]));
}

#[test]
fn each_decode_wait_and_take_is_recorded_in_turn() {
    let group = PrefetchGroup::builder()
        .member("b", Arc::new(Fake::new(0, 0, 1, 3)))
        .member("a", Arc::new(Fake::new(1, 0, 2, 2)))
        .inline(true)
        .trace(true)
        .build()
        .unwrap();
    group.start(Order::Forward, None).unwrap();
    (0..3).for_each(|k| drop(group.take(k).unwrap()));
    use Activity::{Decode, Take, Wait};
    let (a, b) = (Some(0), Some(1));
    let epochs = [
        vec![(Decode, a, 0), (Wait, None, 0), (Decode, b, 0), (Wait, None, 0), (Take, None, 0)],
        vec![(Decode, b, 1), (Wait, None, 1), (Take, None, 1)],
        vec![(Decode, a, 2), (Wait, None, 2), (Decode, b, 2), (Wait, None, 2), (Take, None, 2)],
    ];
    assert_eq!(told(&group.trace().unwrap()), epochs.concat());
}

#[test]
fn intervals_have_their_extent_and_come_by_their_end() {
    let pause = Duration::from_millis(5);
    let (builder, _) = group_of(Fake::new(0, 0, 1, 6).with(|fake| fake.latency = Latency::Fixed(pause)));
    let group = builder.depth(3).workers(2).trace(true).build().unwrap();
    group.start(Order::Forward, None).unwrap();
    (0..6).for_each(|k| drop(group.take(k).unwrap()));
    let intervals = group.trace().unwrap();
    assert!(intervals.iter().all(|i| i.begin_s >= 0.0 && i.begin_s <= i.end_s));
    assert!(intervals.windows(2).all(|pair| pair[0].end_s <= pair[1].end_s));
    let of = |activity| intervals.iter().filter(move |i| i.activity == activity);
    assert!(of(Activity::Decode).all(|i| i.end_s - i.begin_s >= pause.as_secs_f64()));
    let decoded: BTreeSet<_> = of(Activity::Decode).map(|i| (i.member, i.epoch)).collect();
    assert_eq!(decoded, (0..6).map(|k| (Some(0), k)).collect());
    assert_eq!(of(Activity::Decode).count(), 6);
    assert_eq!(of(Activity::Take).map(|i| i.epoch).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    for take in of(Activity::Take) {
        let decode = of(Activity::Decode).find(|i| i.epoch == take.epoch).unwrap();
        assert!(decode.end_s <= take.end_s, "it is taken when it is there");
    }
    let (waited, stats) = (of(Activity::Wait).map(|i| i.end_s - i.begin_s).sum::<f64>(), group.stats());
    assert!((waited - stats.waited_s).abs() < 0.5 * stats.waited_s, "{waited} against {stats:?}");
}

#[test]
fn the_part_of_the_host_and_waits_by_other_means_are_recorded() {
    let (builder, _) = group_of(Fake::new(0, 0, 1, 1));
    let group = builder.inline(true).finish_on_host().trace(true).build().unwrap();
    group.start(Order::Forward, None).unwrap();
    assert!(group.decode_one().unwrap());
    group.next_host_job().unwrap().complete(Ok((Dataset::default(), 0)));
    group.note_wait(0, Duration::from_secs(1));
    group.try_take(0).unwrap().unwrap();
    let trace = group.trace().unwrap();
    use Activity::{Decode, Host, Take, Wait};
    let expected = [(Decode, Some(0), 0), (Wait, None, 0), (Host, Some(0), 0), (Wait, None, 0), (Take, None, 0)];
    assert_eq!(told(&trace), expected);
    assert_eq!(trace[3].begin_s, 0.0, "a wait that began before the group is cut");
}
