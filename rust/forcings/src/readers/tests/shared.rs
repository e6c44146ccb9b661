//! What any number of threads read at once: the values and the errors of the reader itself.

use super::*;
use crate::readers::SharedSeries;
use std::sync::Barrier;

/// The values of a step, or the error's text.
type Step = std::result::Result<Vec<Vec<u8>>, String>;

fn read(shared: &SharedSeries, step: usize) -> Step {
    shared.read(step, |groups| Ok(groups.to_vec())).map_err(|e| e.to_string())
}

fn read_alone(reader: &mut StaticReader, step: usize) -> Step {
    reader.read_step(step).map_err(|e| e.to_string())?;
    Ok((0..reader.groups().len()).map(|g| reader.values(g).to_vec()).collect())
}

/// Threads there, back and in leaps agree with the reader at every step.
pub(super) fn check(reader: &mut StaticReader) {
    let (shared, n) = (reader.shared().unwrap(), reader.len());
    let expected: Vec<Step> = (0..n).map(|step| read_alone(reader, step)).collect();
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (shared, expected) = (&shared, &expected);
            scope.spawn(move || {
                for k in 0..n {
                    let step = [k, n - 1 - k, k * 7 % n][thread];
                    assert!(read(shared, step) == expected[step], "step {step}");
                }
            });
        }
    });
    assert_eq!(kind_of(shared.read(n, |_| Ok(()))), ErrorKind::OffGrid);
}

/// A store of 20 columns of 700 rows, which are many to a chunk.
fn narrow() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("s.nc"), &CreateOptions::default()).unwrap();
    let arrays: Vec<Array> = (0..20).map(|k| ramp(700, k)).collect();
    let items: Vec<NewSeries> = arrays.iter().enumerate().map(|(k, a)| series(k as i64, "load", a)).collect();
    store.add_bulk(&items).unwrap();
    (folder, store)
}

#[test]
fn a_sweep_inflates_every_chunk_once_whoever_reads() {
    let (_folder, store) = narrow();
    let mut reader = StaticReader::build(&store, &hourly()).unwrap();
    reader.set_readahead(0);
    (0..700).for_each(|step| reader.read_step(step).unwrap());
    let chunks = reader.chunks_inflated();
    assert!(chunks >= 4, "{chunks} chunks are no sweep");
    let orders: [fn(usize) -> usize; 3] = [|k| k, |k| 699 - k, |k| k ^ 1];
    for order in orders {
        let shared = reader.shared().unwrap();
        (0..700).for_each(|k| drop(read(&shared, order(k)).unwrap()));
        assert_eq!(shared.chunks_inflated(), chunks);
    }
    // Two workers of one group, in step.
    let (shared, start) = (reader.shared().unwrap(), Barrier::new(2));
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let (shared, start) = (&shared, &start);
            scope.spawn(move || {
                for k in (worker..700).step_by(2) {
                    start.wait();
                    read(shared, k).unwrap();
                }
            });
        }
    });
    assert_eq!(shared.chunks_inflated(), chunks);
}

#[test]
fn a_removed_series_is_an_error_until_its_values_are_back() {
    let store = Store::memory().unwrap();
    let (shared_array, own) = (ramp(3, 1), ramp(3, 2));
    let items = [series(1, "load", &shared_array), series(2, "load", &shared_array), series(3, "load", &own)];
    let ids = store.add_bulk(&items).unwrap();
    let mut reader = StaticReader::build(&store, &hourly()).unwrap();
    let shared = reader.shared().unwrap();
    let all = vec![1001.0, 1001.0, 2001.0];
    assert_eq!(doubles(&read(&shared, 1).unwrap()[0]), all);
    store.remove(&ids[1..2]).unwrap();
    assert_eq!(doubles(&read(&shared, 1).unwrap()[0]), all, "another series has the array");
    store.remove(&ids[2..]).unwrap();
    for _ in 0..2 {
        let error = read(&shared, 1).unwrap_err();
        assert_eq!(Err(error), read_alone(&mut reader, 1));
    }
    assert_eq!(kind_of(shared.read(1, |_| Ok(()))), ErrorKind::NotFound);
    store.add(&series(9, "load", &own)).unwrap();
    assert_eq!(doubles(&read(&shared, 1).unwrap()[0]), all);
}

#[test]
fn arrays_that_move_are_followed_and_columns_that_others_took_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("s.nc"), &CreateOptions::default()).unwrap();
    let arrays: Vec<Array> = (1..4).map(|k| ramp(3, k)).collect();
    let first = store.add(&series(1, "load", &arrays[0])).unwrap();
    store.add(&series(2, "load", &arrays[1])).unwrap();
    let reader = StaticReader::build(&store, &hourly()).unwrap();
    let (both, second) = (reader.shared().unwrap(), Filter { owner_id: Some(2), ..hourly() });
    let second = StaticReader::build(&store, &second).unwrap().shared().unwrap();
    drop(reader);
    assert_eq!(doubles(&read(&both, 0).unwrap()[0]), [1000.0, 2000.0]);
    assert_eq!(doubles(&read(&second, 0).unwrap()[0]), [2000.0]);
    store.remove(&[first]).unwrap();
    store.flush().unwrap();
    store.add(&series(3, "load", &arrays[2])).unwrap();
    store.flush().unwrap();
    assert_eq!(kind_of(both.read(0, |_| Ok(()))), ErrorKind::NotFound);
    assert_eq!(doubles(&read(&second, 1).unwrap()[0]), [2001.0]);
    store.compact_physical().unwrap();
    assert_eq!(doubles(&read(&second, 2).unwrap()[0]), [2002.0]);
    assert_eq!(kind_of(both.read(0, |_| Ok(()))), ErrorKind::NotFound);
    store.close().unwrap();
    assert_eq!(kind_of(second.read(0, |_| Ok(()))), ErrorKind::Closed);
}

#[test]
fn nothing_is_made_of_a_closed_store_or_of_nothing() {
    let (_folder, store) = narrow();
    let none = Filter { name: Some("none".into()), ..hourly() };
    let error = StaticReader::build(&store, &none).unwrap().shared().map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("matched no SingleTimeSeries"), "{error}");
    let reader = StaticReader::build(&store, &hourly()).unwrap();
    store.close().unwrap();
    assert_eq!(kind_of(reader.shared().map(drop)), ErrorKind::Closed);
}
