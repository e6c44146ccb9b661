//! Twenty small files, of every structure that the readers know.

use crate::library::{Library, Spec, UNLIMITED};
use netcdf::{FileMut, Options};
use std::path::{Path, PathBuf};

/// Their names, in the order in which mutants take turns.
pub(crate) const NAMES: [&str; 20] = [
    "winds.nc",
    "classic.nc",
    "offset64.nc",
    "cdf5.nc",
    "strings.nc",
    "many.nc",
    "shadowed.nc",
    "plain.h5",
    "tree.h5",
    "filtered_tree.h5",
    "user_block.h5",
    "cycle.h5",
    "single.h5",
    "fixed.h5",
    "implicit.h5",
    "extensible.h5",
    "extensible_filtered.h5",
    "tree2.h5",
    "compact.h5",
    "packed.h5",
];

/// Writes them into a folder.
pub(crate) fn write(dir: &Path) -> Vec<(&'static str, PathBuf)> {
    let path = |name: &str| dir.join(name);
    winds(&path("winds.nc"));
    classic(&path("classic.nc"), Options::empty());
    classic(&path("offset64.nc"), Options::_64BIT_OFFSET);
    classic(&path("cdf5.nc"), Options::_64BIT_DATA);
    strings(&path("strings.nc"));
    many(&path("many.nc"));
    shadowed(&path("shadowed.nc"));

    let chunked = |dims: &[u64], max: &[u64], chunk: &[u64]| Spec {
        dims: dims.to_vec(),
        max: max.to_vec(),
        chunk: chunk.to_vec(),
        ..Spec::default()
    };
    let filtered = |spec: Spec| Spec { deflate: true, shuffle: true, fletcher32: true, ..spec };
    let plain = Spec { dims: vec![4, 5], fill: Some(7), big_endian: true, ..Spec::default() };
    let grid = chunked(&[12, 10], &[], &[3, 4]);
    let file = |name: &str, latest: bool, user_block: u64, specs: &[(&str, Spec)]| {
        let library = Library::create(&path(name), latest, user_block);
        for (name, spec) in specs {
            library.dataset(name, spec);
            let count = spec.dims.iter().product::<u64>() as i32;
            library.write(name, &vec![0; spec.dims.len()], &spec.dims, &(0..count).collect::<Vec<_>>());
        }
        library
    };
    file("plain.h5", false, 0, &[("x", plain.clone()), ("y", plain.clone())]);
    file("tree.h5", false, 0, &[("x", grid.clone()), ("y", chunked(&[9], &[UNLIMITED], &[2]))]);
    file("filtered_tree.h5", false, 0, &[("x", filtered(grid.clone()))]);
    file("user_block.h5", false, 512, &[("x", grid.clone())]);
    let library = file("cycle.h5", false, 0, &[("x", plain.clone())]);
    library.group("a");
    library.group("a/b");
    library.hard_link("/", "/a/b/top");
    library.hard_link("/a", "/a/b/again");
    library.hard_link("/x", "/a/x");
    library.soft_link("/a/x", "/y");
    drop(library);
    file(
        "single.h5",
        true,
        0,
        &[("x", chunked(&[4, 6], &[], &[4, 6])), ("y", filtered(chunked(&[4, 6], &[], &[4, 6])))],
    );
    file("fixed.h5", true, 0, &[("x", chunked(&[12, 10], &[20, 40], &[3, 4])), ("y", filtered(grid.clone()))]);
    file("implicit.h5", true, 0, &[("x", Spec { early: true, ..grid.clone() })]);
    file("extensible.h5", true, 0, &[("x", chunked(&[60, 2], &[UNLIMITED, 2], &[1, 2]))]);
    file("extensible_filtered.h5", true, 0, &[("x", filtered(chunked(&[30, 8], &[UNLIMITED, 8], &[1, 8])))]);
    file("tree2.h5", true, 0, &[("x", chunked(&[12, 10], &[UNLIMITED, UNLIMITED], &[3, 4]))]);
    file("compact.h5", true, 0, &[("x", Spec { compact: true, ..plain.clone() }), ("y", plain)]);
    let scaled = Spec { scale_offset: true, ..grid.clone() };
    file("packed.h5", true, 0, &[("x", scaled), ("y", Spec { plain_edges: true, ..filtered(grid) })]);
    NAMES.iter().map(|name| (*name, path(name))).collect()
}

fn winds(path: &Path) {
    let mut file = netcdf::create(path).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("lat", 3).unwrap();
    file.add_dimension("lon", 4).unwrap();
    time(&mut file);
    for (name, len) in [("lat", 3), ("lon", 4)] {
        let values: Vec<f32> = (0..len).map(|i| i as f32 * 2.5).collect();
        file.add_variable::<f32>(name, &[name]).unwrap().put_values(&values, ..).unwrap();
    }
    let mut u = file.add_variable::<i16>("u", &["time", "lat", "lon"]).unwrap();
    u.set_chunking(&[1, 3, 4]).unwrap();
    u.set_compression(4, true).unwrap();
    u.set_fill_value(i16::MIN).unwrap();
    u.put_attribute("scale_factor", 0.01).unwrap();
    u.put_attribute("add_offset", 0.5).unwrap();
    u.put_values(&(0..36).collect::<Vec<i16>>(), (..3, .., ..)).unwrap();
}

fn time(file: &mut FileMut) {
    let mut time = file.add_variable::<f64>("time", &["time"]).unwrap();
    time.put_attribute("units", "hours since 2000-01-01 00:00:00").unwrap();
    time.put_attribute("calendar", "noleap").unwrap();
    time.put_values(&[0.0, 6.0, 12.0], ..3).unwrap();
}

fn classic(path: &Path, options: Options) {
    let mut file = netcdf::create_with(path, options).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("x", 5).unwrap();
    file.add_dimension("len", 8).unwrap();
    file.add_attribute("title", "a title").unwrap();
    for name in ["u", "v"] {
        let mut v = file.add_variable::<i16>(name, &["time", "x"]).unwrap();
        v.put_attribute("scale_factor", 0.5).unwrap();
        v.put_attribute("valid_range", vec![0_i16, 99]).unwrap();
    }
    file.add_variable::<f64>("x", &["x"]).unwrap();
    file.add_variable_with_type("label", &["x", "len"], &netcdf::types::NcVariableType::Char).unwrap();
    let mut time = file.add_variable::<f64>("time", &["time"]).unwrap();
    time.put_attribute("units", "hours since 2000-01-01 00:00:00").unwrap();
    file.enddef().unwrap();
    file.variable_mut("time").unwrap().put_values(&[0.0, 6.0, 12.0], ..3).unwrap();
    for name in ["u", "v"] {
        file.variable_mut(name).unwrap().put_values(&[7_i16; 15], (..3, ..)).unwrap();
    }
}

fn strings(path: &Path) {
    let mut file = netcdf::create(path).unwrap();
    file.add_dimension("x", 3).unwrap();
    let mut strings = file.add_string_variable("s", &["x"]).unwrap();
    (0..3).for_each(|i| strings.put_string("some text", i).unwrap());
    strings.put_attribute("names", vec!["a", "bb"]).unwrap();
    for i in 0..10 {
        file.add_attribute(&format!("attribute{i}"), i).unwrap();
    }
    let mut group = file.add_group("g").unwrap();
    group.add_unlimited_dimension("t").unwrap();
    group.add_variable::<i32>("w", &["t", "x"]).unwrap().put_values(&[1, 2, 3], (..1, ..)).unwrap();
}

fn many(path: &Path) {
    let mut file = netcdf::create(path).unwrap();
    file.add_dimension("x", 2).unwrap();
    for i in 0..12 {
        file.add_variable::<i8>(&format!("v{i}"), &["x"]).unwrap().put_values(&[i, -i], ..).unwrap();
    }
}

/// A variable that has the name of a dimension and is not its coordinate is kept under another name.
fn shadowed(path: &Path) {
    let mut file = netcdf::create(path).unwrap();
    file.add_unlimited_dimension("time").unwrap();
    file.add_dimension("x", 4).unwrap();
    time(&mut file);
    file.add_variable::<f32>("x", &["time"]).unwrap().put_values(&[1.0_f32, 2.0, 3.0], ..3).unwrap();
    file.add_variable::<f32>("y", &["x"]).unwrap().put_values(&[0.5_f32; 4], ..).unwrap();
}
