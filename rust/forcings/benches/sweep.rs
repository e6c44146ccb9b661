//! A static sweep of 1,000 columns by 8,760 steps, forward and backward, on one thread and read ahead, against the bare loop that reads, inflates and
//! unshuffles the same chunks. One JSON object per line.

use forcings::array::ArrayView;
use forcings::array::DType;
use forcings::chunks::{fetch_chunk, ChunkSite, ChunkTable, FileSource, Layout, Scratch};
use forcings::readers::{StaticReader, DEFAULT_READAHEAD};
use forcings::series::{NewSeries, Owner};
use forcings::store::{CreateOptions, Filter, OpenOptions, Store};
use forcings::time::{Period, UnixMillis};
use forcings::{formats, Error, Result};
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

const COLUMNS: usize = 1_000;
const STEPS: usize = 8_760;
const ROUNDS: usize = 9;
const HOUR: Period = Period::hours(1);

fn main() -> Result<()> {
    let folder = tempfile::tempdir().map_err(|e| Error::io(std::env::temp_dir(), e))?;
    let path = folder.path().join("sweep.nc");
    let loads: Vec<Vec<u8>> = (0..COLUMNS).map(load).collect();
    write(&path, &loads)?;
    let table = chunk_table(&path)?;
    check(&path, &loads)?;

    let mut seconds: [Vec<f64>; 6] = Default::default();
    for _ in 0..ROUNDS {
        seconds[0].push(timed(|| bare_loop(&path, &table))?);
        seconds[1].push(timed(|| sweep(&path, (0..STEPS).collect(), 0))?);
        seconds[2].push(timed(|| sweep(&path, (0..STEPS).rev().collect(), 0))?);
        seconds[3].push(timed(|| sweep(&path, (0..STEPS).collect(), DEFAULT_READAHEAD))?);
        seconds[4].push(timed(|| sweep(&path, (0..STEPS).rev().collect(), DEFAULT_READAHEAD))?);
        seconds[5].push(timed(|| sweep(&path, Vec::new(), DEFAULT_READAHEAD))?);
    }
    let [bare, forward, backward, ahead, ahead_backward, opening] = seconds.map(|s| (best(&s), median(&s)));
    let rows = [
        ("bare loop", bare),
        ("forward", forward),
        ("backward", backward),
        ("forward, read ahead", ahead),
        ("backward, read ahead", ahead_backward),
        ("open and build alone", opening),
    ];
    for (name, (best, median)) in rows {
        println!("{name:20} best {best:.4} s, median {median:.4} s, {:.3} x bare", best / bare.0);
    }
    for (row, ours, goal) in [
        ("sweep forward", forward, 1.25),
        ("sweep backward", backward, 1.25),
        ("sweep forward, read ahead", ahead, 1.0),
        ("sweep backward, read ahead", ahead_backward, 1.0),
    ] {
        println!(
            "{}",
            serde_json::json!({
                "area": "readers", "row": format!("{row}, {COLUMNS} x {STEPS} f64, open and build included"),
                "ours_s": ours.1, "peer": null, "peer_s": null, "bound_s": bare.1,
                "goal_ratio_peer": null, "goal_ratio_bound": goal,
            })
        );
    }
    Ok(())
}

/// A year of an hourly load in MW to the kW: a daily and a yearly cycle, and noise.
fn load(column: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(column as u64 + 1);
    let base = 20.0 + column as f64 % 137.0;
    let value = |hour: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let noise = (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
        let turn = std::f64::consts::TAU * hour as f64;
        let cycles = 1.0 + 0.3 * (turn / 24.0 + base).sin() + 0.15 * (turn / STEPS as f64).cos();
        ((base * (cycles + 0.1 * noise) * 1e3).round() / 1e3).to_le_bytes()
    };
    (0..STEPS).flat_map(value).collect()
}

fn write(path: &Path, loads: &[Vec<u8>]) -> Result<()> {
    let store = Store::create(path, &CreateOptions::default())?;
    let mut series = Vec::new();
    for (column, bytes) in loads.iter().enumerate() {
        let values = ArrayView::new(DType::F64, &[STEPS], bytes)?;
        let owner = Owner::component(column as i64, "Bus");
        series.push(NewSeries::single(owner, "load", UnixMillis(0), HOUR, values));
    }
    store.add_bulk(&series)?;
    store.close()
}

fn chunk_table(path: &Path) -> Result<ChunkTable> {
    let file = formats::open_group(path, Some("/time_series/single"))?;
    let name = format!("sts_f64_s_{STEPS}_{HOUR}");
    let variable = file.variables().iter().position(|v| v.name == name);
    let variable = variable.ok_or_else(|| Error::NotFound(format!("there is no variable {name}")))?;
    match &*file.layout(variable)? {
        Layout::Chunked(table) => Ok(table.clone()),
        other => Err(Error::Integrity(format!("{name} is not chunked: {other:?}"))),
    }
}

/// Every chunk once, in order, into the same buffer.
fn bare_loop(path: &Path, table: &ChunkTable) -> Result<()> {
    let source = FileSource::open(path)?;
    let mut chunk = vec![0; table.chunk_shape.iter().product::<u64>() as usize * DType::F64.width()];
    let mut scratch = Scratch::new();
    for (k, entry) in table.entries.iter().enumerate() {
        let site = ChunkSite { path, what: "the bare loop", chunk: k };
        fetch_chunk(&source, *entry, &table.filters, &mut chunk, &mut scratch, &site)?;
        black_box(&chunk);
    }
    Ok(())
}

fn sweep(path: &Path, order: Vec<usize>, readahead: usize) -> Result<()> {
    let store = Store::open(path, &OpenOptions { read_only: true, ..OpenOptions::default() })?;
    let mut reader = StaticReader::build(&store, &hourly())?;
    reader.set_readahead(readahead);
    for step in order {
        reader.read_step(step)?;
        black_box(reader.values(0));
    }
    store.close()
}

/// Compares a whole sweep with what was written.
fn check(path: &Path, loads: &[Vec<u8>]) -> Result<()> {
    let store = Store::open(path, &OpenOptions { read_only: true, ..OpenOptions::default() })?;
    let mut reader = StaticReader::build(&store, &hourly())?;
    for step in 0..STEPS {
        reader.read_step(step)?;
        for (value, load) in reader.values(0).chunks_exact(8).zip(loads) {
            assert_eq!(value, &load[8 * step..8 * step + 8], "step {step}");
        }
    }
    assert_eq!(reader.values(0).len(), 8 * COLUMNS);
    store.close()
}

fn hourly() -> Filter {
    Filter { resolution: Some(HOUR), ..Filter::default() }
}

fn timed(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begin = Instant::now();
    work()?;
    Ok(begin.elapsed().as_secs_f64())
}

fn best(seconds: &[f64]) -> f64 {
    seconds.iter().copied().fold(f64::INFINITY, f64::min)
}

fn median(seconds: &[f64]) -> f64 {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
