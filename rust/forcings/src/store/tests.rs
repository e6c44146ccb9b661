//! Tests of the store as a whole; what they share.

mod atomicity;
mod bad_input;
mod crash;
mod derived;
mod duplicates;
mod forecasts;
mod irregular;
mod model;
mod pair;
mod reading;
mod rows;
mod transactions;
mod zoning;

use super::*;
use crate::array::{Array, ArrayHash};
use crate::series::{NewSeries, Owner, SeriesData, SeriesId, SeriesInfo, SeriesType};
use crate::time::{Period, UnixMillis};
use crate::ErrorKind;

/// 2024-01-01T00:00:00Z.
pub(in crate::store) const START: UnixMillis = UnixMillis(1_704_067_200_000);
const HOUR: i64 = 3_600_000;

/// `[n, n + 1, n + 2, n + 3]`.
pub(in crate::store) fn ramp(n: u32) -> Array {
    let n = f64::from(n);
    Array::from_f64(vec![4], &[n, n + 1.0, n + 2.0, n + 3.0]).unwrap()
}

fn series<'a>(owner: i64, name: &str, values: &'a Array) -> NewSeries<'a> {
    NewSeries::single(Owner::component(owner, "Bus"), name, START, Period::hours(1), values.view())
}

pub(in crate::store) fn add(store: &Store, owner: i64, name: &str, values: &Array) -> SeriesId {
    store.add(&series(owner, name, values)).unwrap()
}

pub(in crate::store) fn all(store: &Store) -> Vec<SeriesInfo> {
    store.list(&Filter::default()).unwrap()
}

fn names(store: &Store) -> Vec<String> {
    all(store).into_iter().map(|info| info.name).collect()
}

fn holds(store: &Store, hash: ArrayHash) -> bool {
    store.shared().arrays().unwrap().contains(&hash)
}

fn instant(text: &str) -> UnixMillis {
    UnixMillis::from_rfc3339(text).unwrap()
}

fn hour(k: f64) -> UnixMillis {
    UnixMillis(START.0 + (k * HOUR as f64).round() as i64)
}

/// Runs SQL behind the store's back.
pub(in crate::store) fn sql(store: &Store, text: &str) {
    let run = |session: &session::Session| {
        session.catalog().connection().execute_batch(text).unwrap();
        Ok(())
    };
    store.shared().look(run).unwrap();
}

/// Copies both files, as a user may after a flush, and opens the copy.
fn open_copy(store: &Store, folder: &Path) -> Store {
    let copy = folder.join("copy.nc");
    std::fs::copy(store.path(), &copy).unwrap();
    std::fs::copy(super::pair::catalog_path(store.path()), super::pair::catalog_path(&copy)).unwrap();
    Store::open(&copy, &OpenOptions { read_only: true, durable: false }).unwrap()
}

/// Runs one test of this program again, in a process for which permissions hold: as somebody else where this is root. The
/// variable names a path to it. Answers what it printed.
pub(in crate::store) fn rerun_without_privilege(test: &str, variable: &str, path: &Path) -> String {
    use std::os::unix::{fs::MetadataExt, fs::PermissionsExt, process::CommandExt};
    let program = std::env::current_exe().unwrap();
    // Somebody else needs a program that he may run.
    let copy = tempfile::tempdir().unwrap();
    let place = copy.path().join("tests");
    let root = std::fs::metadata(copy.path()).unwrap().uid() == 0;
    let mut child = match root {
        true => {
            std::fs::copy(&program, &place).unwrap();
            std::fs::set_permissions(copy.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
            let mut child = std::process::Command::new(&place);
            child.uid(65_534).gid(65_534);
            child
        }
        false => std::process::Command::new(&program),
    };
    let output = child.args(["--exact", test, "--nocapture"]).env(variable, path).current_dir("/").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let passed = output.status.success() && text.contains("1 passed");
    assert!(passed, "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// A store on disk, and one in memory, for tests that must hold in both.
pub(in crate::store) fn stores() -> (tempfile::TempDir, [Store; 3]) {
    let dir = tempfile::tempdir().unwrap();
    let on_disk = |name: &str, durable: bool| {
        let options = CreateOptions { durable, ..CreateOptions::default() };
        Store::create(dir.path().join(name), &options).unwrap()
    };
    let stores = [Store::memory().unwrap(), on_disk("a.nc", false), on_disk("b.nc", true)];
    (dir, stores)
}

fn writable() -> OpenOptions {
    OpenOptions::default()
}

pub(in crate::store) fn reading() -> OpenOptions {
    OpenOptions { read_only: true, durable: false }
}
