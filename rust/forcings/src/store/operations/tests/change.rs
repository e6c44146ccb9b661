use super::*;
use crate::store::Identity;

const COMPONENT: OwnerCategory = OwnerCategory::Component;

fn features(year: i64) -> Features {
    Features::from_iter([("year", year)])
}

#[test]
fn a_rename_keeps_everything_else() {
    let (_dir, stores) = stores();
    for store in stores {
        let (a, b) = (add(&store, 1, "a", &ramp(0)), add(&store, 1, "b", &ramp(0)));
        let before = store.read(a).unwrap();
        store.rename(a, "c").unwrap();
        let after = store.read(a).unwrap();
        assert_eq!(after.info.name, "c");
        assert_eq!(after.values, before.values);
        assert_eq!(SeriesInfo { name: "a".into(), ..after.info }, before.info);
        let taken = store.rename(a, "b").unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::DuplicateTimeSeries);
        assert!(taken.to_string().contains("`b`"), "{taken}");
        assert_eq!(kind(store.rename(SeriesId(77), "d")), ErrorKind::NotFound);
        store.rename(b, "b").unwrap();
        assert_eq!(store.names().unwrap(), ["b", "c"]);
    }
}

#[test]
fn a_rename_touches_one_series_where_others_differ_by_interval_or_have_no_resolution() {
    let store = Store::memory().unwrap();
    let (a, b) = (add(&store, 1, "a", &ramp(0)), add(&store, 1, "b", &ramp(1)));
    sql(&store, "UPDATE time_series_associations SET name = 'f', time_series_type = 'Deterministic', interval = 'P' || id || 'D'");
    store.rename(a, "g").unwrap();
    let name = |id| store.list(&Filter { ids: Some(vec![id]), ..Filter::default() }).unwrap().remove(0).name;
    assert_eq!((name(a).as_str(), name(b).as_str()), ("g", "f"));
    // Without a resolution the identity is unique all the same.
    sql(&store, "UPDATE time_series_associations SET resolution = NULL, interval = NULL");
    assert_eq!(kind(store.rename(a, "f")), ErrorKind::DuplicateTimeSeries);
    assert_eq!((name(a).as_str(), name(b).as_str()), ("g", "f"));
}

#[test]
fn a_copy_shares_the_array_and_lives_on_its_own() {
    let (_dir, stores) = stores();
    for store in stores {
        let values = ramp(3);
        let mut new = NewSeries::single(Owner::attribute(1, "Outage"), "a", START, Period::Months(1), values.view());
        new.features = features(2030);
        new.units = Some("MW".into());
        new.ext = Some(String::new());
        let source = store.add(&new).unwrap();
        sql(&store, "UPDATE time_series_associations SET time_reference = 'utc'");
        let copy = store.copy_series(source, 2, "Other", None).unwrap();
        let (source_info, copied) = (store.read(source).unwrap().info, store.read(copy).unwrap());
        assert_eq!(copied.values, values);
        let expected = SeriesInfo { id: copy, owner: Owner::attribute(2, "Other"), ..source_info };
        assert_eq!(copied.info, expected);
        let references = "SELECT COUNT(*) FROM time_series_associations WHERE time_reference = 'utc'";
        let count = |session: &Session| {
            Ok(session.catalog().connection().query_row(references, [], |row| row.get::<_, i64>(0)).unwrap())
        };
        assert_eq!(store.shared().look(count).unwrap(), 2);
        let named = store.copy_series(source, 1, "Outage", Some("b")).unwrap();
        assert_eq!(store.read(named).unwrap().info.name, "b");
        store.remove(&[source]).unwrap();
        store.flush().unwrap();
        assert_eq!(store.read_many(&[copy, named]).unwrap()[0].values, values);
        assert_eq!(kind(store.copy_series(source, 3, "Other", None)), ErrorKind::NotFound);
        store.remove(&[copy, named]).unwrap();
        store.flush().unwrap();
        assert!(!holds(&store, &values));
    }
}

#[test]
pub(in crate::store) fn row_117_a_copy_of_a_derived_forecast_stays_one_and_a_collision_is_a_duplicate() {
    let store = Store::memory().unwrap();
    let source = add(&store, 1, "load", &ramp(0));
    sql(
        &store,
        "UPDATE time_series_associations SET time_series_type = 'DeterministicSingleTimeSeries', horizon = 'PT2H',
             interval = 'PT1H', count = 3",
    );
    let copy = store.copy_series(source, 2, "Bus", None).unwrap();
    let infos = all(&store);
    assert_eq!(infos[1], SeriesInfo { id: copy, owner: Owner::component(2, "Bus"), ..infos[0].clone() });
    let taken = store.copy_series(source, 2, "Other", None).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::DuplicateTimeSeries);
    assert!(taken.to_string().contains("owner 2"), "{taken}");
    assert_eq!(all(&store), infos);
}

#[test]
pub(in crate::store) fn row_116_a_collision_moves_no_series_and_the_same_owner_changes_nothing() {
    let (_dir, stores) = stores();
    for store in stores {
        add(&store, 1, "a", &ramp(0));
        let b = add(&store, 1, "b", &ramp(1));
        let other = add(&store, 2, "b", &ramp(2));
        let before = all(&store);
        let error = store.replace_owner(1, 2, COMPONENT).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DuplicateTimeSeries);
        assert!(error.to_string().contains(&format!("series {b} and {other}")), "{error}");
        assert_eq!(all(&store), before);
        assert_eq!(store.replace_owner(1, 1, COMPONENT).unwrap(), 2);
        assert_eq!(store.replace_owner(9, 1, COMPONENT).unwrap(), 0);
        assert_eq!(store.replace_owner(1, 2, OwnerCategory::SupplementalAttribute).unwrap(), 0);
        assert_eq!(all(&store), before);
        assert_eq!(store.replace_owner(1, 5, COMPONENT).unwrap(), 2);
        assert_eq!(store.owner_ids(COMPONENT).unwrap(), [2, 5]);
        assert!(all(&store).iter().all(|info| info.owner.owner_type == "Bus"));
    }
}

#[test]
pub(in crate::store) fn row_115_a_filter_that_matches_nothing_removes_nothing_and_a_missing_id_fails_all() {
    let (_dir, stores) = stores();
    for store in stores {
        let a = add(&store, 1, "a", &ramp(0));
        add(&store, 2, "a", &ramp(1));
        assert_eq!(kind(store.remove(&[a, SeriesId(77)])), ErrorKind::NotFound);
        let named = |name: &str| Filter { name: Some(name.into()), ..Filter::default() };
        assert_eq!(store.remove_matching(&named("b")).unwrap(), 0);
        assert_eq!(all(&store).len(), 2);
        assert_eq!(store.remove_matching(&named("a")).unwrap(), 2);
        store.flush().unwrap();
        assert!(all(&store).is_empty() && !holds(&store, &ramp(0)) && !holds(&store, &ramp(1)));
    }
}

#[test]
fn clearing_an_owner_leaves_the_others_and_what_they_share() {
    let (_dir, stores) = stores();
    for store in stores {
        add(&store, 1, "a", &ramp(0));
        add(&store, 1, "b", &ramp(1));
        let other = add(&store, 2, "a", &ramp(1));
        let outage = ramp(2);
        let new = NewSeries::single(Owner::attribute(1, "Outage"), "a", START, Period::hours(1), outage.view());
        let attribute = store.add(&new).unwrap();
        assert_eq!(store.clear_owner(7, COMPONENT).unwrap(), 0);
        assert_eq!(store.clear_owner(1, COMPONENT).unwrap(), 2);
        store.flush().unwrap();
        assert_eq!(all(&store).iter().map(|info| info.id).collect::<Vec<_>>(), [other, attribute]);
        assert!(!holds(&store, &ramp(0)) && holds(&store, &ramp(1)));
        assert_eq!(store.read(other).unwrap().values, ramp(1));
    }
}

#[test]
fn clearing_drops_feature_sets_and_issues_new_numbers() {
    let (_dir, stores) = stores();
    for store in stores {
        let values = ramp(0);
        let mut new = NewSeries::single(Owner::component(1, "Bus"), "a", START, Period::hours(1), values.view());
        new.features = features(2030);
        let first = store.add(&new).unwrap();
        let sets = |store: &Store| {
            let count = "SELECT COUNT(*) FROM feature_sets";
            let look = |session: &Session| {
                Ok(session.catalog().connection().query_row(count, [], |row| row.get::<_, i64>(0)).unwrap())
            };
            store.shared().look(look).unwrap()
        };
        store.begin().unwrap();
        assert_eq!(store.clear().unwrap(), 1);
        assert_eq!((all(&store).len(), sets(&store)), (0, 0));
        store.rollback().unwrap();
        assert_eq!(sets(&store), 1);
        assert_eq!(store.read(first).unwrap().values, values);
        assert_eq!(store.clear().unwrap(), 1);
        assert_eq!(store.clear().unwrap(), 0);
        assert_eq!(sets(&store), 0);
        store.flush().unwrap();
        assert!(!holds(&store, &values));
        let again = store.add(&new).unwrap();
        assert!(again > first);
        assert_eq!(store.read(again).unwrap().info.features, features(2030));
    }
}

#[test]
fn changes_in_a_transaction_are_undone_with_it() {
    let (_dir, stores) = stores();
    for store in stores {
        let (a, b) = (add(&store, 1, "a", &ramp(0)), add(&store, 2, "b", &ramp(1)));
        let before = all(&store);
        store.begin().unwrap();
        store.rename(a, "c").unwrap();
        store.begin().unwrap();
        store.replace_owner(2, 3, COMPONENT).unwrap();
        let copy = store.copy_series(b, 9, "Bus", None).unwrap();
        store.clear_owner(1, COMPONENT).unwrap();
        assert_eq!(kind(store.rename(a, "d")), ErrorKind::NotFound);
        store.rollback().unwrap();
        assert_eq!(store.names().unwrap(), ["b", "c"]);
        store.rollback().unwrap();
        assert_eq!(all(&store), before);
        assert_eq!(store.read(a).unwrap().values, ramp(0));
        assert!(store.copy_series(b, 9, "Bus", None).unwrap() > copy);
    }
}

#[test]
fn a_store_open_for_reading_refuses_before_it_looks_at_arguments() {
    let (_dir, store, id) = read_only();
    let refused = ErrorKind::ReadOnlyStore;
    assert_eq!(kind(store.rename(SeriesId(77), "b")), refused);
    assert_eq!(kind(store.copy_series(SeriesId(77), 1, "Bus", None)), refused);
    assert_eq!(kind(store.replace_owner(7, 7, COMPONENT)), refused);
    assert_eq!(kind(store.remove(&[])), refused);
    assert_eq!(kind(store.remove_matching(&Filter { ids: Some(vec![]), ..Filter::default() })), refused);
    assert_eq!(kind(store.clear_owner(7, COMPONENT)), refused);
    assert_eq!(kind(store.clear()), refused);
    assert!(store.has_series(&Identity::of(&store.read(id).unwrap().info)).unwrap());
    assert_eq!(store.counts().unwrap().static_series, 1);
    store.close().unwrap();
    assert_eq!(kind(store.counts()), ErrorKind::Closed);
    assert_eq!(kind(store.rename(id, "b")), ErrorKind::Closed);
}
