//! Samples that the program around a group makes, or finishes: in tasks of its own, which a group cannot run.

use super::schedule::{Job, Lane};
use super::shared::Shared;
use super::trace::Activity;
use crate::{Error, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A sample to make, from [`PrefetchGroup::next_host_job`](super::PrefetchGroup::next_host_job). One that is dropped
/// without [`complete`](Self::complete) has failed.
pub struct HostJob<T> {
    shared: Arc<Shared<T>>,
    /// Gone when it is completed.
    job: Option<Job<Arc<T>>>,
    begin: Instant,
}

/// What is there to do for the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostWork {
    /// Nothing yet.
    None,
    /// A sample is to be made.
    Queued,
    /// Nothing will come before another order is started.
    Over,
}

impl<T> HostJob<T> {
    /// The key of the member.
    pub fn key(&self) -> &str {
        &self.shared.members[self.member()].key
    }

    /// The position of the member in byte-wise order of the keys.
    pub fn member(&self) -> usize {
        self.job().key.member
    }

    /// The epoch for which the sample was asked first, counted from 0.
    pub fn epoch(&self) -> usize {
        self.job().epoch
    }

    /// The time at which that epoch begins.
    pub fn time(&self) -> f64 {
        self.shared.boundaries[self.epoch()]
    }

    /// What a worker has decoded; `None` for a member that is the host's.
    pub fn input(&self) -> Option<&Arc<T>> {
        self.job().input.as_ref()
    }

    /// Hands over the sample, with the bytes that it takes (where a worker decoded its input, the bytes of that count), or
    /// its error.
    pub fn complete(mut self, result: Result<(T, u64)>) {
        if let Some(job) = self.job.take() {
            self.shared.complete(job, result, self.begin, Activity::Host);
        }
    }

    fn job(&self) -> &Job<Arc<T>> {
        self.job.as_ref().expect("it is taken away only when the job is consumed")
    }
}

impl<T> Drop for HostJob<T> {
    fn drop(&mut self) {
        if let Some(job) = self.job.take() {
            let key = &self.shared.members[job.key.member].key;
            let error = Error::Panic(format!("the sample of member {key:?} was given up by who had to make it"));
            self.shared.complete(job, Err(error), self.begin, Activity::Host);
        }
    }
}

impl<T> Shared<T> {
    pub(super) fn next_host_job(self: &Arc<Self>) -> Option<HostJob<T>> {
        let job = self.state.lock().schedule.next_job(Lane::Host)?;
        Some(HostJob { shared: self.clone(), job: Some(job), begin: Instant::now() })
    }

    /// Waits until there is work for the host or there will be none, at most for `timeout`.
    pub(super) fn wait_host(&self, timeout: Duration) -> HostWork {
        let deadline = Instant::now().checked_add(timeout);
        let mut state = self.state.lock();
        loop {
            if state.schedule.has_jobs(Lane::Host) {
                return HostWork::Queued;
            }
            if state.schedule.is_over() {
                return HostWork::Over;
            }
            match deadline {
                Some(deadline) if self.host.wait_until(&mut state, deadline).timed_out() => return HostWork::None,
                Some(_) => {}
                None => self.host.wait(&mut state),
            }
        }
    }
}
