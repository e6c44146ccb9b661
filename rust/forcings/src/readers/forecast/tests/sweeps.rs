//! What a sweep decodes, and where arrays may lie.

use super::*;
use crate::chunks::Layout;
use crate::store::arrays::Place;

/// The chunks of the arrays that the slots of a reader have.
fn chunks(reader: &ForecastReader, store: &Store) -> u64 {
    let arrays = store.shared().arrays().unwrap();
    let mut known = Vec::new();
    let mut sum = 0;
    let count = |layout: &Layout| match layout {
        Layout::Chunked(table) => table.entries.len() as u64,
        other => panic!("{other:?}"),
    };
    for slot in reader.slots() {
        match arrays.find(&slot.hash).unwrap() {
            Place::Standalone(array) => sum += count(&array.layout),
            Place::Packed(column) if known.contains(&column.dataset.name) => {}
            Place::Packed(column) => {
                known.push(column.dataset.name.clone());
                sum += count(column.dataset.state.read().layout().unwrap());
            }
        }
    }
    sum
}

fn check_sweeps(store: &Store, filter: &Filter) -> u64 {
    let mut all = 0;
    for backward in [false, true] {
        let mut reader = ForecastReader::build(store, filter).unwrap();
        all = chunks(&reader, store);
        let count = reader.len();
        for k in 0..count {
            let k = if backward { count - 1 - k } else { k };
            reader.read_window(k).unwrap();
            if k % 7 == 0 {
                check(&reader, store, k);
            }
        }
        assert_eq!(reader.chunks_inflated(), all, "backward: {backward}");
        // Turning round costs nothing while rows and blocks are still held.
        let near = if backward { 1 } else { count - 2 };
        reader.read_window(near).unwrap();
        check(&reader, store, near);
    }
    all
}

#[test]
fn row_139_a_sweep_decodes_every_block_of_windows_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("s.nc"), &CreateOptions::default()).unwrap();
    // Windows of 64 KiB, so 16 in a block; of which the last is ragged.
    let values: Vec<Array> = (0..2).map(|k| pattern(DType::F64, vec![8192, 37], k)).collect();
    for (owner, values) in values.iter().enumerate() {
        store.add(&dense(owner as i64, windows(8192, 24, 37), values)).unwrap();
    }
    assert_eq!(check_sweeps(&store, &deterministic()), 6);
    let scenarios = pattern(DType::F32, vec![16, 1024, 40, 2], 5);
    let data = SeriesData::Scenarios { windows: windows(1024, 24, 40), values: scenarios.view() };
    store.add(&forecast(1, "load", data)).unwrap();
    assert_eq!(check_sweeps(&store, &filter(SeriesType::Scenarios)), 5);
}

#[test]
fn a_sweep_over_derived_windows_decodes_every_band_of_rows_once() {
    let folder = tempfile::tempdir().unwrap();
    for (columns, steps, stride) in [(3, 24, 1), (3, 24, 24), (600, 10, 3), (40, 30, 7)] {
        let path = folder.path().join(format!("{columns}-{stride}.nc"));
        let store = Store::create(&path, &CreateOptions::default()).unwrap();
        let length = 20 * stride as usize + steps as usize;
        let all: Vec<Array> = (0..columns).map(|k| pattern(DType::F64, vec![length, 2], k)).collect();
        let items: Vec<NewSeries> = all.iter().enumerate().map(|(k, values)| single(k as i64, values)).collect();
        store.add_bulk(&items).unwrap();
        let whole = Filter::default();
        store.transform_single_time_series(Period::hours(steps), Period::hours(stride), &whole).unwrap();
        store.close().unwrap();
        let store = Store::open(&path, &OpenOptions { read_only: true, ..OpenOptions::default() }).unwrap();
        let chunks = check_sweeps(&store, &deterministic());
        assert!(if columns > 500 { chunks == length as u64 } else { chunks < length as u64 }, "{chunks}");
    }
}

#[test]
fn slots_of_one_column_with_windows_of_several_lengths() {
    let store = Store::memory().unwrap();
    let values = pattern(DType::F64, vec![24], 1);
    derive(&store, 1, &values, 4, 2);
    derive(&store, 2, &values, 3, 2);
    let mut reader = ForecastReader::build(&store, &deterministic()).unwrap();
    assert_eq!((reader.len(), reader.slots().len()), (11, 2));
    for k in [10, 9, 0, 1, 5, 4] {
        reader.read_window(k).unwrap();
        check(&reader, &store, k);
    }
}

#[test]
fn row_92_an_array_may_lie_where_another_type_of_series_put_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.nc");
    let store = Store::create(&path, &CreateOptions::default()).unwrap();
    // Dense forecasts in packed columns.
    for owner in 0..3u64 {
        let values = pattern(DType::F64, vec![4, 11, 2], owner);
        store.add(&single(owner as i64, &values)).unwrap();
        store.add(&dense(owner as i64 + 10, windows(4, 2, 11), &values)).unwrap();
    }
    // Derived ones over variables of their own: of an irregular series, and of a forecast.
    let (line, block) = (pattern(DType::F64, vec![24], 7), pattern(DType::F64, vec![24, 2], 8));
    let timestamps = (0..24).map(hour).collect();
    store.add(&forecast(20, "a", SeriesData::NonSequential { timestamps, values: line.view() })).unwrap();
    derive(&store, 20, &line, 4, 2);
    store
        .add(&forecast(21, "a", SeriesData::Deterministic { windows: windows(24, 24, 2), values: block.view() }))
        .unwrap();
    derive(&store, 21, &block, 4, 2);
    // And a dense one over a variable that is one chunk.
    let whole = pattern(DType::F64, vec![5, 11], 9);
    let timestamps = (0..5).map(hour).collect();
    store.add(&forecast(22, "a", SeriesData::NonSequential { timestamps, values: whole.view() })).unwrap();
    store.add(&dense(22, windows(5, 2, 11), &whole)).unwrap();
    let only = Filter { name: Some("load".into()), ..deterministic() };
    for reopen in [false, true] {
        let store = match reopen {
            false => store.clone(),
            true => {
                store.close().unwrap();
                Store::open(&path, &OpenOptions { read_only: true, ..OpenOptions::default() }).unwrap()
            }
        };
        let mut reader = ForecastReader::build(&store, &only).unwrap();
        assert_eq!((reader.len(), reader.entries().len(), reader.slots().len()), (11, 6, 6));
        for k in (0..11).chain((0..11).rev()) {
            reader.read_window(k).unwrap();
            check(&reader, &store, k);
        }
    }
}

/// Writes the array file anew, as other software may: with other chunks of forecasts, or without any.
fn rewrite(path: &std::path::Path, chunks: Option<&[usize]>) {
    let old = netcdf::open(path).unwrap();
    let copy = path.with_extension("copy");
    let mut new = netcdf::create(&copy).unwrap();
    for attribute in old.attributes() {
        new.add_attribute(attribute.name(), attribute.value().unwrap()).unwrap();
    }
    let mut parent = new.add_group("time_series").unwrap();
    let mut target = parent.add_group("single").unwrap();
    let outer = old.group("time_series").unwrap().unwrap();
    for variable in outer.group("single").unwrap().variables() {
        let names: Vec<String> = variable.dimensions().iter().map(|d| d.name()).collect();
        for dimension in variable.dimensions() {
            target.add_dimension(&dimension.name(), dimension.len()).unwrap();
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut made = target.add_variable::<f64>(&variable.name(), &names).unwrap();
        if let Some(chunks) = chunks {
            made.set_chunking(chunks).unwrap();
            made.set_compression(2, true).unwrap();
        }
        made.put_values(&variable.get_values::<f64, _>(..).unwrap(), ..).unwrap();
    }
    new.close().unwrap();
    std::fs::rename(copy, path).unwrap();
}

#[test]
fn chunks_of_other_software_are_read_whatever_their_shape() {
    let folder = tempfile::tempdir().unwrap();
    let arrays: Vec<Array> = (0..3)
        .map(|seed| {
            Array::from_f64(vec![6, 11], &(0..66).map(|k| (100 * seed + k) as f64).collect::<Vec<_>>()).unwrap()
        })
        .collect();
    for (n, chunks) in [None, Some([6, 4]), Some([6, 11]), Some([6, 1]), Some([1, 11]), Some([4, 3])].iter().enumerate()
    {
        let path = folder.path().join(format!("{n}.nc"));
        let store = Store::create(&path, &CreateOptions::default()).unwrap();
        for (owner, values) in arrays.iter().enumerate() {
            store.add(&dense(owner as i64, windows(6, 24, 11), values)).unwrap();
        }
        store.close().unwrap();
        rewrite(&path, chunks.as_ref().map(|c| &c[..]));
        let store = Store::open(&path, &OpenOptions { read_only: true, ..OpenOptions::default() }).unwrap();
        let mut reader = ForecastReader::build(&store, &deterministic()).unwrap();
        for k in (0..11).chain((0..11).rev()) {
            reader.read_window(k).unwrap();
            for (slot, values) in arrays.iter().enumerate() {
                assert_eq!(reader.values(slot), window_of(values, 1, k), "window {k}, chunks {chunks:?}");
            }
        }
    }
}
