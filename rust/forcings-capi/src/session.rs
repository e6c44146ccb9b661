//! How native threads tell a host with an event loop that something is ready: a queue of handles and one wake-up call.
//! The host's own code never runs on a native thread.

use crate::guard::guard;
use crate::input;
use crate::output::Out;
use forcings::Error;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::ffi::c_void;

/// A function like libuv's `uv_async_send`: may be called on any thread, wakes an event loop.
pub type ForcingsWake = Option<unsafe extern "C" fn(*mut c_void) -> i32>;

struct Notifier {
    wake: unsafe extern "C" fn(*mut c_void) -> i32,
    context: *mut c_void,
}

// SAFETY: `wake` accepts calls from any thread with `context`, as `forcings_session_attach` asks.
unsafe impl Send for Notifier {}

struct Session {
    notifier: Option<Notifier>,
    ready: VecDeque<u64>,
}

static SESSION: Mutex<Session> = Mutex::new(Session { notifier: None, ready: VecDeque::new() });

/// Tells the host that `handle` has news. Without a host nothing is kept: such a caller polls or waits.
pub(crate) fn notify(handle: u64) {
    let mut session = SESSION.lock();
    let Session { notifier, ready } = &mut *session;
    if let Some(Notifier { wake, context }) = notifier {
        // The host asks for the state behind a handle, so one entry stands for any number of events.
        if !ready.contains(&handle) {
            ready.push_back(handle);
        }
        // SAFETY: attached and not detached, both under this lock; `attach` was promised a function for any thread.
        unsafe { wake(*context) };
    }
}

pub(crate) fn detach() {
    let mut session = SESSION.lock();
    session.notifier = None;
    session.ready.clear();
}

/// Sets the wake-up call of the process, in place of an earlier one. `wake(context)` is called on native threads
/// whenever a job has ended or a group's next epoch is ready; it must only wake the caller's event loop, and stay
/// valid until `forcings_session_detach` has returned.
#[no_mangle]
pub unsafe extern "C" fn forcings_session_attach(context: *mut c_void, wake: ForcingsWake) -> i32 {
    guard("forcings_session_attach", || {
        let wake = wake.ok_or_else(|| Error::invalid("wake must be a function"))?;
        SESSION.lock().notifier = Some(Notifier { wake, context });
        Ok(())
    })
}

/// Removes up to `capacity` handles that have news from the queue into `out_handles` and their number into
/// `out_count`. Wake-ups merge: drain until the count is 0.
#[no_mangle]
pub unsafe extern "C" fn forcings_session_drain(out_handles: *mut u64, capacity: u64, out_count: *mut u64) -> i32 {
    guard("forcings_session_drain", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let count = unsafe { Out::new("out_count", out_count) }?;
        let handles = input::places("out_handles", out_handles, capacity)?;
        let mut session = SESSION.lock();
        let n = session.ready.len().min(handles);
        for (i, handle) in session.ready.drain(..n).enumerate() {
            // SAFETY: `i` is less than `capacity`, and the caller passes room for that many.
            unsafe { out_handles.add(i).write(handle) };
        }
        count.set(n as u64);
        Ok(())
    })
}

/// Ends the wake-up calls. When this has returned no thread is inside one.
#[no_mangle]
pub extern "C" fn forcings_session_detach() -> i32 {
    guard("forcings_session_detach", || {
        detach();
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    /// What a host's event loop owns: it must not be touched once the host has let go of it.
    #[derive(Default)]
    struct Loop {
        gone: AtomicBool,
        woken: AtomicU64,
        woken_too_late: AtomicBool,
    }

    unsafe extern "C" fn wake(context: *mut c_void) -> i32 {
        // SAFETY: the test keeps the loop until its threads have ended.
        let host = unsafe { &*context.cast::<Loop>() };
        host.woken.fetch_add(1, Ordering::SeqCst);
        host.woken_too_late.fetch_or(host.gone.load(Ordering::SeqCst), Ordering::SeqCst);
        0
    }

    /// All handles in the queue, taken two at a time.
    fn drain() -> Vec<u64> {
        let mut all = Vec::new();
        loop {
            let (mut some, mut count) = ([0; 2], 0);
            // SAFETY: both are local variables.
            assert_eq!(unsafe { forcings_session_drain(some.as_mut_ptr(), 2, &mut count) }, 0);
            if count == 0 {
                return all;
            }
            all.extend_from_slice(&some[..count as usize]);
        }
    }

    #[test]
    fn news_are_queued_once_and_nobody_is_woken_after_detaching() {
        const OURS: u64 = u64::MAX - 1000;
        let host = Loop::default();
        // SAFETY: the host outlives every thread of this test.
        unsafe {
            assert_eq!(forcings_session_attach(std::ptr::null_mut(), None), 1);
            assert_eq!(forcings_session_attach(std::ptr::from_ref(&host).cast_mut().cast(), Some(wake)), 0);
        }
        (0..5).chain(0..5).for_each(|i| notify(OURS + i));
        assert!(host.woken.load(Ordering::SeqCst) >= 10);
        // Other tests of this process may have news too.
        let ours: Vec<u64> = drain().into_iter().filter(|h| *h >= OURS).collect();
        assert_eq!(ours, (0..5).map(|i| OURS + i).collect::<Vec<_>>());
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for i in 0..3 {
                let stop = &stop;
                scope.spawn(move || {
                    while !stop.load(Ordering::SeqCst) {
                        notify(OURS + i);
                    }
                });
            }
            let before = host.woken.load(Ordering::SeqCst);
            while host.woken.load(Ordering::SeqCst) < before + 100 {
                std::thread::yield_now();
            }
            forcings_session_detach();
            host.gone.store(true, Ordering::SeqCst);
            for i in 0..1000 {
                notify(OURS + i);
            }
            stop.store(true, Ordering::SeqCst);
        });
        assert!(!host.woken_too_late.load(Ordering::SeqCst));
        assert!(drain().is_empty());
    }
}
