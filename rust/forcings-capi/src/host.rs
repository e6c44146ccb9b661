//! Samples that the caller makes in tasks of its own: of members that are its own, and by transforms. The library knows its
//! values by numbers, and tells when it needs one no longer.

use crate::group::GroupObject;
use crate::handle::{self, Object};
use crate::output::Out;
use crate::payload::Payload;
use crate::sample::ForcingsSample;
use crate::{guard::guard, input};
use forcings::dataset::Dataset;
use forcings::error::HostError;
use forcings::prefetch::{HostJob, HostWork};
use forcings::provider::Sampler;
use forcings::{Error, Result};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;

/// A value of the caller's, by the number that the caller gave it.
pub(crate) struct HostValue(u64);

/// Numbers whose values the library has let go of.
static DROPPED: Mutex<Vec<u64>> = Mutex::new(Vec::new());

impl HostValue {
    fn new(token: u64) -> Result<Self> {
        match token {
            0 => Err(Error::invalid("value is 0; the numbers of values begin with 1")),
            _ => Ok(HostValue(token)),
        }
    }

    pub(crate) fn token(&self) -> u64 {
        self.0
    }
}

impl Drop for HostValue {
    fn drop(&mut self) {
        DROPPED.lock().push(self.0);
    }
}

/// The times of a member that the caller samples by itself.
pub(crate) struct HostMember {
    times: Vec<f64>,
    /// Times with their anchors, ascending.
    anchors: Vec<(f64, f64)>,
}

impl Object for HostMember {
    const NOUN: &'static str = "member of the caller's";
    const CLOSE_ORDER: u8 = 2;
}

impl Sampler for HostMember {
    fn refresh_times(&self) -> &[f64] {
        &self.times
    }

    fn anchor(&self, t: f64) -> Result<f64> {
        // Adding zero makes one of the two zeros, here and where the times are kept.
        let found = self.anchors.binary_search_by(|(time, _)| time.total_cmp(&(t + 0.0))).ok();
        let anchor = found.map(|i| self.anchors[i].1).filter(|anchor| !anchor.is_nan());
        anchor
            .ok_or_else(|| Error::OffGrid(format!("the member has no data at the time {t}, which is before its first")))
    }

    fn sample_at(&self, t: f64) -> Result<Dataset> {
        Err(Error::invalid(format!("the data of this member at the time {t} are the caller's to make")))
    }

    fn calendar(&self) -> Option<&str> {
        None
    }
}

/// A job that the caller has; completing it takes it away.
struct HostJobObject(Mutex<Option<HostJob<Payload>>>);

impl Object for HostJobObject {
    const NOUN: &'static str = "job of a prefetch group";
    const CLOSE_ORDER: u8 = 0;

    fn close(&self) -> Result<()> {
        // What is dropped without a result has failed.
        drop(self.0.lock().take());
        Ok(())
    }
}

/// A member of groups whose samples the caller makes: with `n` refresh times, and for each of `m` ascending times the
/// refresh time in force, or NaN where there is none. The times have to include every boundary of the group. Close it with
/// `forcings_handle_release`; a group keeps what it needs.
#[no_mangle]
pub unsafe extern "C" fn forcings_host_member(
    times: *const f64,
    n: u64,
    at: *const f64,
    anchors: *const f64,
    m: u64,
    out_member: *mut u64,
) -> i32 {
    guard("forcings_host_member", || {
        // SAFETY: the caller passes a writable pointer and arrays, as the header asks.
        let (out, times, at, anchors) = unsafe {
            (
                Out::new("out_member", out_member)?,
                input::slice("times", times, n)?,
                input::slice("at", at, m)?,
                input::slice("anchors", anchors, m)?,
            )
        };
        let ascending = |list: &[f64]| list.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending(times) || !ascending(at) {
            return Err(Error::invalid("the times of a member must ascend, without repeats"));
        }
        let anchors = at.iter().map(|t| t + 0.0).zip(anchors.iter().copied()).collect();
        out.set(handle::insert(Arc::new(HostMember { times: times.to_vec(), anchors })));
        Ok(())
    })
}

/// The oldest sample that a group wants of the caller, if there is one: `out_job` receives a handle, or 0. `out_member` is
/// the position of the member in byte-wise order of the keys, `out_epoch` counts from 0, `out_time` is where the epoch
/// begins. For a member of the library, `out_sample` receives what was decoded, else null. Finish the job with
/// `forcings_host_complete` or `forcings_host_fail`; one that is closed has failed. Never waits.
#[no_mangle]
pub unsafe extern "C" fn forcings_group_next_host_job(
    group: u64,
    out_job: *mut u64,
    out_member: *mut u64,
    out_epoch: *mut u64,
    out_time: *mut f64,
    out_sample: *mut *mut ForcingsSample,
) -> i32 {
    guard("forcings_group_next_host_job", || {
        // SAFETY: the caller passes writable pointers, as the header asks.
        let (out, member, epoch, time, sample) = unsafe {
            (
                Out::new("out_job", out_job)?,
                Out::new("out_member", out_member)?,
                Out::new("out_epoch", out_epoch)?,
                Out::new("out_time", out_time)?,
                Out::new("out_sample", out_sample)?,
            )
        };
        if let Some(job) = handle::get::<GroupObject>(group)?.0.next_host_job() {
            member.set(job.member() as u64);
            epoch.set(job.epoch() as u64);
            time.set(job.time());
            if let Some(input) = job.input() {
                sample.set(ForcingsSample::of(input, job.time()).into_raw());
            }
            out.set(handle::insert(Arc::new(HostJobObject(Mutex::new(Some(job))))));
        }
        Ok(())
    })
}

/// Waits, at most `timeout_ms`, until a group wants a sample of the caller. `out_work` receives 1 if it does, 0 if not yet,
/// and 2 if it will not before another order is started.
#[no_mangle]
pub unsafe extern "C" fn forcings_group_wait_host(group: u64, timeout_ms: u64, out_work: *mut i32) -> i32 {
    guard("forcings_group_wait_host", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let out = unsafe { Out::new("out_work", out_work) }?;
        out.set(match handle::get::<GroupObject>(group)?.0.wait_host(Duration::from_millis(timeout_ms)) {
            HostWork::None => 0,
            HostWork::Queued => 1,
            HostWork::Over => 2,
        });
        Ok(())
    })
}

/// Finishes a job with a value of the caller's, which is known as `value` (not 0) until `forcings_host_drain` lists it, and
/// the `bytes` that it takes; what was decoded for it counts with its own.
#[no_mangle]
pub extern "C" fn forcings_host_complete(job: u64, value: u64, bytes: u64) -> i32 {
    guard("forcings_host_complete", || {
        let value = HostValue::new(value)?;
        take(job)?.complete(Ok((Payload::Host(value), bytes)));
        Ok(())
    })
}

/// Finishes a job with an error, which the take of its epoch returns with the status `Host`, the text and the number
/// `value` (not 0), known as in `forcings_host_complete`.
#[no_mangle]
pub unsafe extern "C" fn forcings_host_fail(job: u64, value: u64, text: *const u8, text_len: u64) -> i32 {
    guard("forcings_host_fail", || {
        let cause = Arc::new(HostValue::new(value)?);
        // SAFETY: the caller passes a text, as the header asks.
        let text = unsafe { input::text("text", text, text_len) }?.to_owned();
        take(job)?.complete(Err(Error::Host(HostError { text, cause })));
        Ok(())
    })
}

/// Removes up to `capacity` numbers of values that the library needs no longer from its list into `out_values`, and their
/// number into `out_count`. Drain until the count is 0.
#[no_mangle]
pub unsafe extern "C" fn forcings_host_drain(out_values: *mut u64, capacity: u64, out_count: *mut u64) -> i32 {
    guard("forcings_host_drain", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let count = unsafe { Out::new("out_count", out_count) }?;
        let values = input::places("out_values", out_values, capacity)?;
        let mut dropped = DROPPED.lock();
        let kept = dropped.len() - dropped.len().min(values);
        for (i, token) in dropped.drain(kept..).enumerate() {
            // SAFETY: `i` is less than `capacity`, and the caller passes room for that many.
            unsafe { out_values.add(i).write(token) };
            count.set(i as u64 + 1);
        }
        Ok(())
    })
}

fn take(job: u64) -> Result<HostJob<Payload>> {
    let object = handle::get::<HostJobObject>(job)?;
    let taken = object.0.lock().take();
    handle::close::<HostJobObject>(job)?;
    taken.ok_or(Error::Closed(HostJobObject::NOUN))
}
