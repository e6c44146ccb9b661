//! The state that the consumer and the workers of a group share: the lock around the schedule, and who is woken when.
//! Samplers are called, samples are freed and the waker is called outside the lock.

use super::alive::{Alive, Delivered};
use super::builder::{Decode, Member, Parts};
use super::sample::{EpochSample, Sample};
use super::schedule::{Job, Lane, Refusal, Schedule, Taken};
use super::sync::{Condvar, Mutex, MutexGuard};
use super::trace::{Activity, Trace};
use super::waker::WakerCell;
use crate::{Error, Result};
use std::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Arc;
use std::time::Instant;

pub(super) struct Shared<T> {
    pub(super) keys: Arc<[Arc<str>]>,
    pub(super) members: Vec<Member>,
    decode: Decode<T>,
    pub(super) boundaries: Vec<f64>,
    /// Per member, its distinct anchors.
    pub(super) anchors: Vec<Vec<f64>>,
    pub(super) state: Mutex<State<T>>,
    /// A job was queued for the workers, or the group was closed.
    work: Condvar,
    /// A job was queued for the host, or none will come.
    pub(super) host: Condvar,
    /// An epoch is to be fetched, or the group was closed.
    pub(super) fetch: Condvar,
    /// The head was finished, or the order ended.
    pub(super) ready: Condvar,
    /// No job runs.
    pub(super) idle: Condvar,
    pub(super) waker: WakerCell,
}

/// What the lock guards.
pub(super) struct State<T> {
    pub(super) schedule: Schedule<Arc<T>, Error>,
    delivered: Delivered<T>,
    pub(super) waited_s: f64,
    pub(super) decode_s: f64,
    pub(super) trace: Trace,
}

impl<T> Shared<T> {
    pub(super) fn new(parts: Parts<T>) -> Self {
        let Parts { members, decode, plan, depth, max_bytes, fetch_ahead, trace, .. } = parts;
        let routes = members.iter().map(|member| member.route).collect();
        let schedule = Schedule::new(plan.table, depth, max_bytes).with_routes(routes).with_fetch_ahead(fetch_ahead);
        Shared {
            keys: members.iter().map(|member| member.key.clone()).collect(),
            members,
            decode,
            boundaries: plan.boundaries,
            anchors: plan.anchors,
            state: Mutex::new(State {
                schedule,
                delivered: Delivered::default(),
                waited_s: 0.0,
                decode_s: 0.0,
                trace: Trace::new(trace),
            }),
            work: Condvar::new(),
            host: Condvar::new(),
            fetch: Condvar::new(),
            ready: Condvar::new(),
            idle: Condvar::new(),
            waker: WakerCell::default(),
        }
    }

    /// Serves jobs until the group is closed: what a worker thread does.
    pub(super) fn serve(&self) {
        let mut state = self.state.lock();
        while !state.schedule.is_closed() {
            if let Some(job) = state.schedule.next_job(Lane::Worker) {
                drop(state);
                self.run(job);
                state = self.state.lock();
            } else {
                self.work.wait(&mut state);
            }
        }
    }

    /// Decodes the sample of a job on this thread and stores it. Returns when that began.
    pub(super) fn run(&self, job: Job<Arc<T>>) -> Instant {
        let begin = Instant::now();
        let result = self.decode(&job);
        self.complete(job, result, begin, Activity::Decode);
        begin
    }

    /// Stores the result of a job that began at `begin`.
    pub(super) fn complete(&self, job: Job<Arc<T>>, result: Result<(T, u64)>, begin: Instant, activity: Activity) {
        let result = result.map(|(data, bytes)| (Arc::new(data), bytes));
        let seconds = begin.elapsed().as_secs_f64();
        let mut state = self.state.lock();
        state.decode_s += seconds;
        state.trace.record(activity, Some(job.key.member), job.epoch, begin);
        let head_finished = state.schedule.complete(job, result);
        self.unlock(state, head_finished);
    }

    /// Releases the lock after a change, and wakes whom it concerns: threads if there is work for them, and the consumer
    /// if the caller says so, or if it is asked to make a sample.
    pub(super) fn unlock(&self, mut state: MutexGuard<'_, State<T>>, wake_consumer: bool) {
        // Taken apart under the lock, so that no count of references is too high when others look; freed outside.
        let trash: Vec<T> = state.schedule.take_trash().into_iter().filter_map(Arc::into_inner).collect();
        let schedule = &state.schedule;
        let for_workers = schedule.has_jobs(Lane::Worker) || schedule.is_closed();
        let for_host = schedule.has_jobs(Lane::Host);
        if schedule.has_fetches() || schedule.is_closed() {
            self.fetch.notify_all();
        }
        if for_host || schedule.is_over() {
            self.host.notify_all();
        }
        if schedule.is_idle() {
            self.idle.notify_all();
        }
        if wake_consumer {
            self.ready.notify_all();
        }
        drop(state);
        if wake_consumer || for_host {
            self.waker.wake();
        }
        // Before a worker that sleeps takes memory for the next sample.
        drop(trash);
        if for_workers {
            self.work.notify_all();
        }
    }

    /// Wakes whoever has something to do, on whichever lane.
    fn notify_servers(&self, state: &State<T>) {
        if state.schedule.has_jobs(Lane::Worker) {
            self.work.notify_all();
        }
        if state.schedule.has_jobs(Lane::Host) {
            self.host.notify_all();
        }
        if state.schedule.has_fetches() {
            self.fetch.notify_all();
        }
    }

    /// Takes epoch `k` if it is finished and releases the lock; gives the lock back if it is not.
    pub(super) fn take<'a>(&self, mut state: MutexGuard<'a, State<T>>, k: usize) -> Taking<'a, T> {
        let begin = Instant::now();
        match state.schedule.take(k) {
            Ok(None) => {
                // The depth may have grown. The consumer needs no waker: it looks again before it waits.
                self.notify_servers(&state);
                Taking::Pending(state)
            }
            Ok(Some(taken)) => {
                state.delivered.record(taken.iter().map(|sample| (&sample.data, sample.bytes)));
                state.trace.record(Activity::Take, None, k, begin);
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

    fn deliver(&self, k: usize, taken: Vec<Taken<Arc<T>>>) -> EpochSample<T> {
        let samples = taken.into_iter().zip(&self.anchors).map(|(sample, anchors)| Sample {
            data: sample.data,
            anchor: anchors[sample.anchor as usize],
            changed: sample.changed,
        });
        EpochSample::new(k, self.boundaries[k], self.keys.clone(), samples.collect())
    }

    fn no_anchor(&self, member: usize, k: usize) -> Error {
        let (Member { key, sampler, .. }, t) = (&self.members[member], self.boundaries[k]);
        sampler.anchor(t).err().unwrap_or_else(|| {
            Error::Integrity(format!(
                "member {key:?} had no data at the time {t} when the group was built and has some now; build a new group"
            ))
        })
    }

    /// A sampler or transform that panics has failed like any other, so that nobody waits for it in vain.
    fn decode(&self, job: &Job<Arc<T>>) -> Result<(T, u64)> {
        let (Member { key, sampler, .. }, t) = (&self.members[job.key.member], self.boundaries[job.epoch]);
        catch_unwind(AssertUnwindSafe(|| (self.decode)(key, &**sampler, t))).unwrap_or_else(|payload| {
            let text = panic_text(&*payload);
            Err(Error::Panic(format!("member {key:?} panicked at the time {t}: {text}")))
        })
    }
}

/// What became of an attempt to take an epoch.
pub(super) enum Taking<'a, T> {
    /// It is not finished; here is the lock.
    Pending(MutexGuard<'a, State<T>>),
    /// It was delivered, or refused.
    Done(Result<EpochSample<T>>),
}

impl<T> State<T> {
    pub(super) fn alive(&mut self) -> Alive {
        self.delivered.alive(self.schedule.samples())
    }
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
