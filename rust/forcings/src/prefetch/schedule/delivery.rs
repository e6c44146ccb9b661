//! The head of the order, as `take` delivers it or refuses to.

use super::{Cell, Kept, Progress, Refusal, Schedule, State, Taken};

impl<D: Clone, E> Schedule<D, E> {
    /// Delivers epoch `k`, one sample per member; `None` while some are missing. What was missing may have let the depth
    /// grow, so that jobs were queued.
    pub(in super::super) fn take(&mut self, k: usize) -> Result<Option<Vec<Taken<D>>>, Refusal<E>> {
        self.check(k).map_err(Refusal::State)?;
        let Some(head) = self.slots.front().filter(|head| head.pending == 0) else {
            if self.depth.note_missing(self.next) {
                self.admit();
            }
            return Ok(None);
        };
        if head.failed {
            return Err(self.fail(k));
        }
        self.slots.pop_front();
        self.depth.note_taken(self.slots.iter().filter(|slot| slot.pending == 0).count());
        let taken = (0..self.table.len()).map(|member| self.deliver(member, k)).collect();
        self.next += 1;
        self.admit();
        Ok(Some(taken))
    }

    /// Ends the order with the error of the head, epoch `k`.
    fn fail(&mut self, k: usize) -> Refusal<E> {
        let mut refusal = None;
        for member in 0..self.table.len() {
            let Some(key) = self.key(member, k) else {
                refusal = Some(Refusal::NoAnchor { member });
                break;
            };
            let cell = self.cells.get(&key).expect("the cells of the head live until it is taken");
            if matches!(cell.progress, Progress::Failed(_)) {
                let Some(Cell { progress: Progress::Failed(error), .. }) = self.cells.remove(&key) else {
                    unreachable!("it was seen to have failed")
                };
                refusal = Some(Refusal::Failed(error));
                break;
            }
        }
        let next = self.order.get(self.next + 1).copied();
        self.clear();
        self.state = State::Failed { next };
        self.trim();
        refusal.expect("a failed slot has a failed member")
    }

    /// Delivers a member's sample of the head, epoch `k`, and drops the head's claim on it.
    fn deliver(&mut self, member: usize, k: usize) -> Taken<D> {
        let key = self.key(member, k).expect("a slot that did not fail has all its anchors");
        let cell = self.cells.get_mut(&key).expect("the cells of the head live until it is taken");
        let Progress::Ready(kept) = &cell.progress else { unreachable!("the head is finished and did not fail") };
        let kept = kept.clone();
        cell.slots -= 1;
        if cell.slots == 0 {
            self.budget.release(kept.bytes);
            self.cells.remove(&key);
        }
        let changed = self.previous[member].replace(key.anchor) != Some(key.anchor);
        let Kept { data, bytes } = kept.clone();
        self.trash.extend(self.last[member].replace((key.anchor, kept)).map(|(_, kept)| kept.data));
        Taken { data, anchor: key.anchor, bytes, changed }
    }
}
