use super::*;
use crate::array::{Array, DType};
use crate::series::{NewSeries, Owner, SeriesId, SeriesType};
use crate::store::{Compression, CreateOptions, Filter, OpenOptions, Store};
use crate::time::{Period, UnixMillis};
use crate::ErrorKind;
use proptest::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

mod ahead;
mod concurrent;
mod listed;
mod property;
mod shared;
mod stale;
mod windows;

const HOUR: Period = Period::hours(1);

fn hourly() -> Filter {
    Filter { resolution: Some(HOUR), ..Filter::default() }
}

fn hour(k: i64) -> UnixMillis {
    UnixMillis(k * 3_600_000)
}

fn series<'a>(owner: i64, name: &str, values: &'a Array) -> NewSeries<'a> {
    NewSeries::single(Owner::component(owner, "Bus"), name, UnixMillis(0), HOUR, values.view())
}

/// `steps` values `1000 * seed + step`.
fn ramp(steps: usize, seed: i64) -> Array {
    let values: Vec<f64> = (0..steps).map(|k| (1000 * seed + k as i64) as f64).collect();
    Array::from_f64(vec![steps], &values).unwrap()
}

/// An array of any type; every byte depends on `seed`.
pub(super) fn pattern(dtype: DType, shape: Vec<usize>, seed: u64) -> Array {
    let len = shape.iter().product::<usize>() * dtype.width();
    let byte = |i: usize| {
        (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(i as u64 * 0x2545_f491_4f6c_dd1d) >> 56) as u8
    };
    let byte = |i| if dtype == DType::Bool { byte(i) & 1 } else { byte(i) };
    Array::new(dtype, shape, (0..len).map(byte).collect()).unwrap()
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}

pub(super) fn kind_of<T: std::fmt::Debug>(result: crate::Result<T>) -> ErrorKind {
    result.unwrap_err().kind()
}

#[test]
fn every_series_gives_its_value_at_an_instant_in_the_order_of_owners() {
    let store = Store::memory().unwrap();
    let arrays = [ramp(5, 3), ramp(5, 1), ramp(5, 2)];
    let whole = pattern(DType::I64, vec![5, 2], 7);
    store.add_bulk(&[series(3, "load", &arrays[0]), series(1, "load", &arrays[1])]).unwrap();
    store.add(&series(2, "load", &arrays[2])).unwrap();
    store.add(&series(1, "price", &whole)).unwrap();

    let mut reader = StaticReader::build(&store, &hourly()).unwrap();
    assert_eq!((reader.len(), reader.is_empty()), (5, false));
    assert_eq!(reader.timestamps(), (0..5).map(hour).collect::<Vec<_>>());
    let names: Vec<(DType, Vec<i64>)> =
        reader.groups().iter().map(|g| (g.dtype(), g.columns().iter().map(|c| c.owner_id()).collect())).collect();
    assert_eq!(names, [(DType::F64, vec![1, 2, 3]), (DType::I64, vec![1])]);

    assert!(reader.values(0).is_empty(), "nothing was read yet");
    reader.read(hour(4)).unwrap();
    assert_eq!(doubles(reader.values(0)), [1004.0, 2004.0, 3004.0]);
    assert_eq!(reader.values(1), &whole.bytes()[4 * 16..]);
    reader.read_step(0).unwrap();
    assert_eq!(doubles(reader.values(0)), [1000.0, 2000.0, 3000.0]);
    assert!(reader.values(2).is_empty());
    for (i, at) in reader.timestamps().into_iter().enumerate() {
        assert_eq!((reader.index_at(at).unwrap(), reader.timestamp_at(i).unwrap()), (i, at));
    }
}

#[test]
fn row_123_an_instant_off_the_grid_is_an_error_and_empties_the_buffers() {
    let store = Store::memory().unwrap();
    let array = ramp(3, 1);
    store.add(&series(1, "load", &array)).unwrap();
    let mut reader = StaticReader::build(&store, &hourly()).unwrap();
    for at in [hour(-1), hour(3), UnixMillis(1), UnixMillis(3_599_999), UnixMillis(i64::MIN), UnixMillis(i64::MAX)] {
        reader.read_step(1).unwrap();
        assert_eq!(doubles(reader.values(0)), [1001.0]);
        assert_eq!(kind_of(reader.read(at)), ErrorKind::OffGrid);
        assert!(reader.values(0).is_empty());
        assert_eq!(kind_of(reader.index_at(at)), ErrorKind::OffGrid);
    }
    reader.read_step(2).unwrap();
    assert_eq!(kind_of(reader.read_step(3)), ErrorKind::OffGrid);
    assert!(reader.values(0).is_empty());
    assert_eq!(kind_of(reader.timestamp_at(3)), ErrorKind::OffGrid);
}

#[test]
fn row_121_datasets_that_spilled_and_columns_that_are_free_are_told_apart() {
    let store = Store::memory().unwrap();
    // A dataset of this pool has room for one column; the one of scalars has many, some of which become free.
    let wide: Vec<Array> = (0..3).map(|k| pattern(DType::F64, vec![2, 100_000], k)).collect();
    let small: Vec<Array> = (0..6).map(|k| ramp(2, k)).collect();
    let mut ids = Vec::new();
    for (k, array) in small.iter().enumerate() {
        ids.push(store.add(&series(k as i64, "load", array)).unwrap());
    }
    store
        .add_bulk(&[series(2, "shape", &wide[2]), series(0, "shape", &wide[0]), series(1, "shape", &wide[1])])
        .unwrap();
    store.remove(&[ids[1], ids[4]]).unwrap();
    store.flush().unwrap();
    assert_eq!(store.shared().arrays().unwrap().datasets().len(), 4);
    let mut reader = StaticReader::build(&store, &hourly()).unwrap();
    for step in [1, 0] {
        reader.read_step(step).unwrap();
        assert_eq!(doubles(reader.values(0)), [0, 2, 3, 5].map(|k| (1000 * k + step) as f64));
        for (k, array) in wide.iter().enumerate() {
            assert_eq!(reader.values(1)[k * 800_000..][..800_000], array.bytes()[step * 800_000..][..800_000]);
        }
    }
}

#[test]
fn a_reader_over_nothing_has_no_groups_and_every_read_says_so() {
    let store = Store::memory().unwrap();
    let mut reader = StaticReader::build(&store, &hourly()).unwrap();
    assert_eq!((reader.len(), reader.is_empty(), reader.groups().len(), reader.timestamps().len()), (0, true, 0, 0));
    for result in [reader.read(hour(0)), reader.read_step(0), reader.index_at(hour(0)).map(drop)] {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("matched no SingleTimeSeries"), "{error}");
    }
}

#[test]
fn a_selection_without_a_resolution_or_without_one_grid_is_refused() {
    let store = Store::memory().unwrap();
    let (short, long) = (ramp(3, 1), ramp(4, 2));
    store.add_bulk(&[series(1, "load", &short), series(2, "load", &long)]).unwrap();
    assert_eq!(kind_of(StaticReader::build(&store, &Filter::default())), ErrorKind::InvalidParameter);
    let typed = Filter { series_type: Some(SeriesType::Deterministic), ..hourly() };
    assert_eq!(kind_of(StaticReader::build(&store, &typed)), ErrorKind::InvalidParameter);
    let error = StaticReader::build(&store, &hourly()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    assert!(error.to_string().contains("Component 2 (Bus)"), "{error}");
    let one = Filter { owner_id: Some(2), ..hourly() };
    assert_eq!(StaticReader::build(&store, &one).unwrap().len(), 4);
}

#[test]
fn after_the_store_was_closed_reads_say_so() {
    let store = Store::memory().unwrap();
    let array = ramp(3, 1);
    store.add(&series(1, "load", &array)).unwrap();
    let mut reader = StaticReader::build(&store, &hourly()).unwrap();
    reader.read_step(0).unwrap();
    store.close().unwrap();
    assert_eq!(kind_of(reader.read_step(0)), ErrorKind::Closed);
    assert!(reader.values(0).is_empty());
    assert_eq!(reader.len(), 3);
    assert_eq!(kind_of(StaticReader::build(&store, &hourly())), ErrorKind::Closed);
}

#[test]
fn a_sweep_in_either_direction_inflates_every_chunk_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.nc");
    let store = Store::create(&path, &CreateOptions::default()).unwrap();
    // A wide dataset with a row a chunk, and a narrow one of tall chunks.
    let wide: Vec<Array> = (0..600).map(|k| ramp(40, k)).collect();
    let narrow: Vec<Array> = (0..3).map(|k| pattern(DType::F32, vec![40, 120], k)).collect();
    let all: Vec<NewSeries> =
        wide.iter().chain(&narrow).enumerate().map(|(k, a)| series(k as i64, "load", a)).collect();
    store.add_bulk(&all).unwrap();
    store.close().unwrap();

    let store = Store::open(&path, &OpenOptions { read_only: true, ..OpenOptions::default() }).unwrap();
    let chunks: u64 = store
        .shared()
        .arrays()
        .unwrap()
        .datasets()
        .iter()
        .map(|dataset| match &**dataset.state.read().layout().unwrap() {
            crate::chunks::Layout::Chunked(table) => table.entries.len() as u64,
            other => panic!("{other:?}"),
        })
        .sum();
    assert!(chunks > 40 && chunks < 80, "{chunks}");
    for backward in [false, true] {
        let mut reader = StaticReader::build(&store, &hourly()).unwrap();
        for step in 0..40 {
            let step = if backward { 39 - step } else { step };
            reader.read_step(step).unwrap();
            assert_eq!(doubles(reader.values(0))[599], (599_000 + step) as f64);
            assert_eq!(reader.values(1)[..480], narrow[0].bytes()[480 * step..480 * (step + 1)]);
        }
        assert_eq!(reader.chunks_inflated(), chunks, "backward: {backward}");
    }
}
