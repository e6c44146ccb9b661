//! Readers of irregular series and of step functions, whatever layout their arrays have.

use super::*;
use crate::series::{SeriesData, TimeReference};

pub(super) const IRREGULAR: SeriesType = SeriesType::NonSequentialTimeSeries;
pub(super) const PERSISTENT: SeriesType = SeriesType::PersistentTimeSeries;

/// A series at listed instants.
pub(super) fn new<'a>(
    series_type: SeriesType,
    owner: i64,
    instants: &[UnixMillis],
    values: &'a Array,
) -> NewSeries<'a> {
    let (timestamps, values) = (instants.to_vec(), values.view());
    let data = match series_type {
        IRREGULAR => SeriesData::NonSequential { timestamps, values },
        _ => SeriesData::Persistent { timestamps, values },
    };
    NewSeries::new(Owner::component(owner, "Fuel"), "price", data)
}

pub(super) fn typed(series_type: SeriesType) -> Filter {
    Filter { series_type: Some(series_type), ..Filter::default() }
}

fn hours(hours: &[i64]) -> Vec<UnixMillis> {
    hours.iter().map(|h| hour(*h)).collect()
}

/// The error of a read, after which nothing is left in the buffers.
fn refused(reader: &mut StaticReader, at: UnixMillis) -> crate::Error {
    let error = reader.read(at).unwrap_err();
    assert!((0..reader.groups().len()).all(|g| reader.values(g).is_empty()));
    error
}

#[test]
fn irregular_series_are_read_at_their_own_instants_only() {
    let store = Store::memory().unwrap();
    let instants = hours(&[1, 4, 1000]);
    let arrays = [ramp(3, 2), ramp(3, 1)];
    store.add_bulk(&[new(IRREGULAR, 2, &instants, &arrays[0]), new(IRREGULAR, 1, &instants, &arrays[1])]).unwrap();
    let mut reader = StaticReader::build(&store, &typed(IRREGULAR)).unwrap();
    assert_eq!((reader.len(), reader.resolution(), reader.grid()), (3, None, None));
    assert_eq!((reader.timestamps(), reader.series_type()), (instants.clone(), IRREGULAR));
    for (k, at) in instants.iter().enumerate() {
        reader.read(*at).unwrap();
        assert_eq!(doubles(reader.values(0)), [1000.0 + k as f64, 2000.0 + k as f64]);
        assert_eq!((reader.index_at(*at).unwrap(), reader.timestamp_at(k).unwrap()), (k, *at));
    }
    for off in [hour(0), hour(2), UnixMillis(hour(4).0 + 1), hour(1001)] {
        reader.read_step(0).unwrap();
        assert_eq!(refused(&mut reader, off).kind(), ErrorKind::OffGrid);
        assert_eq!(kind_of(reader.index_at(off)), ErrorKind::OffGrid);
    }
    assert_eq!(kind_of(reader.read_step(3)), ErrorKind::OffGrid);
    assert!(reader.values(0).is_empty());
}

#[test]
fn row_130_step_functions_carry_forward_each_on_its_own_breakpoints() {
    let store = Store::memory().unwrap();
    let (four, two) = (ramp(4, 1), ramp(2, 2));
    store.add(&new(PERSISTENT, 1, &hours(&[1, 4, 7, 10]), &four)).unwrap();
    store.add(&new(PERSISTENT, 2, &hours(&[1, 6]), &two)).unwrap();
    let mut reader = StaticReader::build(&store, &typed(PERSISTENT)).unwrap();
    assert_eq!(reader.timestamps(), hours(&[1, 4, 6, 7, 10]));
    assert_eq!((reader.resolution(), reader.index_at(hour(6)).unwrap()), (None, 2));
    // Between breakpoints and long after the last one there are values too.
    for (at, expected) in [(1, [0, 0]), (3, [0, 0]), (4, [1, 0]), (6, [1, 1]), (9, [2, 1]), (100_000, [3, 1])] {
        reader.read(hour(at)).unwrap();
        assert_eq!(doubles(reader.values(0)), [1000.0 + f64::from(expected[0]), 2000.0 + f64::from(expected[1])]);
    }
    reader.read_step(2).unwrap();
    assert_eq!(doubles(reader.values(0)), [1001.0, 2001.0]);
    assert_eq!(reader.index_at(hour(100_000)).unwrap(), 4);
    assert_eq!(refused(&mut reader, hour(0)).kind(), ErrorKind::OffGrid);
    assert_eq!(kind_of(reader.index_at(hour(0))), ErrorKind::OffGrid);
}

#[test]
fn row_131_sorting_into_groups_leaves_every_column_its_own_breakpoints() {
    let store = Store::memory().unwrap();
    let (odd, even) = (hours(&[1, 3, 5]), hours(&[0, 2, 4]));
    let arrays: Vec<(DType, Array)> = [DType::I64, DType::F64, DType::I32, DType::F64, DType::Bool, DType::F32]
        .into_iter()
        .enumerate()
        .map(|(k, dtype)| (dtype, pattern(dtype, vec![3, 1 + k % 2], k as u64)))
        .collect();
    for (k, (_, array)) in arrays.iter().enumerate() {
        store.add(&new(PERSISTENT, 9 - k as i64, if k % 3 == 0 { &odd } else { &even }, array)).unwrap();
    }
    let mut reader = StaticReader::build(&store, &typed(PERSISTENT)).unwrap();
    assert_eq!(reader.groups().len(), 5);
    for at in 1..7 {
        reader.read(hour(at)).unwrap();
        for (g, group) in reader.groups().iter().enumerate() {
            for (c, column) in group.columns().iter().enumerate() {
                let k = (9 - column.owner_id()) as usize;
                let row = if k % 3 == 0 { (at - 1) / 2 } else { at / 2 }.min(2) as usize;
                let block = group.element_bytes();
                assert_eq!(reader.values(g)[c * block..][..block], arrays[k].1.bytes()[row * block..][..block]);
                assert_eq!(group.dtype(), arrays[k].0);
            }
        }
    }
}

#[test]
fn row_132_an_instant_before_the_first_breakpoint_of_a_column_names_it() {
    let store = Store::memory().unwrap();
    let (two, one) = (ramp(2, 1), ramp(1, 2));
    store.add(&new(PERSISTENT, 1, &hours(&[1, 6]), &two)).unwrap();
    store.add(&new(PERSISTENT, 2, &hours(&[9]), &one)).unwrap();
    let mut reader = StaticReader::build(&store, &typed(PERSISTENT)).unwrap();
    assert_eq!(reader.timestamps(), hours(&[1, 6, 9]));
    reader.read(hour(9)).unwrap();
    for error in [refused(&mut reader, hour(8)), reader.read_step(0).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::OffGrid);
        for part in ["`price`", "Component 2 (Fuel)", "(id 2)", "first breakpoint is 1970-01-01T09:00:00"] {
            assert!(error.to_string().contains(part), "{part}: {error}");
        }
    }
    reader.read(hour(9)).unwrap();
    assert_eq!(doubles(reader.values(0)), [1001.0, 2000.0]);

    // One without breakpoints lets the reader be built, and every read fail.
    store.add(&new(PERSISTENT, 3, &[], &ramp(0, 0))).unwrap();
    let mut reader = StaticReader::build(&store, &typed(PERSISTENT)).unwrap();
    let error = refused(&mut reader, hour(9));
    assert!(
        error.to_string().contains("Component 3 (Fuel)") && error.to_string().contains("no breakpoints"),
        "{error}"
    );
    let only = Filter { owner_id: Some(3), ..typed(PERSISTENT) };
    assert_eq!(kind_of(StaticReader::build(&store, &only)), ErrorKind::InvalidParameter);
}

#[test]
fn rows_92_and_137_the_first_writer_of_the_bytes_decides_their_layout_and_every_reader_reads_both() {
    let instants = hours(&[0, 1, 2, 3]);
    let arrays = [ramp(4, 1), ramp(4, 2)];
    let regular = |k: usize| series(k as i64, "load", &arrays[k]);
    for packed_first in [true, false] {
        let store = Store::memory().unwrap();
        let listed = [IRREGULAR, PERSISTENT];
        if packed_first {
            store.add_bulk(&[regular(0), regular(1)]).unwrap();
        }
        for (k, array) in arrays.iter().enumerate() {
            let both = listed.map(|series_type| new(series_type, k as i64, &instants, array));
            store.add_bulk(&both).unwrap();
        }
        if !packed_first {
            store.add_bulk(&[regular(0), regular(1)]).unwrap();
        }
        let file = store.shared().arrays().unwrap();
        assert_eq!(file.locate(&arrays[0].view().hash()).is_some(), packed_first);
        for filter in [hourly(), typed(IRREGULAR), typed(PERSISTENT)] {
            let mut reader = StaticReader::build(&store, &filter).unwrap();
            for step in [2, 0, 3] {
                reader.read(hour(step)).unwrap();
                assert_eq!(doubles(reader.values(0)), [1000.0 + step as f64, 2000.0 + step as f64]);
            }
        }
        if packed_first {
            let mut reader = StaticReader::build(&store, &typed(PERSISTENT)).unwrap();
            reader.read(hour(77)).unwrap();
            assert_eq!(doubles(reader.values(0)), [1003.0, 2003.0]);
        }
    }
}

#[test]
fn a_type_without_series_makes_a_reader_over_nothing() {
    let store = Store::memory().unwrap();
    store.add(&series(1, "load", &ramp(3, 1))).unwrap();
    for series_type in [IRREGULAR, PERSISTENT] {
        let mut reader = StaticReader::build(&store, &typed(series_type)).unwrap();
        assert_eq!((reader.len(), reader.is_empty(), reader.time_reference()), (0, true, None));
        let error = reader.read(hour(0)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains(&format!("matched no {series_type}")), "{error}");
    }
}

#[test]
fn an_array_that_many_share_is_held_once_and_goes_with_the_last_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("s.nc"), &CreateOptions::default()).unwrap();
    let (instants, array) = (hours(&[0, 5]), ramp(2, 4));
    let mut ids: Vec<SeriesId> = (0..30).map(|k| store.add(&new(IRREGULAR, k, &instants, &array)).unwrap()).collect();
    let mut reader = StaticReader::build(&store, &typed(IRREGULAR)).unwrap();
    reader.read(hour(5)).unwrap();
    assert_eq!(doubles(reader.values(0)), [4001.0; 30]);
    assert_eq!(reader.chunks_inflated(), 1);
    let last = ids.pop().unwrap();
    store.remove(&ids).unwrap();
    store.flush().unwrap();
    reader.read(hour(0)).unwrap();
    assert_eq!(doubles(reader.values(0)), [4000.0; 30]);
    assert_eq!(reader.chunks_inflated(), 1);
    store.remove(&[last]).unwrap();
    store.flush().unwrap();
    assert_eq!(refused(&mut reader, hour(0)).kind(), ErrorKind::NotFound);
    assert_eq!(kind_of(reader.read_step(1)), ErrorKind::NotFound);
}

#[test]
fn a_sweep_inflates_every_chunk_of_every_variable_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.nc");
    let store = Store::create(&path, &CreateOptions::default()).unwrap();
    let instants: Vec<UnixMillis> = (0..50).map(|k| hour(k * k)).collect();
    let arrays: Vec<Array> = (0..40).map(|k| ramp(50, k % 30)).collect();
    for series_type in [IRREGULAR, PERSISTENT] {
        // The step functions start one after the other, but before the second half of the union.
        let part = |k: usize| if series_type == IRREGULAR { 0 } else { k % 7 };
        let cut: Vec<Array> = arrays
            .iter()
            .enumerate()
            .map(|(k, a)| Array::new(DType::F64, vec![50 - part(k)], a.bytes()[8 * part(k)..].to_vec()).unwrap())
            .collect();
        let items: Vec<NewSeries> =
            cut.iter().enumerate().map(|(k, a)| new(series_type, k as i64, &instants[part(k)..], a)).collect();
        store.add_bulk(&items).unwrap();
        let distinct: std::collections::HashSet<_> = cut.iter().map(|a| a.view().hash()).collect();
        for backward in [false, true] {
            let mut reader = StaticReader::build(&store, &typed(series_type)).unwrap();
            for k in 10..50 {
                let k = if backward { 59 - k } else { k };
                reader.read(instants[k]).unwrap();
                let expected: Vec<f64> = (0..40).map(|c| (1000 * (c % 30) + k) as f64).collect();
                assert_eq!(doubles(reader.values(0)), expected);
            }
            assert_eq!(reader.chunks_inflated(), distinct.len() as u64);
        }
    }
}

#[test]
fn row_146_a_reader_says_how_its_instants_are_spelled() {
    let store = Store::memory().unwrap();
    let (instants, array) = (hours(&[0, 5]), ramp(2, 4));
    let references = ["utc", "America/Denver", "-07:00", "zoneless"];
    for (k, text) in references.iter().enumerate() {
        for series_type in [IRREGULAR, PERSISTENT] {
            let mut item = new(series_type, k as i64, &instants, &array);
            item.time_reference = Some(text.parse().unwrap());
            store.add(&item).unwrap();
        }
        let mut item = series(k as i64, "load", &array);
        item.time_reference = Some(text.parse().unwrap());
        store.add(&item).unwrap();
    }
    for filter in [hourly(), typed(IRREGULAR), typed(PERSISTENT)] {
        let error = StaticReader::build(&store, &filter).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        for part in ["Component 3", "Component 0", "wall clock", "StaticReader"] {
            assert!(error.to_string().contains(part), "{part}: {error}");
        }
        let zoned = StaticReader::build(&store, &Filter { zoneless: Some(false), ..filter.clone() }).unwrap();
        assert_eq!(zoned.time_reference(), Some(&TimeReference::Utc));
        let clocks = StaticReader::build(&store, &Filter { zoneless: Some(true), ..filter.clone() }).unwrap();
        assert_eq!(clocks.time_reference(), Some(&TimeReference::Zoneless));
        let one = StaticReader::build(&store, &Filter { owner_id: Some(1), ..filter }).unwrap();
        assert_eq!(one.time_reference().map(ToString::to_string).as_deref(), Some("America/Denver"));
    }
}
