pub(in crate::formats) mod library;

use super::*;
use crate::chunks::{ChunkTable, FileSource, Filter, Layout};
use crate::formats::{AttributeValue, ByteOrder, ElementType, NumericType};
use crate::ErrorKind;
use library::{Library, Spec, UNLIMITED};
use std::path::{Path, PathBuf};

fn open(path: &Path) -> Hdf5File {
    Hdf5File::open(Arc::new(FileSource::open(path).unwrap())).unwrap()
}

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.h5");
    (dir, path)
}

fn table(dataset: &Hdf5Dataset) -> ChunkTable {
    match dataset.layout().unwrap() {
        Layout::Chunked(table) => table,
        other => panic!("{other:?}"),
    }
}

/// The chunks that a table holds, as the library lists them, by offset.
fn listed(table: &ChunkTable) -> Vec<library::Chunk> {
    let mut found = Vec::new();
    for (slot, entry) in table.entries.iter().enumerate().filter(|(_, e)| !e.is_absent()) {
        let mut rest = slot as u64;
        let mut offsets = vec![0; table.grid.len()];
        for i in (0..offsets.len()).rev() {
            offsets[i] = rest % table.grid[i] * table.chunk_shape[i];
            rest /= table.grid[i];
        }
        found.push((offsets, entry.filter_mask, entry.offset, entry.size.into()));
    }
    found
}

/// The values of a dataset, through its layout.
fn values(dataset: &Hdf5Dataset) -> Vec<i32> {
    let raw = raw::read(dataset, dataset.shape()).unwrap();
    raw.chunks_exact(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect()
}

fn ramp(count: u64) -> Vec<i32> {
    (0..count as i32).map(|i| i * 7 - 3).collect()
}

/// Writes one dataset, and compares its table with the library's, moved by the user block.
fn check(latest: bool, user_block: u64, spec: &Spec, write: impl Fn(&Library), compare_tables: bool) {
    let (_dir, path) = scratch();
    let library = Library::create(&path, latest, user_block);
    library.dataset("x", spec);
    write(&library);
    let mut expected = library.chunks("x", spec.dims.len());
    expected.sort();
    let file = open(&path);
    let dataset = file.dataset("/x").unwrap();
    let count = dataset.shape().iter().product::<u64>() as usize;
    let expected_values = library.read("x", count);
    drop(library);

    let found = listed(&table(&dataset));
    if compare_tables {
        let edges = |(offsets, mask, address, size): library::Chunk| {
            let edge = offsets.iter().zip(&spec.chunk).zip(dataset.shape()).any(|((o, c), n)| o + c > *n);
            (offsets, if spec.plain_edges && edge { u32::MAX } else { mask }, address, size)
        };
        let expected: Vec<_> = expected.into_iter().map(edges).collect();
        assert_eq!(found, expected, "{spec:?}");
    }
    assert_eq!(values(&dataset), expected_values, "{spec:?}");
}

#[test]
fn every_chunk_index_gives_the_table_of_the_library() {
    let spec = |dims: &[u64], max: &[u64], chunk: &[u64]| Spec {
        dims: dims.to_vec(),
        max: max.to_vec(),
        chunk: chunk.to_vec(),
        fill: Some(-5),
        ..Spec::default()
    };
    let all = [
        spec(&[4, 6], &[], &[4, 6]),
        spec(&[70, 30], &[], &[3, 7]),
        spec(&[5000], &[], &[2]),
        spec(&[300, 4], &[UNLIMITED, 4], &[1, 4]),
        spec(&[900, 5], &[UNLIMITED, 5], &[2, 2]),
        spec(&[40, 30], &[UNLIMITED, UNLIMITED], &[3, 4]),
        spec(&[2, 3, 5], &[UNLIMITED, 3, 5], &[1, 2, 3]),
    ];
    for latest in [false, true] {
        for user_block in [0, 512] {
            for base in &all {
                for (deflate, early, fletcher32, plain_edges) in [
                    (false, false, false, false),
                    (false, true, false, false),
                    (true, false, false, false),
                    (true, false, true, false),
                    (true, false, false, latest),
                ] {
                    let spec = Spec { deflate, shuffle: deflate, early, fletcher32, plain_edges, ..base.clone() };
                    let count = spec.dims.iter().product();
                    let zero = vec![0; spec.dims.len()];
                    check(latest, user_block, &spec, |l| l.write("x", &zero, &spec.dims, &ramp(count)), true);
                }
            }
        }
    }
}

#[test]
fn an_unlimited_dimension_that_is_not_the_first_keeps_its_chunks_in_place() {
    // The library's own listing is wrong here, so only values are compared.
    let spec = Spec { dims: vec![5, 90], max: vec![5, UNLIMITED], chunk: vec![2, 3], ..Spec::default() };
    check(true, 0, &spec, |l| l.write("x", &[0, 0], &[5, 90], &ramp(450)), false);
}

#[test]
fn fixed_indexes_are_numbered_by_the_largest_extent() {
    for early in [false, true] {
        let spec = Spec { dims: vec![6, 8], max: vec![12, 20], chunk: vec![2, 3], early, ..Spec::default() };
        check(true, 0, &spec, |l| l.write("x", &[0, 0], &[6, 8], &ramp(48)), false);
    }
}

#[test]
fn sparse_shrunk_and_regrown_datasets_read_as_the_library_reads_them() {
    for latest in [false, true] {
        let spec =
            Spec { dims: vec![20, 9], max: vec![UNLIMITED, 9], chunk: vec![4, 2], fill: Some(99), ..Spec::default() };
        check(latest, 0, &spec, |_| {}, true);
        check(latest, 0, &spec, |l| l.write("x", &[9, 3], &[2, 2], &[1, 2, 3, 4]), true);
        let shrink = |l: &Library| {
            l.write("x", &[0, 0], &[20, 9], &ramp(180));
            l.resize("x", &[7, 9]);
            l.resize("x", &[15, 9]);
        };
        check(latest, 0, &spec, shrink, true);
    }
}

#[test]
fn contiguous_compact_and_unwritten_datasets() {
    let (_dir, path) = scratch();
    let library = Library::create(&path, false, 1024);
    let dims = vec![3, 2];
    library.dataset("contiguous", &Spec { dims: dims.clone(), big_endian: true, ..Spec::default() });
    library.dataset("compact", &Spec { dims: dims.clone(), compact: true, ..Spec::default() });
    library.dataset("unwritten", &Spec { dims: dims.clone(), fill: Some(12), ..Spec::default() });
    for name in ["contiguous", "compact"] {
        library.write(name, &[0, 0], &dims, &ramp(6));
    }
    drop(library);

    let file = open(&path);
    assert_eq!(file.member_names("/").unwrap(), ["compact", "contiguous", "unwritten"]);
    let contiguous = file.dataset("contiguous").unwrap();
    assert_eq!(contiguous.element(), ElementType::Number(NumericType::I32, ByteOrder::Big));
    assert_eq!(contiguous.element_width(), 4);
    let Layout::Contiguous { offset } = contiguous.layout().unwrap() else { panic!() };
    let mut raw = vec![0; 24];
    file.source().read_at(offset, &mut raw).unwrap();
    assert_eq!(raw, ramp(6).iter().flat_map(|v| v.to_be_bytes()).collect::<Vec<_>>());
    let compact = file.dataset("/compact").unwrap();
    assert_eq!(compact.layout().unwrap(), Layout::Compact(ramp(6).iter().flat_map(|v| v.to_le_bytes()).collect()));
    let unwritten = file.dataset_at(file.dataset("unwritten").unwrap().address()).unwrap();
    assert_eq!(unwritten.layout().unwrap(), Layout::Unallocated);
    assert_eq!(unwritten.fill(), Some(12_i32.to_le_bytes().as_slice()));
}

#[test]
fn what_cannot_be_read_by_offset_is_refused_by_name() {
    let (_dir, path) = scratch();
    let library = Library::create(&path, true, 0);
    let plain = Spec { dims: vec![6], ..Spec::default() };
    library.dataset("x", &plain);
    library.dataset("external", &Spec { external: true, ..plain.clone() });
    library.dataset("virtual", &Spec { virtual_: true, ..plain.clone() });
    library.dataset("scaled", &Spec { chunk: vec![4], scale_offset: true, shuffle: true, ..plain.clone() });
    drop(library);
    let file = open(&path);
    for (name, reason) in [("external", "other files"), ("virtual", "virtual")] {
        let error = file.dataset(name).unwrap().layout().err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains(name) && error.to_string().contains(reason), "{error}");
    }
    let scaled = table(&file.dataset("scaled").unwrap());
    assert!(matches!(scaled.filters[..], [Filter::Shuffle(4), Filter::ScaleOffset(_)]));
}

#[test]
fn links_that_run_in_circles_or_nowhere_are_errors() {
    let (_dir, path) = scratch();
    let library = Library::create(&path, false, 0);
    library.group("a");
    library.hard_link("/a", "/a/again");
    library.soft_link("/loop", "/loop");
    library.soft_link("/nowhere", "/dangling");
    library.dataset("a/x", &Spec { dims: vec![2], ..Spec::default() });
    library.soft_link("x", "/a/y");
    drop(library);

    let file = open(&path);
    assert_eq!(file.dataset("/a/again/again/again/x").unwrap().shape(), [2]);
    assert_eq!(file.dataset("/a/y").unwrap().shape(), [2]);
    let kind = |path: &str| file.dataset(path).err().unwrap().kind();
    assert_eq!(kind("/loop"), ErrorKind::Format);
    assert_eq!(kind("/dangling"), ErrorKind::NotFound);
    assert_eq!(kind("/none"), ErrorKind::NotFound);
    assert_eq!(kind("/a"), ErrorKind::NotFound);
    assert_eq!(file.member_names("/a/x").err().unwrap().kind(), ErrorKind::NotFound);
}

#[test]
fn a_group_of_many_variables_with_strings_and_attributes() {
    let (_dir, path) = scratch();
    let hashes: Vec<String> = (0..3000).map(|i| format!("{i:064x}")).collect();
    {
        let mut file = netcdf::create(&path).unwrap();
        file.add_attribute("version", "0.11.0").unwrap();
        let mut group = file.add_group("time_series").unwrap();
        let mut group = group.add_group("single").unwrap();
        group.add_dimension("t", 10).unwrap();
        group.add_dimension("c", 3000).unwrap();
        for i in (0..200).rev() {
            let mut variable = group.add_variable::<f64>(&format!("v{i}"), &["t", "c"]).unwrap();
            variable.set_chunking(&[1, 3000]).unwrap();
            variable.set_compression(3, true).unwrap();
            variable.put_attribute("n", vec![i, i + 1]).unwrap();
        }
        let mut strings = group.add_string_variable("v0_h", &["c"]).unwrap();
        for (i, hash) in hashes.iter().enumerate().filter(|(i, _)| i % 7 != 0) {
            strings.put_string(hash, i).unwrap();
        }
        group.variable_mut("v3").unwrap().put_values(&[1.5; 3000], ([2, 0], [1, 3000])).unwrap();
    }
    let file = open(&path);
    let names = file.member_names("/time_series/single").unwrap();
    let expected: Vec<String> = (0..200).rev().map(|i| format!("v{i}")).collect();
    assert_eq!(names[2..202], expected, "creation order");
    for (i, name) in expected.iter().enumerate() {
        let dataset = file.dataset(&format!("/time_series/single/{name}")).unwrap();
        assert_eq!((dataset.shape(), dataset.max_shape()), (&[10, 3000][..], &[Some(10), Some(3000)][..]));
        let attributes = dataset.attributes().unwrap();
        let i = 199 - i as i64;
        let n = attributes.iter().find(|a| a.name == "n").unwrap();
        assert_eq!((&n.value, n.numeric), (&AttributeValue::Integers(vec![i, i + 1]), Some(NumericType::I32)));
        let table = table(&dataset);
        assert_eq!(table.filters, [Filter::Shuffle(8), Filter::Deflate]);
        let written: Vec<_> = (0..10).filter(|r| !table.entries[*r].is_absent()).collect();
        assert_eq!(written, if i == 3 { vec![2] } else { vec![] });
    }
    let strings = file.dataset("/time_series/single/v0_h").unwrap().strings().unwrap();
    for (i, hash) in hashes.iter().enumerate() {
        assert_eq!(strings[i], if i % 7 == 0 { b"".as_slice() } else { hash.as_bytes() });
    }
    let version = &file.root_attributes().unwrap()[0];
    assert_eq!((version.name.as_str(), &version.value), ("version", &AttributeValue::Text(b"0.11.0".to_vec())));
    assert_eq!(file.dataset("/time_series/single/v1").unwrap().strings().err().unwrap().kind(), ErrorKind::Unsupported);
}

#[test]
fn sources_that_are_no_hdf5_file_are_format_errors() {
    let (_dir, path) = scratch();
    std::fs::write(&path, vec![7; 5000]).unwrap();
    let source = |path: &Path| Arc::new(FileSource::open(path).unwrap());
    assert_eq!(Hdf5File::open(source(&path)).err().unwrap().kind(), ErrorKind::Format);
    std::fs::write(&path, b"").unwrap();
    assert_eq!(Hdf5File::open(source(&path)).err().unwrap().kind(), ErrorKind::Format);
    let library = Library::create(&path, false, 0);
    library.dataset("x", &Spec { dims: vec![1000], ..Spec::default() });
    library.write("x", &[0], &[1000], &ramp(1000));
    drop(library);
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    let error = Hdf5File::open(source(&path)).err().unwrap();
    assert!(error.to_string().contains("truncated"), "{error}");
}
