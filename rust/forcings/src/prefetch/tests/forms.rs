//! Whatever form the samples take, they are what the sampler gives when it is asked alone: in every order, with every
//! depth, number of workers and budget.

use super::fake::{serve_host, Fake, Latency};
use super::gate::{members, orders};
use crate::dataset::{Dataset, DimWindow, Selection};
use crate::prefetch::{HostJob, Order, PrefetchGroup, PrefetchGroupBuilder};
use crate::provider::Sampler;
use std::sync::Arc;

/// Calls `test` with builders of every depth, number of workers and budget over the members; those of `host` are the
/// host's.
fn each_setting(host: &[&str], mut test: impl FnMut(PrefetchGroupBuilder)) {
    let one_slot: u64 = members(&Latency::None).iter().map(|(_, fake)| fake.bytes()).sum();
    for max_bytes in [None, Some(1), Some(2 * one_slot)] {
        for (depth, workers) in [(1, 0), (1, 1), (2, 2), (3, 0), (3, 4), (4, 3)] {
            let builder = PrefetchGroup::builder().depth(depth).max_bytes(max_bytes);
            let builder = if workers == 0 { builder.inline(true) } else { builder.workers(workers) };
            test(members(&Latency::Random).into_iter().fold(builder, |builder, (key, fake)| {
                let fake = Arc::new(fake);
                if host.contains(&key) {
                    builder.host_member(key, fake)
                } else {
                    builder.member(key, fake)
                }
            }));
        }
    }
}

/// Takes every order, and compares with what `same` finds in the sampler.
fn check<T: Send + Sync>(group: &PrefetchGroup<T>, same: impl Fn(&str, &T, &Fake, f64) -> bool) {
    let fresh = members(&Latency::None);
    for (order, epochs) in orders() {
        group.start(order, None).unwrap();
        for k in epochs {
            let (epoch, t) = (group.take(k).unwrap(), group.boundaries()[k]);
            for (key, fake) in &fresh {
                assert!(same(key, &epoch[key].data, fake, t), "{key} in epoch {k}");
                assert_eq!(epoch[key].anchor, fake.anchor(t).unwrap());
            }
        }
    }
}

fn windows() -> [Selection; 2] {
    [DimWindow::new().range("x", 3, 9).into(), DimWindow::new().indices("x", vec![4, 0, 0]).into()]
}

fn all_same(a: &[Dataset], b: &[Dataset]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same_bits(b))
}

/// A sample whose fields are in reverse.
fn reversed(data: &Dataset) -> Dataset {
    let mut data = data.clone();
    data.variables.reverse();
    data
}

#[test]
fn windows_are_those_of_the_sampler() {
    each_setting(&[], |builder| {
        let group = builder.windows(windows()).build().unwrap();
        check(&group, |_, data, fake, t| all_same(data, &fake.sample_windows_at(t, &windows()).unwrap()));
    });
}

#[test]
fn transforms_are_of_what_the_sampler_gives() {
    each_setting(&[], |builder| {
        let group = builder.transform(|key, data| (key.to_string(), reversed(&data))).build().unwrap();
        let expected = |fake: &Fake, t| reversed(&fake.sample_at(t).unwrap());
        check(&group, |key, (own, data), fake, t| own == key && data.same_bits(&expected(fake, t)));
    });
    each_setting(&[], |builder| {
        let group = builder.windows(windows()).try_transform(|_, mut list| Ok(list.pop())).build().unwrap();
        let expected = |fake: &Fake, t| fake.sample_at(t).unwrap().cut(&windows()[1]).unwrap();
        check(&group, |_, data, fake, t| data.as_ref().is_some_and(|data| data.same_bits(&expected(fake, t))));
    });
}

#[test]
fn a_host_that_makes_what_workers_would_gives_the_same() {
    let fakes = members(&Latency::Random);
    let serve = |job: HostJob<Dataset>| {
        let fake = &fakes.iter().find(|(key, _)| *key == job.key()).unwrap().1;
        let sample = fake.sample_at(job.time()).map(|data| (data, fake.bytes()));
        job.complete(sample);
    };
    for host in [&["slow"][..], &["hourly", "coarse", "slow"]] {
        each_setting(host, |builder| {
            let group = builder.build().unwrap();
            let same = |_: &str, data: &Dataset, fake: &Fake, t| data.same_bits(&fake.sample_at(t).unwrap());
            serve_host(&group, 1, serve, || check(&group, same));
        });
    }
}

#[test]
fn a_host_that_finishes_gets_what_workers_decoded() {
    let serve = |job: HostJob<Dataset>| {
        let data = reversed(job.input().expect("all members are decoded"));
        job.complete(Ok((data, 7)));
    };
    each_setting(&[], |builder| {
        let group = builder.finish_on_host().build().unwrap();
        let same = |_: &str, data: &Dataset, fake: &Fake, t| data.same_bits(&reversed(&fake.sample_at(t).unwrap()));
        serve_host(&group, 2, serve, || check(&group, same));
    });
}

#[test]
fn clipped_epochs_are_those_of_the_sampler_too() {
    each_setting(&[], |builder| {
        let group = builder.clip(1.5, 6.0).build().unwrap();
        assert_eq!(group.boundaries(), [1.5, 2.0, 3.0, 4.0, 5.0]);
        group.start(Order::Reverse, None).unwrap();
        for k in (0..5).rev() {
            let (epoch, t) = (group.take(k).unwrap(), group.boundaries()[k]);
            for (key, fake) in members(&Latency::None) {
                assert!(epoch[key].data.same_bits(&fake.sample_at(t).unwrap()), "{key} in epoch {k}");
            }
        }
    });
}

/// What threads share.
#[allow(dead_code, reason = "it is checked when it is compiled")]
fn groups_and_their_parts_go_between_threads() {
    fn both<T: Send + Sync>() {}
    both::<PrefetchGroup>();
    both::<PrefetchGroup<Vec<Dataset>>>();
    both::<PrefetchGroup<std::sync::atomic::AtomicU64>>();
    both::<crate::prefetch::EpochSample>();
    both::<crate::prefetch::Sample<Vec<Dataset>>>();
    both::<HostJob<Dataset>>();
    both::<crate::provider::Provider>();
    both::<Arc<dyn Sampler>>();
}
