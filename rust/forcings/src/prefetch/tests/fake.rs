//! A sampler whose data tell which member and anchor they are of, and whose decoding the test controls.

use crate::dataset::{Dataset, Field, Values};
use crate::prefetch::{EpochSample, HostJob, HostWork, Order, PrefetchGroup, PrefetchGroupBuilder};
use crate::provider::Sampler;
use crate::{Error, Result};
use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// What a decode does before it answers.
#[derive(Clone)]
pub(super) enum Latency {
    None,
    Fixed(Duration),
    /// 0 to 2 ms, another at each call.
    Random,
    /// Until the gate is open.
    Held(Arc<Gate>),
}

/// Holds decodes back until it is opened, and tells how many wait.
#[derive(Default)]
pub(super) struct Gate {
    state: Mutex<(bool, usize)>,
    changed: Condvar,
}

impl Gate {
    pub(super) fn open(&self) {
        self.state.lock().0 = true;
        self.changed.notify_all();
    }

    /// Returns when `count` decodes wait.
    pub(super) fn await_waiting(&self, count: usize) {
        let mut state = self.state.lock();
        while state.1 < count {
            self.changed.wait(&mut state);
        }
    }

    /// Waits until the gate is open.
    pub(super) fn pass(&self) {
        let mut state = self.state.lock();
        state.1 += 1;
        self.changed.notify_all();
        while !state.0 {
            self.changed.wait(&mut state);
        }
        state.1 -= 1;
    }
}

pub(super) struct Fake {
    id: u32,
    times: Vec<f64>,
    pub(super) latency: Latency,
    pub(super) calendar: Option<String>,
    pub(super) failing: Vec<f64>,
    pub(super) panicking: Vec<f64>,
    pub(super) elements: usize,
    pub(super) calls: AtomicUsize,
}

impl Fake {
    /// Number `id`, with data that change every `step` from `first` on, `count` times.
    pub(super) fn new(id: u32, first: u32, step: u32, count: u32) -> Self {
        Fake {
            id,
            times: (0..count).map(|i| f64::from(first + i * step)).collect(),
            latency: Latency::None,
            calendar: None,
            failing: vec![],
            panicking: vec![],
            elements: 10,
            calls: AtomicUsize::new(0),
        }
    }

    pub(super) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub(super) fn set_time(&mut self, index: usize, t: f64) {
        self.times[index] = t;
    }

    pub(super) fn id(&self) -> u32 {
        self.id
    }

    pub(super) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// The bytes of one sample.
    pub(super) fn bytes(&self) -> u64 {
        self.dataset(self.times[0]).byte_len() as u64
    }

    fn dataset(&self, anchor: f64) -> Dataset {
        let field = |name: &str, dim: &str, values: Values| Field {
            name: name.into(),
            dims: vec![dim.into()],
            shape: vec![values.len()],
            values,
            attributes: Arc::new([]),
        };
        // The payload of the NaN tells the anchor, so that a sample of another epoch would show.
        let nan = f64::from_bits(0x7ff8_0000_0000_0000 | anchor as u64);
        let mut values = vec![nan; self.elements];
        values[0] = anchor + f64::from(self.id) * 1e3;
        Dataset {
            variables: vec![
                field("value", "x", Values::F64(values)),
                field("zero", "one", Values::F32(vec![if anchor % 2.0 == 0.0 { -0.0 } else { 0.0 }])),
            ],
            coords: vec![field("x", "x", Values::I64((0..self.elements as i64).collect()))],
            attributes: Arc::new([]),
        }
    }

    fn delay(&self, t: f64, call: usize) {
        match &self.latency {
            Latency::None => {}
            Latency::Fixed(time) => std::thread::sleep(*time),
            Latency::Random => {
                let mix = (t as u64 + 31 * u64::from(self.id) + 1009 * call as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                std::thread::sleep(Duration::from_micros((mix >> 40) % 2000));
            }
            Latency::Held(gate) => gate.pass(),
        }
    }
}

impl Sampler for Fake {
    fn refresh_times(&self) -> &[f64] {
        &self.times
    }

    fn anchor(&self, t: f64) -> Result<f64> {
        let after = self.times.partition_point(|&a| a <= t);
        let at = after.checked_sub(1);
        at.map(|at| self.times[at]).ok_or_else(|| Error::OffGrid(format!("{t} is before {}", self.times[0])))
    }

    fn sample_at(&self, t: f64) -> Result<Dataset> {
        let anchor = self.anchor(t)?;
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        self.delay(t, call);
        if self.panicking.contains(&anchor) {
            panic!("no good at {anchor}");
        }
        if self.failing.contains(&anchor) {
            return Err(Error::NotFound(format!("fake {} has no data at {anchor}", self.id)));
        }
        Ok(self.dataset(anchor))
    }

    fn calendar(&self) -> Option<&str> {
        self.calendar.as_deref()
    }
}

/// A builder with the one member `m`.
pub(super) fn group_of(fake: Fake) -> (PrefetchGroupBuilder, Arc<Fake>) {
    let fake = Arc::new(fake);
    (PrefetchGroup::builder().member("m", fake.clone()), fake)
}

/// Takes all of `epochs`.
pub(super) fn take_all(group: &PrefetchGroup, epochs: impl IntoIterator<Item = usize>) -> Vec<EpochSample> {
    epochs.into_iter().map(|k| group.take(k).unwrap()).collect()
}

/// Runs `consumer` while `threads` threads make the host's samples.
pub(super) fn serve_host<T: Send + Sync, R>(
    group: &PrefetchGroup<T>,
    threads: usize,
    make: impl Fn(HostJob<T>) + Sync,
    consumer: impl FnOnce() -> R,
) -> R {
    struct Raised<'a>(&'a AtomicBool);
    impl Drop for Raised<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    match group.wait_host(Duration::from_millis(5)) {
                        HostWork::Queued => group.next_host_job().into_iter().for_each(&make),
                        HostWork::None => {}
                        HostWork::Over => std::thread::sleep(Duration::from_micros(100)),
                    }
                }
            });
        }
        // The threads end even if the consumer panics.
        let _raised = Raised(&over);
        consumer()
    })
}

/// Starts `group` with the forward order and takes the first epoch.
pub(super) fn first(group: &PrefetchGroup) -> Result<EpochSample> {
    group.start(Order::Forward, None).unwrap();
    group.take(0)
}
