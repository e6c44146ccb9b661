use super::*;
use crate::store::{CompactReport, Finding, State, StaticGrid};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

fn findings(store: &Store) -> Vec<Finding> {
    store.verify().unwrap().findings
}

/// Where the bytes of a value lie in the array file: it is stored without compression.
fn place_of(path: &Path, value: f64) -> u64 {
    let bytes = fs::read(path).unwrap();
    let wanted = value.to_le_bytes();
    let at = bytes.windows(8).position(|window| window == wanted).unwrap();
    assert_eq!(bytes.windows(8).filter(|window| *window == wanted).count(), 1);
    at as u64
}

fn plain(path: &Path) -> Store {
    let compression = crate::store::Compression::None;
    Store::create(path, &CreateOptions { compression, ..CreateOptions::default() }).unwrap()
}

/// Four values of which the second is `value`, which no other bytes of the file look like.
fn marked(value: f64) -> Array {
    Array::from_f64(vec![4], &[1.0, value, 2.0, 3.0]).unwrap()
}

const MARK: f64 = 1.234_567_890_123e-45;

#[test]
fn a_sound_store_is_clean_in_every_state() {
    let (_dir, stores) = stores();
    for store in stores {
        assert_eq!(store.verify().unwrap(), crate::store::VerifyReport::default());
        let a = add(&store, 1, "a", &ramp(0));
        add(&store, 2, "a", &ramp(0));
        let matrix = Array::from_f64(vec![3, 2], &[f64::NAN, -0.0, 0.0, 1.0, f64::INFINITY, 2.0]).unwrap();
        add(&store, 3, "a", &matrix);
        add(&store, 4, "a", &Array::from_f64(vec![0], &[]).unwrap());
        let report = store.verify().unwrap();
        assert!(report.is_clean(), "{report:?}");
        assert_eq!((report.arrays, report.series, report.unused_variables), (3, 4, 0));
        store.begin().unwrap();
        store.remove(&[a]).unwrap();
        store.clear_owner(3, OwnerCategory::Component).unwrap();
        add(&store, 5, "b", &ramp(7));
        assert_eq!(findings(&store), []);
        store.rollback().unwrap();
        assert_eq!(findings(&store), []);
        store.clear_owner(3, OwnerCategory::Component).unwrap();
        assert_eq!(findings(&store), []);
        store.flush().unwrap();
        assert_eq!(store.verify().unwrap().arrays, 2);
    }
}

#[test]
pub(in crate::store) fn row_107_a_value_that_was_changed_behind_the_store_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let store = plain(&path);
    let values = marked(MARK);
    let (a, b) = (add(&store, 1, "a", &values), add(&store, 2, "a", &values));
    add(&store, 3, "a", &ramp(5));
    store.close().unwrap();
    let at = place_of(&path, MARK);
    fs::OpenOptions::new().write(true).open(&path).unwrap().write_at(&2.0f64.to_le_bytes(), at).unwrap();
    for read_only in [true, false] {
        let store = Store::open(&path, &OpenOptions { read_only, durable: false }).unwrap();
        let (hash, found) = (values.view().hash(), marked(2.0).view().hash());
        let found = findings(&store) == [Finding::HashMismatch { hash, found, series: vec![a, b] }];
        assert!(found, "{:?}", findings(&store));
        assert!(findings(&store)[0].to_string().contains("series 1, 2"), "{}", findings(&store)[0]);
    }
}

#[test]
fn a_chunk_that_cannot_be_read_is_reported_for_every_array_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let store = Store::create(&path, &CreateOptions::default()).unwrap();
    let noise: Vec<f64> = (0..4000).map(|k| f64::from(k).sin()).collect();
    let arrays =
        [Array::from_f64(vec![4000], &noise).unwrap(), Array::from_f64(vec![4000], &noise[..1].repeat(4000)).unwrap()];
    let new: Vec<_> = arrays
        .iter()
        .map(|a| {
            NewSeries::single(Owner::component(1, "Bus"), a.view().hash().to_hex(), START, Period::hours(1), a.view())
        })
        .collect();
    store.add_bulk(&new).unwrap();
    let other = add(&store, 2, "sound", &ramp(0));
    store.close().unwrap();
    let bytes = fs::read(&path).unwrap();
    // The longest run without a zero byte is inside a compressed chunk.
    let (mut best, mut start) = (0..0, 0);
    for (i, byte) in bytes.iter().enumerate() {
        if *byte == 0 {
            start = i + 1;
        } else if i + 1 - start > best.len() {
            best = start..i + 1;
        }
    }
    let middle = (best.start + best.end) as u64 / 2;
    fs::OpenOptions::new().write(true).open(&path).unwrap().write_at(&[0xff; 16], middle).unwrap();
    let store = Store::open(&path, &reading()).unwrap();
    let report = store.verify().unwrap();
    assert_eq!(report.arrays, 3);
    let mut broken: Vec<_> = report
        .findings
        .iter()
        .map(|finding| match finding {
            Finding::UnreadableArray { hash, series, .. } | Finding::HashMismatch { hash, series, .. } => {
                assert_eq!(series.len(), 1);
                *hash
            }
            other => panic!("{other}"),
        })
        .collect();
    broken.sort_unstable();
    let mut expected: Vec<_> = arrays.iter().map(|a| a.view().hash()).collect();
    expected.sort_unstable();
    assert!(!broken.is_empty() && broken.iter().all(|hash| expected.contains(hash)), "{report:?}");
    assert_eq!(store.read(other).unwrap().values, ramp(0));
}

#[test]
pub(in crate::store) fn row_108_a_row_without_its_array_is_reported_and_reading_it_finds_nothing() {
    let (_dir, stores) = stores();
    for store in stores {
        let (a, b) = (add(&store, 1, "a", &ramp(0)), add(&store, 2, "a", &ramp(5)));
        let gone = crate::array::ArrayHash::from_bytes([7; 32]);
        sql(&store, &format!("UPDATE time_series_associations SET data_hash = x'{}' WHERE id = {a}", gone.to_hex()));
        let expected =
            [Finding::MissingArray { id: a, hash: gone }, Finding::UnreferencedArray { hash: ramp(0).view().hash() }];
        assert_eq!(findings(&store), expected);
        assert_eq!(kind(store.read(a)), ErrorKind::NotFound);
        assert_eq!(store.read(b).unwrap().values, ramp(5));
    }
}

#[test]
fn rows_that_are_damaged_or_do_not_fit_their_array_are_reported() {
    let store = Store::memory().unwrap();
    let values = ramp(0);
    let mut new = NewSeries::single(Owner::component(1, "Bus"), "a", START, Period::hours(1), values.view());
    new.features = Features::from_iter([("year", 2030)]);
    store.add(&new).unwrap();
    for (change, word) in [
        ("UPDATE time_series_associations SET length = 5", "[5]"),
        ("UPDATE time_series_associations SET element_shape = '[2]'", "[4, 2]"),
        ("UPDATE time_series_associations SET dtype = 'i64'", "i64"),
        ("UPDATE time_series_associations SET resolution = 'soon'", "soon"),
        ("UPDATE time_series_associations SET length = NULL", "no length"),
        ("UPDATE feature_sets SET value_int = 2031", "other content"),
        ("DELETE FROM feature_sets", "feature set"),
    ] {
        store.begin().unwrap();
        sql(&store, change);
        let found = findings(&store);
        assert!(
            matches!(&found[..], [Finding::DamagedRow { why }] if why.contains(word) && why.contains('1')),
            "{change}: {found:?}"
        );
        store.rollback().unwrap();
    }
    assert_eq!(findings(&store), []);
}

#[test]
fn a_damaged_page_of_the_catalog_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let store = Store::create(&path, &CreateOptions::default()).unwrap();
    add(&store, 1, "a", &ramp(0));
    let page = |session: &Session| {
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'idx_name'";
        Ok(session.catalog().connection().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap())
    };
    let page = store.shared().look(page).unwrap() as u64;
    store.close().unwrap();
    let catalog = crate::store::pair::catalog_path(&path);
    fs::OpenOptions::new().write(true).open(catalog).unwrap().write_at(&[0x5a; 4096], (page - 1) * 4096).unwrap();
    let store = Store::open(&path, &reading()).unwrap();
    assert!(matches!(&findings(&store)[..], [Finding::DamagedCatalog { .. }, ..]), "{:?}", findings(&store));
}

#[test]
fn halves_of_different_times_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let store = Store::create(&path, &CreateOptions::default()).unwrap();
    add(&store, 1, "a", &ramp(0));
    store.flush().unwrap();
    let old = dir.path().join("old");
    fs::copy(&path, &old).unwrap();
    store.rename(SeriesId(1), "b").unwrap();
    store.close().unwrap();
    fs::rename(&old, &path).unwrap();
    let store = Store::open(&path, &reading()).unwrap();
    let expected = Finding::Generations { arrays: Some("1".into()), catalog: Some("3".into()) };
    assert_eq!(findings(&store), [expected]);
}

#[test]
fn series_of_one_resolution_share_a_grid_or_two_are_named() {
    let store = Store::memory().unwrap();
    assert_eq!(store.check_consistency().unwrap(), []);
    add(&store, 1, "a", &ramp(0));
    add(&store, 2, "a", &ramp(1));
    let months = ramp(2);
    let new = NewSeries::single(Owner::attribute(1, "Outage"), "m", UnixMillis(0), Period::Months(1), months.view());
    store.add(&new).unwrap();
    let (hour, month) = (Period::hours(1), Period::Months(1));
    let grids = [
        StaticGrid { resolution: month, initial: UnixMillis(0), length: 4, series: 1 },
        StaticGrid { resolution: hour, initial: START, length: 4, series: 2 },
    ];
    assert_eq!(store.check_consistency().unwrap(), grids);
    let long = Array::from_f64(vec![5], &[0.0; 5]).unwrap();
    let other = add(&store, 3, "b", &long);
    let error = store.check_consistency().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Integrity);
    let text = error.to_string();
    assert!(text.contains("series 1 has 4 steps") && text.contains(&format!("series {other} has 5")), "{text}");
    // Other types do not count.
    sql(&store, "UPDATE time_series_associations SET time_series_type = 'Deterministic' WHERE length = 5");
    assert_eq!(store.check_consistency().unwrap(), grids);
}

#[test]
fn compaction_counts_free_columns_and_sweeps_features() {
    let (_dir, stores) = stores();
    for store in stores {
        assert_eq!(store.compact().unwrap(), CompactReport::default());
        let values = ramp(0);
        let mut new = NewSeries::single(Owner::component(1, "Bus"), "a", START, Period::hours(1), values.view());
        new.features = Features::from_iter([("year", 2030), ("case", 1)]);
        let a = store.add(&new).unwrap();
        new.owner.id = 2;
        let b = store.add(&new).unwrap();
        new.features = Features::from_iter([("year", 2031)]);
        store.add(&new).unwrap();
        let columns = |free, features| CompactReport { slots_reclaimed: free, feature_sets_reclaimed: features };
        assert_eq!(store.compact().unwrap(), columns(999, 0));
        store.remove(&[a]).unwrap();
        assert_eq!(store.compact().unwrap(), columns(999, 0));
        store.remove(&[b]).unwrap();
        assert_eq!(store.compact().unwrap(), columns(999, 2));
        assert_eq!(store.compact().unwrap(), columns(999, 0));
        store.clear().unwrap();
        assert_eq!(store.compact().unwrap(), columns(1000, 0));
        assert_eq!(findings(&store), []);
    }
}

#[test]
pub(in crate::store) fn row_114_compaction_inside_a_transaction_is_refused() {
    let (_dir, stores) = stores();
    for store in stores {
        store.begin().unwrap();
        assert_eq!(kind(store.compact()), ErrorKind::InvalidParameter);
        store.commit().unwrap();
        assert_eq!(kind(store.commit()), ErrorKind::InvalidParameter);
        assert_eq!(kind(store.rollback()), ErrorKind::InvalidParameter);
        store.compact().unwrap();
    }
    let (_dir, store, _) = read_only();
    assert_eq!(kind(store.compact()), ErrorKind::ReadOnlyStore);
}

#[test]
fn the_state_is_told_without_waiting() {
    let store = Store::memory().unwrap();
    let state = |series, in_transaction| Some(State { series, in_transaction });
    assert_eq!(store.state().unwrap(), state(0, false));
    store.begin().unwrap();
    add(&store, 1, "a", &ramp(0));
    assert_eq!(store.state().unwrap(), state(1, true));
    let beside = store.shared().look(|_| store.state()).unwrap();
    assert_eq!(beside, None);
    store.rollback().unwrap();
    assert_eq!(store.state().unwrap(), state(0, false));
    store.close().unwrap();
    assert_eq!(kind(store.state()), ErrorKind::Closed);
}
