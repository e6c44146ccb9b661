use super::*;
use crate::store::{Association, AssociationFilter, Entity, Relation};

const BOTH: [Relation; 2] = [Relation::SupplementalAttribute, Relation::ParentChild];

fn any() -> AssociationFilter {
    AssociationFilter::default()
}

fn between(from: i64, from_type: &str, to: i64, to_type: &str) -> Association {
    Association::new(Entity::new(from, from_type), Entity::new(to, to_type))
}

/// From and to of every association, in order.
fn pairs(store: &Store, relation: Relation, filter: &AssociationFilter) -> Vec<(i64, i64)> {
    let list = store.relation(relation).list(filter).unwrap();
    assert_eq!(store.relation(relation).count(filter).unwrap(), list.len() as u64);
    list.iter().map(|association| (association.from.id, association.to.id)).collect()
}

fn types(names: &[&str]) -> Option<Vec<String>> {
    Some(names.iter().map(|name| name.to_string()).collect())
}

#[test]
fn associations_are_listed_in_the_order_in_which_they_were_added() {
    let (_dir, stores) = stores();
    for store in stores {
        for relation in BOTH {
            let view = store.relation(relation);
            let first = between(5, "Gen", 2, "Geo");
            view.add(&first).unwrap();
            let more = [between(1, "Bus\0", 2, "Geo"), between(5, "Gen", -3, "Out'age"), between(2, "Geo", 5, "Gen")];
            view.add_bulk(&more).unwrap();
            view.add(&between(4, "Bus", 4, "Bus")).unwrap();
            view.add_bulk(&[]).unwrap();
            assert_eq!(view.list(&any()).unwrap()[..4], [&[first][..], &more[..]].concat());
            assert_eq!(pairs(&store, relation, &any()), [(5, 2), (1, 2), (5, -3), (2, 5), (4, 4)]);
            assert_eq!(view.from_ids(&any()).unwrap(), [1, 2, 4, 5]);
            assert_eq!(view.to_ids(&any()).unwrap(), [-3, 2, 4, 5]);
            assert_eq!(view.from_types(&any()).unwrap(), ["Bus", "Bus\0", "Gen", "Geo"]);
            assert_eq!(view.to_types(&any()).unwrap(), ["Bus", "Gen", "Geo", "Out'age"]);
            assert!(view.contains(5, 2).unwrap() && view.contains(2, 5).unwrap() && !view.contains(2, 1).unwrap());
            let from = AssociationFilter { from_id: Some(5), ..any() };
            assert_eq!(pairs(&store, relation, &from), [(5, 2), (5, -3)]);
            assert_eq!(view.to_ids(&from).unwrap(), [-3, 2]);
            let typed = AssociationFilter { from_types: types(&["Gen", "Bus\0"]), to_id: Some(2), ..any() };
            assert_eq!(pairs(&store, relation, &typed), [(5, 2), (1, 2)]);
            let to = AssociationFilter { to_types: types(&["Out'age", "bus"]), ..any() };
            assert_eq!(pairs(&store, relation, &to), [(5, -3)]);
            assert_eq!(view.remove(&to).unwrap(), 1);
            assert_eq!(view.remove(&to).unwrap(), 0);
            assert_eq!(view.remove(&any()).unwrap(), 4);
            assert!(view.list(&any()).unwrap().is_empty() && view.from_ids(&any()).unwrap().is_empty());
        }
    }
}

#[test]
fn a_pair_of_numbers_is_associated_once() {
    let (_dir, stores) = stores();
    for store in stores {
        for relation in BOTH {
            let view = store.relation(relation);
            view.add(&between(1, "Bus", 2, "Geo")).unwrap();
            let error = view.add(&between(1, "Other", 2, "Other")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::DuplicateAssociation);
            assert!(error.to_string().contains('1') && error.to_string().contains('2'), "{error}");
            let half = [between(3, "Bus", 4, "Geo"), between(3, "Bus", 4, "Geo")];
            assert_eq!(kind(view.add_bulk(&half)), ErrorKind::DuplicateAssociation);
            assert_eq!(pairs(&store, relation, &any()), [(1, 2)]);
            view.add(&between(2, "Geo", 1, "Bus")).unwrap();
        }
    }
}

#[test]
pub(in crate::store) fn row_118_an_empty_list_of_types_matches_nothing() {
    let store = Store::memory().unwrap();
    for relation in BOTH {
        let view = store.relation(relation);
        view.add(&between(1, "", 2, "Geo")).unwrap();
        for filter in [
            AssociationFilter { from_types: Some(vec![]), ..any() },
            AssociationFilter { to_types: Some(vec![]), from_id: Some(1), ..any() },
        ] {
            assert!(pairs(&store, relation, &filter).is_empty());
            assert_eq!(view.remove(&filter).unwrap(), 0);
        }
        assert_eq!(pairs(&store, relation, &AssociationFilter { from_types: types(&[""]), ..any() }), [(1, 2)]);
    }
}

#[test]
fn row_118_lists_of_more_than_a_thousand_types_work() {
    let store = Store::memory().unwrap();
    let many: Vec<String> = (0..40_000).map(|n| format!("T{n}")).collect();
    for relation in BOTH {
        let view = store.relation(relation);
        let associations: Vec<Association> = (0..3000).map(|n| between(n, &format!("T{}", 20 * n), 1, "Geo")).collect();
        view.add_bulk(&associations).unwrap();
        let filter = AssociationFilter { from_types: Some(many.clone()), ..any() };
        assert_eq!(view.count(&filter).unwrap(), 2000);
        assert_eq!(view.from_ids(&filter).unwrap().len(), 2000);
        assert_eq!(view.remove(&filter).unwrap(), 2000);
        assert_eq!(view.count(&any()).unwrap(), 1000);
    }
}

#[test]
fn row_118_a_self_edge_counts_once_when_its_number_is_replaced() {
    let (_dir, stores) = stores();
    for store in stores {
        let edges = store.relation(Relation::ParentChild);
        for (parent, child) in [(1, 1), (1, 2), (3, 1), (2, 3)] {
            edges.add(&between(parent, "Bus", child, "Bus")).unwrap();
        }
        assert_eq!(edges.replace_component(1, 9).unwrap(), 3);
        assert_eq!(pairs(&store, Relation::ParentChild, &any()), [(9, 9), (9, 2), (3, 9), (2, 3)]);
        assert_eq!(edges.replace_component(1, 9).unwrap(), 0);
        assert_eq!(edges.replace_component(9, 9).unwrap(), 3);
        // (9, 2) and (2, 3) are fine, (9, 9) and (9, 2) would both be (2, 2).
        let error = edges.replace_component(9, 2).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DuplicateAssociation);
        assert_eq!(pairs(&store, Relation::ParentChild, &any()), [(9, 9), (9, 2), (3, 9), (2, 3)]);
        assert_eq!(edges.replace_attribute(9, 8).unwrap(), 0);
    }
}

#[test]
fn numbers_of_components_and_attributes_are_replaced_apart() {
    let store = Store::memory().unwrap();
    let attached = store.relation(Relation::SupplementalAttribute);
    for (component, attribute) in [(1, 1), (2, 1), (1, 3)] {
        attached.add(&between(component, "Bus", attribute, "Geo")).unwrap();
    }
    assert_eq!(attached.replace_component(1, 5).unwrap(), 2);
    assert_eq!(pairs(&store, Relation::SupplementalAttribute, &any()), [(5, 1), (2, 1), (5, 3)]);
    assert_eq!(attached.replace_attribute(1, 7).unwrap(), 2);
    assert_eq!(pairs(&store, Relation::SupplementalAttribute, &any()), [(5, 7), (2, 7), (5, 3)]);
    assert_eq!(kind(attached.replace_component(2, 5)), ErrorKind::DuplicateAssociation);
    assert_eq!(kind(attached.replace_attribute(3, 7)), ErrorKind::DuplicateAssociation);
    assert_eq!(pairs(&store, Relation::SupplementalAttribute, &any()), [(5, 7), (2, 7), (5, 3)]);
    assert!(store.relation(Relation::ParentChild).list(&any()).unwrap().is_empty());
}

#[test]
fn series_and_associations_do_not_touch_each_other() {
    let (_dir, stores) = stores();
    for store in stores {
        let a = add(&store, 1, "a", &ramp(0));
        for relation in BOTH {
            store.relation(relation).add(&between(1, "Bus", 2, "Geo")).unwrap();
        }
        store.replace_owner(1, 4, OwnerCategory::Component).unwrap();
        store.clear().unwrap();
        for relation in BOTH {
            assert_eq!(pairs(&store, relation, &any()), [(1, 2)]);
        }
        let b = add(&store, 1, "a", &ramp(0));
        assert!(b > a);
        store.relation(Relation::ParentChild).replace_component(1, 6).unwrap();
        assert_eq!(pairs(&store, Relation::SupplementalAttribute, &any()), [(1, 2)]);
        BOTH.iter().for_each(|&relation| assert_eq!(store.relation(relation).remove(&any()).unwrap(), 1));
        assert_eq!(store.read(b).unwrap().info.owner.id, 1);
    }
}

#[test]
fn associations_change_with_the_transaction() {
    let (dir, stores) = stores();
    for store in stores {
        let view = store.relation(Relation::ParentChild);
        view.add(&between(1, "Bus", 2, "Bus")).unwrap();
        store.begin().unwrap();
        view.add(&between(1, "Bus", 3, "Bus")).unwrap();
        view.remove(&AssociationFilter { to_id: Some(2), ..any() }).unwrap();
        assert_eq!(kind(view.add(&between(1, "Bus", 3, "Bus"))), ErrorKind::DuplicateAssociation);
        assert_eq!(pairs(&store, Relation::ParentChild, &any()), [(1, 3)]);
        store.rollback().unwrap();
        assert_eq!(pairs(&store, Relation::ParentChild, &any()), [(1, 2)]);
        store.close().unwrap();
    }
    for name in ["a.nc", "b.nc"] {
        let store = Store::open(dir.path().join(name), &reading()).unwrap();
        assert_eq!(pairs(&store, Relation::ParentChild, &any()), [(1, 2)]);
    }
}

#[test]
pub(in crate::store) fn row_105_a_store_without_the_tables_reads_as_empty_and_gains_them() {
    let (dir, store, _) = read_only();
    store.close().unwrap();
    let path = dir.path().join("a.nc");
    let store = Store::open(&path, &OpenOptions::default()).unwrap();
    sql(&store, "DROP TABLE supplemental_attribute_associations; DROP TABLE parent_child_associations");
    store.close().unwrap();
    let store = Store::open(&path, &reading()).unwrap();
    for relation in BOTH {
        let view = store.relation(relation);
        assert!(view.list(&any()).unwrap().is_empty() && view.from_ids(&any()).unwrap().is_empty());
        assert!(view.to_types(&any()).unwrap().is_empty() && !view.contains(1, 2).unwrap());
        assert_eq!(view.count(&any()).unwrap(), 0);
        assert_eq!(kind(view.add_bulk(&[])), ErrorKind::ReadOnlyStore);
        assert_eq!(kind(view.remove(&any())), ErrorKind::ReadOnlyStore);
        assert_eq!(kind(view.replace_component(1, 1)), ErrorKind::ReadOnlyStore);
        assert_eq!(kind(view.replace_attribute(1, 1)), ErrorKind::ReadOnlyStore);
    }
    store.close().unwrap();
    let store = Store::open(&path, &OpenOptions::default()).unwrap();
    for relation in BOTH {
        store.relation(relation).add(&between(1, "Bus", 2, "Geo")).unwrap();
    }
}
