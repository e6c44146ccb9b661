mod damage;
pub(in crate::store) mod search;

use super::*;
use crate::array::{Array, ArrayHash, DType};
use crate::series::{Features, NewSeries, Owner, OwnerCategory, SeriesId, SeriesInfo, SeriesType};
use crate::time::{Period, UnixMillis};
use crate::ErrorKind;

const START: UnixMillis = UnixMillis(1_704_067_200_000);

fn values() -> Array {
    Array::from_f64(vec![3, 2], &[0.0; 6]).unwrap()
}

fn hash(n: u8) -> ArrayHash {
    ArrayHash::from_bytes([n; 32])
}

fn insert(catalog: &mut Catalog, owner: Owner, name: &str, resolution: Period, features: Features) -> Result<SeriesId> {
    let values = values();
    let mut series = NewSeries::single(owner, name, START, resolution, values.view());
    series.features = features;
    Inserter::new(catalog).insert(&series, &hash(1))
}

fn add(catalog: &mut Catalog, owner: i64, name: &str) -> SeriesId {
    insert(catalog, Owner::component(owner, "Bus"), name, Period::hours(1), Features::new()).unwrap()
}

fn ids(catalog: &Catalog, filter: Filter) -> Vec<i64> {
    catalog.list(&filter).unwrap().iter().map(|info| info.id.0).collect()
}

#[test]
fn tables_and_indexes_are_those_of_the_format() {
    let catalog = Catalog::memory().unwrap();
    let lines = |sql: &str| -> Vec<String> {
        let mut statement = catalog.connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.collect::<rusqlite::Result<_>>().unwrap()
    };
    let columns = |table: &str| {
        lines(&format!(
            "SELECT name || ' ' || type || iif(\"notnull\", ' NOT NULL', '') || iif(pk, ' PK' || pk, '')
                    || iif(dflt_value IS NULL, '', ' ' || dflt_value)
             FROM pragma_table_info('{table}') ORDER BY cid"
        ))
    };
    assert_eq!(
        columns("time_series_associations"),
        [
            "id INTEGER PK1",
            "owner_id INTEGER NOT NULL",
            "owner_type TEXT NOT NULL",
            "owner_category TEXT NOT NULL",
            "time_series_type TEXT NOT NULL",
            "name TEXT NOT NULL",
            "initial_timestamp TEXT",
            "resolution TEXT",
            "length INTEGER",
            "horizon TEXT",
            "interval TEXT",
            "count INTEGER",
            "timestamps_json TEXT",
            "units TEXT",
            "percentiles_json TEXT",
            "dtype TEXT NOT NULL 'f64'",
            "element_shape TEXT",
            "ext TEXT",
            "data_hash BLOB NOT NULL",
            "features_hash BLOB NOT NULL",
            "time_reference TEXT",
        ]
    );
    assert_eq!(
        columns("feature_sets"),
        [
            "key TEXT NOT NULL PK2",
            "value_kind TEXT NOT NULL",
            "value_int INTEGER",
            "value_float REAL",
            "value_bool INTEGER",
            "value_str TEXT",
            "features_hash BLOB NOT NULL PK1",
        ]
    );
    assert_eq!(columns("schema_version"), ["version INTEGER NOT NULL"]);
    assert_eq!(
        columns("supplemental_attribute_associations"),
        [
            "id INTEGER PK1",
            "component_id INTEGER NOT NULL",
            "component_type TEXT NOT NULL",
            "attribute_id INTEGER NOT NULL",
            "attribute_type TEXT NOT NULL",
        ]
    );
    assert_eq!(
        columns("parent_child_associations"),
        [
            "id INTEGER PK1",
            "parent_id INTEGER NOT NULL",
            "parent_type TEXT NOT NULL",
            "child_id INTEGER NOT NULL",
            "child_type TEXT NOT NULL",
        ]
    );
    assert_eq!(lines("SELECT '' || version FROM schema_version"), ["1"]);
    let indexes = lines(
        "SELECT s.name || iif(l.\"unique\", ' UNIQUE ', ' ') || group_concat(coalesce(i.name, 'expression'), ',')
         FROM sqlite_schema s, pragma_index_list(s.tbl_name) l, pragma_index_info(s.name) i
         WHERE s.type = 'index' AND s.sql IS NOT NULL AND l.name = s.name
         GROUP BY s.name ORDER BY s.name",
    );
    assert_eq!(
        indexes,
        [
            "idx_category_owner owner_category,owner_id",
            "idx_feature_value key,value_kind,value_int,value_float,value_str,features_hash",
            "idx_features features_hash",
            "idx_hash data_hash",
            "idx_initial initial_timestamp",
            "idx_interval interval",
            "idx_length length",
            "idx_name name",
            "idx_owner owner_id,owner_category",
            "idx_owner_type owner_type",
            "idx_parent_child_child child_id,parent_id,parent_type",
            "idx_resolution resolution",
            "idx_sa_assoc_attribute attribute_id,component_id,component_type",
            "idx_ts_type time_series_type",
            "idx_zoneless time_reference",
            "uq_parent_child UNIQUE parent_id,child_id",
            "uq_sa_assoc UNIQUE component_id,attribute_id",
            "uq_ts_assoc UNIQUE owner_id,owner_category,time_series_type,name,resolution,interval,features_hash",
            "uq_ts_assoc_coalesced UNIQUE \
             owner_id,owner_category,time_series_type,name,expression,expression,features_hash",
        ]
    );
}

#[test]
fn a_row_has_the_fields_of_its_type() {
    let mut catalog = Catalog::memory().unwrap();
    let values = values();
    let owner = Owner::attribute(-7, "Geo\0graphy");
    let mut series = NewSeries::single(owner.clone(), "a'b\"%_*é\n", START, Period::Months(12), values.view());
    series.features = [("year", 2030)].into_iter().collect();
    series.units = Some(String::new());
    series.ext = Some("{not json\0".into());
    let id = Inserter::new(&mut catalog).insert(&series, &hash(9)).unwrap();
    let expected = SeriesInfo {
        id,
        owner,
        series_type: SeriesType::SingleTimeSeries,
        name: series.name.clone(),
        initial: Some(START),
        resolution: Some(Period::Months(12)),
        length: Some(3),
        horizon: None,
        interval: None,
        count: None,
        timestamps: None,
        percentiles: None,
        dtype: DType::F64,
        element_shape: vec![2],
        units: series.units.clone(),
        ext: series.ext.clone(),
        time_reference: None,
        features: series.features.clone(),
        hash: hash(9),
    };
    assert_eq!(catalog.find(id).unwrap(), expected);
    let texts: String = catalog
        .connection
        .query_row(
            "SELECT concat_ws('|', initial_timestamp, resolution, element_shape, dtype, typeof(data_hash),
                    length(data_hash), typeof(features_hash), coalesce(horizon, interval, count, timestamps_json,
                    percentiles_json, time_reference, 'null')) FROM time_series_associations",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(texts, "2024-01-01T00:00:00+00:00|P1Y|[2]|f64|blob|32|blob|null");
}

#[test]
fn an_identity_is_taken_once() {
    let mut catalog = Catalog::memory().unwrap();
    let hour = Period::hours(1);
    add(&mut catalog, 1, "load");
    let none = Features::new();
    let error = insert(&mut catalog, Owner::component(1, "Other"), "load", hour, none.clone()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DuplicateTimeSeries);
    assert!(error.to_string().contains("SingleTimeSeries `load` of Component 1"), "{error}");
    insert(&mut catalog, Owner::attribute(1, "Bus"), "load", hour, none.clone()).unwrap();
    insert(&mut catalog, Owner::component(1, "Bus"), "Load", hour, none.clone()).unwrap();
    insert(&mut catalog, Owner::component(1, "Bus"), "load", Period::Months(1), none.clone()).unwrap();
    insert(&mut catalog, Owner::component(1, "Bus"), "load", Period::Fixed(30 * 86_400_000), none).unwrap();
    for value in [1.into(), 1.0.into(), true.into(), "1".into()] {
        let features = Features::from_iter([("k", crate::series::FeatureValue::clone(&value))]);
        let id = insert(&mut catalog, Owner::component(1, "Bus"), "load", hour, features.clone()).unwrap();
        assert_eq!(ids(&catalog, Filter { features, ..Filter::default() }), [id.0], "{value}");
    }
    assert_eq!(catalog.list(&Filter::default()).unwrap().len(), 9);
}

#[test]
fn filters_select_and_combine() {
    let mut catalog = Catalog::memory().unwrap();
    let day = Period::Fixed(86_400_000);
    let year = |y: i64| Features::from_iter([("year", y)]);
    let both = Features::from_iter([("year", crate::series::FeatureValue::Int(2030)), ("case", "high".into())]);
    insert(&mut catalog, Owner::component(1, "Bus"), "load", Period::hours(1), both.clone()).unwrap();
    insert(&mut catalog, Owner::component(2, "Bus"), "load", day, year(2030)).unwrap();
    insert(&mut catalog, Owner::attribute(1, "Outage"), "load", day, year(2040)).unwrap();
    insert(&mut catalog, Owner::component(1, "Gen"), "", Period::Months(1), Features::new()).unwrap();
    let all = Filter::default;
    let check = |filter: Filter, expected: &[i64]| {
        assert_eq!(ids(&catalog, filter.clone()), expected, "{filter:?}");
        assert_eq!(catalog.any(&filter).unwrap(), !expected.is_empty(), "{filter:?}");
    };
    check(all(), &[1, 2, 3, 4]);
    check(Filter { owner_id: Some(1), ..all() }, &[1, 3, 4]);
    check(Filter { owner_category: Some(OwnerCategory::SupplementalAttribute), ..all() }, &[3]);
    check(Filter { owner_type: Some("Bus".into()), ..all() }, &[1, 2]);
    check(Filter { name: Some("load".into()), ..all() }, &[1, 2, 3]);
    check(Filter { name: Some(String::new()), ..all() }, &[4]);
    check(Filter { name: Some("LOAD".into()), ..all() }, &[]);
    check(Filter { resolution: Some("PT24H".parse().unwrap()), ..all() }, &[2, 3]);
    check(Filter { resolution: Some(Period::Fixed(30 * 86_400_000)), ..all() }, &[]);
    check(Filter { series_type: Some(SeriesType::SingleTimeSeries), ..all() }, &[1, 2, 3, 4]);
    check(Filter { series_type: Some(SeriesType::Deterministic), ..all() }, &[]);
    check(Filter { features: year(2030), ..all() }, &[1, 2]);
    check(Filter { features: both.clone(), ..all() }, &[1]);
    check(Filter { exact_features: Some(both), ..all() }, &[1]);
    check(Filter { exact_features: Some(year(2030)), ..all() }, &[2]);
    check(Filter { exact_features: Some(Features::new()), owner_id: Some(1), ..all() }, &[4]);
    check(Filter { exact_features: Some(year(2030)), name: Some("other".into()), ..all() }, &[]);
    check(Filter { features: Features::from_iter([("year", 2030.0)]), ..all() }, &[]);
    check(Filter { features: Features::from_iter([("resolution", "P1D")]), ..all() }, &[]);
    check(Filter { ids: Some(vec![SeriesId(3), SeriesId(9), SeriesId(1)]), ..all() }, &[1, 3]);
    check(Filter { ids: Some(vec![]), ..all() }, &[]);
    check(Filter { owner_id: Some(1), name: Some("load".into()), features: year(2040), ..all() }, &[3]);
}

/// Two indexes of one column look alike to SQLite, which knows nothing of how often a value stands in a column.
#[test]
fn a_listing_searches_by_what_is_rare() {
    let catalog = Catalog::memory().unwrap();
    let broad = Filter {
        owner_category: Some(OwnerCategory::Component),
        owner_type: Some("Bus".into()),
        resolution: Some(Period::hours(1)),
        series_type: Some(SeriesType::SingleTimeSeries),
        ..Filter::default()
    };
    let owner = Filter { owner_id: Some(7), ..broad.clone() };
    let plans = [
        (Filter { ids: Some(vec![SeriesId(1)]), name: Some("load".into()), ..owner.clone() }, "PRIMARY KEY"),
        (Filter { name: Some("load".into()), ..owner.clone() }, "owner_id=?"),
        (Filter { owner_category: None, ..owner.clone() }, "owner_id=?"),
        (owner, "owner_id=?"),
        (Filter { name: Some("load".into()), ..broad.clone() }, "(name=?"),
        (broad.clone(), "owner_type=?"),
        (Filter { owner_type: None, ..broad }, "(resolution=?"),
    ];
    for (filter, wanted) in plans {
        let (condition, parameters) = catalog.condition(&filter).unwrap();
        let sql =
            format!("EXPLAIN QUERY PLAN SELECT * FROM time_series_associations a WHERE {condition} ORDER BY a.id");
        let mut statement = catalog.connection.prepare(&sql).unwrap();
        let plan: String = statement.query_row(rusqlite::params_from_iter(parameters), |row| row.get(3)).unwrap();
        assert!(plan.starts_with("SEARCH a") && plan.contains(wanted), "{filter:?}: {plan}");
    }
}

#[test]
fn lookups_by_id_keep_the_order_and_name_what_is_missing() {
    let mut catalog = Catalog::memory().unwrap();
    let (a, b) = (add(&mut catalog, 1, "a"), add(&mut catalog, 1, "b"));
    let names = |ids: &[SeriesId]| -> Vec<String> {
        catalog.find_many(ids).unwrap().into_iter().map(|info| info.name).collect()
    };
    assert_eq!(names(&[b, a, b]), ["b", "a", "b"]);
    assert!(names(&[]).is_empty());
    let many: Vec<SeriesId> = std::iter::repeat_n([a, b], 50_000).flatten().collect();
    assert_eq!(names(&many).len(), 100_000);
    for error in [catalog.find(SeriesId(77)).unwrap_err(), catalog.find_many(&[a, SeriesId(77)]).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("77"), "{error}");
    }
    assert_eq!(catalog.missing_ids(&[a, SeriesId(77), b]).unwrap(), [SeriesId(77)]);
}

#[test]
fn removal_counts_references_and_keeps_feature_sets() {
    let mut catalog = Catalog::memory().unwrap();
    let year = Features::from_iter([("year", 2030)]);
    let hour = Period::hours(1);
    let a = insert(&mut catalog, Owner::component(1, "Bus"), "a", hour, year.clone()).unwrap();
    let b = insert(&mut catalog, Owner::component(1, "Bus"), "b", hour, year.clone()).unwrap();
    assert_eq!(catalog.remove(&[a, a]).unwrap(), [hash(1)]);
    assert!(catalog.is_referenced(&hash(1)).unwrap());
    assert_eq!(catalog.find(b).unwrap().features, year);
    assert_eq!(catalog.remove(&[a]).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(catalog.remove(&[b]).unwrap(), [hash(1)]);
    assert!(!catalog.is_referenced(&hash(1)).unwrap());
    assert!(catalog.remove(&[]).unwrap().is_empty());
}

#[test]
fn ids_are_never_issued_twice() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc.sqlite");
    let mut catalog = Catalog::create(&path).unwrap();
    add(&mut catalog, 1, "a");
    let b = add(&mut catalog, 1, "b");
    catalog.remove(&[b]).unwrap();
    catalog.store_last_id().unwrap();
    catalog.last_id_is_stored();
    assert!(!catalog.has_new_ids());
    catalog.close().unwrap();
    let mut catalog = Catalog::open(&path, false).unwrap();
    assert_eq!(add(&mut catalog, 1, "c"), SeriesId(3));
    // Another writer of the format, which does not keep the highest id.
    catalog.connection.execute("UPDATE time_series_associations SET id = 10 WHERE id = 3", []).unwrap();
    drop(catalog);
    let mut catalog = Catalog::open(&path, false).unwrap();
    assert_eq!(add(&mut catalog, 1, "d"), SeriesId(11));
    catalog.connection.execute("UPDATE time_series_associations SET id = ?1 WHERE id = 11", [i64::MAX]).unwrap();
    drop(catalog);
    let mut catalog = Catalog::open(&path, false).unwrap();
    let full = insert(&mut catalog, Owner::component(1, "Bus"), "e", Period::hours(1), Features::new()).unwrap_err();
    assert_eq!(full.kind(), ErrorKind::Integrity);
}

#[test]
fn a_catalog_of_another_writer_lacks_some_things() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc.sqlite");
    let mut catalog = Catalog::create(&path).unwrap();
    add(&mut catalog, 1, "a");
    let strip =
        "DROP TABLE forcings_meta; DROP TABLE parent_child_associations; DROP INDEX idx_name; DROP INDEX idx_zoneless;
                 DROP TABLE supplemental_attribute_associations;
                 ALTER TABLE time_series_associations DROP COLUMN time_reference;";
    catalog.connection.execute_batch(strip).unwrap();
    catalog.close().unwrap();

    let reader = Catalog::open(&path, true).unwrap();
    assert_eq!(reader.list(&Filter::default()).unwrap().len(), 1);
    assert_eq!(reader.meta(MetaKey::PairId).unwrap(), None);
    reader.close().unwrap();

    let writer = Catalog::open(&path, false).unwrap();
    assert!(schema::has_table(&writer.connection, "forcings_meta").unwrap());
    assert!(schema::has_table(&writer.connection, "parent_child_associations").unwrap());
    assert!(schema::has_column(&writer.connection, "time_series_associations", "time_reference").unwrap());
    let mode: String = writer.connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "delete");
}
