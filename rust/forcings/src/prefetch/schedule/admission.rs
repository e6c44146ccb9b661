//! Which entries of the order are admitted to be decoded, and what is given up for them.

use super::{Cell, Kept, Key, Progress, Schedule, Slot, State};

impl<D: Clone, E> Schedule<D, E> {
    /// Admits the entries that depth, budget and failures allow. The head is always admitted.
    pub(super) fn admit(&mut self) {
        while self.state == State::Active && self.slots.len() < self.depth.get() && !self.blocked {
            let Some(&epoch) = self.order.get(self.next + self.slots.len()) else { break };
            if !self.slots.is_empty() && !self.budget.fits(self.need(epoch)) {
                break;
            }
            self.admit_slot(epoch);
        }
        self.plan_fetches();
        self.trim();
    }

    /// Names the entries behind the admitted ones whose files may be fetched; none behind a failure.
    fn plan_fetches(&mut self) {
        if self.state != State::Active || self.blocked {
            return;
        }
        let admitted = self.next + self.slots.len();
        let end = admitted.saturating_add(self.fetch_ahead).min(self.order.len());
        let begin = self.fetched.max(admitted);
        if begin < end {
            self.fetches.extend(&self.order[begin..end]);
            self.fetched = end;
        }
    }

    /// The bytes that the samples of `epoch` would add; unknown if a member was never decoded.
    fn need(&self, epoch: usize) -> Option<u64> {
        let mut need = 0u64;
        for member in 0..self.table.len() {
            let Some(key) = self.key(member, epoch) else { continue };
            if !self.cells.contains_key(&key) {
                let known = self.last_taken(key).map(|kept| kept.bytes).or(self.sizes[member]);
                need = need.saturating_add(known?);
            }
        }
        Some(need)
    }

    fn last_taken(&self, key: Key) -> Option<&Kept<D>> {
        self.last[key.member].as_ref().filter(|(anchor, _)| *anchor == key.anchor).map(|(_, kept)| kept)
    }

    fn admit_slot(&mut self, epoch: usize) {
        let mut slot = Slot { epoch, pending: 0, failed: false };
        for member in 0..self.table.len() {
            let Some(key) = self.key(member, epoch) else {
                slot.failed = true;
                self.blocked = true;
                continue;
            };
            if let Some(cell) = self.cells.get_mut(&key) {
                cell.slots += 1;
                self.counters.samples_reused += 1;
                slot.pending += usize::from(!matches!(cell.progress, Progress::Ready(_)));
                continue;
            }
            let progress = match self.last_taken(key).cloned() {
                Some(kept) => {
                    self.counters.samples_reused += 1;
                    self.budget.hold(kept.bytes);
                    Progress::Ready(kept)
                }
                None => {
                    slot.pending += 1;
                    self.queue(key, epoch);
                    Progress::Queued
                }
            };
            self.cells.insert(key, Cell { slots: 1, progress });
        }
        self.slots.push_back(slot);
        self.count_if_finished(self.slots.len() - 1);
    }

    /// Counts the slot at `index` once nothing of it is pending, unless it failed.
    pub(super) fn count_if_finished(&mut self, index: usize) {
        let Slot { epoch, pending: 0, failed: false } = self.slots[index] else { return };
        self.counters.epochs_decoded += 1;
        let Some(limit) = self.budget.limit() else { return };
        let keys = (0..self.table.len()).filter_map(|member| self.key(member, epoch));
        let bytes: u64 = keys.map(|key| self.ready_bytes(key)).sum();
        self.counters.oversize_epochs += u64::from(bytes > limit);
    }

    fn ready_bytes(&self, key: Key) -> u64 {
        match self.cells.get(&key).map(|cell| &cell.progress) {
            Some(Progress::Ready(kept)) => kept.bytes,
            _ => 0,
        }
    }

    /// Gives up samples of the last `take` until they fit beside the live slots, so that the limit bounds everything.
    pub(super) fn trim(&mut self) {
        if self.budget.limit().is_none() {
            return;
        }
        let mut spare: u64 = (0..self.last.len()).map(|member| self.spare_bytes(member)).sum();
        for member in 0..self.last.len() {
            if self.budget.fits(Some(spare)) {
                break;
            }
            let bytes = self.spare_bytes(member);
            if bytes > 0 {
                spare -= bytes;
                self.trash.extend(self.last[member].take().map(|(_, kept)| kept.data));
            }
        }
    }

    /// The bytes of the member's last taken sample, if no live slot refers to it.
    fn spare_bytes(&self, member: usize) -> u64 {
        match &self.last[member] {
            Some((anchor, kept)) if !self.cells.contains_key(&Key { member, anchor: *anchor }) => kept.bytes,
            _ => 0,
        }
    }
}
