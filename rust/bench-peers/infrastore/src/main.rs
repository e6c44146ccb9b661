//! Times the crate `infrastore-core` at the work of our store benchmarks. Requests and answers: see README.md one
//! folder up.

mod arrays;
mod catalog;
mod read;
mod write;

use arrays::Arrays;
use peer_common::{Failure, Run};
use serde::Deserialize;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Deserialize)]
#[serde(tag = "operation", rename_all = "snake_case", deny_unknown_fields)]
enum Request {
    /// Writes `columns` single time series into a new store.
    BulkAdd { path: PathBuf, columns: usize, length: usize, arrays: Option<Arrays> },
    /// Writes `rows` associations over `distinct` arrays into a new store.
    AddAssociations(catalog::AddAssociations),
    /// Lists the associations of one owner.
    ListOwner { path: PathBuf, owner: i64 },
    /// Reads every step of all columns.
    StaticSweep(read::StaticSweep),
    /// Reads `count` whole series, evenly spaced among the owners, at once.
    ReadMany { path: PathBuf, count: usize },
    /// Writes `series` forecasts of `windows` windows a day apart, stored as windows or (`derived`) as single series.
    AddForecasts(write::AddForecasts),
    /// Reads every window of all forecasts.
    ForecastSweep { path: PathBuf },
}

fn answer(request: &Request) -> Result<Run, Failure> {
    match request {
        Request::BulkAdd { path, columns, length, arrays } => {
            write::bulk_add(path, *columns, *length, &arrays.clone().unwrap_or_default())
        }
        Request::AddAssociations(request) => catalog::add_associations(request),
        Request::ListOwner { path, owner } => catalog::list_owner(path, *owner),
        Request::StaticSweep(request) => read::static_sweep(request),
        Request::ReadMany { path, count } => read::read_many(path, *count),
        Request::AddForecasts(request) => write::add_forecasts(request),
        Request::ForecastSweep { path } => read::forecast_sweep(path),
    }
}

fn main() -> ExitCode {
    peer_common::serve("infrastore-core", "0.15.1", answer)
}
