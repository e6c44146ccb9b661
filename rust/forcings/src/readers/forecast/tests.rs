use super::*;
use crate::array::{Array, DType};
use crate::readers::tests::{kind_of, pattern};
use crate::series::{NewSeries, Owner, SeriesData, SeriesId, Windows};
use crate::store::{CreateOptions, OpenOptions};
use crate::time::Period;
use crate::ErrorKind;

mod random;
mod shared;
mod staleness;
mod sweeps;

const HOUR: Period = Period::hours(1);

fn hour(k: i64) -> UnixMillis {
    UnixMillis(k * 3_600_000)
}

fn filter(series_type: SeriesType) -> Filter {
    Filter { series_type: Some(series_type), resolution: Some(HOUR), ..Filter::default() }
}

fn deterministic() -> Filter {
    filter(SeriesType::Deterministic)
}

/// Hourly windows of `steps` steps, one every `stride` hours.
fn windows(steps: i32, stride: i32, count: usize) -> Windows {
    let (horizon, interval) = (Period::hours(steps), Period::hours(stride));
    Windows { initial: hour(0), resolution: HOUR, horizon, interval, count }
}

fn forecast<'a>(owner: i64, name: &str, data: SeriesData<'a>) -> NewSeries<'a> {
    NewSeries::new(Owner::component(owner, "Bus"), name, data)
}

fn dense<'a>(owner: i64, windows: Windows, values: &'a Array) -> NewSeries<'a> {
    forecast(owner, "load", SeriesData::Deterministic { windows, values: values.view() })
}

fn single<'a>(owner: i64, values: &'a Array) -> NewSeries<'a> {
    NewSeries::single(Owner::component(owner, "Bus"), "load", hour(0), HOUR, values.view())
}

/// A series and the windows derived from it.
fn derive(store: &Store, owner: i64, values: &Array, steps: i32, stride: i32) -> SeriesId {
    store.add(&single(owner, values)).unwrap();
    let scope = Filter { owner_id: Some(owner), ..Filter::default() };
    store.transform_single_time_series(Period::hours(steps), Period::hours(stride), &scope).unwrap().ids[0]
}

/// Window `k` of a whole array whose windows are counted along `axis`.
fn window_of(values: &Array, axis: usize, k: usize) -> Vec<u8> {
    let shape = values.shape();
    let inner = shape[axis + 1..].iter().product::<usize>() * values.dtype().width();
    let row = shape[axis] * inner;
    let outer = 0..shape[..axis].iter().product::<usize>();
    outer.flat_map(|o| values.bytes()[o * row + k * inner..][..inner].to_vec()).collect()
}

fn axis_of(series_type: SeriesType) -> usize {
    series_type.window_axis().unwrap_or(1)
}

/// Every entry's window `k` is that of the whole forecast.
fn check(reader: &ForecastReader, store: &Store, k: usize) {
    for entry in reader.entries() {
        let whole = store.read(entry.info().id).unwrap();
        let expected = window_of(&whole.values, axis_of(reader.series_type()), k);
        assert!(reader.values(entry.slot()) == expected, "window {k} of {}", entry.info());
    }
}

#[test]
fn every_type_has_windows_of_its_shape() {
    let store = Store::memory().unwrap();
    let (flat, deep) = (pattern(DType::F64, vec![3, 4], 1), pattern(DType::I32, vec![5, 4, 2], 2));
    let (cube, wide) = (pattern(DType::F32, vec![2, 3, 4], 3), pattern(DType::F64, vec![6, 3, 4, 2], 4));
    store.add(&dense(2, windows(3, 24, 4), &flat)).unwrap();
    store.add(&dense(1, windows(5, 24, 4), &deep)).unwrap();
    let percentiles = vec![0.1, 0.9];
    let data = SeriesData::Probabilistic { windows: windows(3, 24, 4), percentiles, values: cube.view() };
    store.add(&forecast(1, "load", data)).unwrap();
    let data = SeriesData::Scenarios { windows: windows(3, 24, 4), values: wide.view() };
    store.add(&forecast(1, "load", data)).unwrap();
    let cases = [
        (SeriesType::Deterministic, vec![(DType::I32, vec![5, 2]), (DType::F64, vec![3])]),
        (SeriesType::Probabilistic, vec![(DType::F32, vec![2, 3])]),
        (SeriesType::Scenarios, vec![(DType::F64, vec![6, 3, 2])]),
        (SeriesType::DeterministicSingleTimeSeries, vec![]),
    ];
    for (series_type, shapes) in cases {
        let mut reader = ForecastReader::build(&store, &filter(series_type)).unwrap();
        let found: Vec<_> = reader.slots().iter().map(|s| (s.dtype(), s.window_shape().to_vec())).collect();
        assert_eq!(found, shapes);
        let sizes: Vec<usize> = reader.slots().iter().map(ForecastSlot::window_bytes).collect();
        assert_eq!(reader.timestamps().len(), if shapes.is_empty() { 0 } else { 4 });
        for k in [3, 0, 1, 1, 2].into_iter().filter(|_| !shapes.is_empty()) {
            reader.read(hour(24 * k as i64)).unwrap();
            assert!(sizes.iter().enumerate().all(|(slot, size)| reader.values(slot).len() == *size));
            check(&reader, &store, k);
        }
        assert!(reader.values(shapes.len()).is_empty());
    }
}

#[test]
fn an_instant_that_starts_no_window_is_an_error_and_empties_every_slot() {
    let store = Store::memory().unwrap();
    let values = pattern(DType::F64, vec![3, 4], 1);
    store.add(&dense(1, windows(3, 24, 4), &values)).unwrap();
    let mut reader = ForecastReader::build(&store, &deterministic()).unwrap();
    assert!(reader.values(0).is_empty(), "nothing was read yet");
    for at in [hour(-24), hour(1), hour(96), UnixMillis(1), UnixMillis(i64::MIN), UnixMillis(i64::MAX)] {
        reader.read_window(1).unwrap();
        assert_eq!(reader.values(0), window_of(&values, 1, 1));
        let error = reader.read(at).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OffGrid);
        assert!(error.to_string().contains("4 windows with the interval P1D"), "{error}");
        assert!(reader.values(0).is_empty());
    }
    reader.read_window(3).unwrap();
    assert_eq!(kind_of(reader.read_window(4)), ErrorKind::OffGrid);
    assert!(reader.values(0).is_empty());
    for (k, at) in reader.timestamps().into_iter().enumerate() {
        assert_eq!((reader.index_at(at).unwrap(), reader.timestamp_at(k).unwrap()), (k, at));
    }
    assert_eq!(kind_of(reader.timestamp_at(4)), ErrorKind::OffGrid);
}

#[test]
fn a_reader_over_nothing_has_no_slots_and_every_read_says_so() {
    let store = Store::memory().unwrap();
    let mut reader = ForecastReader::build(&store, &deterministic()).unwrap();
    assert!(reader.is_empty() && reader.timeline().is_none() && reader.timestamps().is_empty());
    assert_eq!((reader.len(), reader.slots().len(), reader.entries().len()), (0, 0, 0));
    for result in [reader.read(hour(0)), reader.read_window(0), reader.index_at(hour(0)).map(drop)] {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("matched no Deterministic"), "{error}");
    }
}

#[test]
fn row_141_other_selections_are_refused() {
    let store = Store::memory().unwrap();
    let values = pattern(DType::F64, vec![3, 4], 1);
    store.add(&dense(1, windows(3, 24, 4), &values)).unwrap();
    let cases = [
        (Filter { resolution: Some(HOUR), ..Filter::default() }, "set the filter's type"),
        (filter(SeriesType::SingleTimeSeries), "use a StaticReader"),
        (filter(SeriesType::PersistentTimeSeries), "use a StaticReader"),
        (Filter { resolution: None, ..deterministic() }, "name the resolution"),
    ];
    for (filter, text) in cases {
        let error = ForecastReader::build(&store, &filter).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        assert!(error.to_string().contains(text), "{error}");
    }
    let others = [
        windows(3, 12, 4),
        Windows { initial: hour(24), ..windows(3, 24, 4) },
        windows(3, 24, 3),
        Windows { interval: Period::Months(1), ..windows(3, 24, 4) },
    ];
    for other in others {
        let fewer = pattern(DType::F64, vec![3, other.count], 2);
        let id = store.add(&dense(2, other, &fewer)).unwrap();
        let error = ForecastReader::build(&store, &deterministic()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        let text = error.to_string();
        for part in [
            "Component 2 (Bus)",
            &format!("{} windows with the interval {}", other.count, other.interval),
            "4 windows with the interval P1D",
            "interval",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let narrowed = Filter { interval: Some(other.interval), initial: Some(other.initial), ..deterministic() };
        let alone = Filter { owner_id: Some(2), ..narrowed };
        assert_eq!(ForecastReader::build(&store, &alone).unwrap().len(), other.count);
        store.remove(&[id]).unwrap();
    }
}

#[test]
fn the_timeline_may_step_by_the_calendar_and_windows_may_differ_in_length() {
    let store = Store::memory().unwrap();
    let initial = UnixMillis::from_rfc3339("2024-01-31T00:00:00Z").unwrap();
    let monthly = Windows { initial, interval: Period::Months(1), ..windows(3, 24, 4) };
    let longer = Windows { horizon: Period::hours(7), ..monthly };
    let (short, long) = (pattern(DType::F64, vec![3, 4], 1), pattern(DType::F64, vec![7, 4], 2));
    store.add(&dense(1, monthly, &short)).unwrap();
    store.add(&dense(2, longer, &long)).unwrap();
    let mut reader = ForecastReader::build(&store, &deterministic()).unwrap();
    let timeline = reader.timeline().unwrap();
    assert_eq!((timeline.initial(), timeline.resolution(), timeline.interval()), (initial, HOUR, Period::Months(1)));
    let days = ["2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30"];
    for (k, day) in days.iter().enumerate() {
        reader.read(UnixMillis::from_rfc3339(&format!("{day}T00:00:00Z")).unwrap()).unwrap();
        check(&reader, &store, k);
    }
    let wrong = UnixMillis::from_rfc3339("2024-03-29T00:00:00Z").unwrap();
    assert_eq!(kind_of(reader.read(wrong)), ErrorKind::OffGrid);
}

#[test]
fn a_single_window_may_have_the_interval_zero_and_no_windows_are_no_error_before_a_read() {
    let store = Store::memory().unwrap();
    let series = pattern(DType::F64, vec![6], 1);
    let one = pattern(DType::F64, vec![6, 1], 2);
    derive(&store, 1, &series, 6, 0);
    store.add(&dense(2, windows(6, 0, 1), &one)).unwrap();
    let mut reader = ForecastReader::build(&store, &deterministic()).unwrap();
    assert_eq!((reader.len(), reader.timestamps()), (1, vec![hour(0)]));
    reader.read(hour(0)).unwrap();
    assert_eq!((reader.values(0), reader.values(1)), (series.bytes(), one.bytes()));
    for at in [UnixMillis(1), hour(1), hour(-1)] {
        assert_eq!(kind_of(reader.read(at)), ErrorKind::OffGrid);
    }

    let none = pattern(DType::F64, vec![3, 0], 1);
    let only = Filter { name: Some("none".into()), ..deterministic() };
    let data = SeriesData::Deterministic { windows: windows(3, 24, 0), values: none.view() };
    store.add(&forecast(1, "none", data)).unwrap();
    let mut reader = ForecastReader::build(&store, &only).unwrap();
    assert_eq!((reader.len(), reader.is_empty(), reader.slots().len()), (0, false, 1));
    assert_eq!(kind_of(reader.read(hour(0))), ErrorKind::OffGrid);
    assert_eq!(kind_of(reader.read_window(0)), ErrorKind::OffGrid);
}

#[test]
fn row_138_entries_of_one_array_share_a_slot_and_a_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("s.nc"), &CreateOptions::default()).unwrap();
    let (shared, own) = (pattern(DType::F64, vec![24, 40], 1), pattern(DType::F64, vec![24, 40], 2));
    for owner in (1..=100).rev() {
        store.add(&dense(owner, windows(24, 24, 40), if owner == 7 { &own } else { &shared })).unwrap();
    }
    let mut reader = ForecastReader::build(&store, &deterministic()).unwrap();
    assert_eq!((reader.entries().len(), reader.slots().len()), (100, 2));
    for (k, entry) in reader.entries().iter().enumerate() {
        assert_eq!((entry.info().owner.id, entry.slot()), (k as i64 + 1, usize::from(k == 6)));
    }
    for k in 0..40 {
        reader.read_window(k).unwrap();
        for (slot, values) in [&shared, &own].into_iter().enumerate() {
            assert_eq!(reader.values(slot), window_of(values, 1, k));
        }
    }
    assert_eq!(reader.chunks_inflated(), 2);
}

#[test]
fn row_140_dense_and_derived_forecasts_stand_side_by_side() {
    let store = Store::memory().unwrap();
    let source = pattern(DType::F64, vec![24], 1);
    let id = derive(&store, 2, &source, 4, 2);
    let same = store.read(id).unwrap().values;
    store.add(&dense(1, windows(4, 2, 11), &same)).unwrap();
    let mut reader = ForecastReader::build(&store, &deterministic()).unwrap();
    assert_eq!((reader.len(), reader.slots().len()), (11, 2));
    for k in 0..11 {
        reader.read_window(k).unwrap();
        assert_eq!(reader.values(0), reader.values(1));
        assert_eq!(reader.values(0), &source.bytes()[16 * k..16 * k + 32]);
    }
    let exact = filter(SeriesType::DeterministicSingleTimeSeries);
    let reader = ForecastReader::build(&store, &exact).unwrap();
    assert_eq!(reader.entries().iter().map(|e| e.info().id).collect::<Vec<_>>(), [id]);
}

#[test]
fn rows_143_and_146_clocks_and_instants_have_no_common_axis() {
    let store = Store::memory().unwrap();
    let values = pattern(DType::F64, vec![3, 4], 1);
    let add = |owner: i64, reference: Option<&str>| {
        let time_reference = reference.map(|text| text.parse().unwrap());
        store.add(&NewSeries { time_reference, ..dense(owner, windows(3, 12, 4), &values) }).unwrap()
    };
    let reference = |store: &Store| {
        ForecastReader::build(store, &deterministic()).map(|r| r.time_reference().map(ToString::to_string))
    };
    add(1, None);
    assert_eq!(reference(&store).unwrap(), None);
    let zoned = [add(2, Some("America/Denver")), add(3, Some("-07:00"))];
    assert_eq!(reference(&store).unwrap().as_deref(), Some("utc"));
    add(4, Some("zoneless"));
    let error = reference(&store).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    for part in ["ForecastReader", "Component 4 (Bus)", "Component 1 (Bus)", "zoneless"] {
        assert!(error.to_string().contains(part), "{error}");
    }
    for (zoneless, entries) in [(true, 1), (false, 3)] {
        let only = Filter { zoneless: Some(zoneless), ..deterministic() };
        assert_eq!(ForecastReader::build(&store, &only).unwrap().entries().len(), entries);
    }
    let only = Filter { ids: Some(vec![zoned[0]]), ..deterministic() };
    let reader = ForecastReader::build(&store, &only).unwrap();
    assert_eq!(reader.time_reference().map(ToString::to_string).as_deref(), Some("America/Denver"));
}
