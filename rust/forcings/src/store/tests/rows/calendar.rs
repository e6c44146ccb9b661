//! Rows 37 to 42 and 46: months counted from January 31, and what of such a grid may stand alone.

use super::*;
use crate::series::Windows;
use crate::time::Grid;

fn day(text: &str) -> UnixMillis {
    instant(&format!("{text}T00:00:00Z"))
}

/// `0, 1, 2, ..`
fn numbers(shape: &[usize]) -> Array {
    let count: usize = shape.iter().product();
    Array::from_f64(shape.to_vec(), &(0..count).map(|k| k as f64).collect::<Vec<_>>()).unwrap()
}

/// Fourteen months from January 31.
fn monthly(store: &Store) -> SeriesId {
    let (owner, values) = (Owner::component(1, "Bus"), numbers(&[14]));
    store.add(&NewSeries::single(owner, "price", day("2024-01-31"), Period::Months(1), values.view())).unwrap()
}

fn forecast(store: &Store, horizon: Period, resolution: Period) -> Result<SeriesId> {
    let values = numbers(&[2, 4]);
    let windows = Windows { initial: day("2024-01-31"), resolution, horizon, interval: Period::Months(1), count: 4 };
    let data = SeriesData::Deterministic { windows, values: values.view() };
    store.add(&NewSeries::new(Owner::component(1, "Bus"), "price", data))
}

#[test]
pub(super) fn rows_37_and_38_february_29_is_a_step_and_its_neighbours_are_not() {
    let grid = Grid::new(day("2024-01-31"), Period::Months(1), 14).unwrap();
    assert_eq!(grid.index_of(day("2024-02-29")).unwrap(), 1);
    assert_eq!(grid.index_of(day("2024-04-30")).unwrap(), 3);
    for off in ["2024-03-29", "2024-02-28", "2024-04-29"] {
        assert_eq!(grid.index_of(day(off)).unwrap_err().kind(), ErrorKind::OffGrid, "{off}");
    }
}

#[test]
pub(super) fn row_39_a_monthly_window_starts_on_february_29() {
    let hours = Period::hours;
    each(
        |store| forecast(store, hours(2), hours(1)).unwrap(),
        |store, id| {
            let (february, march) = (day("2024-02-29"), day("2024-03-01"));
            let read = store.read_range(*id, Some(february), Some(march)).unwrap();
            assert_eq!((read.info.initial, read.values.to_f64()), (Some(february), Some(vec![1.0, 5.0])));
            let rest = store.read_range(*id, Some(february), None).unwrap_err();
            assert_eq!(rest.kind(), ErrorKind::InvalidParameter);
            assert_eq!(store.read_range(*id, Some(march), None).unwrap_err().kind(), ErrorKind::InvalidParameter);
        },
    );
}

#[test]
pub(super) fn rows_40_to_42_a_slice_is_true_or_refused() {
    each(monthly, |store, id| {
        let read = |from, to| store.read_range(*id, Some(from), Some(to));
        let error = read(day("2024-02-29"), day("2024-04-30")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        assert!(error.to_string().contains("`price`"), "{error}");
        assert_eq!(read(day("2024-02-29"), day("2024-03-31")).unwrap().values.to_f64(), Some(vec![1.0]));
        // The most steps that may follow each step, from which everything shorter is served too.
        let most = [14, 1, 12, 1, 10, 1, 8, 7, 1, 5, 1, 3, 2, 1];
        let grid = store.read(*id).unwrap().info.grid().unwrap();
        for (offset, most) in most.into_iter().enumerate() {
            for len in 1..=14 - offset {
                let end = if offset + len == 14 { grid.end() } else { grid.at(offset + len).unwrap() };
                let slice = read(grid.at(offset).unwrap(), end);
                assert_eq!(slice.is_ok(), len <= most, "{offset} + {len}");
                let Ok(slice) = slice else { continue };
                for (at, value) in slice.info.grid().unwrap().instants().zip(slice.values.to_f64().unwrap()) {
                    let step = read(at, UnixMillis(at.0 + 1)).unwrap();
                    assert_eq!((step.info.initial, step.values.to_f64()), (Some(at), Some(vec![value])));
                }
            }
        }
    });
}

#[test]
pub(super) fn row_46_hours_are_not_counted_in_months() {
    let (_dir, stores) = stores();
    for store in stores {
        for (horizon, resolution) in [(Period::hours(48), Period::Months(1)), (Period::Months(2), Period::hours(1))] {
            assert_eq!(forecast(&store, horizon, resolution).unwrap_err().kind(), ErrorKind::InvalidParameter);
        }
        let months = forecast(&store, Period::Months(2), Period::Months(1)).unwrap();
        assert_eq!(store.read(months).unwrap().values, numbers(&[2, 4]));
    }
}
