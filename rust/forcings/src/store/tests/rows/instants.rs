//! Rows 47 to 53: instants of every age, and those that have no text.

use super::*;

fn irregular<'a>(timestamps: &[UnixMillis], values: &'a Array) -> NewSeries<'a> {
    let data = SeriesData::NonSequential { timestamps: timestamps.to_vec(), values: values.view() };
    NewSeries::new(Owner::component(1, "Bus"), "outage", data)
}

fn from(initial: UnixMillis, values: &Array) -> NewSeries<'_> {
    NewSeries::single(Owner::component(1, "Bus"), "load", initial, Period::hours(1), values.view())
}

#[test]
pub(super) fn row_47_instants_before_1970_are_ordinary() {
    let old = UnixMillis(-2 * HOUR);
    each(
        |store| store.add(&from(old, &ramp(0))).unwrap(),
        |store, id| {
            let read = store.read(*id).unwrap();
            assert_eq!(read.info.initial, Some(old));
            let grid = read.info.grid().unwrap();
            assert_eq!((grid.index_of(UnixMillis(-HOUR)).unwrap(), grid.index_of(UnixMillis(0)).unwrap()), (1, 2));
            let across = store.read_range(*id, Some(UnixMillis(-1)), Some(UnixMillis(1))).unwrap();
            assert_eq!((across.info.initial, across.values.to_f64()), (Some(UnixMillis(-HOUR)), Some(vec![1.0, 2.0])));
            let filter = Filter { initial: Some(old), ..Filter::default() };
            assert_eq!(store.list(&filter).unwrap().len(), 1);
        },
    );
}

#[test]
pub(super) fn row_48_a_century_of_instants_reads_back() {
    let years: Vec<UnixMillis> = (1900..2025).map(|y| instant(&format!("{y}-02-28T23:59:59.999Z"))).collect();
    let values = Array::from_f64(vec![125], &(0..125).map(f64::from).collect::<Vec<_>>()).unwrap();
    each(
        |store| store.add(&irregular(&years, &values)).unwrap(),
        |store, id| {
            let read = store.read(*id).unwrap();
            assert_eq!((read.info.timestamps.as_deref(), &read.values), (Some(&years[..]), &values));
            let part = store.read_range(*id, Some(years[70]), Some(years[72])).unwrap();
            assert_eq!(part.values.to_f64(), Some(vec![70.0, 71.0]));
        },
    );
}

#[test]
pub(super) fn row_50_finer_digits_of_others_are_read_to_the_millisecond() {
    let store = Store::memory().unwrap();
    let single = store.add(&from(START, &ramp(0))).unwrap();
    let two = Array::from_f64(vec![2], &[1.0, 2.0]).unwrap();
    let events = store.add(&irregular(&[START, hour(1.0)], &two)).unwrap();
    sql(
        &store,
        "UPDATE time_series_associations SET initial_timestamp = '2024-01-01T00:00:00.000000001+00:00'
         WHERE initial_timestamp IS NOT NULL;
         UPDATE time_series_associations
         SET timestamps_json = '[\"2024-01-01T00:00:00.250999Z\",\"2024-01-01T01:00:00.000000001Z\"]'
         WHERE timestamps_json IS NOT NULL",
    );
    assert_eq!(store.read(single).unwrap().info.initial, Some(START));
    let expected = [UnixMillis(START.0 + 250), hour(1.0)];
    assert_eq!(store.read(events).unwrap().info.timestamps.as_deref(), Some(&expected[..]));
}

#[test]
pub(super) fn rows_51_and_53_what_has_no_text_is_refused() {
    let (_dir, stores) = stores();
    for store in stores {
        let (first, last) = (UnixMillis::MIN_WRITABLE, UnixMillis::MAX_WRITABLE);
        let (late, early) = (UnixMillis(last.0 + 1), UnixMillis(first.0 - 1));
        let (values, one) = (ramp(0), Array::from_f64(vec![1], &[1.0]).unwrap());
        // The last step counts, not only the first.
        let too_late = UnixMillis(last.0 - 2 * HOUR);
        let refused = [from(late, &one), from(early, &one), from(too_late, &values), irregular(&[late], &one)];
        for new in refused {
            assert_eq!(store.add(&new).unwrap_err().kind(), ErrorKind::InvalidParameter, "{new}");
        }
        assert!(all(&store).is_empty());
        for new in [from(first, &one), irregular(&[first], &one)] {
            let id = store.add(&new).unwrap();
            store.read(id).unwrap();
        }
    }
    for leap in ["2016-12-31T23:59:60Z", "2016-12-31T23:59:60.5Z", "2016-12-31T18:59:60-05:00"] {
        assert_eq!(UnixMillis::from_rfc3339(leap).unwrap_err().kind(), ErrorKind::InvalidParameter, "{leap}");
    }
}

#[test]
pub(super) fn row_52_a_range_may_end_in_the_far_future() {
    let fill = |store: &Store| {
        let values = ramp(0);
        let monthly = NewSeries::single(Owner::component(2, "Bus"), "load", START, Period::Months(1), values.view());
        [store.add(&from(START, &values)).unwrap(), store.add(&monthly).unwrap()]
    };
    each(fill, |store, ids| {
        for id in ids {
            for end in [UnixMillis::MAX_WRITABLE, UnixMillis(i64::MAX)] {
                assert_eq!(store.read_range(*id, Some(UnixMillis(i64::MIN)), Some(end)).unwrap().values, ramp(0));
            }
        }
    });
}
