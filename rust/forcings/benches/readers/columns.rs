//! Sweeps over static series: tall, long, wide, of vectors, over a window, and in scattered order.

use crate::bare::Bare;
use crate::support::checksum::{bits_of_bytes, bits_of_f64, Checksum};
use crate::support::{generator, median, peer, timed, Row, HOUR, START};
use crate::PEER;
use forcings::array::{ArrayView, DType};
use forcings::dataset::Values;
use forcings::provider::ReaderProvider;
use forcings::readers::{StaticReader, StaticReaderOptions, DEFAULT_READAHEAD};
use forcings::series::{Bound, NewSeries, Owner};
use forcings::store::{CreateOptions, Filter, OpenOptions, Store};
use forcings::time::UnixMillis;
use forcings::{Error, Result};
use serde_json::json;
use std::ops::Range;
use std::path::Path;

/// What a store holds, and how often each way to read it is timed.
pub(crate) struct Case {
    pub(crate) columns: usize,
    pub(crate) steps: usize,
    pub(crate) dtype: DType,
    pub(crate) element_shape: &'static [usize],
    pub(crate) rounds: usize,
    pub(crate) walks: &'static [Walk],
}

/// A way through the steps, timed on one thread and with readahead.
pub(crate) struct Walk {
    pub(crate) order: Order,
    /// First step and number of steps.
    pub(crate) window: Option<(usize, usize)>,
    pub(crate) goals: Option<Goals>,
}

/// The order in which the steps are visited.
#[derive(Clone, Copy)]
pub(crate) enum Order {
    Forward,
    Reverse,
    /// The k-th visit is to step 7919 k modulo the number of steps.
    Scattered,
}

/// How many times faster than the peer, and how many times the bare loop.
pub(crate) struct Goals {
    pub(crate) one_thread: (f64, f64),
    pub(crate) read_ahead: (f64, f64),
}

impl Order {
    fn step(self, visit: usize, steps: usize) -> usize {
        match self {
            Order::Forward => visit,
            Order::Reverse => steps - 1 - visit,
            Order::Scattered => visit * 7919 % steps,
        }
    }

    /// As the peer's request spells it.
    fn name(self) -> &'static str {
        match self {
            Order::Forward => "forward",
            Order::Reverse => "reverse",
            Order::Scattered => "scattered",
        }
    }
}

impl Case {
    /// Writes the store of each side and times all walks.
    pub(crate) fn measure(&self, folder: &Path) -> Result<()> {
        let (ours, theirs) = (folder.join("columns.nc"), folder.join("columns.h5"));
        self.write(&ours)?;
        let arrays = json!({"dtype": self.dtype.name(), "element_shape": self.element_shape});
        let request = json!({
            "operation": "bulk_add", "path": theirs, "columns": self.columns, "length": self.steps, "arrays": arrays,
        });
        let written = peer("infrastore", &request).map(|answer| answer.checksum);
        let bare = Bare::new(&ours, self.dtype.width())?;
        let whole = bare.run(&(0..self.steps))?;
        assert!(written.is_none_or(|written| written == whole), "both sides wrote the same values");
        self.walks.iter().try_for_each(|walk| self.time(walk, &bare, &ours, &theirs))
    }

    fn time(&self, walk: &Walk, bare: &Bare, ours: &Path, theirs: &Path) -> Result<()> {
        let rows = walk.rows(self.steps);
        let [mut bound, mut alone, mut ahead, mut samples, mut peers]: [Vec<f64>; 5] = Default::default();
        for _ in 0..self.rounds {
            let (seconds, expected) = timed(|| bare.run(&rows))?;
            bound.push(seconds);
            for (seconds, readahead) in [(&mut alone, 0), (&mut ahead, DEFAULT_READAHEAD)] {
                let (time, sum) = sweep(ours, walk, readahead)?;
                assert_eq!(sum, expected, "the sweep reads the values of the bare loop");
                seconds.push(time);
            }
            if walk.goals.is_some() {
                let (time, sum) = sweep_samples(ours, walk, self.dtype)?;
                assert_eq!(sum, expected, "samples have the values of the bare loop");
                samples.push(time);
            }
            let mut request = json!({"operation": "static_sweep", "path": theirs, "order": walk.order.name()});
            if let Some((start, extent)) = walk.window {
                request["start"] = start.into();
                request["extent"] = extent.into();
            }
            if let Some(answer) = peer("infrastore", &request) {
                assert_eq!(answer.checksum, expected, "both read the same values");
                peers.push(answer.seconds);
            }
        }
        let (bound, peers) = (median(bound), (!peers.is_empty()).then(|| (PEER, median(peers))));
        let goals = walk.goals.as_ref();
        for (how, seconds, goals) in [
            ("one thread", alone, goals.map(|goals| goals.one_thread)),
            ("read ahead", ahead, goals.map(|goals| goals.read_ahead)),
            ("samples of a provider", samples, None),
        ] {
            if seconds.is_empty() {
                continue;
            }
            let row = Row {
                area: "readers",
                row: &format!("{}, {}, {how}", walk.title(), self.title()),
                ours_s: median(seconds),
                peer: peers,
                bound_s: Some(bound),
                goal_ratio_peer: goals.and(peers).and(goals).map(|(peer, _)| peer),
                goal_ratio_bound: goals.map(|(_, bound)| bound),
            };
            row.print(&[]);
        }
        Ok(())
    }

    fn write(&self, path: &Path) -> Result<()> {
        let elements = self.element_shape.iter().product::<usize>() as u64;
        let column = |series: usize| {
            let places = (0..self.steps as u64).flat_map(|step| (0..elements).map(move |element| (step, element)));
            let mut bytes = Vec::with_capacity(self.steps * elements as usize * self.dtype.width());
            for (step, element) in places {
                let value = generator::value(series as u64, step, element);
                match self.dtype {
                    DType::F32 => bytes.extend((value as f32).to_le_bytes()),
                    _ => bytes.extend(value.to_le_bytes()),
                }
            }
            bytes
        };
        let columns: Vec<Vec<u8>> = (0..self.columns).map(column).collect();
        let shape = [&[self.steps], self.element_shape].concat();
        let series = columns.iter().enumerate().map(|(series, bytes)| {
            let owner = Owner::component(series as i64 + 1, "Generator");
            let values = ArrayView::new(self.dtype, &shape, bytes)?;
            Ok(NewSeries::single(owner, "load", START, HOUR, values))
        });
        let store = Store::create(path, &CreateOptions { overwrite: true, ..CreateOptions::default() })?;
        store.add_bulk(&series.collect::<Result<Vec<_>>>()?)?;
        store.close()
    }

    fn title(&self) -> String {
        let shape = match self.element_shape {
            [] => String::new(),
            shape => format!(" of element shape {shape:?}"),
        };
        format!("{} x {} {}{shape}", self.columns, self.steps, self.dtype.name())
    }
}

impl Walk {
    fn rows(&self, steps: usize) -> Range<usize> {
        self.window.map_or(0..steps, |(start, extent)| start..start + extent)
    }

    fn title(&self) -> String {
        match (self.order, self.window) {
            (Order::Forward, None) => "sweep forward".into(),
            (Order::Reverse, None) => "sweep backward".into(),
            (Order::Scattered, None) => "every step in scattered order".into(),
            (order, Some((start, extent))) => format!("window of {extent} steps from {start} {}", order.name()),
        }
    }
}

/// As [`sweep`], through the samples of a provider over the reader.
fn sweep_samples(path: &Path, walk: &Walk, dtype: DType) -> Result<(f64, String)> {
    let filter = Filter { resolution: Some(HOUR), ..Filter::default() };
    let (seconds, (sum, store)) = timed(|| {
        let store = Store::open(path, &OpenOptions { read_only: true, ..OpenOptions::default() })?;
        let provider = ReaderProvider::of_series(&StaticReader::build(&store, &filter)?)?;
        let (times, mut sum) = (provider.refresh_times(), Checksum::default());
        for visit in 0..times.len() {
            let step = walk.order.step(visit, times.len());
            let data = provider.sample_at(times[step])?;
            match &data.variables[0].values {
                Values::F64(values) => sum.add(step, bits_of_f64(values)),
                _ => return Err(Error::invalid(format!("the samples are of {dtype:?}"))),
            }
        }
        Ok((sum.hex(), store))
    })?;
    store.close()?;
    Ok((seconds, sum))
}

/// The time to open, build and read every step, and the checksum of what was read.
fn sweep(path: &Path, walk: &Walk, readahead: usize) -> Result<(f64, String)> {
    let start = |(start, _)| Bound::Utc(UnixMillis(START.0 + start as i64 * 3_600_000));
    let options = StaticReaderOptions {
        filter: Filter { resolution: Some(HOUR), ..Filter::default() },
        start: walk.window.map(start),
        extent: walk.window.map(|(_, extent)| extent as u64),
    };
    let (seconds, (sum, store)) = timed(|| {
        let store = Store::open(path, &OpenOptions { read_only: true, ..OpenOptions::default() })?;
        let mut reader = StaticReader::with_options(&store, &options)?;
        reader.set_readahead(readahead);
        let mut sum = Checksum::default();
        for visit in 0..reader.len() {
            let step = walk.order.step(visit, reader.len());
            reader.read_step(step)?;
            for (group, what) in reader.groups().iter().enumerate() {
                sum.add(step, bits_of_bytes(reader.values(group), what.dtype().width()));
            }
        }
        Ok((sum.hex(), store))
    })?;
    store.close()?;
    Ok((seconds, sum))
}
