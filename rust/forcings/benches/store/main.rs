//! Writing to a store and reading from it, against the crate `infrastore-core` 0.15.1 where `make bench` built its program,
//! against netCDF-C, and against SQLite alone. Arguments name parts: `bulk`, `single`, `read`, `associations`.

mod associations;
#[path = "../support/mod.rs"]
mod support;

use forcings::store::{CreateOptions, Filter, OpenOptions, Store};
use forcings::{Error, Result};
use serde_json::json;
use std::path::Path;
use support::checksum::{bits_of_bytes, Checksum};
use support::{median, peer, series_bytes, single, timed, wanted, Row};

const COLUMNS: usize = 1_000;
const STEPS: usize = 8_760;
const ROUNDS: usize = 5;
/// Series that are read at once.
const READ: usize = 100;
const PEER: &str = "infrastore-core 0.15.1";

fn main() -> Result<()> {
    let folder = tempfile::tempdir().map_err(|e| Error::io(std::env::temp_dir(), e))?;
    let columns: Vec<Vec<u8>> = (0..COLUMNS).map(|series| series_bytes(series, STEPS)).collect();
    if wanted("bulk") {
        bulk(folder.path(), &columns)?;
    }
    if wanted("single") {
        one_by_one(folder.path(), &columns)?;
    }
    if wanted("read") {
        read(folder.path(), &columns)?;
    }
    drop(columns);
    if wanted("associations") {
        associations::measure(folder.path())?;
    }
    Ok(())
}

/// One call for all series, and the flush; hashes and catalog included.
fn bulk(folder: &Path, columns: &[Vec<u8>]) -> Result<()> {
    let rows: Vec<f64> = (0..STEPS).flat_map(|step| columns.iter().map(move |column| double(column, step))).collect();
    let expected = checksum_by_step(columns);
    let (mut ours, mut peers, mut netcdf) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let path = folder.join("ours.nc");
        let store = Store::create(&path, &CreateOptions { overwrite: true, ..CreateOptions::default() })?;
        ours.push(timed(|| add_all(&store, columns).and_then(|()| store.flush()))?.0);
        store.close()?;
        let path = folder.join("peer.h5");
        let request = json!({"operation": "bulk_add", "path": path, "columns": COLUMNS, "length": STEPS});
        if let Some(answer) = peer("infrastore", &request) {
            assert_eq!(answer.checksum, expected, "the peer writes the same values");
            peers.push(answer.seconds);
        }
        let path = folder.join("netcdf.nc");
        let write = || {
            put(&path, &rows).expect("netCDF-C writes a variable");
            Ok(())
        };
        netcdf.push(timed(write)?.0);
    }
    let size = |name: &str| std::fs::metadata(folder.join(name)).map_or(0, |meta| meta.len());
    let sizes = |peer: &str| [("ours_bytes", size("ours.nc").into()), ("peer_bytes", size(peer).into())];
    let row = format!("bulk add, {COLUMNS} x {STEPS} f64, deflate 3 and shuffle, on disk");
    let row = Row { area: "store", row: &row, ours_s: median(ours), ..Row::default() };
    if !peers.is_empty() {
        Row { peer: Some((PEER, median(peers))), goal_ratio_peer: Some(5.0), ..row }.print(&sizes("peer.h5"));
    }
    Row { peer: Some(("netcdf-c nc_put_var", median(netcdf))), ..row }.print(&sizes("netcdf.nc"));
    Ok(())
}

/// A call for each series, without a transaction and in one.
fn one_by_one(folder: &Path, columns: &[Vec<u8>]) -> Result<()> {
    let bulk = Store::create(folder.join("bulk.nc"), &CreateOptions::default())?;
    let (bound, ()) = timed(|| add_all(&bulk, columns).and_then(|()| bulk.flush()))?;
    for (row, transaction) in [("single adds, then flush", false), ("single adds in a transaction", true)] {
        let path = folder.join("single.nc");
        let store = Store::create(&path, &CreateOptions { overwrite: true, ..CreateOptions::default() })?;
        let work = || -> Result<()> {
            if transaction {
                store.begin()?;
            }
            for (series, bytes) in columns.iter().enumerate() {
                store.add(&single(series + 1, "load", bytes, &[STEPS])?)?;
            }
            if transaction {
                store.commit()?;
            }
            store.flush()
        };
        let (seconds, ()) = timed(work)?;
        store.close()?;
        let row = format!("{row}, {COLUMNS} x {STEPS} f64, against one bulk add");
        Row { area: "store", row: &row, ours_s: seconds, bound_s: Some(bound), ..Row::default() }.print(&[]);
    }
    Ok(())
}

/// Whole series, evenly spaced among the owners, in one call.
fn read(folder: &Path, columns: &[Vec<u8>]) -> Result<()> {
    let path = folder.join("read.nc");
    let store = Store::create(&path, &CreateOptions::default())?;
    add_all(&store, columns)?;
    store.close()?;
    let theirs = folder.join("read.h5");
    peer("infrastore", &json!({"operation": "bulk_add", "path": theirs, "columns": COLUMNS, "length": STEPS}));
    let (mut ours, mut peers) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let store = Store::open(&path, &OpenOptions { read_only: true, durable: false })?;
        let rows = store.list(&Filter::default())?;
        let ids: Vec<_> = (0..READ).map(|k| rows[k * rows.len() / READ].id).collect();
        let (seconds, sum) = timed(|| {
            let mut sum = Checksum::default();
            for (k, series) in store.read_many(&ids)?.iter().enumerate() {
                sum.add(k, bits_of_bytes(series.values.bytes(), 8));
            }
            Ok(sum.hex())
        })?;
        ours.push(seconds);
        if let Some(answer) = peer("infrastore", &json!({"operation": "read_many", "path": theirs, "count": READ})) {
            assert_eq!(answer.checksum, sum, "both read the same values");
            peers.push(answer.seconds);
        }
    }
    let row = format!("read {READ} of {COLUMNS} series x {STEPS} f64 at once");
    let peers = (!peers.is_empty()).then(|| (PEER, median(peers)));
    let goal = peers.map(|_| 4.0);
    let row =
        Row { area: "store", row: &row, ours_s: median(ours), peer: peers, goal_ratio_peer: goal, ..Row::default() };
    row.print(&[]);
    Ok(())
}

fn add_all(store: &Store, columns: &[Vec<u8>]) -> Result<()> {
    let numbered = columns.iter().enumerate();
    let series =
        numbered.map(|(series, bytes)| single(series + 1, "load", bytes, &[STEPS])).collect::<Result<Vec<_>>>()?;
    store.add_bulk(&series).map(drop)
}

/// The same values by netCDF-C, in the same chunks and filters.
fn put(path: &Path, rows: &[f64]) -> std::result::Result<(), netcdf::Error> {
    let mut file = netcdf::create(path)?;
    file.add_dimension("time", STEPS)?;
    file.add_dimension("column", COLUMNS)?;
    let mut variable = file.add_variable::<f64>("load", &["time", "column"])?;
    variable.set_chunking(&[1, COLUMNS])?;
    variable.set_compression(3, true)?;
    variable.put_values(rows, ..)
}

fn double(column: &[u8], step: usize) -> f64 {
    f64::from_le_bytes(column[8 * step..][..8].try_into().expect("8 bytes"))
}

fn checksum_by_step(columns: &[Vec<u8>]) -> String {
    let mut sum = Checksum::default();
    for column in columns {
        column.chunks_exact(8).enumerate().for_each(|(step, value)| sum.add(step, bits_of_bytes(value, 8)));
    }
    sum.hex()
}
