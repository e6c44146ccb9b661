//! Prefetch groups.

use crate::handle::{self, Object};
use crate::output::Out;
use crate::provider::ProviderObject;
use crate::sample::ForcingsSample;
use crate::table::ForcingsTable;
use crate::{guard::guard, input, job, session};
use forcings::prefetch::{Order, PrefetchGroup};
use forcings::{Error, Result};
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

struct GroupObject(PrefetchGroup);

impl Object for GroupObject {
    const NOUN: &'static str = "prefetch group";
    const CLOSE_ORDER: u8 = 1;

    fn close(&self) -> Result<()> {
        self.0.close();
        Ok(())
    }
}

/// `keys` names the members, in the order of their handles.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupOptions {
    keys: Vec<String>,
    depth: Option<usize>,
    max_bytes: Option<u64>,
    workers: Option<usize>,
    inline: Option<bool>,
}

/// Builds a prefetch group over `n` providers. `options` is JSON: `keys` (one per provider), and optionally `depth`,
/// `max_bytes`, `workers`, `inline`. The group keeps what it needs of the providers; their handles may be closed.
#[no_mangle]
pub unsafe extern "C" fn forcings_group_build(
    options: *const u8,
    options_len: u64,
    providers: *const u64,
    n: u64,
    out_group: *mut u64,
) -> i32 {
    guard("forcings_group_build", || {
        // SAFETY: the caller passes a writable pointer, a text and an array, as the header asks.
        let (out, options, providers) = unsafe {
            (
                Out::new("out_group", out_group)?,
                input::json::<GroupOptions>("options", options, options_len)?,
                input::slice("providers", providers, n)?,
            )
        };
        if options.keys.len() != providers.len() {
            return Err(Error::invalid(format!("{} keys for {} providers", options.keys.len(), providers.len())));
        }
        let mut builder = PrefetchGroup::builder().max_bytes(options.max_bytes);
        for (key, &provider) in options.keys.into_iter().zip(providers) {
            builder = builder.member(key, handle::get::<ProviderObject>(provider)?.member());
        }
        if let Some(depth) = options.depth {
            builder = builder.depth(depth);
        }
        if let Some(workers) = options.workers {
            builder = builder.workers(workers);
        }
        let group = Arc::new(GroupObject(builder.inline(options.inline.unwrap_or(false)).build()?));
        let handle = handle::insert(Arc::clone(&group));
        group.0.set_waker(Some(Box::new(move || session::notify(handle))));
        out.set(handle);
        Ok(())
    })
}

/// Cancels, waits for the threads and ends them. Samples stay valid. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_group_close(group: u64, out_job: *mut u64) -> i32 {
    guard("forcings_group_close", || {
        // SAFETY: the caller passes null or a writable pointer, as the header asks.
        unsafe { job::run("forcings_group_close", out_job, move || handle::close::<GroupObject>(group), |()| ()) }
    })
}

/// The times at which the epochs begin. Writes up to `capacity` of them and always their number.
#[no_mangle]
pub unsafe extern "C" fn forcings_group_boundaries(
    group: u64,
    out_times: *mut f64,
    capacity: u64,
    out_count: *mut u64,
) -> i32 {
    guard("forcings_group_boundaries", || {
        // SAFETY: the caller passes writable pointers, the first with room for `capacity` numbers.
        unsafe {
            let count = Out::new("out_count", out_count)?;
            crate::output::fill("out_times", get(group)?.0.boundaries(), out_times, capacity, &count)
        }
    })
}

/// Declares the order: `order` is 0 forward, 1 reverse, 2 the `n` epochs of the list. `from` is the epoch to begin at, or
/// -1. Epochs count from 0.
#[no_mangle]
pub unsafe extern "C" fn forcings_group_start(group: u64, order: i32, epochs: *const u64, n: u64, from: i64) -> i32 {
    guard("forcings_group_start", || {
        // SAFETY: the caller passes an array, as the header asks.
        let epochs = unsafe { input::slice("epochs", epochs, n) }?;
        let order = match order {
            0 => Order::Forward,
            1 => Order::Reverse,
            2 => Order::Explicit(epochs.iter().map(|&k| input::index("epochs", k)).collect::<Result<_>>()?),
            _ => return Err(Error::invalid(format!("there is no order {order}; 0, 1 and 2 are orders"))),
        };
        let from = match from {
            -1 => None,
            from => Some(usize::try_from(from).map_err(|_| Error::invalid("from is an epoch, or -1"))?),
        };
        get(group)?.0.start(order, from)
    })
}

/// Delivers epoch `k` if it is ready; otherwise `out_sample` receives null. Never waits and never decodes.
#[no_mangle]
pub unsafe extern "C" fn forcings_group_try_take(group: u64, k: u64, out_sample: *mut *mut ForcingsSample) -> i32 {
    guard("forcings_group_try_take", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let out = unsafe { Out::new("out_sample", out_sample) }?;
        if let Some(epoch) = get(group)?.0.try_take(input::index("k", k)?)? {
            out.set(ForcingsSample::epoch(&epoch).into_raw());
        }
        Ok(())
    })
}

/// Waits until epoch `k` is ready, at most `timeout_ms`, and tells whether it is.
#[no_mangle]
pub unsafe extern "C" fn forcings_group_wait(group: u64, k: u64, timeout_ms: u64, out_ready: *mut u8) -> i32 {
    guard("forcings_group_wait", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let out = unsafe { Out::new("out_ready", out_ready) }?;
        out.set(u8::from(get(group)?.0.wait(input::index("k", k)?, Duration::from_millis(timeout_ms))));
        Ok(())
    })
}

/// In a group that decodes inline: decodes one queued sample on this thread. `out_decoded` receives 0 if none is queued.
#[no_mangle]
pub unsafe extern "C" fn forcings_group_decode_one(group: u64, out_decoded: *mut u8) -> i32 {
    guard("forcings_group_decode_one", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let out = unsafe { Out::new("out_decoded", out_decoded) }?;
        out.set(u8::from(get(group)?.0.decode_one()?));
        Ok(())
    })
}

/// Whether epoch `k` is the next entry and would be delivered without waiting.
#[no_mangle]
pub unsafe extern "C" fn forcings_group_is_ready(group: u64, k: u64, out_ready: *mut u8) -> i32 {
    guard("forcings_group_is_ready", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let out = unsafe { Out::new("out_ready", out_ready) }?;
        out.set(u8::from(get(group)?.0.is_ready(input::index("k", k)?)));
        Ok(())
    })
}

/// Drops the order and all pending work; with `wait` (0 or 1) returns when nothing is decoded any more. See `out_job`
/// above.
#[no_mangle]
pub unsafe extern "C" fn forcings_group_cancel(group: u64, wait: u8, out_job: *mut u64) -> i32 {
    guard("forcings_group_cancel", || {
        let group = get(group)?;
        let cancel = move || {
            group.0.cancel(wait != 0);
            Ok(())
        };
        // SAFETY: the caller passes null or a writable pointer, as the header asks.
        unsafe { job::run("forcings_group_cancel", out_job, cancel, |()| ()) }
    })
}

/// Counts `seconds` as time in which the consumer waited, for one that waits by other means.
#[no_mangle]
pub extern "C" fn forcings_group_note_wait(group: u64, seconds: f64) -> i32 {
    guard("forcings_group_note_wait", || {
        if !(seconds >= 0.0 && seconds.is_finite()) {
            return Err(Error::invalid(format!("{seconds} is no waiting time")));
        }
        get(group)?.0.note_wait(seconds);
        Ok(())
    })
}

/// How many delivered epochs the consumer still holds, and their bytes.
#[no_mangle]
pub unsafe extern "C" fn forcings_group_alive(group: u64, out_slots: *mut u64, out_bytes: *mut u64) -> i32 {
    guard("forcings_group_alive", || {
        // SAFETY: the caller passes writable pointers, as the header asks.
        let (slots, bytes) = unsafe { (Out::new("out_slots", out_slots)?, Out::new("out_bytes", out_bytes)?) };
        let group = get(group)?;
        slots.set(group.0.alive_slots() as u64);
        bytes.set(group.0.alive_bytes());
        Ok(())
    })
}

/// What the group counted: a table with one row and the columns `waited_s`, `decode_s`, `peak_bytes`, `epochs_decoded`,
/// `samples_decoded`, `samples_reused`, `oversize_epochs`, `overlap`.
#[no_mangle]
pub unsafe extern "C" fn forcings_group_stats(group: u64, out_table: *mut *mut ForcingsTable) -> i32 {
    guard("forcings_group_stats", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let out = unsafe { Out::new("out_table", out_table) }?;
        let stats = get(group)?.0.stats();
        // Counts of what happened in one process.
        let one = |count: u64| std::iter::once(Some(count as i64));
        let table = ForcingsTable::new(1)
            .doubles("waited_s", std::iter::once(Some(stats.waited_s)))
            .doubles("decode_s", std::iter::once(Some(stats.decode_s)))
            .integers("peak_bytes", one(stats.peak_bytes))
            .integers("epochs_decoded", one(stats.epochs_decoded))
            .integers("samples_decoded", one(stats.samples_decoded))
            .integers("samples_reused", one(stats.samples_reused))
            .integers("oversize_epochs", one(stats.oversize_epochs))
            .bools("overlap", std::iter::once(Some(stats.overlap)));
        out.set(table.into_raw());
        Ok(())
    })
}

fn get(group: u64) -> Result<Arc<GroupObject>> {
    handle::get(group)
}

#[cfg(test)]
mod tests;
