//! Walks through all states that a small group can reach: any order of completions, any moment of a take, and one
//! cancel, restart or failure anywhere. In each state the schedule agrees with the model and keeps its promises.

use super::super::{Booking, Job, Lane, Progress, Refusal, Route, Schedule};
use super::model::{Config, Counts, Model, Status};
use crate::prefetch::depth::Depth;
use std::collections::HashSet;
use std::ops::RangeInclusive;

type Data = (usize, u32);

/// A worker may leave work lying, so what happens with fewer of them is among what happens with these.
const WORKERS: usize = 4;

/// The schedule, its model, the jobs that workers have, and how many orders were started.
#[derive(Clone)]
struct Walk<'a> {
    real: Schedule<Data, Data>,
    model: Model<'a>,
    /// Jobs, and whether they belong to the present order.
    jobs: Vec<(Job<Data>, bool)>,
    orders: usize,
    /// Samples decoded and reused before the present order.
    base: u64,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Dispatch(Lane),
    Complete(usize),
    Take,
    Cancel,
    Start,
    Close,
}

struct Plan<'a> {
    config: &'a Config,
    first: &'a [usize],
    second: &'a [usize],
}

impl<'a> Walk<'a> {
    fn new(config: &'a Config) -> Self {
        let real = Schedule::new(config.table.clone(), Depth::fixed(config.depth), config.limit)
            .with_routes(config.routes.clone())
            .with_fetch_ahead(config.fetch_ahead);
        Walk { real, model: Model::new(config), jobs: vec![], orders: 0, base: 0 }
    }

    fn steps(&self) -> Vec<Step> {
        let mut steps: Vec<Step> = (0..self.jobs.len()).map(Step::Complete).collect();
        let lanes = [Lane::Worker, Lane::Host].into_iter().filter(|lane| self.real.has_jobs(*lane));
        steps.extend(lanes.filter(|_| self.jobs.len() < WORKERS).map(Step::Dispatch));
        if self.model.expected().is_some() {
            steps.push(Step::Take);
        }
        if self.orders < 2 {
            steps.extend([Step::Start, Step::Cancel]);
        } else if self.model.expected().is_none() {
            steps.push(Step::Close);
        }
        steps
    }

    fn apply(&mut self, step: Step, plan: &Plan) {
        match step {
            Step::Dispatch(lane) => {
                let job = self.real.next_job(lane).expect("it has jobs");
                let key = (job.key.member, job.key.anchor);
                assert_eq!(Some((key.0, key.1, job.epoch)), self.model.dispatch(lane));
                let goes_on = lane == Lane::Host && self.model.config.routes[key.0] == Route::WorkerThenHost;
                assert_eq!(job.input, goes_on.then_some(key));
                self.jobs.push((job, true));
            }
            Step::Complete(index) => self.complete(index),
            Step::Take => self.take(),
            Step::Cancel => {
                self.real.cancel();
                self.model.cancel();
                self.end_order();
            }
            Step::Start => {
                let order = if self.orders == 0 { plan.first } else { plan.second };
                self.real.start(order.to_vec());
                self.model.start(order);
                self.orders += 1;
                self.end_order();
            }
            Step::Close => {
                self.real.close();
                self.model.close();
                self.end_order();
            }
        }
    }

    fn end_order(&mut self) {
        self.jobs.iter_mut().for_each(|(_, current)| *current = false);
        let counts = self.real.counters();
        let reused_at_start: u64 = self.asked() - self.open();
        self.base = counts.samples_decoded + counts.samples_reused - reused_at_start;
    }

    fn complete(&mut self, index: usize) {
        let (job, current) = self.jobs.remove(index);
        let key = (job.key.member, job.key.anchor);
        // Where the host goes on, it is the host who fails.
        let may_fail = job.lane == Lane::Host || self.model.config.routes[key.0] == Route::Worker;
        let ok = self.orders != 1 || !may_fail || !self.model.config.failing.contains(&key);
        let bytes = self.model.config.bytes(key.0, key.1);
        let was_ready = self.model.expected().is_some_and(|k| self.model.is_ready(k));
        if current {
            self.model.complete(key.0, key.1, ok);
        } else {
            self.model.complete_stale(job.booking);
        }
        let finished = self.real.complete(job, if ok { Ok((key, bytes)) } else { Err(key) });
        let is_ready = self.model.expected().is_some_and(|k| self.model.is_ready(k));
        assert_eq!(finished, is_ready && !was_ready);
    }

    fn take(&mut self) {
        let k = self.model.expected().expect("a take is tried where it fits");
        let real = self.real.take(k);
        let model = self.model.take(k);
        match (real, model) {
            (Ok(None), Ok(None)) => {}
            (Ok(Some(taken)), Ok(Some(expected))) => {
                let anchors: Vec<_> = taken.iter().map(|t| (t.anchor, t.changed)).collect();
                assert_eq!(anchors, expected);
                for (member, t) in taken.iter().enumerate() {
                    assert_eq!(t.data, (member, self.model.config.table[member][k].expect("it was delivered")));
                    assert_eq!(t.bytes, self.model.config.bytes(t.data.0, t.data.1));
                }
            }
            (Err(Refusal::Failed(error)), Err((member, Some(anchor)))) => {
                assert_eq!(error, (member, anchor));
                self.end_order();
            }
            (Err(Refusal::NoAnchor { member }), Err((expected, None))) => {
                assert_eq!(member, expected);
                self.end_order();
            }
            (real, model) => panic!("take({k}) gives {real:?}, not {model:?}"),
        }
    }

    /// Samples that the entries admitted so far asked for.
    fn asked(&self) -> u64 {
        let order = &self.real.order;
        let admitted = order.iter().take(self.real.next + self.real.slots.len());
        let table = &self.model.config.table;
        admitted.map(|&k| table.iter().filter(|row| row[k].is_some()).count() as u64).sum()
    }

    /// Samples asked for that were not decoded: still to come, or failed.
    fn open(&self) -> u64 {
        let open = |p: &Progress<Data, Data>| !matches!(p, Progress::Ready(_));
        self.real.cells.values().filter(|cell| open(&cell.progress)).count() as u64
    }

    fn compare(&mut self) {
        let (real, model) = (&mut self.real, &self.model);
        for k in 0..model.config.table[0].len() {
            assert_eq!(real.check(k), model.check(k));
            assert_eq!(real.is_ready(k), model.is_ready(k));
            if let Err(state) = model.check(k) {
                assert_eq!(real.take(k), Err(Refusal::State(state)), "and nothing is consumed");
            }
        }
        assert_eq!(real.slots.len(), model.live().len());
        assert_eq!(real.cells.len(), model.at.items.len());
        for item in &model.at.items {
            let key = super::super::Key { member: item.member, anchor: item.anchor };
            let cell = &real.cells[&key];
            assert_eq!(cell.slots, model.live_slots_with(item));
            let status = match &cell.progress {
                Progress::Queued => {
                    let job = real.queued.values().find(|job| job.key == key).expect("it is queued");
                    let decoded = Booking::Held(model.config.bytes(item.member, item.anchor));
                    match job.input {
                        Some(_) => assert_eq!(job.booking, decoded),
                        None => assert_eq!(job.booking, Booking::Estimate(item.estimate)),
                    }
                    if job.input.is_some() {
                        Status::Decoded
                    } else {
                        Status::Queued
                    }
                }
                Progress::Running if item.status == Status::Finishing => Status::Finishing,
                Progress::Running => Status::Running,
                Progress::Ready(kept) => {
                    assert_eq!(kept.data, (item.member, item.anchor));
                    Status::Ready
                }
                Progress::Failed(_) => Status::Failed,
            };
            assert_eq!(status, item.status);
        }
        let last: Vec<_> = real.last.iter().map(|last| last.as_ref().map(|(anchor, _)| *anchor)).collect();
        assert_eq!(last, model.at.last);
        assert_eq!(real.sizes, model.at.sizes);
        assert_eq!(
            real.budget.fits(Some(0)),
            match (model.config.limit, model.held()) {
                (None, _) => true,
                (Some(limit), held) => held.is_some_and(|held| held <= limit),
            }
        );
        let counters = real.counters();
        let counts = Counts {
            epochs: counters.epochs_decoded,
            decoded: counters.samples_decoded,
            reused: counters.samples_reused,
            oversize: counters.oversize_epochs,
            peak: real.peak_bytes(),
        };
        assert_eq!(counts, model.counts);
        assert_eq!(real.is_idle(), self.jobs.is_empty());
        assert_eq!(real.fetches, model.fetches());
        assert_eq!(real.is_over(), model.expected().is_none());
    }

    /// What holds in every state, whatever a model says. `before` is the state one step earlier.
    fn promises(&self, before: &Walk, step: Step) {
        let (real, config) = (&self.real, self.model.config);
        assert!(real.slots.len() <= config.depth);
        if let Some(limit) = config.limit {
            if real.slots.len() > 1 && !config.uneven {
                assert!(self.model.held().is_some_and(|held| held + self.model.spare() <= limit), "the limit holds");
            }
            let fits = self.model.held().is_some_and(|held| held + self.model.spare() <= limit);
            assert!(self.model.spare() == 0 || fits, "nothing is kept beside an oversize head");
        }
        if let Some(k) = self.model.expected() {
            let works = real.has_jobs(Lane::Worker)
                || real.has_jobs(Lane::Host)
                || self.jobs.iter().any(|(_, current)| *current);
            assert!(real.is_ready(k) || works, "somebody works for a head that is not finished");
        }
        if before.model.a_live_slot_failed() && !matches!(step, Step::Start) {
            assert!(real.slots.len() <= before.real.slots.len(), "nothing is admitted behind a failure");
        }
        let counters = real.counters();
        let since = counters.samples_decoded + counters.samples_reused - self.base;
        assert_eq!(since + self.open(), self.asked(), "each sample asked for is decoded or reused once");
    }
}

/// Walks through all states.
fn explore(plan: &Plan) {
    let mut seen = HashSet::new();
    let mut stack = vec![Walk::new(plan.config)];
    while let Some(walk) = stack.pop() {
        for step in walk.steps() {
            let mut after = walk.clone();
            after.apply(step, plan);
            after.compare();
            after.promises(&walk, step);
            let mut jobs: Vec<_> = after.jobs.iter().map(|(job, current)| (job.key, job.booking, *current)).collect();
            jobs.sort();
            if seen.insert((after.model.at.clone(), jobs, after.orders)) {
                stack.push(after);
            }
        }
    }
}

fn fine(epochs: u32) -> Vec<Option<u32>> {
    (0..epochs).map(Some).collect()
}

fn coarse(epochs: u32) -> Vec<Option<u32>> {
    (0..epochs).map(|k| Some(k / 2)).collect()
}

fn late(epochs: u32) -> Vec<Option<u32>> {
    (0..epochs).map(|k| k.checked_sub(1)).collect()
}

fn seasonal(epochs: u32) -> Vec<Option<u32>> {
    (0..epochs).map(|k| Some(k % 2)).collect()
}

/// Explores groups of `table` with each depth and limit, with each of `failing` in turn.
fn explore_all(table: &[Vec<Option<u32>>], depths: RangeInclusive<usize>, failing: &[&[(usize, u32)]]) {
    explore_routes(table, &vec![Route::Worker; table.len()], depths, failing);
}

/// The same, for members of the given routes.
fn explore_routes(
    table: &[Vec<Option<u32>>],
    routes: &[Route],
    depths: RangeInclusive<usize>,
    failing: &[&[(usize, u32)]],
) {
    let epochs = table[0].len();
    let forward: Vec<usize> = (0..epochs).collect();
    let reverse: Vec<usize> = (0..epochs).rev().collect();
    let repeats: Vec<usize> = [epochs - 1, epochs - 1, 0, epochs - 1, epochs / 2].to_vec();
    let orders = [(&forward, &repeats), (&repeats, &reverse)];
    for depth in depths {
        for limit in [None, Some(1), Some(5), Some(9)] {
            for (index, failing) in failing.iter().enumerate() {
                for uneven in [false, true].into_iter().take(2 - index.min(1)) {
                    let (table, routes, failing) = (table.to_vec(), routes.to_vec(), failing.to_vec());
                    let config = Config { table, routes, depth, fetch_ahead: depth - 1, limit, uneven, failing };
                    for (first, second) in orders {
                        explore(&Plan { config: &config, first, second });
                    }
                }
            }
        }
    }
}

#[test]
fn one_member() {
    for row in [fine(5), coarse(5), late(5), seasonal(5)] {
        explore_all(&[row], 1..=4, &[&[], &[(0, 0)], &[(0, 1)]]);
    }
}

#[test]
fn two_members() {
    for rows in [[fine(4), coarse(4)], [late(4), fine(4)], [coarse(4), seasonal(4)]] {
        explore_all(&rows, 1..=4, &[&[], &[(1, 0)], &[(0, 1), (1, 1)]]);
    }
}

#[test]
fn three_members() {
    explore_all(&[coarse(3), fine(3), seasonal(3)], 1..=3, &[&[], &[(0, 1)], &[(1, 1), (2, 1)]]);
}

#[test]
fn one_member_that_the_host_finishes_or_makes() {
    for row in [fine(4), coarse(5), seasonal(4)] {
        for route in [Route::WorkerThenHost, Route::Host] {
            explore_routes(std::slice::from_ref(&row), &[route], 1..=3, &[&[], &[(0, 1)]]);
        }
    }
}

#[test]
fn members_of_the_host_beside_others() {
    for routes in [[Route::WorkerThenHost, Route::Host], [Route::Worker, Route::WorkerThenHost]] {
        explore_routes(&[fine(3), coarse(3)], &routes, 1..=3, &[&[], &[(0, 1), (1, 1)]]);
    }
}
