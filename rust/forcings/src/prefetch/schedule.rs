//! Which sample is decoded when, and which epoch is delivered next: a pure state machine.
//!
//! It has no thread, no clock and no I/O; it is generic over the samples and their errors. Whoever serves it takes
//! jobs with [`Schedule::next_job`], hands their results to [`Schedule::complete`], and takes epochs with
//! [`Schedule::take`].

mod admission;
mod delivery;
mod jobs;
#[cfg(test)]
mod tests;

use super::budget::Budget;
use super::depth::Depth;
use super::stats::{Counters, Snapshot};
use crate::error::GroupState;
use std::collections::{BTreeMap, VecDeque};

/// Names a sample: epochs in which a member has the same anchor share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    pub(super) member: usize,
    /// The index of the anchor among those of the member.
    pub(super) anchor: u32,
}

/// Who runs a job: a worker of the group, or the program around it, which has tasks of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lane {
    Worker,
    Host,
}

/// The lanes through which the samples of a member pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Route {
    /// A worker decodes them.
    Worker,
    /// The host makes them.
    Host,
    /// A worker decodes them, and the host makes something else of them.
    WorkerThenHost,
}

/// A sample to make. It has to come back through [`Schedule::complete`].
#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
pub(super) struct Job<D> {
    pub(super) key: Key,
    /// The epoch at whose begin the member is to be sampled.
    pub(super) epoch: usize,
    pub(super) lane: Lane,
    /// What a worker has decoded, where the host goes on with it.
    pub(super) input: Option<D>,
    generation: u64,
    turn: u64,
    booking: Booking,
}

/// What a sample takes from the budget until it is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Booking {
    /// The member's last size.
    Estimate(Option<u64>),
    /// The size of what was decoded.
    Held(u64),
}

/// A sample that `take` delivers.
#[derive(Debug, PartialEq)]
pub(super) struct Taken<D> {
    pub(super) data: D,
    pub(super) anchor: u32,
    pub(super) bytes: u64,
    /// Whether the anchor differs from the one of the preceding `take` of this order.
    pub(super) changed: bool,
}

/// Why `take` delivers nothing.
#[derive(Debug, PartialEq)]
pub(super) enum Refusal<E> {
    /// The call does not fit the state of the order; nothing has changed.
    State(GroupState),
    /// The error of the first member that failed; the order is over.
    Failed(E),
    /// The first member that failed has no anchor in this epoch; the order is over.
    NoAnchor {
        /// The member.
        member: usize,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Active,
    Cancelled,
    Failed { next: Option<usize> },
    Closed,
}

/// An entry of the order that is decoded or being decoded.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
struct Slot {
    epoch: usize,
    /// Samples neither ready nor failed.
    pending: usize,
    failed: bool,
}

/// A sample that live slots refer to.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
struct Cell<D, E> {
    slots: usize,
    progress: Progress<D, E>,
}

#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
enum Progress<D, E> {
    Queued,
    Running,
    Ready(Kept<D>),
    Failed(E),
}

#[derive(Debug, Clone)]
struct Kept<D> {
    data: D,
    bytes: u64,
}

/// The schedule of a group. Members are numbered in byte-wise order of their keys.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
pub(super) struct Schedule<D, E> {
    /// Per member and epoch, the index of the anchor.
    table: Vec<Vec<Option<u32>>>,
    routes: Vec<Route>,
    depth: Depth,
    /// How many entries behind the admitted ones are to be fetched.
    fetch_ahead: usize,
    state: State,
    order: Vec<usize>,
    /// The position in `order` that `take` returns next.
    next: usize,
    /// The entries from `next` on that are admitted; the first one is the head.
    slots: VecDeque<Slot>,
    cells: BTreeMap<Key, Cell<D, E>>,
    /// Samples that wait for each lane, by turn.
    queued: BTreeMap<(Lane, u64), Job<D>>,
    /// How many samples were queued.
    turns: u64,
    /// The first position whose files were not yet asked for.
    fetched: usize,
    /// Epochs whose files are to be fetched.
    fetches: VecDeque<usize>,
    /// Jobs handed out and not completed, of this order or an earlier one.
    running: usize,
    /// Changes whenever the live slots are given up, so that late results are recognised.
    generation: u64,
    /// Whether a live slot failed: nothing is admitted behind it.
    blocked: bool,
    budget: Budget,
    counters: Counters,
    /// Per member, the sample of the last `take`, whatever the order.
    last: Vec<Option<(u32, Kept<D>)>>,
    /// Per member, the anchor of the last `take` of this order.
    previous: Vec<Option<u32>>,
    /// Per member, the size of its last decoded sample.
    sizes: Vec<Option<u64>>,
    trash: Vec<D>,
}

impl<D: Clone, E> Schedule<D, E> {
    /// A schedule that was not started, whose samples are all decoded by workers. `table` holds the anchor's index per
    /// member and epoch.
    pub(super) fn new(table: Vec<Vec<Option<u32>>>, depth: Depth, max_bytes: Option<u64>) -> Self {
        let members = table.len();
        Schedule {
            table,
            routes: vec![Route::Worker; members],
            depth,
            fetch_ahead: 0,
            state: State::New,
            order: Vec::new(),
            next: 0,
            slots: VecDeque::new(),
            cells: BTreeMap::new(),
            queued: BTreeMap::new(),
            turns: 0,
            fetched: 0,
            fetches: VecDeque::new(),
            running: 0,
            generation: 0,
            blocked: false,
            budget: Budget::new(max_bytes),
            counters: Counters::default(),
            last: vec![None; members],
            previous: vec![None; members],
            sizes: vec![None; members],
            trash: Vec::new(),
        }
    }

    /// The same, with a route for each member.
    pub(super) fn with_routes(mut self, routes: Vec<Route>) -> Self {
        debug_assert_eq!(routes.len(), self.table.len());
        self.routes = routes;
        self
    }

    /// The same, with `entries` behind the admitted ones to be fetched.
    pub(super) fn with_fetch_ahead(mut self, entries: usize) -> Self {
        self.fetch_ahead = entries;
        self
    }

    /// Begins an order (epochs in range, not empty) in place of the present one.
    pub(super) fn start(&mut self, order: Vec<usize>) {
        debug_assert!(self.state != State::Closed, "the caller asks is_closed first");
        self.clear();
        self.order = order;
        self.next = 0;
        self.previous.fill(None);
        self.depth.restart();
        self.state = State::Active;
        self.admit();
    }

    /// Ends the order. Jobs handed out are still to be completed; their results are dropped.
    pub(super) fn cancel(&mut self) {
        if self.state != State::Closed {
            self.clear();
            self.state = State::Cancelled;
            self.trim();
        }
    }

    /// Ends the schedule for good.
    pub(super) fn close(&mut self) {
        self.clear();
        self.state = State::Closed;
        self.trash.extend(self.last.iter_mut().filter_map(Option::take).map(|(_, kept)| kept.data));
    }

    /// Whether `take(k)` would find epoch `k` the next entry.
    pub(super) fn check(&self, k: usize) -> Result<(), GroupState> {
        match self.state {
            State::New => Err(GroupState::NotStarted),
            State::Cancelled => Err(GroupState::Cancelled),
            State::Failed { next } => Err(GroupState::Failed { next }),
            State::Closed => Err(GroupState::Closed),
            State::Active => match self.order.get(self.next) {
                None => Err(GroupState::Exhausted),
                Some(&expected) if expected != k => Err(GroupState::WrongEpoch { asked: k, expected }),
                Some(_) => Ok(()),
            },
        }
    }

    /// Where it stands.
    pub(super) fn snapshot(&self) -> Snapshot {
        let next = self.order.get(self.next).copied();
        Snapshot {
            // An epoch that is no entry of any order finds out what else is in the way.
            state: self.check(next.unwrap_or(usize::MAX)).err(),
            entries: self.order.len(),
            taken: self.next,
            next,
            held: self.slots.len(),
            finished: self.slots.iter().filter(|slot| slot.pending == 0).count(),
            bytes: self.budget.ready(),
        }
    }

    /// Whether epoch `k` is the next entry and all its samples are ready or failed.
    pub(super) fn is_ready(&self, k: usize) -> bool {
        self.check(k).is_ok() && self.head_finished()
    }

    /// Whether the schedule was closed.
    pub(super) fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// Whether a job is queued for a lane.
    pub(super) fn has_jobs(&self, lane: Lane) -> bool {
        self.first_job(lane).is_some()
    }

    /// Whether the present order, if there is one, needs no more of the host.
    pub(super) fn is_over(&self) -> bool {
        self.state != State::Active || self.next == self.order.len()
    }

    /// The next epoch whose files may be fetched, each entry of the order once.
    pub(super) fn next_fetch(&mut self) -> Option<usize> {
        self.fetches.pop_front()
    }

    /// Whether there is an epoch whose files may be fetched.
    pub(super) fn has_fetches(&self) -> bool {
        !self.fetches.is_empty()
    }

    /// How many entries may be admitted.
    pub(super) fn depth(&self) -> usize {
        self.depth.get()
    }

    /// Whether no job is handed out, of any order.
    pub(super) fn is_idle(&self) -> bool {
        self.running == 0
    }

    /// Tells one order from the next: it changes when an order is started or ends before its last entry.
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    pub(super) fn counters(&self) -> Counters {
        self.counters
    }

    /// The most bytes of samples that were ready for live slots at one moment.
    pub(super) fn peak_bytes(&self) -> u64 {
        self.budget.peak()
    }

    /// The samples that the schedule itself refers to; one may come up twice.
    pub(super) fn samples(&self) -> impl Iterator<Item = &D> {
        let ready = self.cells.values().filter_map(|cell| match &cell.progress {
            Progress::Ready(kept) => Some(&kept.data),
            _ => None,
        });
        ready.chain(self.last.iter().flatten().map(|(_, kept)| &kept.data))
    }

    /// The samples that the schedule let go of, to be dropped where that delays nobody.
    pub(super) fn take_trash(&mut self) -> Vec<D> {
        std::mem::take(&mut self.trash)
    }

    fn head_finished(&self) -> bool {
        self.slots.front().is_some_and(|head| head.pending == 0)
    }

    /// Gives up all live slots and what is queued for them.
    fn clear(&mut self) {
        self.generation += 1;
        self.order.clear();
        self.next = 0;
        self.slots.clear();
        self.fetches.clear();
        self.fetched = 0;
        self.blocked = false;
        for job in std::mem::take(&mut self.queued).into_values() {
            self.settle(job.booking);
            self.trash.extend(job.input);
        }
        for cell in std::mem::take(&mut self.cells).into_values() {
            // What still runs stays booked until it completes: it takes memory all the same.
            if let Progress::Ready(kept) = cell.progress {
                self.budget.release(kept.bytes);
                self.trash.push(kept.data);
            }
        }
    }

    fn settle(&mut self, booking: Booking) {
        match booking {
            Booking::Estimate(estimate) => self.budget.settle(estimate),
            Booking::Held(bytes) => self.budget.release(bytes),
        }
    }

    fn key(&self, member: usize, epoch: usize) -> Option<Key> {
        self.table[member][epoch].map(|anchor| Key { member, anchor })
    }
}
