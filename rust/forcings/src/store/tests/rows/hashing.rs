//! Rows 1 to 6: which arrays and which features are one.

use super::*;
use crate::array::DType;
use crate::series::{FeatureValue, Features};

fn hash(array: &Array) -> ArrayHash {
    array.view().hash()
}

fn doubles(values: &[f64]) -> Array {
    Array::from_f64(vec![values.len()], values).unwrap()
}

#[test]
pub(super) fn rows_1_and_2_the_digest_covers_values_type_and_shape() {
    let line = doubles(&[0.0, 1.0, 2.0, 3.0]);
    let square = Array::from_f64(vec![2, 2], &[0.0, 1.0, 2.0, 3.0]).unwrap();
    let singles: Vec<u8> = [0.0f32, 1.0, 2.0, 3.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    let singles = Array::new(DType::F32, vec![4], singles).unwrap();
    assert_eq!(hash(&line).to_hex(), "f85b4f66e62c7c51f9c82d01eabed7fb5e3b5217a69296aaaff876e1144dd841");
    let fill = |store: &Store| {
        [&line, &square, &singles].iter().zip(0..).map(|(a, owner)| add(store, owner, "load", a)).collect::<Vec<_>>()
    };
    each(fill, |store, ids| {
        let infos = all(store);
        assert_eq!(infos[0].hash, hash(&line));
        assert!(infos[0].hash != infos[1].hash && infos[0].hash != infos[2].hash && infos[1].hash != infos[2].hash);
        assert_eq!(store.counts().unwrap().arrays, 3);
        assert_eq!(
            store.read_many(ids).unwrap().iter().map(|s| &s.values).collect::<Vec<_>>(),
            [&line, &square, &singles]
        );
    });
}

#[test]
pub(super) fn row_3_nans_are_one_array_with_the_payload_that_was_first() {
    let nan = |bits: u64| doubles(&[1.0, f64::from_bits(bits), 3.0]);
    let (first, second) = (nan(0x7ff8_0000_0000_0001), nan(0xfff8_0000_0000_0002));
    let fill = |store: &Store| [add(store, 1, "load", &first), add(store, 2, "load", &second)];
    each(fill, |store, ids| {
        assert_eq!(store.counts().unwrap().arrays, 1);
        for id in ids {
            assert_eq!(store.read(*id).unwrap().values, first);
        }
    });
}

#[test]
pub(super) fn row_4_the_sign_of_zero_makes_two_arrays() {
    let (plus, minus) = (doubles(&[0.0, 1.0]), doubles(&[-0.0, 1.0]));
    let fill = |store: &Store| [add(store, 1, "load", &plus), add(store, 2, "load", &minus)];
    each(fill, |store, ids| {
        assert_eq!(store.counts().unwrap().arrays, 2);
        assert_eq!(store.read(ids[0]).unwrap().values, plus);
        assert_eq!(store.read(ids[1]).unwrap().values, minus);
    });
}

#[test]
pub(super) fn row_5_features_have_no_order() {
    let ascending = Features::from_iter([("a", 1), ("b", 2)]);
    let descending = Features::from_iter([("b", 2), ("a", 1)]);
    assert_eq!(ascending.hash(), descending.hash());
    let (_dir, stores) = stores();
    for store in stores {
        let values = ramp(0);
        let with = |features: &Features| NewSeries { features: features.clone(), ..series(1, "load", &values) };
        store.add(&with(&ascending)).unwrap();
        assert_eq!(store.add(&with(&descending)).unwrap_err().kind(), ErrorKind::DuplicateTimeSeries);
    }
}

#[test]
pub(super) fn row_6_one_and_one_and_true_and_one_are_four_features() {
    let kinds: [FeatureValue; 4] = [1.into(), 1.0.into(), true.into(), "1".into()];
    let with = |value: &FeatureValue| Features::from_iter([("k", value.clone())]);
    let fill = |store: &Store| {
        let values = ramp(0);
        let new = |value| NewSeries { features: with(value), ..series(1, "load", &values) };
        kinds.iter().map(|value| store.add(&new(value)).unwrap()).collect::<Vec<_>>()
    };
    each(fill, |store, ids| {
        for (value, id) in kinds.iter().zip(ids) {
            let found = store.list(&Filter { features: with(value), ..Filter::default() }).unwrap();
            assert_eq!(found.iter().map(|info| info.id).collect::<Vec<_>>(), [*id], "{value}");
            assert!(store.has_series(&Identity::of(&found[0])).unwrap());
        }
    });
}
