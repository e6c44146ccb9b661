//! Rows 95 to 100: which dataset and which column an array gets, and with what filters.

use super::*;
use crate::chunks::{Filter as Filters, Layout};

/// Dataset and column of an array.
fn place(store: &Store, values: &Array) -> String {
    let column = store.shared().arrays().unwrap().locate(&values.view().hash()).expect("it is packed");
    format!("{}:{}", column.dataset.name, column.column)
}

fn at<'a>(owner: i64, resolution: Period, values: &'a Array) -> NewSeries<'a> {
    NewSeries::single(Owner::component(owner, "Bus"), "load", START, resolution, values.view())
}

fn on_disk(path: &Path, compression: Compression) -> Store {
    Store::create(path, &CreateOptions { compression, ..CreateOptions::default() }).unwrap()
}

#[test]
pub(super) fn row_95_the_1001st_series_that_is_added_alone_gets_another_dataset() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    for store in [Store::memory().unwrap(), on_disk(&path, Compression::None)] {
        let arrays: Vec<Array> = (0..1001).map(ramp).collect();
        store.begin().unwrap();
        let ids: Vec<SeriesId> = arrays.iter().zip(0..).map(|(a, owner)| add(&store, owner, "load", a)).collect();
        store.commit().unwrap();
        let places = [0, 999, 1000].map(|k: usize| place(&store, &arrays[k]));
        assert_eq!(places, ["sts_f64_s_4_PT1H:0", "sts_f64_s_4_PT1H:999", "sts_f64_s_4_PT1H__1:0"]);
        assert_eq!(store.read(ids[1000]).unwrap().values, arrays[1000]);
        store.close().unwrap();
    }
    let nc = netcdf::open(&path).unwrap();
    let group = nc.group("time_series/single").unwrap().unwrap();
    for name in ["sts_f64_s_4_PT1H", "sts_f64_s_4_PT1H__1"] {
        let shape: Vec<usize> = group.variable(name).unwrap().dimensions().iter().map(|d| d.len()).collect();
        assert_eq!(shape, [4, 1000]);
    }
}

#[test]
pub(super) fn row_96_the_lowest_free_column_is_taken_first() {
    let (_dir, stores) = stores();
    for store in stores {
        let arrays: Vec<Array> = (0..8).map(ramp).collect();
        let ids: Vec<SeriesId> = arrays[..5].iter().zip(0..).map(|(a, owner)| add(&store, owner, "load", a)).collect();
        assert_eq!(place(&store, &arrays[4]), "sts_f64_s_4_PT1H:4");
        store.remove(&[ids[3], ids[1]]).unwrap();
        store.flush().unwrap();
        let later: Vec<String> = arrays[5..]
            .iter()
            .zip(10..)
            .map(|(a, owner)| {
                add(&store, owner, "load", a);
                place(&store, a)
            })
            .collect();
        assert_eq!(later, ["sts_f64_s_4_PT1H:1", "sts_f64_s_4_PT1H:3", "sts_f64_s_4_PT1H:5"]);
        assert_eq!(store.read(ids[4]).unwrap().values, arrays[4]);
        assert!(store.verify().unwrap().is_clean());
    }
}

#[test]
pub(super) fn row_97_steps_of_another_length_get_another_dataset() {
    let (_dir, stores) = stores();
    for store in stores {
        let (hourly, quarterly, again) = (ramp(0), ramp(1), ramp(0));
        store.add(&at(1, Period::hours(1), &hourly)).unwrap();
        store.add(&at(2, Period::Fixed(HOUR / 4), &quarterly)).unwrap();
        // The same content is one array, wherever it went first.
        let shared = store.add(&at(3, Period::Fixed(HOUR / 4), &again)).unwrap();
        assert_eq!(place(&store, &hourly), "sts_f64_s_4_PT1H:0");
        assert_eq!(place(&store, &quarterly), "sts_f64_s_4_PT15M:0");
        let read = store.read(shared).unwrap();
        assert_eq!((read.info.resolution, read.values), (Some(Period::Fixed(HOUR / 4)), hourly));
    }
}

#[test]
pub(super) fn row_98_a_batch_has_one_column_for_each_content() {
    let (_dir, stores) = stores();
    for store in stores {
        let arrays: Vec<Array> = [0, 1, 0, 2, 1, 0].map(ramp).to_vec();
        let items: Vec<_> = arrays.iter().zip(0..).map(|(a, owner)| series(owner, "load", a)).collect();
        let ids = store.add_bulk(&items).unwrap();
        let places: Vec<String> = arrays.iter().map(|a| place(&store, a)).collect();
        let columns = [0, 1, 0, 2, 1, 0].map(|k| format!("sts_f64_s_4_PT1H:{k}"));
        assert_eq!(places, columns);
        assert_eq!(store.shared().arrays().unwrap().free_columns(), 0, "as wide as the batch");
        for (id, values) in ids.iter().zip(&arrays) {
            assert_eq!(&store.read(*id).unwrap().values, values);
        }
    }
}

#[test]
pub(super) fn row_99_what_was_not_committed_is_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let store = on_disk(&path, Compression::default());
    add(&store, 1, "kept", &ramp(0));
    store.flush().unwrap();
    let arrays = [ramp(5), ramp(6)];
    store.begin().unwrap();
    store.add_bulk(&[series(2, "lost", &arrays[0]), series(3, "lost", &arrays[1])]).unwrap();
    drop(store);
    let store = Store::open(&path, &reading()).unwrap();
    assert_eq!(names(&store), ["kept"]);
    assert!(arrays.iter().all(|a| !holds(&store, a.view().hash())));
    assert!(store.verify().unwrap().is_clean());
}

/// The filters of every data variable, and how hard the first chunk of each was compressed: the header of a zlib stream
/// has four grades for the ten levels.
fn filters(path: &Path) -> Vec<(Vec<Filters>, u8)> {
    let container = crate::formats::open_group(path, Some("time_series/single")).unwrap();
    let mut found = Vec::new();
    for (k, variable) in container.variables().iter().enumerate() {
        if !variable.name.starts_with("sts_") && !variable.name.starts_with("arr_") || variable.name.ends_with("_h") {
            continue;
        }
        let layout = container.layout(k).unwrap();
        let Layout::Chunked(table) = &*layout else { panic!("{} has no chunks", variable.name) };
        let mut header = [0; 2];
        container.source().read_at(table.entries[0].offset, &mut header).unwrap();
        found.push((table.filters.clone(), header[1] >> 6));
    }
    found
}

#[test]
pub(super) fn row_100_an_opened_store_keeps_the_filters_that_it_was_made_with() {
    let dir = tempfile::tempdir().unwrap();
    let policies = [
        ("a.nc", Compression::Deflate { level: 9, shuffle: false }, vec![Filters::Deflate], 3),
        ("b.nc", Compression::Deflate { level: 1, shuffle: true }, vec![Filters::Shuffle(8), Filters::Deflate], 0),
        ("c.nc", Compression::None, vec![], 0),
    ];
    for (name, compression, pipeline, grade) in policies {
        let path = dir.path().join(name);
        on_disk(&path, compression).close().unwrap();
        let store = Store::open(&path, &writable()).unwrap();
        // Long enough that a chunk is smaller compressed than plain.
        let [line, events] = [0, 7].map(|n| Array::from_f64(vec![500], &[f64::from(n); 500]).unwrap());
        let timestamps = (0..500).map(|k| hour(f64::from(k))).collect();
        let data = SeriesData::NonSequential { timestamps, values: events.view() };
        let outage = NewSeries::new(Owner::component(1, "Bus"), "outage", data);
        let ids = [add(&store, 1, "load", &line), store.add(&outage).unwrap()];
        store.close().unwrap();
        let found = filters(&path);
        assert_eq!(found.iter().map(|(filters, _)| filters).collect::<Vec<_>>(), [&pipeline, &pipeline]);
        if !pipeline.is_empty() {
            assert_eq!(found.iter().map(|(_, grade)| *grade).collect::<Vec<_>>(), [grade; 2]);
        }
        let store = Store::open(&path, &reading()).unwrap();
        assert_eq!(store.read(ids[0]).unwrap().values, line);
        assert_eq!(store.read(ids[1]).unwrap().values, events);
    }
}
