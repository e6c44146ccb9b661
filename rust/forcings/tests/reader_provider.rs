//! Providers over readers: their samples are what the reader reads, bit for bit, alone and in groups, with names for what
//! is in them.

use forcings::array::{Array, DType};
use forcings::dataset::{Dataset, DimWindow, Field, Selection, Values};
use forcings::formats::AttributeValue;
use forcings::prefetch::{Order, PrefetchGroup};
use forcings::provider::{ReaderProvider, Sampler};
use forcings::readers::{ForecastReader, StaticReader};
use forcings::series::{NewSeries, Owner, SeriesData, SeriesType, Windows};
use forcings::store::{Filter, Store};
use forcings::time::{Period, UnixMillis};
use forcings::ErrorKind;
use std::sync::Arc;

const HOUR: Period = Period::hours(1);

fn hour(k: i64) -> UnixMillis {
    UnixMillis(k * 3_600_000)
}

fn seconds(k: usize) -> f64 {
    3600.0 * k as f64
}

fn hourly() -> Filter {
    Filter { resolution: Some(HOUR), ..Filter::default() }
}

/// An array whose every byte depends on `seed`.
fn pattern(dtype: DType, shape: &[usize], seed: u64) -> Array {
    let byte = |i: usize| ((seed * 0x9e37_79b9_7f4a_7c15).wrapping_add(i as u64 * 0x2545_f491_4f6c_dd1d) >> 56) as u8;
    let byte = |i| if dtype == DType::Bool { byte(i) & 1 } else { byte(i) };
    let len = shape.iter().product::<usize>() * dtype.width();
    Array::new(dtype, shape.to_vec(), (0..len).map(byte).collect()).unwrap()
}

fn single<'a>(owner: i64, name: &str, values: &'a Array, resolution: Period) -> NewSeries<'a> {
    NewSeries::single(Owner::component(owner, "Bus"), name, hour(0), resolution, values.view())
}

fn bytes_of(values: &Values) -> Vec<u8> {
    match values {
        Values::F64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Values::F32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Values::I64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Values::I32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Values::U64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Values::Bool(v) => v.clone(),
        Values::String(_) => panic!("texts"),
    }
}

fn integers<'a>(data: &'a Dataset, name: &str) -> &'a [i64] {
    match &data.coord(name).unwrap().values {
        Values::I64(v) => v,
        other => panic!("{other:?}"),
    }
}

fn doubles<'a>(data: &'a Dataset, name: &str) -> &'a [f64] {
    match &data.fields().find(|f| &*f.name == name).unwrap().values {
        Values::F64(v) => v,
        other => panic!("{other:?}"),
    }
}

fn texts<'a>(data: &'a Dataset, name: &str) -> &'a [String] {
    match &data.coord(name).unwrap().values {
        Values::String(v) => v,
        other => panic!("{other:?}"),
    }
}

fn dims(field: &Field) -> Vec<(&str, usize)> {
    field.dims.iter().map(|d| &**d).zip(field.shape.iter().copied()).collect()
}

fn about(field: &Field) -> Vec<(&str, AttributeValue)> {
    field.attributes.iter().map(|a| (a.name.as_str(), a.value.clone())).collect()
}

fn refused(result: forcings::Result<Dataset>, kind: ErrorKind, text: &str) {
    let error = result.map(drop).unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(text), "{error}");
}

/// A store of every element type, some with vectors and matrices, 40 hours each.
fn of_every_type() -> Store {
    let store = Store::memory().unwrap();
    let mut owner = 0;
    for dtype in DType::ALL {
        for element in [&[][..], &[2, 3]] {
            let shape = [&[40][..], element].concat();
            for _ in 0..3 {
                owner += 1;
                store
                    .add(&single(owner * 7 % 11, &format!("s{owner}"), &pattern(dtype, &shape, owner as u64), HOUR))
                    .unwrap();
            }
        }
    }
    store
}

#[test]
fn samples_are_the_readers_rows_bit_for_bit_from_many_threads() {
    let store = of_every_type();
    let mut reader = StaticReader::build(&store, &hourly()).unwrap();
    let provider = ReaderProvider::of_series(&reader).unwrap();
    assert_eq!(provider.refresh_times(), (0..40).map(seconds).collect::<Vec<_>>());
    let groups = reader.groups().len();
    assert_eq!(groups, 12);
    let rows: Vec<Vec<Vec<u8>>> = (0..40)
        .map(|step| {
            reader.read_step(step).unwrap();
            (0..groups).map(|group| reader.values(group).to_vec()).collect()
        })
        .collect();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (provider, rows) = (&provider, &rows);
            scope.spawn(move || {
                for k in 0..40 {
                    let step = [k, 39 - k, k * 7 % 40, k ^ 1][thread];
                    let data = provider.sample_at(seconds(step) + 1.0).unwrap();
                    let found: Vec<_> = data.variables.iter().map(|f| bytes_of(&f.values)).collect();
                    assert!(found == rows[step], "step {step}");
                }
            });
        }
    });
    let data = provider.sample_at(0.0).unwrap();
    let names: Vec<&str> = data.variables.iter().map(|f| &*f.name).collect();
    assert_eq!(&names[..4], ["values_float64", "values_float64_2x3", "values_float32", "values_float32_2x3"]);
    let matrices = data.variable("values_uint64_2x3").unwrap();
    let suffixed = [("column_uint64_2x3", 3), ("element1_uint64_2x3", 2), ("element2_uint64_2x3", 3)];
    assert_eq!(dims(matrices), suffixed);
    assert_eq!(data.coord("owner_id_uint64_2x3").unwrap().shape, [3]);
    assert_eq!(data.coords.len(), 4 * groups);
}

#[test]
fn a_sample_says_what_its_columns_are() {
    let store = Store::memory().unwrap();
    let arrays = [pattern(DType::F64, &[3], 1), pattern(DType::F64, &[3], 2)];
    let ids = [7, 3].into_iter().zip(&arrays).map(|(owner, values)| {
        let mut item = single(owner, &format!("load {owner}"), values, HOUR);
        item.units = Some("MW".into());
        item.features = [("year", 2030), ("case", owner)].into_iter().collect();
        store.add(&item).unwrap().0
    });
    let ids: Vec<i64> = ids.collect();
    let reader = StaticReader::build(&store, &hourly()).unwrap();
    let data = ReaderProvider::of_series(&reader).unwrap().sample_at(seconds(1)).unwrap();
    assert_eq!((data.variables.len(), data.coords.len()), (1, 4));
    assert_eq!(dims(&data.variables[0]), [("column", 2)]);
    assert_eq!(integers(&data, "id"), [ids[1], ids[0]]);
    assert_eq!(integers(&data, "owner_id"), [3, 7]);
    assert_eq!(texts(&data, "owner"), ["Component Bus 3", "Component Bus 7"]);
    assert_eq!(texts(&data, "name"), ["load 3", "load 7"]);
    let text = |text: &str| AttributeValue::Text(text.into());
    let expected = vec![
        ("series_type", text("SingleTimeSeries")),
        ("resolution", text("PT1H")),
        ("units", text("MW")),
        ("feature_year", AttributeValue::Integers(vec![2030])),
    ];
    assert_eq!(about(data.variable("values").unwrap()), expected);
}

#[test]
fn times_snap_down_to_the_readers_timeline() {
    let store = Store::memory().unwrap();
    let values = Array::from_f64(vec![3], &[10.0, 20.0, 30.0]).unwrap();
    let at = |ms: &[i64]| ms.iter().map(|ms| UnixMillis(*ms)).collect::<Vec<_>>();
    let persistent = |owner: i64, name: &str, ms: &[i64]| {
        let data = SeriesData::Persistent { timestamps: at(ms), values: values.view() };
        store.add(&NewSeries::new(Owner::component(owner, "Bus"), name, data)).unwrap();
    };
    persistent(1, "price", &[1001, 5000, 9000]);
    persistent(2, "price", &[2000, 5000, 7001]);
    let filter = Filter { series_type: Some(SeriesType::PersistentTimeSeries), ..Filter::default() };
    let provider = ReaderProvider::of_series(&StaticReader::build(&store, &filter).unwrap()).unwrap();
    assert_eq!(provider.refresh_times(), [1.001, 2.0, 5.0, 7.001, 9.0]);
    let values_at = |t: f64| provider.sample_at(t).map(|data| doubles(&data, "values").to_vec());
    for (t, expected) in
        [(2.0, [10.0, 10.0]), (4.9, [10.0, 10.0]), (5.0, [20.0, 20.0]), (8.0, [20.0, 30.0]), (1e9, [30.0, 30.0])]
    {
        assert_eq!(values_at(t).unwrap(), expected, "{t}");
    }
    assert_eq!((provider.anchor(8.0).unwrap(), provider.anchor(1e9).unwrap()), (7.001, 9.0));
    assert_eq!(provider.anchor(1.0).unwrap_err().kind(), ErrorKind::OffGrid);
    refused(provider.sample_at(1.0), ErrorKind::OffGrid, "precedes the first refresh time 1.001");
    refused(provider.sample_at(f64::NAN), ErrorKind::InvalidParameter, "NaN");
    refused(provider.sample_at(1.5), ErrorKind::OffGrid, "Component 2 (Bus)");
    assert_eq!(Sampler::calendar(&provider), Some("standard"));
    let kept = provider.refresh(8.0).unwrap();
    assert!(Arc::ptr_eq(&kept, &provider.refresh(7.5).unwrap()) && Arc::ptr_eq(&kept, &provider.current().unwrap()));
    assert!(provider.refresh(1.5).is_err());
    assert!(Arc::ptr_eq(&kept, &provider.current().unwrap()));
}

fn forecasts(outer: Option<usize>, resolution: Period, interval: Period, steps: usize, count: usize) -> Store {
    let store = Store::memory().unwrap();
    let horizon = match resolution {
        Period::Fixed(ms) => Period::Fixed(ms * steps as i64),
        Period::Months(months) => Period::Months(months * steps as i32),
    };
    let windows = Windows { initial: hour(0), resolution, horizon, interval, count };
    for owner in 0..4 {
        let shape: Vec<usize> = outer.into_iter().chain([steps, count]).collect();
        // The last two have one array.
        let values = pattern(DType::F64, &shape, owner.min(2) as u64);
        let values = values.view();
        let data = match outer {
            Some(n) => {
                let percentiles = (0..n).map(|p| 10.0 * p as f64).collect();
                SeriesData::Probabilistic { windows, percentiles, values }
            }
            None => SeriesData::Deterministic { windows, values },
        };
        store.add(&NewSeries::new(Owner::component(owner, "Plant"), "wind", data)).unwrap();
    }
    store
}

#[test]
fn forecasts_give_the_window_of_every_entry() {
    for outer in [None, Some(3)] {
        let store = forecasts(outer, HOUR, Period::hours(6), 24, 9);
        let series_type = if outer.is_some() { SeriesType::Probabilistic } else { SeriesType::Deterministic };
        let filter = Filter { series_type: Some(series_type), ..hourly() };
        let mut reader = ForecastReader::build(&store, &filter).unwrap();
        let provider = ReaderProvider::of_forecasts(&reader).unwrap();
        assert_eq!(provider.refresh_times(), (0..9).map(|k| seconds(6 * k)).collect::<Vec<_>>());
        assert_eq!((reader.slots().len(), reader.entries().len()), (3, 4));
        for k in (0..9).chain((0..9).rev()) {
            reader.read_window(k).unwrap();
            let data = provider.sample_at(seconds(6 * k) + 0.5).unwrap();
            let expected: Vec<u8> =
                reader.entries().iter().flat_map(|entry| reader.values(entry.slot()).to_vec()).collect();
            assert!(bytes_of(&data.variables[0].values) == expected, "window {k}");
            assert_eq!(integers(&data, "owner_id"), [0, 1, 2, 3]);
            assert_eq!(doubles(&data, "step"), (0..24).map(seconds).collect::<Vec<_>>());
            let inner = outer.map(|n| ("percentile", n));
            let expected: Vec<_> = [("column", 4)].into_iter().chain(inner).chain([("step", 24)]).collect();
            assert_eq!(dims(&data.variables[0]), expected);
            if outer.is_some() {
                assert_eq!(doubles(&data, "percentile"), [0.0, 10.0, 20.0]);
            }
        }
    }
}

#[test]
fn steps_of_months_are_counted_from_the_start_of_each_window() {
    let store = forecasts(None, Period::Months(1), Period::Months(1), 3, 4);
    let filter = Filter {
        series_type: Some(SeriesType::Deterministic),
        resolution: Some(Period::Months(1)),
        ..Filter::default()
    };
    let provider = ReaderProvider::of_forecasts(&ForecastReader::build(&store, &filter).unwrap()).unwrap();
    let day = 86_400.0;
    assert_eq!(provider.refresh_times(), [0.0, 31.0, 59.0, 90.0].map(|days| days * day));
    for (t, days) in [(0.0, [0.0, 31.0, 59.0]), (31.0 * day, [0.0, 28.0, 59.0]), (60.0 * day, [0.0, 31.0, 61.0])] {
        assert_eq!(doubles(&provider.sample_at(t).unwrap(), "step"), days.map(|d| d * day));
    }
}

#[test]
fn a_window_keeps_some_of_the_columns() {
    let store = Store::memory().unwrap();
    let arrays: Vec<Array> = (0..5).map(|k| pattern(DType::F64, &[4], k)).collect();
    for (k, values) in arrays.iter().enumerate() {
        store.add(&single(k as i64, "load", values, HOUR)).unwrap();
    }
    let provider = ReaderProvider::of_series(&StaticReader::build(&store, &hourly()).unwrap()).unwrap();
    let windows: [Selection; 2] =
        [DimWindow::new().indices("column", [4, 0]).into(), DimWindow::new().range("column", 1, 3).into()];
    let whole = provider.sample_at(seconds(2)).unwrap();
    let bound = provider.with_window(windows[0].clone()).unwrap();
    let sample = bound.sample_at(seconds(2)).unwrap();
    assert!(sample.same_bits(&whole.cut(&windows[0]).unwrap()));
    assert_eq!(integers(&sample, "owner_id"), [4, 0]);
    assert_eq!(sample.variables[0].shape, [2]);
    let both = provider.sample_windows_at(seconds(2), &windows).unwrap();
    assert!(both[0].same_bits(&sample) && both[1].same_bits(&whole.cut(&windows[1]).unwrap()));
    assert!(provider.sample_windows_at(-1.0, &[]).unwrap().is_empty());
    assert!(bound.peek(seconds(2), &Selection::All).unwrap().same_bits(&whole));
    assert!(bound.peek(seconds(2), &windows[1]).unwrap().same_bits(&both[1]));

    refused(bound.with_window(windows[1].clone()).and_then(|p| p.sample_at(0.0)), ErrorKind::Selection, "already");
    let error = bound.sample_windows_at(0.0, &windows).map(drop).unwrap_err();
    assert!(error.to_string().contains("already"), "{error}");
    refused(provider.peek(0.0, &Selection::Positional(vec![])), ErrorKind::Selection, "names its dimensions");
    refused(provider.with_window(Selection::All).and_then(|p| p.sample_at(0.0)), ErrorKind::Selection, "names its dim");
    let sample = |window: DimWindow| provider.with_window(window).unwrap().sample_at(0.0);
    refused(sample(DimWindow::new().all("time")), ErrorKind::Selection, "dimension \"time\"; present are \"column\"");
    refused(sample(DimWindow::new().range("column", 2, 6)), ErrorKind::Selection, "index 5 of dimension \"column\"");
}

#[test]
fn a_group_mixes_cadences_and_gives_what_the_members_give() {
    let store = Store::memory().unwrap();
    let arrays = [pattern(DType::F64, &[24], 1), pattern(DType::F64, &[8], 2)];
    store.add(&single(1, "load", &arrays[0], HOUR)).unwrap();
    store.add(&single(2, "price", &arrays[1], Period::hours(3))).unwrap();
    let of = |resolution| {
        let filter = Filter { resolution: Some(resolution), ..Filter::default() };
        Arc::new(ReaderProvider::of_series(&StaticReader::build(&store, &filter).unwrap()).unwrap())
    };
    let (load, price) = (of(HOUR), of(Period::hours(3)));
    for (workers, inline) in [(1, false), (2, false), (1, true)] {
        let group = PrefetchGroup::builder().member("load", load.clone()).member("price", price.clone());
        let group = group.workers(workers).inline(inline).depth(3).build().unwrap();
        assert_eq!(group.boundaries().len(), 24);
        for (order, epochs) in
            [(Order::Forward, (0..24).collect::<Vec<_>>()), (Order::Reverse, (0..24).rev().collect())]
        {
            group.start(order, None).unwrap();
            for k in epochs {
                let epoch = group.take(k).unwrap();
                for (key, member) in [("load", &load), ("price", &price)] {
                    assert!(epoch[key].data.same_bits(&member.sample_at(seconds(k)).unwrap()), "{key} in epoch {k}");
                }
                assert_eq!(epoch["price"].anchor, seconds(k / 3 * 3));
            }
        }
    }
}

#[test]
fn the_store_is_what_it_is_at_the_read() {
    let store = of_every_type();
    let reader = StaticReader::build(&store, &hourly()).unwrap();
    let provider = ReaderProvider::of_series(&reader).unwrap();
    let before = provider.sample_at(seconds(9)).unwrap();
    drop(reader);
    store.add(&single(99, "later", &pattern(DType::F64, &[40], 99), HOUR)).unwrap();
    store.compact_physical().unwrap();
    assert!(provider.sample_at(seconds(9)).unwrap().same_bits(&before));
    let id = store.list(&Filter { name: Some("s5".into()), ..hourly() }).unwrap()[0].id;
    store.remove(&[id]).unwrap();
    refused(provider.sample_at(seconds(9)), ErrorKind::NotFound, "`s5` of Component 2 (Bus)");
    store.close().unwrap();
    refused(provider.sample_at(seconds(9)), ErrorKind::Closed, "store");
    let empty = StaticReader::build(&Store::memory().unwrap(), &hourly()).unwrap();
    let error = ReaderProvider::of_series(&empty).map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}
