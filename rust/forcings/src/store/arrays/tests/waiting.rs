//! Arrays that are added one by one.

use super::*;
use crate::chunks::Layout;

/// How often the first dataset was changed.
fn changes(file: &ArrayFile) -> u64 {
    file.index.read().datasets().next().map_or(0, |dataset| dataset.state.read().generation)
}

#[test]
fn they_rewrite_their_dataset_once() {
    let file = memory(DEFAULT);
    let series = pool(DType::F64, &[], 50);
    let hashes: Vec<ArrayHash> = (0..20).map(|seed| put(&file, &series, seed)).collect();
    assert_eq!(file.index.read().datasets().count(), 0);
    assert!(hashes.iter().all(|hash| file.contains(hash)));
    file.flush().unwrap();
    assert_eq!(changes(&file), 1);
    let expected: Vec<String> = (0..20).map(|column| format!("sts_f64_s_50_PT1H:{column}")).collect();
    assert_eq!(places(&file, &hashes), expected);
    // Gaps first, in the order in which they came.
    file.remove_many(&[hashes[3], hashes[7], hashes[8]]).unwrap();
    let before = changes(&file);
    let late: Vec<ArrayHash> = (50..55).map(|seed| put(&file, &series, seed)).collect();
    assert_eq!(file.read(&late[4]).unwrap(), array(&series, 54));
    assert_eq!(changes(&file), before + 1);
    assert_eq!(places(&file, &late), [3, 7, 8, 20, 21].map(|column| format!("sts_f64_s_50_PT1H:{column}")));
    for (hash, seed) in hashes.iter().zip(0..).chain(late.iter().zip(50..)) {
        if ![3, 7, 8].contains(&seed) {
            assert_eq!(file.read(hash).unwrap(), array(&series, seed));
        }
    }
}

#[test]
fn those_that_are_removed_again_cost_nothing() {
    let layer = Arc::new(MemoryFile::new());
    let file = ArrayFile::create(layer.clone(), DEFAULT, &[]).unwrap();
    let series = pool(DType::F64, &[], 50);
    let hash = put(&file, &series, 1);
    file.remove_many(&[hash]).unwrap();
    assert!(!file.contains(&hash));
    assert_eq!(file.read(&hash).unwrap_err().kind(), ErrorKind::NotFound);
    file.flush().unwrap();
    assert!(file.datasets().is_empty());
    assert_eq!(put(&file, &series, 1), hash);
    assert_eq!(file.read(&hash).unwrap(), array(&series, 1));
}

#[test]
fn many_bytes_do_not_wait() {
    let file = memory(Compression::None);
    // 8 MiB each, and a dataset for each.
    let large = pool(DType::F64, &[131_072], 8);
    let hashes: Vec<ArrayHash> = (0..16).map(|seed| put(&file, &large, seed)).collect();
    let written = file.index.read().hashes().count();
    assert!((1..16).contains(&written), "{written}");
    file.close().unwrap();
    assert!(hashes.iter().all(|hash| file.contains(hash)));
}

#[test]
fn a_damaged_dataset_keeps_no_new_array_from_being_stored() {
    let layer = Arc::new(MemoryFile::new());
    let file = ArrayFile::create(layer.clone(), DEFAULT, &[]).unwrap();
    let series = pool(DType::F64, &[], 50);
    let old = put(&file, &series, 0);
    let dataset = file.datasets().remove(0);
    let address = match &**dataset.state.read().layout().unwrap() {
        Layout::Chunked(table) => table.entries[0].offset,
        other => panic!("{other:?}"),
    };
    layer.write_at(address, &[0xff; 16]).unwrap();
    let new = [put(&file, &series, 1), put(&file, &series, 2)];
    file.flush().unwrap();
    assert_eq!(places(&file, &new), ["sts_f64_s_50_PT1H__1:0", "sts_f64_s_50_PT1H__1:1"]);
    assert_eq!(file.read(&new[1]).unwrap(), array(&series, 2));
    assert_eq!(file.read(&old).unwrap_err().kind(), ErrorKind::Format);
}
