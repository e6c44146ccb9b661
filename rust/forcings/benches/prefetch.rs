//! What a prefetch group costs its consumer: the share of a sweep it waits, and the time to take what is ready.
//! One JSON object per line.

use forcings::dataset::{Dataset, Field, Values};
use forcings::prefetch::{Order, PrefetchGroup};
use forcings::provider::Sampler;
use forcings::Result;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Five variables per epoch, each of which takes a fifth of `work` to make.
struct Synthetic {
    times: Vec<f64>,
    work: Duration,
}

impl Sampler for Synthetic {
    fn refresh_times(&self) -> &[f64] {
        &self.times
    }

    fn anchor(&self, t: f64) -> Result<f64> {
        Ok(t)
    }

    fn sample_at(&self, t: f64) -> Result<Dataset> {
        let variables = (0..5).map(|i| {
            busy(self.work / 5);
            let values = Values::F64(vec![t + f64::from(i); 100]);
            let dims = vec!["x".into()];
            Field { name: format!("v{i}").into(), dims, shape: vec![100], values, attributes: Arc::new([]) }
        });
        Ok(Dataset { variables: variables.collect(), ..Dataset::default() })
    }

    fn calendar(&self) -> Option<&str> {
        None
    }
}

fn busy(time: Duration) {
    let begin = Instant::now();
    let mut x = 0.0f64;
    while begin.elapsed() < time {
        for i in 0..100 {
            x = black_box(x + f64::from(i));
        }
    }
}

fn group(epochs: u32, work: Duration) -> Result<PrefetchGroup> {
    let times = (0..epochs).map(f64::from).collect();
    PrefetchGroup::builder().member("m", Arc::new(Synthetic { times, work })).build()
}

fn report(row: &str, ours_s: f64, bound_s: f64, goal: f64) {
    println!(
        "{}",
        serde_json::json!({
            "area": "prefetch", "row": row, "ours_s": ours_s, "peer": null, "peer_s": null, "bound_s": bound_s,
            "goal_ratio_peer": null, "goal_ratio_bound": goal,
        })
    );
}

/// Waiting against the whole time of a sweep whose consumer computes twice as long as a decode takes.
fn waiting(order: Order, row: &str) -> Result<()> {
    const DECODE: Duration = Duration::from_millis(3);
    let group = group(200, DECODE)?;
    let mut epochs: Vec<usize> = (0..200).collect();
    if order == Order::Reverse {
        epochs.reverse();
    }
    let begin = Instant::now();
    group.start(order, None)?;
    for k in epochs {
        black_box(group.take(k)?);
        busy(2 * DECODE);
    }
    report(row, group.stats().waited_s, begin.elapsed().as_secs_f64(), 0.01);
    Ok(())
}

/// The median time of a take that finds its epoch ready, against the goal of 5 µs.
fn ready_take() -> Result<()> {
    let group = group(2000, Duration::ZERO)?;
    group.start(Order::Forward, None)?;
    let mut seconds = Vec::with_capacity(2000);
    for k in 0..2000 {
        while !group.wait(k, Duration::from_secs(1)) {}
        let begin = Instant::now();
        let epoch = group.take(k)?;
        seconds.push(begin.elapsed().as_secs_f64());
        black_box(epoch);
    }
    seconds.sort_by(f64::total_cmp);
    report("take of a ready epoch, median of 2,000", seconds[1000], 5e-6, 1.0);
    Ok(())
}

/// One field of 16 MB, which takes no time to decode but that of the memory.
struct Large;

const ELEMENTS: usize = 2 << 20;

impl Sampler for Large {
    fn refresh_times(&self) -> &[f64] {
        &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    }

    fn anchor(&self, t: f64) -> Result<f64> {
        Ok(t)
    }

    fn sample_at(&self, t: f64) -> Result<Dataset> {
        let (values, dims) = (Values::F64(vec![t; ELEMENTS]), vec!["x".into()]);
        let field = Field { name: "v".into(), dims, shape: vec![ELEMENTS], values, attributes: Arc::new([]) };
        Ok(Dataset { variables: vec![field], ..Dataset::default() })
    }

    fn calendar(&self) -> Option<&str> {
        None
    }
}

/// A sweep back over samples that were spilled, against reading as many bytes from a file into memory that is new.
fn restoring() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder to spill to");
    let group = PrefetchGroup::builder().member("m", Arc::new(Large)).spill(folder.path(), None).build()?;
    let sweep = |order: Order, epochs: &mut dyn Iterator<Item = usize>| -> Result<f64> {
        let begin = Instant::now();
        group.start(order, None)?;
        for k in epochs {
            black_box(group.take(k)?);
        }
        Ok(begin.elapsed().as_secs_f64())
    };
    sweep(Order::Forward, &mut (0..8))?;
    let mut ours: Vec<f64> = Vec::new();
    for _ in 0..5 {
        // The first sample of a sweep may be the last one of the sweep before.
        sweep(Order::Explicit(vec![0]), &mut (0..1))?;
        ours.push(sweep(Order::Reverse, &mut (0..8).rev())? / 8.0);
    }
    let path = folder.path().join("bytes");
    std::fs::write(&path, vec![1_u8; ELEMENTS * 8]).expect("room for 16 MB");
    let mut bound: Vec<f64> = Vec::new();
    for _ in 0..15 {
        let begin = Instant::now();
        black_box(std::fs::read(&path).expect("it was written"));
        bound.push(begin.elapsed().as_secs_f64());
    }
    ours.sort_by(f64::total_cmp);
    bound.sort_by(f64::total_cmp);
    report("a spilled sample of 16 MB read back, against reading a file", ours[2], bound[7], 2.0);
    Ok(())
}

fn main() -> Result<()> {
    waiting(Order::Forward, "waiting against wall time, compute 2 × decode, forward")?;
    waiting(Order::Reverse, "waiting against wall time, compute 2 × decode, reverse")?;
    ready_take()?;
    restoring()
}
