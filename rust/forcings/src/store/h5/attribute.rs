//! Attributes: fixed-length text, which netCDF calls characters, and integers.

use super::library::{c_name, check, check_id, enter, Id};
use crate::Result;
use hdf5_sys::h5a::{H5Acreate2, H5Adelete, H5Aexists, H5Aget_space, H5Aget_type, H5Aopen, H5Aread, H5Awrite};
use hdf5_sys::h5i::hid_t;
use hdf5_sys::h5p::H5P_DEFAULT;
use hdf5_sys::h5s::{H5Screate, H5Screate_simple, H5Sextent_equal, H5Sget_simple_extent_npoints, H5S_SCALAR};
use hdf5_sys::h5t::{H5Tcopy, H5Tequal, H5Tset_size, H5Tset_strpad, H5T_C_S1, H5T_NATIVE_INT, H5T_STR_NULLTERM};
use std::ffi::{c_int, c_void};

/// Sets a text attribute of an object, in place of one with the same name. The text is not empty.
pub(super) fn set_text(object: &Id, name: &str, text: &str) -> Result<()> {
    let _library = enter()?;
    let what = || format!("writing the attribute {name}");
    // SAFETY: the lock is held; identifiers are live.
    let (kind, space) = unsafe {
        let kind = check_id(H5Tcopy(*H5T_C_S1), what)?;
        check(H5Tset_size(kind.get(), text.len().max(1)), what)?;
        check(H5Tset_strpad(kind.get(), H5T_STR_NULLTERM), what)?;
        (kind, check_id(H5Screate(H5S_SCALAR), what)?)
    };
    let bytes = if text.is_empty() { b"\0" } else { text.as_bytes() };
    replace(object, name, kind.get(), &space, bytes.as_ptr().cast())
}

/// Sets an attribute of one integer.
pub(super) fn set_int(object: &Id, name: &str, value: c_int) -> Result<()> {
    let _library = enter()?;
    // SAFETY: the lock is held.
    let space = check_id(unsafe { H5Screate(H5S_SCALAR) }, || format!("writing the attribute {name}"))?;
    replace(object, name, *H5T_NATIVE_INT, &space, (&raw const value).cast())
}

/// Sets an attribute of a list of integers.
pub(super) fn set_ints(object: &Id, name: &str, values: &[c_int]) -> Result<()> {
    let _library = enter()?;
    let len = values.len() as u64;
    // SAFETY: the lock is held; rank 1, and one extent is passed.
    let space = unsafe { H5Screate_simple(1, &len, &len) };
    let space = check_id(space, || format!("writing the attribute {name}"))?;
    replace(object, name, *H5T_NATIVE_INT, &space, values.as_ptr().cast())
}

/// An attribute of one integer, `None` when there is none of that name that reads as one.
pub(super) fn int(object: hid_t, name: &str) -> Result<Option<c_int>> {
    let _library = enter()?;
    let c_text = c_name(name)?;
    // SAFETY: the lock is held; the identifier is live; an attribute of one native integer fills four bytes, and the
    // number of elements is checked before it is read.
    unsafe {
        if H5Aexists(object, c_text.as_ptr()) <= 0 {
            return Ok(None);
        }
        let attribute = check_id(H5Aopen(object, c_text.as_ptr(), H5P_DEFAULT), || format!("opening {name}"))?;
        let space = check_id(H5Aget_space(attribute.get()), || format!("opening {name}"))?;
        if H5Sget_simple_extent_npoints(space.get()) != 1 {
            return Ok(None);
        }
        let mut value: c_int = 0;
        let status = H5Aread(attribute.get(), *H5T_NATIVE_INT, (&raw mut value).cast());
        Ok((status >= 0).then_some(value))
    }
}

/// An attribute that fits is written over: HDF5 makes no more than 65,535 attributes on an object, deleted ones included.
fn replace(object: &Id, name: &str, kind: hid_t, space: &Id, value: *const c_void) -> Result<()> {
    let what = || format!("writing the attribute {name}");
    let c_text = c_name(name)?;
    // SAFETY: the callers hold the lock and pass a value of as many bytes as type and space say.
    unsafe {
        if H5Aexists(object.get(), c_text.as_ptr()) > 0 {
            let old = check_id(H5Aopen(object.get(), c_text.as_ptr(), H5P_DEFAULT), what)?;
            let old_kind = check_id(H5Aget_type(old.get()), what)?;
            let old_space = check_id(H5Aget_space(old.get()), what)?;
            if H5Tequal(old_kind.get(), kind) > 0 && H5Sextent_equal(old_space.get(), space.get()) > 0 {
                return check(H5Awrite(old.get(), kind, value), what);
            }
            drop(old);
            check(H5Adelete(object.get(), c_text.as_ptr()), what)?;
        }
        let id = H5Acreate2(object.get(), c_text.as_ptr(), kind, space.get(), H5P_DEFAULT, H5P_DEFAULT);
        let attribute = check_id(id, what)?;
        check(H5Awrite(attribute.get(), kind, value), what)
    }
}
