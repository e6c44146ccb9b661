//! Random sequences of changes against a plain model of what a store is.

use super::*;
use crate::series::Windows;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};

/// Distinct arrays that the sequences draw from; few, so that content is shared.
const ARRAYS: u32 = 5;
const OWNERS: i64 = 4;

/// Types that may have one and the same array of shape `[2, 2]`.
const KINDS: [SeriesType; 4] = [
    SeriesType::SingleTimeSeries,
    SeriesType::NonSequentialTimeSeries,
    SeriesType::PersistentTimeSeries,
    SeriesType::Deterministic,
];

/// Owner and type, which identify a series here, and array.
type Item = (i64, SeriesType, u32);

#[derive(Debug, Clone)]
enum Step {
    Add(Item),
    Bulk(Vec<Item>),
    Remove(Vec<usize>),
    Begin,
    Commit,
    Rollback,
    Flush,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let item = || (0..OWNERS, prop::sample::select(&KINDS[..]), 0..ARRAYS);
    prop_oneof![
        4 => item().prop_map(Step::Add),
        3 => prop::collection::vec(item(), 0..4).prop_map(Step::Bulk),
        3 => prop::collection::vec(0..20usize, 0..3).prop_map(Step::Remove),
        2 => Just(Step::Begin),
        2 => Just(Step::Commit),
        2 => Just(Step::Rollback),
        1 => Just(Step::Flush),
        1 => Just(Step::Reopen),
    ]
}

/// What was added, by id.
type Rows = BTreeMap<SeriesId, Item>;

fn content(array: u32) -> Array {
    let n = f64::from(array * 10);
    Array::from_f64(vec![2, 2], &[n, n + 1.0, n + 2.0, n + 3.0]).unwrap()
}

fn new_series<'a>(&(owner, series_type, _): &Item, values: &'a Array) -> NewSeries<'a> {
    let values = values.view();
    let (initial, resolution) = (START, Period::hours(1));
    let timestamps = vec![START, UnixMillis(START.0 + HOUR)];
    let data = match series_type {
        SeriesType::SingleTimeSeries => SeriesData::Single { initial, resolution, values },
        SeriesType::NonSequentialTimeSeries => SeriesData::NonSequential { timestamps, values },
        SeriesType::PersistentTimeSeries => SeriesData::Persistent { timestamps, values },
        SeriesType::Deterministic => {
            let (horizon, interval) = (Period::hours(2), Period::hours(3));
            let windows = Windows { initial, resolution, horizon, interval, count: 2 };
            SeriesData::Deterministic { windows, values }
        }
        other => panic!("{other} is none of the types here"),
    };
    NewSeries::new(Owner::component(owner, "Bus"), "load", data)
}

/// The store under test beside the model: the rows, and those to come back to, transaction by transaction.
struct Pair {
    store: Store,
    place: Option<(tempfile::TempDir, bool)>,
    rows: Rows,
    saved: Vec<Rows>,
    issued: HashSet<SeriesId>,
    /// Arrays that may have become variables of their own, and those of them that an open has found since.
    standalone: HashSet<u32>,
    lingering: HashSet<u32>,
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
        let (standalone, lingering) = (HashSet::new(), HashSet::new());
        Pair { store, place, rows: Rows::new(), saved: Vec::new(), issued: HashSet::new(), standalone, lingering }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Add(item) => {
                let values = content(item.2);
                let result = self.store.add(&new_series(&item, &values)).map(|id| vec![id]);
                self.added(&[item], result);
            }
            Step::Bulk(items) => {
                let arrays: Vec<Array> = items.iter().map(|item| content(item.2)).collect();
                let new: Vec<_> = items.iter().zip(&arrays).map(|(item, values)| new_series(item, values)).collect();
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
                self.lingering = self.standalone.clone();
                self.rows = self.saved.drain(..).next().unwrap_or(std::mem::take(&mut self.rows));
            }
        }
    }

    fn added(&mut self, items: &[Item], result: Result<Vec<SeriesId>>) {
        let mut taken: HashSet<(i64, SeriesType)> = self.rows.values().map(|item| (item.0, item.1)).collect();
        let free = items.iter().all(|item| taken.insert((item.0, item.1)));
        self.standalone.extend(items.iter().filter(|item| item.1 != SeriesType::SingleTimeSeries).map(|item| item.2));
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
                let array = (0..ARRAYS).find(|&n| content(n).view().hash() == info.hash).unwrap();
                (info.id, (info.owner.id, info.series_type, array))
            })
            .collect();
        assert_eq!(listed, self.rows);
        let ids: Vec<SeriesId> = self.rows.keys().copied().collect();
        let many = store.read_many(&ids).unwrap();
        for (read, (id, (.., array))) in many.into_iter().zip(&self.rows) {
            assert_eq!(read.values, content(*array));
            assert_eq!(store.read(*id).unwrap(), read);
        }
    }

    /// At rest the array file has what rows refer to, and nothing else but variables that linger.
    fn check_at_rest(&mut self) {
        while self.saved.pop().is_some() {
            self.store.commit().unwrap();
        }
        self.store.flush().unwrap();
        for n in 0..ARRAYS {
            let wanted = self.rows.values().any(|item| item.2 == n);
            let there = holds(&self.store, content(n).view().hash());
            assert!(there == wanted || (there && self.lingering.contains(&n)), "array {n}");
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
