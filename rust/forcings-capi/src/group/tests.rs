use super::*;
use forcings::dataset::Dataset;
use forcings::provider::Sampler;
use forcings::ErrorKind;
use parking_lot::Mutex;
use std::sync::mpsc::{channel, Receiver, Sender};

/// Two times, whose decodes wait for a permit each and tell when they begin.
struct Held {
    permit: Mutex<Receiver<()>>,
    begun: Sender<()>,
}

impl Sampler for Held {
    fn refresh_times(&self) -> &[f64] {
        &[0.0, 1.0]
    }

    fn anchor(&self, t: f64) -> Result<f64> {
        Ok(t.floor())
    }

    fn sample_at(&self, _: f64) -> Result<Dataset> {
        // Nobody may listen any more, and a sender of permits that is gone lets everything pass.
        let _ = self.begun.send(());
        let _ = self.permit.lock().recv();
        Ok(Dataset::default())
    }

    fn calendar(&self) -> Option<&str> {
        None
    }
}

/// A group of one member whose first decode is under way, and its permits.
fn held() -> (u64, Sender<()>) {
    let ((permits, permit), (begun, first)) = (channel(), channel());
    let member = Held { permit: Mutex::new(permit), begun };
    let builder = PrefetchGroup::builder().transform(|_, data| Payload::Data(vec![data]));
    let group = builder.member("m", Arc::new(member)).build().unwrap();
    group.start(Order::Forward, None).unwrap();
    first.recv().unwrap();
    (handle::insert(Arc::new(GroupObject(group))), permits)
}

fn wait(group: u64, k: u64, timeout_ms: u64) -> (i32, u8) {
    let mut ready = 7;
    // SAFETY: `ready` is a local variable.
    (unsafe { forcings_group_wait(group, k, timeout_ms, &mut ready) }, ready)
}

fn try_take(group: u64, k: u64) -> (i32, *mut ForcingsSample) {
    let mut sample = std::ptr::dangling_mut();
    // SAFETY: `sample` is a local variable.
    (unsafe { forcings_group_try_take(group, k, &mut sample) }, sample)
}

fn close(group: u64) -> i32 {
    // SAFETY: a null `out_job` is legal.
    unsafe { forcings_group_close(group, std::ptr::null_mut()) }
}

/// The state and the numbers of this thread's last error.
fn last_state() -> (i64, [i64; 2]) {
    let (mut text, mut len, mut state, mut numbers) = (std::ptr::null(), 0, 0, [0; 2]);
    // SAFETY: all of them are local variables.
    unsafe { crate::forcings_last_error(&mut text, &mut len, &mut state, numbers.as_mut_ptr()) };
    (state, numbers)
}

#[test]
fn closing_ends_a_call_that_waits_and_later_calls_find_a_closed_handle() {
    let (group, permits) = held();
    let waiting = std::thread::spawn(move || wait(group, 0, u64::MAX));
    let closing = std::thread::spawn(move || close(group));
    // The handle is good until the decode under way has ended.
    assert_eq!(waiting.join().unwrap(), (0, 0));
    drop(permits);
    assert_eq!(closing.join().unwrap(), 0);
    assert_eq!(close(group), 0);
    let closed = ErrorKind::Closed as i32;
    assert_eq!(wait(group, 0, 0), (closed, 0));
    assert_eq!(try_take(group, 0), (closed, std::ptr::null_mut()));
    // SAFETY: an empty list may be null.
    assert_eq!(unsafe { forcings_group_start(group, 0, std::ptr::null(), 0, -1) }, closed);
    assert_eq!(forcings_group_note_wait(group, 0, 1_000), closed);
}

#[test]
fn an_epoch_is_delivered_once_and_outlives_its_group() {
    let (group, permits) = held();
    assert_eq!(try_take(group, 0), (0, std::ptr::null_mut()));
    permits.send(()).unwrap();
    assert_eq!(wait(group, 0, u64::MAX), (0, 1));
    let (status, sample) = try_take(group, 0);
    assert!(status == 0 && !sample.is_null());
    assert_eq!(try_take(group, 0), (ErrorKind::Group as i32, std::ptr::null_mut()));
    assert_eq!(last_state(), (5, [0, 1]));
    drop(permits);
    assert_eq!(close(group), 0);
    let (mut anchor, mut changed, mut first, mut value, mut time) = (7.0, 7, 7, 7, 7.0);
    // SAFETY: the sample is not given back, and there is room for its one member.
    unsafe {
        let (anchor, changed, first, value) = (&mut anchor, &mut changed, &mut first, &mut value);
        assert_eq!(crate::forcings_sample_members(sample, anchor, changed, first, value, 1, &mut time), 0);
        crate::forcings_sample_release(sample);
    }
    assert_eq!((anchor, changed, first, value, time), (0.0, 1, 0, 0, 0.0));
}

#[test]
fn a_cancelled_order_is_told_by_its_number() {
    let (group, permits) = held();
    // SAFETY: a null `out_job` is legal.
    assert_eq!(unsafe { forcings_group_cancel(group, 0, std::ptr::null_mut()) }, 0);
    assert_eq!(wait(group, 0, u64::MAX), (0, 0));
    assert_eq!(try_take(group, 0).0, ErrorKind::Group as i32);
    assert_eq!(last_state(), (3, [-1, -1]));
    drop(permits);
    assert_eq!(close(group), 0);
}

#[test]
fn samples_are_spilled_where_the_options_say() {
    let build = |folder: &std::path::Path| {
        let spill = serde_json::json!({"folder": folder, "bytes": 1_000});
        let options = serde_json::json!({"keys": ["m"], "spill": spill});
        let options: GroupOptions = serde_json::from_value(options).unwrap();
        let ((_, permit), (begun, _)) = (channel(), channel());
        options.builder()?.member("m", Arc::new(Held { permit: Mutex::new(permit), begun })).build()
    };
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(build(&folder.path().join("missing")).unwrap_err().kind(), ErrorKind::Io);
    let group = build(folder.path()).unwrap();
    for order in [vec![0, 1], vec![0, 1]] {
        group.start(Order::Explicit(order), None).unwrap();
        (0..2).for_each(|k| drop(group.take(k).unwrap()));
    }
    let stats = group.stats();
    assert_eq!((stats.samples_spilled, stats.samples_restored, stats.spilled_bytes), (2, 1, 0));
    let group = handle::insert(Arc::new(GroupObject(group)));
    let mut table = std::ptr::null_mut();
    // SAFETY: the table is given back once.
    unsafe {
        assert_eq!(forcings_group_stats(group, &mut table), 0);
        crate::forcings_table_free(table);
    }
    assert_eq!(close(group), 0);
}
