//! Many associations over few arrays: the catalog's side of a store.

use crate::arrays::Arrays;
use crate::write::single;
use infrastore_core::{AddRequest, CatalogMode, Compression, ListFilter, Store, TimeSeriesData};
use peer_common::{Checksum, Failure, Run};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Row r belongs to owner `r / per_owner + 1`, is named `s` and `r % per_owner`, and holds the array of series
/// `r % distinct`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddAssociations {
    path: PathBuf,
    rows: usize,
    distinct: usize,
    length: usize,
    per_owner: usize,
    /// Rows of one call; all calls are one transaction.
    batch: usize,
    /// Adds row `k · 2654435761 modulo rows` as the k-th, instead of row k.
    #[serde(default)]
    shuffled: bool,
}

pub fn add_associations(request: &AddAssociations) -> Result<Run, Failure> {
    const PRIME: usize = 2_654_435_761;
    let AddAssociations { path, rows, distinct, length, per_owner, batch, shuffled } = request;
    if *rows == 0 || *rows % PRIME == 0 || [distinct, length, per_owner, batch].contains(&&0) {
        return Err("rows, distinct, length, per_owner and batch must be positive".into());
    }
    let arrays = Arrays::default();
    let arrays = (0..*distinct).map(|k| arrays.array(k, &[*length], |step| step)).collect::<Result<Vec<_>, _>>()?;
    let mut run = Run::default();
    let mut store =
        run.part("create", |_| Store::create_replacing(path, Compression::default(), CatalogMode::Attached))?;
    let mut add = 0.0;
    run.part("begin", |_| store.begin_transaction())?;
    for first in (0..*rows).step_by(*batch) {
        let items: Vec<AddRequest> = (first..(first + batch).min(*rows))
            .map(|k| if *shuffled { k * PRIME % rows } else { k })
            .map(|row| {
                count(&mut run.checksum, row / per_owner + 1, row % per_owner);
                named(row / per_owner, row % per_owner, single(row, arrays[row % distinct].clone()))
            })
            .collect();
        let begin = Instant::now();
        store.add_time_series_bulk(items)?;
        add += begin.elapsed().as_secs_f64();
    }
    run.parts.push(("add", add));
    run.part("commit", |_| store.commit_transaction())?;
    run.part("flush", |_| store.flush())?;
    run.facts.push(("rows", *rows as u64));
    run.facts.push(("arrays", store.num_distinct_arrays()? as u64));
    run.facts.push(("catalog_bytes", std::fs::metadata(infrastore_core::catalog_sqlite_path(path))?.len()));
    Ok(run.total(&["begin", "add", "commit", "flush"]))
}

pub fn list_owner(path: &Path, owner: i64) -> Result<Run, Failure> {
    let mut run = Run::default();
    let store = run.part("open", |_| Store::open(path, true))?;
    let rows = run.part("list", |_| store.list_metadata(ListFilter::new().owner_id(owner)))?;
    for row in &rows {
        let number = row.name.trim_start_matches('s').parse()?;
        count(&mut run.checksum, usize::try_from(row.owner_id)?, number);
    }
    run.facts.push(("rows", rows.len() as u64));
    Ok(run.total(&["list"]))
}

fn named(owner: usize, number: usize, mut request: AddRequest) -> AddRequest {
    request.owner_id = owner as i64 + 1;
    if let TimeSeriesData::SingleTimeSeries(series) = &mut request.data {
        series.name = format!("s{number}");
    }
    request
}

/// The checksum of a listing: its owners and the numbers in its names.
fn count(checksum: &mut Checksum, owner: usize, number: usize) {
    checksum.add(owner, number as u64 + 1);
}
