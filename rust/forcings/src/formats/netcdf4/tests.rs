//! HDF5 files that netCDF-C did not write.

use super::*;
use crate::formats::hdf5::tests::library::{Library, Spec, UNLIMITED};
use crate::formats::open_group;
use std::path::{Path, PathBuf};

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.h5");
    (dir, path)
}

fn spec(dims: &[u64], max: &[u64]) -> Spec {
    let chunk = if max.is_empty() { Vec::new() } else { vec![2; dims.len()] };
    Spec { dims: dims.to_vec(), max: max.to_vec(), chunk, ..Spec::default() }
}

type Named = Vec<(String, Vec<String>)>;

fn ours(path: &Path, group: Option<&str>) -> (Vec<(String, u64, bool)>, Named) {
    let file = open_group(path, group).unwrap();
    let dimensions = file.dimensions();
    let names = |v: &Variable| v.dimensions.iter().map(|d| dimensions[*d].name.clone()).collect();
    (
        dimensions.iter().map(|d| (d.name.clone(), d.len, d.unlimited)).collect(),
        file.variables().iter().map(|v| (v.name.clone(), names(v))).collect(),
    )
}

fn theirs(path: &Path, group: Option<&str>) -> (Vec<(String, u64, bool)>, Named) {
    let file = netcdf::open(path).unwrap();
    let group = match group {
        None => file.root().unwrap(),
        Some(group) => file.group(group).unwrap().unwrap(),
    };
    let names = |v: &netcdf::Variable| v.dimensions().iter().map(|d| d.name()).collect();
    let mut dimensions: Vec<_> = group.dimensions().map(|d| (d.name(), d.len() as u64, d.is_unlimited())).collect();
    // The oracle lists the invented dimensions of a group in no set order.
    let number = |name: &str| name.trim_start_matches("phony_dim_").parse::<u64>().unwrap_or(0);
    dimensions.sort_by_key(|(name, ..)| number(name));
    let variables = group.variables().map(|v| (v.name(), names(&v))).collect();
    (dimensions, variables)
}

#[test]
fn invented_dimensions_have_the_names_of_netcdf_c() {
    for latest in [false, true] {
        let (_dir, path) = scratch();
        let library = Library::create(&path, latest, 0);
        library.group("deep");
        library.group("deep/er");
        library.group("late");
        library.dataset("deep/er/p", &spec(&[9, 4], &[]));
        library.dataset("deep/q", &spec(&[4], &[]));
        library.dataset("late/r", &spec(&[4, 4, 2], &[]));
        library.dataset("a", &spec(&[3, 4], &[]));
        library.dataset("b", &spec(&[4, 4], &[]));
        library.dataset("c", &spec(&[5, 3], &[UNLIMITED, 3]));
        library.dataset("d", &spec(&[5, 3], &[UNLIMITED, UNLIMITED]));
        library.dataset("e", &spec(&[5, 6], &[]));
        library.dataset("scalar", &spec(&[], &[]));
        drop(library);
        for group in [None, Some("deep"), Some("deep/er"), Some("late")] {
            assert_eq!(ours(&path, group), theirs(&path, group), "{group:?}");
        }
    }
}

#[test]
fn a_cycle_of_groups_ends() {
    let (_dir, path) = scratch();
    let library = Library::create(&path, false, 0);
    library.group("a");
    library.group("a/b");
    library.hard_link("/", "/a/b/top");
    library.hard_link("/a", "/a/b/again");
    library.dataset("x", &spec(&[3], &[]));
    library.dataset("a/b/y", &spec(&[4], &[]));
    drop(library);
    assert_eq!(ours(&path, None).1, [("x".to_string(), vec!["phony_dim_1".to_string()])]);
    let inside = ours(&path, Some("a/b/again/b/top/a/b"));
    assert_eq!(inside.1[0].0, "y");
}

#[test]
fn links_to_nowhere_mark_one_variable() {
    let (_dir, path) = scratch();
    let library = Library::create(&path, false, 0);
    library.soft_link("/nowhere", "/dangling");
    library.dataset("x", &spec(&[3], &[]));
    drop(library);
    let file = open_group(&path, None).unwrap();
    let problems: Vec<_> = file.variables().iter().map(|v| (v.name.as_str(), v.problem.is_some())).collect();
    assert_eq!(problems, [("dangling", true), ("x", false)]);
    let error = file.layout(0).err().unwrap().to_string();
    assert!(error.contains("dangling") && error.contains("does not exist"), "{error}");
    assert!(file.layout(1).is_ok());
    assert!(file.layout(2).is_err());
}

#[test]
fn one_damaged_header_marks_one_variable() {
    let (_dir, path) = scratch();
    let library = Library::create(&path, false, 0);
    for name in ["bad", "good"] {
        library.dataset(name, &spec(&[3], &[]));
        library.write(name, &[0], &[3], &[1, 2, 3]);
    }
    drop(library);
    let address = {
        let source = Arc::new(crate::chunks::FileSource::open(&path).unwrap());
        Hdf5File::open(source).unwrap().dataset("bad").unwrap().address() as usize
    };
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[address] ^= 0xff;
    std::fs::write(&path, &bytes).unwrap();
    let file = open_group(&path, None).unwrap();
    let problems: Vec<_> = file.variables().iter().map(|v| (v.name.as_str(), v.problem.is_some())).collect();
    assert_eq!(problems, [("bad", true), ("good", false)]);
    assert!(matches!(*file.layout(1).unwrap(), Layout::Contiguous { .. }));
}
