//! Which delivered samples the consumer still holds. The count is by allocation, so one that serves several epochs
//! counts once.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Weak};

/// What the consumer of a group still holds of the samples delivered to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Alive {
    /// Deliveries of which something is alive. A sample that several deliveries share belongs to the latest of them.
    pub(super) slots: usize,
    /// Bytes of the samples that are alive.
    pub(super) bytes: u64,
}

/// The samples delivered so far, without those found dead at the last cleaning.
#[derive(Debug)]
pub(super) struct Delivered<T> {
    /// By address, which no other sample can have while the weak reference is kept.
    samples: HashMap<usize, Entry<T>>,
    deliveries: u64,
    /// How many entries the map may have before it is cleaned.
    limit: usize,
}

#[derive(Debug)]
struct Entry<T> {
    data: Weak<T>,
    bytes: u64,
    delivery: u64,
}

impl<T> Default for Delivered<T> {
    fn default() -> Self {
        Delivered { samples: HashMap::new(), deliveries: 0, limit: 0 }
    }
}

impl<T> Delivered<T> {
    /// Records the delivery of an epoch: its samples and their bytes.
    pub(super) fn record<'a>(&mut self, samples: impl Iterator<Item = (&'a Arc<T>, u64)>)
    where
        T: 'a,
    {
        self.deliveries += 1;
        for (data, bytes) in samples {
            let entry = Entry { data: Arc::downgrade(data), bytes, delivery: self.deliveries };
            self.samples.insert(address(data), entry);
        }
        if self.samples.len() > self.limit {
            self.clean();
        }
    }

    /// What the consumer still holds, when the group itself refers to `kept`, each as often as it is listed.
    pub(super) fn alive<'a>(&mut self, kept: impl Iterator<Item = &'a Arc<T>>) -> Alive
    where
        T: 'a,
    {
        self.clean();
        let mut own: HashMap<usize, usize> = HashMap::new();
        for data in kept {
            *own.entry(address(data)).or_default() += 1;
        }
        let mut slots = BTreeSet::new();
        let mut bytes = 0;
        for (at, entry) in &self.samples {
            if entry.data.strong_count() > own.get(at).copied().unwrap_or(0) {
                slots.insert(entry.delivery);
                bytes += entry.bytes;
            }
        }
        Alive { slots: slots.len(), bytes }
    }

    fn clean(&mut self) {
        self.samples.retain(|_, entry| entry.data.strong_count() > 0);
        self.limit = 2 * self.samples.len() + 64;
    }
}

fn address<T>(data: &Arc<T>) -> usize {
    Arc::as_ptr(data) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Dataset;

    #[test]
    fn the_dead_leave_no_record() {
        let mut delivered = Delivered::default();
        let held = Arc::new(Dataset::default());
        delivered.record([(&held, 1)].into_iter());
        for _ in 0..1000 {
            delivered.record([(&Arc::new(Dataset::default()), 1)].into_iter());
        }
        assert!(delivered.samples.len() < 100);
        assert_eq!(delivered.alive([].into_iter()), Alive { slots: 1, bytes: 1 });
        assert_eq!(delivered.alive([&held, &held].into_iter()).slots, 0);
    }
}
