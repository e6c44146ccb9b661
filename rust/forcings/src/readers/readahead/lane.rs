//! What a reader and the threads share of one dataset: runs of bands, each of which waits to be decoded, is being decoded,
//! or is decoded. A thread decodes outside the lock; the reader decodes too rather than wait.

use super::{Bench, Decode};
use crate::prefetch::sync::{Condvar, Mutex, MutexGuard};
use std::ops::Range;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// Bytes of the bands that one thread decodes in one go.
const RUN_BYTES: usize = 256 << 10;
/// Runs of a lane at most.
const MAX_RUNS: usize = 8;

/// The lane of one reader over one dataset.
pub(super) struct Lane {
    decode: Box<dyn Decode>,
    band_bytes: usize,
    /// Bands of a run.
    each: u64,
    state: Mutex<State>,
    /// A run was decoded.
    done: Condvar,
}

struct State {
    runs: Vec<Run>,
    /// Counts the runs that were queued.
    queued: u64,
    /// Whether a pool knows that there is work.
    listed: bool,
    inflated: u64,
}

/// Bands that follow each other.
struct Run {
    phase: Phase,
    /// The first band in `bytes`, and the bands that are still to be taken.
    first: u64,
    left: Range<u64>,
    /// Its number among all that were queued.
    number: u64,
    /// Made when it is first decoded.
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Free.
    Idle,
    Queued,
    /// A thread has its bytes; `wanted` is false when the reader turned elsewhere meanwhile.
    Running {
        wanted: bool,
    },
    Done,
    /// It cannot be decoded; the reader will find out why.
    Failed,
}

impl Lane {
    /// A lane that decodes `budget` bytes ahead at most; `None` if that is less than a band, or there is one band only.
    pub(super) fn new(decode: Box<dyn Decode>, budget: usize) -> Option<Self> {
        let band_bytes = decode.band_bytes();
        let fitting = budget.checked_div(band_bytes).filter(|bands| *bands > 0 && decode.bands() > 1)?;
        // Two runs at least, so that one is decoded while another is taken.
        let each = (RUN_BYTES / band_bytes).clamp(1, (fitting / 2).max(1));
        let runs = (fitting / each).min(MAX_RUNS);
        let idle = || Run { phase: Phase::Idle, first: 0, left: 0..0, number: 0, bytes: Vec::new() };
        let runs = (0..runs).map(|_| idle()).collect();
        let state = State { runs, queued: 0, listed: false, inflated: 0 };
        Some(Lane { decode, band_bytes, each: each as u64, state: Mutex::new(state), done: Condvar::new() })
    }

    /// Copies a band that was decoded ahead. False when it was not. Does work of the lane on this thread rather than wait
    /// for a band that is being decoded.
    pub(super) fn take(&self, band: u64, out: &mut [u8], bench: &mut Bench) -> bool {
        let mut state = self.state.lock();
        loop {
            let wanted = |run: &Run| run.left.contains(&band) && run.phase != Phase::Running { wanted: false };
            let Some(i) = state.runs.iter().position(wanted) else { return false };
            match state.runs[i].phase {
                Phase::Done => {
                    let run = &mut state.runs[i];
                    let start = (band - run.first) as usize * self.band_bytes;
                    out.copy_from_slice(&run.bytes[start..start + out.len()]);
                    return true;
                }
                Phase::Queued => state = self.serve(state, i, bench),
                Phase::Running { .. } => match state.next_queued() {
                    Some(other) => state = self.serve(state, other, bench),
                    None => self.done.wait(&mut state),
                },
                Phase::Idle | Phase::Failed => return false,
            }
        }
    }

    /// Queues the bands of `within` that follow `band` in the direction of a sweep, as far as there are free runs. True when
    /// a pool has to be told of it.
    pub(super) fn follow(&self, band: u64, forward: bool, within: &Range<u64>) -> bool {
        let mut state = self.state.lock();
        let state = &mut *state;
        let mut next = if forward { band + 1 } else { band };
        for run in &mut state.runs {
            match (run.phase, forward) {
                (Phase::Idle | Phase::Running { wanted: false }, _) => continue,
                (_, true) => run.left.start = run.left.start.max(band + 1),
                (_, false) => run.left.end = run.left.end.min(band),
            }
            if run.left.is_empty() {
                run.free();
            } else {
                next = if forward { next.max(run.left.end) } else { next.min(run.left.start) };
            }
        }
        for run in state.runs.iter_mut().filter(|run| run.phase == Phase::Idle) {
            let left = match forward {
                true => next.max(within.start)..(next + self.each).min(within.end),
                false => next.saturating_sub(self.each).max(within.start)..next.min(within.end),
            };
            if left.is_empty() {
                break;
            }
            next = if forward { left.end } else { left.start };
            (run.left, run.phase, run.number) = (left, Phase::Queued, state.queued);
            state.queued += 1;
        }
        let tell = !state.listed && state.next_queued().is_some();
        state.listed |= tell;
        tell
    }

    /// Forgets everything that was decoded or queued. Runs that are being decoded are not waited for.
    pub(super) fn cancel(&self) {
        self.state.lock().runs.iter_mut().for_each(Run::free);
    }

    /// Decodes the run that was queued first, if there is one. When there are more, `again` is called before, which has to
    /// tell a pool so.
    pub(super) fn work(&self, bench: &mut Bench, again: impl FnOnce()) {
        let mut state = self.state.lock();
        let Some(i) = state.next_queued() else {
            state.listed = false;
            return;
        };
        let begun = state.begin(i);
        let more = state.next_queued().is_some();
        state.listed = more;
        drop(state);
        if more {
            again();
        }
        drop(self.finish(i, begun, bench));
    }

    /// Chunks that were inflated so far.
    pub(super) fn chunks_inflated(&self) -> u64 {
        self.state.lock().inflated
    }

    /// Decodes a queued run on this thread.
    fn serve<'a>(&'a self, mut state: MutexGuard<'a, State>, i: usize, bench: &mut Bench) -> MutexGuard<'a, State> {
        let begun = state.begin(i);
        drop(state);
        self.finish(i, begun, bench)
    }

    /// Decodes the bands of a run that was begun, and puts its bytes back.
    fn finish(&self, i: usize, begun: (Range<u64>, Vec<u8>), bench: &mut Bench) -> MutexGuard<'_, State> {
        let (bands, mut bytes) = begun;
        // A decode that panics has failed like any other, so that the reader does not wait in vain.
        let decoded = catch_unwind(AssertUnwindSafe(|| self.decode_run(&bands, &mut bytes, bench)));
        let mut state = self.state.lock();
        let (inflated, whole) = decoded.unwrap_or((0, false));
        state.inflated += inflated;
        let run = &mut state.runs[i];
        run.bytes = bytes;
        run.phase = match (run.phase, whole) {
            (Phase::Running { wanted: true }, true) => Phase::Done,
            (Phase::Running { wanted: true }, false) => Phase::Failed,
            _ => Phase::Idle,
        };
        self.done.notify_all();
        state
    }

    /// The chunks that were inflated, and whether all bands are decoded.
    fn decode_run(&self, bands: &Range<u64>, bytes: &mut Vec<u8>, bench: &mut Bench) -> (u64, bool) {
        let room = self.each as usize * self.band_bytes;
        if bytes.len() < room {
            if bytes.try_reserve_exact(room - bytes.len()).is_err() {
                return (0, false);
            }
            bytes.resize(room, 0);
        }
        let mut inflated = 0;
        for (band, out) in bands.clone().zip(bytes.chunks_exact_mut(self.band_bytes)) {
            match self.decode.decode(band, out, bench) {
                Ok(Some(chunks)) => inflated += chunks,
                Ok(None) | Err(_) => return (inflated, false),
            }
        }
        (inflated, true)
    }
}

impl State {
    /// The run that was queued first.
    fn next_queued(&self) -> Option<usize> {
        let queued = self.runs.iter().enumerate().filter(|(_, run)| run.phase == Phase::Queued);
        queued.min_by_key(|(_, run)| run.number).map(|(i, _)| i)
    }

    /// Marks a run as being decoded, and hands its bands and its bytes out.
    fn begin(&mut self, i: usize) -> (Range<u64>, Vec<u8>) {
        let run = &mut self.runs[i];
        run.phase = Phase::Running { wanted: true };
        run.first = run.left.start;
        (run.left.clone(), std::mem::take(&mut run.bytes))
    }
}

impl Run {
    /// Makes it free, or lets it become free when the thread that decodes it is done.
    fn free(&mut self) {
        self.phase = match self.phase {
            Phase::Running { .. } => Phase::Running { wanted: false },
            _ => Phase::Idle,
        };
    }
}
