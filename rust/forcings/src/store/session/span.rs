//! What an open transaction of SQLite has done to the array file so far, level by level.

use crate::array::ArrayHash;

/// The work of one transaction level.
#[derive(Debug, Default)]
pub(super) struct Level {
    /// Arrays that this level stored.
    pub(super) staged: Vec<ArrayHash>,
    /// Arrays that lost a row in this level.
    pub(super) orphans: Vec<ArrayHash>,
    /// Whether it added a series of a type that the first version of the format does not have.
    pub(super) newer_types: bool,
}

/// An open transaction of SQLite.
#[derive(Debug)]
pub(super) struct Span {
    /// Whether the caller opened it; otherwise changes do, and `flush` ends it.
    pub(super) explicit: bool,
    /// The outermost level and the inner ones; never empty.
    pub(super) levels: Vec<Level>,
    /// Whether any change succeeded in it.
    pub(super) changed: bool,
}

impl Span {
    pub(super) fn implicit() -> Self {
        Span { explicit: false, levels: vec![Level::default()], changed: false }
    }

    pub(super) fn explicit() -> Self {
        Span { explicit: true, ..Span::implicit() }
    }

    /// Adds the work of an inner level, which is complete.
    pub(super) fn keep(&mut self, inner: Level) {
        self.changed = true;
        let level = self.levels.last_mut().expect("a span has at least one level");
        level.staged.extend(inner.staged);
        level.orphans.extend(inner.orphans);
        level.newer_types |= inner.newer_types;
    }

    /// Whether a series was added, and not undone, of a type that the first version of the format does not have.
    pub(super) fn has_newer_types(&self) -> bool {
        self.levels.iter().any(|level| level.newer_types)
    }

    /// The arrays that lost a row so far.
    pub(super) fn orphans(&self) -> impl Iterator<Item = ArrayHash> + '_ {
        self.levels.iter().flat_map(|level| level.orphans.iter().copied())
    }

    /// The arrays that the whole span stored.
    pub(super) fn into_staged(self) -> Vec<ArrayHash> {
        self.levels.into_iter().flat_map(|level| level.staged).collect()
    }

    /// The arrays that lost a row in the whole span.
    pub(super) fn into_orphans(self) -> Vec<ArrayHash> {
        self.levels.into_iter().flat_map(|level| level.orphans).collect()
    }
}
