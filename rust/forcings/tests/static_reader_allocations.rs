//! A sweep allocates nothing once its reader is built.

use forcings::array::{Array, DType};
use forcings::readers::StaticReader;
use forcings::series::{NewSeries, Owner};
use forcings::store::{CreateOptions, Filter, Store};
use forcings::time::{Period, UnixMillis};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

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

#[test]
fn a_sweep_allocates_nothing() {
    const STEPS: usize = 200;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("s.nc"), &CreateOptions::default()).unwrap();
    // Chunks of one row and of many, values that compress less and less, an element shape, a shared array.
    let wide: Vec<Array> = (0..700).map(|c| values(vec![STEPS], c)).collect();
    let narrow: Vec<Array> = (0..3).map(|c| values(vec![STEPS, 2], c)).collect();
    let all: Vec<&Array> = wide.iter().chain(&narrow).chain(wide.first()).collect();
    let series: Vec<NewSeries> = all
        .iter()
        .enumerate()
        .map(|(k, array)| {
            NewSeries::single(Owner::component(k as i64, "Bus"), "load", UnixMillis(0), Period::hours(1), array.view())
        })
        .collect();
    store.add_bulk(&series).unwrap();

    let filter = Filter { resolution: Some(Period::hours(1)), ..Filter::default() };
    let mut reader = StaticReader::build(&store, &filter).unwrap();
    assert_eq!(reader.groups().len(), 2);
    // The first read plans the datasets; the largest chunk may still come.
    reader.read_step(0).unwrap();
    let before = requests();
    let mut sum = 0u64;
    for step in (0..STEPS).chain((0..STEPS).rev()) {
        reader.read_step(step).unwrap();
        let instant = reader.timestamp_at(step).unwrap();
        reader.read(instant).unwrap();
        sum += reader.values(0).iter().chain(reader.values(1)).map(|b| u64::from(*b)).sum::<u64>();
    }
    assert_eq!(requests() - before, 0);
    assert!(sum > 0);
    assert_eq!(reader.groups()[0].dtype(), DType::F64);
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
