//! What a store holds: rows by id and associations in their order; and what each change makes of it.

use super::filters::{associates, selects};
use super::items::{Item, NAMES};
use super::*;
use crate::series::{OwnerCategory, Windows};

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct State {
    pub(super) series: BTreeMap<SeriesId, SeriesInfo>,
    pub(super) attributes: Vec<Association>,
    pub(super) parts: Vec<Association>,
}

/// A change of rows and associations.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Add(Item),
    Bulk(Vec<Item>),
    /// By position; positions past the end stand for ids that do not exist.
    Remove(Vec<usize>),
    RemoveMatching(Filter),
    ClearOwner(i64, OwnerCategory),
    Clear,
    Rename(usize, usize),
    Copy(usize, i64, &'static str, Option<usize>),
    ReplaceOwner(i64, i64, OwnerCategory),
    Transform(Period, Period, Filter),
    Associate(Relation, Vec<Association>),
    Dissociate(Relation, AssociationFilter),
    ReplaceComponent(Relation, i64, i64),
    ReplaceAttribute(Relation, i64, i64),
}

/// What a change answers.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    Nothing,
    Count(u64),
    Ids(Vec<SeriesId>),
    Transformed(usize, Vec<SeriesId>),
}

impl Answer {
    pub(super) fn ids(&self) -> &[SeriesId] {
        match self {
            Answer::Ids(ids) | Answer::Transformed(_, ids) => ids,
            _ => &[],
        }
    }

    /// The same answer with other ids.
    pub(super) fn with_ids(&self, ids: &[SeriesId]) -> Self {
        match self {
            Answer::Ids(own) if own.len() == ids.len() => Answer::Ids(ids.to_vec()),
            Answer::Transformed(sources, own) if own.len() == ids.len() => Answer::Transformed(*sources, ids.to_vec()),
            other => other.clone(),
        }
    }
}

type Outcome<T> = std::result::Result<T, ErrorKind>;

/// Whether two rows have one identity, apart from their type and interval.
fn related(a: &SeriesInfo, b: &SeriesInfo) -> bool {
    (a.owner.id, a.owner.category, &a.name, a.resolution) == (b.owner.id, b.owner.category, &b.name, b.resolution)
        && a.features == b.features
}

fn same(a: &SeriesInfo, b: &SeriesInfo) -> bool {
    related(a, b) && (a.series_type, a.interval) == (b.series_type, b.interval)
}

/// Whether a dense forecast would stand beside a derived one.
fn exclude(a: &SeriesInfo, b: &SeriesInfo) -> bool {
    use SeriesType::{Deterministic, DeterministicSingleTimeSeries as Derived};
    related(a, b) && matches!((a.series_type, b.series_type), (Deterministic, Derived) | (Derived, Deterministic))
}

impl State {
    /// The id at a position.
    pub(super) fn id(&self, position: usize) -> SeriesId {
        self.series.keys().nth(position).copied().unwrap_or(SeriesId(-1 - position as i64))
    }

    /// The same state with other numbers for these series.
    pub(super) fn renumbered(mut self, old: &[SeriesId], new: &[SeriesId]) -> Self {
        let rows: Vec<SeriesInfo> = old.iter().filter_map(|id| self.series.remove(id)).collect();
        self.series.extend(rows.into_iter().zip(new).map(|(row, id)| (*id, SeriesInfo { id: *id, ..row })));
        self
    }

    /// The same state with the numbers that follow `last` for the series behind it.
    pub(super) fn untold(&self, last: i64) -> Self {
        let old: Vec<SeriesId> = self.series.keys().copied().filter(|id| id.0 > last).collect();
        let new: Vec<SeriesId> = (1..=old.len() as i64).map(|n| SeriesId(last + n)).collect();
        self.clone().renumbered(&old, &new)
    }

    pub(super) fn relation(&self, relation: Relation) -> &Vec<Association> {
        match relation {
            Relation::SupplementalAttribute => &self.attributes,
            Relation::ParentChild => &self.parts,
        }
    }

    /// The state after a change, or why there is none. New ids follow `last`.
    pub(super) fn after(&self, change: &Change, last: i64) -> Outcome<(State, Answer)> {
        let mut next = self.clone();
        let answer = next.make(change, last)?;
        Ok((next, answer))
    }

    fn make(&mut self, change: &Change, last: i64) -> Outcome<Answer> {
        let counted = |n: usize| Ok(Answer::Count(n as u64));
        match change {
            Change::Add(item) => self.add(std::slice::from_ref(item), last),
            Change::Bulk(items) => self.add(items, last),
            Change::Remove(positions) => {
                let ids: Vec<SeriesId> = positions.iter().map(|at| self.id(*at)).collect();
                self.remove(&ids).map(|()| Answer::Nothing)
            }
            Change::RemoveMatching(filter) => {
                let ids: Vec<SeriesId> = self.matching(filter).map(|row| row.id).collect();
                self.remove(&ids)?;
                counted(ids.len())
            }
            Change::ClearOwner(id, category) => {
                let before = self.series.len();
                self.series.retain(|_, row| (row.owner.id, row.owner.category) != (*id, *category));
                counted(before - self.series.len())
            }
            Change::Clear => counted(std::mem::take(&mut self.series).len()),
            Change::Rename(at, name) => {
                let id = self.id(*at);
                let mut row = self.series.get(&id).cloned().ok_or(ErrorKind::NotFound)?;
                row.name = NAMES[*name].into();
                self.place(row)?;
                Ok(Answer::Nothing)
            }
            Change::Copy(at, owner, owner_type, name) => {
                let mut row = self.series.get(&self.id(*at)).cloned().ok_or(ErrorKind::NotFound)?;
                row.id = SeriesId(last + 1);
                (row.owner.id, row.owner.owner_type) = (*owner, owner_type.to_string());
                row.name = name.map_or(row.name, |name| NAMES[name].into());
                let id = row.id;
                self.place(row)?;
                Ok(Answer::Ids(vec![id]))
            }
            Change::ReplaceOwner(old, new, category) => self.move_owner(*old, *new, *category).and_then(counted),
            Change::Transform(horizon, interval, scope) => self.transform(*horizon, *interval, scope, last),
            Change::Associate(relation, new) => {
                for edge in new {
                    let edges = self.relation_mut(*relation);
                    if edges.iter().any(|other| (other.from.id, other.to.id) == (edge.from.id, edge.to.id)) {
                        return Err(ErrorKind::DuplicateAssociation);
                    }
                    edges.push(edge.clone());
                }
                Ok(Answer::Nothing)
            }
            Change::Dissociate(relation, filter) => {
                let edges = self.relation_mut(*relation);
                let before = edges.len();
                edges.retain(|edge| !associates(filter, edge));
                counted(before - edges.len())
            }
            Change::ReplaceComponent(relation, old, new) => {
                let both = *relation == Relation::ParentChild;
                self.replace(*relation, *old, *new, (true, both)).and_then(counted)
            }
            Change::ReplaceAttribute(relation, old, new) => {
                let attributes = *relation == Relation::SupplementalAttribute;
                self.replace(*relation, *old, *new, (false, attributes)).and_then(counted)
            }
        }
    }

    pub(super) fn matching<'a>(&'a self, filter: &'a Filter) -> impl Iterator<Item = &'a SeriesInfo> {
        self.series.values().filter(|row| selects(filter, row))
    }

    fn add(&mut self, items: &[Item], last: i64) -> Outcome<Answer> {
        let mut ids = Vec::new();
        for (n, item) in items.iter().enumerate() {
            let row = item.row(SeriesId(last + 1 + n as i64));
            if self.series.values().any(|other| exclude(&row, other)) {
                return Err(ErrorKind::InvalidParameter);
            }
            ids.push(row.id);
            self.place(row)?;
        }
        Ok(Answer::Ids(ids))
    }

    /// Puts a row, unless another stands in its way.
    fn place(&mut self, row: SeriesInfo) -> Outcome<()> {
        let mut others = self.series.values().filter(|other| other.id != row.id);
        if others.clone().any(|other| same(&row, other)) {
            return Err(ErrorKind::DuplicateTimeSeries);
        }
        if others.any(|other| exclude(&row, other)) {
            return Err(ErrorKind::InvalidParameter);
        }
        self.series.insert(row.id, row);
        Ok(())
    }

    fn remove(&mut self, ids: &[SeriesId]) -> Outcome<()> {
        let mut gone = Vec::new();
        for id in ids.iter().collect::<HashSet<_>>() {
            gone.push(self.series.remove(id).ok_or(ErrorKind::NotFound)?);
        }
        let derived = |row: &SeriesInfo| {
            let from = |other: &SeriesInfo| {
                other.series_type == SeriesType::DeterministicSingleTimeSeries && other.hash == row.hash
            };
            self.series.values().any(|other| from(other) && related(row, other))
        };
        match gone.iter().any(|row| row.series_type == SeriesType::SingleTimeSeries && derived(row)) {
            true => Err(ErrorKind::InvalidParameter),
            false => Ok(()),
        }
    }

    fn move_owner(&mut self, old: i64, new: i64, category: OwnerCategory) -> Outcome<usize> {
        let of = |row: &&SeriesInfo, id: i64| (row.owner.id, row.owner.category) == (id, category);
        let mut moved: Vec<SeriesInfo> = self.series.values().filter(|row| of(row, old)).cloned().collect();
        if old == new {
            return Ok(moved.len());
        }
        moved.iter_mut().for_each(|row| row.owner.id = new);
        let there: Vec<&SeriesInfo> = self.series.values().filter(|row| of(row, new)).collect();
        let meets = |rule: fn(&SeriesInfo, &SeriesInfo) -> bool| {
            moved.iter().any(|row| there.iter().any(|other| rule(row, other)))
        };
        if meets(exclude) {
            return Err(ErrorKind::InvalidParameter);
        }
        if meets(same) {
            return Err(ErrorKind::DuplicateTimeSeries);
        }
        let count = moved.len();
        self.series.extend(moved.into_iter().map(|row| (row.id, row)));
        Ok(count)
    }

    fn transform(&mut self, horizon: Period, interval: Period, scope: &Filter, last: i64) -> Outcome<Answer> {
        if !matches!(scope.series_type, None | Some(SeriesType::SingleTimeSeries)) {
            return Err(ErrorKind::InvalidParameter);
        }
        let scope = Filter { series_type: Some(SeriesType::SingleTimeSeries), ..scope.clone() };
        let sources: Vec<SeriesInfo> = self.matching(&scope).cloned().collect();
        let mut grids: HashMap<Option<Period>, (&SeriesInfo, Windows)> = HashMap::new();
        for source in &sources {
            match grids.get(&source.resolution) {
                None => {
                    let windows = reading::derived(source, horizon, interval).ok_or(ErrorKind::InvalidParameter)?;
                    grids.insert(source.resolution, (source, windows));
                }
                Some((first, _)) if (first.initial, first.length) == (source.initial, source.length) => {}
                Some(_) => return Err(ErrorKind::Integrity),
            }
        }
        let mut ids = Vec::new();
        for source in &sources {
            let windows = grids[&source.resolution].1;
            let mut row = source.clone();
            row.id = SeriesId(last + 1 + ids.len() as i64);
            row.series_type = SeriesType::DeterministicSingleTimeSeries;
            (row.horizon, row.interval) = (Some(windows.horizon), Some(windows.interval));
            row.count = Some(windows.count as u64);
            if self.series.values().any(|other| exclude(&row, other)) {
                return Err(ErrorKind::InvalidParameter);
            }
            match self.series.values().find(|other| same(&row, other)) {
                Some(other) if other.horizon == row.horizon => {}
                Some(_) => return Err(ErrorKind::InvalidParameter),
                None => {
                    ids.push(row.id);
                    self.series.insert(row.id, row);
                }
            }
        }
        Ok(Answer::Transformed(sources.len(), ids))
    }

    fn relation_mut(&mut self, relation: Relation) -> &mut Vec<Association> {
        match relation {
            Relation::SupplementalAttribute => &mut self.attributes,
            Relation::ParentChild => &mut self.parts,
        }
    }

    /// Gives an entity another number at these ends.
    fn replace(&mut self, relation: Relation, old: i64, new: i64, (from, to): (bool, bool)) -> Outcome<usize> {
        let edges = self.relation_mut(relation);
        let mut count = 0;
        for edge in edges.iter_mut() {
            let ends = [(from, &mut edge.from), (to, &mut edge.to)];
            let hit = ends.into_iter().filter(|(asked, end)| *asked && end.id == old).map(|(_, end)| end.id = new);
            count += usize::from(hit.count() > 0);
        }
        let distinct: HashSet<_> = edges.iter().map(|edge| (edge.from.id, edge.to.id)).collect();
        match distinct.len() == edges.len() {
            true => Ok(count),
            false => Err(ErrorKind::DuplicateAssociation),
        }
    }
}
