//! The threads that decode ahead. All readers of the process share them; they are made when first needed, and wait when
//! there is nothing to do.

use super::lane::Lane;
use super::Bench;
use crate::prefetch::sync::{thread, Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

/// Threads at most, however many cores there are.
const MAX_THREADS: usize = 8;

/// A handle of the threads; they end with the last one.
#[derive(Clone)]
pub(super) struct Pool {
    queue: Arc<Queue>,
    /// Tells the threads when all handles are gone.
    _end: Arc<End>,
}

struct Queue {
    state: Mutex<State>,
    /// There is a lane with work, or the end has come.
    work: Condvar,
    /// Threads at most.
    limit: usize,
}

#[derive(Default)]
struct State {
    /// Lanes with work, each once.
    lanes: VecDeque<Arc<Lane>>,
    /// Lanes there are, for which there is room in the queue.
    known: usize,
    /// Whether the threads were made.
    started: bool,
    ended: bool,
}

struct End(Arc<Queue>);

impl Pool {
    /// The threads that all readers share: one fewer than there are cores, since the reader decodes too.
    pub(super) fn shared() -> Self {
        static POOL: OnceLock<Pool> = OnceLock::new();
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        POOL.get_or_init(|| Pool::new(cores().saturating_sub(1).clamp(1, MAX_THREADS))).clone()
    }

    /// At most `limit` threads.
    pub(super) fn new(limit: usize) -> Self {
        let queue = Arc::new(Queue { state: Mutex::new(State::default()), work: Condvar::new(), limit });
        Pool { _end: Arc::new(End(queue.clone())), queue }
    }

    /// Makes room for another lane, so that telling of its work allocates nothing.
    pub(super) fn enter(&self) {
        let mut state = self.queue.state.lock();
        state.known += 1;
        let missing = state.known.saturating_sub(state.lanes.len());
        state.lanes.reserve(missing);
    }

    /// A lane is gone.
    pub(super) fn leave(&self) {
        self.queue.state.lock().known -= 1;
    }

    /// Tells the threads of a lane with work that they do not know of.
    pub(super) fn tell(&self, lane: &Arc<Lane>) {
        for _ in 0..self.queue.push(lane.clone()) {
            let queue = self.queue.clone();
            let started = thread::Builder::new().name("forcings-readahead".into()).spawn(move || queue.serve());
            // Where the system refuses another thread, those that there are do the work, and the readers themselves.
            drop(started);
        }
    }
}

impl Queue {
    /// The number of threads that are to be made: all at the first call.
    fn push(&self, lane: Arc<Lane>) -> usize {
        let mut state = self.state.lock();
        state.lanes.push_back(lane);
        self.work.notify_all();
        match std::mem::replace(&mut state.started, true) {
            true => 0,
            false => self.limit,
        }
    }

    /// What a thread does until the end.
    fn serve(&self) {
        let mut bench = Bench::default();
        let mut state = self.state.lock();
        while !state.ended {
            match state.lanes.pop_front() {
                Some(lane) => {
                    drop(state);
                    lane.work(&mut bench, || self.push_again(lane.clone()));
                    drop(lane);
                    state = self.state.lock();
                }
                None => self.work.wait(&mut state),
            }
        }
    }

    fn push_again(&self, lane: Arc<Lane>) {
        self.state.lock().lanes.push_back(lane);
        self.work.notify_all();
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.ended = true;
        state.lanes.clear();
        self.0.work.notify_all();
    }
}
