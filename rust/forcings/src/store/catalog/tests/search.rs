//! Filters, exact look-ups, enumerations and counts, and what they cost.

use super::*;
use crate::store::catalog::enumerate::distinct;

const NAMES: [&str; 5] = ["load", "wind1", "wind[1]", "Wind2", "price"];

/// A row of any type, made by SQL.
fn row(catalog: &mut Catalog, owner: i64, name: &str, series_type: SeriesType, interval: Option<&str>) -> SeriesId {
    // No other row has this name while the type is not set yet.
    let id = add(catalog, owner, "new");
    let irregular = matches!(series_type, SeriesType::NonSequentialTimeSeries | SeriesType::PersistentTimeSeries);
    catalog
        .connection
        .execute(
            "UPDATE time_series_associations SET time_series_type = ?2, interval = ?3, horizon = ?3, name = ?5,
                    count = iif(?3 IS NULL, NULL, 7), resolution = iif(?4, NULL, resolution),
                    initial_timestamp = iif(?4, NULL, initial_timestamp) WHERE id = ?1",
            (id.0, series_type.name(), interval, irregular, name),
        )
        .unwrap();
    id
}

fn all() -> Filter {
    Filter::default()
}

fn typed(series_type: SeriesType) -> Filter {
    Filter { series_type: Some(series_type), ..all() }
}

#[test]
fn globs_match_whole_names_with_case() {
    let mut catalog = Catalog::memory().unwrap();
    NAMES.iter().for_each(|name| {
        add(&mut catalog, 1, name);
    });
    let named = |glob: &str| -> Vec<String> {
        let found = catalog.list(&Filter { name_glob: Some(glob.into()), ..all() }).unwrap();
        found.into_iter().map(|info| info.name).collect()
    };
    assert_eq!(named("*"), NAMES);
    assert_eq!(named("wind*"), ["wind1", "wind[1]"]);
    assert_eq!(named("?ind?"), ["wind1", "Wind2"]);
    assert_eq!(named("wind[1]"), ["wind1"]);
    assert_eq!(named("wind[[]1]"), ["wind[1]"]);
    assert_eq!(named("[^a-z]*"), ["Wind2"]);
    assert!(named("ind").is_empty() && named("").is_empty() && named("LOAD").is_empty());
    let both = Filter { name: Some("wind1".into()), name_glob: Some("*2".into()), ..all() };
    assert!(catalog.list(&both).unwrap().is_empty());
    let long = Filter { name_glob: Some("*".repeat(50_001)), ..all() };
    assert_eq!(catalog.list(&long).unwrap_err().kind(), ErrorKind::InvalidParameter);
}

#[test]
pub(in crate::store) fn row_75_deterministic_stands_for_derived_forecasts_in_filters_only() {
    let mut catalog = Catalog::memory().unwrap();
    row(&mut catalog, 1, "load", SeriesType::SingleTimeSeries, None);
    let derived = row(&mut catalog, 1, "load", SeriesType::DeterministicSingleTimeSeries, Some("P1D"));
    assert_eq!(ids(&catalog, typed(SeriesType::Deterministic)), [derived.0]);
    assert_eq!(ids(&catalog, typed(SeriesType::DeterministicSingleTimeSeries)), [derived.0]);
    assert!(ids(&catalog, typed(SeriesType::Scenarios)).is_empty());
    let mut identity = Identity::of(&catalog.find(derived).unwrap());
    assert_eq!(catalog.find_identity(&identity).unwrap(), Some(derived));
    identity.series_type = SeriesType::Deterministic;
    assert_eq!(catalog.find_identity(&identity).unwrap(), None);
    let dense = row(&mut catalog, 2, "load", SeriesType::Deterministic, Some("P1D"));
    assert_eq!(ids(&catalog, typed(SeriesType::Deterministic)), [derived.0, dense.0]);
    assert_eq!(ids(&catalog, typed(SeriesType::DeterministicSingleTimeSeries)), [derived.0]);
}

#[test]
fn an_exact_look_up_compares_every_part_and_null_with_null() {
    let mut catalog = Catalog::memory().unwrap();
    let single = row(&mut catalog, 1, "load", SeriesType::SingleTimeSeries, None);
    let irregular = row(&mut catalog, 1, "outage", SeriesType::NonSequentialTimeSeries, None);
    for id in [single, irregular] {
        let identity = Identity::of(&catalog.find(id).unwrap());
        assert_eq!(catalog.find_identity(&identity).unwrap(), Some(id));
        let day = Some(Period::Fixed(86_400_000));
        let others = [
            Identity { owner_id: 2, ..identity.clone() },
            Identity { owner_category: OwnerCategory::SupplementalAttribute, ..identity.clone() },
            Identity { series_type: SeriesType::PersistentTimeSeries, ..identity.clone() },
            Identity { name: "Load".into(), ..identity.clone() },
            Identity { resolution: day, ..identity.clone() },
            Identity { interval: day, ..identity.clone() },
            Identity { features: Features::from_iter([("year", 2030)]), ..identity.clone() },
        ];
        for other in others {
            assert_eq!(catalog.find_identity(&other).unwrap(), None, "{other:?}");
        }
    }
    let unset = Identity { resolution: None, ..Identity::of(&catalog.find(single).unwrap()) };
    assert_eq!(catalog.find_identity(&unset).unwrap(), None);
}

#[test]
pub(in crate::store) fn row_73_an_abstract_look_up_may_be_ambiguous() {
    let mut catalog = Catalog::memory().unwrap();
    let daily = row(&mut catalog, 1, "load", SeriesType::Deterministic, Some("P1D"));
    let derived = row(&mut catalog, 1, "load", SeriesType::DeterministicSingleTimeSeries, Some("PT6H"));
    let find = |name: &str, features: &Features, interval: Option<i32>| {
        let interval = interval.map(Period::hours);
        catalog.find_deterministic(1, OwnerCategory::Component, name, features, None, interval)
    };
    let none = Features::new();
    assert_eq!(find("load", &none, Some(24)).unwrap(), daily);
    assert_eq!(find("load", &none, Some(6)).unwrap(), derived);
    let ambiguous = find("load", &none, None).unwrap_err();
    assert_eq!(ambiguous.kind(), ErrorKind::InvalidParameter);
    assert!(ambiguous.to_string().contains("series 1 and 2"), "{ambiguous}");
    assert_eq!(find("load", &none, Some(1)).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(find("wind", &none, None).unwrap_err().kind(), ErrorKind::NotFound);
    let features = Features::from_iter([("year", 2030)]);
    assert_eq!(find("load", &features, None).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn times_lengths_and_intervals_select() {
    let mut catalog = Catalog::memory().unwrap();
    row(&mut catalog, 1, "a", SeriesType::SingleTimeSeries, None);
    row(&mut catalog, 1, "b", SeriesType::NonSequentialTimeSeries, None);
    row(&mut catalog, 1, "c", SeriesType::Deterministic, Some("PT6H"));
    catalog.connection.execute("UPDATE time_series_associations SET length = 9 WHERE id = 3", []).unwrap();
    let check = |filter: Filter, expected: &[i64]| assert_eq!(ids(&catalog, filter.clone()), expected, "{filter:?}");
    check(Filter { initial: Some(START), ..all() }, &[1, 3]);
    check(Filter { initial: Some(UnixMillis(START.0 + 1)), ..all() }, &[]);
    check(Filter { length: Some(3), ..all() }, &[1, 2]);
    check(Filter { length: Some(9), ..all() }, &[3]);
    check(Filter { length: Some(u64::MAX), ..all() }, &[]);
    check(Filter { interval: Some(Period::hours(6)), ..all() }, &[3]);
    check(Filter { interval: Some(Period::Months(6)), ..all() }, &[]);
    check(Filter { initial: Some(START), length: Some(9), name: Some("c".into()), ..all() }, &[3]);
}

#[test]
pub(in crate::store) fn row_145_a_clock_without_a_zone_is_asked_for_and_unset_counts_as_zoned() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc.sqlite");
    let mut catalog = Catalog::create(&path).unwrap();
    for (name, reference) in [("a", None), ("b", Some("utc")), ("c", Some("zoneless")), ("d", Some("+01:00"))] {
        let id = add(&mut catalog, 1, name);
        let set = "UPDATE time_series_associations SET time_reference = ?2 WHERE id = ?1";
        catalog.connection.execute(set, (id.0, reference)).unwrap();
    }
    let zoneless = |catalog: &Catalog, zoneless| ids(catalog, Filter { zoneless: Some(zoneless), ..all() });
    assert_eq!(zoneless(&catalog, true), [3]);
    assert_eq!(zoneless(&catalog, false), [1, 2, 4]);
    let strip = "DROP INDEX idx_zoneless; ALTER TABLE time_series_associations DROP COLUMN time_reference";
    catalog.connection.execute_batch(strip).unwrap();
    catalog.close().unwrap();
    let old = Catalog::open(&path, true).unwrap();
    assert!(zoneless(&old, true).is_empty());
    assert_eq!(zoneless(&old, false), [1, 2, 3, 4]);
}

/// A catalog with many rows, where every field has a value that few rows have.
fn large() -> Catalog {
    let mut catalog = Catalog::memory().unwrap();
    catalog.begin().unwrap();
    let features = |case: &str| Features::from_iter([("case", case), ("year", "2030")]);
    insert(&mut catalog, Owner::component(1, "Bus"), "load", Period::hours(1), features("base")).unwrap();
    let copy = "WITH RECURSIVE n (k) AS (SELECT 2 UNION ALL SELECT k + 1 FROM n WHERE k < 20000)
        INSERT INTO time_series_associations (id, owner_id, owner_type, owner_category, time_series_type, name,
            initial_timestamp, resolution, length, interval, dtype, data_hash, features_hash)
        SELECT k, k, owner_type, owner_category, time_series_type, name, initial_timestamp, resolution, length, 'P1D',
            dtype, data_hash, features_hash FROM n, time_series_associations WHERE id = 1";
    catalog.connection.execute(copy, []).unwrap();
    catalog.last_id = 20_000;
    let rare = Owner::attribute(30_000, "Outage");
    let id = insert(&mut catalog, rare, "wind", Period::Months(1), features("rare")).unwrap();
    let change =
        "UPDATE time_series_associations SET interval = 'PT6H', time_series_type = 'Deterministic', length = 9,
        initial_timestamp = '2020-01-01T00:00:00+00:00', time_reference = 'zoneless' WHERE id = ?1";
    catalog.connection.execute(change, [id.0]).unwrap();
    catalog.commit().unwrap();
    catalog
}

/// The filters that each select the one rare row of [`large`].
fn rare() -> Vec<Filter> {
    let features = |case: &str, value: &str| Features::from_iter([(case, value)]);
    vec![
        Filter { owner_id: Some(30_000), ..all() },
        Filter { owner_category: Some(OwnerCategory::SupplementalAttribute), ..all() },
        Filter { owner_type: Some("Outage".into()), ..all() },
        Filter { name: Some("wind".into()), ..all() },
        Filter { name_glob: Some("w*d".into()), ..all() },
        Filter { resolution: Some(Period::Months(1)), ..all() },
        Filter { interval: Some(Period::hours(6)), ..all() },
        typed(SeriesType::Deterministic),
        Filter { initial: Some(UnixMillis(1_577_836_800_000)), ..all() },
        Filter { length: Some(9), ..all() },
        Filter { zoneless: Some(true), ..all() },
        Filter { features: features("case", "rare"), ..all() },
        Filter { exact_features: Some(Features::from_iter([("case", "rare"), ("year", "2030")])), ..all() },
        Filter { ids: Some(vec![SeriesId(20_001)]), ..all() },
    ]
}

fn plan(catalog: &Catalog, sql: &str, parameters: Vec<rusqlite::types::Value>) -> String {
    let mut statement = catalog.connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let lines = statement.query_map(rusqlite::params_from_iter(parameters), |row| row.get::<_, String>(3)).unwrap();
    lines.collect::<rusqlite::Result<Vec<_>>>().unwrap().join("; ")
}

/// Steps of SQLite's machine that a listing takes.
fn steps(catalog: &Catalog, filter: &Filter) -> i32 {
    let (condition, parameters) = catalog.condition(filter).unwrap();
    let mut statement = catalog.connection.prepare(&catalog.ordered(&condition)).unwrap();
    let mut rows = statement.query(rusqlite::params_from_iter(parameters)).unwrap();
    while rows.next().unwrap().is_some() {}
    drop(rows);
    statement.get_status(rusqlite::StatementStatus::VmStep)
}

#[test]
fn a_listing_touches_only_what_it_returns() {
    let catalog = large();
    for filter in rare() {
        assert_eq!(ids(&catalog, filter.clone()), [20_001], "{filter:?}");
        let (condition, parameters) = catalog.condition(&filter).unwrap();
        let plan = plan(&catalog, &catalog.ordered(&condition), parameters);
        assert!(plan.contains("SEARCH a USING") && !plan.contains("SCAN a"), "{filter:?}: {plan}");
        assert!(!plan.contains("SCAN f"), "{filter:?}: {plan}");
        assert!(steps(&catalog, &filter) < 1000, "{filter:?}: {plan}");
    }
}

#[test]
fn the_rarest_condition_leads() {
    let catalog = large();
    // Every common value beside every rare one: what both select is nothing, or the one row.
    let common = Filter {
        owner_category: Some(OwnerCategory::Component),
        owner_type: Some("Bus".into()),
        name_glob: Some("l*".into()),
        resolution: Some(Period::hours(1)),
        series_type: Some(SeriesType::SingleTimeSeries),
        initial: Some(START),
        length: Some(3),
        features: Features::from_iter([("year", "2030")]),
        ..all()
    };
    for filter in rare() {
        let mixed = Filter {
            owner_id: filter.owner_id,
            owner_category: filter.owner_category.or(common.owner_category),
            owner_type: filter.owner_type.or(common.owner_type.clone()),
            name: filter.name,
            name_glob: filter.name_glob.or(common.name_glob.clone()),
            resolution: filter.resolution.or(common.resolution),
            interval: filter.interval,
            series_type: filter.series_type.or(common.series_type),
            initial: filter.initial.or(common.initial),
            length: filter.length.or(common.length),
            zoneless: filter.zoneless,
            features: if filter.features.is_empty() { common.features.clone() } else { filter.features },
            exact_features: filter.exact_features,
            ids: filter.ids,
        };
        assert!(ids(&catalog, mixed.clone()).is_empty(), "{mixed:?}");
        assert!(steps(&catalog, &mixed) < 1000, "{mixed:?}");
    }
}

#[test]
fn enumerations_are_distinct_and_ascending() {
    let mut catalog = Catalog::memory().unwrap();
    assert!(catalog.names().unwrap().is_empty() && catalog.owner_types().unwrap().is_empty());
    assert!(catalog.owner_ids(OwnerCategory::Component).unwrap().is_empty());
    assert!(catalog.resolutions().unwrap().is_empty() && catalog.intervals().unwrap().is_empty());
    for (owner, name, resolution) in
        [(3, "b", "PT1H"), (-1, "a", "P1M"), (3, "", "PT10H"), (2, "b", "P1D"), (2, "B", "PT15M"), (2, "é", "PT1H")]
    {
        let owner = Owner::component(owner, if owner == 2 { "Bus" } else { "Area" });
        insert(&mut catalog, owner, name, resolution.parse().unwrap(), Features::new()).unwrap();
    }
    insert(&mut catalog, Owner::attribute(9, "Outage"), "b", Period::hours(1), Features::new()).unwrap();
    row(&mut catalog, 2, "f", SeriesType::Deterministic, Some("P1M"));
    row(&mut catalog, 2, "g", SeriesType::Scenarios, Some("P1D"));
    row(&mut catalog, 2, "h", SeriesType::NonSequentialTimeSeries, None);
    assert_eq!(catalog.names().unwrap(), ["", "B", "a", "b", "f", "g", "h", "é"]);
    assert_eq!(catalog.owner_types().unwrap(), ["Area", "Bus", "Outage"]);
    assert_eq!(catalog.owner_ids(OwnerCategory::Component).unwrap(), [-1, 2, 3]);
    assert_eq!(catalog.owner_ids(OwnerCategory::SupplementalAttribute).unwrap(), [9]);
    let texts = |periods: Vec<Period>| periods.iter().map(Period::to_string).collect::<Vec<_>>();
    assert_eq!(texts(catalog.resolutions().unwrap()), ["P1D", "P1M", "PT10H", "PT15M", "PT1H"]);
    assert_eq!(texts(catalog.intervals().unwrap()), ["P1D", "P1M"]);
    for (column, category) in
        [("name", None), ("owner_type", None), ("resolution", None), ("owner_id", Some(OwnerCategory::Component))]
    {
        let plan = plan(&catalog, &distinct(column, category), Vec::new());
        // The first value is the first entry of an index; each other one is searched for.
        assert_eq!(plan.matches("time_series_associations USING COVERING INDEX").count(), 2, "{column}: {plan}");
        assert!(plan.contains("SUBQUERY 3; SEARCH time_series_associations USING COVERING INDEX"), "{column}: {plan}");
    }
    catalog.connection.execute("UPDATE time_series_associations SET resolution = 'soon' WHERE id = 1", []).unwrap();
    assert_eq!(catalog.resolutions().unwrap_err().kind(), ErrorKind::Integrity);
    catalog.connection.execute("UPDATE time_series_associations SET name = x'ff' WHERE id = 1", []).unwrap();
    assert_eq!(catalog.names().unwrap_err().kind(), ErrorKind::Integrity);
}

#[test]
fn counts_and_summaries_tell_what_is_there() {
    let mut catalog = Catalog::memory().unwrap();
    assert_eq!(catalog.counts().unwrap(), Counts::default());
    assert!(catalog.counts_by_type().unwrap().is_empty() && catalog.static_summary().unwrap().is_empty());
    assert!(catalog.forecast_summary().unwrap().is_empty());
    assert_eq!(catalog.forecast_parameters(None, None).unwrap(), None);
    let a = row(&mut catalog, 1, "load", SeriesType::SingleTimeSeries, None);
    row(&mut catalog, 2, "load", SeriesType::SingleTimeSeries, None);
    row(&mut catalog, 2, "cost", SeriesType::PersistentTimeSeries, None);
    row(&mut catalog, 1, "load", SeriesType::Scenarios, Some("P1D"));
    row(&mut catalog, 1, "load", SeriesType::DeterministicSingleTimeSeries, Some("PT6H"));
    let other = insert(&mut catalog, Owner::attribute(1, "Outage"), "x", Period::hours(1), Features::new()).unwrap();
    let set = "UPDATE time_series_associations SET data_hash = ?2 WHERE id = ?1";
    catalog.connection.execute(set, (other.0, hash(2).as_bytes())).unwrap();
    let counts = Counts {
        components: 2,
        attributes: 1,
        static_series: 4,
        forecasts: 2,
        static_arrays: 2,
        forecast_arrays: 1,
        arrays: 2,
    };
    assert_eq!(catalog.counts().unwrap(), counts);
    assert_eq!(
        catalog.counts_by_type().unwrap(),
        [
            (SeriesType::SingleTimeSeries, 3),
            (SeriesType::PersistentTimeSeries, 1),
            (SeriesType::DeterministicSingleTimeSeries, 1),
            (SeriesType::Scenarios, 1)
        ]
    );
    assert_eq!(catalog.array_references(&hash(1)).unwrap(), (2, 1));
    assert_eq!(catalog.array_references(&hash(2)).unwrap(), (1, 0));
    assert_eq!(catalog.array_references(&hash(3)).unwrap(), (0, 0));
    let load = Summary {
        owner_type: "Bus".into(),
        owner_category: OwnerCategory::Component,
        series_type: SeriesType::SingleTimeSeries,
        name: "load".into(),
        initial: Some(START),
        resolution: Some(Period::hours(1)),
        length: Some(3),
        horizon: None,
        interval: None,
        count: None,
        series: 2,
    };
    let outage = Summary {
        owner_type: "Outage".into(),
        owner_category: OwnerCategory::SupplementalAttribute,
        name: "x".into(),
        series: 1,
        ..load.clone()
    };
    let cost = Summary {
        series_type: SeriesType::PersistentTimeSeries,
        name: "cost".into(),
        initial: None,
        resolution: None,
        series: 1,
        ..load.clone()
    };
    assert_eq!(catalog.static_summary().unwrap(), [cost, load.clone(), outage]);
    let forecast = |series_type, interval| Summary {
        series_type,
        horizon: Some(interval),
        interval: Some(interval),
        count: Some(7),
        series: 1,
        ..load.clone()
    };
    let (day, six) = (Period::hours(24), Period::hours(6));
    assert_eq!(
        catalog.forecast_summary().unwrap(),
        [forecast(SeriesType::DeterministicSingleTimeSeries, six), forecast(SeriesType::Scenarios, day)]
    );
    let parameters = |interval| {
        catalog
            .forecast_parameters(Some(Period::hours(1)), interval)
            .unwrap()
            .map(|found| (found.interval, found.count))
    };
    assert_eq!(parameters(None), Some((six, 7)));
    assert_eq!(parameters(Some(day)), Some((day, 7)));
    assert_eq!(parameters(Some(Period::Months(1))), None);
    catalog.connection.execute("UPDATE time_series_associations SET length = -1 WHERE id = ?1", [a.0]).unwrap();
    assert_eq!(catalog.static_summary().unwrap_err().kind(), ErrorKind::Integrity);
}
