//! The reader's side of a lane: in which direction it is swept, and so what is worth decoding ahead.

use super::lane::Lane;
use super::pool::Pool;
use super::{Bench, Decode};
use std::ops::Range;
use std::sync::Arc;

/// Steps in one direction that make a sweep.
const SWEEP: u32 = 2;

/// Notes which bands are asked for. Dropping it forgets what was decoded ahead, without waiting for a thread.
pub(in super::super) struct Ahead {
    lane: Arc<Lane>,
    pool: Pool,
    /// The band that was asked for last.
    last: Option<u64>,
    forward: bool,
    /// Steps in that direction, up to those that make a sweep.
    steps: u32,
}

impl Ahead {
    /// Decodes `budget` bytes ahead at most; `None` where that is of no use.
    pub(in super::super) fn new(decode: Box<dyn Decode>, budget: usize) -> Option<Self> {
        match budget {
            0 => None,
            _ => Self::with_pool(decode, budget, Pool::shared),
        }
    }

    pub(super) fn with_pool(decode: Box<dyn Decode>, budget: usize, pool: impl FnOnce() -> Pool) -> Option<Self> {
        let lane = Arc::new(Lane::new(decode, budget)?);
        let pool = pool();
        pool.enter();
        Some(Ahead { lane, pool, last: None, forward: true, steps: 0 })
    }

    /// Copies a band that was decoded ahead; false when it was not.
    pub(in super::super) fn take(&self, band: u64, out: &mut [u8], bench: &mut Bench) -> bool {
        self.steps >= SWEEP && self.lane.take(band, out, bench)
    }

    /// Notes that a band was taken or decoded, and lets those of `within` that come next be decoded.
    pub(in super::super) fn moved(&mut self, band: u64, within: Range<u64>) {
        let forward = match self.last.replace(band) {
            Some(last) if band == last + 1 => true,
            Some(last) if band + 1 == last => false,
            _ => return self.stop(),
        };
        if forward != self.forward {
            self.stop();
            self.forward = forward;
        }
        self.steps = (self.steps + 1).min(SWEEP);
        if self.steps == SWEEP && self.lane.follow(band, forward, &within) {
            self.pool.tell(&self.lane);
        }
    }

    /// Chunks that were inflated ahead so far.
    pub(in super::super) fn chunks_inflated(&self) -> u64 {
        self.lane.chunks_inflated()
    }

    fn stop(&mut self) {
        if self.steps == SWEEP {
            self.lane.cancel();
        }
        self.steps = 0;
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.lane.cancel();
        self.pool.leave();
    }
}
