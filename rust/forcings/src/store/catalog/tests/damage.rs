//! Catalogs that are not what they should be: of others, damaged, truncated, or left in the middle of a change.

use super::*;
use proptest::prelude::*;

#[test]
fn a_write_ahead_log_is_turned_off() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc.sqlite");
    let catalog = Catalog::create(&path).unwrap();
    catalog.connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
    drop(catalog);
    Catalog::open(&path, false).unwrap();
    assert_eq!(std::fs::read(&path).unwrap()[18..20], [1, 1], "the header asks for a rollback journal");
}

#[test]
fn files_that_are_no_catalog_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc.sqlite");
    for read_only in [true, false] {
        let kind = |what: &str| {
            let error = Catalog::open(&path, read_only).unwrap_err();
            assert!(error.to_string().contains("a.nc.sqlite") || what == "version", "{error}");
            error.kind()
        };
        assert_eq!(kind("missing"), ErrorKind::Io);
        std::fs::write(&path, "").unwrap();
        assert_eq!(kind("empty"), ErrorKind::Integrity);
        std::fs::write(&path, "no database at all".repeat(1000)).unwrap();
        assert_eq!(kind("text"), ErrorKind::Catalog);
        std::fs::remove_file(&path).unwrap();
        let catalog = Catalog::create(&path).unwrap();
        catalog.connection.execute("UPDATE schema_version SET version = 2", []).unwrap();
        drop(catalog);
        assert_eq!(kind("version"), ErrorKind::IncompatibleFormat);
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn damaged_rows_are_named() {
    let mut catalog = Catalog::memory().unwrap();
    let features = Features::from_iter([("year", 2030)]);
    let id = insert(&mut catalog, Owner::component(1, "Bus"), "a", Period::hours(1), features).unwrap();
    let two = Features::from_iter([("year", 2030), ("case", 1)]);
    insert(&mut catalog, Owner::component(2, "Bus"), "a", Period::hours(1), two).unwrap();
    for (column, value) in [
        ("initial_timestamp", "'+10000-01-01T00:00:00+00:00'"),
        ("initial_timestamp", "x'ff'"),
        ("resolution", "'P1MT1H'"),
        ("length", "-1"),
        ("length", "'many'"),
        ("time_series_type", "'Sine'"),
        ("dtype", "'f16'"),
        ("element_shape", "'[-1]'"),
        ("element_shape", "'[1'"),
        ("percentiles_json", "'[null]'"),
        ("timestamps_json", "'[1]'"),
        ("data_hash", "x'00'"),
        ("features_hash", "x'00'"),
        ("name", "x'00'"),
        ("owner_type", "cast(x'ff' as text)"),
    ] {
        catalog.connection.execute_batch("SAVEPOINT s").unwrap();
        catalog.connection.execute(&format!("UPDATE time_series_associations SET {column} = {value}"), []).unwrap();
        let error = catalog.find(id).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Integrity, "{column} = {value}: {error}");
        assert!(error.to_string().contains(&format!("series 1, column {column}")), "{error}");
        catalog.connection.execute_batch("ROLLBACK TO s; RELEASE s").unwrap();
    }
    for change in [
        "UPDATE feature_sets SET value_int = NULL",
        "UPDATE feature_sets SET value_kind = 'float'",
        "UPDATE feature_sets SET value_int = 'x'",
        "UPDATE feature_sets SET value_int = 2031",
        "DELETE FROM feature_sets WHERE key = 'case'",
        "DELETE FROM feature_sets",
    ] {
        catalog.connection.execute_batch("SAVEPOINT s").unwrap();
        catalog.connection.execute(change, []).unwrap();
        let error = catalog.list(&Filter::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Integrity, "{change}: {error}");
        catalog.connection.execute_batch("ROLLBACK TO s; RELEASE s").unwrap();
    }
    catalog.find(id).unwrap();
}

#[test]
fn a_reader_undoes_what_a_killed_writer_left() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc.sqlite");
    let mut catalog = Catalog::create(&path).unwrap();
    catalog.begin().unwrap();
    for owner in 0..200 {
        add(&mut catalog, owner, "a");
    }
    catalog.commit().unwrap();
    // With a cache this small SQLite spills the open transaction into the file, which a copy then has with its journal.
    catalog.connection.pragma_update(None, "cache_size", 1).unwrap();
    catalog.begin().unwrap();
    catalog.connection.execute("DELETE FROM time_series_associations", []).unwrap();
    let copy = dir.path().join("b.nc.sqlite");
    std::fs::copy(&path, &copy).unwrap();
    std::fs::copy(suffixed(&path, "-journal"), suffixed(&copy, "-journal")).unwrap();
    let reader = Catalog::open(&copy, true).unwrap();
    assert_eq!(reader.list(&Filter::default()).unwrap().len(), 200);
}

#[test]
fn a_truncated_catalog_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc.sqlite");
    let mut catalog = Catalog::create(&path).unwrap();
    add(&mut catalog, 1, "a");
    catalog.close().unwrap();
    let whole = std::fs::read(&path).unwrap();
    for len in [1, 99, 100, 4095, 4096, whole.len() / 2, whole.len() - 4096] {
        std::fs::write(&path, &whole[..len]).unwrap();
        let error = Catalog::open(&path, true).and_then(|catalog| catalog.list(&Filter::default())).unwrap_err();
        assert!([ErrorKind::Catalog, ErrorKind::Integrity].contains(&error.kind()), "{len}: {error}");
    }
}

proptest! {
    /// SQLite keeps no checksums: content may change unseen, but nothing may panic.
    #[test]
    fn flipped_bytes_do_no_harm(flips in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..20)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.nc.sqlite");
        let mut catalog = Catalog::create(&path).unwrap();
        catalog.begin().unwrap();
        for owner in 0..40 {
            let year = Features::from_iter([("year", owner)]);
            insert(&mut catalog, Owner::component(owner, "Bus"), "a", Period::hours(1), year).unwrap();
        }
        catalog.commit().unwrap();
        catalog.close().unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        for (place, flip) in flips {
            let place = place.index(bytes.len());
            bytes[place] ^= flip;
        }
        std::fs::write(&path, bytes).unwrap();
        for read_only in [true, false] {
            if let Ok(catalog) = Catalog::open(&path, read_only) {
                let _ = catalog.list(&Filter::default());
                let _ = catalog.list(&Filter { owner_id: Some(3), ..Filter::default() });
                let _ = catalog.find_many(&[SeriesId(1), SeriesId(40)]);
                let _ = catalog.meta(MetaKey::PairId);
            }
        }
    }
}
