//! Sweeps over all epochs of a folder: one by one on one thread and on two, and through a prefetch group.

use crate::bare::Bare;
use crate::peers::{self, Way};
use crate::support::checksum::{bits_of_f64, Checksum};
use crate::support::{median, timed, Answer, Row};
use forcings::dataset::{AxisSelect, Dataset, Selection, Values};
use forcings::prefetch::{Order, PrefetchGroup};
use forcings::provider::{Provider, ProviderOptions};
use forcings::{Error, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The data variables of the files.
pub(crate) const VARIABLES: [&str; 5] = ["U", "V", "T", "QV", "OMEGA"];

/// Dimensions with the first index and the one past the last; empty for everything.
pub(crate) type Window = &'static [(&'static str, u64, u64)];

const ROUNDS: usize = 5;

/// What is read of which files.
pub(crate) struct Case {
    pub(crate) title: &'static str,
    /// Of a provider: `netcdf`, or `zarr` for one store of all records.
    pub(crate) format: &'static str,
    /// Within the folder of the benchmark's data.
    pub(crate) folder: &'static str,
    pub(crate) records_per_file: usize,
    pub(crate) window: Window,
    pub(crate) goals: Option<Goals>,
}

/// How many times faster than each peer, and how many times the bare loop.
pub(crate) struct Goals {
    pub(crate) earthsciio: f64,
    pub(crate) python: f64,
    pub(crate) bound: f64,
}

/// The times of one way to read, round by round.
#[derive(Default)]
struct Times {
    ours: Vec<f64>,
    bound: Vec<f64>,
    /// Of everything, where a window is read.
    whole: Vec<f64>,
    earthsciio: Vec<Answer>,
    python: Vec<Answer>,
}

impl Case {
    /// The files, in the order of time.
    ///
    /// # Errors
    /// `Io` when the folder cannot be read.
    pub(crate) fn files(&self, data: &Path) -> Result<Vec<PathBuf>> {
        let folder = data.join(self.folder);
        let io = |e| Error::io(&folder, e);
        let found = std::fs::read_dir(&folder).map_err(io)?.map(|entry| entry.map(|e| e.path()).map_err(io));
        let mut files = found.collect::<Result<Vec<_>>>()?;
        let extension = if self.format == "zarr" { "zarr" } else { "nc" };
        files.retain(|file| file.extension().is_some_and(|found| found == extension));
        files.sort();
        Ok(files)
    }

    /// Times all ways, round by round, and prints their rows.
    ///
    /// # Errors
    /// Those of the files.
    pub(crate) fn measure(&self, data: &Path) -> Result<()> {
        let files = self.files(data)?;
        // The chunks of a store are files, and other codecs made them.
        let has_bound = self.format != "zarr";
        let bare = has_bound.then(|| Bare::new(&files, self.window)).transpose()?;
        let share = match &bare {
            Some(bare) => bare.bytes() as f64 / Bare::new(&files, &[])?.bytes() as f64,
            None => 1.0,
        };
        let [mut one, mut two, mut grouped]: [Times; 3] = Default::default();
        let (mut epochs, mut shape) = (0, Vec::new());
        for _ in 0..ROUNDS {
            for (threads, times) in [(1, &mut one), (2, &mut two)] {
                if let Some(bare) = &bare {
                    times.bound.push(timed(|| bare.run(threads))?.0);
                }
                let sweep = Sweep::run(&self.options(&files, self.window, threads))?;
                times.ours.push(sweep.seconds);
                (epochs, shape) = (sweep.epochs, sweep.shape);
                if !self.window.is_empty() {
                    times.whole.push(Sweep::run(&self.options(&files, &[], threads))?.seconds);
                }
                if self.format != "zarr" {
                    let folder = data.join(self.folder);
                    let way = if threads == 1 { Way::OneByOne } else { Way::Group { workers: threads } };
                    let answer = peers::earthsciio(&folder, epochs, self.records_per_file, self.window, way);
                    // A group is not asked to sum.
                    let same = |a: &Answer| threads > 1 || a.checksum == sweep.checksum;
                    assert!(answer.as_ref().is_none_or(same), "earthsciio reads the same");
                    times.earthsciio.extend(answer);
                }
                let answer = peers::python(&files, self.window);
                assert!(answer.as_ref().is_none_or(|a| a.checksum == sweep.checksum), "Python reads the same");
                times.python.extend(answer);
            }
            let (seconds, ()) = timed(|| take_all(self.options(&files, self.window, 1)))?;
            grouped.ours.push(seconds);
        }
        grouped.bound.clone_from(&two.bound);
        let sizes = shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
        let what = match self.window {
            [] => format!("{epochs} epochs of {} x ({sizes})", VARIABLES.len()),
            _ => format!("{epochs} windows of {} x ({sizes}) in {:.1} % of the chunks", VARIABLES.len(), 100.0 * share),
        };
        for (how, times) in [("one thread", &one), ("two threads", &two)] {
            self.report(&format!("{what}, {}, {how}", self.title), times);
        }
        // Of the peers only the group of `earthsciio` reads ahead.
        grouped.earthsciio = two.earthsciio;
        self.report(&format!("{what}, {}, a group with two workers", self.title), &grouped);
        Ok(())
    }

    /// The options to read a part of the variables.
    pub(crate) fn options(&self, files: &[PathBuf], window: Window, threads: usize) -> ProviderOptions {
        let range = |&(dim, start, stop): &(&str, u64, u64)| (dim.into(), AxisSelect::Slice { start, stop, step: 1 });
        let options = ProviderOptions {
            format: self.format.into(),
            variables: VARIABLES.map(String::from).to_vec(),
            select: (!window.is_empty()).then(|| Selection::Named(window.iter().map(range).collect())),
            threads,
            ..ProviderOptions::of_files(files)
        };
        if self.format != "zarr" {
            return options;
        }
        // A store has no coordinates to take them from.
        let times = (0..self.records_per_file).map(|k| k as f64).collect();
        ProviderOptions { times: Some(times), time_dim: Some("time".into()), ..options }
    }

    fn report(&self, row: &str, times: &Times) {
        let mut more = Vec::new();
        if !times.whole.is_empty() {
            more.push(("whole_s", median(times.whole.clone()).into()));
        }
        let goals = self.goals.as_ref();
        let bound_s = (!times.bound.is_empty()).then(|| median(times.bound.clone()));
        let line = |peer: Option<(&str, f64)>, goal_ratio_peer| {
            let row = Row {
                area: "providers",
                row,
                ours_s: median(times.ours.clone()),
                peer,
                bound_s,
                goal_ratio_peer,
                goal_ratio_bound: goals.map(|goals| goals.bound),
            };
            row.print(&more);
        };
        if times.earthsciio.is_empty() && times.python.is_empty() {
            line(None, None);
        }
        let peers = [(&times.earthsciio, goals.map(|g| g.earthsciio)), (&times.python, goals.map(|g| g.python))];
        for (answers, goal) in peers {
            if let Some(first) = answers.first() {
                let seconds = median(answers.iter().map(|a| a.seconds).collect());
                line(Some((&peers::title(first), seconds)), goal);
            }
        }
    }
}

/// One pass over all epochs, one by one.
struct Sweep {
    /// To open the files, decode every epoch and drop the one before. The checksum is outside.
    seconds: f64,
    checksum: String,
    epochs: usize,
    /// Of a field.
    shape: Vec<usize>,
}

impl Sweep {
    fn run(options: &ProviderOptions) -> Result<Self> {
        let (mut seconds, provider) = timed(|| Provider::open(options.clone()))?;
        let mut sum = Checksum::default();
        let mut kept = Dataset::default();
        for (epoch, &t) in provider.refresh_times().iter().enumerate() {
            let (time, ()) = timed(|| {
                kept = provider.sample_at(t)?;
                Ok(())
            })?;
            seconds += time;
            for name in VARIABLES {
                sum.add(epoch, bits_of_f64(doubles(&kept, name)));
            }
        }
        let shape = kept.variable(VARIABLES[0]).map(|field| field.shape.clone()).unwrap_or_default();
        Ok(Sweep { seconds, checksum: sum.hex(), epochs: provider.refresh_times().len(), shape })
    }
}

/// The same through a group with two workers, whose consumer only takes.
fn take_all(options: ProviderOptions) -> Result<()> {
    let provider = Provider::open(options)?;
    let group = PrefetchGroup::builder().member("files", Arc::new(provider)).workers(2).depth(2).build()?;
    group.start(Order::Forward, None)?;
    (0..group.boundaries().len()).try_for_each(|k| group.take(k).map(drop))
}

fn doubles<'a>(data: &'a Dataset, name: &str) -> &'a [f64] {
    match data.variable(name).map(|field| &field.values) {
        Some(Values::F64(values)) => values,
        _ => panic!("{name} is a field of doubles"),
    }
}
