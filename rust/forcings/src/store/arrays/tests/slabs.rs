//! Parts of many arrays: the same as one by one, with each chunk read once.

use super::*;

fn slab(hash: ArrayHash, axis: usize, range: std::ops::Range<usize>) -> Slab {
    Slab { hash, axis, range }
}

#[test]
fn many_columns_cost_no_more_bytes_than_one() {
    let layer = Watched::new();
    let file = ArrayFile::create(layer.clone(), DEFAULT, &[]).unwrap();
    let hashes = put_batch(&file, &pool(DType::F64, &[], 200), 0..600);
    let bytes = |slabs: &[Slab]| {
        let before = layer.read.load(Ordering::Relaxed);
        let arrays = file.read_slabs(slabs).unwrap();
        (arrays, layer.read.load(Ordering::Relaxed) - before)
    };
    let (_, one) = bytes(&[slab(hashes[7], 0, 20..60)]);
    let (arrays, all) = bytes(&hashes.iter().map(|hash| slab(*hash, 0, 20..60)).collect::<Vec<_>>());
    assert!(one > 0 && all == one, "{all} bytes for all, {one} for one");
    for (hash, array) in hashes.iter().zip(arrays) {
        assert_eq!(array, file.read_slab(hash, 0, 20..60).unwrap());
    }
}

#[test]
fn parts_keep_their_order_and_may_repeat() {
    let file = memory(DEFAULT);
    let packed = put_batch(&file, &pool(DType::I32, &[2], 9), 0..3);
    let plane = array(&pool(DType::F64, &[5], 4), 0);
    let alone = put_standalone(&file, Chunking::Windows { axis: 1 }, &plane);
    let slabs = [
        slab(packed[2], 0, 1..4),
        slab(alone, 1, 2..4),
        slab(packed[0], 0, 1..4),
        slab(packed[2], 0, 1..4),
        slab(packed[2], 0, 0..9),
        slab(packed[1], 1, 0..1),
        slab(alone, 0, 3..3),
        slab(packed[1], 0, 5..5),
        slab(alone, 1, 2..4),
    ];
    let one_by_one: Vec<Array> =
        slabs.iter().map(|s| file.read_slab(&s.hash, s.axis, s.range.clone()).unwrap()).collect();
    assert_eq!(file.read_slabs(&slabs).unwrap(), one_by_one);
    assert!(file.read_slabs(&[]).unwrap().is_empty());
    for (bad, kind) in [
        (slab(packed[0], 0, 5..10), ErrorKind::Selection),
        (slab(packed[0], 2, 0..1), ErrorKind::Selection),
        (slab(ArrayHash::from_bytes([0; 32]), 0, 0..1), ErrorKind::NotFound),
    ] {
        assert_eq!(file.read_slabs(&[slabs[0].clone(), bad]).unwrap_err().kind(), kind);
    }
}
