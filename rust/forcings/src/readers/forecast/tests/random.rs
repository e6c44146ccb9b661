//! Random stores, read window by window and as whole forecasts.

use super::*;
use proptest::prelude::*;

/// A few forecasts of a random store.
#[derive(Debug, Clone)]
struct Batch {
    dtype: DType,
    element_shape: Vec<usize>,
    /// Steps of a window beyond the distance of windows.
    more: usize,
    forecasts: usize,
    /// How many of them have distinct arrays.
    distinct: u64,
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Dense,
    /// Over arrays that regular series put into packed columns.
    DenseInColumns,
    Derived,
    /// Over arrays that irregular series put into variables of their own.
    DerivedFromVariables,
}

/// Owners in an order that is not that of their names.
fn item<'a>(k: usize, name: &str, data: SeriesData<'a>) -> NewSeries<'a> {
    forecast(k as i64 * 7 % 5, &format!("{name}-{k}"), data)
}

fn regular(values: &Array) -> SeriesData<'_> {
    SeriesData::Single { initial: hour(0), resolution: HOUR, values: values.view() }
}

fn batch() -> impl Strategy<Value = Batch> {
    let shapes = prop_oneof![4 => Just(vec![]), 1 => Just(vec![3]), 1 => Just(vec![2, 2]), 1 => Just(vec![700])];
    let kinds = prop_oneof![
        3 => Just(Kind::Dense), 1 => Just(Kind::DenseInColumns), 3 => Just(Kind::Derived),
        1 => Just(Kind::DerivedFromVariables),
    ];
    (0u8..6, shapes, 0usize..5, prop_oneof![4 => 1usize..5, 1 => Just(30)], 1u64..9, kinds).prop_map(
        |(code, element_shape, more, forecasts, distinct, kind)| {
            let forecasts = if element_shape == [700] { forecasts.min(3) } else { forecasts };
            Batch { dtype: DType::from_code(code).unwrap(), element_shape, more, forecasts, distinct, kind }
        },
    )
}

impl Batch {
    fn arrays(&self, seed: usize, head: &[usize]) -> Vec<Array> {
        let shape: Vec<usize> = head.iter().chain(&self.element_shape).copied().collect();
        let array = |k: usize| pattern(self.dtype, shape.clone(), seed as u64 * 1000 + k as u64 % self.distinct);
        (0..self.forecasts).map(array).collect()
    }

    /// Adds the forecasts; those of batch `b` have its number as their name.
    fn add(&self, store: &Store, b: usize, stride: usize, count: usize, rest: usize) {
        let (steps, name) = (stride + self.more, b.to_string());
        let length = (count - 1) * stride + steps + rest % stride;
        let own = windows(steps as i32, stride as i32, count);
        let derived = matches!(self.kind, Kind::Derived | Kind::DerivedFromVariables);
        let arrays = match derived {
            true => self.arrays(b, &[length]),
            false => self.arrays(b, &[steps, count]),
        };
        for (k, values) in arrays.iter().enumerate() {
            let view = values.view();
            match self.kind {
                Kind::Dense | Kind::Derived => {}
                Kind::DenseInColumns => drop(store.add(&item(k, &format!("first {name}"), regular(values))).unwrap()),
                Kind::DerivedFromVariables => {
                    let timestamps = (0..length as i64).map(hour).collect();
                    let data = SeriesData::NonSequential { timestamps, values: view };
                    store.add(&item(k, &format!("first {name}"), data)).unwrap();
                }
            }
        }
        let mut items: Vec<NewSeries> = Vec::new();
        for (k, values) in arrays.iter().enumerate() {
            let data = match derived {
                true => regular(values),
                false => SeriesData::Deterministic { windows: own, values: values.view() },
            };
            items.push(item(k, &name, data));
        }
        store.add_bulk(&items).unwrap();
        if derived {
            let scope = Filter { name_glob: Some(format!("{name}-*")), ..Filter::default() };
            store.transform_single_time_series(own.horizon, own.interval, &scope).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_reader_agrees_with_whole_forecasts(
        batches in proptest::collection::vec(batch(), 1..5),
        stride in 1usize..5,
        count in 1usize..20,
        rest in 0usize..5,
        on_disk in any::<bool>(),
        removed in proptest::collection::vec(0usize..200, 0..4),
        order in proptest::collection::vec(0usize..20, 1..20),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.nc");
        let mut store = if on_disk { Store::create(&path, &CreateOptions::default()) } else { Store::memory() }.unwrap();
        for (b, batch) in batches.iter().enumerate() {
            batch.add(&store, b, stride, count, rest);
        }
        let mut ids: Vec<SeriesId> = store.list(&deterministic()).unwrap().iter().map(|info| info.id).collect();
        for k in removed {
            if ids.len() > 1 {
                store.remove(&[ids.swap_remove(k % ids.len())]).unwrap();
            }
        }
        if on_disk {
            store.close().unwrap();
            store = Store::open(&path, &OpenOptions { read_only: true, ..OpenOptions::default() }).unwrap();
        }
        let mut reader = ForecastReader::build(&store, &deterministic()).unwrap();
        prop_assert_eq!((reader.entries().len(), reader.len()), (ids.len(), count));
        let whole: Vec<Array> =
            reader.entries().iter().map(|entry| store.read(entry.info().id).unwrap().values).collect();
        for k in order.into_iter().map(|k| k % count) {
            reader.read_window(k).unwrap();
            for (entry, values) in reader.entries().iter().zip(&whole) {
                prop_assert!(reader.values(entry.slot()) == window_of(values, 1, k), "window {} of {}", k, entry.info());
            }
        }
        super::shared::check(&mut reader);
    }

    #[test]
    fn so_do_percentiles_and_scenarios(
        (dtype, outer, steps, count) in (0u8..6, 1usize..5, 1usize..6, 1usize..9),
        element_shape in prop_oneof![Just(vec![]), Just(vec![3]), Just(vec![2, 2])],
        forecasts in 1usize..5,
        probabilistic in any::<bool>(),
        order in proptest::collection::vec(0usize..9, 1..12),
    ) {
        let store = Store::memory().unwrap();
        let shape: Vec<usize> = [outer, steps, count].iter().chain(&element_shape).copied().collect();
        let own = windows(steps as i32, 24, count);
        for k in 0..forecasts {
            let values = pattern(DType::from_code(dtype).unwrap(), shape.clone(), k as u64);
            let data = match probabilistic {
                true => {
                    let percentiles = (0..outer).map(|p| p as f64).collect();
                    SeriesData::Probabilistic { windows: own, percentiles, values: values.view() }
                }
                false => SeriesData::Scenarios { windows: own, values: values.view() },
            };
            store.add(&forecast(k as i64, "load", data)).unwrap();
        }
        let series_type = if probabilistic { SeriesType::Probabilistic } else { SeriesType::Scenarios };
        let mut reader = ForecastReader::build(&store, &filter(series_type)).unwrap();
        for k in order.into_iter().map(|k| k % count) {
            reader.read_window(k).unwrap();
            check(&reader, &store, k);
        }
        super::shared::check(&mut reader);
    }
}
