//! The output of reads, shared by their threads: disjoint parts of one piece of memory, which need not be cleared before.

use std::collections::TryReserveError;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A vector that one read fills, or two reads with a half each, without anyone clearing it first.
pub struct Fresh<T> {
    /// Initialised up to `len`, or empty with room for as many.
    values: Vec<T>,
    len: usize,
    /// Items that reads have written, each once.
    written: AtomicUsize,
}

/// Items of which several threads write disjoint parts.
pub struct Target<'a, T> {
    start: *mut T,
    len: usize,
    /// What parts are filled with before they are handed out, where they are not initialised yet.
    fresh: Option<T>,
    strips: Option<Strips>,
    written: Option<&'a AtomicUsize>,
    slice: PhantomData<&'a mut [T]>,
}

/// Every other strip of memory.
#[derive(Clone, Copy)]
struct Strips {
    /// Items of one strip.
    run: usize,
    /// Items of memory before the first one: none or one strip.
    skipped: usize,
}

// SAFETY: it hands out parts of a `&mut [T]`, which may be sent and written on another thread when `T: Send`; `fresh` is
// only copied, through a shared reference when `T: Sync`.
unsafe impl<T: Send> Send for Target<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Send + Sync> Sync for Target<'_, T> {}

impl<T: Copy + Default> Fresh<T> {
    /// Room for `len` items, in memory for `capacity` of them.
    ///
    /// # Errors
    /// The system's, when it has no room for them.
    pub fn new(len: usize, capacity: usize) -> Result<Self, TryReserveError> {
        let mut values = Vec::new();
        values.try_reserve_exact(capacity.max(len))?;
        expect_writes(values.spare_capacity_mut());
        Ok(Fresh { values, len, written: AtomicUsize::new(0) })
    }

    /// The memory of `old`, for as many items.
    pub fn reusing(old: Vec<T>) -> Self {
        Fresh { len: old.len(), values: old, written: AtomicUsize::new(0) }
    }

    /// All of it.
    pub fn whole(&mut self) -> Target<'_, T> {
        let Fresh { values, len, written } = self;
        let fresh = values.is_empty().then(T::default);
        let (start, len) = (values.as_mut_ptr(), *len);
        Target { start, len, fresh, strips: None, written: Some(written), slice: PhantomData }
    }

    /// Two halves that take turns: `run` items of one, then as many of the other, and so on.
    ///
    /// # Panics
    /// If that does not come out even.
    pub fn halves(&mut self, run: usize) -> [Target<'_, T>; 2] {
        let Fresh { values, len, written } = self;
        assert!(*len == 0 || (run > 0 && *len % (2 * run) == 0), "both halves are whole strips");
        let fresh = values.is_empty().then(T::default);
        let (start, len, written) = (values.as_mut_ptr(), *len / 2, &*written);
        [0, run].map(|skipped| {
            let strips = Some(Strips { run, skipped });
            Target { start, len, fresh, strips, written: Some(written), slice: PhantomData }
        })
    }

    /// The items.
    ///
    /// # Panics
    /// If not all of them were written.
    pub fn finish(mut self) -> Vec<T> {
        assert_eq!(self.written.into_inner(), self.len, "the reads have filled their output");
        // SAFETY: there is room for `len` items, and they are initialised: from the start, or since reads have written as
        // many, none twice: a read serves each block once, and each position belongs to one run (`AxisPlan`) of one block.
        unsafe { self.values.set_len(self.len) };
        self.values
    }
}

impl<'a, T: Copy> Target<'a, T> {
    /// A slice of the caller's.
    pub(super) fn of(slice: &'a mut [T]) -> Self {
        let (start, len) = (slice.as_mut_ptr(), slice.len());
        Target { start, len, fresh: None, strips: None, written: None, slice: PhantomData }
    }

    /// The number of items.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Whether all items lie next to each other.
    pub(super) fn is_one_run(&self) -> bool {
        self.strips.is_none()
    }

    /// How many items from the position `first` on, `len` at the most, lie next to each other.
    pub(super) fn run(&self, first: usize, len: usize) -> usize {
        self.strips.map_or(len, |Strips { run, .. }| len.min(run - first % run))
    }

    /// The part of `len` items from the position `first` on, which lie next to each other. Where they are not initialised
    /// yet, this fills them while they are in the processor's cache; filling everything first would write to memory twice.
    ///
    /// # Safety
    /// No item of it may be part of another slice from this call that is still alive, on any thread.
    #[allow(clippy::mut_from_ref, reason = "the caller keeps the parts disjoint")]
    pub(super) unsafe fn part(&self, first: usize, len: usize) -> &mut [T] {
        assert!(first.checked_add(len).is_some_and(|end| end <= self.len), "a run lies inside the output");
        assert!(self.run(first, len) == len, "a run lies inside a strip");
        let at = self.strips.map_or(first, |Strips { run, skipped }| first / run * run + first + skipped);
        // SAFETY: inside the memory, by the assertions: the last of n strips of `run` positions ends before 2 n runs. Not
        // aliased, as the caller promises; the strips of two halves are different ones.
        let part = unsafe { std::slice::from_raw_parts_mut(self.start.add(at).cast::<MaybeUninit<T>>(), len) };
        if let Some(value) = self.fresh {
            part.fill(MaybeUninit::new(value));
        }
        // SAFETY: a `MaybeUninit<T>` is laid out as a `T`; all of them are initialised, from the start or just now.
        unsafe { &mut *(part as *mut [MaybeUninit<T>] as *mut [T]) }
    }

    /// Gives every item a value before blocks overwrite some of them.
    pub(super) fn fill(&mut self, value: T) {
        let mut first = 0;
        while first < self.len {
            let len = self.run(first, self.len - first);
            // SAFETY: one part at a time, on one thread: nobody else has a part of what is borrowed mutably.
            unsafe { self.part(first, len) }.fill(value);
            first += len;
        }
        self.count(self.len);
        (self.fresh, self.written) = (None, None);
    }

    /// Counts items that a block has written. Once for each block.
    pub(super) fn count(&self, items: usize) {
        if let Some(written) = self.written {
            written.fetch_add(items, Ordering::Relaxed);
        }
    }
}

/// Results from this size on are asked to be on huge pages: the system then hands out memory in hundreds of steps, not
/// hundreds of thousands.
const HUGE: usize = 4 << 20;

/// Tells the system that this much memory is about to be written.
fn expect_writes<T>(memory: &mut [MaybeUninit<T>]) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_take_turns_in_memory_new_and_old() {
        for mut out in [Fresh::new(12, 12).unwrap(), Fresh::reusing(vec![9_u8; 12])] {
            for (half, value) in out.halves(3).iter().zip([1, 2]) {
                assert_eq!((half.len(), half.run(0, 6), half.run(4, 6), half.run(4, 1)), (6, 3, 2, 1));
                for (first, len) in [(0, 3), (3, 1), (4, 2)] {
                    // SAFETY: one part at a time.
                    unsafe { half.part(first, len) }.fill(value + 10 * first as u8);
                    half.count(len);
                }
            }
            assert_eq!(out.finish(), [1, 1, 1, 2, 2, 2, 31, 41, 41, 32, 42, 42]);
        }
    }

    #[test]
    fn what_was_filled_before_counts_once() {
        let mut out = Fresh::new(6, 6).unwrap();
        let [mut one, mut two] = out.halves(1);
        one.fill(1_u8);
        two.fill(2);
        // SAFETY: one part at a time.
        let last = unsafe { two.part(1, 1) };
        last[0] += 5;
        two.count(1);
        assert_eq!(out.finish(), [1, 2, 1, 7, 1, 2]);
    }

    #[test]
    #[should_panic(expected = "filled their output")]
    fn what_was_not_filled_is_never_handed_out() {
        let mut out = Fresh::<u8>::new(4, 4).unwrap();
        out.whole().count(3);
        out.finish();
    }

    #[test]
    fn there_may_be_room_for_more_than_is_filled() {
        let mut out = Fresh::new(2, 4).unwrap();
        let target = out.whole();
        // SAFETY: one part at a time.
        unsafe { target.part(0, 2) }.copy_from_slice(&[5_i32, 6]);
        target.count(2);
        let mut values = out.finish();
        values.extend_from_within(..);
        assert_eq!((values.capacity(), &values[..]), (4, &[5, 6, 5, 6][..]));
    }
}
