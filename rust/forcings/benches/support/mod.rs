//! What the benchmarks share: the values that both sides write, peers in processes of their own, and the report.
//! `rust/bench-peers/README.md` describes values, checksums and requests.

// Each benchmark uses a part of this, and none runs the tests of the files below.
#![allow(dead_code, unused_imports, unreachable_pub)]

#[path = "../../../bench-peers/common/src/checksum.rs"]
pub mod checksum;
#[path = "../../../bench-peers/common/src/generator.rs"]
pub mod generator;

use forcings::array::{ArrayView, DType};
use forcings::series::{NewSeries, Owner};
use forcings::time::{Period, UnixMillis};
use forcings::Result;
use serde_json::{json, Value};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// From step to step.
pub const HOUR: Period = Period::hours(1);
/// The first step of every series: 2024-01-01T00:00:00Z.
pub const START: UnixMillis = UnixMillis(1_704_067_200_000);

/// A row of the report; without a goal, times are for information.
#[derive(Default)]
pub struct Row<'a> {
    /// `store`, `readers`, ...
    pub area: &'a str,
    /// What is measured.
    pub row: &'a str,
    /// Our time.
    pub ours_s: f64,
    /// Who else does it, and their time.
    pub peer: Option<(&'a str, f64)>,
    /// What bounds our time, seconds.
    pub bound_s: Option<f64>,
    /// How many times faster than the peer we are to be.
    pub goal_ratio_peer: Option<f64>,
    /// How many times the bound we may take.
    pub goal_ratio_bound: Option<f64>,
}

impl Row<'_> {
    /// Prints the row for `deps/bench.py`, with further fields.
    pub fn print(&self, more: &[(&str, Value)]) {
        let mut line = json!({
            "area": self.area, "row": self.row, "ours_s": self.ours_s, "peer": self.peer.map(|(name, _)| name),
            "peer_s": self.peer.map(|(_, seconds)| seconds), "bound_s": self.bound_s,
            "goal_ratio_peer": self.goal_ratio_peer, "goal_ratio_bound": self.goal_ratio_bound,
        });
        for (name, value) in more {
            line[*name] = value.clone();
        }
        println!("{line}");
    }
}

/// Whether the part of a benchmark is to run: all of them, unless the command line names some.
pub fn wanted(part: &str) -> bool {
    let named: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    named.is_empty() || named.iter().any(|name| name == part)
}

/// What a peer answers; `None` where its program was not built (`make bench` builds it). A script of Python is run by the
/// Python that is named like a peer.
///
/// # Panics
/// If the program fails.
pub fn peer(name: &str, request: &Value) -> Option<Answer> {
    let program = |name: &str| std::env::var_os(format!("FORCINGS_PEER_{}", name.to_uppercase()));
    let path = program(name)?;
    let mut command = Command::new(&path);
    if Path::new(&path).extension().is_some_and(|extension| extension == "py") {
        command = Command::new(program("python")?);
        command.arg(&path);
    }
    let output = command.arg(request.to_string()).output().expect("the peer's program runs");
    assert!(output.status.success(), "{request}: {}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).expect("the peer answers JSON");
    Some(Answer {
        seconds: answer["seconds"].as_f64().expect("a time"),
        checksum: answer["checksum"].as_str().expect("a checksum").to_string(),
        all: answer,
    })
}

/// A peer's time, and the checksum of what it read or wrote.
pub struct Answer {
    /// The time to compare.
    pub seconds: f64,
    /// As [`checksum::Checksum::hex`] writes it.
    pub checksum: String,
    /// Everything that it said.
    pub all: Value,
}

/// The time of `work`, and its result.
pub fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(f64, T)> {
    let begin = Instant::now();
    let result = work()?;
    Ok((begin.elapsed().as_secs_f64(), result))
}

/// The middle one.
pub fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// The doubles of a series as bytes.
pub fn series_bytes(series: usize, steps: usize) -> Vec<u8> {
    (0..steps).flat_map(|step| generator::value(series as u64, step as u64, 0).to_le_bytes()).collect()
}

/// The series of an owner.
///
/// # Errors
/// Those of [`ArrayView::new`].
pub fn single<'a>(owner: usize, name: &str, bytes: &'a [u8], shape: &'a [usize]) -> Result<NewSeries<'a>> {
    let owner = Owner::component(owner as i64, "Generator");
    Ok(NewSeries::single(owner, name, START, HOUR, ArrayView::new(DType::F64, shape, bytes)?))
}

/// Starts a new count of the largest resident size, where Linux can.
pub fn reset_peak_rss() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The largest resident size of this process since then, bytes.
pub fn peak_rss() -> Option<u64> {
    status("VmHWM:")
}

/// The resident size of this process, bytes.
pub fn resident() -> Option<u64> {
    status("VmRSS:")
}

fn status(key: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}
