//! Rows 7 to 14: which values are kept, and how; which shapes are refused.

use super::*;
use crate::array::DType;
use crate::series::Windows;

/// The values as a series of their own and, two steps by as many windows as there are, as a forecast; both read back.
fn survives(dtype: DType, steps: usize, bytes: &[u8]) {
    let line = Array::new(dtype, vec![steps], bytes.to_vec()).unwrap();
    let plane = Array::new(dtype, vec![2, steps / 2], bytes.to_vec()).unwrap();
    let windows = Windows {
        initial: START,
        resolution: Period::hours(1),
        horizon: Period::hours(2),
        interval: Period::hours(1),
        count: steps / 2,
    };
    let fill = |store: &Store| {
        let data = SeriesData::Deterministic { windows, values: plane.view() };
        let forecast = NewSeries::new(Owner::component(2, "Bus"), "load", data);
        [add(store, 1, "load", &line), store.add(&forecast).unwrap()]
    };
    each(fill, |store, ids| {
        assert_eq!(store.read(ids[0]).unwrap().values, line);
        assert_eq!(store.read(ids[1]).unwrap().values, plane);
        assert_eq!(store.read_many(&[ids[1], ids[0]]).unwrap()[0].values, plane);
    });
}

fn bytes<const N: usize, T: Copy>(values: &[T], to: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|v| to(*v)).collect()
}

#[test]
pub(super) fn row_7_values_that_are_not_finite_are_values() {
    let doubles = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::MIN_POSITIVE / 2.0, f64::from_bits(!0)];
    survives(DType::F64, 6, &bytes(&doubles, f64::to_le_bytes));
    let singles = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, f32::from_bits(1), f32::from_bits(!0)];
    survives(DType::F32, 6, &bytes(&singles, f32::to_le_bytes));
}

#[test]
pub(super) fn row_8_a_value_like_the_fill_of_empty_cells_is_a_value() {
    survives(DType::F64, 2, &bytes(&[9.969_209_968_386_869e36, 1.0], f64::to_le_bytes));
    survives(DType::F32, 2, &bytes(&[9.969_21e36, 1.0], f32::to_le_bytes));
    survives(DType::I64, 2, &bytes(&[-9_223_372_036_854_775_806, 1], i64::to_le_bytes));
    survives(DType::I32, 2, &bytes(&[-2_147_483_647, 1], i32::to_le_bytes));
    survives(DType::U64, 2, &bytes(&[18_446_744_073_709_551_614, 1], u64::to_le_bytes));
}

#[test]
pub(super) fn row_9_integers_are_exact_to_the_last() {
    survives(DType::I64, 4, &bytes(&[i64::MIN, i64::MAX, (1 << 53) + 1, -1], i64::to_le_bytes));
    survives(DType::I32, 4, &bytes(&[i32::MIN, i32::MAX, -1, 0], i32::to_le_bytes));
    survives(DType::U64, 4, &bytes(&[u64::MAX, 1 << 63, (1 << 63) + 1, 0], u64::to_le_bytes));
}

#[test]
pub(super) fn row_10_a_truth_value_is_one_byte() {
    survives(DType::Bool, 4, &[1, 0, 0, 1]);
    let store = Store::memory().unwrap();
    let odd = Array::new(DType::Bool, vec![2], vec![1, 2]).unwrap();
    assert_eq!(store.add(&series(1, "load", &odd)).unwrap_err().kind(), ErrorKind::InvalidParameter);
}

#[test]
pub(super) fn row_11_a_series_without_steps_is_a_series() {
    let (line, rows) = (Array::from_f64(vec![0], &[]).unwrap(), Array::from_f64(vec![0, 3], &[]).unwrap());
    let fill = |store: &Store| [add(store, 1, "load", &line), add(store, 2, "load", &rows)];
    each(fill, |store, ids| {
        for (id, values) in ids.iter().zip([&line, &rows]) {
            let read = store.read(*id).unwrap();
            assert_eq!((&read.values, read.info.length), (values, Some(0)));
            assert_eq!(&store.read_range(*id, Some(START), Some(hour(9.0))).unwrap().values, values);
        }
    });
}

#[test]
pub(super) fn rows_12_and_13_elements_have_an_extent_and_series_have_an_axis() {
    let (_dir, stores) = stores();
    for store in stores {
        let hollow = Array::from_f64(vec![4, 0], &[]).unwrap();
        let scalar = Array::from_f64(vec![], &[1.0]).unwrap();
        for values in [&hollow, &scalar] {
            let new = series(1, "load", values);
            assert_eq!(store.add(&new).unwrap_err().kind(), ErrorKind::InvalidParameter);
            assert_eq!(store.add_bulk(&[new]).unwrap_err().kind(), ErrorKind::InvalidParameter);
            assert!(!holds(&store, values.view().hash()));
        }
        assert!(all(&store).is_empty());
    }
}

#[test]
pub(super) fn row_14_a_range_over_one_step() {
    let one = Array::from_f64(vec![1], &[7.0]).unwrap();
    each(
        |store| add(store, 1, "load", &one),
        |store, id| {
            for (from, to, steps) in [(0.0, 1.0, 1), (-2.0, -1.0, 0), (-1.0, 0.0, 0), (1.0, 2.0, 0), (0.25, 0.5, 1)] {
                let read = store.read_range(*id, Some(hour(from)), Some(hour(to))).unwrap();
                assert_eq!(read.values.to_f64().unwrap(), [7.0][..steps], "{from} to {to}");
            }
        },
    );
}
