//! Tricky cases of identity, opening and transactions. The numbers in the names of the tests are those of the cases.

use super::*;
use crate::store::tests::rerun_without_privilege;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn single<'a>(owner: Owner, start: UnixMillis, values: &'a Array) -> NewSeries<'a> {
    NewSeries::single(owner, "load", start, Period::hours(1), values.view())
}

fn bus(id: i64) -> Owner {
    Owner::component(id, "Bus")
}

#[test]
pub(in crate::store) fn rows_69_to_71_an_identity_is_taken_whatever_else_differs() {
    let (_dir, stores) = stores();
    for store in stores {
        let first = store.add(&single(bus(1), START, &ramp(0))).unwrap();
        let before = store.read(first).unwrap();
        let long = Array::from_f64(vec![9], &[0.5; 9]).unwrap();
        let other_values = ramp(7);
        let mut described = single(Owner::component(1, "Other"), START, &other_values);
        described.units = Some("MW".into());
        described.ext = Some("{}".into());
        for new in [single(bus(1), START, &other_values), single(bus(1), UnixMillis(0), &long), described] {
            assert_eq!(kind(store.add(&new)), ErrorKind::DuplicateTimeSeries);
            assert_eq!(kind(store.add_bulk(&[single(bus(2), START, &long), new])), ErrorKind::DuplicateTimeSeries);
        }
        store.flush().unwrap();
        assert_eq!(all(&store), std::slice::from_ref(&before.info));
        assert_eq!(store.read(first).unwrap(), before);
        assert!(!holds(&store, &long) && !holds(&store, &other_values));
    }
}

#[test]
pub(in crate::store) fn row_72_one_number_in_two_categories_is_two_owners() {
    let (_dir, stores) = stores();
    for store in stores {
        let (a, b) = (ramp(0), ramp(5));
        let component = store.add(&single(bus(1), START, &a)).unwrap();
        let attribute = store.add(&single(Owner::attribute(1, "Bus"), START, &b)).unwrap();
        assert_eq!(store.read(component).unwrap().values, a);
        assert_eq!(store.read(attribute).unwrap().values, b);
        assert_eq!(store.replace_owner(1, 2, OwnerCategory::Component).unwrap(), 1);
        assert_eq!(store.clear_owner(1, OwnerCategory::Component).unwrap(), 0);
        assert_eq!(store.owner_ids(OwnerCategory::SupplementalAttribute).unwrap(), [1]);
        assert_eq!(store.clear_owner(1, OwnerCategory::SupplementalAttribute).unwrap(), 1);
        assert_eq!(all(&store).len(), 1);
    }
}

#[test]
pub(in crate::store) fn row_74_series_without_a_resolution_are_told_apart_by_the_rest() {
    let store = Store::memory().unwrap();
    let id = store.add(&single(bus(1), START, &ramp(0))).unwrap();
    sql(&store, "UPDATE time_series_associations SET resolution = NULL, time_series_type = 'NonSequentialTimeSeries'");
    assert_eq!(kind(store.copy_series(id, 1, "Bus", None)), ErrorKind::DuplicateTimeSeries);
    store.copy_series(id, 1, "Bus", Some("other")).unwrap();
    store.copy_series(id, 2, "Bus", None).unwrap();
    assert_eq!(kind(store.replace_owner(2, 1, OwnerCategory::Component)), ErrorKind::DuplicateTimeSeries);
}

#[test]
pub(in crate::store) fn rows_102_and_103_what_is_no_pair_does_not_open() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let catalog = crate::store::pair::catalog_path(&path);
    let store = Store::create(&path, &CreateOptions::default()).unwrap();
    add(&store, 1, "a", &ramp(0));
    store.close().unwrap();
    let (whole, rows) = (fs::read(&path).unwrap(), fs::read(&catalog).unwrap());
    let refused = |path: &Path| {
        for read_only in [true, false] {
            Store::open(path, &OpenOptions { read_only, durable: false }).unwrap_err();
        }
    };
    refused(&dir.path().join("missing.nc"));
    refused(dir.path());
    for cut in [0, 1, whole.len() / 2] {
        fs::write(&path, &whole[..cut]).unwrap();
        refused(&path);
    }
    fs::write(&path, &whole).unwrap();
    for cut in [0, 1, 4096] {
        fs::write(&catalog, &rows[..cut]).unwrap();
        refused(&path);
    }
    fs::remove_file(&catalog).unwrap();
    refused(&path);
    assert!(!catalog.exists());
    fs::write(&catalog, &rows).unwrap();
    assert_eq!(all(&Store::open(&path, &reading()).unwrap()).len(), 1);
}

/// Run in a process of another user, in which this variable names the store.
const READ_ONLY_STORE: &str = "FORCINGS_TEST_READ_ONLY_STORE";

#[test]
pub(in crate::store) fn row_104_files_without_permission_to_write_are_read() {
    if let Some(path) = std::env::var_os(READ_ONLY_STORE) {
        let path = Path::new(&path);
        assert!(fs::OpenOptions::new().append(true).open(path).is_err());
        let store = Store::open(path, &reading()).unwrap();
        let info = all(&store).remove(0);
        assert_eq!(store.read(info.id).unwrap().values, ramp(0));
        assert!(store.verify().unwrap().is_clean());
        assert!(Store::open(path, &OpenOptions::default()).is_err());
        return;
    }
    let (dir, store, _) = read_only();
    let path = store.path().to_path_buf();
    store.close().unwrap();
    for file in fs::read_dir(dir.path()).unwrap() {
        fs::set_permissions(file.unwrap().path(), fs::Permissions::from_mode(0o444)).unwrap();
    }
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let name = "store::operations::tests::rows::row_104_files_without_permission_to_write_are_read";
    rerun_without_privilege(name, READ_ONLY_STORE, &path);
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
pub(in crate::store) fn row_106_a_level_that_does_not_exist_makes_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let compression = crate::store::Compression::Deflate { level: 10, shuffle: true };
    let options = CreateOptions { compression, ..CreateOptions::default() };
    assert_eq!(kind(Store::create(dir.path().join("a.nc"), &options)), ErrorKind::InvalidParameter);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
pub(in crate::store) fn rows_109_to_113_transactions_end_as_a_whole() {
    let (_dir, stores) = stores();
    for store in stores {
        let (old, kept, new) = (ramp(0), ramp(5), ramp(9));
        let first = store.add(&single(bus(1), START, &old)).unwrap();
        let before = all(&store);
        // 109: everything comes back.
        store.begin().unwrap();
        store.remove(&[first]).unwrap();
        store.add_bulk(&[single(bus(2), START, &new), single(bus(3), START, &kept)]).unwrap();
        store.rollback().unwrap();
        assert_eq!(all(&store), before);
        assert_eq!(store.read(first).unwrap().values, old);
        assert!(!holds(&store, &new));
        // 110: content that is added again stays. 111: a duplicate fails alone.
        store.begin().unwrap();
        store.remove(&[first]).unwrap();
        let again = store.add(&single(bus(1), START, &old)).unwrap();
        assert_eq!(kind(store.add(&single(bus(1), START, &new))), ErrorKind::DuplicateTimeSeries);
        store.add(&single(bus(2), START, &kept)).unwrap();
        store.commit().unwrap();
        assert_eq!(store.read(again).unwrap().values, old);
        assert_eq!(all(&store).len(), 2);
        // 112: an inner commit counts only with the outer one.
        store.begin().unwrap();
        store.begin().unwrap();
        store.add(&single(bus(3), START, &new)).unwrap();
        store.commit().unwrap();
        store.rollback().unwrap();
        assert_eq!(all(&store).len(), 2);
        // 113: an inner rollback takes its own work only.
        store.begin().unwrap();
        store.copy_series(again, 4, "Bus", None).unwrap();
        store.begin().unwrap();
        store.add(&single(bus(3), START, &new)).unwrap();
        store.rollback().unwrap();
        store.commit().unwrap();
        assert_eq!(store.owner_ids(OwnerCategory::Component).unwrap(), [1, 2, 4]);
        assert!(!holds(&store, &new));
        assert!(store.verify().unwrap().is_clean());
    }
}
