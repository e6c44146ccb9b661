//! A sweep allocates nothing once its reader is built.

use forcings::array::{Array, ArrayView, DType};
use forcings::readers::{ForecastReader, StaticReader, StaticReaderOptions, DEFAULT_READAHEAD};
use forcings::series::{NewSeries, Owner, SeriesData, SeriesType, Windows};
use forcings::store::{CreateOptions, Filter, Store};
use forcings::time::{Period, UnixMillis};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::Range;

/// The system's allocator, which counts the requests of each thread.
struct Counting;

thread_local! {
    static REQUESTS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged; the counter does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count() {
    // A thread that is ending has no counter any more, and is none that is measured.
    let _ = REQUESTS.try_with(|requests| requests.set(requests.get() + 1));
}

fn requests() -> u64 {
    REQUESTS.with(Cell::get)
}

const STEPS: usize = 200;
const HOUR: Period = Period::hours(1);

#[test]
fn a_sweep_allocates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("s.nc"), &CreateOptions::default()).unwrap();
    // Chunks of one row and of many, values that compress less and less, an element shape, a shared array.
    let wide: Vec<Array> = (0..700).map(|c| values(vec![STEPS], c)).collect();
    let narrow: Vec<Array> = (0..3).map(|c| values(vec![STEPS, 2], c)).collect();
    let all: Vec<&Array> = wide.iter().chain(&narrow).chain(wide.first()).collect();
    add(&store, &all, |k, values| NewSeries::single(owner(k), "load", UnixMillis(0), HOUR, values));

    let mut reader = StaticReader::build(&store, &hourly("load")).unwrap();
    assert_eq!(reader.groups().len(), 2);
    assert_eq!(requests_of_a_sweep(&mut reader, 0..STEPS), 0);
    assert_eq!(reader.groups()[0].dtype(), DType::F64);

    // Starts that differ, so that columns of one dataset are read at several rows.
    let start = |k: usize| HOUR.add(UnixMillis(0), -(k as i64 % 5)).unwrap();
    add(&store, &all, |k, values| NewSeries::single(owner(k), "late", start(k), HOUR, values));
    let options = StaticReaderOptions { filter: hourly("late"), start: Some(UnixMillis(0).into()), extent: Some(150) };
    let mut reader = StaticReader::with_options(&store, &options).unwrap();
    assert_eq!(requests_of_a_sweep(&mut reader, 0..150), 0);
}

#[test]
fn a_sweep_over_irregular_series_and_step_functions_allocates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("s.nc"), &CreateOptions::default()).unwrap();
    // Arrays that are variables of their own, one of which many have, and arrays that are columns of a dataset.
    let own: Vec<Array> = (0..40).map(|c| values(vec![STEPS], c)).collect();
    let packed: Vec<Array> = (0..20).map(|c| values(vec![STEPS], 100 + c)).collect();
    let columns: Vec<&Array> = packed.iter().collect();
    add(&store, &columns, |k, values| NewSeries::single(owner(k), "load", UnixMillis(0), HOUR, values));
    let all: Vec<&Array> = own.iter().chain(&packed).chain(own.first()).collect();
    let instants = |shift: usize| (0..STEPS).map(|i| UnixMillis((i * i + shift) as i64)).collect::<Vec<_>>();
    add(&store, &all, |k, values| {
        NewSeries::new(owner(k), "price", SeriesData::NonSequential { timestamps: instants(0), values })
    });
    add(&store, &all, |k, values| {
        NewSeries::new(owner(k), "price", SeriesData::Persistent { timestamps: instants(k % 7), values })
    });
    for series_type in [SeriesType::NonSequentialTimeSeries, SeriesType::PersistentTimeSeries] {
        let filter = Filter { series_type: Some(series_type), ..Filter::default() };
        let mut reader = StaticReader::build(&store, &filter).unwrap();
        let first = reader.index_at(UnixMillis(6)).unwrap_or(0);
        let steps = first..reader.len();
        assert!(steps.len() >= STEPS);
        assert_eq!(requests_of_a_sweep(&mut reader, steps), 0);
    }
}

/// The requests of sweeps there and back. Without readahead behind the first read, which plans the datasets, whose largest
/// chunk may still come; with it behind a first sweep, in which the threads and the buffers are made.
fn requests_of_a_sweep(reader: &mut StaticReader, steps: Range<usize>) -> u64 {
    reader.set_readahead(0);
    reader.read_step(steps.start).unwrap();
    let alone = sweep(reader, steps.clone());
    reader.set_readahead(DEFAULT_READAHEAD);
    sweep(reader, steps.clone());
    alone + sweep(reader, steps)
}

fn sweep(reader: &mut StaticReader, steps: Range<usize>) -> u64 {
    let before = requests();
    let mut sum = 0u64;
    for step in steps.clone().chain(steps.rev()) {
        reader.read_step(step).unwrap();
        let instant = reader.timestamp_at(step).unwrap();
        reader.read(instant).unwrap();
        sum += reader.values(0).iter().chain(reader.values(1)).map(|b| u64::from(*b)).sum::<u64>();
    }
    let counted = requests() - before;
    assert!(sum > 0);
    counted
}

fn owner(k: usize) -> Owner {
    Owner::component(k as i64, "Bus")
}

fn hourly(name: &str) -> Filter {
    Filter { resolution: Some(HOUR), name: Some(name.into()), ..Filter::default() }
}

fn add<'a>(store: &Store, arrays: &[&'a Array], series: impl Fn(usize, ArrayView<'a>) -> NewSeries<'a>) {
    let items: Vec<NewSeries> = arrays.iter().enumerate().map(|(k, array)| series(k, array.view())).collect();
    store.add_bulk(&items).unwrap();
}

#[test]
fn a_sweep_over_windows_allocates_nothing() {
    const COUNT: usize = 100;
    const STRIDE: usize = 3;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("s.nc"), &CreateOptions::default()).unwrap();
    let (steps, hours) = (4000, |n: usize| Period::hours(n as i32));
    // Dense forecasts in several blocks, and derived ones of chunks of one row and of many.
    let (horizon, interval) = (hours(steps), hours(STRIDE));
    let windows = Windows { initial: UnixMillis(0), resolution: hours(1), horizon, interval, count: COUNT };
    let dense: Vec<Array> = (0..3).map(|c| values(vec![steps, COUNT], c)).collect();
    let own = |owner: usize, name: &str, data| NewSeries::new(Owner::component(owner as i64, "Bus"), name, data);
    for (k, array) in dense.iter().chain(dense.first()).enumerate() {
        store.add(&own(k, "load", SeriesData::Deterministic { windows, values: array.view() })).unwrap();
    }
    let length = (COUNT - 1) * STRIDE + 24;
    let wide: Vec<Array> = (0..700).map(|c| values(vec![length], c)).collect();
    let narrow: Vec<Array> = (0..3).map(|c| values(vec![length, 2], c)).collect();
    let single = |values| SeriesData::Single { initial: UnixMillis(0), resolution: hours(1), values };
    let series: Vec<NewSeries> =
        wide.iter().chain(&narrow).enumerate().map(|(k, array)| own(k, "wind", single(array.view()))).collect();
    store.add_bulk(&series).unwrap();
    store.transform_single_time_series(hours(24), interval, &Filter::default()).unwrap();

    let filter =
        Filter { series_type: Some(SeriesType::Deterministic), resolution: Some(hours(1)), ..Filter::default() };
    let mut reader = ForecastReader::build(&store, &filter).unwrap();
    assert_eq!((reader.entries().len(), reader.slots().len()), (707, 706));
    reader.set_readahead(0);
    reader.read_window(0).unwrap();
    assert_eq!(requests_of_windows(&mut reader), 0);
    reader.set_readahead(DEFAULT_READAHEAD);
    requests_of_windows(&mut reader);
    assert_eq!(requests_of_windows(&mut reader), 0);
}

/// The requests of a sweep there and back.
fn requests_of_windows(reader: &mut ForecastReader) -> u64 {
    let before = requests();
    let (inflated, mut sum) = (reader.chunks_inflated(), 0u64);
    for k in (0..reader.len()).chain((0..reader.len()).rev()) {
        reader.read_window(k).unwrap();
        let instant = reader.timestamp_at(k).unwrap();
        reader.read(instant).unwrap();
        sum += (0..reader.slots().len()).map(|slot| u64::from(reader.values(slot)[0])).sum::<u64>();
    }
    let counted = requests() - before;
    assert!(sum > 0 && reader.chunks_inflated() > inflated);
    counted
}

/// Noise in more and more bytes of each value, so that later chunks are larger.
fn values(shape: Vec<usize>, column: usize) -> Array {
    let mut state = 88_172_645_463_325_252_u64 + column as u64;
    let len = shape.iter().product();
    let numbers: Vec<f64> = (0..len)
        .map(|k| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            f64::from_bits(1.0f64.to_bits() | state >> (12 + 52 - (52 * k / len).min(51)))
        })
        .collect();
    Array::from_f64(shape, &numbers).unwrap()
}
