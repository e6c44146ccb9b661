//! Chunks that a store keeps in objects of its own: what a read asks of the store, and the objects that one read needs.
//! Knows nothing of names, codecs or networks; those are the store's.

use super::axis::AxisPlan;
use super::codecs::Codecs;
use super::geometry::{BlockAxis, Blocks, Subject};
use super::ChunkSite;
use crate::{Error, Result};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;

/// The chunks of a variable in a store.
#[derive(Clone)]
pub struct StoredChunks {
    /// Extents of one chunk, slowest first; none is zero. Edge chunks are stored in full.
    pub chunk_shape: Vec<u64>,
    /// The axes in the order in which a decoded chunk runs through them, slowest first.
    pub order: Vec<usize>,
    /// What holds them.
    pub objects: Arc<dyn ChunkObjects>,
}

/// An object; `None` where there is none, so that all its chunks hold the fill value.
pub type Fetched = Option<Arc<dyn ChunkObject>>;

/// The objects that hold the chunks of a variable.
pub trait ChunkObjects: Send + Sync {
    /// Chunks of one object along each axis: ones, or more where objects are shards.
    fn chunks_per_object(&self) -> &[u64];

    /// How many fetches of one read may wait at a time beside its decoding; 0 where nothing is fetched from afar.
    fn fetchers(&self) -> usize;

    /// Whether [`fetch`](Self::fetch) would fetch nothing from afar for these coordinates.
    fn is_at_hand(&self, object: &[u64]) -> bool;

    /// The object at these coordinates.
    ///
    /// # Errors
    /// What hinders to find out.
    fn fetch(&self, object: &[u64]) -> Result<Fetched>;
}

/// An object that was fetched.
pub trait ChunkObject: Send + Sync {
    /// Its name for error texts.
    fn name(&self) -> &Path;

    /// Where the chunk at these coordinates within the object lies; `None` where it was never written. Asked before a
    /// buffer of `len` bytes is made for it, which a damaged header could ask for.
    ///
    /// # Errors
    /// `Format` when the object is damaged or cannot hold a chunk of `len` bytes, `Io`.
    fn find(&self, within: &[u64], len: usize, site: &ChunkSite) -> Result<Option<Part>>;

    /// Decodes a part that `find` gave into `out`, which has the length of a chunk.
    ///
    /// # Errors
    /// `Format` when it does not decode to exactly that, `Io`.
    fn decode(&self, part: Part, out: &mut [u8], scratch: &mut ObjectScratch, site: &ChunkSite) -> Result<()>;
}

/// A part of an object, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Where it starts.
    pub offset: u64,
    /// How long it is.
    pub len: u64,
}

/// Buffers and codec state of one thread, reused from chunk to chunk.
#[derive(Default)]
pub struct ObjectScratch {
    codecs: Option<Codecs>,
    /// The bytes as stored.
    raw: Vec<u8>,
    /// What a codec gave that is not the chunk yet.
    stage: Vec<u8>,
}

impl ObjectScratch {
    /// Bytes that the buffers take.
    pub(super) fn capacity(&self) -> usize {
        let block = self.codecs.as_ref().map_or(0, |codecs| codecs.block.capacity());
        self.raw.capacity() + self.stage.capacity() + block
    }

    /// The state of the codecs, apart from the buffers.
    pub(crate) fn split(&mut self) -> (&mut Codecs, &mut Vec<u8>, &mut Vec<u8>) {
        (self.codecs.get_or_insert_with(Codecs::new), &mut self.raw, &mut self.stage)
    }
}

impl std::fmt::Debug for StoredChunks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredChunks").field("chunk_shape", &self.chunk_shape).finish_non_exhaustive()
    }
}

impl PartialEq for StoredChunks {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.objects, &other.objects)
    }
}

impl Eq for StoredChunks {}

/// The objects of one read, each fetched once, whichever thread needs it first.
pub(super) struct Needed<'a> {
    objects: &'a dyn ChunkObjects,
    axes: Vec<NeededAxis>,
    slots: Vec<Mutex<Slot>>,
    /// The next slot for the threads that only fetch.
    next: AtomicUsize,
}

/// The objects along one axis.
struct NeededAxis {
    /// Their coordinates, ascending.
    coords: Vec<u64>,
    /// For each touched block of the axis the position of its object in `coords`.
    of_touched: Vec<usize>,
}

enum Slot {
    Untouched,
    Here(Fetched),
    /// The error waits for the thread that needs the object.
    Failed(Error),
}

impl<'a> Needed<'a> {
    /// The objects for the blocks that these plans touch.
    pub(super) fn new(stored: &'a StoredChunks, rank: usize, plans: &[AxisPlan]) -> Self {
        let objects = &*stored.objects;
        let along = |(plan, per_object): (&AxisPlan, &u64)| {
            let (mut coords, mut of_touched) = (Vec::new(), Vec::with_capacity(plan.touched.len()));
            for touched in &plan.touched {
                let coord = touched.coord / per_object;
                if coords.last() != Some(&coord) {
                    coords.push(coord);
                }
                of_touched.push(coords.len() - 1);
            }
            NeededAxis { coords, of_touched }
        };
        let axes: Vec<NeededAxis> = plans[..rank].iter().zip(objects.chunks_per_object()).map(along).collect();
        let count = axes.iter().map(|a| a.coords.len()).product();
        let slots = std::iter::repeat_with(|| Mutex::new(Slot::Untouched)).take(count).collect();
        Needed { objects, axes, slots, next: AtomicUsize::new(0) }
    }

    /// Threads that are worth having for fetching alone what several reads need: one for each object that has to come from
    /// afar.
    pub(super) fn fetchers(needed: &[&Needed]) -> usize {
        let most = needed.iter().map(|needed| needed.objects.fetchers()).max().unwrap_or(0);
        // One object is fetched by the thread that needs it.
        if most == 0 || needed.iter().map(|needed| needed.slots.len()).sum::<usize>() < 2 {
            return 0;
        }
        let afar = needed.iter().flat_map(|needed| {
            (0..needed.slots.len()).filter(|slot| !needed.objects.is_at_hand(&needed.coords(*slot)))
        });
        afar.take(most).count()
    }

    /// Fetches objects in order until all are there, one failed, or `stopped` was set, which a failure sets for all.
    pub(super) fn fetch_all(needed: &[&Needed], stopped: &AtomicBool) {
        for needed in needed {
            while !stopped.load(Ordering::Relaxed) {
                let slot = needed.next.fetch_add(1, Ordering::Relaxed);
                let Some(state) = needed.slots.get(slot) else { break };
                let mut state = state.lock();
                if matches!(*state, Slot::Untouched) {
                    *state = match needed.objects.fetch(&needed.coords(slot)) {
                        Ok(object) => Slot::Here(object),
                        Err(error) => {
                            stopped.store(true, Ordering::Relaxed);
                            Slot::Failed(error)
                        }
                    };
                }
            }
        }
    }

    /// The object of the block whose positions among the touched ones these are, fetched now if need be.
    ///
    /// # Errors
    /// Those of fetching it.
    pub(super) fn get(&self, touched: &[usize]) -> Result<Fetched> {
        let axes = self.axes.iter().zip(touched);
        let slot = axes.fold(0, |n, (axis, touched)| n * axis.coords.len() + axis.of_touched[*touched]);
        let mut state = self.slots[slot].lock();
        let object = match std::mem::replace(&mut *state, Slot::Untouched) {
            Slot::Here(object) => object,
            Slot::Failed(error) => return Err(error),
            Slot::Untouched => self.objects.fetch(&self.coords(slot))?,
        };
        *state = Slot::Here(object.clone());
        Ok(object)
    }

    /// The coordinates of a block within its object.
    pub(super) fn within(&self, coords: &[u64]) -> Vec<u64> {
        coords.iter().zip(self.objects.chunks_per_object()).map(|(c, n)| c % n).collect()
    }

    /// The number of objects that there are, after [`fetch_all`](Self::fetch_all).
    ///
    /// # Errors
    /// That of the first one that could not be fetched.
    pub(super) fn found(self) -> Result<usize> {
        self.slots.into_iter().try_fold(0, |found, slot| match slot.into_inner() {
            Slot::Failed(error) => Err(error),
            Slot::Here(Some(_)) => Ok(found + 1),
            Slot::Here(None) | Slot::Untouched => Ok(found),
        })
    }

    fn coords(&self, mut slot: usize) -> Vec<u64> {
        let mut coords = vec![0; self.axes.len()];
        for (coord, axis) in coords.iter_mut().zip(&self.axes).rev() {
            *coord = axis.coords[slot % axis.coords.len()];
            slot /= axis.coords.len();
        }
        coords
    }
}

/// The bytes from one element of a decoded chunk to the next along each axis, and those of the whole; `None` where a
/// number is too large.
pub(super) fn strides(stored: &StoredChunks, width: u64) -> Option<(Vec<u64>, u64)> {
    let mut strides = vec![0; stored.chunk_shape.len()];
    let mut bytes = width;
    for &axis in stored.order.iter().rev() {
        *strides.get_mut(axis)? = bytes;
        bytes = bytes.checked_mul(*stored.chunk_shape.get(axis)?)?;
    }
    Some((strides, bytes))
}

/// The cells that one read fills in for chunks that were never written. Metadata alone could ask for any number.
#[derive(Default)]
pub(super) struct Absent(AtomicU64);

impl Absent {
    /// No read fills more: 4 GiB of doubles.
    const FREE_CELLS: u64 = 1 << 29;

    /// Counts cells that are filled.
    ///
    /// # Errors
    /// `Selection` when they are too many, whichever thread counts which of them first.
    pub(super) fn add(&self, cells: u64, subject: &Subject) -> Result<()> {
        let filled = self.0.fetch_add(cells, Ordering::Relaxed).saturating_add(cells);
        if filled > Self::FREE_CELLS {
            let detail = format!("more than {} of the selected elements were never written", Self::FREE_CELLS);
            return Err(too_much(subject, &detail));
        }
        Ok(())
    }
}

/// Chunks that one read may touch. Each costs memory beside the result, which tiny chunks could make many times larger
/// than that.
const MAX_TOUCHED: u64 = 1 << 22;

/// Refuses a read that selects `counts` positions and is cut into too many chunks.
///
/// # Errors
/// `Selection`.
pub(super) fn check_bearable(blocks: &Blocks, subject: &Subject, counts: &[u64]) -> Result<()> {
    let along = |(b, (s, n)): (&BlockAxis, (&u64, &u64))| s.div_ceil(b.extent).min(*n);
    let touched = blocks.axes.iter().zip(subject.shape.iter().zip(counts)).map(along);
    if touched.fold(1u64, u64::saturating_mul) > MAX_TOUCHED {
        return Err(too_much(subject, "the selection touches more chunks than can be read at once"));
    }
    Ok(())
}

fn too_much(subject: &Subject, detail: &str) -> Error {
    let path = subject.source.path().display();
    Error::Selection(format!("{path}: {}: {detail}; select less", subject.what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunks::axis::AxisRead;
    use crate::chunks::{Layout, MemorySource};
    use crate::ErrorKind;

    /// Objects of which the first ones are at hand.
    struct Near(u64);

    impl ChunkObjects for Near {
        fn chunks_per_object(&self) -> &[u64] {
            &[1]
        }

        fn fetchers(&self) -> usize {
            4
        }

        fn is_at_hand(&self, object: &[u64]) -> bool {
            object[0] < self.0
        }

        fn fetch(&self, _: &[u64]) -> Result<Fetched> {
            Ok(None)
        }
    }

    #[test]
    fn only_what_comes_from_afar_has_threads_that_fetch() {
        // Of one read, and of two of them: one object of each is two.
        for (chunks, near, of_one, of_two) in
            [(10, 10, 0, 0), (10, 9, 1, 2), (10, 7, 3, 4), (10, 6, 4, 4), (10, 0, 4, 4), (1, 0, 0, 2)]
        {
            let stored = StoredChunks { chunk_shape: vec![1], order: vec![0], objects: Arc::new(Near(near)) };
            let needed = Needed::new(&stored, 1, &[AxisPlan::new(&AxisRead::All, chunks, 1, 1)]);
            assert_eq!(Needed::fetchers(&[&needed]), of_one, "{near} of {chunks}");
            assert_eq!(Needed::fetchers(&[&needed, &needed]), of_two, "{near} of {chunks}");
        }
    }

    #[test]
    fn absent_cells_are_counted_in_any_order() {
        let (source, layout) = (MemorySource::new("a.zarr", Vec::new()), Layout::Unallocated);
        let subject = Subject { source: &source, layout: &layout, shape: &[1], width: 8, what: "array \"q\"" };
        let outcome = |cells: &[u64]| {
            let absent = Absent::default();
            cells.iter().try_for_each(|cells| absent.add(*cells, &subject))
        };
        let (free, max) = (Absent::FREE_CELLS, u64::MAX);
        assert!(outcome(&[free - 1, 1]).is_ok() && outcome(&[1, free - 1]).is_ok());
        for cells in [&[free, 1], &[1, free], &[max, 1], &[1, max]] {
            let error = outcome(cells).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Selection);
            let text =
                "a.zarr: array \"q\": more than 536870912 of the selected elements were never written; select less";
            assert!(error.to_string().ends_with(text), "{error}");
        }
    }
}
