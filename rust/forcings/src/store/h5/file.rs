//! The file as a whole: made or opened over a layer, flushed, closed; its groups and its text attributes.

use super::attribute;
use super::driver::Attached;
use super::layer::FileLayer;
use super::library::{c_name, check, check_id, enter, properties, Id};
use crate::{Error, Result};
use hdf5_sys::h5::{herr_t, H5_INDEX_NAME, H5_ITER_NATIVE};
use hdf5_sys::h5f::{
    H5Fclose, H5Fcreate, H5Fflush, H5Fopen, H5F_ACC_RDWR, H5F_ACC_TRUNC, H5F_CLOSE_STRONG,
    H5F_FSPACE_STRATEGY_FSM_AGGR, H5F_LIBVER_V18, H5F_LIBVER_V200, H5F_SCOPE_GLOBAL,
};
use hdf5_sys::h5g::{H5Gcreate2, H5Gopen2};
use hdf5_sys::h5i::hid_t;
use hdf5_sys::h5o::{H5O_info2_t, H5Oopen, H5Ovisit3, H5O_INFO_BASIC, H5O_TYPE_DATASET};
use hdf5_sys::h5p::{
    H5Pset_attr_creation_order, H5Pset_fclose_degree, H5Pset_file_space_strategy, H5Pset_libver_bounds,
    H5Pset_link_creation_order, H5Pset_obj_track_times, H5P_CLS_FILE_ACCESS, H5P_CLS_FILE_CREATE, H5P_CLS_GROUP_CREATE,
    H5P_CRT_ORDER_INDEXED, H5P_CRT_ORDER_TRACKED, H5P_DEFAULT,
};
use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

/// The attribute in which netCDF keeps the number of a dimension.
pub(super) const DIMENSION_ID: &str = "_Netcdf4Dimid";

/// A file that HDF5 has open for reading and writing.
pub(crate) struct H5File {
    id: Option<Id>,
    attached: Attached,
}

/// An open group of such a file.
#[derive(Debug)]
pub(crate) struct Group(pub(super) Id);

impl H5File {
    /// Makes an empty file in `layer`, which loses what it holds.
    ///
    /// # Errors
    /// The layer's, or `Hdf5`.
    pub(crate) fn create(layer: &Arc<dyn FileLayer>) -> Result<Self> {
        let library = enter()?;
        let attached = Attached::new(layer.clone());
        let access = access_list(&attached, library.driver)?;
        let what = || format!("making {}", layer.path().display());
        let name = c_name(&layer.path().to_string_lossy())?;
        // SAFETY: the lock is held; identifiers are live and the name is a C string.
        let id = unsafe {
            let creation = properties(*H5P_CLS_FILE_CREATE)?;
            track(&creation)?;
            // Free space is kept in the file, so that sessions that end and begin do not make it grow.
            let strategy = H5F_FSPACE_STRATEGY_FSM_AGGR;
            check(H5Pset_file_space_strategy(creation.get(), strategy, 1, 1), what)?;
            check_id(H5Fcreate(name.as_ptr(), H5F_ACC_TRUNC, creation.get(), access.get()), what)?
        };
        Ok(H5File { id: Some(id), attached })
    }

    /// Opens the file in `layer`.
    ///
    /// # Errors
    /// The layer's, or `Hdf5` when HDF5 finds no file that it can write.
    pub(crate) fn open(layer: &Arc<dyn FileLayer>) -> Result<Self> {
        let library = enter()?;
        let attached = Attached::new(layer.clone());
        let access = access_list(&attached, library.driver)?;
        let name = c_name(&layer.path().to_string_lossy())?;
        // SAFETY: the lock is held; the list is live and the name is a C string.
        let id = unsafe { H5Fopen(name.as_ptr(), H5F_ACC_RDWR, access.get()) };
        let id = check_id(id, || format!("opening {}", layer.path().display()))?;
        Ok(H5File { id: Some(id), attached })
    }

    /// Hands everything that HDF5 holds back to the layer.
    ///
    /// # Errors
    /// The layer's, or `Hdf5`.
    pub(crate) fn flush(&self) -> Result<()> {
        let _library = enter()?;
        // SAFETY: the lock is held and the file is open.
        check(unsafe { H5Fflush(self.raw(), H5F_SCOPE_GLOBAL) }, || "flushing the array file".into())?;
        self.attached.check_whole()
    }

    /// An error if a write ever failed: then what HDF5 holds is not what the file holds.
    ///
    /// # Errors
    /// `Hdf5`.
    pub(crate) fn check_whole(&self) -> Result<()> {
        self.attached.check_whole()
    }

    /// Flushes and closes; everything that was opened in the file ends too.
    ///
    /// # Errors
    /// The layer's, or `Hdf5`. The file is closed all the same.
    pub(crate) fn close(mut self) -> Result<()> {
        self.close_now()
    }

    /// Makes a group in the group `path` (`/` is the root), with its members kept in the order of their creation.
    ///
    /// # Errors
    /// The layer's, or `Hdf5`.
    pub(crate) fn create_group(&self, path: &str) -> Result<Group> {
        let _library = enter()?;
        let name = c_name(path)?;
        let what = || format!("making the group {path}");
        // SAFETY: the lock is held; identifiers are live and the name is a C string.
        unsafe {
            let creation = properties(*H5P_CLS_GROUP_CREATE)?;
            track(&creation)?;
            let id = H5Gcreate2(self.raw(), name.as_ptr(), H5P_DEFAULT, creation.get(), H5P_DEFAULT);
            check_id(id, what).map(Group)
        }
    }

    /// Opens the group `path`.
    ///
    /// # Errors
    /// The layer's, or `Hdf5`.
    pub(crate) fn group(&self, path: &str) -> Result<Group> {
        let _library = enter()?;
        let name = c_name(path)?;
        // SAFETY: the lock is held; the file is open and the name is a C string.
        let id = unsafe { H5Gopen2(self.raw(), name.as_ptr(), H5P_DEFAULT) };
        check_id(id, || format!("opening the group {path}")).map(Group)
    }

    /// Sets a text attribute of the root group, in place of one with the same name.
    ///
    /// # Errors
    /// The layer's, or `Hdf5`.
    pub(crate) fn set_text(&self, name: &str, text: &str) -> Result<()> {
        let root = self.group("/")?;
        attribute::set_text(&root.0, name, text)
    }

    /// The lowest number that no dimension of the file has or may be taken to have.
    ///
    /// # Errors
    /// The layer's, or `Hdf5`.
    pub(crate) fn next_dimension(&self) -> Result<i32> {
        let _library = enter()?;
        let mut highest: c_int = -1;
        // SAFETY: the lock is held; `note_dimension` gets the integer back, which outlives the visit.
        let status = unsafe {
            let to = (&raw mut highest).cast();
            H5Ovisit3(self.raw(), H5_INDEX_NAME, H5_ITER_NATIVE, Some(note_dimension), to, H5O_INFO_BASIC)
        };
        check(status, || "listing the dimensions".into())?;
        highest
            .checked_add(1)
            .ok_or_else(|| Error::Integrity("the array file has used up its dimension numbers".into()))
    }

    fn raw(&self) -> hid_t {
        self.id.as_ref().expect("only close takes the identifier, and it ends the file").get()
    }

    fn close_now(&mut self) -> Result<()> {
        let Some(id) = self.id.take() else { return Ok(()) };
        let _library = enter()?;
        // SAFETY: the lock is held and the identifier is given up here.
        check(unsafe { H5Fclose(id.into_raw()) }, || "closing the array file".into())?;
        self.attached.check_whole()
    }
}

impl Drop for H5File {
    fn drop(&mut self) {
        // A caller who wants to know calls `close`.
        let _ = self.close_now();
    }
}

/// Superblock version 2 and the indexes that every netCDF reads; all that is open ends with the file.
fn access_list(attached: &Attached, driver: hid_t) -> Result<Id> {
    let what = || "preparing to open the array file".into();
    let access = properties(*H5P_CLS_FILE_ACCESS)?;
    attached.set(&access, driver)?;
    // SAFETY: the callers hold the lock; the list is live.
    unsafe {
        check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V200), what)?;
        check(H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG), what)?;
    }
    Ok(access)
}

/// Creation order of links and attributes kept and indexed, without which netCDF-C opens no file for writing; no times,
/// as netCDF-C keeps none.
fn track(creation: &Id) -> Result<()> {
    let what = || "preparing a group".into();
    let order = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;
    // SAFETY: the callers hold the lock; the list is live.
    unsafe {
        check(H5Pset_obj_track_times(creation.get(), 0), what)?;
        check(H5Pset_link_creation_order(creation.get(), order), what)?;
        check(H5Pset_attr_creation_order(creation.get(), order), what)
    }
}

extern "C" fn note_dimension(
    root: hid_t,
    name: *const c_char,
    info: *const H5O_info2_t,
    highest: *mut c_void,
) -> herr_t {
    // SAFETY: HDF5 passes a valid name and description, and our own integer back.
    unsafe {
        if (*info).type_ != H5O_TYPE_DATASET {
            return 0;
        }
        let object = H5Oopen(root, name, H5P_DEFAULT);
        let Ok(object) = check_id(object, || "opening a dataset".into()) else { return -1 };
        match attribute::int(object.get(), DIMENSION_ID) {
            Ok(Some(id)) => {
                let highest = &mut *highest.cast::<c_int>();
                *highest = (*highest).max(id);
                0
            }
            Ok(None) => 0,
            Err(_) => -1,
        }
    }
}
