//! Rules of the group by name, each as a short story.

use super::super::{Job, Refusal, Schedule};
use crate::error::GroupState;

type Plain = Schedule<String, String>;

fn one_member(epochs: u32, depth: usize, limit: Option<u64>) -> Plain {
    Schedule::new(vec![(0..epochs).map(Some).collect()], depth, limit)
}

/// Completes a job with a sample of 10 bytes that tells its member and anchor.
fn finish(schedule: &mut Plain, job: Job) -> bool {
    let text = format!("{}@{}", job.key.member, job.key.anchor);
    schedule.complete(job, Ok((text, 10)))
}

fn finish_all(schedule: &mut Plain) {
    while let Some(job) = schedule.next_job() {
        finish(schedule, job);
    }
}

fn fail(schedule: &mut Plain, job: Job) -> bool {
    let text = format!("{} failed", job.key.member);
    schedule.complete(job, Err(text))
}

#[test]
fn the_limit_admits_by_the_last_size() {
    let mut schedule = one_member(6, 4, Some(25));
    schedule.start(vec![0, 1, 2, 3, 4, 5]);
    assert_eq!(schedule.slots.len(), 1, "no size is known");
    let job = schedule.next_job().unwrap();
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
fn one_byte_runs_each_epoch_alone() {
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
fn jobs_go_out_by_position_then_member() {
    let table = vec![vec![Some(0), Some(0), Some(1)], vec![Some(0), Some(1), Some(2)]];
    let mut schedule: Plain = Schedule::new(table, 3, None);
    schedule.start(vec![0, 1, 2]);
    let jobs: Vec<_> = std::iter::from_fn(|| schedule.next_job()).map(|job| (job.epoch, job.key.member)).collect();
    assert_eq!(jobs, [(0, 0), (0, 1), (1, 1), (2, 0), (2, 1)]);
}

#[test]
fn delivery_keeps_the_order_when_the_newest_finishes_first() {
    let mut schedule = one_member(3, 3, None);
    schedule.start(vec![2, 0, 1]);
    let mut jobs: Vec<_> = std::iter::from_fn(|| schedule.next_job()).collect();
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
    let mut schedule: Plain = Schedule::new(vec![vec![Some(0)], vec![Some(0)], vec![Some(0)]], 2, None);
    schedule.start(vec![0]);
    let mut jobs: Vec<_> = std::iter::from_fn(|| schedule.next_job()).collect();
    assert!(!fail(&mut schedule, jobs.pop().unwrap()));
    assert!(!fail(&mut schedule, jobs.pop().unwrap()));
    assert_eq!(schedule.take(0), Ok(None), "the first member may fail yet");
    let first = jobs.pop().unwrap();
    assert!(finish(&mut schedule, first));
    assert_eq!(schedule.take(0), Err(Refusal::Failed("1 failed".into())));
    assert_eq!(schedule.take(0), Err(Refusal::State(GroupState::Failed { next: None })));
}

#[test]
fn epochs_before_a_failure_are_delivered_and_none_behind_it_is_admitted() {
    let mut schedule = one_member(5, 2, None);
    schedule.start(vec![4, 3, 2, 1, 0]);
    let (first, second) = (schedule.next_job().unwrap(), schedule.next_job().unwrap());
    fail(&mut schedule, second);
    finish(&mut schedule, first);
    schedule.take(4).unwrap().unwrap();
    assert!(schedule.next_job().is_none());
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
    let late = schedule.next_job().unwrap();
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
    assert!(schedule.is_ready(0) && !schedule.has_jobs());
    assert!(schedule.take(0).unwrap().unwrap()[0].changed, "the first take of an order");
    assert_eq!(schedule.counters().samples_reused, 1);
}

#[test]
fn a_member_without_an_anchor_fails_at_its_take() {
    let mut schedule: Plain = Schedule::new(vec![vec![Some(0), Some(1)], vec![None, Some(0)]], 2, None);
    schedule.start(vec![1, 0]);
    finish_all(&mut schedule);
    schedule.take(1).unwrap().unwrap();
    finish_all(&mut schedule);
    assert_eq!(schedule.take(0), Err(Refusal::NoAnchor { member: 1 }));
}
