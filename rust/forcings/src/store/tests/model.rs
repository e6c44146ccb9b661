//! Random sequences of changes against a plain model of what a store is.

use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};

/// Distinct arrays that the sequences draw from; few, so that content is shared.
const ARRAYS: u32 = 5;
const OWNERS: i64 = 4;

#[derive(Debug, Clone)]
enum Step {
    Add(i64, u32),
    Bulk(Vec<(i64, u32)>),
    Remove(Vec<usize>),
    Begin,
    Commit,
    Rollback,
    Flush,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let item = || (0..OWNERS, 0..ARRAYS);
    prop_oneof![
        4 => item().prop_map(|(owner, array)| Step::Add(owner, array)),
        3 => prop::collection::vec(item(), 0..4).prop_map(Step::Bulk),
        3 => prop::collection::vec(0..20usize, 0..3).prop_map(Step::Remove),
        2 => Just(Step::Begin),
        2 => Just(Step::Commit),
        2 => Just(Step::Rollback),
        1 => Just(Step::Flush),
        1 => Just(Step::Reopen),
    ]
}

/// Owner and array by id.
type Rows = BTreeMap<SeriesId, (i64, u32)>;

/// The store under test beside the model: the rows, and those to come back to, transaction by transaction.
struct Pair {
    store: Store,
    place: Option<(tempfile::TempDir, bool)>,
    rows: Rows,
    saved: Vec<Rows>,
    issued: HashSet<SeriesId>,
}

impl Pair {
    fn memory() -> Self {
        Self::of(Store::memory().unwrap(), None)
    }

    fn disk(durable: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let options = CreateOptions { durable, ..CreateOptions::default() };
        let store = Store::create(dir.path().join("a.nc"), &options).unwrap();
        Self::of(store, Some((dir, durable)))
    }

    fn of(store: Store, place: Option<(tempfile::TempDir, bool)>) -> Self {
        Pair { store, place, rows: Rows::new(), saved: Vec::new(), issued: HashSet::new() }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Add(owner, array) => {
                let values = ramp(array * 10);
                let result = self.store.add(&series(owner, "load", &values)).map(|id| vec![id]);
                self.added(&[(owner, array)], result);
            }
            Step::Bulk(items) => {
                let arrays: Vec<Array> = items.iter().map(|&(_, array)| ramp(array * 10)).collect();
                let new: Vec<_> = items.iter().zip(&arrays).map(|((owner, _), a)| series(*owner, "load", a)).collect();
                let result = self.store.add_bulk(&new);
                self.added(&items, result);
            }
            Step::Remove(places) => {
                // Places past the end stand for ids that do not exist.
                let known: Vec<SeriesId> = self.rows.keys().copied().collect();
                let ids: Vec<SeriesId> =
                    places.iter().map(|&p| known.get(p).copied().unwrap_or(SeriesId(-1 - p as i64))).collect();
                match self.store.remove(&ids) {
                    Ok(()) => {
                        assert!(ids.iter().all(|id| self.rows.contains_key(id)));
                        self.rows.retain(|id, _| !ids.contains(id));
                    }
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::NotFound);
                        assert!(ids.iter().any(|id| !self.rows.contains_key(id)));
                    }
                }
            }
            Step::Begin => {
                self.store.begin().unwrap();
                self.saved.push(self.rows.clone());
            }
            Step::Commit => match self.saved.pop() {
                Some(_) => self.store.commit().unwrap(),
                None => assert_eq!(self.store.commit().unwrap_err().kind(), ErrorKind::InvalidParameter),
            },
            Step::Rollback => match self.saved.pop() {
                Some(rows) => {
                    self.store.rollback().unwrap();
                    self.rows = rows;
                }
                None => assert_eq!(self.store.rollback().unwrap_err().kind(), ErrorKind::InvalidParameter),
            },
            Step::Flush => match self.saved.is_empty() {
                true => self.store.flush().unwrap(),
                false => assert_eq!(self.store.flush().unwrap_err().kind(), ErrorKind::InvalidParameter),
            },
            Step::Reopen => {
                let Some((dir, durable)) = &self.place else { return };
                self.store.close().unwrap();
                let options = OpenOptions { read_only: false, durable: *durable };
                self.store = Store::open(dir.path().join("a.nc"), &options).unwrap();
                self.rows = self.saved.drain(..).next().unwrap_or(std::mem::take(&mut self.rows));
            }
        }
    }

    fn added(&mut self, items: &[(i64, u32)], result: Result<Vec<SeriesId>>) {
        let mut owners: HashSet<i64> = self.rows.values().map(|(owner, _)| *owner).collect();
        let free = items.iter().all(|(owner, _)| owners.insert(*owner));
        match result {
            Ok(ids) => {
                assert!(free && ids.len() == items.len());
                for (id, item) in ids.into_iter().zip(items) {
                    assert!(self.issued.insert(id), "the id {id} was issued twice");
                    self.rows.insert(id, *item);
                }
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::DuplicateTimeSeries);
                assert!(!free);
            }
        }
    }

    /// Every row and every value is that of the model.
    fn check(&self, store: &Store) {
        let listed: Rows = all(store)
            .into_iter()
            .map(|info| {
                let array = (0..ARRAYS).find(|&n| ramp(n * 10).view().hash() == info.hash).unwrap();
                (info.id, (info.owner.id, array))
            })
            .collect();
        assert_eq!(listed, self.rows);
        let ids: Vec<SeriesId> = self.rows.keys().copied().collect();
        let many = store.read_many(&ids).unwrap();
        for (read, (id, (_, array))) in many.into_iter().zip(&self.rows) {
            assert_eq!(read.values, ramp(array * 10));
            assert_eq!(store.read(*id).unwrap(), read);
        }
    }

    /// At rest the array file has what rows refer to, and nothing else.
    fn check_at_rest(&mut self) {
        while self.saved.pop().is_some() {
            self.store.commit().unwrap();
        }
        self.store.flush().unwrap();
        for n in 0..ARRAYS {
            let wanted = self.rows.values().any(|(_, array)| *array == n);
            assert_eq!(holds(&self.store, ramp(n * 10).view().hash()), wanted, "array {n}");
        }
        if let Some((dir, _)) = &self.place {
            self.check(&open_copy(&self.store, dir.path()));
        }
    }
}

fn run(mut pair: Pair, steps: Vec<Step>) {
    for step in steps {
        pair.take(step);
        pair.check(&pair.store);
    }
    pair.check_at_rest();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn in_memory(steps in prop::collection::vec(step(), 0..25)) {
        run(Pair::memory(), steps);
    }

    #[test]
    fn on_disk(steps in prop::collection::vec(step(), 0..25)) {
        run(Pair::disk(false), steps);
    }

    #[test]
    fn on_disk_and_durable(steps in prop::collection::vec(step(), 0..15)) {
        run(Pair::disk(true), steps);
    }
}
