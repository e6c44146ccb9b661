//! What any number of threads read at once: the windows and the errors of the reader itself.

use super::*;
use crate::readers::SharedForecasts;

/// The windows of the slots, or the error's text.
type Slots = std::result::Result<Vec<Vec<u8>>, String>;

fn read(shared: &SharedForecasts, k: usize) -> Slots {
    let all = || 0..shared.slots().len();
    shared.read(k, |windows| Ok(all().map(|slot| windows.of(slot).to_vec()).collect())).map_err(|e| e.to_string())
}

fn read_alone(reader: &mut ForecastReader, k: usize) -> Slots {
    reader.read_window(k).map_err(|e| e.to_string())?;
    Ok((0..reader.slots().len()).map(|slot| reader.values(slot).to_vec()).collect())
}

/// Threads there, back and in leaps agree with the reader at every window.
pub(super) fn check(reader: &mut ForecastReader) {
    let (shared, n) = (reader.shared().unwrap(), reader.len());
    let expected: Vec<Slots> = (0..n).map(|k| read_alone(reader, k)).collect();
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (shared, expected) = (&shared, &expected);
            scope.spawn(move || {
                for k in 0..n {
                    let k = [k, n - 1 - k, k * 7 % n][thread];
                    assert!(read(shared, k) == expected[k], "window {k}");
                }
            });
        }
    });
    assert_eq!(kind_of(shared.read(n, |_| Ok(()))), ErrorKind::OffGrid);
}

/// Derived windows of 24 steps, one every 6, out of 4000, and dense ones in step with them.
fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("s.nc"), &CreateOptions::default()).unwrap();
    for k in 0..4 {
        derive(&store, k, &pattern(DType::F64, vec![4002], k as u64), 24, 6);
    }
    let count = (4002 - 24) / 6 + 1;
    store.add(&dense(9, windows(24, 6, count), &pattern(DType::F64, vec![24, count], 9))).unwrap();
    (folder, store)
}

#[test]
fn a_sweep_inflates_every_chunk_once_in_either_direction() {
    let (_folder, store) = store();
    let mut reader = ForecastReader::build(&store, &deterministic()).unwrap();
    reader.set_readahead(0);
    let n = reader.len();
    (0..n).for_each(|k| reader.read_window(k).unwrap());
    let chunks = reader.chunks_inflated();
    assert!(chunks > 4, "{chunks} chunks are no sweep");
    let orders: [fn(usize, usize) -> usize; 3] = [|k, _| k, |k, n| n - 1 - k, |k, n| if k ^ 1 < n { k ^ 1 } else { k }];
    for order in orders {
        let shared = reader.shared().unwrap();
        (0..n).for_each(|k| drop(read(&shared, order(k, n)).unwrap()));
        assert_eq!(shared.chunks_inflated(), chunks);
    }
}

#[test]
fn a_removed_forecast_and_a_closed_store_are_errors() {
    let (_folder, store) = store();
    let mut reader = ForecastReader::build(&store, &deterministic()).unwrap();
    let shared = reader.shared().unwrap();
    assert_eq!(read(&shared, 3), read_alone(&mut reader, 3));
    let of = |owner| Filter { owner_id: Some(owner), ..Filter::default() };
    let ids = |owner| store.list(&of(owner)).unwrap().iter().map(|info| info.id).collect::<Vec<_>>();
    store.remove(&ids(9)).unwrap();
    let error = read(&shared, 3).unwrap_err();
    assert!(error.contains("Component 9 (Bus)"), "{error}");
    assert_eq!(Err(error), read_alone(&mut reader, 3));
    let others = ForecastReader::build(&store, &deterministic()).unwrap().shared().unwrap();
    let before = read(&others, 5);
    store.compact_physical().unwrap();
    assert_eq!(read(&others, 5), before);
    store.close().unwrap();
    assert_eq!(kind_of(others.read(0, |_| Ok(()))), ErrorKind::Closed);
    assert_eq!(kind_of(reader.shared().map(drop)), ErrorKind::Closed);
}

#[test]
fn nothing_is_made_of_nothing() {
    let reader = ForecastReader::build(&Store::memory().unwrap(), &deterministic()).unwrap();
    assert_eq!(kind_of(reader.shared().map(drop)), ErrorKind::NotFound);
}
