//! Arrays that are variables of their own: chunks, names, removal, and what netCDF-C sees.

use super::*;

/// Ascending numbers.
fn numbers(shape: &[usize]) -> Array {
    let count: usize = shape.iter().product();
    Array::from_f64(shape.to_vec(), &(0..count).map(|k| k as f64).collect::<Vec<_>>()).unwrap()
}

#[test]
fn netcdf_c_sees_names_shapes_and_chunks() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.nc");
    let file = create(&path);
    let windows = |axis| Chunking::Windows { axis };
    let cases = [
        (Chunking::Whole, vec![5], vec![5]),
        (Chunking::Whole, vec![5, 3, 2], vec![5, 3, 2]),
        (windows(1), vec![2, 3], vec![2, 3]),
        (windows(1), vec![48, 3000], vec![48, 2730]),
        (windows(1), vec![24, 2000, 3], vec![24, 1820, 3]),
        (windows(1), vec![60000, 5], vec![60000, 2]),
        (windows(1), vec![131_072, 3], vec![131_072, 1]),
        (windows(2), vec![9, 24, 700], vec![9, 24, 606]),
        (windows(2), vec![2, 3, 7], vec![2, 3, 7]),
        (windows(2), vec![100, 48, 30], vec![100, 48, 27]),
        (Chunking::Whole, vec![0], vec![1]),
        (windows(1), vec![2, 0], vec![2, 1]),
    ];
    let arrays: Vec<Array> = cases.iter().map(|(_, shape, _)| numbers(shape)).collect();
    let items: Vec<_> = cases.iter().zip(&arrays).map(|((c, ..), a)| (*c, a.view().hash(), a.view())).collect();
    let staged = file.put_standalone(&items).unwrap();
    assert_eq!(staged, items.iter().map(|(_, hash, _)| *hash).collect::<Vec<_>>());
    file.close().unwrap();

    let nc = netcdf::open(&path).unwrap();
    let group = nc.group("time_series/single").unwrap().unwrap();
    assert_eq!(group.variables().count(), cases.len());
    for ((_, shape, chunk), array) in cases.iter().zip(&arrays) {
        let name = format!("arr_{}", array.view().hash().to_hex());
        let variable = group.variable(&name).unwrap();
        let dims: Vec<_> = variable.dimensions().iter().map(|d| (d.name(), d.len())).collect();
        let expected: Vec<_> = shape.iter().enumerate().map(|(k, &len)| (format!("{name}_d{k}"), len)).collect();
        assert_eq!(dims, expected);
        assert_eq!(variable.chunking().unwrap().as_ref(), Some(chunk), "{shape:?}");
        assert_eq!(variable.fill_value::<f64>().unwrap(), Some(9.969209968386869e36));
        assert_eq!(variable.attributes().count(), 0);
        let values: Vec<f64> = variable.get_values(..).unwrap();
        assert_eq!(values, array.to_f64().unwrap(), "{shape:?}");
    }
    drop(nc);
    let file = open(&path, true);
    for array in &arrays {
        assert_eq!(file.read(&array.view().hash()).unwrap(), *array);
    }
}

#[test]
fn a_window_reads_only_the_blocks_that_it_touches() {
    let file = memory(DEFAULT);
    let array = numbers(&[48, 3000]);
    let hash = put_standalone(&file, Chunking::Windows { axis: 1 }, &array);
    let slab = file.read_slab(&hash, 1, 2729..2731).unwrap();
    let expected: Vec<f64> = (0..48).flat_map(|s| [s * 3000 + 2729, s * 3000 + 2730]).map(f64::from).collect();
    assert_eq!((slab.shape(), slab.to_f64().unwrap()), (&[48, 2][..], expected));
    assert_eq!(file.read_slab(&hash, 1, 7..7).unwrap().shape(), [48, 0]);
    for (axis, range) in [(1, 2999..3001), (2, 0..1), (0, 40..49)] {
        assert_eq!(file.read_slab(&hash, axis, range).unwrap_err().kind(), ErrorKind::Selection);
    }
}

#[test]
fn the_first_layout_of_an_array_stays() {
    for standalone_first in [true, false] {
        let file = memory(DEFAULT);
        let pool = pool(DType::F64, &[3], 4);
        let array = array(&pool, 1);
        let hash = array.view().hash();
        let own = [(Chunking::Whole, hash, array.view())];
        if standalone_first {
            assert_eq!(file.put_standalone(&own).unwrap(), [hash]);
            assert!(!file.put_one(&pool, hash, array.view()).unwrap());
            assert!(file.put_batch(&[(pool.clone(), hash, array.view())]).unwrap().is_empty());
            assert!(file.datasets().is_empty());
        } else {
            assert!(file.put_one(&pool, hash, array.view()).unwrap());
            assert!(file.put_standalone(&own).unwrap().is_empty());
        }
        file.settle().unwrap();
        assert_eq!(file.locate(&hash).is_none(), standalone_first);
        assert_eq!(file.read(&hash).unwrap(), array);
        assert_eq!(file.read_slab(&hash, 1, 1..3).unwrap().bytes()[..16], array.bytes()[8..24]);
    }
}

#[test]
fn a_removed_variable_lingers_and_is_found_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.nc");
    let file = create(&path);
    let array = numbers(&[4, 2]);
    let hash = put_standalone(&file, Chunking::Whole, &array);
    file.remove_many(&[hash]).unwrap();
    assert_eq!(file.read(&hash).unwrap_err().kind(), ErrorKind::NotFound);
    file.flush().unwrap();
    let size = std::fs::metadata(&path).unwrap().len();
    assert_eq!(file.put_standalone(&[(Chunking::Whole, hash, array.view())]).unwrap(), [hash]);
    assert_eq!(file.read(&hash).unwrap(), array);
    file.remove_many(&[hash]).unwrap();
    // A column of the same bytes needs no dataset either.
    assert!(file.put_one(&pool(DType::F64, &[2], 4), hash, array.view()).unwrap());
    assert!(file.datasets().is_empty());
    file.remove_many(&[hash]).unwrap();
    file.close().unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().len(), size);
    let file = open(&path, false);
    assert_eq!(file.read(&hash).unwrap(), array);
    assert!(file.put_standalone(&[(Chunking::Whole, hash, array.view())]).unwrap().is_empty());
}
