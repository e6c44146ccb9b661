//! Forecasts: what is stored, what is refused, and which windows a range of time takes.

use super::*;
use crate::array::DType;
use crate::series::Windows;

fn day(k: f64) -> UnixMillis {
    hour(24.0 * k)
}

/// Daily windows of three hours.
fn windows(count: usize) -> Windows {
    Windows {
        initial: START,
        resolution: Period::hours(1),
        horizon: Period::hours(3),
        interval: Period::hours(24),
        count,
    }
}

/// Numbers `0, 1, 2, ..` in this shape.
fn numbers(shape: &[usize]) -> Array {
    let count: usize = shape.iter().product();
    Array::from_f64(shape.to_vec(), &(0..count).map(|k| k as f64).collect::<Vec<_>>()).unwrap()
}

fn new<'a>(owner: i64, data: SeriesData<'a>) -> NewSeries<'a> {
    NewSeries::new(Owner::component(owner, "Bus"), "load", data)
}

fn deterministic(windows: Windows, values: &Array) -> NewSeries<'_> {
    new(1, SeriesData::Deterministic { windows, values: values.view() })
}

fn probabilistic<'a>(windows: Windows, percentiles: &[f64], values: &'a Array) -> NewSeries<'a> {
    new(1, SeriesData::Probabilistic { windows, percentiles: percentiles.to_vec(), values: values.view() })
}

fn scenarios(windows: Windows, values: &Array) -> NewSeries<'_> {
    new(1, SeriesData::Scenarios { windows, values: values.view() })
}

#[test]
pub(super) fn row_79_every_type_shape_and_element_reads_back() {
    let (_dir, stores) = stores();
    let one = Windows { horizon: Period::hours(1), ..windows(1) };
    for store in stores {
        let mut expected = Vec::new();
        for (owner, dtype) in DType::ALL.into_iter().enumerate() {
            for (windows, tail) in
                [(windows(4), vec![3, 4]), (windows(4), vec![3, 4, 2, 5]), (windows(0), vec![3, 0]), (one, vec![1, 1])]
            {
                for outer in [None, Some(1), Some(2)] {
                    let shape: Vec<usize> = outer.into_iter().chain(tail.clone()).collect();
                    let len = crate::array::byte_len(dtype, &shape).unwrap();
                    let bytes =
                        (0..len).map(|k| if dtype == DType::Bool { k as u8 % 2 } else { (k * 91 + owner) as u8 });
                    let values = Array::new(dtype, shape.clone(), bytes.collect()).unwrap();
                    let view = values.view();
                    let mut kinds = match outer {
                        None => vec![SeriesData::Deterministic { windows, values: view }],
                        Some(n) => vec![
                            SeriesData::Scenarios { windows, values: view },
                            SeriesData::Probabilistic {
                                windows,
                                percentiles: (0..n).map(|k| k as f64 - 0.1).collect(),
                                values: view,
                            },
                        ],
                    };
                    for data in kinds.drain(..) {
                        let series = NewSeries { name: format!("{shape:?}"), ..new(owner as i64, data) };
                        expected.push((store.add(&series).unwrap(), windows, values.clone()));
                    }
                }
            }
        }
        let ids: Vec<SeriesId> = expected.iter().map(|(id, ..)| *id).collect();
        let many = store.read_many(&ids).unwrap();
        for ((id, windows, values), read) in expected.iter().zip(&many) {
            assert_eq!((&read.values, read.windows), (values, Some(*windows)));
            assert_eq!(store.read(*id).unwrap(), *read);
        }
    }
}

#[test]
fn a_row_has_the_fields_of_its_type() {
    let store = Store::memory().unwrap();
    let (plane, cube) = (numbers(&[3, 4, 5]), numbers(&[2, 3, 4, 5]));
    store.add(&deterministic(windows(4), &plane)).unwrap();
    store.add(&probabilistic(windows(4), &[0.1, 1e-7 + 10.0], &cube)).unwrap();
    store.add(&scenarios(windows(4), &cube)).unwrap();
    let rows = all(&store);
    assert_eq!((rows[0].length, &rows[0].element_shape[..]), (Some(3), &[4, 5][..]));
    assert_eq!((rows[1].length, &rows[1].element_shape[..]), (Some(2), &[3, 4, 5][..]));
    assert_eq!((rows[2].length, &rows[2].element_shape[..]), (Some(2), &[3, 4, 5][..]));
    assert_eq!(rows[1].percentiles.as_deref(), Some(&[0.1, 1e-7 + 10.0][..]));
    for row in &rows {
        assert_eq!((row.initial, row.resolution), (Some(START), Some(Period::hours(1))));
        assert_eq!((row.horizon, row.interval, row.count), (Some(Period::hours(3)), Some(Period::hours(24)), Some(4)));
        assert_eq!((&row.timestamps, row.series_type == SeriesType::Probabilistic), (&None, row.percentiles.is_some()));
        assert_eq!(row.grid().unwrap_err().kind(), ErrorKind::Integrity);
    }
    assert_eq!(rows[1].hash, rows[2].hash);
}

#[test]
fn the_catalog_has_the_texts_of_the_format() {
    let store = Store::memory().unwrap();
    let (plane, cube, line) = (numbers(&[3, 4, 5]), numbers(&[2, 3, 4]), numbers(&[24]));
    let timestamps = vec![instant("2024-01-01T00:00:00Z"), instant("2024-01-02T06:30:00.250Z")];
    let two = Array::from_f64(vec![2], &[1.0, 2.0]).unwrap();
    let zoned = Some("-07:00".parse().unwrap());
    store.add(&NewSeries { time_reference: zoned, ..deterministic(windows(4), &plane) }).unwrap();
    store.add(&probabilistic(windows(4), &[0.1, 10.0], &cube)).unwrap();
    store.add(&scenarios(windows(4), &cube)).unwrap();
    store.add(&new(2, SeriesData::NonSequential { timestamps: timestamps.clone(), values: two.view() })).unwrap();
    store.add(&new(2, SeriesData::Persistent { timestamps, values: two.view() })).unwrap();
    store.add(&series(3, "load", &line)).unwrap();
    let day = Filter { owner_id: Some(3), ..Filter::default() };
    store.transform_single_time_series(Period::hours(24), Period::hours(24), &day).unwrap();
    let mut rows = Vec::new();
    let list = |session: &session::Session| {
        let columns = "time_series_type, initial_timestamp, resolution, length, horizon, interval, count,
             timestamps_json, percentiles_json, element_shape, time_reference";
        let cells: Vec<String> = columns.split(',').map(|c| format!("coalesce({c}, '-')")).collect();
        let text = format!("SELECT concat_ws('|', {}) FROM time_series_associations ORDER BY id", cells.join(", "));
        let mut statement = session.catalog().connection().prepare(&text).unwrap();
        rows.extend(statement.query_map([], |row| row.get::<_, String>(0)).unwrap().map(|row| row.unwrap()));
        Ok(())
    };
    store.shared().look(list).unwrap();
    let start = "2024-01-01T00:00:00+00:00";
    let instants = r#"["2024-01-01T00:00:00Z","2024-01-02T06:30:00.250Z"]"#;
    let expected = [
        format!("Deterministic|{start}|PT1H|3|PT3H|P1D|4|-|-|[4,5]|-07:00"),
        format!("Probabilistic|{start}|PT1H|2|PT3H|P1D|4|-|[0.1,10.0]|[3,4]|-"),
        format!("Scenarios|{start}|PT1H|2|PT3H|P1D|4|-|-|[3,4]|-"),
        format!("NonSequentialTimeSeries|-|-|2|-|-|-|{instants}|-|[]|-"),
        format!("PersistentTimeSeries|-|-|2|-|-|-|{instants}|-|[]|-"),
        format!("SingleTimeSeries|{start}|PT1H|24|-|-|-|-|-|[]|-"),
        format!("DeterministicSingleTimeSeries|{start}|PT1H|24|P1D|P1D|1|-|-|[]|-"),
    ];
    assert_eq!(rows, expected);
}

#[test]
pub(super) fn rows_76_to_78_shapes_and_percentiles_that_do_not_fit_are_refused() {
    let store = Store::memory().unwrap();
    let (plane, cube) = (numbers(&[3, 4]), numbers(&[2, 3, 4]));
    let line = numbers(&[3]);
    let hollow = numbers(&[3, 4, 0]);
    let none = numbers(&[0, 3, 4]);
    let swapped = numbers(&[4, 3]);
    let cases = [
        (deterministic(windows(4), &line), "shape [3]"),
        (deterministic(windows(4), &swapped), "shape [4, 3]"),
        (deterministic(windows(3), &plane), "[3, 3]"),
        (deterministic(windows(4), &hollow), "axis of length 0"),
        (deterministic(Windows { resolution: Period::Months(1), ..windows(4) }, &plane), "calendar"),
        (deterministic(Windows { horizon: Period::Fixed(HOUR * 7 / 2), ..windows(4) }, &plane), "whole, positive"),
        (deterministic(Windows { interval: Period::Fixed(0), ..windows(4) }, &plane), "single window"),
        (scenarios(windows(4), &plane), "shape [3, 4]"),
        (scenarios(windows(4), &none), "no scenario"),
        (probabilistic(windows(4), &[], &none), "no percentiles"),
        (probabilistic(windows(4), &[0.5], &cube), "[1, 3, 4]"),
        (probabilistic(windows(4), &[0.5, 0.5], &cube), "ascend"),
        (probabilistic(windows(4), &[0.9, 0.5], &cube), "ascend"),
        (probabilistic(windows(4), &[0.9, f64::INFINITY], &cube), "finite"),
        (probabilistic(windows(4), &[f64::NAN, 0.5], &cube), "finite"),
    ];
    for (series, rule) in cases {
        let error = store.add(&series).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        assert!(error.to_string().contains("`load`") && error.to_string().contains(rule), "{error}");
    }
    assert!(names(&store).is_empty());
}

#[test]
pub(super) fn rows_61_to_63_a_range_takes_the_windows_that_start_inside() {
    let (_dir, stores) = stores();
    for store in stores {
        let (plane, cube) = (numbers(&[3, 4, 2]), numbers(&[2, 3, 4, 2]));
        let items = [
            deterministic(windows(4), &plane),
            scenarios(windows(4), &cube),
            probabilistic(windows(4), &[0.1, 0.9], &cube),
        ];
        let ids = store.add_bulk(&items).unwrap();
        let cases = [
            (None, None, 0..4),
            (Some(1.0), Some(3.0), 1..3),
            (Some(2.0), Some(2.0), 2..2),
            (Some(0.0), Some(0.1), 0..1),
            (Some(-150.0), Some(200.0), 0..4),
            (None, Some(2.5), 0..3),
        ];
        for (from, to, expected) in cases {
            for (id, item) in ids.iter().zip(&items) {
                let read = store.read_range(*id, from.map(day), to.map(day)).unwrap();
                let axis = item.series_type().window_axis().unwrap();
                let outer: usize = item.values().shape()[..axis].iter().product();
                let picked: Vec<f64> = (0..outer)
                    .flat_map(|o| expected.clone().flat_map(move |w| [0, 1].map(|e| ((o * 4 + w) * 2 + e) as f64)))
                    .collect();
                let mut shape = item.values().shape().to_vec();
                shape[axis] = expected.len();
                assert_eq!(read.values, Array::from_f64(shape, &picked).unwrap());
                let initial = day(expected.start as f64);
                assert_eq!(read.windows, Some(Windows { initial, ..windows(expected.len()) }));
                assert_eq!((read.info.initial, read.info.count), (Some(initial), Some(expected.len() as u64)));
                assert_eq!(read.info.array_shape().unwrap(), read.values.shape());
            }
        }
        for (from, to) in [(0.5, 3.0), (4.0, 9.0), (1.0 + 1e-8, 3.0), (2.0, 1.0)] {
            let from = UnixMillis(day(from).0 + i64::from(from == 1.0 + 1e-8));
            let error = store.read_range(ids[0], Some(from), Some(day(to))).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        }
    }
}

#[test]
pub(super) fn rows_73_and_80_the_interval_identifies_a_forecast_and_may_be_zero() {
    let store = Store::memory().unwrap();
    let (plane, single) = (numbers(&[3, 4]), numbers(&[3, 1]));
    store.add(&deterministic(windows(4), &plane)).unwrap();
    store.add(&deterministic(Windows { interval: Period::hours(12), ..windows(4) }, &plane)).unwrap();
    let other_horizon = Windows { horizon: Period::hours(1), ..windows(4) };
    let row = numbers(&[1, 4]);
    assert_eq!(store.add(&deterministic(other_horizon, &row)).unwrap_err().kind(), ErrorKind::DuplicateTimeSeries);
    let zero = Windows { interval: Period::Fixed(0), ..windows(1) };
    let id = store.add(&deterministic(zero, &single)).unwrap();
    assert_eq!(store.read_range(id, Some(START), None).unwrap().values, single);
    assert_eq!(store.read_range(id, Some(START), Some(START)).unwrap().values.shape(), [3, 0]);
    assert_eq!(store.read_range(id, Some(hour(1.0)), None).unwrap_err().kind(), ErrorKind::InvalidParameter);
}

#[test]
fn row_92_an_array_of_a_packed_series_serves_a_forecast() {
    let (_dir, stores) = stores();
    for store in stores {
        let values = numbers(&[3, 4, 2]);
        let steps = series(1, "steps", &values);
        let packed = store.add(&steps).unwrap();
        let forecast = store.add(&deterministic(windows(4), &values)).unwrap();
        assert!(store.shared().arrays().unwrap().locate(&values.view().hash()).is_some());
        let read = store.read_range(forecast, Some(day(1.0)), Some(day(2.0))).unwrap();
        assert_eq!(read.values.to_f64().unwrap(), [2.0, 3.0, 10.0, 11.0, 18.0, 19.0]);
        let many = store.read_many(&[forecast, packed, forecast]).unwrap();
        assert_eq!(many[0], store.read(forecast).unwrap());
        assert_eq!((&many[1].values, &many[2]), (&values, &many[0]));
    }
}

#[test]
fn a_row_whose_windows_do_not_fit_is_damage() {
    let store = Store::memory().unwrap();
    let values = numbers(&[3, 4]);
    let id = store.add(&deterministic(windows(4), &values)).unwrap();
    for change in [
        "horizon = NULL",
        "interval = NULL",
        "count = NULL",
        "count = -1",
        "count = 5",
        "count = 9223372036854775807",
        "horizon = 'PT4H'",
        "horizon = 'P1M'",
        "interval = '-PT1H'",
        "length = 2",
        "element_shape = '[]'",
        "element_shape = '[5]'",
        "initial_timestamp = NULL",
        "resolution = 'PT0S'",
        "dtype = 'f32'",
        "time_series_type = 'Scenarios'",
    ] {
        store.begin().unwrap();
        sql(&store, &format!("UPDATE time_series_associations SET {change}"));
        for error in [
            store.read(id).unwrap_err(),
            store.read_range(id, None, None).unwrap_err(),
            store.read_many(&[id]).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Integrity, "{change}: {error}");
        }
        store.rollback().unwrap();
    }
    assert_eq!(store.read(id).unwrap().values, values);
}
