//! Samples that the program around a group makes or finishes.

use super::fake::{group_of, serve_host, Fake, Gate, Latency};
use crate::dataset::Dataset;
use crate::error::{GroupState, HostError};
use crate::prefetch::{HostJob, HostWork, Order, PrefetchGroup};
use crate::provider::Sampler;
use crate::{Error, ErrorKind, Result};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{mpsc, Arc};
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(2);
const LONG: Duration = Duration::from_secs(60);

/// One member of the host over four epochs, started.
fn made(depth: usize) -> (PrefetchGroup, Arc<Fake>) {
    let fake = Arc::new(Fake::new(0, 0, 1, 4));
    let group = PrefetchGroup::builder().host_member("h", fake.clone()).depth(depth).build().unwrap();
    group.start(Order::Forward, None).unwrap();
    (group, fake)
}

fn make(fake: &Fake, job: HostJob<Dataset>) {
    let sample = fake.sample_at(job.time()).map(|data| (data, fake.bytes()));
    job.complete(sample);
}

fn job(group: &PrefetchGroup) -> HostJob<Dataset> {
    assert_eq!(group.wait_host(LONG), HostWork::Queued);
    group.next_host_job().unwrap()
}

#[test]
fn jobs_come_by_epoch_and_tell_what_to_make() {
    let group = PrefetchGroup::builder()
        .member("b", Arc::new(Fake::new(1, 0, 1, 4)))
        .host_member("c", Arc::new(Fake::new(2, 0, 2, 2)))
        .host_member("a", Arc::new(Fake::new(3, 0, 1, 4)))
        .depth(3)
        .build()
        .unwrap();
    group.start(Order::Reverse, None).unwrap();
    let jobs: Vec<_> = std::iter::from_fn(|| group.next_host_job()).collect();
    let told: Vec<_> = jobs.iter().map(|job| (job.key(), job.member(), job.epoch(), job.time())).collect();
    assert_eq!(told, [("a", 0, 3, 3.0), ("c", 2, 3, 3.0), ("a", 0, 2, 2.0), ("a", 0, 1, 1.0), ("c", 2, 1, 1.0)]);
    assert!(jobs.iter().all(|job| job.input().is_none()));
    group.cancel(false);
    jobs.into_iter().for_each(|job| job.complete(Ok((Dataset::default(), 0))));
}

#[test]
fn waiting_for_work() {
    let (group, fake) = made(1);
    assert_eq!(group.wait_host(LONG), HostWork::Queued);
    let first = group.next_host_job().unwrap();
    assert_eq!(group.wait_host(SHORT), HostWork::None, "the next epoch comes when this one is taken");
    assert!(group.next_host_job().is_none());
    make(&fake, first);
    assert!(group.is_ready(0));
    std::thread::scope(|scope| {
        let wait = scope.spawn(|| group.wait_host(Duration::MAX));
        group.take(0).unwrap();
        assert_eq!(wait.join().unwrap(), HostWork::Queued);
    });
    group.cancel(false);
    assert_eq!(group.wait_host(LONG), HostWork::Over);
    group.start(Order::Explicit(vec![2]), None).unwrap();
    make(&fake, job(&group));
    group.take(2).unwrap();
    assert_eq!(group.wait_host(LONG), HostWork::Over, "every entry was taken");
    group.close();
    assert_eq!(group.wait_host(LONG), HostWork::Over);
    let fresh = PrefetchGroup::builder().host_member("h", fake).build().unwrap();
    assert_eq!(fresh.wait_host(LONG), HostWork::Over, "nothing was started");
}

#[test]
fn whoever_waits_for_work_is_told_that_the_order_has_ended() {
    let ends: [fn(&PrefetchGroup); 2] = [|group| group.cancel(false), |group| group.close()];
    for end in ends {
        let (builder, _) = group_of(Fake::new(0, 0, 1, 2));
        let group = builder.build().unwrap();
        group.start(Order::Forward, None).unwrap();
        std::thread::scope(|scope| {
            let wait = scope.spawn(|| group.wait_host(LONG));
            end(&group);
            assert_eq!(wait.join().unwrap(), HostWork::Over);
        });
    }
}

#[test]
fn an_error_of_the_host_is_raised_as_it_is_at_its_take() {
    let (group, fake) = made(4);
    let cause: Arc<dyn std::any::Any + Send + Sync> = Arc::new(17);
    for k in 0..4 {
        let job = job(&group);
        match k {
            1 => job.complete(Err(Error::Host(HostError { text: "no luck".into(), cause: cause.clone() }))),
            _ => make(&fake, job),
        }
    }
    group.take(0).unwrap();
    let error = group.take(1).unwrap_err();
    assert!(matches!(&error, Error::Host(host) if Arc::ptr_eq(&host.cause, &cause)), "{error:?}");
    assert!(matches!(group.take(2), Err(Error::Group(GroupState::Failed { next: Some(2) }))));
    group.start(Order::Forward, Some(2)).unwrap();
    make(&fake, job(&group));
    group.take(2).unwrap();
}

#[test]
fn a_job_that_is_dropped_has_failed() {
    let (group, _) = made(1);
    std::thread::scope(|scope| {
        let take = scope.spawn(|| group.take(0));
        drop(job(&group));
        let error = take.join().unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Panic);
        assert!(error.to_string().contains("member \"h\" was given up"), "{error}");
    });
}

#[test]
fn late_results_are_discarded_and_waited_for() {
    let ends: [fn(&PrefetchGroup); 2] = [|group| group.cancel(true), |group| group.close()];
    for end in ends {
        let (group, fake) = made(1);
        let late = job(&group);
        group.start(Order::Explicit(vec![1]), None).unwrap();
        let current = job(&group);
        late.complete(Ok((Dataset::default(), 0)));
        assert!(!group.is_ready(1));
        std::thread::scope(|scope| {
            let ended = scope.spawn(|| end(&group));
            std::thread::sleep(Duration::from_millis(20));
            assert!(!ended.is_finished(), "the host still works for it");
            make(&fake, current);
            ended.join().unwrap();
        });
        assert_eq!(group.stats().samples_decoded, 0);
    }
}

#[test]
fn the_waker_is_called_when_a_job_is_queued_for_the_host() {
    let gate = Arc::new(Gate::default());
    let (builder, _) = group_of(Fake::new(0, 0, 1, 3).with(|fake| fake.latency = Latency::Held(gate.clone())));
    let group = builder.depth(1).finish_on_host().build().unwrap();
    group.start(Order::Forward, None).unwrap();
    gate.await_waiting(1);
    let (send, calls) = mpsc::channel();
    group.set_waker(Some(Box::new(move || send.send(()).unwrap())));
    assert!(calls.try_recv().is_err() && group.next_host_job().is_none());
    gate.open();
    calls.recv().unwrap();
    let job = group.next_host_job().unwrap();
    let input = job.input().unwrap().clone();
    assert!(input.same_bits(&Fake::new(0, 0, 1, 3).sample_at(0.0).unwrap()));
    while calls.try_recv().is_ok() {}
    job.complete(Ok((Dataset::default(), 0)));
    calls.recv().unwrap();
    assert!(group.take(0).unwrap()["m"].data.same_bits(&Dataset::default()), "it is what the host made of it");
}

#[test]
fn an_error_of_a_worker_does_not_reach_the_host() {
    let (builder, _) = group_of(Fake::new(0, 0, 1, 2).with(|fake| fake.failing = vec![0.0]));
    let group = builder.finish_on_host().build().unwrap();
    group.start(Order::Explicit(vec![0]), None).unwrap();
    assert_eq!(group.take(0).unwrap_err().to_string(), "fake 0 has no data at 0");
    assert!(group.next_host_job().is_none());
}

#[test]
fn the_bytes_are_those_of_what_the_worker_decoded() {
    let (builder, fake) = group_of(Fake::new(0, 0, 1, 2));
    let group = builder.finish_on_host().build().unwrap();
    group.start(Order::Explicit(vec![0]), None).unwrap();
    job(&group).complete(Ok((Dataset::default(), 1 << 40)));
    let taken = group.take(0).unwrap();
    assert_eq!((group.stats().peak_bytes, group.alive_bytes()), (fake.bytes(), fake.bytes()));
    drop(taken);
}

/// What takes samples that fail now and then, and restarts and cancels all the time.
fn consume(group: &PrefetchGroup, fakes: &[(&str, Arc<Fake>)]) -> Result<usize> {
    let mut taken = 0;
    for round in 0..60usize {
        let order: Vec<usize> = (0..6).map(|i| (i * (round % 5 + 1) + round) % 6).collect();
        group.start(Order::Explicit(order.clone()), None)?;
        for &k in &order[..round % 7] {
            match group.take(k) {
                Ok(epoch) => {
                    taken += 1;
                    for (key, fake) in fakes {
                        assert!(epoch[key].data.same_bits(&fake.sample_at(group.boundaries()[k])?), "{key} in {k}");
                    }
                }
                Err(Error::Panic(text)) if text.contains("given up") => break,
                Err(error) => return Err(error),
            }
        }
        if round % 5 == 0 {
            group.cancel(round % 2 == 0);
        }
    }
    group.close();
    Ok(taken)
}

#[test]
fn orders_are_replaced_while_the_host_is_slow_and_gives_up_now_and_then() {
    let random = |id, step, count| Arc::new(Fake::new(id, 0, step, count).with(|fake| fake.latency = Latency::Random));
    let fakes = [("decoded", random(1, 1, 6)), ("coarse", random(2, 3, 2)), ("made", random(3, 1, 6))];
    let group = PrefetchGroup::builder()
        .member("decoded", fakes[0].1.clone())
        .host_member("coarse", fakes[1].1.clone())
        .host_member("made", fakes[2].1.clone())
        .finish_on_host()
        .depth(3)
        .workers(2)
        .max_bytes(2000)
        .build()
        .unwrap();
    let served = AtomicUsize::new(0);
    let serve = |job: HostJob<Dataset>| {
        if served.fetch_add(1, SeqCst) % 23 == 22 {
            return drop(job);
        }
        let fake = &fakes.iter().find(|(key, _)| *key == job.key()).unwrap().1;
        let data = job.input().map_or_else(|| fake.sample_at(job.time()), |input| Ok((**input).clone()));
        job.complete(data.map(|data| (data, fake.bytes())));
    };
    let taken = serve_host(&group, 2, serve, || consume(&group, &fakes)).unwrap();
    assert!(taken > 20 && served.load(SeqCst) > taken, "{taken} of {served:?}");
}
