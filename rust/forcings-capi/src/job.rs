//! Long calls: run on the caller's thread, or on a native one while the caller does something else.

use crate::guard::catch;
use crate::handle::{self, Object};
use crate::output::Out;
use crate::{guard::guard, session};
use forcings::{Error, Result};
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Writes the results of a call to its out-parameters.
type Deliver = Box<dyn FnOnce() + Send>;

enum State {
    Running,
    Done(Result<Deliver>),
    Finished,
}

struct Job {
    state: Mutex<State>,
    done: Condvar,
}

impl Object for Job {
    const NOUN: &'static str = "job";
    const CLOSE_ORDER: u8 = 0;

    /// Waits for the work, so that nothing of it runs any more at the end of the process.
    fn close(&self) -> Result<()> {
        self.done.wait_while(&mut self.state.lock(), |s| matches!(s, State::Running));
        Ok(())
    }
}

/// Runs `work` and passes its result to `deliver`, which writes the out-parameters.
///
/// With a null `out_job` all of it happens before this returns. Otherwise `work` runs on a native thread, `out_job`
/// receives a handle, and `deliver` runs in `forcings_job_finish`, on the thread that calls it. A job that is closed
/// without that drops its result: what `work` opens gets its handle in `deliver`, or nobody could close it.
///
/// # Errors
/// Those of `work` when it runs here; `Io` when no thread can be started.
///
/// # Safety
/// `out_job` is null or valid for a write.
pub(crate) unsafe fn run<T: Send + 'static>(
    operation: &'static str,
    out_job: *mut u64,
    work: impl FnOnce() -> Result<T> + Send + 'static,
    deliver: impl FnOnce(T) + Send + 'static,
) -> Result<()> {
    if out_job.is_null() {
        deliver(work()?);
        return Ok(());
    }
    // SAFETY: the caller promises a place that is valid for a write.
    let out = unsafe { Out::new("out_job", out_job) }?;
    let job = Arc::new(Job { state: Mutex::new(State::Running), done: Condvar::new() });
    let handle = handle::insert(Arc::clone(&job));
    let shared = Arc::clone(&job);
    let body = move || {
        let result = catch(operation, work);
        *shared.state.lock() = State::Done(result.map(|value| Box::new(move || deliver(value)) as Deliver));
        shared.done.notify_all();
        session::notify(handle);
    };
    match std::thread::Builder::new().name("forcings-job".into()).spawn(body) {
        Ok(_) => {
            out.set(handle);
            Ok(())
        }
        Err(error) => {
            *job.state.lock() = State::Finished;
            handle::close::<Job>(handle)?;
            Err(Error::io("a native thread", error))
        }
    }
}

/// Waits until the job has ended, at most `timeout_ms`, and tells whether it has. With 0 it only asks.
#[no_mangle]
pub unsafe extern "C" fn forcings_job_wait(job: u64, timeout_ms: u64, out_done: *mut u8) -> i32 {
    guard("forcings_job_wait", || {
        // SAFETY: the caller passes a writable pointer, as the header asks.
        let done = unsafe { Out::new("out_done", out_done) }?;
        let job = handle::get::<Job>(job)?;
        let mut state = job.state.lock();
        if let Some(deadline) = Instant::now().checked_add(Duration::from_millis(timeout_ms)) {
            job.done.wait_while_until(&mut state, |s| matches!(s, State::Running), deadline);
        } else {
            job.done.wait_while(&mut state, |s| matches!(s, State::Running));
        }
        done.set(u8::from(!matches!(*state, State::Running)));
        Ok(())
    })
}

/// Ends a job that is done: writes the out-parameters of the call that started it, returns that call's status and
/// frees the handle. A job that still runs is the status `InvalidParameter`, and stays.
#[no_mangle]
pub extern "C" fn forcings_job_finish(job: u64) -> i32 {
    guard("forcings_job_finish", || {
        let shared = handle::get::<Job>(job)?;
        let mut state = shared.state.lock();
        match std::mem::replace(&mut *state, State::Finished) {
            State::Running => {
                *state = State::Running;
                Err(Error::invalid("this job still runs; wait until forcings_job_wait says so"))
            }
            State::Finished => Err(Error::Closed("job")),
            State::Done(result) => {
                drop(state);
                handle::close::<Job>(job)?;
                result.map(|deliver| deliver())
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use forcings::ErrorKind;

    fn wait(job: u64) {
        let mut done = 0;
        // SAFETY: `done` is a local variable.
        assert_eq!((unsafe { forcings_job_wait(job, u64::MAX, &mut done) }, done), (0, 1));
    }

    #[test]
    fn a_job_delivers_when_it_is_finished_and_not_before() {
        let (sent, received) = std::sync::mpsc::channel();
        let (go, gate) = std::sync::mpsc::channel::<()>();
        let work = move || {
            gate.recv().expect("the sender lives until it has sent");
            Ok(7)
        };
        let mut job = 0;
        // SAFETY: `job` is a local variable that outlives the call.
        unsafe { run("test", &mut job, work, move |n| sent.send(n).expect("the receiver lives")) }.unwrap();
        assert_eq!(forcings_job_finish(job), ErrorKind::InvalidParameter as i32);
        go.send(()).unwrap();
        wait(job);
        assert!(received.try_recv().is_err());
        assert_eq!(forcings_job_finish(job), 0);
        assert_eq!(received.try_recv(), Ok(7));
        assert_eq!(forcings_job_finish(job), ErrorKind::Closed as i32);
    }

    #[test]
    fn errors_and_panics_of_a_job_come_out_of_its_finish() {
        let mut job = 0;
        // SAFETY: `job` is a local variable that outlives the calls.
        unsafe { run("test", &mut job, || Err(Error::NotFound("nothing".into())), |()| ()) }.unwrap();
        wait(job);
        assert_eq!(forcings_job_finish(job), ErrorKind::NotFound as i32);
        // SAFETY: as above.
        unsafe { run("test", &mut job, || -> Result<()> { panic!("broken") }, |()| ()) }.unwrap();
        wait(job);
        assert_eq!(forcings_job_finish(job), ErrorKind::Panic as i32);
    }

    #[test]
    fn a_job_that_is_closed_unfinished_waits_and_drops_its_result() {
        let (go, gate) = std::sync::mpsc::channel::<()>();
        let result = Arc::new(());
        let made = Arc::clone(&result);
        let work = move || {
            gate.recv().expect("the sender lives until it has sent");
            Ok(made)
        };
        let mut job = 0;
        // SAFETY: `job` is a local variable that outlives the call.
        unsafe { run("test", &mut job, work, |_| panic!("nobody finishes it")) }.unwrap();
        let closing = std::thread::spawn(move || handle::close::<Job>(job));
        std::thread::sleep(Duration::from_millis(20));
        assert!(!closing.is_finished());
        go.send(()).unwrap();
        closing.join().unwrap().unwrap();
        assert_eq!(forcings_job_finish(job), ErrorKind::Closed as i32);
        // The native thread lets go of the job last, right after it has told of the end.
        while Arc::strong_count(&result) > 1 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn without_a_handle_it_runs_here() {
        let (sent, received) = std::sync::mpsc::channel();
        // SAFETY: a null `out_job` is legal.
        unsafe { run("test", std::ptr::null_mut(), || Ok(3), move |n| sent.send(n).expect("lives")) }.unwrap();
        assert_eq!(received.try_recv(), Ok(3));
    }
}
