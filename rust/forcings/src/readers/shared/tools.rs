//! What one thread reads with, and the shelf from which the threads of a reader take it.

use crate::readers::readahead::Bench;
use parking_lot::Mutex;

/// Sets that are kept while nobody uses them.
const MAX_IDLE: usize = 4;

/// The buffers of one read.
#[derive(Default)]
pub(in crate::readers) struct Tools {
    pub(in crate::readers) bench: Bench,
    /// What is read, part by part.
    pub(in crate::readers) buffers: Vec<Vec<u8>>,
    /// The rows to read.
    pub(in crate::readers) rows: Vec<usize>,
    /// Chunks that were inflated so far.
    pub(in crate::readers) inflated: u64,
}

/// Tools that nobody uses.
#[derive(Default)]
pub(in crate::readers) struct Shelf {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    idle: Vec<Tools>,
    inflated: u64,
}

impl Shelf {
    /// Lends a set to `work`.
    pub(in crate::readers) fn with<T>(&self, work: impl FnOnce(&mut Tools) -> T) -> T {
        let mut tools = self.state.lock().idle.pop().unwrap_or_default();
        let result = work(&mut tools);
        let mut state = self.state.lock();
        state.inflated += std::mem::take(&mut tools.inflated);
        if state.idle.len() < MAX_IDLE {
            state.idle.push(tools);
        }
        result
    }

    /// Chunks that were inflated so far.
    pub(in crate::readers) fn chunks_inflated(&self) -> u64 {
        self.state.lock().inflated
    }
}
