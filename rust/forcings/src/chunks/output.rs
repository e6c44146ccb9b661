//! The output of a read, shared by its threads: disjoint parts of one slice.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// A slice of which several threads write disjoint parts.
pub(super) struct SharedOutput<'a, T> {
    start: *mut T,
    len: usize,
    /// What parts are filled with before they are handed out, where they are not initialised yet.
    fresh: Option<T>,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: it hands out parts of a `&mut [T]`, which may be sent and written on another thread when `T: Send`; `fresh` is
// only copied, through a shared reference when `T: Sync`.
unsafe impl<T: Send + Sync> Sync for SharedOutput<'_, T> {}

impl<'a, T: Copy> SharedOutput<'a, T> {
    pub(super) fn new(slice: &'a mut [T]) -> Self {
        SharedOutput { start: slice.as_mut_ptr(), len: slice.len(), fresh: None, slice: PhantomData }
    }

    /// Of memory that holds nothing. Each part is filled with `value` when it is handed out, while it is in the
    /// processor's cache; filling everything first would write to memory twice.
    pub(super) fn of_uninit(slice: &'a mut [MaybeUninit<T>], value: T) -> Self {
        SharedOutput { start: slice.as_mut_ptr().cast(), len: slice.len(), fresh: Some(value), slice: PhantomData }
    }

    /// The number of items.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The part of `len` items from `first` on.
    ///
    /// # Safety
    /// No item of it may be part of another slice from this call that is still alive, on any thread.
    #[allow(clippy::mut_from_ref, reason = "the caller keeps the parts disjoint")]
    pub(super) unsafe fn part(&self, first: usize, len: usize) -> &mut [T] {
        assert!(first.checked_add(len).is_some_and(|end| end <= self.len), "a run lies inside the output");
        // SAFETY: inside the slice, by the assertion; not aliased, as the caller promises.
        let part = unsafe { std::slice::from_raw_parts_mut(self.start.add(first).cast::<MaybeUninit<T>>(), len) };
        if let Some(value) = self.fresh {
            part.fill(MaybeUninit::new(value));
        }
        // SAFETY: a `MaybeUninit<T>` is laid out as a `T`; all of them are initialised, from the start or just now.
        unsafe { &mut *(part as *mut [MaybeUninit<T>] as *mut [T]) }
    }
}

/// Results from this size on are asked to be on huge pages: the system then hands out memory in hundreds of steps, not
/// hundreds of thousands.
const HUGE: usize = 4 << 20;

/// Tells the system that this much memory is about to be written.
pub(super) fn expect_writes<T>(memory: &mut [MaybeUninit<T>]) {
    #[cfg(target_os = "linux")]
    if size_of_val(memory) >= HUGE {
        const PAGE: usize = 4096;
        let start = (memory.as_mut_ptr() as usize).next_multiple_of(PAGE);
        let len = (memory.as_mut_ptr_range().end as usize).saturating_sub(start) & !(PAGE - 1);
        // SAFETY: advice about whole pages of memory that is borrowed here; it changes no content. A kernel that does
        // not know it says so, and nothing is lost.
        unsafe { libc::madvise(start as *mut libc::c_void, len, libc::MADV_HUGEPAGE) };
    }
}
