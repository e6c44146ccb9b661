//! What a process that reads damaged files may use, for the tests here and for `rust/fuzz`, which includes this file.

/// Sets a soft limit of this process.
pub(crate) fn limit(what: libc::__rlimit_resource_t, most: u64) {
    let mut limits = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointers are to a structure of this frame; nothing is kept. The hard limit stays, so that the soft one
    // can be raised again.
    let refused = unsafe {
        let refused = libc::getrlimit(what, &raw mut limits);
        limits.rlim_cur = most.min(limits.rlim_max);
        refused | libc::setrlimit(what, &raw const limits)
    };
    assert_eq!(refused, 0, "the system refuses a limit");
}

/// Whole seconds that this process has computed.
pub(crate) fn computed() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: as in `limit`.
    let refused = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    assert_eq!(refused, 0, "the system has no clock of a process");
    time.tv_sec as u64
}
