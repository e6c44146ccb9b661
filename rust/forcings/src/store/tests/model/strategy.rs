//! Random operations and failures.

use super::filters::{association_filter, category, filter};
use super::items::*;
use super::state::Change;
use super::*;
use crate::store::h5::faults::{Fate, Harm};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

/// One call, or a few that belong together.
#[derive(Debug, Clone)]
pub(super) enum Op {
    Change(Change),
    Begin,
    Commit,
    Rollback,
    Flush,
    Compact,
    CompactPhysical,
    /// Writes the store to another path, over the copy that is there or not, and opens the copy.
    Persist {
        overwrite: bool,
    },
    Close {
        look: bool,
    },
    /// Reads a range of a series, by position.
    Read(usize, Option<UnixMillis>, Option<UnixMillis>),
    List(Filter),
    ListAssociations(AssociationFilter),
    /// Builds a reader of the series of one type and resolution.
    BuildReader(SeriesType, Period, Option<Period>),
    Walk,
}

/// An operation, and the failure that waits from there on.
pub(super) type Step = (Op, Option<Fate>);

pub(super) fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((op(), Just(None)), 1..most)
}

pub(super) fn failing_steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec((op(), proptest::option::weighted(0.3, fate())), 1..most)
}

fn fate() -> impl Strategy<Value = Fate> {
    use std::io::ErrorKind::StorageFull;
    let harm = || select(vec![Harm::Refused(StorageFull), Harm::Torn, Harm::Late]);
    prop_oneof![
        3 => (0..30usize, harm()).prop_map(|(at, harm)| Fate::Once(at, harm)),
        1 => (0..30usize).prop_map(|at| Fate::From(at, StorageFull)),
        3 => (0..30usize, harm()).prop_map(|(at, harm)| Fate::Gone(at, harm)),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        30 => change().prop_map(Op::Change),
        4 => Just(Op::Begin),
        4 => Just(Op::Commit),
        3 => Just(Op::Rollback),
        3 => Just(Op::Flush),
        1 => Just(Op::Compact),
        2 => Just(Op::CompactPhysical),
        1 => any::<bool>().prop_map(|overwrite| Op::Persist { overwrite }),
        2 => any::<bool>().prop_map(|look| Op::Close { look }),
        3 => (place(), of(instant()), of(instant())).prop_map(|(place, from, to)| Op::Read(place, from, to)),
        3 => filter().prop_map(Op::List),
        1 => association_filter().prop_map(Op::ListAssociations),
        2 => reader(),
        3 => Just(Op::Walk),
    ]
}

fn change() -> impl Strategy<Value = Change> {
    let id = || 0..OWNERS;
    let name = || 0..NAMES.len();
    let relation = || select(vec![Relation::SupplementalAttribute, Relation::ParentChild]);
    let entity = || (id(), select(&OWNER_TYPES[..])).prop_map(|(id, entity_type)| Entity::new(id, entity_type));
    let edges = || prop::collection::vec((entity(), entity()).prop_map(|(from, to)| Association::new(from, to)), 1..4);
    prop_oneof![
        8 => item().prop_map(Change::Add),
        6 => prop::collection::vec(item(), 0..6).prop_map(Change::Bulk),
        3 => prop::collection::vec(place(), 0..4).prop_map(Change::Remove),
        1 => filter().prop_map(Change::RemoveMatching),
        1 => (id(), 0..2u8).prop_map(|(id, n)| Change::ClearOwner(id, category(n))),
        1 => Just(Change::Clear),
        2 => (place(), name()).prop_map(|(at, name)| Change::Rename(at, name)),
        2 => (place(), id(), select(&OWNER_TYPES[..]), of(name()))
            .prop_map(|(at, owner, owner_type, name)| Change::Copy(at, owner, owner_type, name)),
        1 => (id(), id(), 0..2u8).prop_map(|(old, new, n)| Change::ReplaceOwner(old, new, category(n))),
        3 => transform(),
        2 => (relation(), edges()).prop_map(|(relation, edges)| Change::Associate(relation, edges)),
        1 => (relation(), association_filter()).prop_map(|(relation, filter)| Change::Dissociate(relation, filter)),
        1 => (relation(), id(), id()).prop_map(|(relation, old, new)| Change::ReplaceComponent(relation, old, new)),
        1 => (relation(), id(), id()).prop_map(|(relation, old, new)| Change::ReplaceAttribute(relation, old, new)),
    ]
}

fn place() -> impl Strategy<Value = usize> {
    0..12usize
}

/// Bounds of ranges: on steps, between them, and outside.
fn instant() -> impl Strategy<Value = UnixMillis> {
    let day = 24 * HOUR;
    let away = vec![-400 * day, -HOUR, 0, HOUR / 2, HOUR, 2 * HOUR, 3 * HOUR, day, 29 * day, 60 * day, 400 * day];
    (select(vec![START, MONTH_END, UnixMillis(0)]), select(away)).prop_map(|(from, ms)| UnixMillis(from.0 + ms))
}

/// A transform, mostly of series that share a grid.
fn transform() -> impl Strategy<Value = Change> {
    let periods = vec![
        (Period::hours(1), Period::hours(2), Period::hours(1)),
        (Period::hours(1), Period::hours(4), Period::Fixed(0)),
        (Period::hours(1), Period::hours(2), Period::hours(2)),
        (Period::Fixed(900_000), Period::hours(1), Period::Fixed(0)),
        (MONTH, Period::Months(2), Period::Months(2)),
        (MONTH, Period::Months(1), Period::Months(1)),
        (Period::hours(1), MONTH, Period::hours(1)),
    ];
    (select(periods), proptest::option::weighted(0.2, filter())).prop_map(|((resolution, horizon, interval), scope)| {
        let narrow = Filter { resolution: Some(resolution), ..Filter::default() };
        Change::Transform(horizon, interval, scope.unwrap_or(narrow))
    })
}

fn reader() -> impl Strategy<Value = Op> {
    use SeriesType::*;
    let hour = Period::hours(1);
    let walks = vec![
        (SingleTimeSeries, hour, None),
        (SingleTimeSeries, Period::Fixed(900_000), None),
        (SingleTimeSeries, Period::hours(2), None),
        (SingleTimeSeries, Period::hours(3), None),
        (Deterministic, hour, Some(Period::hours(3))),
        (Deterministic, hour, Some(hour)),
        (DeterministicSingleTimeSeries, hour, Some(Period::hours(2))),
        (Probabilistic, hour, None),
        (Scenarios, hour, Some(Period::hours(24))),
    ];
    select(walks).prop_map(|(series_type, resolution, interval)| Op::BuildReader(series_type, resolution, interval))
}
