//! A bound on how many fetches of small objects are under way at a time, over all readers of a cache.

use parking_lot::{Condvar, Mutex};

/// Permits to fetch, as many as there may be fetches at a time.
pub(super) struct Permits {
    free: Mutex<usize>,
    returned: Condvar,
    total: usize,
}

/// The right to fetch, until it is dropped.
pub(crate) struct Permit<'a>(&'a Permits);

impl Permits {
    pub(super) fn new(total: usize) -> Self {
        Permits { free: Mutex::new(total), returned: Condvar::new(), total }
    }

    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// Waits for a permit.
    pub(super) fn acquire(&self) -> Permit<'_> {
        let mut free = self.free.lock();
        self.returned.wait_while(&mut free, |free| *free == 0);
        *free -= 1;
        Permit(self)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.free.lock() += 1;
        self.0.returned.notify_one();
    }
}
