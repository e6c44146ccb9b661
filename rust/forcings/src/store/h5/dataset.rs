//! Dimensions and variables by the conventions of NetCDF-4: hidden dimension scales, chunked numbers written chunk by
//! chunk, and contiguous strings.

use super::attribute;
use super::file::{Group, DIMENSION_ID};
use super::library::{c_name, check, check_id, enter, properties, Id};
use crate::array::DType;
use crate::chunks::EncodeFilter;
use crate::Result;
use hdf5_sys::h5::{haddr_t, herr_t, hsize_t};
use hdf5_sys::h5d::{H5Dcreate2, H5Dopen2, H5Dwrite, H5Dwrite_chunk};
use hdf5_sys::h5i::hid_t;
use hdf5_sys::h5l::H5Ldelete;
use hdf5_sys::h5o::{H5O_info2_t, H5O_token_t, H5Oget_info3, H5O_INFO_BASIC};
use hdf5_sys::h5p::{
    H5Pset_attr_creation_order, H5Pset_chunk, H5Pset_deflate, H5Pset_fill_value, H5Pset_obj_track_times,
    H5Pset_shuffle, H5P_CLS_DATASET_CREATE, H5P_CRT_ORDER_INDEXED, H5P_CRT_ORDER_TRACKED, H5P_DEFAULT,
};
use hdf5_sys::h5s::{H5Screate_simple, H5Sselect_hyperslab, H5S_SELECT_SET, H5S_UNLIMITED};
use hdf5_sys::h5t::{
    H5T_cset_t, H5Tcopy, H5Tset_cset, H5Tset_size, H5T_C_S1, H5T_IEEE_F32BE, H5T_IEEE_F32LE, H5T_IEEE_F64LE,
    H5T_STD_I32LE, H5T_STD_I64LE, H5T_STD_U64LE, H5T_STD_U8LE, H5T_VARIABLE,
};
use std::ffi::{c_char, c_uint, CString};
use std::mem::MaybeUninit;
use std::ptr::null;

unsafe extern "C" {
    fn H5DSset_scale(dataset: hid_t, name: *const c_char) -> herr_t;
    fn H5DSattach_scale(dataset: hid_t, scale: hid_t, axis: c_uint) -> herr_t;
    fn H5VLnative_token_to_addr(object: hid_t, token: H5O_token_t, address: *mut haddr_t) -> herr_t;
}

/// A named dimension.
#[derive(Debug)]
pub(crate) struct Scale {
    id: Id,
    number: i32,
    len: u64,
}

/// What a new variable of numbers is like.
pub(crate) struct VariableSpec<'a> {
    /// Its name in the group.
    pub(crate) name: &'a str,
    /// The type of its elements.
    pub(crate) dtype: DType,
    /// Its dimensions, slowest first.
    pub(crate) dimensions: &'a [Scale],
    /// The extents of one chunk, none of them zero.
    pub(crate) chunk: &'a [u64],
    /// One element as found in cells that were never written.
    pub(crate) fill: &'a [u8],
    /// The filters that chunks are encoded by, in this order.
    pub(crate) pipeline: &'a [EncodeFilter],
}

/// An open variable.
#[derive(Debug)]
pub(crate) struct Variable {
    id: Id,
    name: String,
}

impl Group {
    /// Makes a dimension. One of length zero is unlimited, as netCDF has it.
    ///
    /// # Errors
    /// The layer's, or `Hdf5`.
    pub(crate) fn create_scale(&self, name: &str, len: u64, number: i32) -> Result<Scale> {
        let _library = enter()?;
        let what = || format!("making the dimension {name}");
        let c_text = c_name(name)?;
        // The text by which netCDF knows a dimension without a variable of its own.
        let label = c_name(&format!("This is a netCDF dimension but not a netCDF variable.{len:>10}"))?;
        // SAFETY: the lock is held; identifiers are live, names are C strings, one extent is passed for rank 1.
        let id = unsafe {
            let creation = creation_list(if len == 0 { &[1] } else { &[] })?;
            let space = space(&[len])?;
            let kind = *H5T_IEEE_F32BE;
            let (list, default) = (creation.get(), H5P_DEFAULT);
            let id = H5Dcreate2(self.0.get(), c_text.as_ptr(), kind, space.get(), default, list, default);
            let id = check_id(id, what)?;
            check(H5DSset_scale(id.get(), label.as_ptr()), what)?;
            id
        };
        attribute::set_int(&id, DIMENSION_ID, number)?;
        Ok(Scale { id, number, len })
    }

    /// Makes a chunked variable of numbers. Its chunks stay unwritten.
    ///
    /// # Errors
    /// The layer's, or `Hdf5`.
    pub(crate) fn create_variable(&self, spec: &VariableSpec<'_>) -> Result<Variable> {
        let _library = enter()?;
        let what = || format!("making the variable {}", spec.name);
        let extents: Vec<u64> = spec.dimensions.iter().map(|d| d.len).collect();
        let kind = element_type(spec.dtype);
        assert_eq!(spec.fill.len(), spec.dtype.width(), "the fill is one element");
        let creation = creation_list(spec.chunk)?;
        // SAFETY: the lock is held; the list is live and the fill is one element of the type.
        unsafe {
            check(H5Pset_fill_value(creation.get(), kind, spec.fill.as_ptr().cast()), what)?;
            for filter in spec.pipeline {
                let status = match filter {
                    EncodeFilter::Shuffle(_) => H5Pset_shuffle(creation.get()),
                    EncodeFilter::Deflate(level) => H5Pset_deflate(creation.get(), (*level).into()),
                };
                check(status, what)?;
            }
        }
        self.create(spec.name, kind, &extents, &creation, spec.dimensions.iter())
    }

    /// Makes a contiguous variable of UTF-8 strings over one dimension, every one of them empty.
    ///
    /// # Errors
    /// The layer's, or `Hdf5`.
    pub(crate) fn create_strings(&self, name: &str, dimension: &Scale) -> Result<Variable> {
        let _library = enter()?;
        let kind = string_type()?;
        let empty = c"".as_ptr();
        let creation = creation_list(&[])?;
        // SAFETY: the lock is held; a variable-length string is passed as a pointer to a C string.
        let status = unsafe { H5Pset_fill_value(creation.get(), kind.get(), (&raw const empty).cast()) };
        check(status, || format!("making the variable {name}"))?;
        let variable = self.create(name, kind.get(), &[dimension.len], &creation, std::iter::once(dimension))?;
        // A slot that holds a null instead of an empty string crashes some readers.
        let count = usize::try_from(dimension.len).expect("columns are counted in usize");
        variable.write_strings(0, &vec![String::new(); count])?;
        Ok(variable)
    }

    /// Opens the variable `name`.
    ///
    /// # Errors
    /// The layer's, or `Hdf5`.
    pub(crate) fn variable(&self, name: &str) -> Result<Variable> {
        let _library = enter()?;
        let c_text = c_name(name)?;
        // SAFETY: the lock is held; the group is open and the name is a C string.
        let id = unsafe { H5Dopen2(self.0.get(), c_text.as_ptr(), H5P_DEFAULT) };
        Ok(Variable { id: check_id(id, || format!("opening the variable {name}"))?, name: name.into() })
    }

    /// Removes the variable or dimension `name`.
    ///
    /// # Errors
    /// The layer's, or `Hdf5`.
    pub(crate) fn unlink(&self, name: &str) -> Result<()> {
        let _library = enter()?;
        let c_text = c_name(name)?;
        // SAFETY: the lock is held; the group is open and the name is a C string.
        check(unsafe { H5Ldelete(self.0.get(), c_text.as_ptr(), H5P_DEFAULT) }, || format!("removing {name}"))
    }

    fn create<'a>(
        &self,
        name: &str,
        kind: hid_t,
        extents: &[u64],
        creation: &Id,
        dimensions: impl Iterator<Item = &'a Scale>,
    ) -> Result<Variable> {
        let what = || format!("making the variable {name}");
        let c_text = c_name(name)?;
        let space = space(extents)?;
        // SAFETY: the callers hold the lock; identifiers are live and the name is a C string.
        let id = unsafe {
            let (list, default) = (creation.get(), H5P_DEFAULT);
            check_id(H5Dcreate2(self.0.get(), c_text.as_ptr(), kind, space.get(), default, list, default), what)?
        };
        let mut numbers = Vec::new();
        for (axis, dimension) in dimensions.enumerate() {
            // SAFETY: as above.
            check(unsafe { H5DSattach_scale(id.get(), dimension.id.get(), axis as c_uint) }, what)?;
            numbers.push(dimension.number);
        }
        attribute::set_ints(&id, "_Netcdf4Coordinates", &numbers)?;
        Ok(Variable { id, name: name.into() })
    }
}

impl Variable {
    /// Where its header lies in the file, which stays.
    ///
    /// # Errors
    /// The layer's, or `Hdf5`.
    pub(crate) fn address(&self) -> Result<u64> {
        let _library = enter()?;
        let what = || format!("locating {}", self.name);
        let (mut info, mut address) = (MaybeUninit::<H5O_info2_t>::zeroed(), 0);
        // SAFETY: the lock is held and the variable is open; HDF5 fills a structure and a number that live here, and the
        // structure is read only after the call that fills it has succeeded.
        unsafe {
            check(H5Oget_info3(self.id.get(), info.as_mut_ptr(), H5O_INFO_BASIC), what)?;
            check(H5VLnative_token_to_addr(self.id.get(), info.assume_init().token, &mut address), what)?;
        }
        Ok(address)
    }

    /// Stores one chunk, encoded by every filter of the variable, at the position of its first element.
    ///
    /// # Errors
    /// The layer's, or `Hdf5`.
    pub(crate) fn write_chunk(&self, position: &[u64], encoded: &[u8]) -> Result<()> {
        let _library = enter()?;
        // SAFETY: the lock is held; the position has an entry for each dimension, which the caller built from the
        // chunk shape of this variable; HDF5 reads `len` bytes.
        let status = unsafe {
            H5Dwrite_chunk(self.id.get(), H5P_DEFAULT, 0, position.as_ptr(), encoded.len(), encoded.as_ptr().cast())
        };
        check(status, || format!("writing the chunk at {position:?} of {}", self.name))
    }

    /// Stores strings from slot `start` on, in a variable that [`Group::create_strings`] made.
    ///
    /// # Errors
    /// The layer's, or `Hdf5`.
    pub(crate) fn write_strings(&self, start: usize, strings: &[String]) -> Result<()> {
        if strings.is_empty() {
            return Ok(());
        }
        let _library = enter()?;
        let what = || format!("writing slots of {}", self.name);
        let owned: Vec<CString> = strings.iter().map(|s| c_name(s)).collect::<Result<_>>()?;
        let pointers: Vec<*const c_char> = owned.iter().map(|s| s.as_ptr()).collect();
        let kind = string_type()?;
        let (start, count) = (start as hsize_t, strings.len() as hsize_t);
        let memory = space(&[count])?;
        // SAFETY: the lock is held; the memory space counts the pointers, each of them a C string that lives through
        // the call; a selection outside of the variable is refused.
        unsafe {
            let slots = check_id(hdf5_sys::h5d::H5Dget_space(self.id.get()), what)?;
            check(H5Sselect_hyperslab(slots.get(), H5S_SELECT_SET, &start, null(), &count, null()), what)?;
            let (memory, slots) = (memory.get(), slots.get());
            check(H5Dwrite(self.id.get(), kind.get(), memory, slots, H5P_DEFAULT, pointers.as_ptr().cast()), what)
        }
    }
}

/// A creation list for a dataset: no times, attributes in order, and chunks with these edges if there are any.
fn creation_list(chunk: &[u64]) -> Result<Id> {
    let what = || "preparing a variable".into();
    let creation = properties(*H5P_CLS_DATASET_CREATE)?;
    let order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    // SAFETY: the callers hold the lock; the list is live and as many edges are passed as their number says.
    unsafe {
        check(H5Pset_obj_track_times(creation.get(), 0), what)?;
        check(H5Pset_attr_creation_order(creation.get(), order), what)?;
        if !chunk.is_empty() {
            check(H5Pset_chunk(creation.get(), chunk.len() as i32, chunk.as_ptr()), what)?;
        }
    }
    Ok(creation)
}

/// A data space; an extent of zero may grow.
fn space(extents: &[u64]) -> Result<Id> {
    let limits: Vec<u64> = extents.iter().map(|&len| if len == 0 { H5S_UNLIMITED } else { len }).collect();
    // SAFETY: the callers hold the lock; both lists have as many entries as the rank says.
    let id = unsafe { H5Screate_simple(extents.len() as i32, extents.as_ptr(), limits.as_ptr()) };
    check_id(id, || format!("making a space of {extents:?}"))
}

fn element_type(dtype: DType) -> hid_t {
    *match dtype {
        DType::F64 => H5T_IEEE_F64LE,
        DType::F32 => H5T_IEEE_F32LE,
        DType::I64 => H5T_STD_I64LE,
        DType::I32 => H5T_STD_I32LE,
        DType::U64 => H5T_STD_U64LE,
        DType::Bool => H5T_STD_U8LE,
    }
}

fn string_type() -> Result<Id> {
    let what = || "preparing a string type".into();
    // SAFETY: the callers hold the lock; the copy is live.
    unsafe {
        let kind = check_id(H5Tcopy(*H5T_C_S1), what)?;
        check(H5Tset_size(kind.get(), H5T_VARIABLE), what)?;
        check(H5Tset_cset(kind.get(), H5T_cset_t::H5T_CSET_UTF8), what)?;
        Ok(kind)
    }
}
