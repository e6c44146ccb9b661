//! Fetching the files of coming epochs into the cache, by a thread that decodes nothing.

use super::shared::Shared;
use super::trace::Activity;
use std::collections::HashSet;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::Instant;

impl<T> Shared<T> {
    /// Whether a sample of a member may need files that have to be fetched.
    pub(super) fn may_fetch(&self) -> bool {
        let times = |member: usize| self.anchors[member].iter();
        let needs = |member: usize| times(member).any(|t| !self.members[member].sampler.files_at(*t).is_empty());
        (0..self.members.len()).any(needs)
    }

    /// Fetches what is asked for until the group is closed: what its thread does.
    pub(super) fn serve_fetches(&self) {
        // Members and files of the present order: each is fetched once in it.
        let mut done = HashSet::new();
        let mut order = 0;
        let mut state = self.state.lock();
        while !state.schedule.is_closed() {
            let Some(epoch) = state.schedule.next_fetch() else {
                self.fetch.wait(&mut state);
                continue;
            };
            let generation = state.schedule.generation();
            drop(state);
            if std::mem::replace(&mut order, generation) != generation {
                done.clear();
            }
            self.fetch_epoch(epoch, generation, &mut done);
            state = self.state.lock();
        }
    }

    fn fetch_epoch(&self, epoch: usize, generation: u64, done: &mut HashSet<(usize, usize)>) {
        let t = self.boundaries[epoch];
        for (index, member) in self.members.iter().enumerate() {
            for file in member.sampler.files_at(t) {
                if !done.insert((index, file)) {
                    continue;
                }
                if self.state.lock().schedule.generation() != generation {
                    return;
                }
                let begin = Instant::now();
                // Best effort: whatever is wrong is told by the decode that needs the file.
                let _ = catch_unwind(AssertUnwindSafe(|| member.sampler.fetch_file(file)));
                self.state.lock().trace.record(Activity::Fetch, Some(index), epoch, begin);
            }
        }
    }
}
