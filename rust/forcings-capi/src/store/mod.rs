//! Stores: the handle, and what the exported functions share. `lifecycle`, `transaction`, `add`, `read` and `remove` export
//! the calls of these names; `item` is a series on its way in.

mod add;
mod item;
mod lifecycle;
mod read;
mod remove;
mod transaction;

pub use add::forcings_store_add;
pub use item::{forcings_series_check, ForcingsSeries};
pub use lifecycle::{
    forcings_store_close, forcings_store_create, forcings_store_flush, forcings_store_memory, forcings_store_open,
};
pub use read::{forcings_store_has, forcings_store_list, forcings_store_read};
pub use remove::forcings_store_remove;
pub use transaction::{forcings_store_begin, forcings_store_commit, forcings_store_rollback};

use crate::handle::{self, Object};
use crate::input;
use crate::output::Out;
use crate::table::ForcingsTable;
use forcings::series::SeriesId;
use forcings::store::Store;
use forcings::Result;
use std::sync::Arc;

pub(crate) struct StoreObject(pub(crate) Store);

impl Object for StoreObject {
    const NOUN: &'static str = "store";
    const CLOSE_ORDER: u8 = 3;

    fn close(&self) -> Result<()> {
        self.0.close()
    }
}

pub(crate) fn get(store: u64) -> Result<Arc<StoreObject>> {
    handle::get(store)
}

/// # Safety
/// A pointer that is not null must be valid for reads of `n` numbers.
pub(crate) unsafe fn series_ids(ids: *const i64, n: u64) -> Result<Vec<SeriesId>> {
    // SAFETY: the caller's promise.
    Ok(unsafe { input::slice("ids", ids, n) }?.iter().map(|&id| SeriesId(id)).collect())
}

type TableOut = Out<*mut ForcingsTable>;

/// Two tables on their way out.
pub(crate) fn set_tables(outs: &(TableOut, TableOut), tables: (ForcingsTable, ForcingsTable)) {
    outs.0.set(tables.0.into_raw());
    outs.1.set(tables.1.into_raw());
}
