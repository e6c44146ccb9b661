use super::*;
use crate::store::pair::catalog_path;
use crate::store::{Association, Entity, Relation};
use std::fs;
use std::path::Path;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn fill(store: &Store) {
    let values = ramp(0);
    let mut new = NewSeries::single(Owner::component(1, "Bus"), "a", START, Period::hours(1), values.view());
    new.features = Features::from_iter([("year", 2030)]);
    store.add(&new).unwrap();
    add(store, 2, "gone", &ramp(9));
    let edge = Association::new(Entity::new(1, "Bus"), Entity::new(2, "Bus"));
    store.relation(Relation::ParentChild).add(&edge).unwrap();
    let last = add(store, 3, "last", &ramp(5));
    store.remove(&[SeriesId(2), last]).unwrap();
}

fn same(store: &Store, copy: &Store) {
    let (ours, theirs) = (all(store), all(copy));
    assert_eq!(ours, theirs);
    let ids: Vec<SeriesId> = ours.iter().map(|info| info.id).collect();
    assert_eq!(store.read_many(&ids).unwrap(), copy.read_many(&ids).unwrap());
    let edges = |store: &Store| store.relation(Relation::ParentChild).list(&Default::default()).unwrap();
    assert_eq!(edges(store), edges(copy));
    let report = copy.verify().unwrap();
    assert!(report.is_clean(), "{report:?}");
}

#[test]
fn a_copy_has_everything_and_is_a_store_of_its_own() {
    let (dir, stores) = stores();
    for (n, store) in stores.into_iter().enumerate() {
        fill(&store);
        let path = dir.path().join(format!("copy{n}.nc"));
        store.persist(&path, false).unwrap();
        let copy = Store::open(&path, &OpenOptions::default()).unwrap();
        same(&store, &copy);
        // Numbers that were issued before are not issued again, and the two go their own ways.
        assert_eq!(add(&copy, 7, "new", &ramp(3)), SeriesId(4));
        assert_eq!(all(&store).len(), 1);
        store.clear().unwrap();
        store.flush().unwrap();
        assert_eq!(copy.read(SeriesId(1)).unwrap().values, ramp(0));
        copy.close().unwrap();
        assert_eq!(all(&Store::open(&path, &reading()).unwrap()).len(), 2);
    }
    // Nothing is left beside the stores.
    let suffixes = ["", ".sqlite"];
    let stores = ["a.nc", "b.nc", "copy0.nc", "copy1.nc", "copy2.nc"];
    let expected: Vec<String> =
        stores.iter().flat_map(|name| suffixes.map(|suffix| format!("{name}{suffix}"))).collect();
    assert_eq!(names(dir.path()), expected);
}

#[test]
fn halves_of_a_store_and_its_copy_do_not_mix() {
    let dir = tempfile::tempdir().unwrap();
    let (path, copy) = (dir.path().join("a.nc"), dir.path().join("b.nc"));
    let store = Store::create(&path, &CreateOptions::default()).unwrap();
    fill(&store);
    store.persist(&copy, false).unwrap();
    store.close().unwrap();
    fs::rename(catalog_path(&copy), catalog_path(&path)).unwrap();
    assert_eq!(kind(Store::open(&path, &reading())), ErrorKind::Integrity);
}

#[test]
fn an_existing_pair_is_replaced_on_demand_only_and_never_while_it_is_open() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let other = Store::create(&path, &CreateOptions::default()).unwrap();
    add(&other, 1, "old", &ramp(7));
    other.flush().unwrap();
    let store = Store::memory().unwrap();
    fill(&store);
    assert_eq!(kind(store.persist(&path, false)), ErrorKind::StoreExists);
    assert_eq!(kind(store.persist(&path, true)), ErrorKind::StoreInUse);
    assert_eq!(other.names().unwrap(), ["old"]);
    other.close().unwrap();
    assert_eq!(kind(store.persist(&path, false)), ErrorKind::StoreExists);
    // Half a pair is something that exists, too.
    let half = dir.path().join("half.nc");
    fs::copy(catalog_path(&path), catalog_path(&half)).unwrap();
    assert_eq!(kind(store.persist(&half, false)), ErrorKind::StoreExists);
    store.persist(&half, true).unwrap();
    assert_eq!(Store::open(&path, &reading()).unwrap().names().unwrap(), ["old"]);
    store.persist(&path, true).unwrap();
    for path in [&path, &half] {
        same(&store, &Store::open(path, &reading()).unwrap());
    }
}

#[test]
fn a_failure_leaves_what_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::memory().unwrap();
    fill(&store);
    assert_eq!(kind(store.persist(dir.path().join("none").join("a.nc"), true)), ErrorKind::Io);
    fs::create_dir(dir.path().join("folder")).unwrap();
    assert!(store.persist(dir.path().join("folder"), false).is_err());
    assert!(store.persist(dir.path().join("folder"), true).is_err());
    assert_eq!(names(dir.path()), ["folder"]);
    same(&store, &store);
}

#[test]
fn at_its_own_path_a_store_is_flushed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let store = Store::create(&path, &CreateOptions::default()).unwrap();
    fill(&store);
    let link = dir.path().join("link.nc");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    for overwrite in [false, true] {
        store.persist(&path, overwrite).unwrap();
        store.persist(&link, overwrite).unwrap();
        let error = store.persist(catalog_path(&path), overwrite).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    }
    assert!(link.is_symlink());
    assert_eq!(names(dir.path()), ["a.nc", "a.nc.lock", "a.nc.sqlite", "link.nc"]);
    let copy = dir.path().join("b.nc");
    fs::copy(&path, &copy).unwrap();
    fs::copy(catalog_path(&path), catalog_path(&copy)).unwrap();
    same(&store, &Store::open(&copy, &reading()).unwrap());
}

#[test]
fn a_store_open_for_reading_is_written_elsewhere_and_a_transaction_is_not() {
    let (dir, store, id) = read_only();
    let path = dir.path().join("copy.nc");
    store.persist(&path, false).unwrap();
    store.persist(store.path(), false).unwrap();
    let copy = Store::open(&path, &OpenOptions::default()).unwrap();
    same(&store, &copy);
    assert!(add(&copy, 2, "b", &ramp(1)) > id);
    copy.begin().unwrap();
    assert_eq!(kind(copy.persist(dir.path().join("c.nc"), false)), ErrorKind::InvalidParameter);
    copy.rollback().unwrap();
    copy.close().unwrap();
    assert_eq!(kind(copy.persist(dir.path().join("c.nc"), false)), ErrorKind::Closed);
}
