//! The kernel's lock of an open file or folder: one holder, or several that share it; gone with the descriptor.

use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::AsRawFd;

/// Takes the lock, alone or shared; false if another descriptor is in the way. Never waits.
pub(crate) fn try_lock(file: &File, alone: bool) -> Result<bool> {
    let kind = if alone { libc::LOCK_EX } else { libc::LOCK_SH };
    loop {
        // SAFETY: the descriptor belongs to `file`, which lives through the call; flock touches no memory.
        if unsafe { libc::flock(file.as_raw_fd(), kind | libc::LOCK_NB) } == 0 {
            return Ok(true);
        }
        let error = Error::last_os_error();
        match error.kind() {
            ErrorKind::Interrupted => {}
            ErrorKind::WouldBlock => return Ok(false),
            _ => return Err(error),
        }
    }
}

/// Waits until it has the lock alone. A signal may end the wait with `Interrupted`.
pub(crate) fn wait_for_lock(file: &File) -> Result<()> {
    // SAFETY: as above.
    match unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}

/// Gives the lock up. What fails here ends with the descriptor.
pub(super) fn unlock(file: &File) {
    // SAFETY: the descriptor belongs to `file`, which lives through the call; flock touches no memory.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_UN) };
}
