//! The array file against the format, a model, netCDF-C, and threads that read while one writes.

use super::*;
use crate::array::{Array, ArrayView, DType};
use crate::chunks::ByteSource;
use crate::store::h5::FileLayer;
use crate::store::h5::{MemoryFile, PlainFile};
use crate::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

mod concurrent;
mod faults;
mod format;
mod model;
mod rewrite;
mod slabs;
mod standalone;
mod waiting;

const DEFAULT: Compression = Compression::Deflate { level: 3, shuffle: true };

impl ArrayFile {
    /// The column that holds an array; `None` if it is not stored, or is a variable of its own.
    pub(crate) fn locate(&self, hash: &ArrayHash) -> Option<Column> {
        self.settle().unwrap();
        match self.index.read().place(hash) {
            Some(Place::Packed(column)) => Some(column.clone()),
            _ => None,
        }
    }

    /// Some rows (positions on the first axis) of one array.
    fn read_rows(&self, hash: &ArrayHash, rows: std::ops::Range<usize>) -> Result<Array> {
        self.read_slab(hash, 0, rows)
    }

    /// One whole array.
    fn read(&self, hash: &ArrayHash) -> crate::Result<Array> {
        Ok(self.read_many(&[*hash])?.remove(0))
    }

    /// The hash of every stored array, in no order.
    fn hashes(&self) -> Vec<ArrayHash> {
        self.settle().unwrap();
        self.index.read().hashes().copied().collect()
    }

    /// Every packed dataset, in no order.
    pub(crate) fn datasets(&self) -> Vec<Arc<PackedDataset>> {
        self.settle().unwrap();
        self.index.read().datasets().cloned().collect()
    }
}

impl Standalone {
    /// An array as another library may lay it out.
    pub(crate) fn laid_out(name: &str, dtype: DType, shape: &[u64], layout: crate::chunks::Layout) -> Self {
        Standalone { name: name.into(), dtype, shape: shape.to_vec(), layout, fill: None }
    }
}

fn memory(compression: Compression) -> ArrayFile {
    ArrayFile::create(Arc::new(MemoryFile::new()), compression, &[]).unwrap()
}

fn create(path: &Path) -> ArrayFile {
    ArrayFile::create(Arc::new(PlainFile::create(path, false).unwrap()), DEFAULT, &[]).unwrap()
}

fn open(path: &Path, read_only: bool) -> ArrayFile {
    ArrayFile::open(Arc::new(PlainFile::open(path, read_only).unwrap())).unwrap()
}

fn pool(dtype: DType, element_shape: &[usize], length: usize) -> PoolKey {
    PoolKey { dtype, element_shape: element_shape.to_vec(), length, resolution: "PT1H".parse().unwrap() }
}

/// Values that differ from one `seed` to the next in every element, and from element to element.
fn array(pool: &PoolKey, seed: usize) -> Array {
    let shape = pool.array_shape();
    let count: usize = shape.iter().product();
    let word = |i: usize| (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(seed as u64 * 0x1_0001);
    let bytes = (0..count).flat_map(|i| match pool.dtype {
        DType::Bool => vec![((word(i) >> 20) as u8 ^ seed as u8) & 1],
        DType::F64 => ((word(i) % 100_000) as f64 + seed as f64 / 8.0).to_le_bytes().to_vec(),
        dtype => word(i).to_le_bytes()[..dtype.width()].to_vec(),
    });
    Array::new(pool.dtype, shape.clone(), bytes.collect()).unwrap()
}

fn put(file: &ArrayFile, pool: &PoolKey, seed: usize) -> ArrayHash {
    let array = array(pool, seed);
    let hash = array.view().hash();
    file.put_one(pool, hash, array.view()).unwrap();
    hash
}

fn put_batch(file: &ArrayFile, pool: &PoolKey, seeds: std::ops::Range<usize>) -> Vec<ArrayHash> {
    let arrays: Vec<Array> = seeds.map(|seed| array(pool, seed)).collect();
    let items: Vec<(PoolKey, ArrayHash, ArrayView<'_>)> =
        arrays.iter().map(|a| (pool.clone(), a.view().hash(), a.view())).collect();
    file.put_batch(&items).unwrap()
}

fn put_standalone(file: &ArrayFile, chunking: Chunking, array: &Array) -> ArrayHash {
    let hash = array.view().hash();
    file.put_standalone(&[(chunking, hash, array.view())]).unwrap();
    hash
}

/// The places of some arrays, as `dataset:column`.
fn places(file: &ArrayFile, hashes: &[ArrayHash]) -> Vec<String> {
    let place = |hash| file.locate(hash).map_or("none".into(), |c| format!("{}:{}", c.dataset.name, c.column));
    hashes.iter().map(place).collect()
}

/// A file as other software may lay it out: two arrays of six doubles in a contiguous dataset, the others in one whose chunks
/// hold some of the columns.
fn foreign_file(path: &Path, stored: &[Array]) -> netcdf::FileMut {
    let mut nc = netcdf::create(path).unwrap();
    nc.add_attribute("data_format_version", "0.11.0").unwrap();
    let mut group = nc.add_group("time_series/single").unwrap();
    group.add_dimension("t", 6).unwrap();
    group.add_dimension("c", 3).unwrap();
    for (name, arrays) in [("sts_f64_s_6_PT1H", &stored[..2]), ("sts_f64_s_6_PT1H__1", &stored[2..])] {
        let mut data = group.add_variable::<f64>(name, &["t", "c"]).unwrap();
        if name.ends_with("__1") {
            data.set_chunking(&[4, 2]).unwrap();
        }
        let mut slots = vec![String::new(); 3];
        for (column, array) in arrays.iter().enumerate() {
            data.put_values(&array.to_f64().unwrap(), (.., column)).unwrap();
            slots[column] = array.view().hash().to_hex();
        }
        let mut names = group.add_string_variable(&format!("{name}_h"), &["c"]).unwrap();
        for (i, text) in slots.iter().enumerate() {
            names.put_string(text, [i]).unwrap();
        }
    }
    nc
}

/// A file that counts the bytes that are read, and knows whether all its bytes are on the disk.
struct Watched {
    inner: MemoryFile,
    read: AtomicU64,
    unsynced: AtomicBool,
}

impl Watched {
    fn new() -> Arc<Self> {
        Arc::new(Watched { inner: MemoryFile::new(), read: AtomicU64::new(0), unsynced: AtomicBool::new(false) })
    }
}

impl ByteSource for Watched {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> crate::Result<()> {
        self.read.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.inner.read_at(offset, buffer)
    }

    fn path(&self) -> &Path {
        self.inner.path()
    }
}

impl FileLayer for Watched {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> crate::Result<()> {
        self.unsynced.store(true, Ordering::SeqCst);
        self.inner.write_at(offset, bytes)
    }

    fn set_len(&self, len: u64) -> crate::Result<()> {
        self.unsynced.store(true, Ordering::SeqCst);
        self.inner.set_len(len)
    }

    fn sync(&self) -> crate::Result<()> {
        self.unsynced.store(false, Ordering::SeqCst);
        Ok(())
    }

    fn writable(&self) -> bool {
        true
    }

    fn release(&self) {
        self.inner.release();
    }

    fn into_source(self: Arc<Self>) -> Arc<dyn ByteSource> {
        self
    }
}
