//! Forecasts derived from regular series: which are made, how they read, and what they forbid.

use super::*;
use crate::series::{Features, TimeRange, Windows};
use proptest::prelude::*;

const H1: Period = Period::hours(1);

fn numbers(shape: &[usize]) -> Array {
    let count: usize = shape.iter().product();
    Array::from_f64(shape.to_vec(), &(0..count).map(|k| k as f64).collect::<Vec<_>>()).unwrap()
}

/// Window by window, step by step, as the format defines it.
fn oracle(source: &Array, steps: usize, stride: usize, windows: std::ops::Range<usize>) -> Array {
    let element_shape = &source.shape()[1..];
    let block = element_shape.iter().product::<usize>() * 8;
    let mut bytes = Vec::new();
    for s in 0..steps {
        for k in windows.clone() {
            bytes.extend(&source.bytes()[(k * stride + s) * block..][..block]);
        }
    }
    let shape = [steps, windows.len()].iter().chain(element_shape).copied().collect();
    Array::new(source.dtype(), shape, bytes).unwrap()
}

fn derived() -> Filter {
    Filter { series_type: Some(SeriesType::DeterministicSingleTimeSeries), ..Filter::default() }
}

fn single<'a>(owner: i64, name: &str, initial: UnixMillis, resolution: Period, values: &'a Array) -> NewSeries<'a> {
    NewSeries::single(Owner::component(owner, "Bus"), name, initial, resolution, values.view())
}

#[test]
pub(super) fn rows_29_81_and_82_a_day_of_hours_becomes_eleven_windows() {
    let (_dir, stores) = stores();
    for store in stores {
        let values = numbers(&[24]);
        let mut source = series(1, "load", &values);
        source.features = Features::from_iter([("year", 2030)]);
        (source.units, source.ext) = (Some("MW".into()), Some("x".into()));
        let source_id = store.add(&source).unwrap();
        let made = store.transform_single_time_series(Period::hours(4), Period::hours(2), &Filter::default()).unwrap();
        assert_eq!((made.sources, made.ids.len()), (1, 1));
        let rows = store.list(&derived()).unwrap();
        let source_row = store.list(&Filter { ids: Some(vec![source_id]), ..Filter::default() }).unwrap().remove(0);
        let expected = SeriesInfo {
            id: made.ids[0],
            series_type: SeriesType::DeterministicSingleTimeSeries,
            horizon: Some(Period::hours(4)),
            interval: Some(Period::hours(2)),
            count: Some(11),
            ..source_row
        };
        assert_eq!(rows, [expected]);
        let read = store.read(made.ids[0]).unwrap();
        assert_eq!(read.values, oracle(&values, 4, 2, 0..11));
        assert_eq!(read.info.series_type, SeriesType::Deterministic);
        let horizon = Period::hours(4);
        let windows = Windows { initial: START, resolution: H1, horizon, interval: Period::hours(2), count: 11 };
        assert_eq!((read.windows, read.info.array_shape().unwrap()), (Some(windows), vec![4, 11]));
        assert_eq!(store.read_many(&[made.ids[0], source_id]).unwrap(), [read, store.read(source_id).unwrap()]);

        let again = store.transform_single_time_series(Period::hours(4), Period::hours(2), &Filter::default()).unwrap();
        assert_eq!((again.sources, again.ids.len()), (1, 0));
        let other = store.transform_single_time_series(Period::hours(6), Period::hours(2), &Filter::default());
        assert_eq!(other.unwrap_err().kind(), ErrorKind::InvalidParameter);
        let wider = store.transform_single_time_series(Period::hours(6), Period::hours(3), &Filter::default()).unwrap();
        assert_eq!(wider.ids.len(), 1);
        let none = Filter { name: Some("other".into()), ..Filter::default() };
        let nothing = store.transform_single_time_series(H1, H1, &none).unwrap();
        assert_eq!((nothing.sources, nothing.ids.len()), (0, 0));
    }
}

#[test]
fn as_it_is_stored_a_derived_forecast_is_the_steps_of_its_windows() {
    let (_dir, stores) = stores();
    for store in stores {
        let values = numbers(&[25, 2]);
        let source = store.add(&series(1, "load", &values)).unwrap();
        let made = store.transform_single_time_series(Period::hours(4), Period::hours(2), &Filter::default()).unwrap();
        let ids = [made.ids[0], source, made.ids[0]];
        let rows = |rows: std::ops::Range<usize>| {
            let bytes = values.bytes()[rows.start * 16..rows.end * 16].to_vec();
            Array::new(values.dtype(), vec![rows.len(), 2], bytes).unwrap()
        };
        let read = store.read_as_stored(&ids, &TimeRange::default()).unwrap();
        assert_eq!(read[0], read[2]);
        assert_eq!(read[1], store.read(source).unwrap());
        assert_eq!(read[0].info.series_type, SeriesType::DeterministicSingleTimeSeries);
        assert_eq!((&read[0].values, read[0].info.count), (&rows(0..24), Some(11)));
        assert_eq!(read[0].info.array_shape().unwrap(), [24, 2]);
        let hour = |h: i64| Some(UnixMillis(START.0 + h * HOUR));
        for (from, to, steps, count) in [(2, 5, 2..8, 2), (20, 99, 20..24, 1), (0, 0, 0..0, 0)] {
            let part = store.read_as_stored(&ids[..1], &TimeRange::floating(hour(from), hour(to))).unwrap().remove(0);
            assert_eq!((part.values, part.info.count), (rows(steps), Some(count)));
            assert_eq!(part.info.initial, hour(from));
        }
    }
}

#[test]
pub(super) fn row_44_months_make_windows_of_quarters() {
    let store = Store::memory().unwrap();
    let values = numbers(&[12]);
    store.add(&single(1, "load", START, Period::Months(1), &values)).unwrap();
    let made = store.transform_single_time_series(Period::Months(3), Period::Months(1), &Filter::default()).unwrap();
    let read = store.read(made.ids[0]).unwrap();
    assert_eq!((read.info.count, &read.values), (Some(10), &oracle(&values, 3, 1, 0..10)));
    let (march, june) = (instant("2024-03-01T00:00:00Z"), instant("2024-06-01T00:00:00Z"));
    let part = store.read_range(made.ids[0], Some(march), Some(june)).unwrap();
    assert_eq!((part.info.initial, &part.values), (Some(march), &oracle(&values, 3, 1, 2..5)));
}

#[test]
pub(super) fn rows_43_83_and_84_what_does_not_fit_is_refused_and_nothing_is_written() {
    let store = Store::memory().unwrap();
    let (day, short) = (numbers(&[24]), numbers(&[3]));
    let month_end = instant("2024-01-31T00:00:00Z");
    let items = [
        single(1, "long", START, H1, &day),
        single(2, "short", START, Period::hours(2), &short),
        single(3, "monthly", month_end, Period::Months(1), &numbers(&[12]).clone()).clone(),
    ]
    .map(|s| store.add(&s).unwrap());
    let by = |name: &str| Filter { name: Some(name.into()), ..Filter::default() };
    let (hours, months) = (Period::hours, Period::Months);
    let cases = [
        (Period::Fixed(HOUR * 3 / 2), hours(1), by("long"), "whole"),
        (hours(4), Period::Fixed(HOUR * 3 / 2), by("long"), "whole"),
        (hours(25), hours(1), by("long"), "24"),
        (hours(2), hours(3), by("long"), "gaps"),
        (hours(4), hours(0), by("long"), "zero"),
        (hours(4), hours(-1), by("long"), "whole"),
        (hours(0), hours(1), by("long"), "whole"),
        (months(1), months(1), by("long"), "calendar"),
        (hours(8), hours(2), Filter { resolution: Some(hours(2)), ..Filter::default() }, "`short`"),
        (months(3), months(1), by("monthly"), "window 1"),
        (hours(8), hours(2), by("short"), "only 3"),
    ];
    for (horizon, interval, scope, rule) in cases {
        let error = store.transform_single_time_series(horizon, interval, &scope).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{error}");
        assert!(error.to_string().contains(rule), "{rule}: {error}");
    }
    // One that does not fit keeps the others out.
    assert!(store.transform_single_time_series(hours(8), hours(2), &Filter::default()).is_err());
    let forecasts = Filter { series_type: Some(SeriesType::Deterministic), ..Filter::default() };
    let error = store.transform_single_time_series(hours(2), hours(1), &forecasts).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    assert!(store.list(&derived()).unwrap().is_empty());
    // Every window starts at a month end that is long enough, or has one step.
    let made = store.transform_single_time_series(months(1), months(1), &by("monthly")).unwrap();
    assert_eq!(store.read(made.ids[0]).unwrap().values.shape(), [1, 12]);
    assert_eq!(all(&store).len(), items.len() + 1);
}

#[test]
fn a_single_window_may_have_the_interval_zero() {
    let store = Store::memory().unwrap();
    let values = numbers(&[24]);
    store.add(&series(1, "load", &values)).unwrap();
    let made = store.transform_single_time_series(Period::hours(24), Period::Fixed(0), &Filter::default()).unwrap();
    let read = store.read(made.ids[0]).unwrap();
    assert_eq!((read.info.count, &read.values), (Some(1), &oracle(&values, 24, 0, 0..1)));
    assert_eq!(store.read_range(made.ids[0], Some(START), Some(START)).unwrap().values.shape(), [24, 0]);
    let whole = store.transform_single_time_series(Period::hours(24), Period::hours(24), &Filter::default()).unwrap();
    assert_eq!(store.read(whole.ids[0]).unwrap().values, read.values);
}

#[test]
pub(super) fn row_85_one_grid_is_asked_of_the_scope_only() {
    let store = Store::memory().unwrap();
    let (day, half) = (numbers(&[24]), numbers(&[12]));
    store.add(&series(1, "load", &day)).unwrap();
    let attribute = NewSeries { owner: Owner::attribute(1, "Outage"), ..series(1, "load", &half) };
    store.add(&attribute).unwrap();
    let (horizon, interval) = (Period::hours(4), Period::hours(2));
    let error = store.transform_single_time_series(horizon, interval, &Filter::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Integrity);
    let components = Filter { owner_category: Some(crate::series::OwnerCategory::Component), ..Filter::default() };
    assert_eq!(store.transform_single_time_series(horizon, interval, &components).unwrap().ids.len(), 1);
}

/// A dense forecast of four hours, hourly windows apart.
fn dense<'a>(owner: i64, name: &str, interval: Period, values: &'a Array) -> NewSeries<'a> {
    let windows = Windows { initial: START, resolution: H1, horizon: Period::hours(4), interval, count: 2 };
    NewSeries::new(Owner::component(owner, "Bus"), name, SeriesData::Deterministic { windows, values: values.view() })
}

#[test]
fn row_87_a_forecast_is_either_dense_or_derived() {
    let (_dir, stores) = stores();
    for store in stores {
        let (values, windows) = (numbers(&[24]), numbers(&[4, 2]));
        let transform = || store.transform_single_time_series(Period::hours(4), Period::hours(2), &Filter::default());
        add(&store, 1, "load", &values);
        transform().unwrap();
        for interval in [2, 3] {
            let new = dense(1, "load", Period::hours(interval), &windows);
            for error in [store.add(&new).unwrap_err(), store.add_bulk(&[new]).unwrap_err()] {
                assert_eq!(error.kind(), ErrorKind::InvalidParameter);
                assert!(error.to_string().contains("`load`"), "{error}");
            }
        }
        assert!(!holds(&store, windows.view().hash()));
        store.add(&dense(1, "price", H1, &windows)).unwrap();
        add(&store, 1, "price", &values);
        assert_eq!(transform().unwrap_err().kind(), ErrorKind::InvalidParameter);
        assert_eq!(store.list(&derived()).unwrap().len(), 1);
    }
}

#[test]
pub(super) fn row_87_no_copy_move_or_name_brings_dense_and_derived_together() {
    let (_dir, stores) = stores();
    for store in stores {
        let (values, windows) = (numbers(&[24]), numbers(&[4, 2]));
        add(&store, 1, "load", &values);
        let made = store.transform_single_time_series(Period::hours(4), Period::hours(2), &Filter::default()).unwrap();
        let derived = made.ids[0];
        let dense_id = store.add(&dense(2, "load", H1, &windows)).unwrap();
        let named = store.add(&dense(1, "price", H1, &windows)).unwrap();
        let before = all(&store);
        let component = crate::series::OwnerCategory::Component;
        let refused = [
            store.copy_series(dense_id, 1, "Bus", None).unwrap_err(),
            store.copy_series(derived, 2, "Bus", None).unwrap_err(),
            store.copy_series(named, 1, "Bus", Some("load")).unwrap_err(),
            store.copy_series(derived, 1, "Bus", Some("price")).unwrap_err(),
            store.replace_owner(1, 2, component).unwrap_err(),
            store.replace_owner(2, 1, component).unwrap_err(),
            store.rename(named, "load").unwrap_err(),
            store.rename(derived, "price").unwrap_err(),
        ];
        for error in refused {
            assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{error}");
            assert!(error.to_string().contains("derived from a SingleTimeSeries"), "{error}");
            assert_eq!(all(&store), before, "{error}");
        }
        // What differs in its features, its name or its category is no company.
        store.copy_series(dense_id, 1, "Bus", Some("other")).unwrap();
        store.copy_series(derived, 3, "Bus", None).unwrap();
        assert_eq!(store.replace_owner(3, 4, component).unwrap(), 1);
        assert_eq!(store.replace_owner(2, 5, component).unwrap(), 1);
        assert_eq!(store.replace_owner(1, 1, component).unwrap(), 4);
        store.rename(dense_id, "load").unwrap();
    }
}

#[test]
pub(super) fn rows_88_and_89_a_source_stays_as_long_as_its_forecast() {
    let (_dir, stores) = stores();
    for store in stores {
        let values = numbers(&[24]);
        let source = add(&store, 1, "load", &values);
        add(&store, 2, "load", &values);
        let by_owner = |id| Filter { owner_id: Some(id), ..Filter::default() };
        let made = store.transform_single_time_series(Period::hours(4), Period::hours(2), &by_owner(1)).unwrap();
        let expected = store.read(made.ids[0]).unwrap();
        for within in [false, true] {
            if within {
                store.begin().unwrap();
            }
            let error = store.remove(&[source]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{error}");
            if within {
                store.commit().unwrap();
            }
            assert_eq!(store.read(made.ids[0]).unwrap(), expected);
        }
        for order in [[source, made.ids[0]], [made.ids[0], source]] {
            store.begin().unwrap();
            store.remove(&order).unwrap();
            store.rollback().unwrap();
        }
        assert_eq!(store.read(made.ids[0]).unwrap(), expected);
        store.remove(&[made.ids[0], source]).unwrap();
        store.flush().unwrap();
        assert_eq!(all(&store).len(), 1);
        assert!(holds(&store, values.view().hash()));
    }
}

#[test]
pub(super) fn row_90_a_series_beside_a_forecast_of_other_values_may_go() {
    let (_dir, stores) = stores();
    for store in stores {
        let (values, others) = (numbers(&[24]), ramp(7));
        let source = add(&store, 1, "load", &values);
        let made = store.transform_single_time_series(Period::hours(4), Period::hours(2), &Filter::default()).unwrap();
        let copy = store.copy_series(made.ids[0], 2, "Bus", None).unwrap();
        let own = add(&store, 2, "load", &others);
        store.remove(&[own]).unwrap();
        assert_eq!(store.remove(&[source]).unwrap_err().kind(), ErrorKind::InvalidParameter);
        store.remove(&[source, made.ids[0]]).unwrap();
        store.flush().unwrap();
        assert_eq!(store.read(copy).unwrap().values, oracle(&values, 4, 2, 0..11));
    }
}

#[test]
fn a_derived_row_that_does_not_fit_its_series_is_damage() {
    let store = Store::memory().unwrap();
    add(&store, 1, "load", &numbers(&[24]));
    let made = store.transform_single_time_series(Period::hours(4), Period::hours(2), &Filter::default()).unwrap();
    let id = made.ids[0];
    for change in [
        "count = 12",
        "count = 9223372036854775807",
        "interval = 'PT1H30M'",
        "interval = 'P1M'",
        "length = 23",
        "horizon = 'PT5H'",
    ] {
        store.begin().unwrap();
        sql(&store, &format!("UPDATE time_series_associations SET {change} WHERE id = {id}"));
        for error in [
            store.read(id).unwrap_err(),
            store.read_range(id, None, Some(hour(1.0))).unwrap_err(),
            store.read_many(&[id]).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Integrity, "{change}: {error}");
        }
        store.rollback().unwrap();
    }
}

#[test]
pub(super) fn row_86_windows_are_those_of_a_plain_oracle() {
    windows_are_those_of_a_plain_oracle();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    fn windows_are_those_of_a_plain_oracle(
        length in 1..30usize,
        width in prop::sample::select(vec![vec![], vec![1usize], vec![2], vec![2, 3]]),
        steps in 1..12usize,
        stride in 1..12usize,
        from in 0..40usize,
        taken in 0..6usize,
    ) {
        let store = Store::memory().unwrap();
        let shape: Vec<usize> = std::iter::once(length).chain(width).collect();
        let values = numbers(&shape);
        add(&store, 1, "load", &values);
        let (horizon, interval) = (Period::hours(steps as i32), Period::hours(stride as i32));
        let made = store.transform_single_time_series(horizon, interval, &Filter::default());
        prop_assert_eq!(made.is_ok(), steps <= length && stride <= steps);
        let Ok(made) = made else { return Ok(()) };
        let count = (length - steps) / stride + 1;
        let whole = store.read(made.ids[0]).unwrap();
        prop_assert_eq!(&whole.values, &oracle(&values, steps, stride, 0..count));
        let at = |w: usize| hour((w * stride) as f64);
        let read = store.read_range(made.ids[0], Some(at(from)), Some(at(from + taken)));
        prop_assert_eq!(read.is_ok(), from < count);
        if let Ok(read) = read {
            let end = (from + taken).min(count);
            prop_assert_eq!(&read.values, &oracle(&values, steps, stride, from..end));
        }
    }
}
