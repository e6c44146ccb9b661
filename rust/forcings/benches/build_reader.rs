//! Builds of a reader over 100,000 series: how long they take and what they keep. One JSON object per line.

use forcings::array::{Array, ArrayView};
use forcings::readers::StaticReader;
use forcings::series::{NewSeries, Owner};
use forcings::store::{CreateOptions, Filter, OpenOptions, Store};
use forcings::time::{Period, UnixMillis};
use forcings::{Error, Result};
use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

const SERIES: usize = 100_000;
const STEPS: usize = 24;
const ROUNDS: usize = 7;
/// What a build may take, seconds.
const LIMIT_S: f64 = 0.5;
const HOUR: Period = Period::hours(1);

/// The system's allocator, which knows how many bytes are in use, and how many were at most.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged; the counters do not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = IN_USE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> Result<()> {
    let folder = tempfile::tempdir().map_err(|e| Error::io(std::env::temp_dir(), e))?;
    let path = folder.path().join("build.nc");
    let (disk, memory) = (Store::create(&path, &CreateOptions::default())?, Store::memory()?);
    for store in [&disk, &memory] {
        fill(store)?;
    }
    disk.close()?;
    let disk = Store::open(&path, &OpenOptions { read_only: true, ..OpenOptions::default() })?;
    for (place, store) in [("on disk", &disk), ("in memory", &memory)] {
        let (mut builds, mut worked, mut reads) = (Vec::new(), Vec::new(), Vec::new());
        let (mut kept, mut most) = (0, 0);
        for _ in 0..ROUNDS {
            let before = IN_USE.load(Ordering::Relaxed);
            MOST.store(before, Ordering::Relaxed);
            let (begin, busy) = (Instant::now(), processor_seconds()?);
            let mut reader = StaticReader::build(store, &Filter { resolution: Some(HOUR), ..Filter::default() })?;
            builds.push(begin.elapsed().as_secs_f64());
            worked.push(processor_seconds()? - busy);
            most = MOST.load(Ordering::Relaxed) - before;
            let begin = Instant::now();
            reader.read_step(3)?;
            reads.push(begin.elapsed().as_secs_f64());
            kept = IN_USE.load(Ordering::Relaxed) - before;
            assert_eq!(black_box(reader.values(0)).len(), 8 * SERIES);
        }
        println!(
            "{}",
            serde_json::json!({
                "area": "readers", "row": format!("build over {SERIES} series, {place}, against {LIMIT_S} s"),
                "ours_s": median(&mut builds), "peer": null, "peer_s": null, "bound_s": LIMIT_S,
                "goal_ratio_peer": null, "goal_ratio_bound": 1.0,
                "processor_s": median(&mut worked), "first_read_s": median(&mut reads),
                "kept_bytes": kept, "most_bytes": most,
            })
        );
    }
    Ok(())
}

fn fill(store: &Store) -> Result<()> {
    let values = |k: usize| (0..STEPS).map(|step| (k * STEPS + step) as f64).collect::<Vec<_>>();
    let arrays: Vec<Array> = (0..SERIES).map(|k| Array::from_f64(vec![STEPS], &values(k))).collect::<Result<_>>()?;
    let views: Vec<ArrayView> = arrays.iter().map(Array::view).collect();
    let owner = |k: usize| Owner::component(k as i64, "Bus");
    let series: Vec<NewSeries> = views
        .iter()
        .enumerate()
        .map(|(k, view)| NewSeries::single(owner(k), "max_active_power", UnixMillis(0), HOUR, *view))
        .collect();
    store.add_bulk(&series)?;
    Ok(())
}

/// The time that this thread had a processor, which other programs on the machine do not lengthen.
fn processor_seconds() -> Result<f64> {
    let path = "/proc/thread-self/schedstat";
    let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
    let nanoseconds = text.split(' ').next().and_then(|n| n.parse::<f64>().ok());
    nanoseconds.map(|n| n / 1e9).ok_or_else(|| Error::format(path, "no number of nanoseconds"))
}

fn median(seconds: &mut [f64]) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}
