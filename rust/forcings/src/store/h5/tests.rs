//! The conventions against netCDF-C, and errors that come up through HDF5 from a layer.

use super::*;
use crate::array::DType;
use crate::chunks::{ByteSource, EncodeFilter};
use crate::{Error, ErrorKind, Result};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

fn sample(layer: &Arc<dyn FileLayer>) -> Result<()> {
    let file = H5File::create(layer)?;
    file.set_text("title", "first")?;
    file.set_text("title", "a longer title")?;
    file.create_group("/outer")?;
    let group = file.create_group("/outer/inner")?;
    assert_eq!(file.next_dimension()?, 0);
    let dimensions = [group.create_scale("x_t", 2, 0)?, group.create_scale("x_c", 3, 1)?];
    assert_eq!(file.next_dimension()?, 2);
    let chunk = [1, 3];
    let fill = 7i32.to_le_bytes();
    let dimensions_of_x = &dimensions;
    let x = group.create_variable(&VariableSpec {
        name: "x",
        dtype: DType::I32,
        dimensions: dimensions_of_x,
        chunk: &chunk,
        fill: &fill,
        pipeline: &[],
    })?;
    let row: Vec<u8> = [10i32, 11, 12].iter().flat_map(|v| v.to_le_bytes()).collect();
    x.write_chunk(&[1, 0], &row)?;
    let names = group.create_strings("x_h", &dimensions[1])?;
    names.write_strings(1, &["ä".into(), String::new()])?;
    let empty = [group.create_scale("e_t", 0, 2)?];
    group.create_variable(&VariableSpec {
        name: "e",
        dtype: DType::F64,
        dimensions: &empty,
        chunk: &[1],
        fill: &1f64.to_le_bytes(),
        pipeline: &[EncodeFilter::Shuffle(8), EncodeFilter::Deflate(3)],
    })?;
    file.flush()?;
    file.close()
}

fn check_with_netcdf(path: &Path) {
    let file = netcdf::open(path).unwrap();
    assert_eq!(file.attribute("title").unwrap().value().unwrap(), netcdf::AttributeValue::Str("a longer title".into()));
    let group = file.group("outer/inner").unwrap().unwrap();
    let x = group.variable("x").unwrap();
    let names: Vec<String> = x.dimensions().iter().map(|d| d.name()).collect();
    assert_eq!(names, ["x_t", "x_c"]);
    assert_eq!(x.get_values::<i32, _>(..).unwrap(), [7, 7, 7, 10, 11, 12]);
    let h = group.variable("x_h").unwrap();
    assert_eq!(h.dimensions()[0].name(), "x_c");
    let strings: Vec<String> = (0..3).map(|i| h.get_string([i]).unwrap()).collect();
    assert_eq!(strings, ["", "ä", ""]);
    let e = group.variable("e").unwrap();
    assert_eq!(e.len(), 0);
    assert!(e.dimensions()[0].is_unlimited());
    let variables: Vec<String> = group.variables().map(|v| v.name()).collect();
    assert_eq!(variables, ["x", "x_h", "e"]);
    let dimensions: Vec<String> = group.dimensions().map(|d| d.name()).collect();
    assert_eq!(dimensions, ["x_t", "x_c", "e_t"]);
}

#[test]
fn netcdf_c_reads_what_we_write() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let layer: Arc<dyn FileLayer> = Arc::new(PlainFile::create(&path, false).unwrap());
    sample(&layer).unwrap();
    drop(layer);
    check_with_netcdf(&path);
}

/// Writes the bytes of a layer to a file.
fn save(layer: &Arc<dyn FileLayer>, path: &Path) {
    let mut bytes = vec![0; layer.len() as usize];
    layer.read_at(0, &mut bytes).unwrap();
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_file_in_memory_is_a_file_and_opens_again() {
    let dir = tempfile::tempdir().unwrap();
    let memory: Arc<dyn FileLayer> = Arc::new(MemoryFile::new());
    sample(&memory).unwrap();
    let path = dir.path().join("a.nc");
    save(&memory, &path);
    check_with_netcdf(&path);

    let file = H5File::open(&memory).unwrap();
    assert_eq!(file.next_dimension().unwrap(), 3);
    let group = file.group("/outer/inner").unwrap();
    group.variable("x_h").unwrap().write_strings(0, &["first".into()]).unwrap();
    file.close().unwrap();
    let path = dir.path().join("b.nc");
    save(&memory, &path);
    let file = netcdf::open(&path).unwrap();
    let group = file.group("outer/inner").unwrap().unwrap();
    let h = group.variable("x_h").unwrap();
    assert_eq!(h.get_string([0]).unwrap(), "first");
    assert_eq!(h.get_string([1]).unwrap(), "ä");
}

/// A file on a disk that is full after a number of writes.
pub(crate) struct Full {
    pub(crate) inner: MemoryFile,
    pub(crate) left: AtomicUsize,
}

impl ByteSource for Full {
    fn len(&self) -> u64 {
        self.inner.len()
    }
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.inner.read_at(offset, buffer)
    }
    fn path(&self) -> &Path {
        Path::new("full.nc")
    }
}

impl FileLayer for Full {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        left.map_err(|_| Error::io(self.path(), std::io::ErrorKind::StorageFull.into()))?;
        self.inner.write_at(offset, bytes)
    }
    fn set_len(&self, len: u64) -> Result<()> {
        self.inner.set_len(len)
    }
    fn sync(&self) -> Result<()> {
        Ok(())
    }
    fn writable(&self) -> bool {
        true
    }
    fn release(&self) {}
    fn into_source(self: Arc<Self>) -> Arc<dyn ByteSource> {
        self
    }
}

#[test]
fn an_error_of_the_layer_comes_up_whole() {
    let mut failures = 0;
    for left in 0.. {
        let layer: Arc<dyn FileLayer> = Arc::new(Full { inner: MemoryFile::new(), left: left.into() });
        match sample(&layer) {
            Ok(()) => break,
            Err(error) => {
                failures += 1;
                assert_eq!(error.kind(), ErrorKind::Io, "after {left} writes: {error}");
                assert!(error.to_string().starts_with("full.nc: "), "{error}");
            }
        }
    }
    assert!(failures > 5, "{failures}");
}

#[test]
fn what_is_no_hdf5_is_an_error_with_a_reason() {
    let memory = MemoryFile::new();
    memory.write_at(0, b"this is no HDF5 file at all, by any means").unwrap();
    let layer: Arc<dyn FileLayer> = Arc::new(memory);
    let error = H5File::open(&layer).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Hdf5);
    assert!(error.to_string().contains(":memory:") && error.to_string().len() > 40, "{error}");
}
