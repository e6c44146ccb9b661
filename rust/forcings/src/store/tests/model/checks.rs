//! The store against the model: every row and value, ranges, listings, and that nothing is damaged.

use super::state::State;
use super::strategy::Op;
use super::trial::observe;
use super::*;
use crate::series::Bound;
use crate::series::TimeRange;

/// Every row, association and value is that of the model, and nothing is damaged.
pub(super) fn contents(store: &Store, state: &State, arrays: &HashMap<ArrayHash, Array>) {
    assert_eq!(observe(store), *state);
    let ids: Vec<SeriesId> = state.series.keys().copied().collect();
    let many = store.read_many(&ids).unwrap();
    assert_eq!(many.len(), ids.len());
    for (row, read) in state.series.values().zip(many) {
        assert_eq!(Some(read), reading::read(row, &arrays[&row.hash], None, None));
    }
    let report = store.verify().unwrap();
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(report.series as usize, ids.len());
}

/// A question, and its answer by the model. Errors that the model does not know are returned.
pub(super) fn look(store: &Store, state: &State, arrays: &HashMap<ArrayHash, Array>, op: Op) -> Result<()> {
    match op {
        Op::Read(at, from, to) => {
            let Some(row) = state.series.get(&state.id(at)) else {
                assert_eq!(store.read(state.id(at)).unwrap_err().kind(), ErrorKind::NotFound);
                return Ok(());
            };
            let expected = reading::read(row, &arrays[&row.hash], from, to);
            let range = TimeRange { from: from.map(Bound::Floating), to: to.map(Bound::Floating) };
            let one = store.read_range(row.id, from, to);
            let two = store.read_within(&[row.id, row.id], &range);
            match expected {
                Some(expected) => {
                    assert_eq!(one?, expected);
                    assert_eq!(two?, [expected.clone(), expected]);
                }
                None => {
                    for result in [one.map(drop), two.map(drop)] {
                        match result {
                            Err(error) if error.kind() == ErrorKind::InvalidParameter => {}
                            Err(error) => return Err(error),
                            Ok(()) => panic!("{row} was read from {from:?} to {to:?}"),
                        }
                    }
                }
            }
        }
        Op::List(filter) => {
            let expected: Vec<SeriesInfo> = state.matching(&filter).cloned().collect();
            assert_eq!(store.list(&filter)?, expected, "{filter:?}");
            assert_eq!(store.any(&filter)?, !expected.is_empty(), "{filter:?}");
            let ids: Vec<SeriesId> = expected.iter().map(|row| row.id).collect();
            for (row, read) in expected.iter().zip(store.read_many(&ids)?) {
                assert_eq!(Some(read), reading::read(row, &arrays[&row.hash], None, None));
            }
        }
        Op::ListAssociations(filter) => {
            for relation in [Relation::SupplementalAttribute, Relation::ParentChild] {
                let expected = state.relation(relation).iter().filter(|edge| filters::associates(&filter, edge));
                let expected: Vec<Association> = expected.cloned().collect();
                assert_eq!(store.relation(relation).list(&filter)?, expected);
                assert_eq!(store.relation(relation).count(&filter)?, expected.len() as u64);
            }
        }
        other => panic!("{other:?} is no question"),
    }
    Ok(())
}
