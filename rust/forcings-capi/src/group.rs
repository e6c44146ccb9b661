//! Prefetch groups.

use crate::handle::{self, Object};
use crate::host::HostMember;
use crate::output::Out;
use crate::payload::Payload;
use crate::provider::{Eltype, ProviderObject};
use crate::sample::ForcingsSample;
use crate::table::ForcingsTable;
use crate::{guard::guard, input, job, session};
use forcings::dataset::{FloatType, Selection};
use forcings::prefetch::{Order, PrefetchGroup, PrefetchGroupBuilder};
use forcings::{Error, Result};
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;

pub(crate) struct GroupObject(pub(crate) PrefetchGroup<Payload>);

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
    #[serde(default)]
    auto_depth: bool,
    max_bytes: Option<u64>,
    fetch_ahead: Option<usize>,
    workers: Option<usize>,
    #[serde(default)]
    inline: bool,
    windows: Option<Vec<serde_json::Value>>,
    clip: Option<[f64; 2]>,
    eltype: Option<Eltype>,
    #[serde(default)]
    trace: bool,
    #[serde(default)]
    finish_on_host: bool,
    spill: Option<SpillOptions>,
}

/// Where samples are spilled to, and how many bytes of them at most.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SpillOptions {
    folder: String,
    bytes: Option<u64>,
}

impl GroupOptions {
    /// A builder without members.
    fn builder(self) -> Result<PrefetchGroupBuilder<Payload>> {
        let builder = PrefetchGroup::builder();
        let mut builder = match self.windows {
            None => builder.transform(|_, data| Payload::Data(vec![data])),
            Some(list) => {
                let windows = list.iter().map(Selection::from_value).collect::<Result<Vec<_>>>()?;
                builder.windows(windows).transform(|_, data| Payload::Data(data))
            }
        };
        if let Some(depth) = self.depth {
            builder = builder.depth(depth);
        }
        if self.auto_depth {
            builder = builder.auto_depth();
        }
        if let Some(entries) = self.fetch_ahead {
            builder = builder.fetch_ahead(entries);
        }
        if let Some(workers) = self.workers {
            builder = builder.workers(workers);
        }
        if let Some([begin, end]) = self.clip {
            builder = builder.clip(begin, end);
        }
        if self.finish_on_host {
            builder = builder.finish_on_host();
        }
        if let Some(SpillOptions { folder, bytes }) = self.spill {
            builder = builder.spill(folder, bytes);
        }
        Ok(builder.max_bytes(self.max_bytes).inline(self.inline).trace(self.trace))
    }
}

/// Builds a prefetch group over `n` members: providers, and members of `forcings_host_member`. `options` is JSON: `keys`
/// (one per member), and optionally `depth` (2) or `auto_depth`, `max_bytes`, `fetch_ahead` (as `depth`), `workers` (1),
/// `inline`, `windows` (selections in their wire form; each member then has a dataset for each), `clip` (two times),
/// `eltype` (of the floating-point data of files: `"float64"`, `"float32"`), `trace`, `finish_on_host`
/// (`forcings_group_next_host_job` gives every sample that was decoded to the caller, who makes of it what is delivered),
/// and `spill` (an object: decoded samples go to a temporary file in `folder`, of `bytes` at most if it has them, and are
/// read back when they are asked for again). The group keeps what it needs of the members; their handles may be closed.
#[no_mangle]
pub unsafe extern "C" fn forcings_group_build(
    options: *const u8,
    options_len: u64,
    members: *const u64,
    n: u64,
    out_group: *mut u64,
) -> i32 {
    guard("forcings_group_build", || {
        // SAFETY: the caller passes a writable pointer, a text and an array, as the header asks.
        let (out, mut options, members) = unsafe {
            (
                Out::new("out_group", out_group)?,
                input::json::<GroupOptions>("options", options, options_len)?,
                input::slice("members", members, n)?,
            )
        };
        let keys = std::mem::take(&mut options.keys);
        let eltype = options.eltype.take().map(FloatType::from);
        if keys.len() != members.len() {
            return Err(Error::invalid(format!("{} keys for {} members", keys.len(), members.len())));
        }
        let mut builder = options.builder()?;
        for (key, &member) in keys.into_iter().zip(members) {
            builder = match handle::get::<HostMember>(member) {
                Ok(of_host) => builder.host_member(key, of_host),
                Err(_) => builder.member(key, handle::get::<ProviderObject>(member)?.member(eltype)),
            };
        }
        let group = Arc::new(GroupObject(builder.build()?));
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

/// Counts the `nanoseconds` until now as time in which the consumer waited for epoch `k`, for one that waits by other means.
#[no_mangle]
pub extern "C" fn forcings_group_note_wait(group: u64, k: u64, nanoseconds: u64) -> i32 {
    guard("forcings_group_note_wait", || {
        get(group)?.0.note_wait(input::index("k", k)?, Duration::from_nanos(nanoseconds));
        Ok(())
    })
}

/// What was done when, in a group built with `trace`: a table with the columns `activity` (0 decode, 1 the caller's part of
/// a sample, 2 fetch ahead, 3 wait, 4 take), `member` (in byte-wise order of the keys, or null), `epoch`, `begin_s` and
/// `end_s` (seconds since the group was built). Of very many lines only the latest are kept.
#[no_mangle]
pub unsafe extern "C" fn forcings_group_trace(group: u64, out_table: *mut *mut ForcingsTable) -> i32 {
    guard("forcings_group_trace", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let out = unsafe { Out::new("out_table", out_table) }?;
        let intervals = get(group)?.0.trace();
        let intervals = intervals.ok_or_else(|| Error::invalid("this prefetch group was not built with trace"))?;
        let all = || intervals.iter();
        let table = ForcingsTable::new(intervals.len())
            .integers("activity", all().map(|i| Some(i.activity as i64)))
            .integers("member", all().map(|i| i.member.map(|m| m as i64)))
            .integers("epoch", all().map(|i| Some(i.epoch as i64)))
            .doubles("begin_s", all().map(|i| Some(i.begin_s)))
            .doubles("end_s", all().map(|i| Some(i.end_s)));
        out.set(table.into_raw());
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
/// `samples_decoded`, `samples_reused`, `oversize_epochs`, `overlap`, `depth`, `samples_spilled`, `samples_restored` (which
/// were read back, and count as decoded too), `spilled_bytes`, and `spill_error` (a text, or null: what went wrong with
/// spilling, for which samples are decoded again).
#[no_mangle]
pub unsafe extern "C" fn forcings_group_stats(group: u64, out_table: *mut *mut ForcingsTable) -> i32 {
    guard("forcings_group_stats", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let out = unsafe { Out::new("out_table", out_table) }?;
        let group = get(group)?;
        let (stats, spill_error) = (group.0.stats(), group.0.spill_error());
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
            .bools("overlap", std::iter::once(Some(stats.overlap)))
            .integers("depth", one(stats.depth as u64))
            .integers("samples_spilled", one(stats.samples_spilled))
            .integers("samples_restored", one(stats.samples_restored))
            .integers("spilled_bytes", one(stats.spilled_bytes))
            .texts("spill_error", std::iter::once(spill_error.as_deref()));
        out.set(table.into_raw());
        Ok(())
    })
}

/// Where a group stands: a table with one row and the columns `state` (0 while an entry is left; else as `out_state` of
/// `forcings_last_error`), `entries` of the order, `taken`, `next` (the epoch that comes next, or null), `held` (entries
/// held ahead), `finished` (of those) and `bytes` (of samples decoded for them).
#[no_mangle]
pub unsafe extern "C" fn forcings_group_snapshot(group: u64, out_table: *mut *mut ForcingsTable) -> i32 {
    guard("forcings_group_snapshot", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let out = unsafe { Out::new("out_table", out_table) }?;
        let now = get(group)?.0.snapshot();
        // Positions in lists and sizes of memory.
        let one = |count: usize| std::iter::once(Some(count as i64));
        let state = now.state.map_or(0, |state| crate::error::group_numbers(&Error::Group(state)).0);
        let table = ForcingsTable::new(1)
            .integers("state", std::iter::once(Some(state)))
            .integers("entries", one(now.entries))
            .integers("taken", one(now.taken))
            .integers("next", std::iter::once(now.next.map(|k| k as i64)))
            .integers("held", one(now.held))
            .integers("finished", one(now.finished))
            .integers("bytes", std::iter::once(Some(now.bytes as i64)));
        out.set(table.into_raw());
        Ok(())
    })
}

fn get(group: u64) -> Result<Arc<GroupObject>> {
    handle::get(group)
}

#[cfg(test)]
mod tests;
