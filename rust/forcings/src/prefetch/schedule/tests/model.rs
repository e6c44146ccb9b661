//! The rules of a group, written a second time without any bookkeeping: whatever can be derived from the list of
//! samples and the positions is derived anew at each use.

use super::super::{Booking, Lane, Route};
use crate::error::GroupState;

/// A group, and what becomes of its samples.
#[derive(Debug, Clone)]
pub(super) struct Config {
    pub(super) table: Vec<Vec<Option<u32>>>,
    pub(super) routes: Vec<Route>,
    pub(super) depth: usize,
    pub(super) fetch_ahead: usize,
    pub(super) limit: Option<u64>,
    /// Whether the samples of a member differ in size.
    pub(super) uneven: bool,
    /// The samples, as member and anchor, that fail in the first order.
    pub(super) failing: Vec<(usize, u32)>,
}

impl Config {
    pub(super) fn bytes(&self, member: usize, anchor: u32) -> u64 {
        2 + member as u64 + if self.uneven { u64::from(anchor % 2) * 3 } else { 0 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Status {
    Queued,
    Running,
    /// Decoded, for the host to go on with.
    Decoded,
    /// The host goes on with it.
    Finishing,
    Ready,
    Failed,
}

impl Status {
    fn is_pending(self) -> bool {
        !matches!(self, Status::Ready | Status::Failed)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Item {
    pub(super) member: usize,
    pub(super) anchor: u32,
    pub(super) status: Status,
    pub(super) estimate: Option<u64>,
    /// The position in the order that asked for it first.
    position: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    New,
    Active,
    Cancelled,
    Failed(Option<usize>),
    Closed,
}

/// What decides about the future. The counts are apart, since they grow without end.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Situation {
    phase: Phase,
    order: Vec<usize>,
    next: usize,
    admitted: usize,
    pub(super) items: Vec<Item>,
    /// What the samples of earlier orders that are still being made take.
    stale: Vec<Booking>,
    pub(super) last: Vec<Option<u32>>,
    previous: Vec<Option<u32>>,
    pub(super) sizes: Vec<Option<u64>>,
    counted: Vec<usize>,
    /// Positions whose files were asked for, in that order.
    fetched: Vec<usize>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Counts {
    pub(super) epochs: u64,
    pub(super) decoded: u64,
    pub(super) reused: u64,
    pub(super) oversize: u64,
    pub(super) peak: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Model<'a> {
    pub(super) config: &'a Config,
    pub(super) at: Situation,
    pub(super) counts: Counts,
}

/// What `take` gives: anchors and changes per member; or nothing yet; or the member that failed, with its anchor.
pub(super) type Outcome = Result<Option<Vec<(u32, bool)>>, (usize, Option<u32>)>;

impl<'a> Model<'a> {
    pub(super) fn new(config: &'a Config) -> Self {
        let none = vec![None; config.table.len()];
        let at = Situation {
            phase: Phase::New,
            order: vec![],
            next: 0,
            admitted: 0,
            items: vec![],
            stale: vec![],
            last: none.clone(),
            previous: none,
            sizes: vec![None; config.table.len()],
            counted: vec![],
            fetched: vec![],
        };
        Model { config, at, counts: Counts::default() }
    }

    pub(super) fn check(&self, k: usize) -> Result<(), GroupState> {
        match self.at.phase {
            Phase::New => Err(GroupState::NotStarted),
            Phase::Cancelled => Err(GroupState::Cancelled),
            Phase::Failed(next) => Err(GroupState::Failed { next }),
            Phase::Closed => Err(GroupState::Closed),
            Phase::Active if self.at.next == self.at.order.len() => Err(GroupState::Exhausted),
            Phase::Active if self.at.order[self.at.next] == k => Ok(()),
            Phase::Active => Err(GroupState::WrongEpoch { asked: k, expected: self.at.order[self.at.next] }),
        }
    }

    pub(super) fn expected(&self) -> Option<usize> {
        (0..self.config.table[0].len()).find(|&k| self.check(k).is_ok())
    }

    pub(super) fn start(&mut self, order: &[usize]) {
        self.give_up();
        self.at.phase = Phase::Active;
        self.at.order = order.to_vec();
        self.at.previous.fill(None);
        self.settle();
    }

    pub(super) fn cancel(&mut self) {
        if self.at.phase != Phase::Closed {
            self.give_up();
            self.at.phase = Phase::Cancelled;
            self.settle();
        }
    }

    pub(super) fn close(&mut self) {
        self.give_up();
        self.at.phase = Phase::Closed;
        self.at.last.fill(None);
    }

    /// The sample that a worker or the host takes up: member, anchor, epoch.
    pub(super) fn dispatch(&mut self, lane: Lane) -> Option<(usize, u32, usize)> {
        let routes = &self.config.routes;
        let waits_for = |item: &Item| match item.status {
            Status::Queued if routes[item.member] == Route::Host => Some(Lane::Host),
            Status::Queued => Some(Lane::Worker),
            Status::Decoded => Some(Lane::Host),
            _ => None,
        };
        let queued = self.at.items.iter_mut().filter(|item| waits_for(item) == Some(lane));
        let item = queued.min_by_key(|item| (item.position, item.member))?;
        item.status = if item.status == Status::Decoded { Status::Finishing } else { Status::Running };
        Some((item.member, item.anchor, self.at.order[item.position]))
    }

    pub(super) fn complete(&mut self, member: usize, anchor: u32, ok: bool) {
        let bytes = self.config.bytes(member, anchor);
        let mut items = self.at.items.iter_mut();
        let item = items.find(|item| (item.member, item.anchor) == (member, anchor)).expect("it runs");
        let goes_on = self.config.routes[member] == Route::WorkerThenHost && item.status == Status::Running;
        assert!(matches!(item.status, Status::Running | Status::Finishing));
        item.status = match ok {
            true if goes_on => Status::Decoded,
            true => Status::Ready,
            false => Status::Failed,
        };
        if ok {
            self.at.sizes[member] = Some(bytes);
            self.counts.decoded += u64::from(item.status == Status::Ready);
        }
        self.settle();
    }

    pub(super) fn complete_stale(&mut self, booking: Booking) {
        let at = self.at.stale.iter().position(|b| *b == booking).expect("it runs");
        self.at.stale.remove(at);
        self.settle();
    }

    pub(super) fn take(&mut self, k: usize) -> Outcome {
        let statuses: Vec<_> = self.parts(k).into_iter().map(|(m, a)| (m, a, a.map(|a| self.status(m, a)))).collect();
        if statuses.iter().any(|(.., s)| s.is_some_and(Status::is_pending)) {
            return Ok(None);
        }
        let failed = statuses.iter().find(|(.., s)| matches!(s, None | Some(Status::Failed)));
        if let Some(&(member, anchor, _)) = failed {
            let next = self.at.order.get(self.at.next + 1).copied();
            self.give_up();
            self.at.phase = Phase::Failed(next);
            self.settle();
            return Err((member, anchor));
        }
        let mut taken = vec![];
        for (member, anchor, _) in statuses {
            taken.push((anchor.expect("it did not fail"), self.at.previous[member] != anchor));
            self.at.previous[member] = anchor;
            self.at.last[member] = anchor;
        }
        self.at.next += 1;
        let wanted: Vec<_> = self.live().flat_map(|p| self.parts(self.at.order[p])).collect();
        self.at.items.retain(|item| wanted.contains(&(item.member, Some(item.anchor))));
        self.settle();
        Ok(Some(taken))
    }

    /// The epochs whose files were asked for.
    pub(super) fn fetches(&self) -> Vec<usize> {
        self.at.fetched.iter().map(|&position| self.at.order[position]).collect()
    }

    pub(super) fn is_ready(&self, k: usize) -> bool {
        let pending = |(m, a): (usize, Option<u32>)| a.is_some_and(|a| self.status(m, a).is_pending());
        self.check(k).is_ok() && !self.parts(k).into_iter().any(pending)
    }

    pub(super) fn live(&self) -> std::ops::Range<usize> {
        self.at.next..self.at.admitted
    }

    pub(super) fn live_slots_with(&self, item: &Item) -> usize {
        let has = |p: &usize| self.config.table[item.member][self.at.order[*p]] == Some(item.anchor);
        self.live().filter(has).count()
    }

    pub(super) fn a_live_slot_failed(&self) -> bool {
        self.live().any(|p| self.slot_failed(p))
    }

    /// Bytes of the samples that are decoded.
    fn decoded_bytes(&self) -> u64 {
        let decoded = [Status::Decoded, Status::Finishing, Status::Ready];
        let items = self.at.items.iter().filter(|item| decoded.contains(&item.status));
        let bytes: u64 = items.map(|item| self.config.bytes(item.member, item.anchor)).sum();
        let stale = self.at.stale.iter().filter_map(|b| if let Booking::Held(bytes) = b { Some(bytes) } else { None });
        bytes + stale.sum::<u64>()
    }

    /// Bytes held and in flight, if they are known.
    pub(super) fn held(&self) -> Option<u64> {
        let mut held = self.decoded_bytes();
        for item in &self.at.items {
            if matches!(item.status, Status::Queued | Status::Running) {
                held += item.estimate?;
            }
        }
        for booking in &self.at.stale {
            if let Booking::Estimate(estimate) = booking {
                held += (*estimate)?;
            }
        }
        Some(held)
    }

    /// Bytes of last taken samples that no live slot wants.
    pub(super) fn spare(&self) -> u64 {
        self.spares().iter().map(|&(member, anchor)| self.config.bytes(member, anchor)).sum()
    }

    fn spares(&self) -> Vec<(usize, u32)> {
        let last = self.at.last.iter().enumerate().filter_map(|(member, anchor)| Some((member, (*anchor)?)));
        last.filter(|&(m, a)| !self.at.items.iter().any(|i| (i.member, i.anchor) == (m, a))).collect()
    }

    fn parts(&self, epoch: usize) -> Vec<(usize, Option<u32>)> {
        self.config.table.iter().enumerate().map(|(member, row)| (member, row[epoch])).collect()
    }

    fn item(&self, member: usize, anchor: u32) -> Option<&Item> {
        self.at.items.iter().find(|item| (item.member, item.anchor) == (member, anchor))
    }

    fn status(&self, member: usize, anchor: u32) -> Status {
        self.item(member, anchor).expect("live slots have their samples").status
    }

    fn slot_failed(&self, position: usize) -> bool {
        let parts = self.parts(self.at.order[position]);
        parts.into_iter().any(|(m, a)| a.is_none_or(|a| self.status(m, a) == Status::Failed))
    }

    fn give_up(&mut self) {
        for item in std::mem::take(&mut self.at.items) {
            match item.status {
                Status::Running => self.at.stale.push(Booking::Estimate(item.estimate)),
                Status::Finishing => self.at.stale.push(Booking::Held(self.config.bytes(item.member, item.anchor))),
                _ => {}
            }
        }
        self.at.stale.sort();
        self.at.order.clear();
        (self.at.next, self.at.admitted) = (0, 0);
        self.at.counted.clear();
        self.at.fetched.clear();
    }

    /// Admits what may be admitted, counts what is finished, and gives up last taken samples that no longer fit.
    fn settle(&mut self) {
        while self.may_admit() {
            let position = self.at.admitted;
            for (member, anchor) in self.parts(self.at.order[position]) {
                let Some(anchor) = anchor else { continue };
                if self.item(member, anchor).is_some() {
                    self.counts.reused += 1;
                    continue;
                }
                let revived = self.at.last[member] == Some(anchor);
                self.counts.reused += u64::from(revived);
                let status = if revived { Status::Ready } else { Status::Queued };
                let estimate = self.at.sizes[member];
                self.at.items.push(Item { member, anchor, status, estimate, position });
            }
            self.at.admitted += 1;
        }
        let behind = self.at.admitted..(self.at.admitted + self.config.fetch_ahead).min(self.at.order.len());
        let plans = self.at.phase == Phase::Active && !self.a_live_slot_failed();
        for position in behind.filter(|_| plans) {
            if !self.at.fetched.contains(&position) {
                self.at.fetched.push(position);
            }
        }
        for position in self.live() {
            let ready = |(m, a): (usize, Option<u32>)| a.is_some_and(|a| self.status(m, a) == Status::Ready);
            let parts = self.parts(self.at.order[position]);
            if !self.at.counted.contains(&position) && parts.iter().copied().all(ready) {
                self.at.counted.push(position);
                self.counts.epochs += 1;
                let bytes: u64 = parts.iter().map(|(m, a)| self.config.bytes(*m, a.expect("it is ready"))).sum();
                self.counts.oversize += u64::from(self.config.limit.is_some_and(|limit| bytes > limit));
            }
        }
        self.counts.peak = self.counts.peak.max(self.decoded_bytes());
        if let Some(limit) = self.config.limit {
            for (member, _) in self.spares() {
                if self.held().is_none_or(|held| held + self.spare() > limit) {
                    self.at.last[member] = None;
                }
            }
        }
    }

    fn may_admit(&self) -> bool {
        let (next, admitted) = (self.at.next, self.at.admitted);
        if self.at.phase != Phase::Active || admitted == self.at.order.len() || admitted - next >= self.config.depth {
            return false;
        }
        if self.a_live_slot_failed() {
            return false;
        }
        let Some(limit) = self.config.limit.filter(|_| admitted > next) else { return true };
        let mut need = Some(0);
        for (member, anchor) in self.parts(self.at.order[admitted]) {
            let Some(anchor) = anchor else { continue };
            if self.item(member, anchor).is_none() {
                let revived = self.at.last[member] == Some(anchor);
                let size = if revived { Some(self.config.bytes(member, anchor)) } else { self.at.sizes[member] };
                need = need.zip(size).map(|(a, b)| a + b);
            }
        }
        self.held().zip(need).is_some_and(|(held, need)| held + need <= limit)
    }
}
