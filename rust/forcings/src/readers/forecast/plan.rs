//! Where the windows of every slot come from, for the places that the arrays have now. An array may lie where its first
//! writer put it: a dense forecast in a packed column, a regular series in a variable of its own.

use super::blocks::Blocks;
use super::dense::Dense;
use super::selection::{Access, ForecastEntry, ForecastSlot};
use super::shape::WindowShape;
use super::track::Track;
use crate::array::{Array, ArrayHash};
use crate::readers::link::Planned;
use crate::readers::readahead::Bench;
use crate::store::arrays::{ArrayFile, PackedDataset, Place};
use crate::{Error, ErrorKind, Result};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

#[derive(Default)]
pub(super) struct Plan {
    /// The array file's when every place was last known to hold.
    pub(super) stamp: u64,
    pub(super) tracks: Vec<Track>,
    pub(super) dense: Vec<Dense>,
    pub(super) whole: Vec<Whole>,
    bench: Bench,
}

/// A slot of which no block of windows is stored together, so that the array is kept as a whole.
pub(super) struct Whole {
    hash: ArrayHash,
    /// A window begins every `stride` bytes.
    stride: usize,
    bytes: Vec<u8>,
    /// Its bytes in the reader's buffer.
    at: Range<usize>,
}

impl Plan {
    /// Looks every array up by its hash. Bytes are decoded ahead up to `readahead`, for as many windows as `count`.
    ///
    /// # Errors
    /// `NotFound` naming a forecast whose array is gone, `Integrity` when the catalog says something else of an array than
    /// the array file; errors of the file.
    pub(super) fn new(
        arrays: &ArrayFile,
        slots: &[ForecastSlot],
        entries: &[ForecastEntry],
        (count, readahead): (usize, usize),
    ) -> Result<Self> {
        arrays.settle()?;
        let mut plan = Plan { stamp: arrays.stamp(), ..Plan::default() };
        let mut datasets: HashMap<*const PackedDataset, usize> = HashMap::new();
        let mut widths: HashMap<(usize, bool), usize> = HashMap::new();
        let mut kept: Vec<&ForecastSlot> = Vec::new();
        for slot in slots {
            let info = entries[slot.entry].info();
            let lost = |e: Error| match e.kind() {
                ErrorKind::NotFound => gone(info),
                _ => e,
            };
            let shape = info.array_shape()?;
            let stored = arrays.shape(&slot.hash).map_err(lost)?;
            if stored != (slot.dtype(), shape.clone()) {
                return Err(Error::Integrity(format!(
                    "the catalog has {info} with the type {} and the shape {shape:?}, its array has {} and {:?}",
                    slot.dtype().name(),
                    stored.0.name(),
                    stored.1
                )));
            }
            match (slot.access, arrays.find(&slot.hash)) {
                (_, None) => return Err(gone(info)),
                _ if slot.at.is_empty() => kept.push(slot),
                (Access::Derived { steps, stride }, Some(Place::Packed(column))) => {
                    let track = *datasets.entry(Arc::as_ptr(&column.dataset)).or_insert_with(|| {
                        plan.tracks.push(Track::new(column.dataset.clone(), stride));
                        plan.tracks.len() - 1
                    });
                    plan.tracks[track].push(slot.hash, column.column, steps, slot.at.clone());
                }
                (Access::Dense { axis }, Some(Place::Standalone(array))) => {
                    let (array, source) = ((slot.hash, array), &**arrays.source());
                    let blocks = Blocks::new(array, (&shape, axis), source, &mut plan.bench)?;
                    let dense = *widths.entry((blocks.edge(), blocks.are_stored())).or_insert_with(|| {
                        plan.dense.push(Dense::default());
                        plan.dense.len() - 1
                    });
                    plan.dense[dense].push(blocks, slot.at.clone());
                }
                _ => kept.push(slot),
            }
        }
        let each = readahead / (plan.tracks.len() + plan.dense.len()).max(1);
        plan.tracks.iter_mut().for_each(|track| track.read_ahead(each, count));
        plan.dense.iter_mut().for_each(|dense| dense.read_ahead(arrays.source(), each));
        let hashes: Vec<ArrayHash> = kept.iter().map(|slot| slot.hash).collect();
        let whole = arrays.read_many(&hashes).map_err(|e| match kept.iter().find(|s| !arrays.contains(&s.hash)) {
            Some(slot) if e.kind() == ErrorKind::NotFound => gone(entries[slot.entry].info()),
            _ => e,
        })?;
        plan.whole = kept.into_iter().zip(whole).map(|(slot, array)| Whole::new(slot, array)).collect::<Result<_>>()?;
        Ok(plan)
    }

    /// Fills the buffer with a window of every slot; false when an array is no longer where it was.
    ///
    /// # Errors
    /// Those of [`Track::read`] and [`Dense::read`].
    pub(super) fn read(&mut self, arrays: &ArrayFile, window: usize, buffer: &mut [u8]) -> Result<bool> {
        if !self.holds(arrays) {
            return Ok(false);
        }
        for track in &mut self.tracks {
            if !track.read(arrays.source(), window, buffer)? {
                return Ok(false);
            }
        }
        for dense in &mut self.dense {
            dense.read(arrays, window, &mut self.bench, buffer)?;
        }
        self.whole.iter().for_each(|whole| whole.copy(window, buffer));
        Ok(true)
    }

    /// Whether no dataset and no variable was put elsewhere, and every array that is kept whole is still stored. Single
    /// columns of a dataset are its own affair.
    fn holds(&mut self, arrays: &ArrayFile) -> bool {
        let stamp = arrays.stamp();
        if stamp == self.stamp {
            return true;
        }
        let there = self.tracks.iter().all(|track| track.is_at_home(arrays))
            && self.whole.iter().all(|whole| whole.is_stored(arrays))
            && self.dense.iter().all(|dense| dense.is_at_home(arrays));
        if there {
            self.stamp = stamp;
        }
        there
    }
}

impl Planned for Plan {
    fn chunks_inflated(&self) -> u64 {
        self.tracks.iter().map(Track::chunks_inflated).chain(self.dense.iter().map(Dense::chunks_inflated)).sum()
    }
}

impl Whole {
    /// Copies a window into the buffer.
    pub(super) fn copy(&self, window: usize, buffer: &mut [u8]) {
        let Whole { stride, bytes, at, .. } = self;
        buffer[at.clone()].copy_from_slice(&bytes[window * stride..][..at.len()]);
    }

    /// Whether the array file still has the array.
    pub(super) fn is_stored(&self, arrays: &ArrayFile) -> bool {
        arrays.contains(&self.hash)
    }

    fn new(slot: &ForecastSlot, array: Array) -> Result<Self> {
        let (hash, at) = (slot.hash, slot.at.clone());
        match slot.access {
            Access::Derived { stride, .. } => {
                let row = array.bytes().len() / array.shape()[0].max(1);
                Ok(Whole { hash, stride: stride * row, bytes: array.into_bytes(), at })
            }
            Access::Dense { axis } => {
                let windows = WindowShape::new(array.shape(), axis, array.dtype().width());
                let mut bytes = Vec::new();
                bytes
                    .try_reserve_exact(array.bytes().len())
                    .map_err(|_| Error::Integrity(format!("no memory for {} bytes", array.bytes().len())))?;
                bytes.resize(array.bytes().len(), 0);
                windows.part(array.bytes(), array.shape()[axis], &mut bytes);
                Ok(Whole { hash, stride: at.len(), bytes, at })
            }
        }
    }
}

fn gone(series: &crate::series::SeriesInfo) -> Error {
    Error::NotFound(format!("the store has lost the values of {series}; add them again"))
}
