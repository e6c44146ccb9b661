//! Work on many chunks by all cores whose results one thread takes in order, with few of them waiting.

use crate::chunks::Scratch;
use crate::{Error, Result};
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::panic::{catch_unwind, AssertUnwindSafe};

/// The threads that a job of as many bytes is worth.
pub(super) fn threads_for(bytes: usize) -> usize {
    const WORTH_A_THREAD: usize = 128 << 10;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    cores.min(bytes / WORTH_A_THREAD).max(1)
}

/// Runs `produce` for every job on `threads` threads, this one among them, and hands the results to `consume` on this
/// one, in order. At most twice as many results as threads wait at any time. The first error ends it.
///
/// # Errors
/// The first error of either function, in the order of jobs; `Panic` where `produce` panicked.
pub(super) fn in_order<T: Send>(
    jobs: usize,
    threads: usize,
    produce: impl Fn(usize, &mut Scratch) -> Result<T> + Sync,
    mut consume: impl FnMut(usize, T) -> Result<()>,
) -> Result<()> {
    if threads <= 1 || jobs <= 1 {
        let mut scratch = Scratch::new();
        return (0..jobs).try_for_each(|job| consume(job, produce(job, &mut scratch)?));
    }
    let queue =
        Queue { jobs, window: 2 * threads, state: Mutex::default(), ready: Condvar::new(), room: Condvar::new() };
    std::thread::scope(|scope| {
        // Whatever ends this thread's part, the others must not wait for it.
        let _stop = Stop(&queue);
        for _ in 1..threads.min(jobs) {
            // Where the system refuses another thread, this one does its work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || {
                let mut scratch = Scratch::new();
                while let Some(job) = queue.next() {
                    queue.put(job, caught(|| produce(job, &mut scratch)));
                }
            });
        }
        let mut scratch = Scratch::new();
        (0..jobs).try_for_each(|wanted| loop {
            match queue.turn(wanted) {
                Turn::Take(result) => break consume(wanted, result?),
                Turn::Make(job) => queue.put(job, caught(|| produce(job, &mut scratch))),
            }
        })
    })
}

fn caught<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| Err(Error::Panic("a chunk job panicked".into())))
}

/// What the thread that consumes does next.
enum Turn<T> {
    Take(Result<T>),
    Make(usize),
}

struct Queue<T> {
    jobs: usize,
    window: usize,
    state: Mutex<State<T>>,
    ready: Condvar,
    room: Condvar,
}

struct State<T> {
    next: usize,
    taken: usize,
    results: BTreeMap<usize, Result<T>>,
    stopped: bool,
}

impl<T> Default for State<T> {
    fn default() -> Self {
        State { next: 0, taken: 0, results: BTreeMap::new(), stopped: false }
    }
}

impl<T> Queue<T> {
    fn next(&self) -> Option<usize> {
        let mut state = self.state.lock();
        while !state.stopped && state.next < self.jobs && state.next >= state.taken + self.window {
            self.room.wait(&mut state);
        }
        if state.stopped || state.next >= self.jobs {
            return None;
        }
        state.next += 1;
        Some(state.next - 1)
    }

    fn put(&self, job: usize, result: Result<T>) {
        self.state.lock().results.insert(job, result);
        self.ready.notify_one();
    }

    /// The result that is wanted, or a job to pass the time until it is there.
    fn turn(&self, wanted: usize) -> Turn<T> {
        let mut state = self.state.lock();
        loop {
            if let Some(result) = state.results.remove(&wanted) {
                state.taken = wanted + 1;
                self.room.notify_all();
                return Turn::Take(result);
            }
            if state.next < self.jobs && state.next < state.taken + self.window {
                state.next += 1;
                return Turn::Make(state.next - 1);
            }
            self.ready.wait(&mut state);
        }
    }
}

struct Stop<'a, T>(&'a Queue<T>);

impl<T> Drop for Stop<'_, T> {
    fn drop(&mut self) {
        self.0.state.lock().stopped = true;
        self.0.room.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn results_come_in_order_and_few_wait() {
        for threads in [1, 2, 5] {
            let (made, mut seen) = (AtomicUsize::new(0), Vec::new());
            let produce = |job: usize, _: &mut Scratch| {
                made.fetch_add(1, Ordering::SeqCst);
                Ok(job * job)
            };
            in_order(100, threads, produce, |job, square| {
                assert!(made.load(Ordering::SeqCst) <= job + 1 + 2 * threads);
                assert_eq!(square, job * job);
                seen.push(job);
                Ok(())
            })
            .unwrap();
            assert_eq!(seen, (0..100).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_first_error_ends_it() {
        for threads in [1, 3] {
            let fail = |at: usize| {
                move |job: usize, _: &mut Scratch| {
                    if job >= at {
                        Err(Error::invalid(format!("job {job}")))
                    } else {
                        Ok(())
                    }
                }
            };
            let mut taken = 0;
            let count = |_, ()| {
                taken += 1;
                Ok(())
            };
            assert_eq!(in_order(50, threads, fail(7), count).unwrap_err().to_string(), "job 7");
            assert_eq!(taken, 7);
            let refuse = |job, ()| if job == 3 { Err(Error::Closed("store")) } else { Ok(()) };
            assert_eq!(in_order(50, threads, fail(40), refuse).unwrap_err().kind(), ErrorKind::Closed);
        }
        let error = in_order(9, 2, |job, _| if job == 4 { panic!("oh") } else { Ok(()) }, |_, ()| Ok(())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Panic);
        in_order(0, 2, |_, _| Ok(()), |_, ()| Ok(())).unwrap();
    }
}
