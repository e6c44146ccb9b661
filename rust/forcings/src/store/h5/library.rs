//! The HDF5 library as a whole: its one lock, its start, its error stack, and identifiers that close themselves.

use super::driver;
use crate::{Error, Result};
use hdf5_sys::h5::{herr_t, H5open};
use hdf5_sys::h5e::{H5E_error2_t, H5Eclear2, H5Eset_auto2, H5Ewalk2, H5E_DEFAULT, H5E_WALK_UPWARD};
use hdf5_sys::h5i::{hid_t, H5Idec_ref};
use hdf5_sys::h5p::H5Pcreate;
use parking_lot::ReentrantMutexGuard;
use std::cell::OnceCell;
use std::ffi::{c_uint, c_void, CStr, CString};

/// The right to call HDF5. The library is not thread-safe: every call, here and in netCDF-C, holds this one lock.
pub(super) struct Library {
    _guard: ReentrantMutexGuard<'static, ()>,
    /// The identifier of our file driver.
    pub(super) driver: hid_t,
}

thread_local! {
    /// Set once the calling thread has seen the library started; the start itself is idempotent and under the lock.
    static STARTED: OnceCell<hid_t> = const { OnceCell::new() };
}

/// Takes the lock, which the same thread may take again, and starts the library if nobody did.
pub(super) fn enter() -> Result<Library> {
    let guard = hdf5_sys::LOCK.lock();
    // Left by an object that closed itself; its file knows.
    driver::take_error();
    let driver = match STARTED.with(|started| started.get().copied()) {
        Some(driver) => driver,
        None => {
            let driver = start()?;
            STARTED.with(|started| *started.get_or_init(|| driver))
        }
    };
    Ok(Library { _guard: guard, driver })
}

fn start() -> Result<hid_t> {
    // SAFETY: the lock is held; neither call takes memory of ours.
    unsafe {
        if H5open() < 0 {
            return Err(Error::Hdf5("the library does not start".into()));
        }
        // Without a printer HDF5 keeps its errors to itself; we read them from its stack.
        H5Eset_auto2(H5E_DEFAULT, None, std::ptr::null_mut());
    }
    driver::register()
}

/// Turns the status of a call into a result; `what` says what was tried. A call that went well over a layer that failed
/// did not go well.
pub(super) fn check(status: herr_t, what: impl FnOnce() -> String) -> Result<()> {
    if status < 0 {
        return Err(failure(what()));
    }
    driver::take_error().map_or(Ok(()), Err)
}

/// As [`check`] for a call that returns an identifier, which is closed when the result is dropped.
pub(super) fn check_id(id: hid_t, what: impl FnOnce() -> String) -> Result<Id> {
    if id < 0 {
        return Err(failure(what()));
    }
    let owned = Id(id);
    check(0, what).map(|()| owned)
}

/// The error of a failed call: that of our file layer if it failed below HDF5, else the stack's innermost messages.
fn failure(what: String) -> Error {
    let mut reasons: Vec<String> = Vec::new();
    // SAFETY: the lock is held; `collect` casts the pointer back to the vector, which outlives the walk.
    unsafe {
        H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, Some(collect), (&raw mut reasons).cast());
        H5Eclear2(H5E_DEFAULT);
    }
    if let Some(error) = driver::take_error() {
        return error;
    }
    reasons.dedup();
    reasons.truncate(3);
    match reasons.is_empty() {
        true => Error::Hdf5(format!("{what} failed")),
        false => Error::Hdf5(format!("{what} failed: {}", reasons.join("; "))),
    }
}

extern "C" fn collect(_: c_uint, entry: *const H5E_error2_t, reasons: *mut c_void) -> herr_t {
    // SAFETY: HDF5 passes a valid entry with a description that is null or a string, and our own vector back.
    unsafe {
        let reasons = &mut *reasons.cast::<Vec<String>>();
        let text = (*entry).desc;
        if !text.is_null() {
            reasons.push(CStr::from_ptr(text).to_string_lossy().into_owned());
        }
    }
    0
}

/// An HDF5 identifier of any kind, released on drop.
#[derive(Debug)]
pub(super) struct Id(hid_t);

impl Id {
    pub(super) fn get(&self) -> hid_t {
        self.0
    }

    /// Gives the identifier up without releasing it.
    pub(super) fn into_raw(self) -> hid_t {
        let id = self.0;
        std::mem::forget(self);
        id
    }
}

impl Drop for Id {
    fn drop(&mut self) {
        let _guard = hdf5_sys::LOCK.lock();
        // SAFETY: the lock is held. An identifier that its file's close already ended is refused, which is fine.
        unsafe { H5Idec_ref(self.0) };
    }
}

/// A new property list.
pub(super) fn properties(class: hid_t) -> Result<Id> {
    // SAFETY: the caller holds the lock; a bad class is refused.
    check_id(unsafe { H5Pcreate(class) }, || "making a property list".into())
}

/// A name as C wants it.
pub(super) fn c_name(name: &str) -> Result<CString> {
    CString::new(name).map_err(|_| Error::invalid(format!("the name {name:?} holds a NUL")))
}
