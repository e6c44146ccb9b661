//! Each call in each state: refusals, failures, cancelling, closing, restarting.

use super::fake::{first, group_of, take_all, Fake, Gate, Latency};
use crate::error::GroupState;
use crate::prefetch::{EpochSample, Order, PrefetchGroup};
use crate::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::time::Duration;

fn state<T: std::fmt::Debug>(result: Result<T>) -> GroupState {
    match result {
        Err(Error::Group(state)) => state,
        other => panic!("the group did not refuse: {other:?}"),
    }
}

fn value(epoch: &EpochSample) -> f64 {
    match &epoch["m"].data.variable("value").unwrap().values {
        crate::dataset::Values::F64(values) => values[0],
        other => panic!("{other:?}"),
    }
}

/// A group whose decodes wait at the gate.
fn held(workers: usize) -> (PrefetchGroup, Arc<Gate>) {
    let gate = Arc::new(Gate::default());
    let (builder, _) = group_of(Fake::new(0, 0, 1, 6).with(|fake| fake.latency = Latency::Held(gate.clone())));
    (builder.workers(workers).build().unwrap(), gate)
}

#[test]
fn rows_101_and_106_takes_that_do_not_fit_are_refused() {
    let group = group_of(Fake::new(0, 0, 1, 3)).0.build().unwrap();
    assert_eq!(state(group.take(0)), GroupState::NotStarted);
    group.start(Order::Forward, None).unwrap();
    assert_eq!(state(group.take(2)), GroupState::WrongEpoch { asked: 2, expected: 0 });
    assert_eq!(state(group.try_take(7)), GroupState::WrongEpoch { asked: 7, expected: 0 });
    take_all(&group, 0..3);
    assert_eq!(state(group.take(0)), GroupState::Exhausted);
    group.cancel(false);
    assert_eq!(state(group.take(0)), GroupState::Cancelled);
    group.close();
    assert_eq!(state(group.take(0)), GroupState::Closed);
    assert_eq!(state(group.try_take(0)), GroupState::Closed);
    assert_eq!(state(group.start(Order::Forward, None)), GroupState::Closed);
    assert_eq!(group.boundaries().len(), 3);
    assert_eq!(group.stats().epochs_decoded, 3);
}

#[test]
fn row_104_a_bad_start_leaves_the_order_alone() {
    let group = group_of(Fake::new(0, 0, 1, 6)).0.build().unwrap();
    first(&group).unwrap();
    for (order, from) in [(vec![], None), (vec![6], None), (vec![1, 2], Some(0))] {
        let error = group.start(Order::Explicit(order), from).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    }
    assert_eq!(value(&group.take(1).unwrap()), 1.0);
}

#[test]
fn row_105_an_epoch_that_is_not_next_is_not_ready() {
    let group = group_of(Fake::new(0, 0, 1, 4)).0.depth(4).build().unwrap();
    assert!(!group.is_ready(0), "nothing was started");
    group.start(Order::Forward, None).unwrap();
    assert!(group.wait(0, Duration::from_secs(60)) && group.is_ready(0));
    while group.stats().samples_decoded < 4 {
        std::thread::yield_now();
    }
    assert!(![1, 2, 3, 4, usize::MAX].into_iter().any(|k| group.is_ready(k)), "decoded, but not next");
    group.take(0).unwrap();
    assert!(group.is_ready(1) && !group.is_ready(0));
}

#[test]
fn row_103_an_order_starts_anywhere() {
    let group = group_of(Fake::new(0, 0, 1, 6)).0.build().unwrap();
    group.start(Order::Explicit(vec![3, 1, 4, 1, 5]), Some(1)).unwrap();
    let values: Vec<f64> = take_all(&group, [1, 4, 1, 5]).iter().map(value).collect();
    assert_eq!(values, [1.0, 4.0, 1.0, 5.0]);
    group.start(Order::Reverse, Some(2)).unwrap();
    take_all(&group, [2, 1, 0]);
}

#[test]
fn rows_107_and_111_an_error_is_raised_at_its_take_and_ends_the_order() {
    for inline in [false, true] {
        let (builder, _) = group_of(Fake::new(0, 0, 1, 6).with(|fake| fake.failing = vec![2.0]));
        let group = builder.depth(4).inline(inline).build().unwrap();
        group.start(Order::Forward, None).unwrap();
        take_all(&group, 0..2);
        assert_eq!(group.take(2).unwrap_err().to_string(), "fake 0 has no data at 2");
        assert_eq!(state(group.take(3)), GroupState::Failed { next: Some(3) });
        group.start(Order::Forward, Some(3)).unwrap();
        take_all(&group, 3..6);
    }
}

#[test]
fn row_108_the_error_is_that_of_the_first_key() {
    let gate = Arc::new(Gate::default());
    let fail = |id| Fake::new(id, 0, 1, 1).with(|fake| fake.failing = vec![0.0]);
    let group = PrefetchGroup::builder()
        .member("b", Arc::new(fail(1)))
        .member("a", Arc::new(fail(0).with(|fake| fake.latency = Latency::Held(gate.clone()))))
        .workers(2)
        .build()
        .unwrap();
    group.start(Order::Forward, None).unwrap();
    gate.await_waiting(1);
    assert!(!group.wait(0, Duration::from_millis(20)), "the other member has failed, but this one may too");
    gate.open();
    assert_eq!(group.take(0).unwrap_err().to_string(), "fake 0 has no data at 0");
}

#[test]
fn a_time_before_the_first_anchor_fails_at_its_take() {
    let group = PrefetchGroup::builder()
        .member("early", Arc::new(Fake::new(0, 0, 1, 4)))
        .member("late", Arc::new(Fake::new(1, 2, 1, 2)))
        .build()
        .unwrap();
    let error = first(&group).unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::OffGrid, "0 is before 2"));
    group.start(Order::Reverse, None).unwrap();
    take_all(&group, [3, 2]);
    assert_eq!(group.take(1).unwrap_err().kind(), ErrorKind::OffGrid);
    assert_eq!(state(group.take(0)), GroupState::Failed { next: Some(0) });
}

#[test]
fn a_panic_is_an_error_of_its_take() {
    for inline in [false, true] {
        let (builder, _) = group_of(Fake::new(0, 0, 1, 4).with(|fake| fake.panicking = vec![1.0]));
        let group = builder.inline(inline).build().unwrap();
        first(&group).unwrap();
        let error = group.take(1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Panic);
        assert!(error.to_string().contains("member \"m\" panicked at the time 1: no good at 1"), "{error}");
        group.start(Order::Forward, Some(2)).unwrap();
        take_all(&group, 2..4);
    }
}

#[test]
fn cancel_without_wait_leaves_the_running_decode_and_with_wait_outlasts_it() {
    let (group, gate) = held(1);
    group.start(Order::Forward, None).unwrap();
    gate.await_waiting(1);
    group.cancel(false);
    assert!(!group.is_ready(0));
    std::thread::scope(|scope| {
        let cancel = scope.spawn(|| group.cancel(true));
        std::thread::sleep(Duration::from_millis(20));
        assert!(!cancel.is_finished());
        gate.open();
        cancel.join().unwrap();
    });
    let stats = group.stats();
    assert_eq!(stats.samples_decoded, 0, "the result was discarded");
    assert!(stats.decode_s > 0.0);
    first(&group).unwrap();
}

#[test]
fn a_waiting_take_ends_with_its_order() {
    type End = fn(&PrefetchGroup);
    let restart: End = |group| group.start(Order::Forward, None).unwrap();
    for (end, expected) in [
        ((|group| group.cancel(false)) as End, GroupState::Cancelled),
        (restart, GroupState::Cancelled),
        (|group| group.close(), GroupState::Closed),
    ] {
        let (group, gate) = held(1);
        group.start(Order::Forward, None).unwrap();
        std::thread::scope(|scope| {
            let take = scope.spawn(|| group.take(0));
            gate.await_waiting(1);
            std::thread::sleep(Duration::from_millis(5));
            let ended = scope.spawn(|| end(&group));
            assert_eq!(state(take.join().unwrap()), expected);
            gate.open();
            ended.join().unwrap();
        });
    }
}

#[test]
fn row_117_closing_twice_and_cancelling_afterwards_do_nothing() {
    let group = group_of(Fake::new(0, 0, 1, 3)).0.workers(2).build().unwrap();
    first(&group).unwrap();
    group.close();
    group.close();
    group.cancel(true);
    assert_eq!(state(group.take(1)), GroupState::Closed);
}

#[test]
fn row_118_dropping_under_load_waits_for_what_runs() {
    for round in 0..20 {
        let (builder, fake) = group_of(Fake::new(0, 0, 1, 50).with(|fake| fake.latency = Latency::Random));
        let group = builder.depth(4).workers(3).build().unwrap();
        group.start(Order::Forward, None).unwrap();
        take_all(&group, 0..round % 5);
        drop(group);
        assert_eq!(Arc::strong_count(&fake), 1, "no worker is left");
    }
}

#[test]
fn an_order_can_be_replaced_at_any_moment() {
    let (builder, _) = group_of(Fake::new(0, 0, 1, 6).with(|fake| fake.latency = Latency::Random));
    let group = builder.depth(3).workers(2).max_bytes(500).build().unwrap();
    for round in 0..60usize {
        let order: Vec<usize> = (0..6).map(|i| (i * (round % 5 + 1) + round) % 6).collect();
        group.start(Order::Explicit(order.clone()), None).unwrap();
        for &k in &order[..round % 6] {
            assert_eq!(value(&group.take(k).unwrap()), k as f64);
        }
        if round % 7 == 0 {
            group.cancel(round % 2 == 0);
        }
    }
}

#[test]
fn inline_groups_decode_on_the_caller_alone() {
    let (builder, fake) = group_of(Fake::new(0, 0, 1, 4));
    let group = builder.inline(true).build().unwrap();
    group.start(Order::Forward, None).unwrap();
    assert!(!group.is_ready(0) && group.try_take(0).unwrap().is_none());
    assert!(!group.wait(0, Duration::from_secs(3600)), "it does not wait for nobody");
    assert_eq!(fake.calls(), 0);
    assert!(group.decode_one().unwrap());
    assert!(group.is_ready(0));
    group.try_take(0).unwrap().unwrap();
    group.take(1).unwrap();
    assert_eq!(fake.calls(), 2);
    while group.decode_one().unwrap() {}
    assert_eq!(fake.calls(), 4, "to the depth and no further");
    take_all(&group, 2..4);
    let stats = group.stats();
    assert!(stats.decode_s > 0.0 && stats.waited_s >= stats.decode_s && !stats.overlap);
    group.close();
    assert_eq!(state(group.decode_one()), GroupState::Closed);
    let threaded = group_of(Fake::new(0, 0, 1, 4)).0.build().unwrap();
    assert_eq!(threaded.decode_one().unwrap_err().kind(), ErrorKind::InvalidParameter);
}

#[cfg(target_os = "linux")]
#[test]
fn workers_have_names() {
    let group = group_of(Fake::new(0, 0, 1, 1)).0.workers(3).build().unwrap();
    first(&group).unwrap();
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    assert!(names.filter(|name| name.starts_with("forcings-dec-")).count() >= 1);
}
