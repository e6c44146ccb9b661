//! Our virtual file driver: HDF5 calls it for every byte, and it calls a [`FileLayer`].
//!
//! The class and file structures are declared here, since those of the bindings lack fields of HDF5 2. There is no lock
//! callback: HDF5 would write its consistency flag at every open, and a crash would leave it set; the layer holds the
//! lock of the file. There is no flush callback either: what reaches the disk, and when, is said by the store.

use super::layer::FileLayer;
use super::library::{check, Id};
use super::overlay::Overlay;
use crate::{Error, Result};
use hdf5_sys::h5::{haddr_t, herr_t};
use hdf5_sys::h5i::hid_t;
use hdf5_sys::h5p::{H5Pget_driver_info, H5Pset_driver};
use parking_lot::{Mutex, RwLock};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_int, c_uint, c_ulong, c_void};
use std::mem::{offset_of, size_of};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;

/// `H5FD_t`: the head of an open file. HDF5 fills it after `open`.
#[repr(C)]
struct Head {
    driver_id: hid_t,
    class: *const c_void,
    file_number: c_ulong,
    access_flags: c_uint,
    feature_flags: c_ulong,
    max_address: haddr_t,
    base_address: haddr_t,
    threshold: u64,
    alignment: u64,
    paged_aggregation: bool,
}

/// `H5FD_class_t`. Callbacks that we leave out are plain null pointers.
#[repr(C)]
struct Class {
    version: c_uint,
    value: c_int,
    name: *const c_char,
    max_address: haddr_t,
    close_degree: c_int,
    terminate: *const c_void,
    superblock: [*const c_void; 3],
    fapl_size: usize,
    fapl: [*const c_void; 3],
    dxpl_size: usize,
    dxpl: [*const c_void; 2],
    open: extern "C" fn(*const c_char, c_uint, hid_t, haddr_t) -> *mut Head,
    close: unsafe extern "C" fn(*mut Head) -> herr_t,
    cmp: unsafe extern "C" fn(*const Head, *const Head) -> c_int,
    query: unsafe extern "C" fn(*const Head, *mut c_ulong) -> herr_t,
    get_type_map: *const c_void,
    alloc: *const c_void,
    free: *const c_void,
    get_eoa: unsafe extern "C" fn(*const Head, c_int) -> haddr_t,
    set_eoa: unsafe extern "C" fn(*mut Head, c_int, haddr_t) -> herr_t,
    get_eof: unsafe extern "C" fn(*const Head, c_int) -> haddr_t,
    get_handle: unsafe extern "C" fn(*mut Head, hid_t, *mut *mut c_void) -> herr_t,
    read: unsafe extern "C" fn(*mut Head, c_int, hid_t, haddr_t, usize, *mut c_void) -> herr_t,
    write: unsafe extern "C" fn(*mut Head, c_int, hid_t, haddr_t, usize, *const c_void) -> herr_t,
    vectors: [*const c_void; 4],
    flush: *const c_void,
    truncate: unsafe extern "C" fn(*mut Head, hid_t, bool) -> herr_t,
    lock: *const c_void,
    unlock: *const c_void,
    del: *const c_void,
    ctl: *const c_void,
    free_list_map: [c_int; 7],
}

const _: () = {
    assert!(size_of::<Class>() == 336 && size_of::<Head>() == 80);
    assert!(offset_of!(Class, fapl_size) == 64 && offset_of!(Class, open) == 120 && offset_of!(Class, query) == 144);
    assert!(offset_of!(Class, get_eoa) == 176 && offset_of!(Class, read) == 208 && offset_of!(Class, flush) == 256);
    assert!(offset_of!(Class, truncate) == 264 && offset_of!(Class, free_list_map) == 304);
    assert!(offset_of!(Head, access_flags) == 24 && offset_of!(Head, max_address) == 40);
};

unsafe extern "C" {
    fn H5FDregister(class: *const Class) -> hid_t;
}

const CLASS_VERSION: c_uint = 1;
/// Numbers from 256 to 511 are free for private drivers.
const CLASS_VALUE: c_int = 300;
const MAX_ADDRESS: haddr_t = i64::MAX as haddr_t;
const CLOSE_WEAK: c_int = 1;
const UNDEFINED: haddr_t = haddr_t::MAX;
const ACCESS_TRUNCATE: c_uint = 2;
/// Aggregate metadata, accumulate metadata, sieve, aggregate small data, and "the default driver can read this".
const FEATURES: c_ulong = 0x1 | 0x6 | 0x8 | 0x10 | 0x8000;

/// An open file: `head` comes first, because HDF5 sees only that.
#[repr(C)]
struct Driven {
    head: Head,
    file: Arc<Shared>,
    end_of_addresses: haddr_t,
}

/// What a handle of HDF5 and ours know in common.
struct Shared {
    layer: RwLock<Arc<dyn FileLayer>>,
    /// The layer refused a change, and HDF5 works over memory since.
    failed: AtomicBool,
}

impl Shared {
    fn layer(&self) -> Arc<dyn FileLayer> {
        self.layer.read().clone()
    }

    /// Makes a change. HDF5 does not survive a refusal whole (it leaves half-closed objects that crash the process at its
    /// end), so it never sees one: the error is kept for the caller of HDF5, and the change is made in memory.
    fn change(&self, body: impl Fn(&dyn FileLayer) -> Result<()>) -> Result<herr_t> {
        if let Err(error) = body(&*self.layer()) {
            remember(error);
            self.failed.store(true, Ordering::Release);
            let mut layer = self.layer.write();
            *layer = Arc::new(Overlay::new(layer.clone()));
            body(&**layer)?;
        }
        Ok(0)
    }
}

/// The files that may be opened, by the token that a file-access list carries.
static FILES: Mutex<BTreeMap<u64, Arc<Shared>>> = Mutex::new(BTreeMap::new());
static NEXT_TOKEN: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// What went wrong in a callback; HDF5 hands on no more than "failed". Callbacks run on the calling thread.
    static FAILED: RefCell<Option<Error>> = const { RefCell::new(None) };
}

/// Keeps a layer known to the driver.
pub(super) struct Attached {
    token: u64,
    file: Arc<Shared>,
}

impl Attached {
    pub(super) fn new(layer: Arc<dyn FileLayer>) -> Self {
        let token = NEXT_TOKEN.fetch_add(1, Ordering::Relaxed);
        let file = Arc::new(Shared { layer: RwLock::new(layer), failed: AtomicBool::new(false) });
        FILES.lock().insert(token, file.clone());
        Attached { token, file }
    }

    /// Makes `access`, a file-access list, open this layer.
    pub(super) fn set(&self, access: &Id, driver: hid_t) -> Result<()> {
        // SAFETY: the caller holds the lock; HDF5 copies the eight bytes of the token (`fapl_size`) during the call.
        let status = unsafe { H5Pset_driver(access.get(), driver, (&raw const self.token).cast()) };
        check(status, || "choosing the file driver".into())
    }

    /// An error if the layer ever refused a change.
    pub(super) fn check_whole(&self) -> Result<()> {
        if !self.file.failed.load(Ordering::Acquire) {
            return Ok(());
        }
        let path = self.file.layer().path().display().to_string();
        Err(Error::Hdf5(format!("an earlier write to {path} failed, so it is not written any more; open it again")))
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        FILES.lock().remove(&self.token);
    }
}

/// The error that a callback of this thread met, once.
pub(super) fn take_error() -> Option<Error> {
    FAILED.try_with(|failed| failed.borrow_mut().take()).ok().flatten()
}

/// Registers the driver, once in the life of the process; the caller holds the lock.
pub(super) fn register() -> Result<hid_t> {
    static DRIVER: Mutex<Option<hid_t>> = Mutex::new(None);
    let mut driver = DRIVER.lock();
    if let Some(id) = *driver {
        return Ok(id);
    }
    const NONE: *const c_void = std::ptr::null();
    let class = Class {
        version: CLASS_VERSION,
        value: CLASS_VALUE,
        name: c"forcings".as_ptr(),
        max_address: MAX_ADDRESS,
        close_degree: CLOSE_WEAK,
        terminate: NONE,
        superblock: [NONE; 3],
        fapl_size: size_of::<u64>(),
        fapl: [NONE; 3],
        dxpl_size: 0,
        dxpl: [NONE; 2],
        open,
        close,
        cmp,
        query,
        get_type_map: NONE,
        alloc: NONE,
        free: NONE,
        get_eoa,
        set_eoa,
        get_eof,
        get_handle,
        read,
        write,
        vectors: [NONE; 4],
        flush: NONE,
        truncate,
        lock: NONE,
        unlock: NONE,
        del: NONE,
        ctl: NONE,
        // Superblock, B-trees and local heaps share one free list, data and global heaps another, as in HDF5's own.
        free_list_map: [1, 1, 1, 3, 3, 1, 1],
    };
    // SAFETY: the class is complete and copied by the call; its name is a constant.
    let id = unsafe { H5FDregister(&class) };
    if id < 0 {
        return Err(Error::Hdf5("the file driver was refused".into()));
    }
    Ok(*driver.insert(id))
}

/// Keeps an error for [`take_error`]. HDF5 closes what is open when the process ends, and thread-locals may be gone then.
fn remember(error: Error) {
    let _ = FAILED.try_with(|slot| slot.borrow_mut().get_or_insert(error).kind());
}

/// Runs the body of a callback: an error or a panic is kept for [`take_error`], and HDF5 is told `failed`.
fn guard<T>(failed: T, body: impl FnOnce() -> Result<T>) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => return value,
        Ok(Err(error)) => remember(error),
        Err(_) => remember(Error::Panic("a file layer panicked".into())),
    }
    failed
}

/// May be called twice for one open (first tentatively, without the flag that truncates), so it takes no lock and
/// changes nothing unless told to truncate.
extern "C" fn open(_: *const c_char, flags: c_uint, access: hid_t, max_address: haddr_t) -> *mut Head {
    guard(null_mut(), || {
        if max_address == 0 || max_address == UNDEFINED {
            return Err(Error::Hdf5("the file driver was given no address range".into()));
        }
        // SAFETY: HDF5 passes a live access list; its driver information is null or the bytes that `set` gave.
        let token = unsafe { H5Pget_driver_info(access).cast::<u64>().cast_const().as_ref() };
        let file = token.and_then(|token| FILES.lock().get(token).cloned());
        let file = file.ok_or_else(|| Error::Hdf5("the file driver was given no file".into()))?;
        if flags & ACCESS_TRUNCATE != 0 {
            file.change(|layer| layer.set_len(0))?;
        }
        let head = Head {
            driver_id: 0,
            class: std::ptr::null(),
            file_number: 0,
            access_flags: 0,
            feature_flags: 0,
            max_address: 0,
            base_address: 0,
            threshold: 0,
            alignment: 0,
            paged_aggregation: false,
        };
        Ok(Box::into_raw(Box::new(Driven { head, file, end_of_addresses: 0 })).cast())
    })
}

unsafe extern "C" fn close(file: *mut Head) -> herr_t {
    // SAFETY: HDF5 closes each file once, with the pointer that `open` made from a box.
    let file = unsafe { Box::from_raw(file.cast::<Driven>()) };
    guard(-1, || {
        drop(file);
        Ok(0)
    })
}

/// Two handles are one file when they came by one token; the layer's lock keeps another token of the same file out.
unsafe extern "C" fn cmp(a: *const Head, b: *const Head) -> c_int {
    // SAFETY: HDF5 compares open files of this driver.
    let [a, b] = [a, b].map(|file| Arc::as_ptr(unsafe { &(*file.cast::<Driven>()).file }));
    a.cmp(&b) as c_int
}

/// Asked with a null file too.
unsafe extern "C" fn query(_: *const Head, flags: *mut c_ulong) -> herr_t {
    if !flags.is_null() {
        // SAFETY: HDF5 passes a place for the answer.
        unsafe { *flags = FEATURES };
    }
    0
}

unsafe extern "C" fn get_eoa(file: *const Head, _: c_int) -> haddr_t {
    // SAFETY: HDF5 passes an open file of this driver.
    unsafe { (*file.cast::<Driven>()).end_of_addresses }
}

unsafe extern "C" fn set_eoa(file: *mut Head, _: c_int, address: haddr_t) -> herr_t {
    // SAFETY: as above; calls for one file do not overlap, by HDF5's lock.
    unsafe { (*file.cast::<Driven>()).end_of_addresses = address };
    0
}

unsafe extern "C" fn get_eof(file: *const Head, _: c_int) -> haddr_t {
    // SAFETY: HDF5 passes an open file of this driver.
    let file = unsafe { &*file.cast::<Driven>() };
    guard(UNDEFINED, || Ok(file.file.layer().len()))
}

/// A private pointer; the driver does not claim that it is a file descriptor.
unsafe extern "C" fn get_handle(file: *mut Head, _: hid_t, handle: *mut *mut c_void) -> herr_t {
    if handle.is_null() {
        return -1;
    }
    // SAFETY: HDF5 passes a place for the answer.
    unsafe { *handle = file.cast() };
    0
}

/// Bytes behind the end of the file are zeros: HDF5 reads what it has addressed and not yet written.
unsafe extern "C" fn read(
    file: *mut Head,
    _: c_int,
    _: hid_t,
    address: haddr_t,
    size: usize,
    to: *mut c_void,
) -> herr_t {
    // SAFETY: HDF5 passes an open file of this driver and `size` writable bytes.
    let (file, buffer) = unsafe {
        std::ptr::write_bytes(to.cast::<u8>(), 0, size);
        (&*file.cast::<Driven>(), std::slice::from_raw_parts_mut(to.cast::<u8>(), size))
    };
    guard(-1, || {
        let layer = file.file.layer();
        let there = usize::try_from(layer.len().saturating_sub(address)).unwrap_or(usize::MAX).min(size);
        if there > 0 {
            layer.read_at(address, &mut buffer[..there])?;
        }
        Ok(0)
    })
}

unsafe extern "C" fn write(
    file: *mut Head,
    _: c_int,
    _: hid_t,
    address: haddr_t,
    size: usize,
    from: *const c_void,
) -> herr_t {
    // SAFETY: HDF5 passes an open file of this driver and `size` readable bytes.
    let (file, bytes) = unsafe { (&*file.cast::<Driven>(), std::slice::from_raw_parts(from.cast::<u8>(), size)) };
    guard(-1, || {
        if address.checked_add(size as u64).is_none_or(|end| end > MAX_ADDRESS) {
            return Err(Error::Hdf5(format!("{size} bytes at {address} lie outside of the address range")));
        }
        file.file.change(|layer| layer.write_at(address, bytes))
    })
}

unsafe extern "C" fn truncate(file: *mut Head, _: hid_t, _: bool) -> herr_t {
    // SAFETY: HDF5 passes an open file of this driver.
    let file = unsafe { &*file.cast::<Driven>() };
    guard(-1, || {
        if file.file.layer().len() == file.end_of_addresses {
            return Ok(0);
        }
        file.file.change(|layer| layer.set_len(file.end_of_addresses))
    })
}
