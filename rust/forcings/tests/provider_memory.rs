//! The most memory that decoding a sample takes: little more than the sample.

use forcings::dataset::{Dataset, DimWindow, FloatType};
use forcings::provider::{Provider, ProviderOptions};
use std::alloc::{GlobalAlloc, Layout, System};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, which knows how many bytes are in use, and were at most.
struct Metered;

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn more(bytes: usize) {
    let used = USED.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(used, Ordering::Relaxed);
}

// SAFETY: every call goes to the system's allocator unchanged; the counters do not allocate.
unsafe impl GlobalAlloc for Metered {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) };
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both may exist for a moment.
        more(size);
        // SAFETY: the caller's promise.
        let moved = unsafe { System.realloc(pointer, layout, size) };
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        moved
    }
}

#[global_allocator]
static ALLOCATOR: Metered = Metered;

/// The bytes that a call had in use at most, beyond those before it.
fn peak(call: impl FnOnce() -> Dataset) -> (Dataset, usize) {
    let before = USED.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let sample = call();
    (sample, PEAK.load(Ordering::Relaxed) - before)
}

const LEV: usize = 8;
const LAT: usize = 90;
const LON: usize = 144;

/// How a file is laid out.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Classic,
    /// NetCDF-4, a chunk for each level, deflated and shuffled.
    Chunked,
    /// The same, where the records of a level follow each other.
    LevelFirst,
}

/// `records` hours from `first` on of five variables (time, lev, lat, lon).
fn write(path: &Path, first: usize, records: usize, kind: Kind) {
    let classic = kind == Kind::Classic;
    let options = if classic { netcdf::Options::_64BIT_OFFSET } else { netcdf::Options::NETCDF4 };
    let mut file = netcdf::create_with(path, options).unwrap();
    let dims = if kind == Kind::LevelFirst { ["lev", "time", "lat", "lon"] } else { ["time", "lev", "lat", "lon"] };
    file.add_unlimited_dimension("time").unwrap();
    for (name, len) in ["lev", "lat", "lon"].iter().zip([LEV, LAT, LON]) {
        file.add_dimension(name, len).unwrap();
    }
    file.add_variable::<f64>("time", &["time"]).unwrap().put_attribute("units", "hours since 2000-01-01").unwrap();
    for k in 0..5 {
        let mut v = file.add_variable::<f32>(&format!("v{k}"), &dims).unwrap();
        if !classic {
            v.set_chunking(&[1, 1, LAT, LON]).unwrap();
            v.set_compression(1, true).unwrap();
        }
    }
    if classic {
        file.enddef().unwrap();
    }
    let mut values = vec![0.0_f32; LEV * LAT * LON];
    for record in 0..records {
        let clock = (first + record) as f64;
        file.variable_mut("time").unwrap().put_value(clock, [record]).unwrap();
        for k in 0..5 {
            for (i, value) in values.iter_mut().enumerate() {
                *value = ((i * 37 + k * 11 + (first + record) * 101) % 1000) as f32 * 0.37;
            }
            let mut v = file.variable_mut(&format!("v{k}")).unwrap();
            match kind {
                Kind::LevelFirst => v.put_values(&values, (.., record, .., ..)).unwrap(),
                _ => v.put_values(&values, (record, .., .., ..)).unwrap(),
            }
        }
    }
    file.close().unwrap();
}

#[test]
fn a_sample_takes_at_most_a_third_more_than_its_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for kind in [Kind::Classic, Kind::Chunked, Kind::LevelFirst] {
        let parts: Vec<PathBuf> = [0, 2].map(|first| folder.path().join(format!("{kind:?}{first}.nc"))).into();
        for (part, first) in parts.iter().zip([0, 2]) {
            write(part, first, 2, kind);
        }
        for (records, eltype, threads) in [
            (1, FloatType::F64, 1),
            (1, FloatType::F64, 3),
            (1, FloatType::F32, 1),
            (2, FloatType::F64, 1),
            (2, FloatType::F32, 2),
        ] {
            let options = ProviderOptions::of_files(&parts);
            let options = ProviderOptions { records_per_sample: records, eltype, threads, ..options };
            // The memory of a sample that is dropped serves the next one; here each has to take its own.
            let mut held = Vec::new();
            let provider = Provider::open(options).unwrap();
            // Within a file, over the seam, and at the end.
            for t in provider.refresh_times() {
                // The headers and chunk tables stay with the provider.
                held.push(provider.sample_at(*t).unwrap());
                let (sample, most) = peak(|| provider.sample_at(*t).unwrap());
                let width = if eltype == FloatType::F32 { 4 } else { 8 };
                let bytes = 5 * records * LEV * LAT * LON * width;
                assert!((bytes..bytes + 64).contains(&sample.byte_len()), "{} of {bytes}", sample.byte_len());
                let case = format!("{kind:?}, {records} records, {eltype:?}, {threads} threads, time {t}");
                assert!(most >= bytes && most * 10 <= bytes * 13, "{most} for {bytes} bytes: {case}");
                held.push(sample);
            }
            let window = provider.with_window(DimWindow::new().range("lat", 10, 80).range("lev", 0, 4)).unwrap();
            let t = provider.refresh_times()[1];
            held.push(window.sample_at(t).unwrap());
            let (sample, most) = peak(|| window.sample_at(t).unwrap());
            assert!(most * 10 <= sample.byte_len() * 13, "{most} for {} bytes of a window", sample.byte_len());
        }
    }
}
