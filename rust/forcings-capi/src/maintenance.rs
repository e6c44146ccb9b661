//! Checking, compacting and copying a store, and what it is doing now.

use crate::output::Out;
use crate::table::ForcingsTable;
use crate::{call, guard::guard, input, store};
use forcings::series::SeriesId;
use forcings::store::{Finding, Store, VerifyReport};

/// Reads every array and row, and reports what is wrong.
///
/// `out_counts` receives one row: `arrays`, `series` (what was examined), `unused_variables`. `out_findings` receives one
/// row per finding: `kind`, `text`. `out_series` receives one line per finding and series that it is about, the first ten
/// of each: `finding` (from 0), `id`. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_verify(
    store: u64,
    out_counts: *mut *mut ForcingsTable,
    out_findings: *mut *mut ForcingsTable,
    out_series: *mut *mut ForcingsTable,
    out_job: *mut u64,
) -> i32 {
    let places = [("out_counts", out_counts), ("out_findings", out_findings), ("out_series", out_series)];
    // SAFETY: the caller passes writable pointers, as the header asks.
    unsafe {
        call::tables("forcings_store_verify", store, places, out_job, || {
            Ok(|store: &Store| store.verify().map(|report| report_tables(&report)))
        })
    }
}

/// The grids of the regular series, one for each resolution: a table with the columns `resolution_ms` or
/// `resolution_months`, `initial_ms`, `length`, `series` (how many). Series of one resolution on different grids are the
/// status `Integrity`. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_check(
    store: u64,
    out_table: *mut *mut ForcingsTable,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: the caller passes writable pointers, as the header asks.
    unsafe {
        call::table("forcings_store_check", store, out_table, out_job, || {
            Ok(|store: &Store| {
                let grids = store.check_consistency()?;
                Ok(ForcingsTable::new(grids.len())
                    .periods(["resolution_ms", "resolution_months"], grids.iter().map(|g| Some(g.resolution)))
                    .integers("initial_ms", grids.iter().map(|g| Some(g.initial.0)))
                    .counts("length", grids.iter().map(|g| Some(g.length)))
                    .counts("series", grids.iter().map(|g| Some(g.series))))
            })
        })
    }
}

/// Deletes what is left of the features of removed series, and counts the free columns of the array file: a table with one
/// row, `slots_reclaimed`, `feature_sets_reclaimed`. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_compact(
    store: u64,
    out_table: *mut *mut ForcingsTable,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: the caller passes writable pointers, as the header asks.
    unsafe {
        call::table("forcings_store_compact", store, out_table, out_job, || {
            Ok(|store: &Store| {
                let report = store.compact()?;
                Ok(ForcingsTable::new(1)
                    .counts("slots_reclaimed", std::iter::once(Some(report.slots_reclaimed)))
                    .counts("feature_sets_reclaimed", std::iter::once(Some(report.feature_sets_reclaimed))))
            })
        })
    }
}

/// Writes the array file anew with the arrays that series have, and puts it in the place of the old one: a table with one
/// row, `feature_sets_reclaimed`, `bytes_before`, `bytes_after`, the last two of the array file. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_compact_physical(
    store: u64,
    out_table: *mut *mut ForcingsTable,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: the caller passes writable pointers, as the header asks.
    unsafe {
        call::table("forcings_store_compact_physical", store, out_table, out_job, || {
            Ok(|store: &Store| {
                let report = store.compact_physical()?;
                Ok(ForcingsTable::new(1)
                    .counts("feature_sets_reclaimed", std::iter::once(Some(report.feature_sets_reclaimed)))
                    .counts("bytes_before", std::iter::once(Some(report.bytes_before)))
                    .counts("bytes_after", std::iter::once(Some(report.bytes_after))))
            })
        })
    }
}

/// Writes the store to `path` as a pair of its own. With `overwrite` 1 it replaces the store that is there. See `out_job`
/// above.
#[no_mangle]
pub unsafe extern "C" fn forcings_store_persist(
    store: u64,
    path: *const u8,
    path_len: u64,
    overwrite: u8,
    out_job: *mut u64,
) -> i32 {
    // SAFETY: the caller passes a text, and null or a writable pointer, as the header asks.
    unsafe {
        call::nothing("forcings_store_persist", store, out_job, || {
            let path = input::text("path", path, path_len)?.to_owned();
            Ok(move |store: &Store| store.persist(path, overwrite != 0))
        })
    }
}

/// What a store is doing, without waiting for it: `out_known` receives 0 while another call uses it; otherwise 1,
/// `out_series` the number of series, and `out_in_transaction` whether a transaction is open (0 or 1).
#[no_mangle]
pub unsafe extern "C" fn forcings_store_state(
    store: u64,
    out_known: *mut u8,
    out_series: *mut u64,
    out_in_transaction: *mut u8,
) -> i32 {
    guard("forcings_store_state", || {
        // SAFETY: the caller passes writable pointers, as the header asks.
        let (known, series, in_transaction) = unsafe {
            (
                Out::new("out_known", out_known),
                Out::new("out_series", out_series),
                Out::new("out_in_transaction", out_in_transaction),
            )
        };
        let (known, series, in_transaction) = (known?, series?, in_transaction?);
        if let Some(state) = store::get(store)?.0.state()? {
            known.set(1);
            series.set(state.series);
            in_transaction.set(u8::from(state.in_transaction));
        }
        Ok(())
    })
}

fn report_tables(report: &VerifyReport) -> [ForcingsTable; 3] {
    let one = |n: u64| std::iter::once(Some(n));
    let counts = ForcingsTable::new(1)
        .counts("arrays", one(report.arrays))
        .counts("series", one(report.series))
        .counts("unused_variables", one(report.unused_variables));
    let texts: Vec<String> = report.findings.iter().map(Finding::to_string).collect();
    let findings = ForcingsTable::new(texts.len())
        .texts("kind", report.findings.iter().map(|finding| Some(kind(finding))))
        .texts("text", texts.iter().map(|text| Some(text.as_str())));
    let lines: Vec<(i64, i64)> = report
        .findings
        .iter()
        .enumerate()
        .flat_map(|(row, finding)| series_of(finding).iter().map(move |id| (row as i64, id.0)))
        .collect();
    let series = ForcingsTable::new(lines.len())
        .integers("finding", lines.iter().map(|(row, _)| Some(*row)))
        .integers("id", lines.iter().map(|(_, id)| Some(*id)));
    [counts, findings, series]
}

fn kind(finding: &Finding) -> &'static str {
    match finding {
        Finding::HashMismatch { .. } => "hash_mismatch",
        Finding::UnreadableArray { .. } => "unreadable_array",
        Finding::MissingArray { .. } => "missing_array",
        Finding::UnreferencedArray { .. } => "unreferenced_array",
        Finding::DamagedRow { .. } => "damaged_row",
        Finding::DamagedCatalog { .. } => "damaged_catalog",
        Finding::Generations { .. } => "generations",
        _ => "other",
    }
}

fn series_of(finding: &Finding) -> &[SeriesId] {
    match finding {
        Finding::HashMismatch { series, .. } | Finding::UnreadableArray { series, .. } => series,
        Finding::MissingArray { id, .. } => std::slice::from_ref(id),
        _ => &[],
    }
}
