//! The depth that a schedule finds by itself, over virtual time: how deep it gets, and whether its consumer still waits.

use super::super::{Job, Lane, Schedule};
use crate::prefetch::depth::Depth;

/// What became of a sweep: the depth it came to in its last quarter, and the waiting in it.
#[derive(Debug)]
struct Outcome {
    depths: Vec<usize>,
    waited: f64,
}

/// Sweeps over `epochs` with `workers` that need `decode(epoch)` for each, and a consumer that computes for 1 between its
/// takes.
fn sweep(epochs: usize, workers: usize, limit: u64, decode: impl Fn(usize) -> f64) -> Outcome {
    let table = vec![(0..epochs as u32).map(Some).collect()];
    let mut schedule: Schedule<u32, ()> = Schedule::new(table, Depth::auto(), Some(limit));
    schedule.start((0..epochs).collect());
    let mut running: Vec<(f64, Job<u32>)> = Vec::new();
    let (mut now, mut outcome) = (0.0, Outcome { depths: vec![], waited: 0.0 });
    for k in 0..epochs {
        // Workers go on until the consumer comes back, and then until its epoch is there.
        let asked = if k == 0 { 0.0 } else { now + 1.0 };
        loop {
            while running.len() < workers {
                let Some(job) = schedule.next_job(Lane::Worker) else { break };
                running.push((now + decode(job.epoch), job));
            }
            let next = running.iter().map(|(end, _)| *end).fold(f64::INFINITY, f64::min);
            if next > asked {
                now = now.max(asked);
                if schedule.take(k).unwrap().is_some() {
                    break;
                }
                // The depth may have grown, which gives a worker that is free something to do.
                if running.len() < workers && schedule.has_jobs(Lane::Worker) {
                    continue;
                }
            }
            let at = running.iter().position(|(end, _)| *end == next).expect("somebody works for the head");
            let (end, job) = running.remove(at);
            now = end;
            schedule.complete(job, Ok((0, 1)));
        }
        if k >= 3 * epochs / 4 {
            outcome.depths.push(schedule.depth());
            outcome.waited += now - asked;
        }
    }
    outcome
}

#[test]
fn quick_decodes_need_no_depth() {
    let outcome = sweep(400, 1, 100, |_| 0.5);
    assert!(outcome.depths.iter().all(|depth| *depth == 2) && outcome.waited == 0.0, "{outcome:?}");
}

#[test]
fn decodes_that_are_always_slower_than_the_consumer_get_no_deeper() {
    let outcome = sweep(400, 1, 100, |_| 1.5);
    assert!(outcome.depths.iter().all(|depth| *depth <= 3), "it would only take memory: {outcome:?}");
}

#[test]
fn a_slow_decode_now_and_then_is_hidden_by_as_much_depth_as_it_takes() {
    for slow in [3.0, 5.0, 9.0] {
        let outcome = sweep(2_000, 1, 100, |epoch| if epoch % 20 == 0 { slow } else { 0.1 });
        let needed = slow as usize;
        assert_eq!(outcome.waited, 0.0, "with a decode of {slow}: {outcome:?}");
        let deepest = outcome.depths.iter().max().unwrap();
        assert!((needed..=needed + 1).contains(deepest), "a decode of {slow} needs {needed}: {outcome:?}");
    }
}

#[test]
fn several_workers_are_kept_busy() {
    let outcome = sweep(400, 4, 100, |_| 3.5);
    assert!(outcome.waited < 1e-9, "{outcome:?}");
    assert!(outcome.depths.iter().all(|depth| (4..=7).contains(depth)), "{outcome:?}");
}

#[test]
fn the_budget_bounds_the_depth() {
    let outcome = sweep(400, 1, 3, |epoch| if epoch % 20 == 0 { 9.0 } else { 0.1 });
    assert!(outcome.waited > 0.0, "three of them cannot hide it");
    assert!(outcome.depths.iter().all(|depth| *depth <= 4), "{outcome:?}");
}
