use super::*;
use crate::array::{Array, DType};
use crate::series::{NewSeries, Owner, SeriesId, SeriesType};
use crate::store::{CreateOptions, Filter, OpenOptions, Store};
use crate::time::{Period, UnixMillis};
use crate::ErrorKind;
use proptest::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

mod concurrent;

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
fn pattern(dtype: DType, shape: Vec<usize>, seed: u64) -> Array {
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

fn kind_of<T: std::fmt::Debug>(result: crate::Result<T>) -> ErrorKind {
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
        reader.groups().iter().map(|g| (g.dtype(), g.columns().iter().map(|c| c.owner.id).collect())).collect();
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
fn an_instant_off_the_grid_is_an_error_and_empties_the_buffers() {
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
fn columns_are_those_of_the_build() {
    let store = Store::memory().unwrap();
    let arrays = [ramp(3, 1), ramp(3, 2)];
    store.add(&series(1, "load", &arrays[0])).unwrap();
    let mut reader = StaticReader::build(&store, &hourly()).unwrap();
    store.add(&series(2, "load", &arrays[1])).unwrap();
    reader.read_step(2).unwrap();
    assert_eq!(doubles(reader.values(0)), [1002.0]);
    assert_eq!(StaticReader::build(&store, &hourly()).unwrap().groups()[0].columns().len(), 2);
}

#[test]
fn a_removed_series_is_named_at_the_next_read_even_if_its_array_is_still_there() {
    let store = Store::memory().unwrap();
    let (shared, own) = (ramp(3, 1), ramp(3, 2));
    let ids =
        store.add_bulk(&[series(1, "load", &shared), series(2, "load", &shared), series(3, "load", &own)]).unwrap();
    let mut reader = StaticReader::build(&store, &hourly()).unwrap();
    reader.read_step(0).unwrap();
    assert_eq!(doubles(reader.values(0)), [1000.0, 1000.0, 2000.0]);

    let mut others = StaticReader::build(&store, &Filter { owner_id: Some(1), ..hourly() }).unwrap();
    store.remove(&ids[1..2]).unwrap();
    for _ in 0..2 {
        let error = reader.read_step(1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("Component 2 (Bus)"), "{error}");
        assert!(reader.values(0).is_empty());
    }
    others.read_step(1).unwrap();
    assert_eq!(doubles(others.values(0)), [1001.0]);
}

#[test]
fn a_removal_that_is_rolled_back_leaves_the_reader_as_it_was() {
    let store = Store::memory().unwrap();
    let array = ramp(3, 1);
    let id = store.add(&series(1, "load", &array)).unwrap();
    let mut reader = StaticReader::build(&store, &hourly()).unwrap();
    store.begin().unwrap();
    store.remove(&[id]).unwrap();
    assert_eq!(kind_of(reader.read_step(1)), ErrorKind::NotFound);
    store.rollback().unwrap();
    reader.read_step(1).unwrap();
    assert_eq!(doubles(reader.values(0)), [1001.0]);
}

#[test]
fn a_column_that_another_array_took_is_never_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("s.nc"), &CreateOptions::default()).unwrap();
    let arrays = [ramp(3, 1), ramp(3, 2), ramp(3, 3)];
    let first = store.add(&series(1, "load", &arrays[0])).unwrap();
    store.add(&series(2, "load", &arrays[1])).unwrap();
    let mut reader = StaticReader::build(&store, &hourly()).unwrap();
    reader.read_step(0).unwrap();
    // The array leaves its column, which another takes; then it comes back under the same key, in another place.
    store.remove(&[first]).unwrap();
    store.flush().unwrap();
    store.add(&series(3, "load", &arrays[2])).unwrap();
    store.flush().unwrap();
    let error = reader.read_step(0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("Component 1 (Bus)"), "{error}");

    let mut fresh = StaticReader::build(&store, &hourly()).unwrap();
    fresh.read_step(2).unwrap();
    assert_eq!(doubles(fresh.values(0)), [2002.0, 3002.0]);
}

#[test]
fn an_array_that_moves_to_another_column_is_followed() {
    let store = Store::memory().unwrap();
    let arrays = [ramp(3, 1), ramp(3, 2), ramp(3, 3)];
    let first = store.add(&series(1, "load", &arrays[0])).unwrap();
    store.add(&series(2, "load", &arrays[1])).unwrap();
    let kept = Filter { owner_id: Some(2), ..hourly() };
    let mut reader = StaticReader::build(&store, &kept).unwrap();
    reader.read_step(1).unwrap();
    let shared = store.shared().arrays().unwrap();
    let hash = arrays[1].view().hash();
    let (before, key) = (shared.locate(&hash).unwrap(), shared.locate(&hash).unwrap().dataset.pool.clone());
    // Behind the catalog's back: out of its column, another array into that, and back in elsewhere.
    store.remove(&[first]).unwrap();
    store.flush().unwrap();
    shared.remove_many(&[hash]).unwrap();
    shared.put_one(&key, arrays[2].view().hash(), arrays[2].view()).unwrap();
    shared.put_one(&key, arrays[0].view().hash(), arrays[0].view()).unwrap();
    shared.put_one(&key, hash, arrays[1].view()).unwrap();
    shared.settle().unwrap();
    assert_ne!(shared.locate(&hash).unwrap().column, before.column);
    reader.read_step(1).unwrap();
    assert_eq!(doubles(reader.values(0)), [2001.0]);
    // Gone for good, although the catalog has its row.
    shared.remove_many(&[hash]).unwrap();
    for _ in 0..2 {
        let error = reader.read_step(1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("Component 2 (Bus)"), "{error}");
        assert!(reader.values(0).is_empty());
    }
    shared.put_one(&key, hash, arrays[1].view()).unwrap();
    reader.read_step(2).unwrap();
    assert_eq!(doubles(reader.values(0)), [2002.0]);
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

/// A few series of a random store: the type, the element shape, whether the array is one that others have too, and how
/// many are added with it.
#[derive(Debug, Clone)]
struct Batch {
    dtype: DType,
    element_shape: Vec<usize>,
    columns: usize,
    repeats: u64,
}

fn batch() -> impl Strategy<Value = Batch> {
    let shapes = prop_oneof![
        4 => Just(vec![]), 1 => Just(vec![3]), 1 => Just(vec![2, 2]), 1 => Just(vec![700]),
        1 => Just(vec![150_000]),
    ];
    (0u8..6, shapes, prop_oneof![4 => 1usize..5, 1 => Just(40)], 1u64..9).prop_map(
        |(code, element_shape, columns, repeats)| {
            let columns = if element_shape.iter().product::<usize>() > 1000 { columns.min(3) } else { columns };
            Batch { dtype: DType::from_code(code).unwrap(), element_shape, columns, repeats }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_reader_agrees_with_whole_series(
        batches in proptest::collection::vec(batch(), 1..5),
        steps in 1usize..14,
        on_disk in any::<bool>(),
        one_by_one in any::<bool>(),
        removed in proptest::collection::vec(0usize..200, 0..4),
        order in proptest::collection::vec(0usize..14, 1..20),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.nc");
        let mut store = if on_disk { Store::create(&path, &CreateOptions::default()) } else { Store::memory() }.unwrap();
        let mut ids: Vec<SeriesId> = Vec::new();
        for (b, batch) in batches.iter().enumerate() {
            let shape: Vec<usize> = [steps].iter().chain(&batch.element_shape).copied().collect();
            let arrays: Vec<Array> =
                (0..batch.columns).map(|k| pattern(batch.dtype, shape.clone(), k as u64 % batch.repeats)).collect();
            // Owners in an order that is not that of the columns.
            let items: Vec<NewSeries> = arrays
                .iter()
                .enumerate()
                .map(|(k, a)| series((k as i64 * 7) % 5, &format!("{b}-{k}"), a))
                .collect();
            if one_by_one {
                for item in &items {
                    ids.push(store.add(item).unwrap());
                }
            } else {
                ids.extend(store.add_bulk(&items).unwrap());
            }
        }
        for k in removed {
            if ids.len() > 1 {
                store.remove(&[ids.swap_remove(k % ids.len())]).unwrap();
            }
        }
        if on_disk {
            store.close().unwrap();
            store = Store::open(&path, &OpenOptions { read_only: true, ..OpenOptions::default() }).unwrap();
        }
        let mut reader = StaticReader::build(&store, &hourly()).unwrap();
        prop_assert_eq!(reader.groups().iter().map(|g| g.columns().len()).sum::<usize>(), ids.len());
        let whole: Vec<Vec<Array>> = reader
            .groups()
            .iter()
            .map(|g| g.columns().iter().map(|c| store.read(c.id).unwrap().values).collect())
            .collect();
        for step in order.into_iter().map(|k| k % steps) {
            reader.read_step(step).unwrap();
            for (g, arrays) in whole.iter().enumerate() {
                let block = reader.groups()[g].element_bytes();
                let expected: Vec<u8> =
                    arrays.iter().flat_map(|a| a.bytes()[step * block..(step + 1) * block].to_vec()).collect();
                prop_assert!(reader.values(g) == expected, "group {} at step {}", g, step);
            }
        }
    }
}
