//! The construction of a group, and its checks.

use super::group::PrefetchGroup;
use super::plan::{Member, Plan};
use crate::provider::Sampler;
use crate::{Error, Result};
use std::sync::Arc;

/// Collects the members and options of a [`PrefetchGroup`]; made by [`PrefetchGroup::builder`].
#[must_use = "a builder does nothing until build is called"]
pub struct PrefetchGroupBuilder {
    members: Vec<Member>,
    depth: usize,
    max_bytes: Option<u64>,
    workers: usize,
    inline: bool,
}

/// The checked parts of a group.
pub(super) struct Parts {
    pub(super) members: Vec<Member>,
    pub(super) plan: Plan,
    pub(super) depth: usize,
    pub(super) max_bytes: Option<u64>,
    /// How many threads decode; 0 if the consumer's thread does.
    pub(super) workers: usize,
}

impl PrefetchGroupBuilder {
    pub(super) fn new() -> Self {
        PrefetchGroupBuilder { members: Vec::new(), depth: 2, max_bytes: None, workers: 1, inline: false }
    }

    /// Adds a member. Keys differ from each other; the order in which members are added means nothing.
    pub fn member(mut self, key: impl Into<Arc<str>>, sampler: Arc<dyn Sampler>) -> Self {
        self.members.push((key.into(), sampler));
        self
    }

    /// How many epochs are held ahead of the consumer, decoded or being decoded, counting the one it takes next: at
    /// least 1, and 2 unless set.
    pub fn depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// Bounds the bytes of the samples that the group keeps, held or in flight. The epoch that is taken next is decoded
    /// in any case: one that is larger is decoded alone. There is no bound unless set.
    pub fn max_bytes(mut self, max_bytes: impl Into<Option<u64>>) -> Self {
        self.max_bytes = max_bytes.into();
        self
    }

    /// How many threads decode: at least 1, and 1 unless set.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// Decodes on the consumer's thread, in [`take`](PrefetchGroup::take) and
    /// [`decode_one`](PrefetchGroup::decode_one); no thread is started and nothing overlaps.
    pub fn inline(mut self, inline: bool) -> Self {
        self.inline = inline;
        self
    }

    /// Builds the group and starts its threads. Nothing is decoded before [`start`](PrefetchGroup::start).
    ///
    /// # Errors
    /// `InvalidParameter` without members, for a depth or a number of workers of 0, for two members with one key, for a
    /// member whose data never change or whose times are not finite, and for members of different calendars; `Io`
    /// when the system starts no thread.
    pub fn build(mut self) -> Result<PrefetchGroup> {
        if self.depth == 0 {
            return Err(Error::invalid("depth is 0; a prefetch group holds at least 1 epoch ahead"));
        }
        if self.workers == 0 {
            return Err(Error::invalid("workers is 0; a prefetch group needs at least 1 (or inline decoding)"));
        }
        self.members.sort_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
        let plan = Plan::new(&self.members)?;
        PrefetchGroup::new(Parts {
            members: self.members,
            plan,
            depth: self.depth,
            max_bytes: self.max_bytes,
            workers: if self.inline { 0 } else { self.workers },
        })
    }
}
