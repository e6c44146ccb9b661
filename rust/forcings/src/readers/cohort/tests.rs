use super::*;
use crate::array::ArrayHash;
use crate::series::{Owner, SeriesId};
use crate::time::{Period, UnixMillis};
use crate::ErrorKind;

fn info(id: i64, owner: Owner, name: &str) -> SeriesInfo {
    SeriesInfo {
        id: SeriesId(id),
        owner,
        series_type: SeriesType::SingleTimeSeries,
        name: name.into(),
        initial: Some(UnixMillis(0)),
        resolution: Some(Period::hours(1)),
        length: Some(24),
        horizon: None,
        interval: None,
        count: None,
        timestamps: None,
        percentiles: None,
        dtype: DType::F64,
        element_shape: vec![],
        units: None,
        ext: None,
        time_reference: None,
        features: Features::new(),
        hash: ArrayHash::from_bytes([id as u8; 32]),
    }
}

fn ids(group: &Group) -> Vec<i64> {
    group.columns().iter().map(|c| c.id.0).collect()
}

#[test]
fn groups_follow_type_and_shape_and_columns_their_owners() {
    let mut series = vec![
        info(1, Owner::component(3, "Gen"), "load"),
        info(2, Owner::component(2, "Gen"), "load"),
        info(3, Owner::component(1, "Gen"), "load"),
        info(4, Owner::component(9, "Gen"), "load"),
        info(5, Owner::component(9, "Gen"), "load"),
        info(6, Owner::component(9, "Gen"), "load"),
    ];
    series[0].dtype = DType::I64;
    series[3].element_shape = vec![3];
    series[4].element_shape = vec![2];
    series[5].element_shape = vec![2, 3];
    let groups = Cohort::new(series).unwrap().groups;
    let heads: Vec<(DType, &[usize])> = groups.iter().map(|g| (g.dtype(), g.element_shape())).collect();
    assert_eq!(
        heads,
        [(DType::F64, &[][..]), (DType::F64, &[2]), (DType::F64, &[2, 3]), (DType::F64, &[3]), (DType::I64, &[])]
    );
    assert_eq!(groups.iter().map(ids).collect::<Vec<_>>(), [vec![3, 2], vec![5], vec![6], vec![4], vec![1]]);
    assert_eq!(groups[2].element_bytes(), 48);
}

#[test]
fn columns_are_ordered_by_owner_then_category_then_name_then_features() {
    let with = |id, owner: i64, name: &str, pairs: &[(&str, FeatureValue)]| SeriesInfo {
        features: pairs.iter().cloned().collect(),
        ..info(id, Owner::component(owner, "Gen"), name)
    };
    let series = vec![
        info(1, Owner::attribute(1, "Outage"), "a"),
        with(2, 1, "b", &[]),
        with(3, 1, "a", &[("year", FeatureValue::Int(2030))]),
        with(4, 1, "a", &[("year", FeatureValue::Int(2025))]),
        with(5, 1, "a", &[("scenario", FeatureValue::Text("low".into())), ("year", FeatureValue::Int(1))]),
        with(6, 1, "a", &[]),
        with(7, 1, "a", &[("year", FeatureValue::Float(-1.0))]),
        with(8, -5, "z", &[]),
    ];
    let groups = Cohort::new(series).unwrap().groups;
    assert_eq!(ids(&groups[0]), [8, 6, 5, 4, 3, 7, 2, 1]);
}

#[test]
fn a_divergent_series_is_named_with_both_grids() {
    let mut series: Vec<SeriesInfo> = (1..5).map(|k| info(k, Owner::component(k, "Bus"), "load")).collect();
    series[2].length = Some(23);
    series[3].initial = Some(UnixMillis(3_600_000));
    let error = Cohort::new(series).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    let text = error.to_string();
    for part in ["Component 3 (Bus)", "23 steps of PT1H", "Component 1 (Bus)", "24 steps of PT1H", "narrow the filter"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn nothing_selected_is_a_cohort_without_groups_and_no_steps_are_refused() {
    let cohort = Cohort::new(Vec::new()).unwrap();
    assert!(cohort.grid.is_none() && cohort.groups.is_empty());
    let empty = SeriesInfo { length: Some(0), ..info(1, Owner::component(1, "Bus"), "load") };
    assert_eq!(Cohort::new(vec![empty]).unwrap_err().kind(), ErrorKind::InvalidParameter);
}

#[test]
fn a_filter_needs_a_resolution_and_a_type_that_fits() {
    let filter = Filter { resolution: Some(Period::hours(1)), ..Filter::default() };
    assert_eq!(checked_filter(&filter).unwrap().series_type, Some(SeriesType::SingleTimeSeries));
    for wrong in [
        Filter::default(),
        Filter { series_type: Some(SeriesType::Deterministic), ..filter.clone() },
        Filter { series_type: Some(SeriesType::NonSequentialTimeSeries), ..filter },
    ] {
        assert_eq!(checked_filter(&wrong).unwrap_err().kind(), ErrorKind::InvalidParameter);
    }
}
