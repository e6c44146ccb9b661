//! Groups that spill give the same bits, and decode a second time only what was not spilled.

use super::fake::{group_of, Fake, Gate, Latency};
use crate::dataset::{Dataset, DimWindow, Field, Values};
use crate::prefetch::{Order, PrefetchGroup, PrefetchGroupBuilder};
use crate::provider::Sampler;
use crate::{Error, ErrorKind, Result};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::Arc;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Sweeps over 12 epochs forward, in reverse, and in between, and compares each sample with one decoded alone.
fn sweep(group: &PrefetchGroup, fakes: &[(&str, Arc<Fake>)]) {
    let list = vec![3, 3, 0, 11, 0, 1, 2, 2, 6];
    for order in [Order::Forward, Order::Reverse, Order::Explicit(list)] {
        let epochs = order.clone().resolve(12, None).unwrap();
        group.start(order, None).unwrap();
        for k in epochs {
            let epoch = group.take(k).unwrap();
            for (key, fake) in fakes {
                let expected = Fake::new(fake.id(), 0, 1, 12).sample_at(epoch[key].anchor).unwrap();
                assert!(epoch[key].data.same_bits(&expected), "{key} in epoch {k}");
            }
        }
    }
}

fn members() -> [(&'static str, Arc<Fake>); 2] {
    let random = |fake: Fake| Arc::new(fake.with(|fake| fake.latency = Latency::Random));
    [("hourly", random(Fake::new(1, 0, 1, 12))), ("coarse", random(Fake::new(2, 0, 3, 4)))]
}

fn builder(members: &[(&'static str, Arc<Fake>)]) -> PrefetchGroupBuilder {
    members.iter().fold(PrefetchGroup::builder(), |builder, (key, fake)| builder.member(*key, fake.clone()))
}

#[test]
fn every_sample_is_decoded_once_in_every_order() {
    let folder = folder();
    for (workers, depth, max_bytes) in [(0, 2, None), (1, 1, Some(1)), (2, 4, Some(1000)), (4, 3, None)] {
        let members = members();
        let builder = builder(&members).depth(depth).max_bytes(max_bytes).spill(folder.path(), None);
        let group = if workers == 0 { builder.inline(true) } else { builder.workers(workers) }.build().unwrap();
        sweep(&group, &members);
        let calls = members.each_ref().map(|(_, fake)| fake.calls());
        assert_eq!(calls, [12, 4]);
        let (stats, bytes) = (group.stats(), 12 * members[0].1.bytes() + 4 * members[1].1.bytes());
        assert_eq!((stats.samples_spilled, stats.spilled_bytes), (16, bytes));
        assert_eq!(stats.samples_decoded, 16 + stats.samples_restored);
        assert_eq!(group.spill_error(), None);
    }
}

#[test]
fn what_does_not_fit_is_decoded_again() {
    let (folder, members) = (folder(), members());
    let room = 3 * members[0].1.bytes() + 8;
    let group = builder(&members[..1]).spill(folder.path(), room).build().unwrap();
    sweep(&group, &members[..1]);
    let stats = group.stats();
    assert_eq!((stats.samples_spilled, stats.spilled_bytes), (3, 3 * members[0].1.bytes()));
    assert!(
        stats.samples_restored >= 3 && members[0].1.calls() as u64 == stats.samples_decoded - stats.samples_restored
    );
    assert_eq!(group.spill_error(), None);
}

/// Strings, an array without elements, one without dimensions, and a coordinate.
struct Odd;

impl Sampler for Odd {
    fn refresh_times(&self) -> &[f64] {
        &[0.0, 1.0, 2.0]
    }

    fn anchor(&self, t: f64) -> Result<f64> {
        Ok(t.floor())
    }

    fn sample_at(&self, t: f64) -> Result<Dataset> {
        let field = |name: &str, dims: &[&str], shape: &[usize], values| {
            let dims = dims.iter().map(|d| (*d).into()).collect();
            Field { name: name.into(), dims, shape: shape.to_vec(), values, attributes: Arc::new([]) }
        };
        let names = Values::String(vec!["é".repeat(t as usize), String::new(), "\0".into()]);
        Ok(Dataset {
            variables: vec![
                field("name", &["x"], &[3], names),
                field("none", &["y", "x"], &[0, 3], Values::F32(vec![])),
                field("scalar", &[], &[], Values::F64(vec![-t])),
            ],
            coords: vec![field("x", &["x"], &[3], Values::Bool(vec![1, 0, t as u8]))],
            ..Dataset::default()
        })
    }

    fn calendar(&self) -> Option<&str> {
        None
    }
}

#[test]
fn strings_and_empty_arrays_come_back() {
    let folder = folder();
    let group = PrefetchGroup::builder().member("m", Arc::new(Odd)).spill(folder.path(), None).build().unwrap();
    for order in [vec![0, 1, 2], vec![2, 0, 1]] {
        group.start(Order::Explicit(order.clone()), None).unwrap();
        for k in order {
            assert!(group.take(k).unwrap()["m"].data.same_bits(&Odd.sample_at(k as f64).unwrap()));
        }
    }
    assert_eq!((group.stats().samples_spilled, group.stats().samples_restored), (3, 2), "the last one was remembered");
}

#[test]
fn windows_come_back_each() {
    let folder = folder();
    let windows = || [DimWindow::new().range("x", 2, 5), DimWindow::new().indices("x", vec![1, 1, 0])];
    let (builder, fake) = group_of(Fake::new(0, 0, 1, 4));
    let group = builder.windows(windows()).spill(folder.path(), None).build().unwrap();
    for order in [Order::Forward, Order::Reverse] {
        let epochs = order.clone().resolve(4, None).unwrap();
        group.start(order, None).unwrap();
        for k in epochs {
            let taken = group.take(k).unwrap();
            let expected = Fake::new(0, 0, 1, 4).sample_windows_at(k as f64, &windows().map(Into::into)).unwrap();
            let same = taken["m"].data.iter().zip(&expected).all(|(a, b)| a.same_bits(b));
            assert!(taken["m"].data.len() == 2 && same, "epoch {k}");
        }
    }
    assert_eq!((fake.calls(), group.stats().samples_restored), (4, 3));
}

#[test]
fn a_transform_is_called_again_on_what_is_read_back() {
    let (folder, called) = (folder(), Arc::new(AtomicUsize::new(0)));
    let count = called.clone();
    let (builder, fake) = group_of(Fake::new(0, 0, 1, 3));
    let builder = builder.spill(folder.path(), None).transform(move |key, data| {
        count.fetch_add(1, SeqCst);
        (key.to_string(), data.byte_len())
    });
    let group = builder.build().unwrap();
    for order in [vec![0, 1, 2], vec![0, 1, 2]] {
        group.start(Order::Explicit(order), None).unwrap();
        assert!((0..3).all(|k| *group.take(k).unwrap()["m"].data == ("m".into(), fake.bytes() as usize)));
    }
    assert_eq!((fake.calls(), called.load(SeqCst)), (3, 6));
}

#[test]
fn errors_are_not_spilled() {
    let folder = folder();
    let (builder, fake) = group_of(Fake::new(0, 0, 1, 3).with(|fake| fake.failing = vec![1.0]));
    let group = builder.depth(1).spill(folder.path(), None).build().unwrap();
    for calls in [2, 3] {
        group.start(Order::Forward, None).unwrap();
        group.take(0).unwrap();
        assert_eq!(group.take(1).unwrap_err().to_string(), "fake 0 has no data at 1");
        assert_eq!(fake.calls(), calls);
    }
    let late = PrefetchGroup::builder().member("a", Arc::new(Fake::new(0, 0, 1, 2)));
    let late = late.member("b", Arc::new(Fake::new(1, 1, 1, 1))).spill(folder.path(), None).build().unwrap();
    late.start(Order::Forward, None).unwrap();
    assert_eq!(late.take(0).unwrap_err().kind(), ErrorKind::OffGrid, "as without");
}

#[test]
fn orders_that_are_replaced_while_samples_are_written() {
    let (folder, members) = (folder(), members());
    let group = builder(&members).depth(3).workers(3).spill(folder.path(), None).build().unwrap();
    for round in 0..40usize {
        let order: Vec<usize> = (0..12).map(|i| (i * (2 * (round % 2) + 5) + round) % 12).collect();
        group.start(Order::Explicit(order.clone()), None).unwrap();
        for &k in &order[..round % 5] {
            let epoch = group.take(k).unwrap();
            for (key, fake) in &members {
                let expected = Fake::new(fake.id(), 0, 1, 12).sample_at(epoch[key].anchor).unwrap();
                assert!(epoch[key].data.same_bits(&expected));
            }
        }
        if round % 7 == 0 {
            group.cancel(round % 2 == 0);
        }
    }
    group.close();
    assert!(group.stats().samples_restored > 0);
}

#[test]
fn a_discarded_sample_is_there_for_the_next_order() {
    let (folder, gate) = (folder(), Arc::new(Gate::default()));
    let (builder, fake) = group_of(Fake::new(0, 0, 1, 3).with(|fake| fake.latency = Latency::Held(gate.clone())));
    let group = builder.depth(1).spill(folder.path(), None).build().unwrap();
    group.start(Order::Forward, None).unwrap();
    gate.await_waiting(1);
    group.cancel(false);
    gate.open();
    group.cancel(true);
    group.start(Order::Explicit(vec![0]), None).unwrap();
    group.take(0).unwrap();
    assert_eq!((fake.calls(), group.stats().samples_restored), (1, 1));
}

#[test]
fn the_folder_has_to_exist_and_stays_empty() {
    let (folder, members) = (folder(), members());
    let missing = folder.path().join("missing");
    let error = builder(&members).spill(&missing, None).build().unwrap_err();
    assert!(matches!(&error, Error::Io { path, .. } if *path == missing), "{error}");
    let entries = |path: &Path| std::fs::read_dir(path).unwrap().count();
    let group = builder(&members).spill(folder.path(), None).build().unwrap();
    sweep(&group, &members);
    assert_eq!(entries(folder.path()), 0);
}

#[test]
fn samples_of_the_host_are_not_spilled_and_what_it_finishes_is() {
    let folder = folder();
    let (decoded, made) = (Arc::new(Fake::new(0, 0, 1, 2)), Arc::new(Fake::new(1, 0, 1, 2)));
    let builder = PrefetchGroup::builder().member("decoded", decoded.clone()).host_member("made", made.clone());
    let group = builder.finish_on_host().spill(folder.path(), None).inline(true).build().unwrap();
    for order in [vec![0, 1], vec![0, 1]] {
        group.start(Order::Explicit(order), None).unwrap();
        for k in 0..2 {
            while !group.is_ready(k) {
                group.decode_one().unwrap();
                while let Some(job) = group.next_host_job() {
                    let data = job.input().map(|input| (**input).clone());
                    job.complete(Ok((data.unwrap_or_default(), 1)));
                }
            }
            assert!(group.take(k).unwrap()["decoded"].data.same_bits(&decoded.sample_at(k as f64).unwrap()));
        }
    }
    let stats = group.stats();
    assert_eq!((stats.samples_spilled, stats.samples_restored, made.calls()), (2, 1, 0), "the last one was remembered");
}
