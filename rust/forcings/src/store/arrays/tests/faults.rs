//! A disk that is full after some number of writes, at every such number.

use super::*;
use crate::store::h5::tests::Full;

/// Changes a store that holds `before` until something fails; what is staged meanwhile is added to `after`.
fn change(file: &ArrayFile, after: &mut Vec<(ArrayHash, Array)>) -> crate::Result<()> {
    let (series, wide) = (pool(DType::F64, &[], 30), pool(DType::I32, &[4], 30));
    let one = array(&series, 100);
    file.put_one(&series, one.view().hash(), one.view())?;
    file.settle()?;
    after.push((one.view().hash(), one));
    let many: Vec<Array> = (0..3).map(|seed| array(&wide, seed)).collect();
    let alone = array(&series, 101);
    let mut items: Vec<_> = many.iter().map(|a| (wide.clone(), a.view().hash(), a.view())).collect();
    items.push((series.clone(), alone.view().hash(), alone.view()));
    let staged = file.put_batch(&items);
    if staged.is_err() {
        assert!(items.iter().all(|(_, hash, _)| !file.contains(hash)), "a batch is all or nothing");
    }
    staged?;
    file.settle()?;
    after.extend(many.into_iter().chain([alone]).map(|a| (a.view().hash(), a)));
    let own: Vec<Array> = (0..2).map(|seed| array(&pool(DType::I64, &[5], 6), seed)).collect();
    let items: Vec<_> = own.iter().map(|a| (Chunking::Whole, a.view().hash(), a.view())).collect();
    let staged = file.put_standalone(&items);
    if staged.is_err() {
        assert!(items.iter().all(|(_, hash, _)| !file.contains(hash)), "all or nothing");
    }
    staged?;
    after.extend(own.into_iter().map(|a| (a.view().hash(), a)));
    let gone = [after[0].0, after[2].0];
    after.retain(|(hash, _)| !gone.contains(hash));
    file.remove_many(&gone)?;
    file.close()
}

#[test]
fn a_full_disk_costs_an_error_and_no_wrong_value() {
    let mut failures = 0;
    for left in 0.. {
        let layer = Arc::new(Full { inner: MemoryFile::new(), left: usize::MAX.into() });
        let file = ArrayFile::create(layer.clone(), DEFAULT, &[]).unwrap();
        let series = pool(DType::F64, &[], 30);
        let mut held: Vec<(ArrayHash, Array)> =
            (0..3).map(|seed| (put(&file, &series, seed), array(&series, seed))).collect();
        let untouched = pool(DType::F32, &[], 9);
        let safe = (put(&file, &untouched, 7), array(&untouched, 7));
        file.settle().unwrap();
        layer.left.store(left, Ordering::Relaxed);
        let kept = held.split_off(1);
        let mut after = held;
        let Err(error) = change(&file, &mut after) else { break };
        failures += 1;
        assert!([ErrorKind::Io, ErrorKind::Hdf5].contains(&error.kind()), "after {left} writes: {error}");
        assert_eq!(file.read(&safe.0).unwrap(), safe.1, "after {left} writes");
        for (hash, expected) in kept.iter().chain(&after) {
            match file.read(hash) {
                Ok(found) => assert_eq!(found, *expected, "after {left} writes"),
                Err(e) => assert!([ErrorKind::Integrity, ErrorKind::NotFound].contains(&e.kind()), "{e}"),
            }
        }
        layer.left.store(usize::MAX, Ordering::Relaxed);
        let more = array(&series, 500);
        let refused = file.put_one(&series, more.view().hash(), more.view()).unwrap_err();
        // Closed, where it was the close that failed.
        assert!([ErrorKind::Hdf5, ErrorKind::Closed].contains(&refused.kind()), "after {left} writes: {refused}");
        let _ = file.close();
    }
    assert!(failures > 20, "{failures}");
}

#[test]
fn what_closing_writes_reaches_the_disk_too() {
    let layer = Watched::new();
    let file = ArrayFile::create(layer.clone(), DEFAULT, &[]).unwrap();
    let series = pool(DType::F64, &[], 30);
    let first = put(&file, &series, 0);
    put(&file, &series, 1);
    file.remove_many(&[first]).unwrap();
    assert!(layer.unsynced.load(Ordering::SeqCst));
    file.sync().unwrap();
    assert!(!layer.unsynced.load(Ordering::SeqCst));
    file.close().unwrap();
    assert!(!layer.unsynced.load(Ordering::SeqCst));
}
