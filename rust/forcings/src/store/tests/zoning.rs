//! Time references: what is kept of them, what is refused, and catalogs that have none.

use super::*;
use crate::series::{Bound, TimeRange, TimeReference, Windows};

fn reference(text: &str) -> Option<TimeReference> {
    Some(text.parse().unwrap())
}

fn stamped<'a>(owner: i64, text: &str, values: &'a Array) -> NewSeries<'a> {
    NewSeries { time_reference: reference(text), ..series(owner, "load", values) }
}

#[test]
fn row_71_a_reference_is_kept_and_is_no_identity() {
    let (_dir, stores) = stores();
    for store in stores {
        let values = ramp(0);
        let texts = ["utc", "zoneless", "-07:00", "America/Denver", "UTC", "+00:00"];
        let items: Vec<_> = texts.iter().enumerate().map(|(k, text)| stamped(k as i64, text, &values)).collect();
        let ids = store.add_bulk(&items).unwrap();
        let unset = add(&store, 99, "load", &values);
        for (id, text) in ids.iter().zip(texts) {
            let read = store.read(*id).unwrap();
            assert_eq!((read.info.time_reference, read.info.initial), (reference(text), Some(START)));
        }
        assert_eq!(store.read(unset).unwrap().info.time_reference, None);
        let error = store.add(&stamped(0, "zoneless", &ramp(9))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DuplicateTimeSeries);
    }
}

#[test]
pub(super) fn rows_45_and_147_days_and_months_are_for_references_without_a_zone() {
    let store = Store::memory().unwrap();
    let (values, window) = (ramp(0), Array::from_f64(vec![2, 2], &[1.0, 2.0, 3.0, 4.0]).unwrap());
    let (day, month) = (Period::hours(24), Period::Months(1));
    let steps = |resolution| SeriesData::Single { initial: START, resolution, values: values.view() };
    let forecast = |horizon, resolution, interval| SeriesData::Deterministic {
        windows: Windows { initial: START, resolution, horizon, interval, count: 2 },
        values: window.view(),
    };
    let half = Period::hours(12);
    let all = [steps(day), steps(month), forecast(Period::hours(2), Period::hours(1), day), forecast(day, half, month)];
    for (k, text) in ["America/Denver", "-07:00", "zoneless", "utc"].iter().enumerate() {
        for (n, data) in all.iter().enumerate() {
            let owner = Owner::component((10 * k + n) as i64, "Bus");
            let new = NewSeries { time_reference: reference(text), ..NewSeries::new(owner, "load", data.clone()) };
            match *text == "America/Denver" {
                true => assert_eq!(store.add(&new).unwrap_err().kind(), ErrorKind::InvalidParameter),
                false => drop(store.add(&new).unwrap()),
            }
        }
        let owner = Owner::component(100 + k as i64, "Bus");
        let fine = forecast(day, half, half);
        store.add(&NewSeries { time_reference: reference(text), ..NewSeries::new(owner, "load", fine) }).unwrap();
    }
    let fixed = Filter { owner_id: Some(11), ..Filter::default() };
    let row = store.list(&fixed).unwrap().remove(0);
    assert_eq!(row.grid().unwrap().at(1).unwrap(), instant("2024-02-01T00:00:00Z"), "months step on the UTC calendar");
}

#[test]
fn a_derived_forecast_has_the_reference_of_its_source() {
    let store = Store::memory().unwrap();
    let values = Array::from_f64(vec![48], &[0.5; 48]).unwrap();
    store.add(&stamped(1, "America/Denver", &values)).unwrap();
    let day = Period::hours(24);
    let error = store.transform_single_time_series(day, day, &Filter::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    assert!(error.to_string().contains("`load`") && error.to_string().contains("America/Denver"), "{error}");
    let made = store.transform_single_time_series(day, Period::hours(12), &Filter::default()).unwrap();
    assert_eq!(store.read(made.ids[0]).unwrap().info.time_reference, reference("America/Denver"));
}

#[test]
fn a_catalog_without_references_is_read_as_unset() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let store = Store::create(&path, &CreateOptions::default()).unwrap();
    let id = store.add(&stamped(1, "zoneless", &ramp(0))).unwrap();
    store.close().unwrap();
    let catalog = super::super::pair::catalog_path(&path);
    let connection = rusqlite::Connection::open(&catalog).unwrap();
    let without = "DROP INDEX idx_zoneless; ALTER TABLE time_series_associations DROP COLUMN time_reference";
    connection.execute_batch(without).unwrap();
    drop(connection);
    for options in [reading(), writable(), reading()] {
        let store = Store::open(&path, &options).unwrap();
        let read = store.read(id).unwrap();
        assert_eq!((read.info.time_reference, read.values), (None, ramp(0)));
    }
    let store = Store::open(&path, &writable()).unwrap();
    sql(&store, "UPDATE time_series_associations SET time_reference = '+7'");
    let error = store.read(id).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Integrity);
    assert!(error.to_string().contains("time_reference"), "{error}");
}

/// One series of each kind of reference, all with the same values.
const REFERENCES: [&str; 5] = ["zoneless", "unset", "utc", "-07:00", "America/Denver"];

fn one_of_each(store: &Store) -> Vec<SeriesId> {
    let values = ramp(0);
    let item = |(k, text): (usize, &&str)| match *text {
        "unset" => series(k as i64, "load", &values),
        text => stamped(k as i64, text, &values),
    };
    let items: Vec<_> = REFERENCES.iter().enumerate().map(item).collect();
    store.add_bulk(&items).unwrap()
}

#[test]
pub(super) fn row_144_a_strict_bound_fits_clocks_or_instants_and_a_plain_one_both() {
    let (_dir, stores) = stores();
    for store in stores {
        let ids = one_of_each(&store);
        let at = hour(1.0);
        for (id, text) in ids.iter().zip(REFERENCES) {
            let zoneless = text == "zoneless";
            let cases = [(Bound::from(at), true), (Bound::Utc(at), !zoneless), (Bound::Zoneless(at), zoneless)];
            for (bound, fits) in cases {
                for range in [
                    TimeRange { from: Some(bound), to: None },
                    TimeRange { from: None, to: Some(bound) },
                    TimeRange { from: Some(bound), to: Some(bound) },
                    TimeRange { from: Some(Bound::Floating(at)), to: Some(bound) },
                ] {
                    let read = store.read_within(&[*id], &range);
                    if fits {
                        let expected =
                            store.read_range(*id, range.from.map(Bound::digits), range.to.map(Bound::digits));
                        assert_eq!(read.unwrap(), [expected.unwrap()]);
                        continue;
                    }
                    let error = read.unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
                    let text = error.to_string();
                    let named = text.contains(&format!("(id {id})")) && text.contains("2024-01-01T01:00:00");
                    assert!(named && text.contains("zoneless"), "{text}");
                }
            }
        }
        let both = TimeRange { from: Some(Bound::Utc(at)), to: Some(Bound::Zoneless(at)) };
        for id in ids {
            assert_eq!(store.read_within(&[id], &both).unwrap_err().kind(), ErrorKind::InvalidParameter);
        }
    }
}

#[test]
pub(super) fn rows_66_and_143_a_mix_is_read_whole_and_never_by_range() {
    let (_dir, stores) = stores();
    for store in stores {
        let ids = one_of_each(&store);
        let whole = store.read_within(&ids, &TimeRange::default()).unwrap();
        assert_eq!(whole, store.read_many(&ids).unwrap());
        let at = hour(1.0);
        for bound in [Bound::Floating(at), Bound::Utc(at), Bound::Zoneless(at)] {
            for range in [TimeRange { from: Some(bound), to: None }, TimeRange { from: None, to: Some(bound) }] {
                for mixed in [&ids[..2], &[ids[2], ids[0]], &ids] {
                    let error = store.read_within(mixed, &range).unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{range:?}");
                    assert!(error.to_string().contains("zoneless"), "{error}");
                }
            }
        }
        // What is not zoneless may be mixed, and a range of none is nothing.
        let range = TimeRange { from: Some(Bound::Utc(at)), to: None };
        let read = store.read_within(&[ids[3], ids[1], ids[3], ids[4]], &range).unwrap();
        assert_eq!(read.iter().map(|s| s.info.id).collect::<Vec<_>>(), [ids[3], ids[1], ids[3], ids[4]]);
        assert!(read.iter().all(|s| s.values.to_f64().unwrap() == [1.0, 2.0, 3.0] && s.info.initial == Some(at)));
        assert!(store.read_within(&[], &range).unwrap().is_empty());
        let unknown = store.read_within(&[ids[1], SeriesId(999)], &range).unwrap_err();
        assert_eq!(unknown.kind(), ErrorKind::NotFound);
    }
}

#[test]
pub(super) fn row_148_a_malformed_reference_is_refused_before_any_write() {
    let bad = ["America/", "Mars Base", "1/2", "+24:00", "07:00", "A/B/C/D", "a\0b"];
    for text in bad {
        let error = text.parse::<TimeReference>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{text}");
    }
    // And what another writer left is damage, not a guess.
    let store = Store::memory().unwrap();
    let id = add(&store, 1, "load", &ramp(0));
    for text in bad.iter().filter(|text| !text.contains('\0')) {
        sql(&store, &format!("UPDATE time_series_associations SET time_reference = '{text}'"));
        assert_eq!(store.read(id).unwrap_err().kind(), ErrorKind::Integrity, "{text}");
    }
}
