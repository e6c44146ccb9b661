//! The dense forecasts of one width of blocks: of each, the block that was used last is kept, so that a sweep in either
//! direction decodes every block once. The blocks that come next are decoded ahead: those of the other forecasts, then
//! those of the windows behind.

use super::blocks::{grow, Blocks};
use crate::chunks::ByteSource;
use crate::readers::readahead::{Ahead, Bench, Decode};
use crate::store::arrays::ArrayFile;
use crate::Result;
use std::ops::Range;
use std::sync::Arc;

/// Forecasts with windows in step: they come to their next blocks at the same window.
#[derive(Default)]
pub(super) struct Dense {
    slots: Vec<Slot>,
    /// The block that was asked for last.
    last: Option<usize>,
    ahead: Option<Ahead>,
    inflated: u64,
}

/// One array.
struct Slot {
    blocks: Arc<Blocks>,
    /// The block that is held, and its windows, one behind the other.
    held: Option<usize>,
    windows: Vec<u8>,
    /// Its bytes in the reader's buffer.
    at: Range<usize>,
}

/// The blocks of all slots: those of the first block, slot by slot, then those of the second.
struct InStep {
    source: Arc<dyn ByteSource>,
    slots: Vec<Arc<Blocks>>,
}

impl Dense {
    /// Adds a slot; all of a group have blocks of one width.
    pub(super) fn push(&mut self, blocks: Blocks, at: Range<usize>) {
        self.slots.push(Slot { blocks: Arc::new(blocks), held: None, windows: Vec::new(), at });
    }

    /// The blocks of every slot, with its bytes in the reader's buffer.
    pub(super) fn into_blocks(self) -> impl Iterator<Item = (Arc<Blocks>, Range<usize>)> {
        self.slots.into_iter().map(|slot| (slot.blocks, slot.at))
    }

    /// Decodes `budget` bytes ahead at most.
    pub(super) fn read_ahead(&mut self, source: &Arc<dyn ByteSource>, budget: usize) {
        if self.slots.iter().all(|slot| slot.blocks.are_stored()) {
            let slots = self.slots.iter().map(|slot| slot.blocks.clone()).collect();
            self.ahead = Ahead::new(Box::new(InStep { source: source.clone(), slots }), budget);
        }
    }

    /// Copies a window of every slot into the reader's buffer.
    ///
    /// # Errors
    /// Those of [`Blocks::decode`].
    pub(super) fn read(
        &mut self,
        arrays: &ArrayFile,
        window: usize,
        bench: &mut Bench,
        buffer: &mut [u8],
    ) -> Result<()> {
        let Some(first) = self.slots.first() else { return Ok(()) };
        let edge = first.blocks.edge();
        let block = window / edge;
        let before = self.last.replace(block);
        if before != Some(block) {
            // Behind this block only in a sweep: after a jump nobody knows which block comes next.
            let count = self.slots.len();
            let in_order = before.is_some_and(|before| before.abs_diff(block) == 1);
            let slots = if in_order { 0..first.blocks.len() * count } else { block * count..(block + 1) * count };
            let within = slots.start as u64..slots.end as u64;
            match before.is_some_and(|before| before > block) {
                true => (0..count).rev().try_for_each(|slot| self.hold(slot, arrays, block, &within, bench))?,
                false => (0..count).try_for_each(|slot| self.hold(slot, arrays, block, &within, bench))?,
            }
        }
        for Slot { blocks, windows, at, .. } in &self.slots {
            let bytes = blocks.window_bytes();
            buffer[at.clone()].copy_from_slice(&windows[window % edge * bytes..][..bytes]);
        }
        Ok(())
    }

    /// Whether every array is still where it was.
    pub(super) fn is_at_home(&self, arrays: &ArrayFile) -> bool {
        self.slots.iter().all(|slot| slot.blocks.is_at_home(arrays))
    }

    /// Chunks that were inflated so far; those of arrays whose chunks hold parts of windows do not count.
    pub(super) fn chunks_inflated(&self) -> u64 {
        self.inflated + self.ahead.as_ref().map_or(0, Ahead::chunks_inflated)
    }

    /// Makes a slot hold a block.
    fn hold(
        &mut self,
        slot: usize,
        arrays: &ArrayFile,
        block: usize,
        within: &Range<u64>,
        bench: &mut Bench,
    ) -> Result<()> {
        let band = (block * self.slots.len() + slot) as u64;
        let Slot { blocks, held, windows, .. } = &mut self.slots[slot];
        if *held == Some(block) {
            return Ok(());
        }
        *held = None;
        // Of the largest block, so that no later one has to make it larger.
        let windows = &mut grow(windows, blocks.bytes())?[..blocks.bytes_of(block)];
        let taken = self.ahead.as_ref().is_some_and(|ahead| ahead.take(band, windows, bench));
        match (taken, blocks.are_stored()) {
            (true, _) => {}
            (false, true) => self.inflated += blocks.decode(&**arrays.source(), block, windows, bench)?,
            (false, false) => blocks.gather(arrays, block, windows)?,
        }
        *held = Some(block);
        if let Some(ahead) = &mut self.ahead {
            ahead.moved(band, within.clone());
        }
        Ok(())
    }
}

impl Decode for InStep {
    fn bands(&self) -> u64 {
        (self.slots.len() * self.slots.first().map_or(0, |blocks| blocks.len())) as u64
    }

    fn band_bytes(&self) -> usize {
        self.slots.iter().map(|blocks| blocks.bytes()).max().unwrap_or(0)
    }

    fn decode(&self, band: u64, out: &mut [u8], bench: &mut Bench) -> Result<Option<u64>> {
        let (block, slot) = (band as usize / self.slots.len(), band as usize % self.slots.len());
        self.slots[slot].decode(&*self.source, block, out, bench).map(Some)
    }
}
