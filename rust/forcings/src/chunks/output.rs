//! The output of a read, shared by its threads: disjoint parts of one slice.

use std::marker::PhantomData;

/// A slice of which several threads write disjoint parts.
pub(super) struct SharedOutput<'a, T> {
    start: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: it hands out parts of a `&mut [T]`, which may be sent and written on another thread when `T: Send`.
unsafe impl<T: Send> Sync for SharedOutput<'_, T> {}

impl<'a, T> SharedOutput<'a, T> {
    pub(super) fn new(slice: &'a mut [T]) -> Self {
        SharedOutput { start: slice.as_mut_ptr(), len: slice.len(), slice: PhantomData }
    }

    /// The part of `len` items from `first` on.
    ///
    /// # Safety
    /// No item of it may be part of another slice from this call that is still alive, on any thread.
    #[allow(clippy::mut_from_ref, reason = "the caller keeps the parts disjoint")]
    pub(super) unsafe fn part(&self, first: usize, len: usize) -> &mut [T] {
        assert!(first.checked_add(len).is_some_and(|end| end <= self.len), "a run lies inside the output");
        // SAFETY: inside the slice, by the assertion; not aliased, as the caller promises.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(first), len) }
    }
}
