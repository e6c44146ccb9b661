//! Epochs of gridded files, opening included, against the crate `earthsciio` 0.2.0, netCDF4-python and zarr-python where
//! `make bench` prepared them, and against the bare loop over the same chunks. `make bench` also makes the files and says
//! where they are (`FORCINGS_BENCH_DATA`); without them nothing is measured. Arguments name parts: `epochs`, `window`,
//! `tiles`, `classic`, `zarr`, `memory`.

mod bare;
mod epochs;
mod memory;
mod peers;
#[path = "../support/mod.rs"]
mod support;

use epochs::{Case, Goals};
use forcings::Result;
use std::path::PathBuf;
use support::wanted;

const EPOCHS: Case = Case {
    title: "NetCDF-4, a chunk for each level, deflate and shuffle",
    format: "netcdf",
    folder: "epochs",
    records_per_file: 1,
    window: &[],
    goals: Some(Goals { earthsciio: 4.0, python: 5.0, bound: 1.0 / 0.9 }),
};
const CASES: [(&str, Case); 5] = [
    ("epochs", EPOCHS),
    // One per cent of the grid each.
    ("window", Case { window: &[("lev", 3, 4), ("lat", 120, 222), ("lon", 200, 363)], goals: None, ..EPOCHS }),
    (
        "tiles",
        Case {
            title: "NetCDF-4, chunks of 91 x 144, deflate and shuffle",
            folder: "tiles",
            records_per_file: 8,
            window: &[("lat", 100, 136), ("lon", 150, 208)],
            goals: None,
            ..EPOCHS
        },
    ),
    (
        "classic",
        Case { title: "NetCDF classic (64-bit offset)", folder: "classic", records_per_file: 8, goals: None, ..EPOCHS },
    ),
    (
        "zarr",
        Case {
            title: "Zarr v3, a chunk for each level, zstd",
            format: "zarr",
            folder: "zarr",
            records_per_file: 24,
            goals: None,
            ..EPOCHS
        },
    ),
];

fn main() -> Result<()> {
    let Some(data) = std::env::var_os("FORCINGS_BENCH_DATA").map(PathBuf::from) else {
        eprintln!("providers: FORCINGS_BENCH_DATA does not say where the files are; `make bench` makes them");
        return Ok(());
    };
    // First, before memory that was used once counts as taken.
    if wanted("memory") {
        memory::measure(&EPOCHS, &data)?;
    }
    CASES.iter().filter(|(name, _)| wanted(name)).try_for_each(|(_, case)| case.measure(&data))
}
