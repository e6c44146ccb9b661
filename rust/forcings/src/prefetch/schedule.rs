//! Which sample is decoded when, and which epoch is delivered next: a pure state machine.
//!
//! It has no thread, no clock and no I/O; it is generic over the samples and their errors. Whoever serves it takes
//! jobs with [`Schedule::next_job`], hands their results to [`Schedule::complete`], and takes epochs with
//! [`Schedule::take`].

mod admission;
#[cfg(test)]
mod tests;

use super::budget::Budget;
use super::stats::Counters;
use crate::error::GroupState;
use std::collections::{BTreeMap, VecDeque};

/// Names a sample: epochs in which a member has the same anchor share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key {
    pub(super) member: usize,
    /// The index of the anchor among those of the member.
    pub(super) anchor: u32,
}

/// A sample to decode. It has to come back through [`Schedule::complete`].
#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
pub(super) struct Job {
    pub(super) key: Key,
    /// The epoch at whose begin the member is to be sampled.
    pub(super) epoch: usize,
    generation: u64,
    estimate: Option<u64>,
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
    Queued { estimate: Option<u64> },
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
    depth: usize,
    state: State,
    order: Vec<usize>,
    /// The position in `order` that `take` returns next.
    next: usize,
    /// The entries from `next` on that are admitted; the first one is the head.
    slots: VecDeque<Slot>,
    cells: BTreeMap<Key, Cell<D, E>>,
    queue: VecDeque<(Key, usize)>,
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
    /// A schedule that was not started. `table` holds the anchor's index per member and epoch.
    pub(super) fn new(table: Vec<Vec<Option<u32>>>, depth: usize, max_bytes: Option<u64>) -> Self {
        let members = table.len();
        Schedule {
            table,
            depth,
            state: State::New,
            order: Vec::new(),
            next: 0,
            slots: VecDeque::new(),
            cells: BTreeMap::new(),
            queue: VecDeque::new(),
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

    /// Begins an order (epochs in range, not empty) in place of the present one.
    pub(super) fn start(&mut self, order: Vec<usize>) {
        debug_assert!(self.state != State::Closed, "the caller asks is_closed first");
        self.clear();
        self.order = order;
        self.next = 0;
        self.previous.fill(None);
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

    /// Delivers epoch `k`, one sample per member; `None` while some are missing.
    pub(super) fn take(&mut self, k: usize) -> Result<Option<Vec<Taken<D>>>, Refusal<E>> {
        self.check(k).map_err(Refusal::State)?;
        let Some(head) = self.slots.front().filter(|head| head.pending == 0) else { return Ok(None) };
        if head.failed {
            return Err(self.fail(k));
        }
        self.slots.pop_front();
        let taken = (0..self.table.len()).map(|member| self.deliver(member, k)).collect();
        self.next += 1;
        self.admit();
        Ok(Some(taken))
    }

    /// The oldest queued sample, which the caller now has to decode.
    pub(super) fn next_job(&mut self) -> Option<Job> {
        let (key, epoch) = self.queue.pop_front()?;
        let cell = self.cells.get_mut(&key).expect("a queued sample has a cell until its slot is taken or given up");
        let Progress::Queued { estimate } = cell.progress else { unreachable!("the queue holds queued samples") };
        cell.progress = Progress::Running;
        self.running += 1;
        Some(Job { key, epoch, generation: self.generation, estimate })
    }

    /// Stores the result of a job: a sample and its bytes, or its error. True if this finished the head slot.
    pub(super) fn complete(&mut self, job: Job, result: Result<(D, u64), E>) -> bool {
        let waiting = !self.head_finished();
        self.running -= 1;
        self.budget.settle(job.estimate);
        if job.generation == self.generation {
            self.store(job.key, result);
        } else {
            self.trash.extend(result.ok().map(|(data, _)| data));
        }
        self.admit();
        waiting && self.head_finished()
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

    /// Whether epoch `k` is the next entry and all its samples are ready or failed.
    pub(super) fn is_ready(&self, k: usize) -> bool {
        self.check(k).is_ok() && self.head_finished()
    }

    /// Whether the schedule was closed.
    pub(super) fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// Whether a job is queued.
    pub(super) fn has_jobs(&self) -> bool {
        !self.queue.is_empty()
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
        self.slots.clear();
        self.queue.clear();
        self.blocked = false;
        for cell in std::mem::take(&mut self.cells).into_values() {
            match cell.progress {
                Progress::Queued { estimate } => self.budget.settle(estimate),
                Progress::Ready(kept) => {
                    self.budget.release(kept.bytes);
                    self.trash.push(kept.data);
                }
                // What still runs stays booked until it completes: it takes memory all the same.
                Progress::Running | Progress::Failed(_) => {}
            }
        }
    }

    fn key(&self, member: usize, epoch: usize) -> Option<Key> {
        self.table[member][epoch].map(|anchor| Key { member, anchor })
    }

    /// Ends the order with the error of the head, epoch `k`.
    fn fail(&mut self, k: usize) -> Refusal<E> {
        let mut refusal = None;
        for member in 0..self.table.len() {
            let Some(key) = self.key(member, k) else {
                refusal = Some(Refusal::NoAnchor { member });
                break;
            };
            let cell = self.cells.get(&key).expect("the cells of the head live until it is taken");
            if matches!(cell.progress, Progress::Failed(_)) {
                let Some(Cell { progress: Progress::Failed(error), .. }) = self.cells.remove(&key) else {
                    unreachable!("it was seen to have failed")
                };
                refusal = Some(Refusal::Failed(error));
                break;
            }
        }
        let next = self.order.get(self.next + 1).copied();
        self.clear();
        self.state = State::Failed { next };
        self.trim();
        refusal.expect("a failed slot has a failed member")
    }

    /// Delivers a member's sample of the head, epoch `k`, and drops the head's claim on it.
    fn deliver(&mut self, member: usize, k: usize) -> Taken<D> {
        let key = self.key(member, k).expect("a slot that did not fail has all its anchors");
        let cell = self.cells.get_mut(&key).expect("the cells of the head live until it is taken");
        let Progress::Ready(kept) = &cell.progress else { unreachable!("the head is finished and did not fail") };
        let kept = kept.clone();
        cell.slots -= 1;
        if cell.slots == 0 {
            self.budget.release(kept.bytes);
            self.cells.remove(&key);
        }
        let changed = self.previous[member].replace(key.anchor) != Some(key.anchor);
        let Kept { data, bytes } = kept.clone();
        self.trash.extend(self.last[member].replace((key.anchor, kept)).map(|(_, kept)| kept.data));
        Taken { data, anchor: key.anchor, bytes, changed }
    }

    fn store(&mut self, key: Key, result: Result<(D, u64), E>) {
        let failed = result.is_err();
        let progress = match result {
            Ok((data, bytes)) => {
                self.sizes[key.member] = Some(bytes);
                self.counters.samples_decoded += 1;
                self.budget.hold(bytes);
                Progress::Ready(Kept { data, bytes })
            }
            Err(error) => {
                self.blocked = true;
                Progress::Failed(error)
            }
        };
        self.cells.get_mut(&key).expect("a running sample has a cell while its generation lasts").progress = progress;
        for index in 0..self.slots.len() {
            if self.key(key.member, self.slots[index].epoch) == Some(key) {
                let slot = &mut self.slots[index];
                slot.pending -= 1;
                slot.failed |= failed;
                self.count_if_finished(index);
            }
        }
    }
}
