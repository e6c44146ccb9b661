//! The state that the consumer and the workers of a group share: the lock around the schedule, and who is woken when.
//! Samplers are called, samples are freed and the waker is called outside the lock.

use super::alive::{Alive, Delivered};
use super::builder::Parts;
use super::sample::{EpochSample, Sample};
use super::schedule::{Job, Refusal, Schedule, Taken};
use super::sync::{Condvar, Mutex, MutexGuard};
use super::waker::WakerCell;
use crate::dataset::Dataset;
use crate::provider::Sampler;
use crate::{Error, Result};
use std::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;
use std::time::Instant;

pub(super) struct Shared {
    pub(super) keys: Arc<[Arc<str>]>,
    samplers: Vec<Arc<dyn Sampler>>,
    pub(super) boundaries: Vec<f64>,
    /// Per member, its distinct anchors.
    anchors: Vec<Vec<f64>>,
    pub(super) state: Mutex<State>,
    /// A job was queued, or the group was closed.
    work: Condvar,
    /// The head was finished, or the order ended.
    pub(super) ready: Condvar,
    /// No job runs.
    pub(super) idle: Condvar,
    pub(super) waker: WakerCell,
}

/// What the lock guards.
pub(super) struct State {
    pub(super) schedule: Schedule<Arc<Dataset>, Error>,
    delivered: Delivered,
    pub(super) waited_s: f64,
    pub(super) decode_s: f64,
}

impl Shared {
    pub(super) fn new(parts: Parts) -> Self {
        let (keys, samplers): (Vec<_>, Vec<_>) = parts.members.into_iter().unzip();
        Shared {
            keys: keys.into(),
            samplers,
            boundaries: parts.plan.boundaries,
            anchors: parts.plan.anchors,
            state: Mutex::new(State {
                schedule: Schedule::new(parts.plan.table, parts.depth, parts.max_bytes),
                delivered: Delivered::default(),
                waited_s: 0.0,
                decode_s: 0.0,
            }),
            work: Condvar::new(),
            ready: Condvar::new(),
            idle: Condvar::new(),
            waker: WakerCell::default(),
        }
    }

    /// Serves jobs until the group is closed: what a worker thread does.
    pub(super) fn serve(&self) {
        let mut state = self.state.lock();
        while !state.schedule.is_closed() {
            if let Some(job) = state.schedule.next_job() {
                drop(state);
                self.run(job);
                state = self.state.lock();
            } else {
                self.work.wait(&mut state);
            }
        }
    }

    /// Decodes the sample of a job on this thread and stores it. Returns the seconds that took.
    pub(super) fn run(&self, job: Job) -> f64 {
        let begin = Instant::now();
        let result = self.decode(&job);
        let seconds = begin.elapsed().as_secs_f64();
        let mut state = self.state.lock();
        state.decode_s += seconds;
        let head_finished = state.schedule.complete(job, result);
        self.unlock(state, head_finished);
        seconds
    }

    /// Releases the lock after a change, and wakes whom it concerns: workers if there is work, and the consumer if the
    /// caller says so.
    pub(super) fn unlock(&self, mut state: MutexGuard<'_, State>, wake_consumer: bool) {
        // Taken apart under the lock, so that no count of references is too high when others look; freed outside.
        let trash: Vec<Dataset> = state.schedule.take_trash().into_iter().filter_map(Arc::into_inner).collect();
        if state.schedule.has_jobs() || state.schedule.is_closed() {
            self.work.notify_all();
        }
        if state.schedule.is_idle() {
            self.idle.notify_all();
        }
        if wake_consumer {
            self.ready.notify_all();
        }
        drop(state);
        if wake_consumer {
            self.waker.wake();
        }
        drop(trash);
    }

    /// Takes epoch `k` if it is finished and releases the lock; gives the lock back if it is not.
    pub(super) fn take<'a>(&self, mut state: MutexGuard<'a, State>, k: usize) -> Taking<'a> {
        match state.schedule.take(k) {
            Ok(None) => Taking::Pending(state),
            Ok(Some(taken)) => {
                state.delivered.record(taken.iter().map(|sample| (&sample.data, sample.bytes)));
                self.unlock(state, false);
                Taking::Done(Ok(self.deliver(k, taken)))
            }
            Err(Refusal::State(reason)) => Taking::Done(Err(Error::Group(reason))),
            Err(Refusal::Failed(error)) => {
                self.unlock(state, true);
                Taking::Done(Err(error))
            }
            Err(Refusal::NoAnchor { member }) => {
                self.unlock(state, true);
                Taking::Done(Err(self.no_anchor(member, k)))
            }
        }
    }

    fn deliver(&self, k: usize, taken: Vec<Taken<Arc<Dataset>>>) -> EpochSample {
        let samples = taken.into_iter().zip(&self.anchors).map(|(sample, anchors)| Sample {
            data: sample.data,
            anchor: anchors[sample.anchor as usize],
            changed: sample.changed,
        });
        EpochSample::new(k, self.boundaries[k], self.keys.clone(), samples.collect())
    }

    fn no_anchor(&self, member: usize, k: usize) -> Error {
        let (key, t) = (&self.keys[member], self.boundaries[k]);
        self.samplers[member].anchor(t).err().unwrap_or_else(|| {
            Error::Integrity(format!(
                "member {key:?} had no data at the time {t} when the group was built and has some now; build a new group"
            ))
        })
    }

    /// A sampler that panics has failed like any other, so that nobody waits for it in vain.
    fn decode(&self, job: &Job) -> Result<(Arc<Dataset>, u64)> {
        let (member, t) = (job.key.member, self.boundaries[job.epoch]);
        let data = catch_unwind(AssertUnwindSafe(|| self.samplers[member].sample_at(t))).unwrap_or_else(|payload| {
            let (key, text) = (&self.keys[member], panic_text(&*payload));
            Err(Error::Panic(format!("member {key:?} panicked at the time {t}: {text}")))
        })?;
        let bytes = data.byte_len() as u64;
        Ok((Arc::new(data), bytes))
    }
}

/// What became of an attempt to take an epoch.
pub(super) enum Taking<'a> {
    /// It is not finished; here is the lock.
    Pending(MutexGuard<'a, State>),
    /// It was delivered, or refused.
    Done(Result<EpochSample>),
}

impl State {
    pub(super) fn alive(&mut self) -> Alive {
        self.delivered.alive(self.schedule.samples())
    }
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
