//! A catalog of a million rows over a thousand arrays, against the same rows in the same tables and indexes of SQLite
//! alone, and a listing of one owner.

use crate::support::{median, peak_rss, reset_peak_rss, series_bytes, single, timed, Row};
use forcings::store::{CreateOptions, Filter, Store};
use forcings::Result;
use rusqlite::{params, Connection, OpenFlags};
use std::path::{Path, PathBuf};
use std::time::Instant;

const ROWS: usize = 1_000_000;
const ARRAYS: usize = 1_000;
const STEPS: usize = 24;
/// Series of one owner.
const PER_OWNER: usize = 100;
/// Rows of one call; all calls are one transaction.
const BATCH: usize = 10_000;
/// A step of so many rows visits each of them once.
const PRIME: usize = 2_654_435_761;
/// Seconds that a listing of one owner may take.
const LISTING_S: f64 = 5e-3;

const INSERT: &str = "
INSERT INTO time_series_associations
    (id, owner_id, owner_type, owner_category, time_series_type, name, initial_timestamp, resolution, length, dtype,
     element_shape, data_hash, features_hash)
VALUES (?1, ?2, 'Generator', 'Component', 'SingleTimeSeries', ?3, '2024-01-01T00:00:00+00:00', 'PT1H', ?4, 'f64', '[]',
     ?5, ?6)";

pub(crate) fn measure(folder: &Path) -> Result<()> {
    for (order, shuffled) in [("ascending", false), ("shuffled", true)] {
        let path = folder.join(format!("{order}.nc"));
        reset_peak_rss();
        let (ours, store) = add(&path, shuffled)?;
        let memory = peak_rss();
        if !shuffled {
            list(&store)?;
        }
        store.close()?;
        let bare = bare(&path, &folder.join("bare.sqlite"), shuffled).expect("SQLite takes the rows");
        let row = format!("add {ROWS} associations over {ARRAYS} arrays, owners {order}");
        // Half the speed of SQLite alone is twice its time.
        let goal = (!shuffled).then_some(2.0);
        let row = Row {
            area: "store",
            row: &row,
            ours_s: ours,
            bound_s: Some(bare),
            goal_ratio_bound: goal,
            ..Row::default()
        };
        row.print(&[("bound", "SQLite alone".into()), ("peak_rss_bytes", memory.into())]);
    }
    Ok(())
}

/// The rows in the order in which they are added: all by owner, or each far from the one before.
fn order(shuffled: bool) -> impl Iterator<Item = usize> {
    (0..ROWS).map(move |k| if shuffled { k * PRIME % ROWS } else { k })
}

fn add(path: &Path, shuffled: bool) -> Result<(f64, Store)> {
    let arrays: Vec<Vec<u8>> = (0..ARRAYS).map(|series| series_bytes(series, STEPS)).collect();
    let store = Store::create(path, &CreateOptions::default())?;
    let rows: Vec<usize> = order(shuffled).collect();
    let begin = Instant::now();
    store.begin()?;
    for batch in rows.chunks(BATCH) {
        let item = |&row: &usize| {
            single(row / PER_OWNER + 1, &format!("s{}", row % PER_OWNER), &arrays[row % ARRAYS], &[STEPS])
        };
        store.add_bulk(&batch.iter().map(item).collect::<Result<Vec<_>>>()?)?;
    }
    store.commit()?;
    Ok((begin.elapsed().as_secs_f64(), store))
}

fn list(store: &Store) -> Result<()> {
    let mut seconds = Vec::new();
    for k in 0..101 {
        let owner = (k * 97 % (ROWS / PER_OWNER)) as i64 + 1;
        let (time, rows) = timed(|| store.list(&Filter { owner_id: Some(owner), ..Filter::default() }))?;
        assert_eq!(rows.len(), PER_OWNER);
        seconds.push(time);
    }
    let row = format!("list the {PER_OWNER} series of one owner among {ROWS}, against {} ms", LISTING_S * 1e3);
    let (ours_s, bound_s) = (median(seconds), Some(LISTING_S));
    Row { area: "store", row: &row, ours_s, bound_s, goal_ratio_bound: Some(1.0), ..Row::default() }.print(&[]);
    Ok(())
}

/// The time that SQLite takes for the rows, with the tables, the indexes and the settings of a store.
fn bare(store: &Path, path: &Path, shuffled: bool) -> rusqlite::Result<f64> {
    let catalog = PathBuf::from(format!("{}.sqlite", store.display()));
    let from = Connection::open_with_flags(catalog, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let hashes: Vec<Vec<u8>> = {
        let mut statement =
            from.prepare("SELECT data_hash FROM time_series_associations WHERE owner_id <= ?1 ORDER BY owner_id, CAST(substr(name, 2) AS INTEGER)")?;
        let hashes = statement.query_map([(ARRAYS / PER_OWNER) as i64], |row| row.get(0))?;
        hashes.collect::<rusqlite::Result<_>>()?
    };
    let features: Vec<u8> =
        from.query_row("SELECT features_hash FROM time_series_associations LIMIT 1", [], |r| r.get(0))?;
    let schema: Vec<String> = {
        let mut statement = from.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")?;
        let schema = statement.query_map([], |row| row.get(0))?;
        schema.collect::<rusqlite::Result<_>>()?
    };
    let _ = std::fs::remove_file(path);
    let to = Connection::open(path)?;
    to.pragma_update(None, "foreign_keys", true)?;
    to.pragma_update(None, "synchronous", "EXTRA")?;
    to.pragma_update(None, "cache_size", -(64 << 10))?;
    schema.iter().try_for_each(|sql| to.execute_batch(sql))?;
    let begin = Instant::now();
    to.execute_batch("BEGIN IMMEDIATE")?;
    let mut insert = to.prepare(INSERT)?;
    for (id, row) in (1i64..).zip(order(shuffled)) {
        let (owner, name) = (row / PER_OWNER + 1, format!("s{}", row % PER_OWNER));
        insert.execute(params![id, owner as i64, name, STEPS as i64, hashes[row % ARRAYS], features])?;
    }
    to.execute_batch("COMMIT")?;
    Ok(begin.elapsed().as_secs_f64())
}
