//! Sweeps that are read ahead, beside writers.

use super::*;

/// Ten columns of a row a chunk, of which two are free.
fn fill(store: &Store, arrays: &[Array]) -> Vec<SeriesId> {
    let items: Vec<NewSeries> = arrays.iter().enumerate().map(|(k, a)| series(k as i64, "load", a)).collect();
    let mut ids = store.add_bulk(&items).unwrap();
    store.remove(&ids.split_off(8)).unwrap();
    store.flush().unwrap();
    ids
}

fn check(reader: &StaticReader, arrays: &[Array], step: usize) {
    for (value, array) in reader.values(0).chunks_exact(512).zip(arrays) {
        assert!(value == &array.bytes()[512 * step..512 * (step + 1)], "step {step}");
    }
}

#[test]
fn values_are_right_and_removed_columns_missed_while_columns_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    for (on_disk, times) in [(false, 200), (true, 20)] {
        let path = folder.path().join("s.nc");
        let store = if on_disk { Store::create(path, &CreateOptions::default()) } else { Store::memory() }.unwrap();
        let arrays: Vec<Array> = (0..10).map(|k| pattern(DType::F64, vec![150, 64], k)).collect();
        let ids = fill(&store, &arrays);
        let mut reader = StaticReader::build(&store, &hourly()).unwrap();
        let other = pattern(DType::F64, vec![150, 64], 99);
        let done = AtomicBool::new(false);
        let mut sweeps = 0;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..times {
                    let id = store.add(&series(99, "other", &other)).unwrap();
                    store.remove(&[id]).unwrap();
                    store.flush().unwrap();
                }
                done.store(true, Ordering::SeqCst);
            });
            while !done.load(Ordering::SeqCst) || sweeps == 0 {
                for step in (0..150).chain((0..150).rev()) {
                    reader.read_step(step).unwrap();
                    check(&reader, &arrays, step);
                }
                sweeps += 1;
            }
        });
        // In the middle of a sweep.
        (0..20).for_each(|step| reader.read_step(step).unwrap());
        store.remove(&ids[3..4]).unwrap();
        store.flush().unwrap();
        let error = reader.read_step(20).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().contains("Component 3 (Bus)") && reader.values(0).is_empty(), "{error}");
    }
}

#[test]
fn with_and_without_readahead_every_chunk_is_inflated_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path().join("s.nc"), &CreateOptions::default()).unwrap();
    let arrays: Vec<Array> = (0..10).map(|k| pattern(DType::F64, vec![300, 64], k)).collect();
    fill(&store, &arrays);
    for budget in [0, 1, 6000, 20_000, 1 << 20, usize::MAX] {
        for backward in [false, true] {
            let mut reader = StaticReader::build(&store, &hourly()).unwrap();
            reader.set_readahead(budget);
            for step in 0..300 {
                let step = if backward { 299 - step } else { step };
                reader.read_step(step).unwrap();
                check(&reader, &arrays, step);
            }
            assert_eq!(reader.chunks_inflated(), 300, "budget {budget}, backward: {backward}");
        }
    }
    // Other orders decode what they ask for, and nothing else.
    let mut reader = StaticReader::build(&store, &hourly()).unwrap();
    for (n, step) in [7, 200, 3, 4, 100, 5].into_iter().enumerate() {
        reader.read_step(step).unwrap();
        check(&reader, &arrays, step);
        assert_eq!(reader.chunks_inflated(), n as u64 + 1);
    }
}
