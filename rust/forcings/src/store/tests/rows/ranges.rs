//! Rows 54 to 60, 64, 65 and 67: what a range of time takes of each type.
//!
//! Reads by a count of steps are no part of this store: a read has a range of time. Rows 64 and 65 are tested by the range
//! that stands for the count.

use super::*;
use crate::series::Windows;

/// One series of each type that is added, with four steps, instants or windows an hour apart.
fn of_every_type(store: &Store) -> Vec<SeriesId> {
    let (line, plane) = (ramp(0), Array::from_f64(vec![1, 4], &[0.0, 1.0, 2.0, 3.0]).unwrap());
    let cube = Array::from_f64(vec![1, 1, 4], &[0.0, 1.0, 2.0, 3.0]).unwrap();
    let hour_1 = Period::hours(1);
    let windows = Windows { initial: START, resolution: hour_1, horizon: hour_1, interval: hour_1, count: 4 };
    let timestamps: Vec<UnixMillis> = (0..4).map(|k| hour(f64::from(k))).collect();
    let all = [
        SeriesData::Single { initial: START, resolution: hour_1, values: line.view() },
        SeriesData::NonSequential { timestamps: timestamps.clone(), values: line.view() },
        SeriesData::Persistent { timestamps, values: line.view() },
        SeriesData::Deterministic { windows, values: plane.view() },
        SeriesData::Probabilistic { windows, percentiles: vec![0.5], values: cube.view() },
        SeriesData::Scenarios { windows, values: cube.view() },
    ];
    let item = |data| NewSeries::new(Owner::component(1, "Bus"), "load", data);
    let mut ids = store.add_bulk(&all.map(item)).unwrap();
    // One that is derived has a name of its own: a dense one is there already.
    let source = add(store, 1, "other", &ramp(0));
    let only = Filter { ids: Some(vec![source]), ..Filter::default() };
    ids.extend(store.transform_single_time_series(hour_1, hour_1, &only).unwrap().ids);
    ids
}

#[test]
pub(super) fn rows_54_to_56_and_58_a_range_takes_the_steps_that_it_overlaps() {
    each(
        |store| add(store, 1, "load", &ramp(0)),
        |store, id| {
            let ms = 1.0 / HOUR as f64;
            let cases = [
                (1.5, 4.0, 1, 3),
                (0.0, 2.0, 0, 2),
                (0.0, 2.0 + ms, 0, 3),
                (2.0, 3.0, 2, 1),
                (2.0, 2.0, 2, 0),
                // A range without extent inside a step takes the step: it lies in the cover of that value.
                (2.5, 2.5, 2, 1),
                (2.0 - ms, 2.0, 1, 1),
                (3.0 + ms, 9.0, 3, 1),
                (4.0, 9.0, 4, 0),
                (-9.0, -1.0, 0, 0),
                (9.0, 10.0, 4, 0),
                (-9.0, 9.0, 0, 4),
            ];
            for (from, to, first, steps) in cases {
                let read = store.read_range(*id, Some(hour(from)), Some(hour(to))).unwrap();
                let expected: Vec<f64> = (first..first + steps).map(f64::from).collect();
                let initial = Some(hour(f64::from(first)));
                assert_eq!((read.info.initial, read.values.to_f64()), (initial, Some(expected)), "{from} to {to}");
                assert_eq!(read.info.length, Some(steps as u64));
            }
        },
    );
}

#[test]
pub(super) fn row_57_no_type_has_a_range_that_ends_before_it_begins() {
    each(of_every_type, |store, ids| {
        assert_eq!(ids.len(), 7);
        for id in ids {
            for (from, to) in [(2.0, 1.0), (9.0, 8.0), (-1.0, -2.0), (1.0, 1.0 - 1.0 / HOUR as f64)] {
                let error = store.read_range(*id, Some(hour(from)), Some(hour(to))).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{error}");
            }
        }
    });
}

#[test]
pub(super) fn row_59_a_range_begins_with_the_next_instant_and_ends_before_its_end() {
    let instants = [1.0, 2.5, 4.0, 1000.0].map(hour);
    let values = ramp(0);
    let data = || SeriesData::NonSequential { timestamps: instants.to_vec(), values: values.view() };
    each(
        |store| store.add(&NewSeries::new(Owner::component(1, "Bus"), "outage", data())).unwrap(),
        |store, id| {
            for (from, to, expected) in [
                (1.5, 4.0, 1..2),
                (1.0, 1000.0, 0..3),
                (4.5, 999.0, 3..3),
                (2.5, 1001.0, 1..4),
                (1000.5, 1001.0, 4..4),
                (-1e6, 1e8, 0..4),
            ] {
                let read = store.read_range(*id, Some(hour(from)), Some(hour(to))).unwrap();
                assert_eq!(read.info.timestamps.as_deref(), Some(&instants[expected.clone()]));
                assert_eq!(read.values.to_f64().unwrap(), expected.map(|k| k as f64).collect::<Vec<_>>());
            }
        },
    );
}

#[test]
pub(super) fn row_60_a_range_of_one_column_has_nothing_of_its_neighbours() {
    let numbers = |n: i32| (0..42).map(|k| f64::from(n * 100 + k)).collect::<Vec<_>>();
    let arrays: Vec<Array> = (0..5).map(|n| Array::from_f64(vec![7, 3, 2], &numbers(n)).unwrap()).collect();
    let fill = |store: &Store| {
        let items: Vec<_> = arrays.iter().zip(0..).map(|(a, owner)| series(owner, "load", a)).collect();
        store.add_bulk(&items).unwrap()
    };
    each(fill, |store, ids| {
        let read = store.read_range(ids[3], Some(hour(2.0)), Some(hour(5.0))).unwrap();
        let expected: Vec<f64> = (12..30).map(|k| f64::from(300 + k)).collect();
        assert_eq!(read.values, Array::from_f64(vec![3, 3, 2], &expected).unwrap());
    });
}

#[test]
pub(super) fn rows_64_and_65_a_range_is_clipped_and_an_open_one_goes_on_to_the_end() {
    each(of_every_type, |store, ids| {
        for id in ids {
            let whole = store.read(*id).unwrap();
            let past = store.read_range(*id, Some(START), Some(hour(100.0))).unwrap();
            assert_eq!(past.values, whole.values, "an end past the last is that of the series");
            let none = store.read_range(*id, Some(START), Some(START)).unwrap();
            assert!(none.values.bytes().is_empty(), "no extent, no values");
            let last = store.read_range(*id, Some(hour(3.0)), None).unwrap();
            assert_eq!(last.values.to_f64().unwrap(), [3.0], "from the last instant on there is one value");
        }
    });
}

#[test]
fn many_ranges_equal_single_ranges_whatever_the_type_and_the_layout() {
    each(of_every_type, |store, ids| {
        let order: Vec<SeriesId> = ids.iter().rev().chain(ids).copied().collect();
        for (from, to) in [(1.0, 3.0), (0.0, 4.0), (2.0, 2.0), (3.0, 9.0)] {
            let range = crate::series::TimeRange::floating(Some(hour(from)), Some(hour(to)));
            let single = |id: &SeriesId| store.read_range(*id, Some(hour(from)), Some(hour(to))).unwrap();
            let one_by_one: Vec<_> = order.iter().map(single).collect();
            assert_eq!(store.read_within(&order, &range).unwrap(), one_by_one);
        }
    });
}

#[test]
pub(super) fn row_67_many_ids_keep_their_order_and_one_unknown_fails_all() {
    let fill = |store: &Store| [add(store, 1, "a", &ramp(0)), add(store, 2, "b", &ramp(9))];
    each(fill, |store, [a, b]| {
        let order = |series: Vec<crate::series::Series>| series.iter().map(|s| s.info.id).collect::<Vec<_>>();
        let all_of_it = crate::series::TimeRange::floating(Some(START), None);
        assert_eq!(order(store.read_many(&[*b, *a, *b]).unwrap()), [*b, *a, *b]);
        assert_eq!(order(store.read_within(&[*b, *a, *b], &all_of_it).unwrap()), [*b, *a, *b]);
        assert!(store.read_many(&[]).unwrap().is_empty() && store.read_within(&[], &all_of_it).unwrap().is_empty());
        let unknown = [*a, SeriesId(99), *b];
        for error in [store.read_many(&unknown).unwrap_err(), store.read_within(&unknown, &all_of_it).unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::NotFound);
            assert!(error.to_string().contains("99"), "{error}");
        }
    });
}
