//! Writes HDF5 files through the C library, with what netCDF-C never uses: new chunk indexes, user blocks, cycles.
//! Test binaries of this crate include this file too.

#![allow(unreachable_pub, dead_code, missing_docs, reason = "shared by test binaries, each of which uses a part")]

use hdf5_sys::h5d::*;
use hdf5_sys::h5f::*;
use hdf5_sys::h5g::*;
use hdf5_sys::h5i::hid_t;
use hdf5_sys::h5l::*;
use hdf5_sys::h5p::*;
use hdf5_sys::h5s::*;
use hdf5_sys::h5t::*;
use hdf5_sys::h5z::H5Z_SO_scale_type_t;
use hdf5_sys::{h5::H5open, LOCK};
use std::ffi::{c_int, c_uint, c_void, CString};
use std::path::Path;
use std::ptr::null;

pub const UNLIMITED: u64 = u64::MAX;

/// How a dataset of 32-bit integers is stored.
#[derive(Debug, Clone, Default)]
pub struct Spec {
    pub dims: Vec<u64>,
    /// Empty: `dims`.
    pub max: Vec<u64>,
    /// Empty: contiguous.
    pub chunk: Vec<u64>,
    pub deflate: bool,
    pub shuffle: bool,
    pub fletcher32: bool,
    pub early: bool,
    pub plain_edges: bool,
    pub compact: bool,
    pub scale_offset: bool,
    /// Elements in another file.
    pub external: bool,
    /// Elements of another dataset, `x` of the same file.
    pub virtual_: bool,
    pub fill: Option<i32>,
    pub big_endian: bool,
}

/// A chunk as the library reports it: offsets in elements, filter mask, address, stored bytes.
pub type Chunk = (Vec<u64>, u32, u64, u64);

/// An open file; the library stays locked as long as it lives.
pub struct Library {
    file: hid_t,
    _lock: parking_lot::ReentrantMutexGuard<'static, ()>,
}

fn good<T: Copy + PartialOrd + From<i8> + std::fmt::Debug>(value: T) -> T {
    assert!(value >= T::from(0), "an HDF5 call failed: {value:?}");
    value
}

fn c(text: &str) -> CString {
    CString::new(text).unwrap()
}

impl Library {
    pub fn create(path: &Path, latest: bool, user_block: u64) -> Self {
        let lock = LOCK.lock();
        // SAFETY: the lock is held; every pointer outlives its call; every id is checked.
        let file = unsafe {
            good(H5open());
            let (fapl, fcpl) = (good(H5Pcreate(*H5P_CLS_FILE_ACCESS)), good(H5Pcreate(*H5P_CLS_FILE_CREATE)));
            let low = if latest { H5F_libver_t::H5F_LIBVER_V200 } else { H5F_libver_t::H5F_LIBVER_EARLIEST };
            good(H5Pset_libver_bounds(fapl, low, H5F_libver_t::H5F_LIBVER_V200));
            good(H5Pset_userblock(fcpl, user_block));
            let file = good(H5Fcreate(c(path.to_str().unwrap()).as_ptr(), H5F_ACC_TRUNC, fcpl, fapl));
            good(H5Pclose(fapl));
            good(H5Pclose(fcpl));
            file
        };
        Library { file, _lock: lock }
    }

    pub fn dataset(&self, name: &str, spec: &Spec) {
        // SAFETY: as in `create`; lists have the rank that is passed with them.
        unsafe {
            let dcpl = good(H5Pcreate(*H5P_CLS_DATASET_CREATE));
            if !spec.chunk.is_empty() {
                good(H5Pset_chunk(dcpl, spec.chunk.len() as c_int, spec.chunk.as_ptr()));
            }
            if spec.plain_edges {
                good(H5Pset_chunk_opts(dcpl, 2));
            }
            if spec.shuffle {
                good(H5Pset_shuffle(dcpl));
            }
            if spec.deflate {
                good(H5Pset_deflate(dcpl, 3));
            }
            if spec.fletcher32 {
                good(H5Pset_fletcher32(dcpl));
            }
            if spec.early {
                good(H5Pset_alloc_time(dcpl, H5D_alloc_time_t::H5D_ALLOC_TIME_EARLY));
            }
            if spec.compact {
                good(H5Pset_layout(dcpl, H5D_layout_t::H5D_COMPACT));
            }
            if spec.scale_offset {
                good(H5Pset_scaleoffset(dcpl, H5Z_SO_scale_type_t::H5Z_SO_INT, 0));
            }
            if spec.external {
                good(H5Pset_external(dcpl, c"other.raw".as_ptr(), 0, u64::MAX));
            }
            if spec.virtual_ {
                let space = good(H5Screate_simple(spec.dims.len() as c_int, spec.dims.as_ptr(), null()));
                good(H5Pset_virtual(dcpl, space, c".".as_ptr(), c"x".as_ptr(), space));
                good(H5Sclose(space));
            }
            if let Some(fill) = spec.fill {
                good(H5Pset_fill_value(dcpl, *H5T_NATIVE_INT32, (&raw const fill).cast()));
            }
            let max = if spec.max.is_empty() { null() } else { spec.max.as_ptr() };
            let space = good(H5Screate_simple(spec.dims.len() as c_int, spec.dims.as_ptr(), max));
            let element = if spec.big_endian { *H5T_STD_I32BE } else { *H5T_STD_I32LE };
            let set = good(H5Dcreate2(self.file, c(name).as_ptr(), element, space, 0, dcpl, 0));
            good(H5Dclose(set));
            good(H5Sclose(space));
            good(H5Pclose(dcpl));
        }
    }

    /// Writes `values` to the block of elements from `start` on that has these `counts`.
    pub fn write(&self, name: &str, start: &[u64], counts: &[u64], values: &[i32]) {
        assert_eq!(counts.iter().product::<u64>(), values.len() as u64);
        // SAFETY: as in `create`; `values` has as many elements as the selection.
        unsafe {
            let set = good(H5Dopen2(self.file, c(name).as_ptr(), 0));
            let (space, memory) =
                (good(H5Dget_space(set)), good(H5Screate_simple(counts.len() as c_int, counts.as_ptr(), null())));
            let op = H5S_seloper_t::H5S_SELECT_SET;
            good(H5Sselect_hyperslab(space, op, start.as_ptr(), null(), counts.as_ptr(), null()));
            good(H5Dwrite(set, *H5T_NATIVE_INT32, memory, space, 0, values.as_ptr().cast()));
            good(H5Sclose(memory));
            good(H5Sclose(space));
            good(H5Dclose(set));
        }
    }

    pub fn resize(&self, name: &str, dims: &[u64]) {
        // SAFETY: as in `create`.
        unsafe {
            let set = good(H5Dopen2(self.file, c(name).as_ptr(), 0));
            good(H5Dset_extent(set, dims.as_ptr()));
            good(H5Dclose(set));
        }
    }

    /// All values of a dataset with `count` elements.
    pub fn read(&self, name: &str, count: usize) -> Vec<i32> {
        let mut values = vec![0; count];
        // SAFETY: as in `create`; the caller says how many elements there are.
        unsafe {
            let set = good(H5Dopen2(self.file, c(name).as_ptr(), 0));
            let space = good(H5Dget_space(set));
            assert_eq!(H5Sget_simple_extent_npoints(space), count as i64);
            good(H5Dread(set, *H5T_NATIVE_INT32, 0, 0, 0, values.as_mut_ptr().cast()));
            good(H5Sclose(space));
            good(H5Dclose(set));
        }
        values
    }

    /// The chunks of a dataset of this rank.
    pub fn chunks(&self, name: &str, rank: usize) -> Vec<Chunk> {
        struct Found(usize, Vec<Chunk>);
        unsafe extern "C" fn each(at: *const u64, mask: c_uint, address: u64, size: u64, found: *mut c_void) -> c_int {
            // SAFETY: `found` is the `Found` below, and `at` has as many offsets as its rank.
            unsafe {
                let found = &mut *found.cast::<Found>();
                let at = std::slice::from_raw_parts(at, found.0).to_vec();
                found.1.push((at, mask, address, size));
            }
            0
        }
        let mut found = Found(rank, Vec::new());
        // SAFETY: as in `create`; `found` lives until the call returns.
        unsafe {
            good(H5Fflush(self.file, H5F_scope_t::H5F_SCOPE_LOCAL));
            let set = good(H5Dopen2(self.file, c(name).as_ptr(), 0));
            good(H5Dchunk_iter(set, 0, Some(each), (&raw mut found).cast()));
            good(H5Dclose(set));
        }
        found.1
    }

    pub fn group(&self, name: &str) {
        // SAFETY: as in `create`.
        unsafe {
            good(H5Gclose(good(H5Gcreate2(self.file, c(name).as_ptr(), 0, 0, 0))));
        }
    }

    pub fn hard_link(&self, target: &str, name: &str) {
        // SAFETY: as in `create`.
        unsafe {
            good(H5Lcreate_hard(self.file, c(target).as_ptr(), self.file, c(name).as_ptr(), 0, 0));
        }
    }

    pub fn soft_link(&self, target: &str, name: &str) {
        // SAFETY: as in `create`.
        unsafe {
            good(H5Lcreate_soft(c(target).as_ptr(), self.file, c(name).as_ptr(), 0, 0));
        }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: the lock is held and the file is open.
        unsafe {
            H5Fclose(self.file);
        }
    }
}
