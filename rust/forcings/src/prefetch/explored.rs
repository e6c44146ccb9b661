//! Groups whose threads run under shuttle, which tries many interleavings and reports deadlocks and lost wake-ups.

use super::{HostWork, Order, PrefetchGroup};
use crate::dataset::Dataset;
use crate::error::GroupState;
use crate::provider::Sampler;
use crate::{Error, Result};
use shuttle::sync::atomic::{AtomicBool, Ordering::SeqCst};
use shuttle::sync::{Condvar, Mutex};
use shuttle::thread;
use std::sync::Arc;
use std::time::Duration;

const RUNS: usize = 3_000;

/// Three times; decodes and fetches let others run, and fail or panic where they are told to.
#[derive(Default)]
struct Fake {
    failing: Option<f64>,
    panicking: Option<f64>,
    remote: bool,
}

impl Sampler for Fake {
    fn refresh_times(&self) -> &[f64] {
        &[0.0, 1.0, 2.0]
    }

    fn anchor(&self, t: f64) -> Result<f64> {
        Ok(t)
    }

    fn sample_at(&self, t: f64) -> Result<Dataset> {
        thread::yield_now();
        assert_ne!(self.panicking, Some(t), "told to");
        if self.failing == Some(t) {
            return Err(Error::NotFound("told to".into()));
        }
        Ok(Dataset::default())
    }

    fn calendar(&self) -> Option<&str> {
        None
    }

    fn files_at(&self, t: f64) -> Vec<usize> {
        if self.remote {
            vec![t as usize, t as usize + 1]
        } else {
            vec![]
        }
    }

    fn fetch_file(&self, file: usize) -> Result<()> {
        thread::yield_now();
        Err(Error::NotFound(format!("there is no file {file}")))
    }
}

fn group(a: Fake, b: Fake, workers: usize) -> Arc<PrefetchGroup> {
    let builder = PrefetchGroup::builder().member("a", Arc::new(a)).member("b", Arc::new(b));
    Arc::new(builder.workers(workers).depth(2).build().unwrap())
}

/// Runs `test` under two ways of choosing who runs next.
fn explore(test: fn()) {
    shuttle::check_random(test, RUNS);
    shuttle::check_pct(test, RUNS, 3);
}

#[test]
fn sweeps_end() {
    explore(|| {
        let group = group(Fake::default(), Fake::default(), 2);
        for (order, epochs) in [(Order::Forward, [0, 1, 2]), (Order::Reverse, [2, 1, 0])] {
            group.start(order, None).unwrap();
            for k in epochs {
                group.take(k).unwrap();
            }
        }
        let stats = group.stats();
        assert_eq!((stats.epochs_decoded, stats.samples_decoded + stats.samples_reused), (6, 12));
    });
}

#[test]
fn failures_and_panics_end_the_order_and_block_nobody() {
    explore(|| {
        let failing = Fake { failing: Some(1.0), ..Fake::default() };
        let group = group(failing, Fake { panicking: Some(1.0), ..Fake::default() }, 2);
        group.start(Order::Forward, None).unwrap();
        group.take(0).unwrap();
        assert!(matches!(group.take(1), Err(Error::NotFound(_))));
        group.start(Order::Forward, Some(2)).unwrap();
        group.take(2).unwrap();
    });
}

#[test]
fn a_take_ends_when_another_thread_ends_its_order() {
    let ends: [fn(&PrefetchGroup); 4] = [
        |group| group.cancel(false),
        |group| group.cancel(true),
        |group| group.start(Order::Reverse, None).unwrap(),
        |group| group.close(),
    ];
    for end in ends {
        let test = move || {
            let group = group(Fake::default(), Fake::default(), 1);
            group.start(Order::Forward, None).unwrap();
            let other = group.clone();
            let thread = thread::spawn(move || end(&other));
            match group.take(0) {
                Ok(_) | Err(Error::Group(GroupState::Cancelled | GroupState::Closed)) => {}
                Err(Error::Group(GroupState::WrongEpoch { asked: 0, expected: 2 })) => {}
                Err(other) => panic!("{other}"),
            }
            thread.join().unwrap();
        };
        shuttle::check_random(test, RUNS);
        shuttle::check_pct(test, RUNS, 3);
    }
}

#[test]
fn dropping_at_any_moment_ends_the_workers() {
    explore(|| {
        let group = group(Fake::default(), Fake::default(), 2);
        group.start(Order::Forward, None).unwrap();
        group.try_take(0).unwrap();
        group.start(Order::Reverse, None).unwrap();
    });
}

#[test]
fn no_wake_up_is_lost_and_none_comes_after_unsetting() {
    explore(|| {
        let group = group(Fake::default(), Fake::default(), 2);
        let signal = Arc::new((Mutex::new(false), Condvar::new()));
        let unset = Arc::new(AtomicBool::new(false));
        let (sent, over) = (signal.clone(), unset.clone());
        group.set_waker(Some(Box::new(move || {
            assert!(!over.load(SeqCst), "called after it was unset");
            *sent.0.lock().unwrap() = true;
            sent.1.notify_all();
        })));
        group.start(Order::Forward, None).unwrap();
        for k in 0..2 {
            while group.try_take(k).unwrap().is_none() {
                let mut woken = signal.0.lock().unwrap();
                while !*woken {
                    woken = signal.1.wait(woken).unwrap();
                }
                *woken = false;
            }
        }
        group.set_waker(None);
        unset.store(true, SeqCst);
        group.take(2).unwrap();
    });
}

/// A group of a member that the host makes and one that it finishes, started.
fn hosted(workers: usize) -> Arc<PrefetchGroup> {
    let builder = PrefetchGroup::builder().host_member("a", Arc::new(Fake::default()));
    let builder = builder.member("b", Arc::new(Fake::default())).finish_on_host();
    let group = Arc::new(builder.workers(workers).depth(2).build().unwrap());
    group.start(Order::Forward, None).unwrap();
    group
}

/// Makes samples until there are no more to make; those of `dropped` are given up.
fn serve(group: &Arc<PrefetchGroup>, dropped: Option<usize>) -> thread::JoinHandle<()> {
    let group = group.clone();
    thread::spawn(move || loop {
        match group.next_host_job() {
            Some(job) if Some(job.epoch()) == dropped => drop(job),
            Some(job) => {
                thread::yield_now();
                job.complete(Ok((Dataset::default(), 1)));
            }
            None if group.wait_host(Duration::MAX) == HostWork::Over => break,
            None => {}
        }
    })
}

#[test]
fn threads_of_the_host_serve_a_sweep_and_learn_of_its_end() {
    explore(|| {
        let group = hosted(1);
        let threads = [serve(&group, None), serve(&group, None)];
        (0..3).for_each(|k| drop(group.take(k).unwrap()));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(group.stats().samples_decoded, 6);
    });
}

#[test]
fn a_host_that_gives_a_sample_up_blocks_nobody() {
    explore(|| {
        let group = hosted(2);
        let thread = serve(&group, Some(1));
        group.take(0).unwrap();
        assert!(matches!(group.take(1), Err(Error::Panic(_))));
        thread.join().unwrap();
    });
}

#[test]
fn an_order_ends_while_the_host_has_samples_of_it() {
    let ends: [fn(&PrefetchGroup); 4] = [
        |group| group.cancel(false),
        |group| group.cancel(true),
        |group| group.start(Order::Reverse, None).unwrap(),
        |group| group.close(),
    ];
    for end in ends {
        let test = move || {
            let group = hosted(1);
            let host = serve(&group, None);
            let other = group.clone();
            let ending = thread::spawn(move || end(&other));
            match group.take(0) {
                Ok(_) | Err(Error::Group(GroupState::Cancelled | GroupState::Closed)) => {}
                Err(Error::Group(GroupState::WrongEpoch { asked: 0, expected: 2 })) => {}
                Err(other) => panic!("{other}"),
            }
            ending.join().unwrap();
            group.close();
            host.join().unwrap();
        };
        shuttle::check_random(test, RUNS);
        shuttle::check_pct(test, RUNS, 3);
    }
}

#[test]
fn files_are_fetched_until_the_order_or_the_group_ends() {
    let ends: [fn(&PrefetchGroup); 4] = [
        |group| group.cancel(false),
        |group| group.start(Order::Reverse, None).unwrap(),
        |group| group.close(),
        |group| drop(group.take(1).unwrap()),
    ];
    for end in ends {
        let test = move || {
            let group = group(Fake { remote: true, ..Fake::default() }, Fake::default(), 1);
            group.start(Order::Forward, None).unwrap();
            group.take(0).unwrap();
            end(&group);
        };
        shuttle::check_random(test, RUNS);
        shuttle::check_pct(test, RUNS, 3);
    }
}
