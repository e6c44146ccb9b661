//! Sweeps and whole-series reads. Every value that is read enters the checksum, inside the timed part.

use chrono::Duration;
use infrastore_core::{ListFilter, ReadWindow, Store, TimeSeriesType};
use peer_common::{bits_of_bytes, Failure, Run};
use serde::Deserialize;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StaticSweep {
    path: PathBuf,
    #[serde(default)]
    order: Order,
    /// First step of a window that the reader is built over.
    start: Option<usize>,
    /// Steps of that window; to the end unless given.
    extent: Option<usize>,
}

/// The order in which the steps are visited.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Order {
    #[default]
    Forward,
    Reverse,
    /// The k-th visit is to step 7919 k modulo the number of steps.
    Scattered,
}

impl Order {
    fn step(self, visit: usize, length: usize) -> usize {
        match self {
            Order::Forward => visit,
            Order::Reverse => length - 1 - visit,
            Order::Scattered => visit * 7919 % length,
        }
    }
}

pub fn static_sweep(request: &StaticSweep) -> Result<Run, Failure> {
    let mut run = Run::default();
    let filter = ListFilter::new().resolution(Duration::hours(1));
    let store = run.part("open", |_| Store::open(&request.path, true))?;
    let mut reader = run.part("build", |_| match (request.start, request.extent) {
        (None, None) => Ok::<_, Failure>(store.build_static_reader(filter)?),
        (start, extent) => {
            let first = crate::arrays::start() + Duration::hours(i64::try_from(start.unwrap_or(0))?);
            let window = extent.into_iter().fold(ReadWindow::from(first), ReadWindow::with_len);
            Ok(store.build_static_reader_over(filter, window)?)
        }
    })?;
    let length = reader.length();
    if matches!(request.order, Order::Scattered) && length % 7919 == 0 {
        return Err("a multiple of 7919 steps cannot be visited in scattered order".into());
    }
    let mut bytes = 0;
    run.part("sweep", |run| {
        for visit in 0..length {
            let step = request.order.step(visit, length);
            let at = reader.timestamp_at(step)?;
            store.static_read(&mut reader, at)?;
            for group in reader.groups() {
                bytes += group.values().len();
                run.checksum.add(step, bits_of_bytes(group.values(), group.dtype().size()));
            }
        }
        Ok::<_, Failure>(())
    })?;
    let columns: usize = reader.groups().iter().map(|group| group.num_columns()).sum();
    run.facts = vec![("columns", columns as u64), ("steps", length as u64), ("value_bytes", bytes as u64)];
    Ok(run.total(&["open", "build", "sweep"]))
}

pub fn forecast_sweep(path: &Path) -> Result<Run, Failure> {
    let mut run = Run::default();
    let filter = ListFilter::new().time_series_type(TimeSeriesType::Deterministic).resolution(Duration::hours(1));
    let store = run.part("open", |_| Store::open(path, true))?;
    let mut reader = run.part("build", |_| store.build_forecast_reader(filter))?;
    let mut bytes = 0;
    run.part("sweep", |run| {
        for window in 0..reader.count() {
            let at = reader.timestamp_at(window)?;
            store.forecast_read(&mut reader, at)?;
            for entry in 0..reader.entries().len() {
                let slot = reader.entry_slot(entry);
                bytes += slot.window().len();
                run.checksum.add(window, bits_of_bytes(slot.window(), slot.dtype().size()));
            }
        }
        Ok::<_, Failure>(())
    })?;
    run.facts = vec![
        ("series", reader.entries().len() as u64),
        ("windows", reader.count() as u64),
        ("value_bytes", bytes as u64),
    ];
    Ok(run.total(&["open", "build", "sweep"]))
}

pub fn read_many(path: &Path, count: usize) -> Result<Run, Failure> {
    let mut run = Run::default();
    let store = run.part("open", |_| Store::open(path, true))?;
    let mut rows = run.part("list", |_| store.list_metadata(ListFilter::new()))?;
    rows.sort_by_key(|row| row.owner_id);
    if rows.len() < count {
        return Err(format!("{} holds {} series, fewer than {count}", path.display(), rows.len()).into());
    }
    let ids = (0..count).map(|k| rows[k * rows.len() / count].id.ok_or("a row without an id"));
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    let mut bytes = 0;
    run.part("read", |run| {
        for (k, series) in store.read_by_ids(&ids, ReadWindow::full())?.iter().enumerate() {
            let array = series.array();
            bytes += array.bytes.len();
            run.checksum.add(k, bits_of_bytes(&array.bytes, array.dtype.size()));
        }
        Ok::<_, Failure>(())
    })?;
    run.facts = vec![("series", count as u64), ("value_bytes", bytes as u64)];
    Ok(run.total(&["read"]))
}
