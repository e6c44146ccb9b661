//! Tests of the operations; what they share.

pub(in crate::store) mod change;
mod compact;
pub(in crate::store) mod maintenance;
mod persist;
pub(in crate::store) mod relations;
pub(in crate::store) mod rows;

use crate::array::Array;
use crate::series::{Features, NewSeries, Owner, OwnerCategory, SeriesId, SeriesInfo};
use crate::store::session::Session;
use crate::store::tests::{add, all, ramp, reading, sql, stores, START};
use crate::store::{CreateOptions, Filter, OpenOptions, Store};
use crate::time::{Period, UnixMillis};
use crate::{ErrorKind, Result};

fn holds(store: &Store, values: &Array) -> bool {
    store.shared().arrays().unwrap().contains(&values.view().hash())
}

fn kind<T: std::fmt::Debug>(result: Result<T>) -> ErrorKind {
    result.unwrap_err().kind()
}

/// A store with one series, open for reading.
fn read_only() -> (tempfile::TempDir, Store, SeriesId) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let store = Store::create(&path, &CreateOptions::default()).unwrap();
    let id = add(&store, 1, "load", &ramp(0));
    store.close().unwrap();
    let store = Store::open(&path, &reading()).unwrap();
    (dir, store, id)
}
