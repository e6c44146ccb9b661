//! Adding 1,000 series of 8,760 doubles to a store on disk in one call, hashes and catalog included, against one write of
//! the same values through netCDF-C with the same chunks and filters. One JSON object per line.

use forcings::array::{ArrayView, DType};
use forcings::series::{NewSeries, Owner};
use forcings::store::{CreateOptions, Store};
use forcings::time::{Period, UnixMillis};
use forcings::{Error, Result};
use std::path::Path;
use std::time::Instant;

const COLUMNS: usize = 1_000;
const STEPS: usize = 8_760;
const ROUNDS: usize = 5;

fn main() -> Result<()> {
    let folder = tempfile::tempdir().map_err(|e| Error::io(std::env::temp_dir(), e))?;
    let columns: Vec<Vec<f64>> = (0..COLUMNS).map(load).collect();
    let bytes: Vec<Vec<u8>> = columns.iter().map(|c| c.iter().flat_map(|v| v.to_le_bytes()).collect()).collect();
    let rows: Vec<f64> = (0..STEPS).flat_map(|step| columns.iter().map(move |column| column[step])).collect();
    let (mut ours, mut peer) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let path = folder.path().join(format!("ours{round}.nc"));
        let begin = Instant::now();
        let store = add(&path, &bytes)?;
        ours.push(begin.elapsed().as_secs_f64());
        let path = folder.path().join(format!("peer{round}.nc"));
        let begin = Instant::now();
        put(&path, &rows).expect("netCDF-C writes a variable");
        peer.push(begin.elapsed().as_secs_f64());
        drop(store);
    }
    let (ours, peer) = (median(ours), median(peer));
    println!("bulk add {ours:.3} s, netcdf-c {peer:.3} s, ratio {:.2}", peer / ours);
    println!(
        "{}",
        serde_json::json!({
            "area": "store", "row": format!("bulk add, {COLUMNS} x {STEPS} f64, deflate 3 and shuffle, on disk"),
            "ours_s": ours, "peer": "netcdf-c nc_put_var", "peer_s": peer, "bound_s": null,
            "goal_ratio_peer": 2.0, "goal_ratio_bound": null,
        })
    );
    Ok(())
}

fn add(path: &Path, columns: &[Vec<u8>]) -> Result<Store> {
    let store = Store::create(path, &CreateOptions::default())?;
    let (start, hour) = (UnixMillis(0), Period::hours(1));
    let series: Vec<NewSeries<'_>> = columns
        .iter()
        .enumerate()
        .map(|(i, bytes)| {
            let values = ArrayView::new(DType::F64, &[STEPS], bytes)?;
            Ok(NewSeries::single(Owner::component(i as i64, "Load"), "load", start, hour, values))
        })
        .collect::<Result<_>>()?;
    store.add_bulk(&series)?;
    store.close()?;
    Ok(store)
}

fn put(path: &Path, rows: &[f64]) -> std::result::Result<(), netcdf::Error> {
    let mut file = netcdf::create(path)?;
    file.add_dimension("time", STEPS)?;
    file.add_dimension("column", COLUMNS)?;
    let mut variable = file.add_variable::<f64>("load", &["time", "column"])?;
    variable.set_chunking(&[1, COLUMNS])?;
    variable.set_compression(3, true)?;
    variable.put_values(rows, ..)
}

/// A year of an hourly load in MW to the kW: a daily and a yearly cycle, and noise.
fn load(column: usize) -> Vec<f64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(column as u64 + 1);
    let base = 20.0 + column as f64 % 137.0;
    let value = |hour: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let noise = (state >> 40) as f64 / (1 << 24) as f64;
        let day = (hour as f64 / 24.0 * std::f64::consts::TAU).sin();
        let year = (hour as f64 / 8760.0 * std::f64::consts::TAU).cos();
        ((base * (1.0 + 0.3 * day + 0.2 * year) + noise) * 1000.0).round() / 1000.0
    };
    (0..STEPS).map(value).collect()
}

fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}
