//! A store beside its model: what was done, what the disk was promised, and what failures may leave.

use super::state::{Answer, Change, State};
use super::strategy::{Op, Step};
use super::walkers::Walker;
use super::*;
use crate::store::h5::faults::{Disk, Fate};

pub(super) struct Trial {
    pub(super) store: Store,
    pub(super) dir: tempfile::TempDir,
    /// Whether every change is promised; `None` for a store in memory.
    pub(super) durable: Option<bool>,
    pub(super) disk: Disk,
    /// The failure that waits.
    pub(super) fate: Option<Fate>,
    pub(super) now: State,
    /// What to come back to, transaction by transaction.
    pub(super) saved: Vec<State>,
    /// What the disk holds: one of these.
    pub(super) promised: Vec<State>,
    /// The highest id that was issued, and that of the last promise.
    pub(super) last: i64,
    pub(super) last_promised: i64,
    /// What the copy at another path is: one of these.
    pub(super) copy: Vec<Option<State>>,
    pub(super) arrays: HashMap<ArrayHash, Array>,
    pub(super) walkers: Vec<Walker>,
}

/// What a call that succeeds leads to.
pub(super) struct Next {
    pub(super) now: State,
    pub(super) saved: Vec<State>,
    /// What it brings to the disk.
    pub(super) commits: Option<State>,
}

impl Trial {
    pub(super) fn new(durable: Option<bool>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = match durable {
            None => Store::memory().unwrap(),
            Some(durable) => {
                let options = CreateOptions { durable, ..CreateOptions::default() };
                Store::create(dir.path().join("a.nc"), &options).unwrap()
            }
        };
        Trial {
            store,
            durable,
            disk: Disk::under(dir.path()),
            dir,
            fate: None,
            now: State::default(),
            saved: Vec::new(),
            promised: vec![State::default()],
            last: 0,
            last_promised: 0,
            copy: vec![None],
            arrays: items::arrays(),
            walkers: Vec::new(),
        }
    }

    pub(super) fn run(mut self, steps: Vec<Step>) {
        for (op, fate) in steps {
            if let (Some(fate), None, Some(_)) = (fate, self.fate, self.durable) {
                self.disk.let_fail(fate);
                self.fate = Some(fate);
            }
            self.take(op);
            if self.fate.is_none() {
                assert_eq!(observe(&self.store), self.now);
            }
        }
        self.heal();
        checks::contents(&self.store, &self.now, &self.arrays);
        self.finish();
    }

    pub(super) fn heal(&mut self) {
        self.disk.heal();
        self.fate = None;
    }

    /// Everything is committed, and found again in a copy of the files, after a compaction, and after reopening.
    fn finish(&mut self) {
        while !self.saved.is_empty() {
            self.take(Op::Commit);
        }
        self.take(Op::Flush);
        checks::contents(&self.store, &self.now, &self.arrays);
        if self.durable.is_some() {
            checks::contents(&open_copy(&self.store, self.dir.path()), &self.now, &self.arrays);
        }
        self.take(Op::CompactPhysical);
        let report = self.store.verify().unwrap();
        assert!(report.is_clean() && report.unused_variables == 0, "{report:?}");
        self.take(Op::Walk);
        self.take(Op::Close { look: true });
        checks::contents(&self.store, &self.now, &self.arrays);
    }

    fn take(&mut self, op: Op) {
        let inside = !self.saved.is_empty();
        let refused_inside = || if inside { Err(ErrorKind::InvalidParameter) } else { Ok(()) };
        let needs_transaction = || if inside { Ok(()) } else { Err(ErrorKind::InvalidParameter) };
        let (now, mut saved) = (self.now.clone(), self.saved.clone());
        match op {
            Op::Change(change) => self.change(&change),
            Op::Begin => {
                let commits = (!inside).then(|| now.clone());
                // With nothing to commit, the numbers that were issued and undone are not written either.
                let idle = self.promised == [now.clone()];
                let last_promised = self.last_promised;
                saved.push(now.clone());
                let result = self.store.begin();
                self.judge(result, Ok(Next { now, saved, commits }));
                if idle {
                    self.last_promised = last_promised;
                }
            }
            Op::Commit => {
                saved.pop();
                let commits = saved.is_empty().then(|| now.clone());
                let result = self.store.commit();
                self.judge(result, needs_transaction().map(|()| Next { now, saved, commits }));
            }
            Op::Rollback => {
                let now = saved.pop().unwrap_or(now);
                let result = self.store.rollback();
                self.judge(result, needs_transaction().map(|()| Next { now, saved, commits: None }));
            }
            Op::Flush | Op::Compact | Op::CompactPhysical => {
                let result = match op {
                    Op::Flush => self.store.flush(),
                    Op::Compact => self.store.compact().map(drop),
                    _ => self.store.compact_physical().map(drop),
                };
                let commits = Some(now.clone());
                self.judge(result, refused_inside().map(|()| Next { now, saved, commits }));
            }
            Op::Persist { overwrite } => self.persist(overwrite),
            Op::Close { look } => self.close(look),
            // Readers in the dark: what they meet of a failure is not told apart here.
            Op::BuildReader(..) | Op::Walk if self.fate.is_some() => {}
            Op::BuildReader(series_type, resolution, interval) => {
                let filter = Filter {
                    series_type: Some(series_type),
                    resolution: Some(resolution),
                    interval,
                    zoneless: Some(false),
                    ..Filter::default()
                };
                self.walkers.extend(Walker::build(&self.store, &self.now, &filter, &self.arrays));
            }
            Op::Walk => self.walkers.iter_mut().for_each(|walker| walker.walk(&self.now)),
            Op::Read(..) | Op::List(_) | Op::ListAssociations(_) => {
                let result = checks::look(&self.store, &self.now, &self.arrays, op);
                self.judge(result, Ok(Next { now, saved, commits: None }));
            }
        }
    }

    fn change(&mut self, change: &Change) {
        let commits = self.durable == Some(true) && self.saved.is_empty();
        let after = self.now.after(change, self.last);
        let result = perform(&self.store, &self.now, change);
        let next = |now: State| Next { commits: commits.then(|| now.clone()), now, saved: self.saved.clone() };
        match (result, after) {
            (Ok(answer), Ok((now, predicted))) => {
                let ids = answer.ids();
                assert!(ids.iter().all(|id| id.0 > self.last), "a number was issued twice: {answer:?}");
                assert_eq!(answer, predicted.with_ids(ids));
                let next = next(now.renumbered(predicted.ids(), ids));
                self.last = ids.iter().map(|id| id.0).fold(self.last, i64::max);
                self.judge(Ok(()), Ok(next));
            }
            (result, after) => {
                let after = after.map(|(now, _)| next(now));
                self.judge(result.map(drop), after);
            }
        }
    }

    fn persist(&mut self, overwrite: bool) {
        let path = self.dir.path().join("other.nc");
        let result = self.store.persist(&path, overwrite);
        let exists = self.copy[0].is_some() && !overwrite;
        let (now, saved) = (self.now.clone(), self.saved.clone());
        self.copy.push(Some(now.clone()));
        let next = match (saved.is_empty(), exists) {
            (false, _) => Err(ErrorKind::InvalidParameter),
            (true, true) => {
                // The store itself is flushed first.
                if !self.disk.struck() {
                    self.promise(now);
                } else {
                    self.promised.push(now);
                }
                Err(ErrorKind::StoreExists)
            }
            (true, false) => Ok(Next { commits: Some(now.clone()), now, saved }),
        };
        match (&result, &next) {
            (Ok(()), Ok(_)) => drop(self.copy.swap_remove(0)),
            (Err(_), Err(_)) if !self.disk.struck() => drop(self.copy.pop()),
            _ => {}
        }
        self.judge(result, next);
        if self.fate.is_none() {
            self.check_copy();
        }
    }

    fn close(&mut self, look: bool) {
        if self.durable.is_none() {
            return;
        }
        let now = self.saved.first().unwrap_or(&self.now).clone();
        let result = self.store.close();
        self.judge(result, Ok(Next { commits: Some(now.clone()), now, saved: Vec::new() }));
        if self.store.is_open() {
            return;
        }
        self.walkers.drain(..).for_each(Walker::check_closed);
        if look && self.fate.is_none() {
            let store = Store::open(self.path(), &reading()).unwrap();
            checks::contents(&store, &self.now, &self.arrays);
            assert_eq!(store.clear().unwrap_err().kind(), ErrorKind::ReadOnlyStore);
        }
        self.reopen();
    }

    fn promise(&mut self, state: State) {
        self.promised = vec![state];
        self.last_promised = self.last;
    }

    /// Takes note of how a call ended that was to lead to `next`. If the disk failed, the call had no effect or all of it, and
    /// what it was to commit may be committed.
    fn judge(&mut self, result: Result<()>, next: std::result::Result<Next, ErrorKind>) {
        let struck = self.disk.struck();
        let error = match (result, next) {
            (Ok(()), Ok(next)) => {
                if let Some(state) = next.commits {
                    self.promise(state);
                }
                (self.now, self.saved) = (next.now, next.saved);
                None
            }
            (Ok(()), Err(kind)) => panic!("it was to fail with {kind:?}"),
            (Err(error), next) if !struck => {
                assert_eq!(Some(error.kind()), next.err(), "{error}");
                None
            }
            (Err(error), next) => {
                let kinds = [ErrorKind::Io, ErrorKind::Hdf5, ErrorKind::Catalog, ErrorKind::Integrity];
                assert!(kinds.contains(&error.kind()) || next.as_ref().err() == Some(&error.kind()), "{error}");
                Some((error, next.ok()))
            }
        };
        if struck {
            self.fail(error);
        }
    }
}

fn perform(store: &Store, now: &State, change: &Change) -> Result<Answer> {
    let counted = |n: Result<u64>| n.map(Answer::Count);
    let done = |result: Result<()>| result.map(|()| Answer::Nothing);
    match change {
        Change::Add(item) => {
            let values = item.values();
            store.add(&item.series(&values)).map(|id| Answer::Ids(vec![id]))
        }
        Change::Bulk(items) => {
            let values: Vec<Array> = items.iter().map(items::Item::values).collect();
            let new: Vec<_> = items.iter().zip(&values).map(|(item, values)| item.series(values)).collect();
            store.add_bulk(&new).map(Answer::Ids)
        }
        Change::Remove(positions) => done(store.remove(&positions.iter().map(|at| now.id(*at)).collect::<Vec<_>>())),
        Change::RemoveMatching(filter) => counted(store.remove_matching(filter)),
        Change::ClearOwner(id, category) => counted(store.clear_owner(*id, *category)),
        Change::Clear => counted(store.clear()),
        Change::Rename(at, name) => done(store.rename(now.id(*at), items::NAMES[*name])),
        Change::Copy(at, owner, owner_type, name) => {
            let copied = store.copy_series(now.id(*at), *owner, owner_type, name.map(|name| items::NAMES[name]));
            copied.map(|id| Answer::Ids(vec![id]))
        }
        Change::ReplaceOwner(old, new, category) => counted(store.replace_owner(*old, *new, *category)),
        Change::Transform(horizon, interval, scope) => store
            .transform_single_time_series(*horizon, *interval, scope)
            .map(|made| Answer::Transformed(made.sources, made.ids)),
        Change::Associate(relation, edges) => done(store.relation(*relation).add_bulk(edges)),
        Change::Dissociate(relation, filter) => counted(store.relation(*relation).remove(filter)),
        Change::ReplaceComponent(relation, old, new) => {
            counted(store.relation(*relation).replace_component(*old, *new))
        }
        Change::ReplaceAttribute(relation, old, new) => {
            counted(store.relation(*relation).replace_attribute(*old, *new))
        }
    }
}

/// What the store holds.
pub(super) fn observe(store: &Store) -> State {
    let edges = |relation| store.relation(relation).list(&AssociationFilter::default()).unwrap();
    State {
        series: all(store).into_iter().map(|row| (row.id, row)).collect(),
        attributes: edges(Relation::SupplementalAttribute),
        parts: edges(Relation::ParentChild),
    }
}
