use super::super::options::StaticReaderOptions;
use super::*;
use crate::array::ArrayHash;
use crate::array::DType;
use crate::series::{Bound, FeatureValue, Features, Owner, SeriesId};
use crate::store::Filter;
use crate::time::Period;
use crate::ErrorKind;

pub(in crate::readers) fn info(id: i64, owner: Owner, name: &str) -> SeriesInfo {
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

/// An irregular series with these instants.
fn listed(id: i64, series_type: SeriesType, instants: &[i64]) -> SeriesInfo {
    SeriesInfo {
        series_type,
        initial: None,
        resolution: None,
        length: Some(instants.len() as u64),
        timestamps: Some(instants.iter().map(|t| UnixMillis(*t)).collect()),
        ..info(id, Owner::component(id, "Bus"), "price")
    }
}

fn cohort_of(options: StaticReaderOptions, series: Vec<SeriesInfo>) -> Result<Cohort> {
    let mut intake = Intake::new(&options.checked()?);
    series.into_iter().try_for_each(|info| intake.push(info))?;
    intake.finish()
}

/// Of regular series, without a window.
fn cohort(series: Vec<SeriesInfo>) -> Result<Cohort> {
    window(series, None, None)
}

pub(in crate::readers) fn window(series: Vec<SeriesInfo>, start: Option<Bound>, extent: Option<u64>) -> Result<Cohort> {
    let resolution = series.first().and_then(|s| s.resolution).or(Some(Period::hours(1)));
    let filter = Filter { resolution, ..Filter::default() };
    cohort_of(StaticReaderOptions { filter, start, extent }, series)
}

fn irregular(series_type: SeriesType, series: Vec<SeriesInfo>) -> Result<Cohort> {
    let filter = Filter { series_type: Some(series_type), ..Filter::default() };
    cohort_of(StaticReaderOptions { filter, ..StaticReaderOptions::default() }, series)
}

/// The text of a refusal.
pub(in crate::readers) fn refusal<T: std::fmt::Debug>(result: Result<T>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{error}");
    error.to_string()
}

fn lanes(cohort: &Cohort) -> Vec<usize> {
    cohort.groups.iter().flat_map(Group::columns).map(ColumnInfo::lane).collect()
}

fn ids(group: &Group) -> Vec<i64> {
    group.columns().iter().map(|c| c.id().0).collect()
}

#[test]
fn row_120_groups_follow_type_and_shape_and_columns_their_owners() {
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
    let groups = cohort(series).unwrap().groups;
    let heads: Vec<(DType, &[usize])> = groups.iter().map(|g| (g.dtype(), g.element_shape())).collect();
    assert_eq!(
        heads,
        [(DType::F64, &[][..]), (DType::F64, &[2]), (DType::F64, &[2, 3]), (DType::F64, &[3]), (DType::I64, &[])]
    );
    assert_eq!(groups.iter().map(ids).collect::<Vec<_>>(), [vec![3, 2], vec![5], vec![6], vec![4], vec![1]]);
    assert_eq!(groups[2].element_bytes(), 48);
}

#[test]
fn row_122_columns_are_ordered_by_owner_then_category_then_name_then_features() {
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
    let groups = cohort(series).unwrap().groups;
    assert_eq!(ids(&groups[0]), [8, 6, 5, 4, 3, 7, 2, 1]);
}

#[test]
fn row_119_a_divergent_series_is_named_with_both_grids_and_the_ways_out() {
    let mut series: Vec<SeriesInfo> = (1..5).map(|k| info(k, Owner::component(k, "Bus"), "load")).collect();
    series[2].length = Some(25);
    series[3].initial = Some(UnixMillis(3_600_000));
    let text = refusal(cohort(series));
    for part in [
        "Component 3 (Bus)",
        "it has 25 steps of PT1H from 1970",
        "Component 1 (Bus)",
        "the other has 24 steps of PT1H from 1970",
        "a start (and an extent)",
        "by initial timestamp and length",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn nothing_selected_is_a_cohort_without_groups_and_no_steps_are_refused() {
    let nothing = cohort(Vec::new()).unwrap();
    assert!(nothing.timeline == Timeline::Nothing && nothing.groups.is_empty());
    let empty = SeriesInfo { length: Some(0), ..info(1, Owner::component(1, "Bus"), "load") };
    assert!(refusal(cohort(vec![empty])).contains("nothing to read"));
    for series_type in [SeriesType::NonSequentialTimeSeries, SeriesType::PersistentTimeSeries] {
        let empty = irregular(series_type, vec![listed(1, series_type, &[]), listed(2, series_type, &[])]);
        assert!(refusal(empty).contains("nothing to read"));
        assert!(irregular(series_type, vec![]).unwrap().groups.is_empty());
    }
}

#[test]
fn rows_that_contradict_themselves_are_damage() {
    let kind = |series: SeriesInfo| {
        let series_type = series.series_type;
        match series_type {
            SeriesType::SingleTimeSeries => cohort(vec![series]).unwrap_err().kind(),
            _ => irregular(series_type, vec![series]).unwrap_err().kind(),
        }
    };
    let irregular = |instants: &[i64]| listed(1, SeriesType::NonSequentialTimeSeries, instants);
    assert_eq!(kind(SeriesInfo { initial: None, ..info(1, Owner::component(1, "Bus"), "a") }), ErrorKind::Integrity);
    assert_eq!(kind(SeriesInfo { length: Some(3), ..irregular(&[1, 2]) }), ErrorKind::Integrity);
    assert_eq!(kind(irregular(&[1, 3, 2])), ErrorKind::Integrity);
    assert_eq!(kind(SeriesInfo { timestamps: None, ..irregular(&[1]) }), ErrorKind::Integrity);
}

#[test]
fn irregular_series_share_one_list_or_are_counted() {
    let new = |id, instants: &[i64]| listed(id, SeriesType::NonSequentialTimeSeries, instants);
    let one = irregular(SeriesType::NonSequentialTimeSeries, vec![new(1, &[1, 4, 9]), new(2, &[1, 4, 9])]).unwrap();
    assert_eq!(one.timeline.instants(), [1, 4, 9].map(UnixMillis));
    assert_eq!((one.timeline.lanes(), lanes(&one)), (1, vec![0, 0]));
    let mixed = vec![new(1, &[1, 4]), new(2, &[1, 4]), new(3, &[1, 5]), new(4, &[2]), new(5, &[1, 4])];
    let text = refusal(irregular(SeriesType::NonSequentialTimeSeries, mixed));
    for part in ["the 5 series have 3 different", "Component 1 (Bus)", "Component 3 (Bus)", "narrow the filter"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn step_functions_have_the_union_of_their_breakpoints() {
    let new = |id, instants: &[i64]| listed(id, SeriesType::PersistentTimeSeries, instants);
    let series = vec![new(3, &[1, 6]), new(1, &[1, 4, 7, 10]), new(2, &[1, 6]), new(4, &[])];
    let cohort = irregular(SeriesType::PersistentTimeSeries, series).unwrap();
    assert_eq!(cohort.timeline.instants(), [1, 4, 6, 7, 10].map(UnixMillis));
    // Distinct lists in the order of the listing, columns in that of the owners.
    assert_eq!((cohort.timeline.lanes(), lanes(&cohort)), (3, vec![1, 0, 0, 2]));
}

#[test]
fn row_143_clocks_and_instants_do_not_share_an_axis() {
    let with = |id, reference: Option<&str>| SeriesInfo {
        time_reference: reference.map(|text| text.parse().unwrap()),
        ..info(id, Owner::component(id, "Bus"), "load")
    };
    let text = refusal(cohort(vec![with(1, None), with(2, Some("zoneless"))]));
    assert!(text.contains("Component 1 (Bus)") && text.contains("Component 2 (Bus)"), "{text}");
    // The grid is asked first.
    let shorter = SeriesInfo { length: Some(3), ..with(2, Some("zoneless")) };
    assert!(refusal(cohort(vec![with(1, None), shorter])).contains("different ones"));
    let cohort = cohort(vec![with(1, None), with(2, Some("utc"))]).unwrap();
    assert_eq!(cohort.reference, Some(TimeReference::Utc));
}
