//! What a group did when, for pictures of the overlap. Kept only where it is asked for, and never without end.

use std::collections::VecDeque;
use std::time::Instant;

/// What a group, or its consumer, did in an [`Interval`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Activity {
    /// A sample of a member was decoded.
    Decode = 0,
    /// The program around the group made a sample, or went on with one.
    Host = 1,
    /// The files of a sample were fetched ahead.
    Fetch = 2,
    /// The consumer waited for an epoch.
    Wait = 3,
    /// An epoch was delivered.
    Take = 4,
}

/// A part of the time of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// What was done.
    pub activity: Activity,
    /// The member, counted from 0 in byte-wise order of the keys, if it was done for one.
    pub member: Option<usize>,
    /// The epoch, counted from 0.
    pub epoch: usize,
    /// Seconds since the group was built.
    pub begin_s: f64,
    /// Seconds since the group was built; not before `begin_s`.
    pub end_s: f64,
}

/// The latest intervals; of earlier ones it forgets the oldest.
#[derive(Debug)]
pub(super) struct Trace {
    /// `None` where nothing is recorded.
    intervals: Option<VecDeque<Interval>>,
    origin: Instant,
}

/// About 10 MiB.
const MOST: usize = 1 << 18;

impl Trace {
    pub(super) fn new(on: bool) -> Self {
        Trace { intervals: on.then(VecDeque::new), origin: Instant::now() }
    }

    /// Records what was done from `begin` until now.
    pub(super) fn record(&mut self, activity: Activity, member: Option<usize>, epoch: usize, begin: Instant) {
        let Some(intervals) = &mut self.intervals else { return };
        if intervals.len() == MOST {
            intervals.pop_front();
        }
        let end_s = self.origin.elapsed().as_secs_f64();
        let begin_s = begin.saturating_duration_since(self.origin).as_secs_f64().min(end_s);
        intervals.push_back(Interval { activity, member, epoch, begin_s, end_s });
    }

    /// The intervals by their end, or `None` where nothing is recorded.
    pub(super) fn intervals(&self) -> Option<Vec<Interval>> {
        self.intervals.as_ref().map(|intervals| intervals.iter().copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_forgets_the_oldest() {
        let mut trace = Trace::new(true);
        for epoch in 0..MOST + 3 {
            trace.record(Activity::Take, None, epoch, Instant::now());
        }
        let intervals = trace.intervals().unwrap();
        assert_eq!((intervals.len(), intervals[0].epoch), (MOST, 3));
        assert!(intervals.iter().all(|i| i.begin_s <= i.end_s));
        assert!(Trace::new(false).intervals().is_none());
    }
}
