//! Fetching the files of coming epochs ahead, by a sampler that only writes down what it is asked.

use super::fake::{Fake, Gate, Latency};
use crate::dataset::Dataset;
use crate::error::GroupState;
use crate::prefetch::{Activity, Order, PrefetchGroup, PrefetchGroupBuilder};
use crate::provider::Sampler;
use crate::{Error, Result};
use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::Arc;
use std::time::Duration;

type Fetch = Box<dyn Fn(usize) -> Result<()> + Send + Sync>;

/// Epochs that need the files `files(t)`.
struct Remote {
    inner: Fake,
    files: fn(f64) -> Vec<usize>,
    fetch: Fetch,
    asked: AtomicUsize,
    calls: Mutex<Vec<usize>>,
    called: Condvar,
}

impl Remote {
    /// Eight epochs, decoded when `gate` lets them pass.
    fn new(
        gate: &Arc<Gate>,
        files: fn(f64) -> Vec<usize>,
        fetch: impl Fn(usize) -> Result<()> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Remote {
            inner: Fake::new(0, 0, 1, 8).with(|fake| fake.latency = Latency::Held(gate.clone())),
            files,
            fetch: Box::new(fetch),
            asked: AtomicUsize::new(0),
            calls: Mutex::default(),
            called: Condvar::new(),
        })
    }

    /// The files fetched, once there are `count` of them, and a moment later.
    fn fetched(&self, count: usize) -> Vec<usize> {
        let mut calls = self.calls.lock();
        while calls.len() < count {
            self.called.wait(&mut calls);
        }
        drop(calls);
        std::thread::sleep(Duration::from_millis(15));
        self.calls.lock().clone()
    }
}

impl Sampler for Remote {
    fn refresh_times(&self) -> &[f64] {
        self.inner.refresh_times()
    }

    fn anchor(&self, t: f64) -> Result<f64> {
        self.inner.anchor(t)
    }

    fn sample_at(&self, t: f64) -> Result<Dataset> {
        self.inner.sample_at(t)
    }

    fn calendar(&self) -> Option<&str> {
        None
    }

    fn files_at(&self, t: f64) -> Vec<usize> {
        self.asked.fetch_add(1, SeqCst);
        (self.files)(t)
    }

    fn fetch_file(&self, file: usize) -> Result<()> {
        self.calls.lock().push(file);
        self.called.notify_all();
        (self.fetch)(file)
    }
}

fn builder(remote: &Arc<Remote>) -> PrefetchGroupBuilder {
    PrefetchGroup::builder().member("m", remote.clone())
}

/// A file for every epoch, with the number of its hour.
fn hourly(t: f64) -> Vec<usize> {
    vec![t as usize]
}

#[test]
fn the_files_behind_the_admitted_epochs_are_fetched_and_nothing_is_decoded_for_it() {
    let gate = Arc::new(Gate::default());
    let remote = Remote::new(&gate, hourly, |_| Ok(()));
    let group = builder(&remote).depth(2).fetch_ahead(3).build().unwrap();
    assert!(remote.fetched(0).is_empty(), "nothing was started");
    group.start(Order::Forward, None).unwrap();
    assert_eq!(remote.fetched(3), [2, 3, 4]);
    assert_eq!(remote.inner.calls(), 1, "one worker");
    gate.open();
    group.take(0).unwrap();
    assert_eq!(remote.fetched(4), [2, 3, 4, 5]);
    group.start(Order::Reverse, None).unwrap();
    assert_eq!(remote.fetched(7)[4..], [5, 4, 3], "another order fetches anew");
}

#[test]
fn each_file_of_a_member_is_fetched_once_in_an_order() {
    let gate = Arc::new(Gate::default());
    gate.open();
    // A file holds two hours, and each hour needs the file of the next one too.
    let files = |t: f64| vec![t as usize / 2, t as usize / 2 + 1];
    let (a, b) = (Remote::new(&gate, files, |_| Ok(())), Remote::new(&gate, files, |_| Ok(())));
    let group = builder(&a).member("n", b.clone()).depth(1).build().unwrap();
    for (order, expected) in
        [(Order::Forward, vec![0, 1, 2, 3, 4]), (Order::Explicit(vec![7, 0, 0, 7, 1]), vec![0, 1, 3, 4])]
    {
        let before = a.calls.lock().len();
        let epochs = order.clone().resolve(8, None).unwrap();
        group.start(order, None).unwrap();
        for k in epochs {
            group.take(k).unwrap();
        }
        for remote in [&a, &b] {
            let mut fetched = remote.fetched(before + expected.len())[before..].to_vec();
            fetched.sort_unstable();
            assert_eq!(fetched, expected);
        }
    }
}

#[test]
fn failures_and_panics_are_of_no_consequence() {
    let gate = Arc::new(Gate::default());
    gate.open();
    let remote = Remote::new(&gate, hourly, |file| match file % 2 {
        0 => Err(Error::NotFound("no such file".into())),
        _ => panic!("bad luck"),
    });
    let group = builder(&remote).fetch_ahead(8).build().unwrap();
    group.start(Order::Forward, None).unwrap();
    assert_eq!(remote.fetched(6), [2, 3, 4, 5, 6, 7]);
    (0..8).for_each(|k| drop(group.take(k).unwrap()));
}

#[test]
fn none_ahead_asks_for_no_files_and_so_do_members_without_any() {
    let gate = Arc::new(Gate::default());
    gate.open();
    let sweep = |remote: &Arc<Remote>, entries| {
        let group = builder(remote).fetch_ahead(entries).build().unwrap();
        group.start(Order::Forward, None).unwrap();
        (0..8).for_each(|k| drop(group.take(k).unwrap()));
        assert!(remote.fetched(0).is_empty());
        remote.asked.load(SeqCst)
    };
    assert_eq!(sweep(&Remote::new(&gate, hourly, |_| Ok(())), 0), 0);
    let local = Remote::new(&gate, |_| vec![], |_| Ok(()));
    assert_eq!(sweep(&local, 2), 8, "once for each time, to see that no thread is needed");
    assert_eq!(Arc::strong_count(&local), 1);
}

/// A group whose fetches hang at the gate, the first of them under way, over epochs that need three files each.
fn hanging() -> (PrefetchGroup, Arc<Remote>, Arc<Gate>) {
    let (open, hang) = (Arc::new(Gate::default()), Arc::new(Gate::default()));
    open.open();
    let held = hang.clone();
    let files = |t: f64| (0..3).map(|i| 10 * t as usize + i).collect();
    let remote = Remote::new(&open, files, move |_| {
        held.pass();
        Ok(())
    });
    let group = builder(&remote).depth(1).fetch_ahead(2).trace(true).build().unwrap();
    group.start(Order::Forward, None).unwrap();
    hang.await_waiting(1);
    (group, remote, hang)
}

#[test]
fn an_order_that_ends_stops_it_before_the_next_file() {
    let (group, remote, hang) = hanging();
    group.cancel(true);
    hang.open();
    assert_eq!(remote.fetched(1), [10]);
    group.start(Order::Explicit(vec![0, 5]), None).unwrap();
    assert_eq!(remote.fetched(4), [10, 50, 51, 52]);
    let trace = group.trace().unwrap();
    let fetches = trace.iter().filter(|i| i.activity == Activity::Fetch).map(|i| (i.member, i.epoch));
    assert_eq!(fetches.collect::<Vec<_>>(), [(Some(0), 1), (Some(0), 5), (Some(0), 5), (Some(0), 5)]);
}

#[test]
fn a_fetch_that_hangs_holds_up_neither_a_take_nor_who_closes_the_group() {
    let (group, remote, hang) = hanging();
    (0..4).for_each(|k| drop(group.take(k).unwrap()));
    group.close();
    assert!(matches!(group.take(4), Err(Error::Group(GroupState::Closed))));
    drop(group);
    hang.open();
    assert_eq!(remote.fetched(1), [10]);
    while Arc::strong_count(&remote) > 1 {
        std::thread::sleep(Duration::from_millis(1));
    }
}
