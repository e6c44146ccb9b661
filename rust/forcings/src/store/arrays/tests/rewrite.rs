//! Arrays written to another file: whatever their layout was, and however much of it stays.

use super::*;
use crate::chunks::Layout;

/// Rewrites what `live` says into a new file in memory.
fn rewritten(file: &ArrayFile, live: &[ArrayHash]) -> ArrayFile {
    let layer: Arc<dyn FileLayer> = Arc::new(MemoryFile::new());
    let new = ArrayFile::create(layer.clone(), file.compression(), &[]).unwrap();
    file.rewrite_into(&new, |hash| Ok(live.contains(hash))).unwrap();
    new.shut().unwrap();
    ArrayFile::open(layer).unwrap()
}

fn chunks(file: &ArrayFile, hash: &ArrayHash) -> usize {
    match &**file.locate(hash).unwrap().dataset.state.read().layout().unwrap() {
        Layout::Chunked(table) => table.entries.len(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn any_columns_may_stay() {
    for compression in [DEFAULT, Compression::None] {
        // Tall chunks, whose height changes with the number of columns; rows of a chunk each; elements with axes.
        for pool in [pool(DType::F64, &[], 3000), pool(DType::I32, &[300, 7], 40), pool(DType::Bool, &[3], 5)] {
            let file = memory(compression);
            let arrays: Vec<Array> = (0..5).map(|seed| array(&pool, seed)).collect();
            let items: Vec<_> = arrays.iter().map(|a| (pool.clone(), a.view().hash(), a.view())).collect();
            file.put_batch(&items).unwrap();
            let hashes: Vec<ArrayHash> = arrays.iter().map(|a| a.view().hash()).collect();
            for live in [vec![0, 1, 2, 3, 4], vec![0, 2], vec![4], vec![]] {
                let kept: Vec<ArrayHash> = live.iter().map(|&k| hashes[k]).collect();
                let new = rewritten(&file, &kept);
                assert_eq!(new.hashes().len(), kept.len());
                assert_eq!(new.free_columns(), 0);
                for (&k, hash) in live.iter().zip(&kept) {
                    assert_eq!(new.read(hash).unwrap(), arrays[k]);
                    assert_eq!(chunks(&new, hash), pool.length.div_ceil(pool.chunk_rows(kept.len())));
                }
                let (source, target) = (file.source().len(), new.source().len());
                assert!(target <= source + 4096, "{source} {target}");
            }
        }
    }
}

#[test]
fn variables_keep_their_blocks() {
    let file = memory(DEFAULT);
    let long = Array::from_f64(vec![24, 6000], &(0..144_000).map(f64::from).collect::<Vec<_>>()).unwrap();
    let short = Array::from_f64(vec![3], &[1.0, 2.0, 3.0]).unwrap();
    let empty = Array::from_f64(vec![0, 2], &[]).unwrap();
    let items = [
        (Chunking::Windows { axis: 1 }, long.view().hash(), long.view()),
        (Chunking::Whole, short.view().hash(), short.view()),
        (Chunking::Whole, empty.view().hash(), empty.view()),
    ];
    file.put_standalone(&items).unwrap();
    let new = rewritten(&file, &[items[0].1, items[2].1]);
    assert_eq!(new.hashes().len(), 2);
    for file in [&file, &new] {
        assert_eq!(file.read(&items[0].1).unwrap(), long);
        assert_eq!(file.read(&items[2].1).unwrap(), empty);
    }
    let table = |file: &ArrayFile| match file.index.read().place(&items[0].1) {
        Some(Place::Standalone(array)) => match &array.layout {
            Layout::Chunked(table) => {
                (table.chunk_shape.clone(), table.entries.iter().map(|e| e.size).collect::<Vec<_>>())
            }
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    assert_eq!(table(&new), table(&file));
    assert!(table(&new).1.len() > 1);
}

#[test]
fn layouts_of_others_become_ours() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.nc");
    let series = pool(DType::F64, &[], 6);
    let stored: Vec<Array> = (0..4).map(|seed| array(&series, seed)).collect();
    let hashes: Vec<ArrayHash> = stored.iter().map(|a| a.view().hash()).collect();
    {
        let mut nc = foreign_file(&path, &stored[..3]);
        let mut group = nc.group_mut("time_series/single").unwrap().unwrap();
        let mut data = group.add_variable::<f64>(&format!("arr_{}", hashes[3].to_hex()), &["t"]).unwrap();
        data.put_values(&stored[3].to_f64().unwrap(), ..).unwrap();
    }
    let file = open(&path, true);
    let new = rewritten(&file, &hashes);
    assert_eq!(new.read_many(&hashes).unwrap(), stored);
    assert_eq!(new.free_columns(), 0);
    assert_eq!((chunks(&new, &hashes[0]), chunks(&new, &hashes[2])), (1, 1));
}
