//! Samples on their way: handed out as jobs, and stored when they come back.

use super::{Booking, Job, Kept, Key, Lane, Progress, Route, Schedule};

impl<D: Clone, E> Schedule<D, E> {
    /// The oldest sample queued for a lane, which the caller now has to make.
    pub(in super::super) fn next_job(&mut self, lane: Lane) -> Option<Job<D>> {
        let turn = self.first_job(lane)?;
        let job = self.queued.remove(&(lane, turn))?;
        self.cell(job.key, "a queued sample has a cell until its slot is taken or given up").progress =
            Progress::Running;
        self.running += 1;
        Some(job)
    }

    /// Stores the result of a job: a sample and its bytes, or its error. True if this finished the head slot. Of a sample
    /// that a worker decoded for the host, the bytes are those that the worker told.
    pub(in super::super) fn complete(&mut self, job: Job<D>, result: Result<(D, u64), E>) -> bool {
        let waiting = !self.head_finished();
        self.running -= 1;
        self.settle(job.booking);
        self.trash.extend(job.input);
        match result {
            Ok((data, _)) if job.generation != self.generation => self.trash.push(data),
            Err(_) if job.generation != self.generation => {}
            Ok((data, bytes)) => {
                let decoded = Kept { data, bytes: if let Booking::Held(held) = job.booking { held } else { bytes } };
                self.sizes[job.key.member] = Some(decoded.bytes);
                self.budget.hold(decoded.bytes);
                let to_host = job.lane == Lane::Worker && self.routes[job.key.member] == Route::WorkerThenHost;
                if to_host {
                    let booking = Booking::Held(decoded.bytes);
                    self.cell(job.key, RUNNING).progress = Progress::Queued;
                    let passed_on = Job { lane: Lane::Host, input: Some(decoded.data), booking, ..job };
                    self.queued.insert((Lane::Host, job.turn), passed_on);
                } else {
                    self.counters.samples_decoded += 1;
                    self.finish(job.key, Progress::Ready(decoded));
                }
            }
            Err(error) => {
                self.blocked = true;
                self.finish(job.key, Progress::Failed(error));
            }
        }
        self.admit();
        self.note_idle_workers();
        waiting && self.head_finished()
    }

    /// Queues a sample that is in no lane yet.
    pub(super) fn queue(&mut self, key: Key, epoch: usize) {
        let estimate = self.sizes[key.member];
        self.budget.expect(estimate);
        let lane = if self.routes[key.member] == Route::Host { Lane::Host } else { Lane::Worker };
        let (turn, booking) = (self.turns, Booking::Estimate(estimate));
        let job = Job { key, epoch, lane, input: None, generation: self.generation, turn, booking };
        self.turns += 1;
        self.queued.insert((lane, turn), job);
    }

    /// The turn of the oldest sample queued for a lane.
    pub(super) fn first_job(&self, lane: Lane) -> Option<u64> {
        self.queued.range((lane, 0)..=(lane, u64::MAX)).next().map(|((_, turn), _)| *turn)
    }

    /// A worker that comes back to an empty queue would have had work, had the depth allowed it.
    fn note_idle_workers(&mut self) {
        let stopped_by_depth = self.slots.len() >= self.depth.get() && self.next + self.slots.len() < self.order.len();
        // A host that is behind is not helped by more of what it gets.
        let is_busy = self.has_jobs(Lane::Worker) || self.has_jobs(Lane::Host);
        if stopped_by_depth && !self.blocked && !is_busy {
            self.depth.note_idle();
        }
    }

    /// Ends the work on a sample, and tells the slots that wait for it.
    fn finish(&mut self, key: Key, progress: Progress<D, E>) {
        let failed = matches!(progress, Progress::Failed(_));
        self.cell(key, RUNNING).progress = progress;
        for index in 0..self.slots.len() {
            if self.key(key.member, self.slots[index].epoch) == Some(key) {
                let slot = &mut self.slots[index];
                slot.pending -= 1;
                slot.failed |= failed;
                self.count_if_finished(index);
            }
        }
    }

    fn cell(&mut self, key: Key, why: &str) -> &mut super::Cell<D, E> {
        self.cells.get_mut(&key).expect(why)
    }
}

const RUNNING: &str = "a running sample has a cell while its generation lasts";
