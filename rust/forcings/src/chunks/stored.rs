//! Chunks that a store keeps in objects of its own: what a read asks of the store, and the objects that one read needs.
//! Knows nothing of names, codecs or networks; those are the store's.

use super::axis::AxisPlan;
use super::codecs::Codecs;
use super::geometry::{Blocks, Subject};
use super::{ChunkSite, MAX_EXPANSION};
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

/// The objects that hold the chunks of a variable.
pub trait ChunkObjects: Send + Sync {
    /// Chunks of one object along each axis: ones, or more where objects are shards.
    fn chunks_per_object(&self) -> &[u64];

    /// How many fetches of one read may wait at a time beside its decoding; 0 where nothing is fetched from afar.
    fn fetchers(&self) -> usize;

    /// The object at these coordinates; `None` where there is none, so that all its chunks hold the fill value.
    ///
    /// # Errors
    /// What hinders to find out.
    fn fetch(&self, object: &[u64]) -> Result<Option<Arc<dyn ChunkObject>>>;
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
    stopped: AtomicBool,
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
    Here(Option<Arc<dyn ChunkObject>>),
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
        Needed { objects, axes, slots, next: AtomicUsize::new(0), stopped: AtomicBool::new(false) }
    }

    /// Threads that are worth having for fetching alone.
    pub(super) fn fetchers(&self) -> usize {
        // One object is fetched by the thread that needs it.
        if self.slots.len() > 1 {
            self.objects.fetchers().min(self.slots.len())
        } else {
            0
        }
    }

    /// Fetches objects in order until all are there, one failed, or [`stop`](Self::stop) was called.
    pub(super) fn fetch_all(&self) {
        while !self.stopped.load(Ordering::Relaxed) {
            let slot = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(state) = self.slots.get(slot) else { return };
            let mut state = state.lock();
            if matches!(*state, Slot::Untouched) {
                *state = match self.objects.fetch(&self.coords(slot)) {
                    Ok(object) => Slot::Here(object),
                    Err(error) => {
                        self.stop();
                        Slot::Failed(error)
                    }
                };
            }
        }
    }

    /// Has [`fetch_all`](Self::fetch_all) begin no further fetch.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// The object of the block whose positions among the touched ones these are, fetched now if need be.
    ///
    /// # Errors
    /// Those of fetching it.
    pub(super) fn get(&self, touched: &[usize]) -> Result<Option<Arc<dyn ChunkObject>>> {
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

/// What a read of a store fills in for chunks that were never written, against what it found: metadata alone could ask
/// for any number of cells.
#[derive(Default)]
pub(super) struct Absent {
    cells: AtomicU64,
    stored: AtomicU64,
}

impl Absent {
    /// So many cells take memory whatever the store holds: 4 GiB of doubles.
    const FREE_CELLS: u64 = 1 << 29;

    /// Counts cells that are filled.
    ///
    /// # Errors
    /// `Format` when they are too many for so little that is stored.
    pub(super) fn add(&self, cells: u64, subject: &Subject) -> Result<()> {
        let filled = self.cells.fetch_add(cells, Ordering::Relaxed).saturating_add(cells);
        let stored = self.stored.load(Ordering::Relaxed);
        if filled > Self::FREE_CELLS.max(stored.saturating_mul(MAX_EXPANSION as u64)) {
            return Err(subject.damaged(format_args!(
                "{filled} of the selected elements were never written, beside {stored} bytes that were; select less"
            )));
        }
        Ok(())
    }

    /// Counts bytes that were found.
    pub(super) fn note_stored(&self, bytes: u64) {
        self.stored.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Chunks that one read may touch. Each costs memory beside the result, which tiny chunks could make many times larger
/// than that.
const MAX_TOUCHED: u64 = 1 << 22;

/// Whether a read that selects `counts` positions is not cut into too many chunks.
pub(super) fn is_bearable(blocks: &Blocks, shape: &[u64], counts: &[u64]) -> bool {
    let touched = blocks.axes.iter().zip(shape.iter().zip(counts)).map(|(b, (s, n))| s.div_ceil(b.extent).min(*n));
    touched.fold(1u64, u64::saturating_mul) <= MAX_TOUCHED
}
