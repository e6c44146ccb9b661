//! The locks, conditions and threads of a group: parking_lot's and the system's, or, for the feature `shuttle`, those of
//! a scheduler that explores their interleavings.

#[cfg(feature = "shuttle")]
pub(crate) use explored::{Condvar, Mutex, MutexGuard};
#[cfg(not(feature = "shuttle"))]
pub(crate) use parking_lot::{Condvar, Mutex, MutexGuard};
#[cfg(feature = "shuttle")]
pub(crate) use shuttle::thread;
#[cfg(not(feature = "shuttle"))]
pub(crate) use std::thread;

/// Shuttle's types, with the calls of parking_lot's that a group uses.
#[cfg(feature = "shuttle")]
mod explored {
    use shuttle::sync;
    use std::ops::{Deref, DerefMut};
    use std::time::Instant;

    const POISON: &str = "no thread of a group panics under its lock";
    const HELD: &str = "a guard holds its lock except within a wait";

    #[derive(Default)]
    pub(crate) struct Mutex<T>(sync::Mutex<T>);

    pub(crate) struct MutexGuard<'a, T>(Option<sync::MutexGuard<'a, T>>);

    #[derive(Default)]
    pub(crate) struct Condvar(sync::Condvar);

    pub(crate) struct TimedOut(bool);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Mutex(sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            MutexGuard(Some(self.0.lock().expect(POISON)))
        }
    }

    impl<T> Deref for MutexGuard<'_, T> {
        type Target = T;

        fn deref(&self) -> &T {
            self.0.as_ref().expect(HELD)
        }
    }

    impl<T> DerefMut for MutexGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            self.0.as_mut().expect(HELD)
        }
    }

    impl Condvar {
        pub(crate) fn new() -> Self {
            Condvar::default()
        }

        pub(crate) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
            guard.0 = guard.0.take().map(|inner| self.0.wait(inner).expect(POISON));
        }

        pub(crate) fn wait_until<T>(&self, guard: &mut MutexGuard<'_, T>, deadline: Instant) -> TimedOut {
            let timeout = deadline.saturating_duration_since(Instant::now());
            let (inner, result) = self.0.wait_timeout(guard.0.take().expect(HELD), timeout).expect(POISON);
            guard.0 = Some(inner);
            TimedOut(result.timed_out())
        }

        pub(crate) fn notify_all(&self) {
            self.0.notify_all();
        }
    }

    impl TimedOut {
        pub(crate) fn timed_out(&self) -> bool {
            self.0
        }
    }
}
