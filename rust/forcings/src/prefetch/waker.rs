//! The consumer's own wake-up call, for consumers that wait by other means than a blocked thread.

use super::sync::Mutex;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// What is called when the head of the order becomes ready, or the order ends under a waiting consumer.
pub type Waker = Box<dyn Fn() + Send + Sync>;

/// Holds a waker. It is called under a lock of its own, so that it never runs once it was replaced.
#[derive(Default)]
pub(super) struct WakerCell(Mutex<Option<Waker>>);

impl WakerCell {
    /// Replaces the waker, after a call that is running has ended.
    pub(super) fn set(&self, waker: Option<Waker>) {
        let old = std::mem::replace(&mut *self.0.lock(), waker);
        drop(old);
    }

    /// Calls the waker, if there is one.
    pub(super) fn wake(&self) {
        if let Some(waker) = &*self.0.lock() {
            // The thread that finished a sample has others to serve; the panic hook has reported what went wrong.
            let _ = catch_unwind(AssertUnwindSafe(waker));
        }
    }
}

impl std::fmt::Debug for WakerCell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WakerCell")
    }
}
