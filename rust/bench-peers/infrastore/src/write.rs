//! Writing series and forecasts. The arrays are made before the clock starts.

use crate::arrays::{start, Arrays};
use chrono::Duration;
use infrastore_core::{
    AddRequest, CatalogMode, Deterministic, OwnerCategory, SingleTimeSeries, Store, TimeSeriesData, TransformPolicy,
    TypedArray,
};
use peer_common::{bits_of_bytes, Checksum, Failure, Run};
use serde::Deserialize;
use std::path::{Path, PathBuf};

const HOUR: Duration = Duration::hours(1);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddForecasts {
    path: PathBuf,
    series: usize,
    windows: usize,
    /// Steps of a window, which is also the distance of two windows.
    horizon: usize,
    #[serde(default)]
    derived: bool,
    #[serde(default)]
    arrays: Arrays,
}

pub fn bulk_add(path: &Path, columns: usize, length: usize, arrays: &Arrays) -> Result<Run, Failure> {
    let mut checksum = Checksum::default();
    let mut items = Vec::with_capacity(columns);
    for series in 0..columns {
        let array = arrays.array(series, &[length], |step| step)?;
        add_steps(&mut checksum, &array);
        items.push(single(series, array));
    }
    write(path, arrays, checksum, |store| Ok(store.add_time_series_bulk(items)?.len()))
}

pub fn add_forecasts(request: &AddForecasts) -> Result<Run, Failure> {
    let AddForecasts { path, series, windows, horizon, derived, arrays } = request;
    let span = Duration::hours(i64::try_from(*horizon)?);
    let mut checksum = Checksum::default();
    let mut items = Vec::with_capacity(*series);
    for series in 0..*series {
        if *derived {
            let array = arrays.array(series, &[horizon * windows], |step| step)?;
            add_groups(&mut checksum, &array, *horizon);
            items.push(single(series, array));
        } else {
            // The array is [step of the window, window].
            let array = arrays.array(series, &[*horizon, *windows], |k| (k % windows) * horizon + k / windows)?;
            let width = array.dtype.size();
            let entry = width * array.shape[2..].iter().product::<usize>();
            for (k, bytes) in array.bytes.chunks_exact(entry.max(1)).enumerate() {
                checksum.add(k % windows, bits_of_bytes(bytes, width));
            }
            let forecast = Deterministic::new(start(), HOUR, span, span, *windows, array, "load")?;
            items.push(component(series, TimeSeriesData::Deterministic(forecast)));
        }
    }
    write(path, arrays, checksum, |store| {
        let added = store.add_time_series_bulk(items)?.len();
        if *derived {
            store.transform_single_time_series(span, span, None, None, TransformPolicy::default())?;
        }
        Ok(added)
    })
}

/// A series of owner `series + 1`.
pub fn single(series: usize, array: TypedArray) -> AddRequest {
    component(series, TimeSeriesData::SingleTimeSeries(SingleTimeSeries::new(start(), HOUR, array, "load")))
}

fn component(series: usize, data: TimeSeriesData) -> AddRequest {
    AddRequest::new(series as i64 + 1, "Generator", OwnerCategory::Component, data)
}

fn add_steps(checksum: &mut Checksum, array: &TypedArray) {
    add_groups(checksum, array, 1);
}

/// Adds the elements of every `steps` successive steps under one index.
fn add_groups(checksum: &mut Checksum, array: &TypedArray, steps: usize) {
    let width = array.dtype.size();
    let group = steps * width * array.element_shape().iter().product::<usize>();
    for (index, bytes) in array.bytes.chunks_exact(group.max(1)).enumerate() {
        checksum.add(index, bits_of_bytes(bytes, width));
    }
}

/// Times `add` on a new store, and the flush that makes its files complete. A store at `path` is replaced.
fn write(
    path: &Path,
    arrays: &Arrays,
    checksum: Checksum,
    add: impl FnOnce(&mut Store) -> Result<usize, Failure>,
) -> Result<Run, Failure> {
    let mut run = Run { checksum, ..Run::default() };
    let policy = arrays.compression.policy();
    let mut store = run.part("create", |_| Store::create_replacing(path, policy, CatalogMode::Attached))?;
    let added = run.part("add", |_| add(&mut store))?;
    run.part("flush", |_| store.flush())?;
    run.part("close", |_| drop(store));
    run.facts.push(("series", added as u64));
    run.facts.push(("file_bytes", std::fs::metadata(path)?.len()));
    Ok(run.total(&["add", "flush"]))
}
