//! Rows 91 and 93: one array for several series.

use super::*;

fn irregular(owner: i64, values: &Array) -> NewSeries<'_> {
    let timestamps = (0..4).map(|k| hour(f64::from(k * k))).collect();
    let data = SeriesData::NonSequential { timestamps, values: values.view() };
    NewSeries::new(Owner::component(owner, "Bus"), "load", data)
}

#[test]
pub(super) fn row_91_an_array_stays_until_its_last_series_goes() {
    let (_dir, stores) = stores();
    for store in stores {
        let values = ramp(0);
        let hash = values.view().hash();
        let ids = [add(&store, 1, "load", &values), add(&store, 2, "load", &values)];
        assert_eq!(store.counts().unwrap().arrays, 1);
        store.remove(&ids[..1]).unwrap();
        store.flush().unwrap();
        assert!(holds(&store, hash));
        assert_eq!(store.read(ids[1]).unwrap().values, values);
        store.remove(&ids[1..]).unwrap();
        store.flush().unwrap();
        assert!(!holds(&store, hash));
        assert_eq!(store.counts().unwrap().arrays, 0);
    }
}

#[test]
pub(super) fn row_93_a_store_in_memory_is_persisted_with_what_its_series_share() {
    let dir = tempfile::tempdir().unwrap();
    let values = ramp(0);
    for regular_first in [true, false] {
        let store = Store::memory().unwrap();
        let items = [series(1, "load", &values), irregular(2, &values)];
        let mut ids: Vec<SeriesId> = match regular_first {
            true => items.iter().map(|new| store.add(new).unwrap()).collect(),
            false => items.iter().rev().map(|new| store.add(new).unwrap()).collect(),
        };
        ids.sort_unstable();
        let path = dir.path().join(format!("{regular_first}.nc"));
        store.persist(&path, false).unwrap();
        let copy = Store::open(&path, &reading()).unwrap();
        assert_eq!(all(&copy), all(&store));
        assert_eq!(copy.read_many(&ids).unwrap(), store.read_many(&ids).unwrap());
        assert_eq!(copy.counts().unwrap().arrays, 1);
        assert!(copy.verify().unwrap().is_clean());
    }
}
