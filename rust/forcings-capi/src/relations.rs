//! Associations between entities: attributes of components, and components that are parts of others.

use crate::table::ForcingsTable;
use crate::{call, input};
use forcings::store::{Association, AssociationFilter, Entity, Relation, Store};
use forcings::{Error, Result};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AssociationObject {
    from_id: i64,
    from_type: String,
    to_id: i64,
    to_type: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AssociationFilterObject {
    from_id: Option<i64>,
    from_types: Option<Vec<String>>,
    to_id: Option<i64>,
    to_types: Option<Vec<String>>,
}

impl From<AssociationObject> for Association {
    fn from(object: AssociationObject) -> Self {
        Association::new(Entity::new(object.from_id, object.from_type), Entity::new(object.to_id, object.to_type))
    }
}

impl From<AssociationFilterObject> for AssociationFilter {
    fn from(object: AssociationFilterObject) -> Self {
        AssociationFilter {
            from_id: object.from_id,
            from_types: object.from_types,
            to_id: object.to_id,
            to_types: object.to_types,
        }
    }
}

/// Adds associations, all or none. `relation` is 0 from components to supplemental attributes that they have, 1 from
/// parents to children. `associations` is a JSON list of objects `from_id`, `from_type`, `to_id`, `to_type`. See `out_job`
/// above.
#[no_mangle]
pub unsafe extern "C" fn forcings_relation_add(
    store: u64,
    relation: i32,
    associations: *const u8,
    associations_len: u64,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: the caller passes a text, and null or a writable pointer, as the header asks.
    unsafe {
        call::nothing("forcings_relation_add", store, out_job, || {
            let relation = relation_of(relation)?;
            let objects = input::json::<Vec<AssociationObject>>("associations", associations, associations_len)?;
            let associations: Vec<Association> = objects.into_iter().map(Association::from).collect();
            Ok(move |store: &Store| store.relation(relation).add_bulk(&associations))
        })
    }
}

/// Removes the associations that match `filter`, a JSON object with any of `from_id`, `from_types`, `to_id`, `to_types`;
/// an empty list of types matches nothing, and `{}` matches all. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_relation_remove(
    store: u64,
    relation: i32,
    filter: *const u8,
    filter_len: u64,
    out_associations: *mut u64,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: the caller passes a text and writable pointers, as the header asks.
    unsafe {
        call::value("forcings_relation_remove", store, ("out_associations", out_associations), out_job, || {
            let (relation, filter) = (relation_of(relation)?, filter_of(filter, filter_len)?);
            Ok(move |store: &Store| store.relation(relation).remove(&filter))
        })
    }
}

/// Lists the associations that match, in the order in which they were added: a table with the columns `from_id`,
/// `from_type`, `to_id`, `to_type`. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_relation_list(
    store: u64,
    relation: i32,
    filter: *const u8,
    filter_len: u64,
    out_table: *mut *mut ForcingsTable,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: the caller passes a text and writable pointers, as the header asks.
    unsafe {
        call::table("forcings_relation_list", store, out_table, out_job, || {
            let (relation, filter) = (relation_of(relation)?, filter_of(filter, filter_len)?);
            Ok(move |store: &Store| {
                let found = store.relation(relation).list(&filter)?;
                Ok(ForcingsTable::new(found.len())
                    .integers("from_id", found.iter().map(|a| Some(a.from.id)))
                    .texts("from_type", found.iter().map(|a| Some(a.from.entity_type.as_str())))
                    .integers("to_id", found.iter().map(|a| Some(a.to.id)))
                    .texts("to_type", found.iter().map(|a| Some(a.to.entity_type.as_str()))))
            })
        })
    }
}

/// Counts the associations that match. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_relation_count(
    store: u64,
    relation: i32,
    filter: *const u8,
    filter_len: u64,
    out_associations: *mut u64,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: the caller passes a text and writable pointers, as the header asks.
    unsafe {
        call::value("forcings_relation_count", store, ("out_associations", out_associations), out_job, || {
            let (relation, filter) = (relation_of(relation)?, filter_of(filter, filter_len)?);
            Ok(move |store: &Store| store.relation(relation).count(&filter))
        })
    }
}

/// The distinct types at both ends of the associations that match, ascending: two tables with the column `type`. See
/// `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_relation_types(
    store: u64,
    relation: i32,
    filter: *const u8,
    filter_len: u64,
    out_from: *mut *mut ForcingsTable,
    out_to: *mut *mut ForcingsTable,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: the caller passes a text and writable pointers, as the header asks.
    unsafe {
        let places = [("out_from", out_from), ("out_to", out_to)];
        call::tables("forcings_relation_types", store, places, out_job, || {
            let (relation, filter) = (relation_of(relation)?, filter_of(filter, filter_len)?);
            Ok(move |store: &Store| {
                let associations = store.relation(relation);
                Ok([associations.from_types(&filter)?, associations.to_types(&filter)?].map(|types| {
                    ForcingsTable::new(types.len()).texts("type", types.iter().map(|name| Some(name.as_str())))
                }))
            })
        })
    }
}

/// Gives an entity another id wherever it stands in a relation: with `category` 0 a component, with 1 a supplemental
/// attribute. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_relation_replace(
    store: u64,
    relation: i32,
    category: i32,
    old: i64,
    new: i64,
    out_associations: *mut u64,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: the caller passes writable pointers, as the header asks.
    unsafe {
        call::value("forcings_relation_replace", store, ("out_associations", out_associations), out_job, || {
            let relation = relation_of(relation)?;
            let of_component = match category {
                0 => true,
                1 => false,
                _ => return Err(Error::invalid(format!("there is no category {category}; 0 and 1 are categories"))),
            };
            Ok(move |store: &Store| match of_component {
                true => store.relation(relation).replace_component(old, new),
                false => store.relation(relation).replace_attribute(old, new),
            })
        })
    }
}

fn relation_of(number: i32) -> Result<Relation> {
    match number {
        0 => Ok(Relation::SupplementalAttribute),
        1 => Ok(Relation::ParentChild),
        _ => Err(Error::invalid(format!("there is no relation {number}; 0 and 1 are relations"))),
    }
}

/// # Safety
/// As `input::json`.
unsafe fn filter_of(filter: *const u8, filter_len: u64) -> Result<AssociationFilter> {
    // SAFETY: the caller's promise.
    unsafe { input::json::<AssociationFilterObject>("filter", filter, filter_len) }.map(AssociationFilter::from)
}
