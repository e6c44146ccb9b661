//! Random filters, and what they select, said without SQL.

use super::items::*;
use super::*;
use crate::series::{OwnerCategory, TimeReference};
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;

const GLOBS: [&str; 4] = ["w*", "[^w]*", "?", "lo?d"];

pub(super) fn filter() -> impl Strategy<Value = Filter> {
    let resolutions = [Period::hours(1), Period::Fixed(900_000), Period::hours(2), MONTH];
    let intervals = [Period::hours(3), Period::hours(24), MONTH, Period::Fixed(0), Period::hours(1)];
    let who = (weighted(0.2, 0..OWNERS), weighted(0.1, 0..2u8), weighted(0.1, select(&OWNER_TYPES[..])));
    let what = (
        weighted(0.1, select(&NAMES[..])),
        weighted(0.1, select(&GLOBS[..])),
        weighted(0.2, select(&SeriesType::ALL[..])),
    );
    let axis = (
        weighted(0.2, select(resolutions.to_vec())),
        weighted(0.1, select(intervals.to_vec())),
        weighted(0.1, select(vec![START, MONTH_END])),
        weighted(0.1, 0..6u64),
        weighted(0.1, any::<bool>()),
    );
    let rest =
        (weighted(0.1, 0..3usize), weighted(0.1, 0..3usize), weighted(0.1, prop::collection::vec(0..40i64, 0..20)));
    (who, what, axis, rest).prop_map(|(who, what, axis, rest)| Filter {
        owner_id: who.0,
        owner_category: who.1.map(category),
        owner_type: who.2.map(str::to_string),
        name: what.0.map(str::to_string),
        name_glob: what.1.map(str::to_string),
        series_type: what.2,
        resolution: axis.0,
        interval: axis.1,
        initial: axis.2,
        length: axis.3,
        zoneless: axis.4,
        features: features(rest.0.unwrap_or(0)),
        exact_features: rest.1.map(features),
        ids: rest.2.map(|ids| ids.into_iter().map(SeriesId).collect()),
    })
}

pub(super) fn category(n: u8) -> OwnerCategory {
    if n == 1 {
        OwnerCategory::SupplementalAttribute
    } else {
        OwnerCategory::Component
    }
}

fn fits<T: PartialEq>(asked: &Option<T>, found: &T) -> bool {
    asked.as_ref().is_none_or(|asked| asked == found)
}

fn fits_some<T: PartialEq>(asked: &Option<T>, found: &Option<T>) -> bool {
    asked.is_none() || asked == found
}

pub(super) fn selects(filter: &Filter, row: &SeriesInfo) -> bool {
    let glob = |glob: &str| match glob {
        "w*" => row.name.starts_with('w'),
        "[^w]*" => !row.name.starts_with('w') && !row.name.is_empty(),
        "?" => row.name.chars().count() == 1,
        _ => row.name == "load",
    };
    let series_type = match (filter.series_type, row.series_type) {
        (Some(SeriesType::Deterministic), SeriesType::DeterministicSingleTimeSeries) => true,
        (asked, found) => fits(&asked, &found),
    };
    let zoneless = row.time_reference == Some(TimeReference::Zoneless);
    series_type
        && fits(&filter.owner_id, &row.owner.id)
        && fits(&filter.owner_category, &row.owner.category)
        && fits(&filter.owner_type, &row.owner.owner_type)
        && fits(&filter.name, &row.name)
        && filter.name_glob.as_deref().is_none_or(glob)
        && fits_some(&filter.resolution, &row.resolution)
        && fits_some(&filter.interval, &row.interval)
        && fits_some(&filter.initial, &row.initial)
        && fits_some(&filter.length, &row.length)
        && fits(&filter.zoneless, &zoneless)
        && filter.features.iter().all(|(key, value)| row.features.get(key) == Some(value))
        && fits(&filter.exact_features, &row.features)
        && filter.ids.as_ref().is_none_or(|ids| ids.contains(&row.id))
}

pub(super) fn association_filter() -> impl Strategy<Value = AssociationFilter> {
    let types = || weighted(0.3, prop::collection::vec(select(&OWNER_TYPES[..]).prop_map(str::to_string), 0..3));
    (weighted(0.4, 0..OWNERS), types(), weighted(0.4, 0..OWNERS), types())
        .prop_map(|(from_id, from_types, to_id, to_types)| AssociationFilter { from_id, from_types, to_id, to_types })
}

pub(super) fn associates(filter: &AssociationFilter, edge: &Association) -> bool {
    let end = |id: &Option<i64>, types: &Option<Vec<String>>, entity: &Entity| {
        fits(id, &entity.id) && types.as_ref().is_none_or(|types| types.contains(&entity.entity_type))
    };
    end(&filter.from_id, &filter.from_types, &edge.from) && end(&filter.to_id, &filter.to_types, &edge.to)
}
