//! Series at listed instants: what is stored, what is refused, and what a range of time takes.

use super::*;

type Make = for<'a> fn(Vec<UnixMillis>, &'a Array) -> SeriesData<'a>;

const BOTH: [Make; 2] = [
    |timestamps, values| SeriesData::NonSequential { timestamps, values: values.view() },
    |timestamps, values| SeriesData::Persistent { timestamps, values: values.view() },
];

fn new<'a>(make: Make, timestamps: &[UnixMillis], values: &'a Array) -> NewSeries<'a> {
    NewSeries::new(Owner::component(1, "Bus"), "price", make(timestamps.to_vec(), values))
}

/// At the hours 1, 2.5, 4 and 1000 after the start.
fn uneven() -> Vec<UnixMillis> {
    [1.0, 2.5, 4.0, 1000.0].map(hour).to_vec()
}

fn version(store: &Store) -> String {
    store.shared().arrays().unwrap().attribute("data_format_version").unwrap()
}

#[test]
pub(super) fn row_49_instants_and_values_read_back_exactly() {
    let (_dir, stores) = stores();
    for store in stores {
        for (k, make) in BOTH.into_iter().enumerate() {
            let instants =
                ["1899-12-31T23:59:59.999Z", "1969-12-31T00:00:00Z", "2024-01-02T06:30:00.250Z"].map(instant);
            let values = Array::from_f64(vec![3, 2], &[1.0, f64::NAN, 3.0, f64::INFINITY, -0.0, 6.0]).unwrap();
            let mut series = new(make, &instants, &values);
            series.units = Some("EUR".into());
            let id = store.add(&series).unwrap();
            let read = store.read(id).unwrap();
            assert_eq!((&read.info.timestamps, &read.values), (&Some(instants.to_vec()), &values));
            assert_eq!((read.info.initial, read.info.resolution, read.info.length), (None, None, Some(3)));
            assert_eq!((read.info.series_type as usize, read.info.units.as_deref()), (k + 1, Some("EUR")));
            assert_eq!(store.read_many(&[id, id]).unwrap(), [read.clone(), read]);
        }
    }
}

#[test]
pub(super) fn rows_134_to_136_a_range_of_a_step_function_begins_with_the_value_in_force() {
    let store = Store::memory().unwrap();
    let id = store.add(&new(BOTH[1], &uneven(), &ramp(0))).unwrap();
    let cases = [
        (None, None, 0..4),
        (Some(1.0), Some(1.5), 0..1),
        (Some(1.5), Some(2.5), 0..1),
        (Some(2.6), Some(4.0), 1..2),
        (Some(2.5), None, 1..4),
        (Some(9999.0), None, 3..4),
        (None, Some(2.6), 0..2),
        (Some(3.0), Some(3.0), 2..2),
        (Some(-5.0), Some(-5.0), 0..0),
    ];
    for (from, to, expected) in cases {
        let read = store.read_range(id, from.map(hour), to.map(hour)).unwrap();
        assert_eq!(read.info.timestamps.as_deref(), Some(&uneven()[expected.clone()]), "{from:?} {to:?}");
        assert_eq!(read.values.to_f64().unwrap(), expected.map(|k| k as f64).collect::<Vec<_>>());
    }
    let error = store.read_range(id, Some(hour(0.5)), Some(hour(2.0))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    assert!(error.to_string().contains("`price`") && error.to_string().contains("first breakpoint"), "{error}");
    let none = Array::from_f64(vec![0], &[]).unwrap();
    store.remove(&[id]).unwrap();
    let empty = store.add(&new(BOTH[1], &[], &none)).unwrap();
    assert_eq!(store.read_range(empty, None, Some(START)).unwrap().values, none);
    assert_eq!(store.read_range(empty, Some(START), None).unwrap_err().kind(), ErrorKind::InvalidParameter);
}

#[test]
pub(super) fn rows_15_and_16_one_bad_series_keeps_the_whole_batch_out() {
    let (_dir, stores) = stores();
    let (four, scalar) = (ramp(0), Array::from_f64(vec![], &[1.0]).unwrap());
    let hollow = Array::from_f64(vec![4, 0], &[]).unwrap();
    let late = UnixMillis(UnixMillis::MAX_WRITABLE.0 + 1);
    for store in stores {
        for make in BOTH {
            let bad = [
                (new(make, &uneven()[..3], &four), "3 timestamps for 4 rows"),
                (
                    new(make, &[hour(1.0), hour(1.0), hour(2.0), hour(3.0)], &four),
                    "T01:00:00Z follows 2024-01-01T01:00:00Z",
                ),
                (
                    new(make, &[hour(0.0), hour(1.0), hour(3.0), hour(2.0)], &four),
                    "T02:00:00Z follows 2024-01-01T03:00:00Z",
                ),
                (new(make, &[hour(0.0), hour(1.0), hour(3.0), late], &four), "years 0 to 9999"),
                (new(make, &[hour(0.0)], &scalar), "no axis"),
                (new(make, &uneven(), &hollow), "axis of length 0"),
            ];
            for (series, rule) in bad {
                for error in [
                    store.add(&series).unwrap_err(),
                    store.add_bulk(&[super::series(5, "fine", &four), series.clone()]).unwrap_err(),
                ] {
                    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
                    assert!(error.to_string().contains("`price`") && error.to_string().contains(rule), "{error}");
                }
            }
        }
        assert!(names(&store).is_empty() && !holds(&store, four.view().hash()));
        assert_eq!(version(&store), "0.11.0");
    }
}

#[test]
pub(super) fn rows_74_92_and_137_one_array_for_every_type_that_has_it() {
    let (_dir, stores) = stores();
    for store in stores {
        let values = ramp(0);
        let items =
            [new(BOTH[0], &uneven(), &values), super::series(1, "price", &values), new(BOTH[1], &uneven(), &values)];
        let ids = store.add_bulk(&items).unwrap();
        let error =
            store.add(&new(BOTH[0], &uneven()[..2], &Array::from_f64(vec![2], &[1.0, 2.0]).unwrap())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DuplicateTimeSeries);
        let hash = values.view().hash();
        let arrays = store.shared().arrays().unwrap();
        assert!(arrays.locate(&hash).is_none(), "the first of the batch decides");
        for (id, item) in ids.iter().zip(&items) {
            let read = store.read(*id).unwrap();
            assert_eq!((read.info.hash, read.info.series_type, &read.values), (hash, item.series_type(), &values));
        }
        assert_eq!(
            store.read_range(ids[1], Some(hour(1.0)), Some(hour(3.0))).unwrap().values.to_f64(),
            Some(vec![1.0, 2.0])
        );
        store.remove(&ids[..2]).unwrap();
        store.flush().unwrap();
        assert_eq!(store.read(ids[2]).unwrap().values, values);
        store.remove(&ids[2..]).unwrap();
        store.flush().unwrap();
        assert!(!holds(&store, hash));
    }
}

#[test]
pub(super) fn row_68_many_reads_equal_single_reads_whatever_the_layout() {
    let (_dir, stores) = stores();
    for store in stores {
        let arrays: Vec<Array> = (0..6).map(ramp).collect();
        let make = |k: usize| match k % 3 {
            2 => super::series(k as i64, "price", &arrays[k]),
            kind => NewSeries { owner: Owner::component(k as i64, "Bus"), ..new(BOTH[kind], &uneven(), &arrays[k]) },
        };
        let ids = store.add_bulk(&(0..6).map(make).collect::<Vec<_>>()).unwrap();
        let order = [ids[4], ids[1], ids[0], ids[4], ids[5], ids[2], ids[3]];
        let one_by_one: Vec<_> = order.iter().map(|id| store.read(*id).unwrap()).collect();
        assert_eq!(store.read_many(&order).unwrap(), one_by_one);
        assert_eq!(one_by_one[1].values, arrays[1]);
    }
}

#[test]
pub(super) fn row_94_a_removed_array_lingers_in_the_file_and_not_in_the_catalog() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let store = Store::create(&path, &CreateOptions::default()).unwrap();
    let values = ramp(0);
    let id = store.add(&new(BOTH[0], &uneven(), &values)).unwrap();
    store.remove(&[id]).unwrap();
    store.close().unwrap();
    let store = Store::open(&path, &writable()).unwrap();
    assert!(names(&store).is_empty() && holds(&store, values.view().hash()));
    let id = store.add(&new(BOTH[0], &uneven(), &values)).unwrap();
    assert_eq!(store.read(id).unwrap().values, values);
}

#[test]
fn the_version_rises_with_the_first_step_function_that_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let store = Store::create(&path, &CreateOptions::default()).unwrap();
    let values = ramp(0);
    store.begin().unwrap();
    store.begin().unwrap();
    store.add(&new(BOTH[1], &uneven(), &values)).unwrap();
    store.rollback().unwrap();
    store.add(&new(BOTH[0], &uneven(), &values)).unwrap();
    store.commit().unwrap();
    assert_eq!(version(&store), "0.11.0");
    store.begin().unwrap();
    store.begin().unwrap();
    let id = store.add(&new(BOTH[1], &uneven(), &values)).unwrap();
    store.commit().unwrap();
    store.commit().unwrap();
    assert_eq!(version(&store), "0.11.1");
    store.close().unwrap();
    for options in [writable(), reading()] {
        let store = Store::open(&path, &options).unwrap();
        assert_eq!(version(&store), "0.11.1");
        assert_eq!(store.read(id).unwrap().values, values);
    }
}

#[test]
fn a_row_whose_timestamps_do_not_fit_is_damage() {
    let store = Store::memory().unwrap();
    let id = store.add(&new(BOTH[0], &uneven(), &ramp(0))).unwrap();
    for json in ["NULL", "'[]'", "'[1]'", "'{'", "'[\"2024-01-01T00:00:00Z\"]'"] {
        sql(&store, &format!("UPDATE time_series_associations SET timestamps_json = {json}"));
        for error in [
            store.read(id).unwrap_err(),
            store.read_range(id, None, None).unwrap_err(),
            store.read_many(&[id]).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Integrity, "{json}: {error}");
        }
    }
}
