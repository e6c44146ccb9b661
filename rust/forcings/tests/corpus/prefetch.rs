//! Prefetch groups over the corpus: the same samples in every order, and errors at their own epoch.

use crate::files::*;
use crate::scenarios::{open, parse};
use crate::sockets::without_sockets;
use forcings::cache::Cache;
use forcings::dataset::{Dataset, Selection};
use forcings::prefetch::{EpochSample, Order, PrefetchGroup};
use forcings::provider::{Provider, Sampler};
use forcings::{ErrorKind, Result};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Equivalence {
    sources: BTreeMap<String, Source>,
    members: Vec<Member>,
    windows: Vec<Value>,
    orders: Vec<Value>,
    depth: Vec<usize>,
    workers: Vec<usize>,
    max_bytes: Vec<Option<u64>>,
    expect: Expect,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Member {
    key: String,
    source: String,
    records_per_sample: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    boundaries_s: Vec<f64>,
    anchors_s: BTreeMap<String, Vec<f64>>,
    changed_forward: BTreeMap<String, Vec<bool>>,
}

fn order(order: &Value) -> Order {
    match order {
        Value::String(name) if name == "forward" => Order::Forward,
        Value::String(name) if name == "reverse" => Order::Reverse,
        list => Order::Explicit(serde_json::from_value(list.clone()).unwrap()),
    }
}

fn epochs(order: &Order, count: usize) -> Vec<usize> {
    match order {
        Order::Forward => (0..count).collect(),
        Order::Reverse => (0..count).rev().collect(),
        Order::Explicit(list) => list.clone(),
    }
}

impl Equivalence {
    fn members(&self, cache: &Cache) -> Vec<(&Member, Provider)> {
        self.members.iter().map(|m| (m, open(&self.sources[&m.source], m.records_per_sample, cache))).collect()
    }

    fn check(&self, cache: &Cache) {
        for depth in &self.depth {
            for workers in &self.workers {
                for max_bytes in &self.max_bytes {
                    self.check_group(*depth, *workers, *max_bytes, cache);
                }
            }
        }
        self.check_windows(cache);
    }

    fn check_group(&self, depth: usize, workers: usize, max_bytes: Option<u64>, cache: &Cache) {
        for declared in &self.orders {
            let mut builder = PrefetchGroup::builder().depth(depth).workers(workers).max_bytes(max_bytes);
            for (member, provider) in self.members(cache) {
                builder = builder.member(member.key.as_str(), Arc::new(provider));
            }
            let group = builder.build().unwrap();
            assert_eq!(group.boundaries(), self.expect.boundaries_s);
            let order = order(declared);
            let entries = epochs(&order, self.expect.boundaries_s.len());
            let is_forward = matches!(order, Order::Forward);
            group.start(order, None).unwrap();
            let mut before: BTreeMap<&str, f64> = BTreeMap::new();
            for &k in &entries {
                let epoch = group.take(k).unwrap();
                for (member, fresh) in self.members(cache) {
                    let sample = &epoch[member.key.as_str()];
                    let t = self.expect.boundaries_s[k];
                    assert!(sample.data.same_bits(&fresh.refresh(t).unwrap()), "{} in epoch {k}", member.key);
                    assert!(sample.data.same_bits(&fresh.sample_at(t).unwrap()), "{} in epoch {k}", member.key);
                    assert_eq!(sample.anchor, self.expect.anchors_s[&member.key][k]);
                    let changed = before.insert(&member.key, sample.anchor) != Some(sample.anchor);
                    assert_eq!(sample.changed, changed, "{} in epoch {k}", member.key);
                    assert!(!is_forward || changed == self.expect.changed_forward[&member.key][k]);
                }
            }
            assert_eq!(group.take(entries[0]).map(drop).unwrap_err().kind(), ErrorKind::Group);
            let stats = group.stats();
            let taken = (entries.len() * self.members.len()) as u64;
            assert_eq!(stats.samples_decoded + stats.samples_reused, taken);
            assert!(stats.peak_bytes > 0 && stats.decode_s > 0.0);
            assert_eq!(stats.oversize_epochs, if max_bytes == Some(1) { entries.len() as u64 } else { 0 });
            assert!(!is_forward || stats.samples_reused >= 6, "{}", stats.samples_reused);
        }
    }

    /// Each member under each of the windows, in every order, with and without a budget.
    fn check_windows(&self, cache: &Cache) {
        for (seed, window) in parse(&self.windows).iter().enumerate() {
            for declared in &self.orders {
                for max_bytes in [None, Some(1)] {
                    self.check_window(window, order(declared), max_bytes, seed as u64, cache);
                }
            }
        }
    }

    fn check_window(&self, window: &Selection, order: Order, max_bytes: Option<u64>, seed: u64, cache: &Cache) {
        let mut builder = PrefetchGroup::builder().depth(2).workers(4).max_bytes(max_bytes);
        let mut fresh: Vec<(&str, Provider)> = Vec::new();
        for (member, provider) in self.members(cache) {
            let windowed = || provider.with_window(window.clone()).unwrap();
            fresh.push((&member.key, windowed()));
            builder = builder.member(member.key.as_str(), Arc::new(Uneven { provider: windowed(), seed }));
        }
        let group = builder.build().unwrap();
        let entries = epochs(&order, self.expect.boundaries_s.len());
        group.start(order, None).unwrap();
        for k in entries {
            let epoch = group.take(k).unwrap();
            for (key, provider) in &fresh {
                let sample = &epoch[*key];
                let wanted = provider.sample_at(self.expect.boundaries_s[k]).unwrap();
                assert!(sample.data.same_bits(&wanted), "{key} in epoch {k}");
                assert_eq!(sample.anchor, self.expect.anchors_s[*key][k], "{key} in epoch {k}");
            }
        }
    }
}

/// A provider that takes 0 to 3 ms longer, by the time that is asked for, so that workers finish in other orders.
struct Uneven {
    provider: Provider,
    seed: u64,
}

impl Sampler for Uneven {
    fn refresh_times(&self) -> &[f64] {
        self.provider.refresh_times()
    }

    fn anchor(&self, t: f64) -> Result<f64> {
        self.provider.anchor(t)
    }

    fn sample_at(&self, t: f64) -> Result<Dataset> {
        let mixed = (t.to_bits() ^ self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        std::thread::sleep(Duration::from_micros((mixed >> 32) % 3001));
        self.provider.sample_at(t)
    }

    fn calendar(&self) -> Option<&str> {
        Sampler::calendar(&self.provider)
    }
}

/// Runs `prefetch-equivalence` with the members that have one of these numbers of records in a sample.
pub(crate) fn check_equivalence(records: &[usize]) {
    let mut scenario: Equivalence = read("scenarios/prefetch-equivalence.json");
    scenario.members.retain(|member| records.contains(&member.records_per_sample));
    assert!(scenario.members.len() >= 2);
    without_sockets(|| scenario.check(&cache()));
}

#[test]
fn a_group_gives_what_fresh_providers_give() {
    check_equivalence(&[1]);
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Errors {
    source: Source,
    records_per_sample: usize,
    missing_from: usize,
    cancel_after: usize,
    depth: usize,
    workers: usize,
}

impl Errors {
    fn group(&self, cache: &Cache) -> PrefetchGroup {
        let provider = open(&self.source, self.records_per_sample, cache);
        let builder = PrefetchGroup::builder().depth(self.depth).workers(self.workers);
        builder.member("Q", Arc::new(provider)).build().unwrap()
    }

    fn take(&self, group: &PrefetchGroup, epochs: std::ops::Range<usize>) -> Vec<Arc<Dataset>> {
        epochs.map(|k| group.take(k).unwrap()["Q"].data.clone()).collect()
    }

    fn check(&self, cache: &Cache) {
        let kind = |taken: Result<EpochSample>| taken.map(drop).unwrap_err().kind();
        let group = self.group(cache);
        group.start(Order::Forward, None).unwrap();
        let all = self.take(&group, 0..self.missing_from);
        while !group.is_ready(self.missing_from) {
            std::thread::yield_now();
        }
        assert_eq!(kind(group.take(self.missing_from)), ErrorKind::CacheMiss);
        let again = group.take(self.missing_from).map(drop).unwrap_err();
        assert!(again.kind() == ErrorKind::Group && again.to_string().contains("start"), "{again}");

        let group = self.group(cache);
        group.start(Order::Forward, None).unwrap();
        self.take(&group, 0..self.cancel_after);
        group.cancel(false);
        assert_eq!(kind(group.take(self.cancel_after)), ErrorKind::Group);
        group.start(Order::Forward, Some(self.cancel_after)).unwrap();
        let rest = self.take(&group, self.cancel_after..self.missing_from);
        assert!(rest.iter().zip(&all[self.cancel_after..]).all(|(a, b)| a.same_bits(b)));
        assert_eq!(kind(group.take(self.missing_from)), ErrorKind::CacheMiss);
    }
}

#[test]
fn row_112_what_is_missing_is_an_error_of_its_own_epoch() {
    let scenario: Errors = read("scenarios/prefetch-errors.json");
    without_sockets(|| {
        scenario.check(&cache());
        let cold = tempfile::tempdir().unwrap();
        let group = scenario.group(&offline_cache(cold.path()));
        group.start(Order::Forward, None).unwrap();
        assert_eq!(group.take(0).map(drop).unwrap_err().kind(), ErrorKind::CacheMiss);
    });
}
