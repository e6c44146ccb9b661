//! Readers over a span that the caller names, and over the series of one grid.

use super::*;

fn windowed(start: UnixMillis, extent: Option<u64>) -> StaticReaderOptions {
    StaticReaderOptions { filter: hourly(), start: Some(start.into()), extent }
}

/// Values `1000 * owner + hour`, for `steps` hours from `first` on.
fn hours(owner: i64, first: i64, steps: i64) -> (i64, i64, Array) {
    let values: Vec<f64> = (first..first + steps).map(|h| (1000 * owner + h) as f64).collect();
    (owner, first, Array::from_f64(vec![steps as usize], &values).unwrap())
}

fn filled(all: &[(i64, i64, Array)]) -> Store {
    let store = Store::memory().unwrap();
    fill(&store, all);
    store
}

fn fill(store: &Store, all: &[(i64, i64, Array)]) {
    let items: Vec<NewSeries> = all
        .iter()
        .map(|(owner, first, values)| {
            NewSeries::single(Owner::component(*owner, "Bus"), "load", hour(*first), HOUR, values.view())
        })
        .collect();
    store.add_bulk(&items).unwrap();
}

#[test]
fn row_126_ragged_series_report_the_same_instants_from_different_rows() {
    let store = filled(&[hours(1, 0, 6), hours(2, 2, 6), hours(3, 1, 24)]);
    assert_eq!(kind_of(StaticReader::build(&store, &hourly())), ErrorKind::InvalidParameter);
    let mut reader = StaticReader::with_options(&store, &windowed(hour(2), None)).unwrap();
    assert_eq!((reader.len(), reader.resolution()), (4, Some(HOUR)));
    assert_eq!(reader.timestamps(), (2..6).map(hour).collect::<Vec<_>>());
    for step in [0, 3, 1, 2] {
        reader.read_step(step).unwrap();
        let at = 2.0 + step as f64;
        assert_eq!(doubles(reader.values(0)), [1000.0 + at, 2000.0 + at, 3000.0 + at]);
        assert_eq!(reader.index_at(hour(2 + step as i64)).unwrap(), step);
    }
    // The series go on, the window does not.
    let mut reader = StaticReader::with_options(&store, &windowed(hour(2), Some(3))).unwrap();
    for outside in [1, 5] {
        reader.read_step(0).unwrap();
        assert_eq!(kind_of(reader.read(hour(outside))), ErrorKind::OffGrid);
        assert!(reader.values(0).is_empty());
    }
    let error = StaticReader::with_options(&store, &windowed(hour(2), Some(5))).unwrap_err();
    assert!(error.to_string().contains("Component 1 (Bus)"), "{error}");
}

#[test]
fn a_window_over_nothing_is_a_reader_over_nothing() {
    let options =
        StaticReaderOptions { filter: Filter { name: Some("none".into()), ..hourly() }, ..windowed(hour(2), Some(5)) };
    let mut reader = StaticReader::with_options(&filled(&[hours(1, 0, 6)]), &options).unwrap();
    assert_eq!((reader.len(), reader.groups().len()), (0, 0));
    assert_eq!(kind_of(reader.read(hour(2))), ErrorKind::NotFound);
}

#[test]
fn row_129_a_filter_on_a_grid_drops_the_series_that_are_not_on_it() {
    let store = filled(&[hours(1, 0, 24), hours(2, 7, 48), hours(3, 7, 9), hours(4, 7, 48)]);
    let on = |initial, length| Filter { initial: Some(hour(initial)), length: Some(length), ..hourly() };
    let mut reader = StaticReader::build(&store, &on(7, 48)).unwrap();
    assert_eq!((reader.len(), reader.groups()[0].columns().len()), (48, 2));
    reader.read(hour(8)).unwrap();
    assert_eq!(doubles(reader.values(0)), [2008.0, 4008.0]);
    // A window takes all, and is capped by the shortest.
    let reader = StaticReader::with_options(&store, &windowed(hour(7), None)).unwrap();
    assert_eq!((reader.len(), reader.groups()[0].columns().len()), (9, 4));
    let mut none = StaticReader::build(&store, &on(7, 49)).unwrap();
    assert_eq!((none.len(), none.groups().len()), (0, 0));
    for error in [none.read(hour(7)).unwrap_err(), none.read_step(0).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("the filter of this reader matched no SingleTimeSeries"), "{error}");
    }
}

#[test]
fn a_window_on_the_common_grid_is_read_as_one_and_inflates_as_much() {
    // Chunks of several rows.
    let all: Vec<_> = (0..40).map(|k| hours(k, 0, 400)).collect();
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("s.nc"), &CreateOptions::default()).unwrap();
    fill(&store, &all);
    let mut plain = StaticReader::build(&store, &hourly()).unwrap();
    let mut same = StaticReader::with_options(&store, &windowed(hour(0), None)).unwrap();
    let mut later = StaticReader::with_options(&store, &windowed(hour(200), Some(200))).unwrap();
    assert_eq!(same.grid(), plain.grid());
    for step in (0..400).rev() {
        plain.read_step(step).unwrap();
        same.read_step(step).unwrap();
        assert_eq!(plain.values(0), same.values(0));
        if step >= 200 {
            later.read_step(step - 200).unwrap();
            assert_eq!(plain.values(0), later.values(0));
        }
    }
    assert_eq!(plain.chunks_inflated(), same.chunks_inflated());
    assert!(later.chunks_inflated() < plain.chunks_inflated());
}
