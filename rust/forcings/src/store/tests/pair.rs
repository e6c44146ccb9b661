//! Making and opening the two files.

use super::*;
use crate::store::arrays::ArrayFile;
use crate::store::catalog::{Catalog, MetaKey};
use crate::store::h5::PlainFile;
use crate::store::pair::catalog_path;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

fn create(path: &Path) -> Result<Store> {
    Store::create(path, &CreateOptions::default())
}

fn overwrite() -> CreateOptions {
    CreateOptions { overwrite: true, ..CreateOptions::default() }
}

/// The names in a folder.
fn listing(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_store_is_two_files_that_reopen() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("system.v1.nc");
    let store = create(&path).unwrap();
    let id = add(&store, 1, "load", &ramp(0));
    assert_eq!(store.path(), path);
    drop(store);
    assert_eq!(listing(dir.path()), ["system.v1.nc", "system.v1.nc.sqlite"]);
    let store = Store::open(&path, &writable()).unwrap();
    assert_eq!(store.read(id).unwrap().values, ramp(0));
    add(&store, 2, "load", &ramp(10));
    drop(store);
    assert_eq!(all(&Store::open(&path, &reading()).unwrap()).len(), 2);
}

#[test]
fn an_existing_store_is_replaced_only_on_demand() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let store = create(&path).unwrap();
    let id = add(&store, 1, "old", &ramp(0));
    assert_eq!(create(&path).unwrap_err().kind(), ErrorKind::StoreExists);
    let error = Store::create(&path, &overwrite()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StoreInUse);
    assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
    assert_eq!(store.read(id).unwrap().values, ramp(0));
    drop(store);
    assert_eq!(create(&path).unwrap_err().kind(), ErrorKind::StoreExists);
    assert_eq!(names(&Store::open(&path, &reading()).unwrap()), ["old"]);
    let store = Store::create(&path, &overwrite()).unwrap();
    assert!(all(&store).is_empty());
    add(&store, 1, "new", &ramp(10));
    drop(store);
    assert_eq!(names(&Store::open(&path, &reading()).unwrap()), ["new"]);
    assert_eq!(listing(dir.path()), ["a.nc", "a.nc.sqlite"]);
    fs::remove_file(&path).unwrap();
    assert_eq!(create(&path).unwrap_err().kind(), ErrorKind::StoreExists, "half a store is in the way too");
    assert!(all(&Store::create(&path, &overwrite()).unwrap()).is_empty());
}

#[test]
fn overwrite_spares_what_is_no_store() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("notes.txt"), "precious").unwrap();
    fs::write(at("b.nc.sqlite"), "precious").unwrap();
    netcdf::create(at("mine.nc")).unwrap().add_attribute("title", "precious").unwrap();
    let mine = fs::read(at("mine.nc")).unwrap();
    for name in ["notes.txt", "b.nc", "mine.nc"] {
        let error = Store::create(at(name), &overwrite()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        assert!(error.to_string().contains("is no part of a store"), "{error}");
    }
    assert_eq!(fs::read_to_string(at("notes.txt")).unwrap(), "precious");
    assert_eq!(fs::read_to_string(at("b.nc.sqlite")).unwrap(), "precious");
    assert_eq!(fs::read(at("mine.nc")).unwrap(), mine);
    // An empty file holds nothing to lose.
    fs::write(at("empty.nc"), "").unwrap();
    assert!(all(&Store::create(at("empty.nc"), &overwrite()).unwrap()).is_empty());
}

#[test]
fn a_failed_create_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let bad = CreateOptions { compression: Compression::Deflate { level: 10, shuffle: true }, ..overwrite() };
    assert_eq!(Store::create(dir.path().join("a.nc"), &bad).unwrap_err().kind(), ErrorKind::InvalidParameter);
    assert_eq!(create(&dir.path().join("none/a.nc")).unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(create(Path::new("/")).unwrap_err().kind(), ErrorKind::InvalidParameter);
    assert!(listing(dir.path()).is_empty());
    // Folders are in the way.
    fs::create_dir_all(dir.path().join("b.nc.sqlite/x")).unwrap();
    assert_eq!(create(&dir.path().join("b.nc")).unwrap_err().kind(), ErrorKind::StoreExists);
    for path in [dir.path().join("b.nc"), dir.path().join("b.nc.sqlite")] {
        assert_eq!(Store::create(path, &overwrite()).unwrap_err().kind(), ErrorKind::Io);
    }
    assert_eq!(listing(dir.path()), ["b.nc.sqlite"]);
    assert_eq!(listing(&dir.path().join("b.nc.sqlite")), ["x"]);
}

#[test]
fn a_stale_journal_is_not_played_into_a_new_catalog() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    fs::write(dir.path().join("a.nc.sqlite-journal"), vec![0xd9; 5000]).unwrap();
    let store = create(&path).unwrap();
    add(&store, 1, "load", &ramp(0));
    drop(store);
    assert_eq!(names(&Store::open(&path, &reading()).unwrap()), ["load"]);
    assert_eq!(listing(dir.path()), ["a.nc", "a.nc.sqlite"]);
}

#[test]
fn a_stale_write_ahead_log_is_not_played_into_a_new_catalog() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let log = dir.path().join("a.nc.sqlite-wal");
    let store = create(&path).unwrap();
    add(&store, 1, "old", &ramp(0));
    store.close().unwrap();
    let other = rusqlite::Connection::open(catalog_path(&path)).unwrap();
    let mode = other.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0)).unwrap();
    assert_eq!(mode, "wal");
    other.execute("UPDATE time_series_associations SET name = 'older'", []).unwrap();
    let left = fs::read(&log).unwrap();
    drop(other);
    fs::write(&log, left).unwrap();
    let store = Store::create(&path, &overwrite()).unwrap();
    assert!(all(&store).is_empty());
    add(&store, 1, "new", &ramp(0));
    drop(store);
    assert_eq!(names(&Store::open(&path, &reading()).unwrap()), ["new"]);
    assert_eq!(listing(dir.path()), ["a.nc", "a.nc.sqlite"]);
}

#[test]
fn both_halves_must_be_there() {
    let dir = tempfile::tempdir().unwrap();
    for (missing, options) in [(0, reading()), (0, writable()), (1, reading()), (1, writable())] {
        let path = dir.path().join(format!("{missing}{}.nc", options.read_only));
        create(&path).unwrap();
        let half = [path.clone(), catalog_path(&path)][missing].clone();
        fs::remove_file(&half).unwrap();
        let error = Store::open(&path, &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains(&half.display().to_string()), "{error}");
        assert!(!half.exists(), "opening made the missing half");
    }
    let error = Store::open(dir.path().join("none.nc"), &writable()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn halves_of_two_stores_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a.nc"), dir.path().join("b.nc"));
    create(&a).unwrap();
    create(&b).unwrap();
    fs::rename(catalog_path(&a), catalog_path(&b)).unwrap();
    for options in [reading(), writable()] {
        let error = Store::open(&b, &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Integrity);
        for half in [&b, &catalog_path(&b)] {
            assert!(error.to_string().contains(&half.display().to_string()), "{error}");
        }
    }
    fs::rename(catalog_path(&b), catalog_path(&a)).unwrap();
    Store::open(&a, &writable()).unwrap();
}

#[test]
fn a_pair_of_another_writer_is_marked_when_it_is_first_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    ArrayFile::create(Arc::new(PlainFile::create(&path, false).unwrap()), Compression::None, &[])
        .unwrap()
        .close()
        .unwrap();
    Catalog::create(&catalog_path(&path)).unwrap().close().unwrap();
    let marks = || {
        let store = Store::open(&path, &reading()).unwrap();
        let array_file = store.shared().arrays().unwrap().attribute("pair_id");
        (array_file, store.shared().look(|session| session.catalog().meta(MetaKey::PairId)).unwrap())
    };
    assert_eq!(marks(), (None, None));
    Store::open(&path, &writable()).unwrap();
    let (left, right) = marks();
    assert!(left.is_some() && left == right);
    Store::open(&path, &writable()).unwrap();
    assert_eq!(marks(), (left, right), "a mark is for life");
    // An array file without a mark does not belong to a catalog with one.
    fs::remove_file(&path).unwrap();
    ArrayFile::create(Arc::new(PlainFile::create(&path, false).unwrap()), Compression::None, &[])
        .unwrap()
        .close()
        .unwrap();
    assert_eq!(Store::open(&path, &writable()).unwrap_err().kind(), ErrorKind::Integrity);
}

#[test]
fn files_that_are_no_store_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    for content in ["", "no store", &"x".repeat(100_000)] {
        fs::write(&path, content).unwrap();
        fs::write(catalog_path(&path), content).unwrap();
        for options in [reading(), writable()] {
            Store::open(&path, &options).unwrap_err();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    for options in [reading(), writable()] {
        assert_eq!(Store::open(&path, &options).unwrap_err().kind(), ErrorKind::Io);
    }
}

#[test]
fn one_writer_or_many_readers() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let writer = create(&path).unwrap();
    for options in [reading(), writable()] {
        let error = Store::open(&path, &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StoreInUse);
        assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
    }
    writer.close().unwrap();
    let readers = [Store::open(&path, &reading()).unwrap(), Store::open(&path, &reading()).unwrap()];
    assert_eq!(Store::open(&path, &writable()).unwrap_err().kind(), ErrorKind::StoreInUse);
    drop(readers);
    Store::open(&path, &writable()).unwrap();
}

/// Runs itself in a second process, which finds the store of the first one held.
#[test]
fn another_process_is_told_who_holds_the_store() {
    const NAME: &str = "store::tests::pair::another_process_is_told_who_holds_the_store";
    const VARIABLE: &str = "FORCINGS_TEST_HELD_STORE";
    if let Ok(path) = std::env::var(VARIABLE) {
        for options in [reading(), writable()] {
            match Store::open(&path, &options) {
                Ok(_) => println!("<opened>"),
                Err(error) => println!("<{:?}: {error}>", error.kind()),
            }
        }
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let child = || {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", NAME, "--nocapture"])
            .env(VARIABLE, &path)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let store = create(&path).unwrap();
    let refused = child();
    assert_eq!(refused.matches("<StoreInUse").count(), 2, "{refused}");
    assert_eq!(refused.matches(&format!("process {}", std::process::id())).count(), 2, "{refused}");
    add(&store, 1, "load", &ramp(0));
    store.close().unwrap();
    assert_eq!(child().matches("<opened>").count(), 2);
}

#[test]
fn a_count_of_commits_at_its_end_is_no_crash() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let store = create(&path).unwrap();
    sql(&store, &format!("UPDATE forcings_meta SET value = '{}' WHERE key = 'generation'", u64::MAX));
    store.close().unwrap();
    let store = Store::open(&path, &writable()).unwrap();
    add(&store, 1, "load", &ramp(0));
    store.flush().unwrap();
    store.close().unwrap();
    assert_eq!(names(&Store::open(&path, &reading()).unwrap()), ["load"]);
}

/// Runs itself in a second process that may not write what it reads.
#[test]
fn files_and_folder_without_write_permission_are_read() {
    const NAME: &str = "store::tests::pair::files_and_folder_without_write_permission_are_read";
    const VARIABLE: &str = "FORCINGS_TEST_PROTECTED_STORE";
    if let Ok(path) = std::env::var(VARIABLE) {
        let store = Store::open(&path, &reading()).unwrap();
        let other = Store::open(&path, &reading()).unwrap();
        for info in all(&store) {
            assert_eq!(other.read(info.id).unwrap().values, ramp(0));
        }
        drop((store, other));
        let error = Store::open(&path, &writable()).unwrap_err();
        println!("<{:?}: {error}>", error.kind());
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let store = create(&path).unwrap();
    add(&store, 1, "load", &ramp(0));
    store.close().unwrap();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(&path, 0o444);
    mode(&catalog_path(&path), 0o444);
    mode(dir.path(), 0o555);
    let text = rerun_without_privilege(NAME, VARIABLE, &path);
    mode(dir.path(), 0o755);
    assert!(text.contains("<Io"), "{text}");
}
