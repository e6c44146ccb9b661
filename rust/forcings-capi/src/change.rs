//! Changes to series that are in a store: other names, other owners, copies, and removal by what they have in common.

use crate::wire::{category, FilterObject, OwnerObject};
use crate::{call, input};
use forcings::series::{Owner, OwnerCategory, SeriesId};
use forcings::store::{Filter, Store};
use forcings::{Error, Result};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CopyObject {
    owner: OwnerObject,
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MoveObject {
    old: i64,
    new: i64,
    category: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnerKeyObject {
    id: i64,
    category: String,
}

/// Gives a series another name; its id stays. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_rename(
    store: u64,
    id: i64,
    name: *const u8,
    name_len: u64,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: the caller passes a text, and null or a writable pointer, as the header asks.
    unsafe {
        call::nothing("forcings_store_rename", store, out_job, || {
            let name = input::text("name", name, name_len)?.to_owned();
            Ok(move |store: &Store| store.rename(SeriesId(id), &name))
        })
    }
}

/// Adds a series with the array, the features and everything else of `id` for another owner. `options` is JSON: `owner`
/// (`id`, `type`, `category`, which must be the one of the owner of `id`), `name` (a text, or null to keep the name). See
/// `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_copy(
    store: u64,
    id: i64,
    options: *const u8,
    options_len: u64,
    out_id: *mut i64,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: the caller passes a text and writable pointers, as the header asks.
    unsafe {
        call::value("forcings_store_copy", store, ("out_id", out_id), out_job, || {
            let options = input::json::<CopyObject>("options", options, options_len)?;
            let owner = options.owner.into_owner()?;
            Ok(move |store: &Store| copy(store, SeriesId(id), &owner, options.name.as_deref()))
        })
    }
}

/// Moves every series of one owner to another of the same category. `options` is JSON: `old`, `new` (ids of owners),
/// `category`. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_replace_owner(
    store: u64,
    options: *const u8,
    options_len: u64,
    out_series: *mut u64,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: the caller passes a text and writable pointers, as the header asks.
    unsafe {
        call::value("forcings_store_replace_owner", store, ("out_series", out_series), out_job, || {
            let MoveObject { old, new, category: name } = input::json("options", options, options_len)?;
            let category = category(&name)?;
            Ok(move |store: &Store| store.replace_owner(old, new, category))
        })
    }
}

/// Removes the series that match `filter` (see `forcings_store_list`): all of them or none. The filter `{}` matches every
/// series. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_remove_matching(
    store: u64,
    filter: *const u8,
    filter_len: u64,
    out_series: *mut u64,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: the caller passes a text and writable pointers, as the header asks.
    unsafe {
        call::value("forcings_store_remove_matching", store, ("out_series", out_series), out_job, || {
            let filter = input::json::<FilterObject>("filter", filter, filter_len)?.into_filter()?;
            Ok(move |store: &Store| store.remove_matching(&filter))
        })
    }
}

/// Removes every series, or with `owner` (JSON: `id`, `category`; null and 0 for none) every series of that owner. See
/// `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_clear(
    store: u64,
    owner: *const u8,
    owner_len: u64,
    out_series: *mut u64,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: the caller passes a text and writable pointers, as the header asks.
    unsafe {
        call::value("forcings_store_clear", store, ("out_series", out_series), out_job, || {
            let owner = if owner.is_null() && owner_len == 0 { None } else { Some(owner_key(owner, owner_len)?) };
            Ok(move |store: &Store| match owner {
                Some((id, category)) => store.clear_owner(id, category),
                None => store.clear(),
            })
        })
    }
}

/// # Safety
/// As `input::json`.
unsafe fn owner_key(owner: *const u8, owner_len: u64) -> Result<(i64, OwnerCategory)> {
    // SAFETY: the caller's promise.
    let key = unsafe { input::json::<OwnerKeyObject>("owner", owner, owner_len) }?;
    Ok((key.id, category(&key.category)?))
}

/// A copy keeps the category of its source, which never changes: that is compared first.
fn copy(store: &Store, id: SeriesId, owner: &Owner, name: Option<&str>) -> Result<i64> {
    let sources = store.list(&Filter { ids: Some(vec![id]), ..Filter::default() })?;
    if let Some(source) = sources.first().filter(|source| source.owner.category != owner.category) {
        return Err(Error::invalid(format!(
            "series {id} belongs to a {}; its copy cannot belong to a {}",
            source.owner.category.name(),
            owner.category.name()
        )));
    }
    store.copy_series(id, owner.id, &owner.owner_type, name).map(|copy| copy.0)
}
