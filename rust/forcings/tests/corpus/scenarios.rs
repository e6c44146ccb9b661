//! Calls over series of files: samples between the times, and several windows at once.

use crate::expected::Expected;
use crate::files::*;
use crate::sockets::without_sockets;
use forcings::cache::Cache;
use forcings::dataset::{AxisSelect, Dataset, Field, Selection, Values};
use forcings::provider::{Provider, ProviderOptions};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Runs {
    runs: Vec<Run>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run {
    source: Source,
    records_per_sample: usize,
    samples: Vec<ExpectedSample>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedSample {
    t: f64,
    anchor_s: f64,
    expected: Expected,
}

impl Runs {
    /// Checks every sample, and that `refresh` and another order give the same.
    pub(crate) fn check(&self, cache: &Cache) {
        for run in &self.runs {
            let provider = open(&run.source, run.records_per_sample, cache);
            for sample in run.samples.iter().chain(run.samples.iter().rev()) {
                assert_eq!(provider.anchor(sample.t).unwrap(), sample.anchor_s);
                let data = provider.sample_at(sample.t).unwrap();
                sample.expected.check(&format!("{} at {}", run.source.variables.join(", "), sample.t), &data);
                assert!(provider.refresh(sample.t).unwrap().same_bits(&data));
            }
        }
    }
}

/// A provider of a source, from the cache.
pub(crate) fn open(source: &Source, records_per_sample: usize, cache: &Cache) -> Provider {
    let options = ProviderOptions {
        format: source.format.clone(),
        cache: Some(cache.clone()),
        times: Some(source.refresh_times_s.clone()),
        time_dim: Some(source.time_dim.clone()),
        variables: source.variables.clone(),
        records_per_sample,
        ..ProviderOptions::of_files(&source.urls)
    };
    let provider = Provider::open(options).unwrap();
    assert_eq!(provider.refresh_times(), source.refresh_times_s);
    provider
}

#[test]
fn records_of_a_series_of_files() {
    let runs: Runs = read("scenarios/records.json");
    without_sockets(|| runs.check(&cache()));
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MultiWindow {
    r#const: Constant,
    discrete: Discrete,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Constant {
    format: String,
    url: String,
    variables: Vec<String>,
    windows: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Discrete {
    source: Source,
    records_per_sample: Vec<usize>,
    windows: Vec<Value>,
}

/// Runs `multi-window` for these numbers of records in a sample.
pub(crate) fn check_windows(records: &[usize], cache: &Cache) {
    let MultiWindow { r#const, discrete } = read("scenarios/multi-window.json");
    let constant = ProviderOptions {
        format: r#const.format,
        cache: Some(cache.clone()),
        times: Some(vec![0.0]),
        variables: r#const.variables,
        ..ProviderOptions::of_files([r#const.url])
    };
    compare_windows(&Provider::open(constant).unwrap(), &parse(&r#const.windows));
    assert!(records.iter().all(|n| discrete.records_per_sample.contains(n)));
    for n in records {
        compare_windows(&open(&discrete.source, *n, cache), &parse(&discrete.windows));
    }
}

#[test]
fn several_windows_of_one_sample() {
    without_sockets(|| check_windows(&[1], &cache()));
}

pub(crate) fn parse(windows: &[Value]) -> Vec<Selection> {
    windows.iter().map(|w| Selection::from_value(w).unwrap()).collect()
}

fn compare_windows(provider: &Provider, windows: &[Selection]) {
    for &t in provider.refresh_times() {
        let whole = provider.sample_at(t).unwrap();
        let together = provider.sample_windows_at(t, windows).unwrap();
        assert_eq!(together.len(), windows.len());
        for (sample, window) in together.iter().zip(windows) {
            let alone = provider.with_window(window.clone()).unwrap().sample_at(t).unwrap();
            assert!(sample.same_bits(&alone), "{window:?} at {t}");
            assert!(sample.same_bits(&sliced(&whole, window)), "{window:?} at {t}");
        }
    }
}

fn sliced(whole: &Dataset, window: &Selection) -> Dataset {
    let variables = whole.variables.iter().map(|f| slice(f, window)).collect();
    let coords = whole.coords.iter().map(|f| slice(f, window).into()).collect();
    Dataset { variables, coords, attributes: whole.attributes.clone() }
}

/// One element after the other: the position of each in the result, as digits, tells its position in the whole.
fn slice(field: &Field, window: &Selection) -> Field {
    let Selection::Named(dims) = window else { panic!("{window:?} names no dimensions") };
    let taken = |(dim, extent): (&std::sync::Arc<str>, &usize)| -> Vec<usize> {
        match dims.get(&**dim) {
            None | Some(AxisSelect::All) => (0..*extent).collect(),
            Some(AxisSelect::Indices(list)) => list.iter().map(|i| *i as usize).collect(),
            Some(AxisSelect::Slice { start, stop, step }) => {
                (*start as usize..*stop as usize).step_by(*step as usize).collect()
            }
        }
    };
    let taken: Vec<Vec<usize>> = field.dims.iter().zip(&field.shape).map(taken).collect();
    let shape: Vec<usize> = taken.iter().map(Vec::len).collect();
    let from = |mut at: usize| {
        let (mut from, mut stride) = (0, 1);
        for axis in (0..shape.len()).rev() {
            from += taken[axis][at % shape[axis]] * stride;
            at /= shape[axis];
            stride *= field.shape[axis];
        }
        from
    };
    let places: Vec<usize> = (0..shape.iter().product()).map(from).collect();
    let values = match &field.values {
        Values::F64(v) => Values::F64(places.iter().map(|i| v[*i]).collect()),
        Values::I32(v) => Values::I32(places.iter().map(|i| v[*i]).collect()),
        Values::String(v) => Values::String(places.iter().map(|i| v[*i].clone()).collect()),
        other => panic!("{:?} does not occur", other.field_type()),
    };
    Field { shape, values, ..field.clone() }
}
