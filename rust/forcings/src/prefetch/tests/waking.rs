//! Consumers that wait by other means than a blocked thread.

use super::fake::{group_of, Fake, Gate, Latency};
use crate::prefetch::{Order, PrefetchGroup};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{mpsc, Arc};
use std::time::Duration;

/// A group whose waker sends, and whose decodes wait at the gate.
fn watched() -> (PrefetchGroup, Arc<Gate>, mpsc::Receiver<()>) {
    let gate = Arc::new(Gate::default());
    let (builder, _) = group_of(Fake::new(0, 0, 1, 4).with(|fake| {
        fake.latency = Latency::Held(gate.clone());
        fake.failing = vec![1.0];
    }));
    let group = builder.build().unwrap();
    group.start(Order::Forward, None).unwrap();
    let (send, receive) = mpsc::channel();
    group.set_waker(Some(Box::new(move || send.send(()).unwrap())));
    (group, gate, receive)
}

#[test]
fn the_waker_is_called_when_the_head_is_ready_or_has_failed() {
    let (group, gate, calls) = watched();
    gate.await_waiting(1);
    assert!(calls.try_recv().is_err());
    gate.open();
    for k in 0..2 {
        while !group.is_ready(k) {
            calls.recv().unwrap();
        }
        assert_eq!(group.try_take(k).is_ok(), k == 0);
    }
    assert!(!group.is_ready(2));
}

#[test]
fn the_waker_is_called_when_the_order_ends() {
    let (group, gate, calls) = watched();
    group.cancel(false);
    calls.recv().unwrap();
    group.start(Order::Forward, None).unwrap();
    calls.recv().unwrap();
    std::thread::scope(|scope| {
        let close = scope.spawn(|| group.close());
        calls.recv().unwrap();
        gate.open();
        close.join().unwrap();
    });
}

#[test]
fn a_waker_that_was_unset_is_not_running_and_never_called_again() {
    let (builder, _) = group_of(Fake::new(0, 0, 1, 200).with(|fake| fake.latency = Latency::Random));
    let group = builder.depth(4).workers(3).build().unwrap();
    group.start(Order::Forward, None).unwrap();
    for k in 0..200 {
        let called = Arc::new(AtomicUsize::new(0));
        let count = called.clone();
        group.set_waker(Some(Box::new(move || {
            std::thread::sleep(Duration::from_micros(100));
            count.fetch_add(1, SeqCst);
        })));
        group.take(k).unwrap();
        group.set_waker(None);
        assert_eq!(Arc::strong_count(&called), 1, "nobody can run a waker that was dropped");
    }
}

#[test]
fn unsetting_waits_for_the_running_call() {
    let (group, gate, _calls) = watched();
    let (entered, leave) = (Arc::new(Gate::default()), Arc::new(Gate::default()));
    let done = Arc::new(AtomicUsize::new(0));
    let (leave2, entered2, done2) = (leave.clone(), entered.clone(), done.clone());
    group.set_waker(Some(Box::new(move || {
        entered2.open();
        leave2.pass();
        done2.store(1, SeqCst);
    })));
    gate.open();
    entered.pass();
    std::thread::scope(|scope| {
        let unset = scope.spawn(|| group.set_waker(None));
        std::thread::sleep(Duration::from_millis(20));
        assert!(!unset.is_finished());
        leave.open();
        unset.join().unwrap();
        assert_eq!(done.load(SeqCst), 1);
    });
}

#[test]
fn a_waker_that_panics_stops_no_worker() {
    let (builder, _) = group_of(Fake::new(0, 0, 1, 5).with(|fake| fake.latency = Latency::Random));
    let group = builder.build().unwrap();
    group.set_waker(Some(Box::new(|| panic!("a bad waker"))));
    group.start(Order::Forward, None).unwrap();
    super::fake::take_all(&group, 0..5);
}

#[test]
fn waiting_with_a_time_limit() {
    let (group, gate, _calls) = watched();
    assert!(!group.wait(0, Duration::from_millis(5)));
    assert!(!group.wait(1, Duration::from_secs(3600)), "not the next entry");
    std::thread::scope(|scope| {
        let wait = scope.spawn(|| group.wait(0, Duration::MAX));
        gate.open();
        assert!(wait.join().unwrap());
    });
    group.note_wait(0, Duration::from_millis(2500));
    assert_eq!(group.stats().waited_s, 2.5, "only take and note_wait count");
}
