//! Rows 23 to 28: which features are refused, which filters match them, and what becomes of those of removed series.

use super::*;
use crate::series::{FeatureValue, Features};

fn with<'a>(owner: i64, features: &Features, values: &'a Array) -> NewSeries<'a> {
    NewSeries { features: features.clone(), ..series(owner, "load", values) }
}

#[test]
pub(super) fn rows_23_to_25_features_that_could_not_be_found_again_are_refused() {
    let reserved = [
        "count",
        "data",
        "data_hash",
        "dtype",
        "element_shape",
        "ext",
        "features",
        "horizon",
        "id",
        "initial_timestamp",
        "interval",
        "length",
        "name",
        "owner_category",
        "owner_id",
        "owner_type",
        "percentiles",
        "resolution",
        "scenario_count",
        "time_reference",
        "time_series_type",
        "timestamps",
        "units",
    ];
    let bad: Vec<Features> = reserved
        .iter()
        .map(|key| Features::from_iter([(*key, 1)]))
        .chain([f64::NAN, -f64::NAN, -0.0].map(|x| Features::from_iter([("x", x)])))
        .collect();
    let fine = ["Resolution", "resolution_", " name", "", "é"].map(|key| Features::from_iter([(key, 1)]));
    let numbers = [f64::INFINITY, f64::NEG_INFINITY, 0.0, f64::MIN_POSITIVE / 4.0];
    let (_dir, stores) = stores();
    for store in stores {
        let values = ramp(0);
        for features in &bad {
            let (good, new) = (series(1, "load", &values), with(2, features, &values));
            assert_eq!(store.add(&new).unwrap_err().kind(), ErrorKind::InvalidParameter, "{features}");
            let error = store.add_bulk(&[good, new]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{features}");
        }
        assert!(all(&store).is_empty() && !holds(&store, values.view().hash()));
        // A filter may name any key: it matches nothing.
        for features in &bad {
            assert!(store.list(&Filter { features: features.clone(), ..Filter::default() }).unwrap().is_empty());
        }
        for features in fine.iter().cloned().chain(numbers.map(|x| Features::from_iter([("x", x)]))) {
            let id = store.add(&with(3, &features, &values)).unwrap();
            let found = store.list(&Filter { features: features.clone(), ..Filter::default() }).unwrap();
            assert_eq!(found.iter().map(|i| (i.id, &i.features)).collect::<Vec<_>>(), [(id, &features)]);
        }
    }
}

#[test]
pub(super) fn row_26_a_filter_names_some_features_and_their_kinds() {
    let year = |year: FeatureValue| Features::from_iter([("year", year)]);
    let both = Features::from_iter([("year", FeatureValue::Int(1)), ("case", "high".into())]);
    let fill = |store: &Store| {
        let values = ramp(0);
        [store.add(&with(1, &both, &values)).unwrap(), add(store, 2, "load", &values)]
    };
    each(fill, |store, ids| {
        let found = |features: Features| -> Vec<SeriesId> {
            let infos = store.list(&Filter { features, ..Filter::default() }).unwrap();
            infos.iter().map(|info| info.id).collect()
        };
        assert_eq!(found(year(1.into())), ids[..1]);
        assert_eq!(found(both.clone()), ids[..1]);
        assert_eq!(found(Features::new()), ids[..]);
        for other in [1.0.into(), true.into(), "1".into(), 2.into()] {
            assert!(found(year(other)).is_empty());
        }
        let more = Features::from_iter([("year", FeatureValue::Int(1)), ("case", "low".into())]);
        assert!(found(more).is_empty());
    });
}

#[test]
pub(super) fn rows_27_and_28_features_outlive_one_of_two_series_and_are_swept_after_both() {
    let (_dir, stores) = stores();
    for store in stores {
        let values = ramp(0);
        let features = Features::from_iter([("year", FeatureValue::Int(2030)), ("case", "high".into())]);
        let other = Features::from_iter([("year", 2040)]);
        let [a, b] = [1, 2].map(|owner| store.add(&with(owner, &features, &values)).unwrap());
        let c = store.add(&with(3, &other, &values)).unwrap();
        store.remove(&[a]).unwrap();
        assert_eq!(store.read(b).unwrap().info.features, features);
        assert_eq!(store.compact().unwrap().feature_sets_reclaimed, 0);
        store.remove(&[b]).unwrap();
        assert_eq!(store.compact().unwrap().feature_sets_reclaimed, 2, "one for each feature of the set");
        assert_eq!(store.compact().unwrap().feature_sets_reclaimed, 0);
        assert_eq!(store.read(c).unwrap().info.features, other);
        let again = store.add(&with(4, &features, &values)).unwrap();
        assert_eq!(store.read(again).unwrap().info.features, features);
    }
}
