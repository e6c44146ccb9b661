//! Random sequences of all operations against a plain model of a store; `verify` is clean after each step.

use super::*;
use crate::store::{Association, AssociationFilter, Entity, Relation};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};

/// Few of each, so that identities collide and content is shared.
const ARRAYS: u32 = 3;
const OWNERS: i64 = 3;
const NAMES: [&str; 3] = ["load", "wind", "w"];

#[derive(Debug, Clone)]
enum Step {
    Add(Vec<(Key, u32)>),
    Remove(usize),
    RemoveMatching(String),
    Rename(usize, usize),
    Copy(usize, i64, Option<usize>),
    ReplaceOwner(i64, i64),
    ClearOwner(i64),
    Clear,
    Associate(i64, i64),
    Dissociate(i64),
    ReplaceComponent(i64, i64),
    Begin,
    Commit,
    Rollback,
    Compact,
    Persist,
    Reopen,
}

/// Owner and name.
type Key = (i64, usize);

#[derive(Debug, Clone, Default, PartialEq)]
struct Content {
    series: BTreeMap<SeriesId, (Key, u32)>,
    edges: Vec<(i64, i64)>,
}

fn step() -> impl Strategy<Value = Step> {
    let owner = || 0..OWNERS;
    let name = || 0..NAMES.len();
    let place = || 0..8usize;
    prop_oneof![
        5 => prop::collection::vec(((owner(), name()), 0..ARRAYS), 1..3).prop_map(Step::Add),
        2 => place().prop_map(Step::Remove),
        1 => prop_oneof![Just("w*"), Just("[^w]*"), Just("x")].prop_map(|glob| Step::RemoveMatching(glob.into())),
        3 => (place(), name()).prop_map(|(place, name)| Step::Rename(place, name)),
        3 => (place(), owner(), prop::option::of(name())).prop_map(|(p, o, n)| Step::Copy(p, o, n)),
        2 => (owner(), owner()).prop_map(|(old, new)| Step::ReplaceOwner(old, new)),
        1 => owner().prop_map(Step::ClearOwner),
        1 => Just(Step::Clear),
        2 => (owner(), owner()).prop_map(|(from, to)| Step::Associate(from, to)),
        1 => owner().prop_map(Step::Dissociate),
        2 => (owner(), owner()).prop_map(|(old, new)| Step::ReplaceComponent(old, new)),
        2 => Just(Step::Begin),
        2 => Just(Step::Commit),
        2 => Just(Step::Rollback),
        1 => Just(Step::Compact),
        1 => Just(Step::Persist),
        1 => Just(Step::Reopen),
    ]
}

struct Pair {
    store: Store,
    dir: tempfile::TempDir,
    durable: Option<bool>,
    now: Content,
    saved: Vec<Content>,
    issued: HashSet<SeriesId>,
}

impl Pair {
    /// A store on disk, durable or not, or in memory.
    fn new(durable: Option<bool>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = match durable {
            None => Store::memory().unwrap(),
            Some(durable) => {
                let options = CreateOptions { durable, ..CreateOptions::default() };
                Store::create(dir.path().join("a.nc"), &options).unwrap()
            }
        };
        Pair { store, dir, durable, now: Content::default(), saved: Vec::new(), issued: HashSet::new() }
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Add(items) => self.add(&items),
            Step::Remove(place) => {
                let id = self.id(place);
                let known = self.now.series.remove(&id).is_some();
                self.expect(self.store.remove(&[id]), known, ErrorKind::NotFound);
            }
            Step::RemoveMatching(glob) => {
                let before = self.now.series.len();
                let matches = |name: &str| match glob.as_str() {
                    "x" => false,
                    glob => name.starts_with('w') == (glob == "w*"),
                };
                self.now.series.retain(|_, ((_, name), _)| !matches(NAMES[*name]));
                let filter = Filter { name_glob: Some(glob.clone()), ..Filter::default() };
                let removed = self.store.remove_matching(&filter).unwrap();
                assert_eq!(removed as usize, before - self.now.series.len());
            }
            Step::Rename(place, name) => {
                let id = self.id(place);
                let result = self.store.rename(id, NAMES[name]);
                match self.now.series.get(&id).copied() {
                    None => assert_eq!(kind(result), ErrorKind::NotFound),
                    Some(((owner, _), array)) => {
                        let free = self.owner_of((owner, name)).is_none_or(|other| other == id);
                        self.expect(result, free, ErrorKind::DuplicateTimeSeries);
                        if free {
                            self.now.series.insert(id, ((owner, name), array));
                        }
                    }
                }
            }
            Step::Copy(place, owner, name) => {
                let id = self.id(place);
                let result = self.store.copy_series(id, owner, "Bus", name.map(|name| NAMES[name]));
                match self.now.series.get(&id).copied() {
                    None => assert_eq!(kind(result), ErrorKind::NotFound),
                    Some(((_, old), array)) => {
                        let key = (owner, name.unwrap_or(old));
                        match self.owner_of(key) {
                            Some(_) => assert_eq!(kind(result), ErrorKind::DuplicateTimeSeries),
                            None => self.issue(result.unwrap(), key, array),
                        }
                    }
                }
            }
            Step::ReplaceOwner(old, new) => {
                let moving: Vec<_> = self
                    .now
                    .series
                    .iter()
                    .filter(|(_, ((owner, _), _))| *owner == old)
                    .map(|(id, x)| (*id, *x))
                    .collect();
                let free = old == new || moving.iter().all(|(_, ((_, name), _))| self.owner_of((new, *name)).is_none());
                let result = self.store.replace_owner(old, new, OwnerCategory::Component);
                match free {
                    false => assert_eq!(kind(result), ErrorKind::DuplicateTimeSeries),
                    true => {
                        assert_eq!(result.unwrap() as usize, moving.len());
                        self.now
                            .series
                            .extend(moving.into_iter().map(|(id, ((_, name), array))| (id, ((new, name), array))));
                    }
                }
            }
            Step::ClearOwner(owner) => {
                let before = self.now.series.len();
                self.now.series.retain(|_, ((other, _), _)| *other != owner);
                let removed = self.store.clear_owner(owner, OwnerCategory::Component).unwrap();
                assert_eq!(removed as usize, before - self.now.series.len());
            }
            Step::Clear => {
                assert_eq!(self.store.clear().unwrap() as usize, self.now.series.len());
                self.now.series.clear();
            }
            Step::Associate(from, to) => {
                let free = !self.now.edges.contains(&(from, to));
                let edge = Association::new(Entity::new(from, "Bus"), Entity::new(to, "Bus"));
                let result = self.store.relation(Relation::ParentChild).add(&edge);
                self.expect(result, free, ErrorKind::DuplicateAssociation);
                if free {
                    self.now.edges.push((from, to));
                }
            }
            Step::Dissociate(from) => {
                let before = self.now.edges.len();
                self.now.edges.retain(|edge| edge.0 != from);
                let filter = AssociationFilter { from_id: Some(from), ..AssociationFilter::default() };
                let removed = self.store.relation(Relation::ParentChild).remove(&filter).unwrap();
                assert_eq!(removed as usize, before - self.now.edges.len());
            }
            Step::ReplaceComponent(old, new) => {
                let put = |id: i64| if id == old { new } else { id };
                let after: Vec<_> = self.now.edges.iter().map(|(from, to)| (put(*from), put(*to))).collect();
                let touched = self.now.edges.iter().filter(|(from, to)| *from == old || *to == old).count();
                let result = self.store.relation(Relation::ParentChild).replace_component(old, new);
                match after.iter().collect::<HashSet<_>>().len() == after.len() {
                    false => assert_eq!(kind(result), ErrorKind::DuplicateAssociation),
                    true => {
                        assert_eq!(result.unwrap() as usize, touched);
                        self.now.edges = after;
                    }
                }
            }
            Step::Begin => {
                self.store.begin().unwrap();
                self.saved.push(self.now.clone());
            }
            Step::Commit => {
                let open = self.saved.pop().is_some();
                self.expect(self.store.commit(), open, ErrorKind::InvalidParameter);
            }
            Step::Rollback => {
                let saved = self.saved.pop();
                self.expect(self.store.rollback(), saved.is_some(), ErrorKind::InvalidParameter);
                self.now = saved.unwrap_or(std::mem::take(&mut self.now));
            }
            Step::Compact => {
                let result = self.store.compact().map(drop);
                self.expect(result, self.saved.is_empty(), ErrorKind::InvalidParameter);
            }
            Step::Persist => {
                let path = self.dir.path().join("copy.nc");
                let result = self.store.persist(&path, true);
                self.expect(result, self.saved.is_empty(), ErrorKind::InvalidParameter);
                if self.saved.is_empty() {
                    self.check(&Store::open(&path, &reading()).unwrap());
                }
            }
            Step::Reopen => {
                let Some(durable) = self.durable else { return };
                self.store.close().unwrap();
                let options = OpenOptions { read_only: false, durable };
                self.store = Store::open(self.dir.path().join("a.nc"), &options).unwrap();
                self.now = self.saved.drain(..).next().unwrap_or(std::mem::take(&mut self.now));
            }
        }
    }

    fn add(&mut self, items: &[(Key, u32)]) {
        let arrays: Vec<Array> = items.iter().map(|(_, array)| ramp(array * 10)).collect();
        let new: Vec<_> = items
            .iter()
            .zip(&arrays)
            .map(|(((owner, name), _), array)| {
                let owner = Owner::component(*owner, "Bus");
                let mut new = NewSeries::single(owner, NAMES[*name], START, Period::hours(1), array.view());
                new.features = Features::from_iter([("year", 2030)]);
                new
            })
            .collect();
        let mut keys: HashSet<Key> = self.now.series.values().map(|(key, _)| *key).collect();
        let free = items.iter().all(|(key, _)| keys.insert(*key));
        match self.store.add_bulk(&new) {
            Ok(ids) => {
                assert!(free && ids.len() == items.len());
                ids.into_iter().zip(items).for_each(|(id, (key, array))| self.issue(id, *key, *array));
            }
            Err(error) => assert!(!free && error.kind() == ErrorKind::DuplicateTimeSeries, "{error}"),
        }
    }

    fn issue(&mut self, id: SeriesId, key: Key, array: u32) {
        assert!(self.issued.insert(id), "the id {id} was issued twice");
        self.now.series.insert(id, (key, array));
    }

    /// The id at a place; places past the end stand for ids that do not exist.
    fn id(&self, place: usize) -> SeriesId {
        self.now.series.keys().nth(place).copied().unwrap_or(SeriesId(-1 - place as i64))
    }

    fn owner_of(&self, key: Key) -> Option<SeriesId> {
        self.now.series.iter().find(|(_, (other, _))| *other == key).map(|(id, _)| *id)
    }

    fn expect(&self, result: Result<()>, succeeds: bool, otherwise: ErrorKind) {
        match succeeds {
            true => result.unwrap(),
            false => assert_eq!(kind(result), otherwise),
        }
    }

    /// Every row, value and association is that of the model, and nothing is damaged.
    fn check(&self, store: &Store) {
        let name = |text: &str| NAMES.iter().position(|name| *name == text).unwrap();
        let listed: BTreeMap<SeriesId, (Key, u32)> = all(store)
            .into_iter()
            .map(|info| {
                let array = (0..ARRAYS).find(|&n| ramp(n * 10).view().hash() == info.hash).unwrap();
                (info.id, ((info.owner.id, name(&info.name)), array))
            })
            .collect();
        let edges = store.relation(Relation::ParentChild).list(&AssociationFilter::default()).unwrap();
        let edges = edges.iter().map(|edge| (edge.from.id, edge.to.id)).collect();
        assert_eq!(Content { series: listed, edges }, self.now);
        let ids: Vec<SeriesId> = self.now.series.keys().copied().collect();
        for (read, (_, array)) in store.read_many(&ids).unwrap().into_iter().zip(self.now.series.values()) {
            assert_eq!(read.values, ramp(array * 10));
        }
        let report = store.verify().unwrap();
        assert!(report.is_clean(), "{report:?}");
        assert_eq!(report.series as usize, ids.len());
    }
}

fn run(durable: Option<bool>, steps: Vec<Step>) {
    let mut pair = Pair::new(durable);
    for step in steps {
        pair.take(step);
        pair.check(&pair.store);
    }
    while pair.saved.pop().is_some() {
        pair.store.commit().unwrap();
    }
    pair.store.flush().unwrap();
    let wanted: HashSet<u32> = pair.now.series.values().map(|(_, array)| *array).collect();
    for n in 0..ARRAYS {
        assert_eq!(holds(&pair.store, &ramp(n * 10)), wanted.contains(&n), "array {n}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn in_memory(steps in prop::collection::vec(step(), 0..30)) {
        run(None, steps);
    }

    #[test]
    fn on_disk(steps in prop::collection::vec(step(), 0..30)) {
        run(Some(false), steps);
    }

    #[test]
    fn on_disk_and_durable(steps in prop::collection::vec(step(), 0..15)) {
        run(Some(true), steps);
    }
}
