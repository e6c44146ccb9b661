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
use crate::store::{CreateOptions, Filter, OpenOptions, Store};
use crate::time::{Period, UnixMillis};
use crate::{ErrorKind, Result};

/// 2024-01-01T00:00:00Z.
const START: UnixMillis = UnixMillis(1_704_067_200_000);

/// Four values from `n`.
fn ramp(n: u32) -> Array {
    let n = f64::from(n);
    Array::from_f64(vec![4], &[n, n + 1.0, n + 2.0, n + 3.0]).unwrap()
}

fn add(store: &Store, owner: i64, name: &str, values: &Array) -> SeriesId {
    let owner = Owner::component(owner, "Bus");
    store.add(&NewSeries::single(owner, name, START, Period::hours(1), values.view())).unwrap()
}

fn all(store: &Store) -> Vec<SeriesInfo> {
    store.list(&Filter::default()).unwrap()
}

fn holds(store: &Store, values: &Array) -> bool {
    store.shared().arrays().unwrap().contains(&values.view().hash())
}

/// Runs SQL behind the store's back.
fn sql(store: &Store, text: &str) {
    let run = |session: &Session| {
        session.catalog().connection().execute_batch(text).unwrap();
        Ok(())
    };
    store.shared().look(run).unwrap();
}

/// A store in memory, and two on disk.
fn stores() -> (tempfile::TempDir, [Store; 3]) {
    let dir = tempfile::tempdir().unwrap();
    let on_disk = |name: &str, durable: bool| {
        let options = CreateOptions { durable, ..CreateOptions::default() };
        Store::create(dir.path().join(name), &options).unwrap()
    };
    let stores = [Store::memory().unwrap(), on_disk("a.nc", false), on_disk("b.nc", true)];
    (dir, stores)
}

fn reading() -> OpenOptions {
    OpenOptions { read_only: true, durable: false }
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
