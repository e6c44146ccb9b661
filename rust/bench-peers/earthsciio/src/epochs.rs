//! Every epoch of a folder of files, by one of the crate's three ways to read them.

use earthsciio::{
    ArrayData, Cache, DataSource, DimWindow, NativeField, Order, PrefetchGroup, Provider, SourceTemporal,
};
use peer_common::{bits_of_f64, Failure, Run};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use time::OffsetDateTime;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Epochs {
    operation: Operation,
    /// The files, named `epochs_20240101_03.nc` after their first record.
    folder: PathBuf,
    /// Where the crate keeps its copies of the files; filled before the clock starts.
    cache: PathBuf,
    records: u32,
    records_per_file: u32,
    variables: Vec<String>,
    /// Index ranges by dimension, past the end exclusive.
    #[serde(default)]
    window: BTreeMap<String, (usize, usize)>,
    #[serde(default)]
    reverse: bool,
    /// Of a group.
    #[serde(default = "one")]
    workers: usize,
    #[serde(default = "two")]
    depth: usize,
    /// Whether the consumer of a group sums what it takes.
    #[serde(default = "yes")]
    checksum: bool,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Operation {
    /// `refresh` of one provider at every epoch: each file is decoded whole, once.
    Refresh,
    /// `sample_at` at every epoch: the covering file is decoded anew each time.
    SampleAt,
    /// A prefetch group with one provider, taken in order.
    Group,
}

fn one() -> usize {
    1
}

fn two() -> usize {
    2
}

fn yes() -> bool {
    true
}

const STEP: time::Duration = time::Duration::hours(3);

pub fn answer(epochs: &Epochs) -> Result<Run, Failure> {
    match epochs.operation {
        Operation::Refresh => one_by_one(epochs, |provider, at| {
            provider.refresh(at)?.ok_or_else(|| format!("no new record at {at}").into())
        }),
        Operation::SampleAt => one_by_one(epochs, |provider, at| Ok(provider.sample_at(at)?.variables)),
        Operation::Group => group(epochs),
    }
}

fn one_by_one(
    epochs: &Epochs,
    read: impl Fn(&mut Provider, OffsetDateTime) -> Result<HashMap<String, NativeField>, Failure>,
) -> Result<Run, Failure> {
    let mut run = Run::default();
    let mut provider = epochs.provider(&mut run)?;
    let times = provider.refresh_times();
    let mut decode = 0.0;
    let mut bytes = 0;
    for epoch in epochs.visits(times.len()) {
        let at = OffsetDateTime::from_unix_timestamp(times[epoch] as i64)?;
        let begin = Instant::now();
        let fields = read(&mut provider, at)?;
        decode += begin.elapsed().as_secs_f64();
        bytes += epochs.count(&mut run, epoch, &fields)?;
    }
    run.parts.push(("decode", decode));
    run.facts = vec![("epochs", times.len() as u64), ("value_bytes", bytes)];
    Ok(run.total(&["decode"]))
}

fn group(epochs: &Epochs) -> Result<Run, Failure> {
    let mut run = Run::default();
    let provider = Arc::new(epochs.provider(&mut run)?);
    let mut group =
        PrefetchGroup::builder().member("files", provider).workers(epochs.workers).depth(epochs.depth).build()?;
    let count = group.boundaries().len();
    let mut bytes = 0;
    run.part("sweep", |run| {
        group.start(if epochs.reverse { Order::Reverse } else { Order::Forward }, None)?;
        for epoch in epochs.visits(count) {
            let sample = group.take(epoch)?;
            let sample = sample.get("files").ok_or("the group lost its member")?;
            if epochs.checksum {
                bytes += epochs.count(run, epoch, &sample.data.variables)?;
            }
        }
        Ok::<_, Failure>(())
    })?;
    let stats = group.stats();
    run.parts.push(("waited", stats.waited_s));
    run.parts.push(("decode", stats.decode_s));
    run.facts = vec![("epochs", count as u64), ("value_bytes", bytes), ("peak_slot_bytes", stats.peak_bytes)];
    Ok(run.total(&["sweep"]))
}

impl Epochs {
    /// A provider whose files are all in its cache and verified, which the crate does once for each process.
    fn provider(&self, run: &mut Run) -> Result<Provider, Failure> {
        let start = OffsetDateTime::from_unix_timestamp(1_704_067_200)?;
        let end = start + STEP * self.records;
        let temporal = SourceTemporal::new(start, STEP, STEP * self.records_per_file).end(end);
        let folder = self.folder.canonicalize()?;
        let url = format!("file://{}/epochs_[year][month][day]_[hour].nc", folder.display());
        let source = DataSource::new("epochs", "netcdf", url).variables(&self.variables).temporal(temporal);
        let cache = Arc::new(Cache::builder().data_dir(&self.cache).build()?);
        let mut provider = Provider::new(source, cache, Some((start, end)))?;
        run.part("fetch", |_| provider.prefetch((start, end)))?;
        if self.window.is_empty() {
            return Ok(provider);
        }
        let window = self
            .window
            .iter()
            .fold(DimWindow::new(), |window, (dim, &(first, past))| window.range(dim.clone(), first, past));
        Ok(provider.with_window(window)?)
    }

    fn visits(&self, count: usize) -> Box<dyn Iterator<Item = usize>> {
        if self.reverse {
            Box::new((0..count).rev())
        } else {
            Box::new(0..count)
        }
    }

    /// Adds an epoch's fields to the checksum; returns their bytes.
    fn count(&self, run: &mut Run, epoch: usize, fields: &HashMap<String, NativeField>) -> Result<u64, Failure> {
        let mut bytes = 0;
        for name in &self.variables {
            match fields.get(name).map(|field| &field.data) {
                Some(ArrayData::F64(values)) => {
                    run.checksum.add(epoch, bits_of_f64(values));
                    bytes += std::mem::size_of_val(values.as_slice()) as u64;
                }
                Some(_) => return Err(format!("{name} is not a field of doubles").into()),
                None => return Err(format!("epoch {epoch} has no {name}").into()),
            }
        }
        Ok(bytes)
    }
}
