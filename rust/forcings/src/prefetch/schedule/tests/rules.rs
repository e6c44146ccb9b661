//! Rules of the group by name, each as a short story.

use super::super::{Job, Lane, Refusal, Route, Schedule};
use crate::error::GroupState;
use crate::prefetch::depth::Depth;

type Plain = Schedule<String, String>;

fn one_member(epochs: u32, depth: usize, limit: Option<u64>) -> Plain {
    Schedule::new(vec![(0..epochs).map(Some).collect()], Depth::fixed(depth), limit)
}

/// Completes a job with a sample of 10 bytes that tells its member and anchor.
fn finish(schedule: &mut Plain, job: Job<String>) -> bool {
    let text = format!("{}@{}", job.key.member, job.key.anchor);
    schedule.complete(job, Ok((text, 10)))
}

fn finish_all(schedule: &mut Plain) {
    while let Some(job) = schedule.next_job(Lane::Worker) {
        finish(schedule, job);
    }
}

fn fail(schedule: &mut Plain, job: Job<String>) -> bool {
    let text = format!("{} failed", job.key.member);
    schedule.complete(job, Err(text))
}

/// Hands out all jobs that are queued for workers.
fn jobs(schedule: &mut Plain) -> Vec<Job<String>> {
    std::iter::from_fn(|| schedule.next_job(Lane::Worker)).collect()
}

#[test]
fn the_limit_admits_by_the_last_size() {
    let mut schedule = one_member(6, 4, Some(25));
    schedule.start(vec![0, 1, 2, 3, 4, 5]);
    assert_eq!(schedule.slots.len(), 1, "no size is known");
    let job = schedule.next_job(Lane::Worker).unwrap();
    finish(&mut schedule, job);
    assert_eq!(schedule.slots.len(), 2, "10 + 10 fit, 20 + 10 do not");
    schedule.take(0).unwrap().unwrap();
    assert_eq!(schedule.slots.len(), 2, "the taken one made room for one");
    finish_all(&mut schedule);
    for k in 1..6 {
        schedule.take(k).unwrap().unwrap();
        finish_all(&mut schedule);
    }
    assert_eq!(schedule.peak_bytes(), 20);
    assert_eq!(schedule.counters().oversize_epochs, 0);
}

#[test]
fn the_limit_can_be_filled_to_the_last_byte() {
    let mut schedule = one_member(6, 4, Some(20));
    schedule.start(vec![0, 1, 2]);
    let job = schedule.next_job(Lane::Worker).unwrap();
    finish(&mut schedule, job);
    assert_eq!(schedule.slots.len(), 2);
    finish_all(&mut schedule);
    (0..2).for_each(|k| drop(schedule.take(k).unwrap().unwrap()));
    schedule.start(vec![5]);
    finish_all(&mut schedule);
    assert_eq!(schedule.peak_bytes(), 20, "of all orders");
}

#[test]
fn row_115_one_byte_runs_each_epoch_alone() {
    let mut schedule = one_member(3, 4, Some(1));
    schedule.start(vec![0, 1, 2]);
    for k in 0..3 {
        finish_all(&mut schedule);
        assert_eq!(schedule.slots.len(), 1);
        schedule.take(k).unwrap().unwrap();
        assert!(schedule.samples().next().is_none(), "nothing is remembered");
    }
    assert_eq!(schedule.counters().oversize_epochs, 3);
    assert_eq!(schedule.check(0), Err(GroupState::Exhausted));
}

#[test]
fn no_more_is_admitted_than_the_depth() {
    let mut schedule = one_member(6, 2, None);
    schedule.start((0..6).collect());
    assert_eq!((jobs(&mut schedule).len(), schedule.slots.len()), (2, 2));
}

#[test]
fn jobs_go_out_by_position_then_member() {
    let table = vec![vec![Some(0), Some(0), Some(1)], vec![Some(0), Some(1), Some(2)]];
    let mut schedule: Plain = Schedule::new(table, Depth::fixed(3), None);
    schedule.start(vec![0, 1, 2]);
    let jobs: Vec<_> = jobs(&mut schedule).iter().map(|job| (job.epoch, job.key.member)).collect();
    assert_eq!(jobs, [(0, 0), (0, 1), (1, 1), (2, 0), (2, 1)]);
}

#[test]
fn row_114_delivery_keeps_the_order_when_the_newest_finishes_first() {
    let mut schedule = one_member(3, 3, None);
    schedule.start(vec![2, 0, 1]);
    let mut jobs = jobs(&mut schedule);
    assert!(!finish(&mut schedule, jobs.pop().unwrap()));
    assert!(!finish(&mut schedule, jobs.pop().unwrap()));
    assert_eq!(schedule.take(2).unwrap(), None);
    assert!(finish(&mut schedule, jobs.pop().unwrap()), "this one is the head");
    for k in [2, 0, 1] {
        assert_eq!(schedule.take(k).unwrap().unwrap()[0].data, format!("0@{k}"));
    }
}

#[test]
fn the_error_of_the_first_key_is_raised_once_all_are_done() {
    let mut schedule: Plain = Schedule::new(vec![vec![Some(0)], vec![Some(0)], vec![Some(0)]], Depth::fixed(2), None);
    schedule.start(vec![0]);
    let mut jobs = jobs(&mut schedule);
    assert!(!fail(&mut schedule, jobs.pop().unwrap()));
    assert!(!fail(&mut schedule, jobs.pop().unwrap()));
    assert_eq!(schedule.take(0), Ok(None), "the first member may fail yet");
    let first = jobs.pop().unwrap();
    assert!(finish(&mut schedule, first));
    assert_eq!(schedule.take(0), Err(Refusal::Failed("1 failed".into())));
    assert_eq!(schedule.take(0), Err(Refusal::State(GroupState::Failed { next: None })));
}

#[test]
fn row_110_epochs_before_a_failure_are_delivered_and_none_behind_it_is_admitted() {
    let mut schedule = one_member(5, 2, None);
    schedule.start(vec![4, 3, 2, 1, 0]);
    let (first, second) = (schedule.next_job(Lane::Worker).unwrap(), schedule.next_job(Lane::Worker).unwrap());
    fail(&mut schedule, second);
    finish(&mut schedule, first);
    schedule.take(4).unwrap().unwrap();
    assert!(schedule.next_job(Lane::Worker).is_none());
    assert!(matches!(schedule.take(3), Err(Refusal::Failed(_))));
    assert_eq!(schedule.check(2), Err(GroupState::Failed { next: Some(2) }));
    schedule.start(vec![2, 1, 0]);
    finish_all(&mut schedule);
    assert!(schedule.take(2).unwrap().unwrap()[0].changed);
}

#[test]
fn late_results_of_an_earlier_order_are_dropped() {
    let mut schedule = one_member(2, 1, None);
    schedule.start(vec![0, 1]);
    let late = schedule.next_job(Lane::Worker).unwrap();
    schedule.start(vec![1, 0]);
    assert!(!schedule.complete(late, Ok(("late".into(), 10))));
    assert_eq!(schedule.take_trash(), ["late"]);
    assert_eq!(schedule.counters().samples_decoded, 0);
    finish_all(&mut schedule);
    assert_eq!(schedule.take(1).unwrap().unwrap()[0].data, "0@1");
}

#[test]
fn the_last_taken_sample_outlives_its_order() {
    let mut schedule = one_member(3, 1, None);
    schedule.start(vec![0, 1]);
    finish_all(&mut schedule);
    schedule.take(0).unwrap().unwrap();
    schedule.cancel();
    schedule.start(vec![0, 1]);
    assert!(schedule.is_ready(0) && !schedule.has_jobs(Lane::Worker));
    assert!(schedule.take(0).unwrap().unwrap()[0].changed, "the first take of an order");
    assert_eq!(schedule.counters().samples_reused, 1);
}

#[test]
fn a_member_without_an_anchor_fails_at_its_take() {
    let mut schedule: Plain = Schedule::new(vec![vec![Some(0), Some(1)], vec![None, Some(0)]], Depth::fixed(2), None);
    schedule.start(vec![1, 0]);
    finish_all(&mut schedule);
    schedule.take(1).unwrap().unwrap();
    finish_all(&mut schedule);
    assert_eq!(schedule.take(0), Err(Refusal::NoAnchor { member: 1 }));
}

#[test]
fn the_host_goes_on_in_order_with_what_workers_finish_in_any() {
    let mut schedule = one_member(3, 3, Some(25)).with_routes(vec![Route::WorkerThenHost]);
    schedule.start(vec![0, 1, 2]);
    let first = schedule.next_job(Lane::Worker).unwrap();
    assert!(!finish(&mut schedule, first), "the host has still to go on");
    assert_eq!(schedule.slots.len(), 2, "what is decoded counts with its size: 10 + 10 fit, 20 + 10 do not");
    let second = schedule.next_job(Lane::Worker).unwrap();
    finish(&mut schedule, second);
    assert_eq!(schedule.take(0), Ok(None));
    let (a, b) = (schedule.next_job(Lane::Host).unwrap(), schedule.next_job(Lane::Host).unwrap());
    assert_eq!((a.epoch, a.input.as_deref()), (0, Some("0@0")));
    assert_eq!((b.epoch, b.input.as_deref()), (1, Some("0@1")));
    assert!(!schedule.complete(b, Ok(("b".into(), 1_000))));
    assert!(schedule.complete(a, Ok(("a".into(), 1_000))), "the bytes are those that were decoded");
    assert_eq!(schedule.peak_bytes(), 20);
    let taken = schedule.take(0).unwrap().unwrap();
    assert_eq!((taken[0].data.as_str(), taken[0].bytes), ("a", 10));
    assert_eq!(schedule.counters().samples_decoded, 2);
}

#[test]
fn what_the_host_has_not_finished_is_given_up_with_its_order() {
    let mut schedule = one_member(2, 2, Some(100)).with_routes(vec![Route::WorkerThenHost]);
    schedule.start(vec![0, 1]);
    finish_all(&mut schedule);
    let late = schedule.next_job(Lane::Host).unwrap();
    schedule.cancel();
    assert_eq!(schedule.take_trash(), ["0@1"], "the other one is still with the host");
    assert!(schedule.is_over() && !schedule.is_idle());
    schedule.start(vec![0]);
    assert!(!schedule.complete(late, Ok(("late".into(), 10))));
    assert_eq!(schedule.take_trash(), ["0@0", "late"]);
    finish_all(&mut schedule);
    let job = schedule.next_job(Lane::Host).unwrap();
    fail(&mut schedule, job);
    assert_eq!(schedule.take(0), Err(Refusal::Failed("0 failed".into())));
    assert!(schedule.is_over());
}

#[test]
fn samples_of_the_host_alone_need_no_worker() {
    let table = vec![vec![Some(0), Some(1)], vec![Some(0), Some(1)]];
    let mut schedule: Plain = Schedule::new(table, Depth::fixed(1), None);
    schedule = schedule.with_routes(vec![Route::Host, Route::Worker]);
    schedule.start(vec![0, 1]);
    assert_eq!(jobs(&mut schedule).len(), 1);
    let job = schedule.next_job(Lane::Host).unwrap();
    assert_eq!((job.key.member, &job.input), (0, &None));
    finish(&mut schedule, job);
    assert!(schedule.next_job(Lane::Host).is_none());
}

#[test]
fn entries_behind_the_admitted_ones_are_fetched_once() {
    let mut schedule = one_member(9, 2, None).with_fetch_ahead(3);
    let fetches = |schedule: &mut Plain| std::iter::from_fn(|| schedule.next_fetch()).collect::<Vec<_>>();
    schedule.start((0..9).rev().collect());
    assert_eq!(fetches(&mut schedule), [6, 5, 4]);
    finish_all(&mut schedule);
    schedule.take(8).unwrap().unwrap();
    assert_eq!(fetches(&mut schedule), [3]);
    schedule.start(vec![1, 2, 3]);
    assert_eq!(fetches(&mut schedule), [3], "there are no more entries");
    let job = schedule.next_job(Lane::Worker).unwrap();
    fail(&mut schedule, job);
    schedule.start(vec![0, 1, 2, 3]);
    schedule.cancel();
    assert!(!schedule.has_fetches());
}

#[test]
fn nothing_is_fetched_behind_a_failure() {
    let mut schedule = one_member(9, 1, None).with_fetch_ahead(1);
    schedule.start((0..9).collect());
    assert_eq!(schedule.next_fetch(), Some(1));
    finish_all(&mut schedule);
    schedule.take(0).unwrap().unwrap();
    let job = schedule.next_job(Lane::Worker).unwrap();
    assert_eq!(schedule.next_fetch(), Some(2));
    fail(&mut schedule, job);
    assert!(schedule.take(1).is_err());
    assert!(!schedule.has_fetches());
    let gap = vec![vec![Some(0), None, Some(1)]];
    let mut schedule = Plain::new(gap, Depth::fixed(2), None).with_fetch_ahead(1);
    schedule.start(vec![0, 1, 2]);
    assert!(!schedule.has_fetches(), "an epoch without an anchor has failed when it is admitted");
}
