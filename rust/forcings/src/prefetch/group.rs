//! The group as its consumer sees it.

use super::builder::{Parts, PrefetchGroupBuilder};
use super::host::{HostJob, HostWork};
use super::orders::Order;
use super::sample::EpochSample;
use super::schedule::Lane;
use super::shared::{Shared, State, Taking};
use super::spill::Spill;
use super::stats::{Snapshot, Stats};
use super::sync::thread::{Builder, JoinHandle};
use super::sync::{Mutex, MutexGuard};
use super::trace::{Activity, Interval};
use super::waker::Waker;
use crate::dataset::Dataset;
use crate::error::GroupState;
use crate::{Error, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Decodes the coming epochs of its members while the consumer works on the present one.
///
/// What [`take`](Self::take) delivers is, bit for bit, what each member's `sample_at` gives; depth, workers, memory
/// budget and timing only decide when it is ready. Epochs count from 0. Orders are started, taken from and cancelled
/// by one consumer; the calls are safe from any thread. Dropping the group closes it.
///
/// ```
/// use forcings::dataset::{Dataset, Field, Values};
/// use forcings::prefetch::{Order, PrefetchGroup};
/// use forcings::provider::Sampler;
/// use std::sync::Arc;
///
/// /// The square of the hour, for the hours 0 to 3.
/// struct Squares;
///
/// impl Sampler for Squares {
///     fn refresh_times(&self) -> &[f64] {
///         &[0.0, 1.0, 2.0, 3.0]
///     }
///     fn anchor(&self, t: f64) -> forcings::Result<f64> {
///         Ok(t.floor())
///     }
///     fn sample_at(&self, t: f64) -> forcings::Result<Dataset> {
///         let values = Values::F64(vec![t.floor().powi(2)]);
///         let field = Field { name: "square".into(), dims: vec![], shape: vec![], values, attributes: Arc::new([]) };
///         Ok(Dataset { variables: vec![field], ..Dataset::default() })
///     }
///     fn calendar(&self) -> Option<&str> {
///         None
///     }
/// }
///
/// let group = PrefetchGroup::builder().member("sq", Arc::new(Squares)).depth(2).workers(1).build()?;
/// group.start(Order::Reverse, None)?;
/// for k in (0..group.boundaries().len()).rev() {
///     let epoch = group.take(k)?;
///     let square = epoch["sq"].data.variable("square").unwrap();
///     assert!(square.values.same_bits(&Values::F64(vec![(k * k) as f64])));
/// }
/// # Ok::<(), forcings::Error>(())
/// ```
pub struct PrefetchGroup<T: Send + Sync + 'static = Dataset> {
    shared: Arc<Shared<T>>,
    inline: bool,
    threads: Mutex<Vec<JoinHandle<()>>>,
    spill: Option<Arc<Spill>>,
}

impl PrefetchGroup {
    /// Begins the construction of a group.
    pub fn builder() -> PrefetchGroupBuilder {
        PrefetchGroupBuilder::new()
    }
}

impl<T: Send + Sync + 'static> PrefetchGroup<T> {
    pub(super) fn new(parts: Parts<T>) -> Result<Self> {
        let (workers, fetches) = (parts.workers, parts.fetch_ahead > 0);
        let spill = parts.spill.clone();
        let shared = Arc::new(Shared::new(parts));
        let group = PrefetchGroup { shared, inline: workers == 0, threads: Mutex::default(), spill };
        // An early return drops the group, which ends the threads started so far.
        for worker in 0..workers {
            let thread = group.spawn(format!("forcings-dec-{worker}"), |shared| shared.serve())?;
            group.threads.lock().push(thread);
        }
        if fetches && group.shared.may_fetch() {
            // It is not waited for: a download that hangs must not hold up who closes the group.
            group.spawn("forcings-fetch".into(), |shared| shared.serve_fetches())?;
        }
        Ok(group)
    }

    /// Linux shows the first 15 bytes of `name`.
    fn spawn(&self, name: String, serve: fn(&Shared<T>)) -> Result<JoinHandle<()>> {
        let shared = self.shared.clone();
        let thread = Builder::new().name(name.clone()).spawn(move || serve(&shared));
        thread.map_err(|error| Error::io(format!("thread {name}"), error))
    }

    /// The times at which the epochs begin, ascending: the union of the members' refresh times.
    pub fn boundaries(&self) -> &[f64] {
        &self.shared.boundaries
    }

    /// The keys of the members, in byte-wise order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.shared.keys.iter().map(|key| &**key)
    }

    /// Declares the order in which epochs will be taken, from its first entry equal to `from` on, and begins to decode.
    /// An order under way is cancelled, unless the call is refused.
    ///
    /// # Errors
    /// `InvalidParameter` for an empty list, an epoch out of range, and a `from` that is no entry; `Group` when the
    /// group is closed.
    pub fn start(&self, order: Order, from: Option<usize>) -> Result<()> {
        let order = order.resolve(self.boundaries().len(), from)?;
        let mut state = self.shared.state.lock();
        if state.schedule.is_closed() {
            return Err(Error::Group(GroupState::Closed));
        }
        state.schedule.start(order);
        self.shared.unlock(state, true);
        Ok(())
    }

    /// Delivers epoch `k`, the next entry of the order; waits until it is ready.
    ///
    /// # Errors
    /// `Group` when `k` is not the next entry (nothing is consumed), or there is none, or the order is cancelled while
    /// this waits; else the error that the member's `sample_at` gave, of the first member that failed in order of the
    /// keys. The order is over then.
    pub fn take(&self, k: usize) -> Result<EpochSample<T>> {
        let mut state = self.shared.state.lock();
        let generation = state.schedule.generation();
        loop {
            state = match self.shared.take(state, k) {
                Taking::Done(result) => return result,
                Taking::Pending(state) => state,
            };
            let begin = Instant::now();
            state = self.progress(state);
            state.waited_s += begin.elapsed().as_secs_f64();
            state.trace.record(Activity::Wait, None, k, begin);
            if state.schedule.generation() != generation {
                let closed = state.schedule.is_closed();
                return Err(Error::Group(if closed { GroupState::Closed } else { GroupState::Cancelled }));
            }
        }
    }

    /// Delivers epoch `k` if it is ready, and `None` if it is not. Never waits, and never decodes.
    ///
    /// # Errors
    /// Those of [`take`](Self::take).
    pub fn try_take(&self, k: usize) -> Result<Option<EpochSample<T>>> {
        match self.shared.take(self.shared.state.lock(), k) {
            Taking::Done(result) => result.map(Some),
            Taking::Pending(_) => Ok(None),
        }
    }

    /// Waits until epoch `k` is ready, at most for `timeout`. False when it is not ready then, and at once when `k` is
    /// not the next entry of an order, or decoding is inline. The time is not counted; see
    /// [`note_wait`](Self::note_wait).
    pub fn wait(&self, k: usize, timeout: Duration) -> bool {
        let deadline = Instant::now().checked_add(timeout);
        let mut state = self.shared.state.lock();
        while !self.inline && state.schedule.check(k).is_ok() && !state.schedule.is_ready(k) {
            match deadline {
                Some(deadline) if self.shared.ready.wait_until(&mut state, deadline).timed_out() => break,
                Some(_) => {}
                None => self.shared.ready.wait(&mut state),
            }
        }
        state.schedule.is_ready(k)
    }

    /// Whether `take(k)` would return at once: `k` is the next entry, and each of its samples is ready or has failed.
    pub fn is_ready(&self, k: usize) -> bool {
        self.shared.state.lock().schedule.is_ready(k)
    }

    /// Decodes the oldest queued sample on this thread, in a group with inline decoding; false if none is queued. The
    /// time counts as waiting. An error of the sample is raised when its epoch is taken.
    ///
    /// # Errors
    /// `InvalidParameter` for a group with threads of its own, `Group` for a closed one.
    pub fn decode_one(&self) -> Result<bool> {
        if !self.inline {
            return Err(Error::invalid(
                "this prefetch group has workers that decode; build it with inline to do it here",
            ));
        }
        let mut state = self.shared.state.lock();
        if state.schedule.is_closed() {
            return Err(Error::Group(GroupState::Closed));
        }
        let Some(job) = state.schedule.next_job(Lane::Worker) else { return Ok(false) };
        drop(state);
        let epoch = job.epoch;
        let begin = self.shared.run(job);
        self.note_wait(epoch, begin.elapsed());
        Ok(true)
    }

    /// The oldest sample that the program around the group has to make: those of its own members, and what goes on behind
    /// a worker where the group [finishes on the host](PrefetchGroupBuilder::finish_on_host). `None` while there is none.
    /// Any number of threads may ask.
    pub fn next_host_job(&self) -> Option<HostJob<T>> {
        self.shared.next_host_job()
    }

    /// Waits until there is a sample for the host to make, or none will come before another order is started; at most for
    /// `timeout`.
    pub fn wait_host(&self, timeout: Duration) -> HostWork {
        self.shared.wait_host(timeout)
    }

    /// Ends the order: what is queued is dropped at once, what is being decoded is discarded when it is done. With
    /// `wait`, returns when nothing is being decoded any more. The group can be started again. Does nothing to a closed
    /// group.
    pub fn cancel(&self, wait: bool) {
        let mut state = self.shared.state.lock();
        state.schedule.cancel();
        self.shared.unlock(state, true);
        if wait {
            self.wait_idle();
        }
    }

    /// Cancels the order, waits for what is being decoded, and ends the threads. Closing again does nothing.
    pub fn close(&self) {
        let mut state = self.shared.state.lock();
        if !state.schedule.is_closed() {
            state.schedule.close();
            self.shared.unlock(state, true);
        } else {
            drop(state);
        }
        self.wait_idle();
        for thread in self.threads.lock().drain(..) {
            // A worker that panicked has reported it; there is no more to do about it here.
            let _ = thread.join();
        }
        if let Some(spill) = &self.spill {
            spill.close();
        }
    }

    /// What the group counted since it was built.
    pub fn stats(&self) -> Stats {
        let spilled = self.spill.as_ref().map(|spill| spill.counts()).unwrap_or_default();
        let state = self.shared.state.lock();
        let counters = state.schedule.counters();
        Stats {
            waited_s: state.waited_s,
            decode_s: state.decode_s,
            peak_bytes: state.schedule.peak_bytes(),
            epochs_decoded: counters.epochs_decoded,
            samples_decoded: counters.samples_decoded,
            samples_reused: counters.samples_reused,
            oversize_epochs: counters.oversize_epochs,
            overlap: !self.inline,
            depth: state.schedule.depth(),
            samples_spilled: spilled.spilled,
            samples_restored: spilled.restored,
            spilled_bytes: spilled.bytes,
        }
    }

    /// The first thing that went wrong with [spilling](PrefetchGroupBuilder::spill): a full disk, say. Samples are decoded
    /// then as they would be without.
    pub fn spill_error(&self) -> Option<String> {
        self.spill.as_ref()?.error()
    }

    /// Where the group stands in its order.
    pub fn snapshot(&self) -> Snapshot {
        self.shared.state.lock().schedule.snapshot()
    }

    /// What was decoded, waited for and taken when, by the end of each interval; `None` unless the group was built to
    /// [record](PrefetchGroupBuilder::trace) it. Of very many, only the latest are kept.
    pub fn trace(&self) -> Option<Vec<Interval>> {
        self.shared.state.lock().trace.intervals()
    }

    /// Tells that the consumer has waited for epoch `k` until now, for one that waits by other means than
    /// [`take`](Self::take): it counts in [`Stats::waited_s`].
    pub fn note_wait(&self, k: usize, time: Duration) {
        let mut state = self.shared.state.lock();
        state.waited_s += time.as_secs_f64();
        let now = Instant::now();
        state.trace.record(Activity::Wait, None, k, now.checked_sub(time).unwrap_or(now));
    }

    /// Sets what is called when the next entry becomes ready, and when an order is started, ends early or is closed:
    /// for consumers that wait by other means than a blocked thread. It is called on whichever thread brought this
    /// about, at times without need, so the consumer asks again. It must be quick and must not call back into the group
    /// except for [`is_ready`](Self::is_ready) and [`stats`](Self::stats).
    ///
    /// Once this returns, the waker set before is not running and will not be called again. A group that was ready
    /// before does not call the new one: set it, then ask.
    pub fn set_waker(&self, waker: Option<Waker>) {
        self.shared.waker.set(waker);
    }

    /// Deliveries of which the consumer still holds a sample. A sample that several deliveries share belongs to the
    /// latest of them; one that only the group remembers is not counted.
    pub fn alive_slots(&self) -> usize {
        self.shared.state.lock().alive().slots
    }

    /// Bytes of the delivered samples that the consumer still holds, each allocation counted once.
    pub fn alive_bytes(&self) -> u64 {
        self.shared.state.lock().alive().bytes
    }

    /// Waits for a change, or decodes a sample if that is this thread's task.
    fn progress<'a>(&'a self, mut state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        let job = if self.inline { state.schedule.next_job(Lane::Worker) } else { None };
        if let Some(job) = job {
            drop(state);
            self.shared.run(job);
            return self.shared.state.lock();
        }
        self.shared.ready.wait(&mut state);
        state
    }

    fn wait_idle(&self) {
        let mut state = self.shared.state.lock();
        while !state.schedule.is_idle() {
            self.shared.idle.wait(&mut state);
        }
    }
}

impl<T: Send + Sync + 'static> Drop for PrefetchGroup<T> {
    fn drop(&mut self) {
        self.close();
    }
}

impl<T: Send + Sync + 'static> std::fmt::Debug for PrefetchGroup<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let keys: Vec<&str> = self.keys().collect();
        f.debug_struct("PrefetchGroup").field("keys", &keys).field("epochs", &self.boundaries().len()).finish()
    }
}
