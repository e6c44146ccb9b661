//! A request in, times out: one JSON object from the first argument or standard input, one line of JSON back.
//! An error goes to standard error with exit code 1.

use crate::Checksum;
use serde::de::DeserializeOwned;
use serde_json::{json, Map, Value};
use std::error::Error;
use std::io::Read;
use std::process::ExitCode;
use std::time::Instant;

/// Whatever went wrong; only its text matters.
pub type Failure = Box<dyn Error>;

/// One timed execution of a request.
#[derive(Debug, Default)]
pub struct Run {
    /// The time that is compared, seconds.
    pub seconds: f64,
    /// Where time went, by name, seconds; parts outside `seconds` are listed too.
    pub parts: Vec<(&'static str, f64)>,
    /// Of all values written or read.
    pub checksum: Checksum,
    /// Sizes and counts, by name.
    pub facts: Vec<(&'static str, u64)>,
}

impl Run {
    /// Does `work` and notes its time under `name`.
    pub fn part<T>(&mut self, name: &'static str, work: impl FnOnce(&mut Self) -> T) -> T {
        let begin = Instant::now();
        let result = work(self);
        self.parts.push((name, begin.elapsed().as_secs_f64()));
        result
    }

    /// Sums the named parts into `seconds`.
    pub fn total(mut self, names: &[&str]) -> Self {
        self.seconds = self.parts.iter().filter(|(name, _)| names.contains(name)).map(|(_, seconds)| seconds).sum();
        self
    }
}

/// Answers the request of this process. Its key `repeat` (1 unless given) says how often `work` is done; the fastest
/// run is reported, with the times of all.
pub fn serve<R: DeserializeOwned>(peer: &str, version: &str, work: impl Fn(&R) -> Result<Run, Failure>) -> ExitCode {
    match answer(peer, version, work) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{peer}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn answer<R: DeserializeOwned>(
    peer: &str,
    version: &str,
    work: impl Fn(&R) -> Result<Run, Failure>,
) -> Result<Value, Failure> {
    let mut keys: Map<String, Value> = serde_json::from_str(&request_text()?)?;
    let repeat = match keys.remove("repeat") {
        None => 1,
        Some(n) => n.as_u64().filter(|&n| n > 0).ok_or("`repeat` must be a positive integer")?,
    };
    let operation = keys.get("operation").cloned().unwrap_or(Value::Null);
    let request = serde_json::from_value(Value::Object(keys))?;
    let runs = (0..repeat).map(|_| work(&request)).collect::<Result<Vec<_>, _>>()?;
    let all: Vec<f64> = runs.iter().map(|run| run.seconds).collect();
    if runs.iter().any(|run| run.checksum != runs[0].checksum) {
        return Err("the runs of one request differ in their checksums".into());
    }
    let best = runs.into_iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds)).ok_or("no run")?;
    let mut line = json!({
        "peer": peer, "version": version, "operation": operation, "seconds": best.seconds, "runs": all,
        "checksum": best.checksum.hex(), "peak_rss_bytes": peak_rss(),
    });
    line["parts"] = best.parts.into_iter().collect();
    for (name, count) in best.facts {
        line[name] = count.into();
    }
    Ok(line)
}

fn request_text() -> Result<String, Failure> {
    if let Some(text) = std::env::args().nth(1) {
        return Ok(text);
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

/// The largest resident size of this process so far, where Linux tells.
fn peak_rss() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}
