//! Windows of providers: binding one, sampling several at once, and finding one by coordinate values.

use crate::output::Out;
use crate::provider::{get, insert, NO_ANCHOR};
use crate::sample::ForcingsSample;
use crate::table::ForcingsTable;
use crate::{guard::guard, input, job};
use forcings::dataset::{AxisSelect, CoordWindow, DimWindow, Selection};
use forcings::{Error, Result};
use std::sync::Arc;

/// A provider of the same files or series that gives only `window`, a selection in its wire form.
#[no_mangle]
pub unsafe extern "C" fn forcings_provider_with_window(
    provider: u64,
    window: *const u8,
    window_len: u64,
    out_provider: *mut u64,
) -> i32 {
    guard("forcings_provider_with_window", || {
        // SAFETY: the caller passes a writable pointer and a text, as the header asks.
        let (out, window) =
            unsafe { (Out::new("out_provider", out_provider)?, input::text("window", window, window_len)?) };
        let window = Selection::from_json(window)?;
        out.set(insert(get(provider)?.with_window(window)?));
        Ok(())
    })
}

/// Decodes the data in force at `t` under each window of a list, which is JSON: selections in their wire form. The sample
/// has one member for each window, in their order, as `forcings_provider_with_window` and `forcings_provider_sample_at`
/// would give it; what they have in common is decoded once. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_provider_sample_windows_at(
    provider: u64,
    t: f64,
    windows: *const u8,
    windows_len: u64,
    out_sample: *mut *mut ForcingsSample,
    out_job: *mut u64,
) -> i32 {
    guard("forcings_provider_sample_windows_at", || {
        // SAFETY: the caller passes a writable pointer and a text, as the header asks.
        let (out, list) = unsafe {
            (
                Out::new("out_sample", out_sample)?,
                input::json::<Vec<serde_json::Value>>("windows", windows, windows_len)?,
            )
        };
        let windows: Vec<Selection> = list.iter().map(Selection::from_value).collect::<Result<_>>()?;
        let provider = get(provider)?;
        let decode = move || {
            let members =
                provider.sampler().sample_windows_at(t, &windows)?.into_iter().map(Arc::new).collect::<Vec<_>>();
            let anchor = if members.is_empty() { NO_ANCHOR } else { provider.anchor(t)? };
            Ok(ForcingsSample::several(members, anchor))
        };
        // SAFETY: the caller passes null or a writable pointer, as the header asks.
        unsafe {
            job::run("forcings_provider_sample_windows_at", out_job, decode, move |sample| out.set(sample.into_raw()))
        }
    })
}

/// Finds the cells whose coordinates lie in closed intervals: `names` is a JSON list of coordinates, `bounds` has a lower
/// and an upper one for each. A longitude goes east from the first to the second. The table has one row for each
/// coordinate: `dim`, and in `indices` the cells, counted from 0, unless they are those of `start` up to, not including,
/// `stop`. Opens the file of the first refresh time, and fetches it if it is behind a URL;
/// a provider over a reader has no such coordinates. See `out_job` above.
#[no_mangle]
pub unsafe extern "C" fn forcings_provider_coord_window(
    provider: u64,
    names: *const u8,
    names_len: u64,
    bounds: *const f64,
    n: u64,
    out_table: *mut *mut ForcingsTable,
    out_job: *mut u64,
) -> i32 {
    guard("forcings_provider_coord_window", || {
        // SAFETY: the caller passes a writable pointer, a text and an array, as the header asks.
        let (out, names, bounds) = unsafe {
            (
                Out::new("out_table", out_table)?,
                input::json::<Vec<String>>("names", names, names_len)?,
                input::slice("bounds", bounds, n)?,
            )
        };
        if bounds.len() != 2 * names.len() {
            return Err(Error::invalid(format!("{} bounds for {} coordinates", bounds.len(), names.len())));
        }
        let pairs = names.into_iter().zip(bounds.chunks_exact(2));
        let window = pairs.fold(CoordWindow::new(), |window, (name, b)| window.between(name, b[0], b[1]));
        let provider = get(provider)?;
        let find = move || provider.coord_window(&window);
        // SAFETY: the caller passes null or a writable pointer, as the header asks.
        unsafe {
            job::run("forcings_provider_coord_window", out_job, find, move |window| out.set(cells(&window).into_raw()))
        }
    })
}

fn cells(window: &DimWindow) -> ForcingsTable {
    let dims: Vec<(&str, &AxisSelect)> = window.selectors().collect();
    let run = |axis: &AxisSelect| match axis {
        AxisSelect::Slice { start, stop, .. } => (Some(*start), Some(*stop)),
        _ => (None, None),
    };
    // Positions on an axis in memory fit.
    let list = |axis: &AxisSelect| match axis {
        AxisSelect::Indices(indices) => indices.iter().map(|i| *i as usize).collect(),
        _ => Vec::new(),
    };
    let lists: Vec<Vec<usize>> = dims.iter().map(|(_, axis)| list(axis)).collect();
    ForcingsTable::new(dims.len())
        .texts("dim", dims.iter().map(|(dim, _)| Some(*dim)))
        .counts("start", dims.iter().map(|(_, axis)| run(axis).0))
        .counts("stop", dims.iter().map(|(_, axis)| run(axis).1))
        .integer_lists("indices", lists.iter().map(Vec::as_slice))
}
