//! Sweeps by readers, open and build included, against the crate `infrastore-core` 0.15.1 where `make bench` built its
//! program, and against the bare loop over the same chunks. Each side reads a store that it wrote itself, and sums all
//! that it reads. Arguments name parts: `year`, `long`, `wide`, `vectors`, `dense`, `derived`.

mod bare;
mod columns;
mod forecasts;
#[path = "../support/mod.rs"]
mod support;

use columns::{Case, Goals, Order, Walk};
use forcings::array::DType;
use forcings::{Error, Result};
use support::wanted;

const PEER: &str = "infrastore-core 0.15.1";
const GOALS: Option<Goals> = Some(Goals { one_thread: (5.0, 1.25), read_ahead: (8.0, 1.0) });
const FORWARD: Walk = Walk { order: Order::Forward, window: None, goals: None };
const YEAR: Case = Case {
    columns: 1_000,
    steps: 8_760,
    dtype: DType::F64,
    element_shape: &[],
    rounds: 5,
    walks: &[
        Walk { goals: GOALS, ..FORWARD },
        Walk { order: Order::Reverse, goals: GOALS, ..FORWARD },
        Walk { window: Some((4_344, 744)), ..FORWARD },
        Walk { order: Order::Scattered, ..FORWARD },
    ],
};
const OTHERS: [(&str, Case); 3] = [
    ("long", Case { columns: 50, steps: 35_040, rounds: 3, walks: &[FORWARD], ..YEAR }),
    ("wide", Case { columns: 20_000, steps: 744, rounds: 3, walks: &[FORWARD], ..YEAR }),
    ("vectors", Case { dtype: DType::F32, element_shape: &[3], rounds: 3, walks: &[FORWARD], ..YEAR }),
];

fn main() -> Result<()> {
    let folder = tempfile::tempdir().map_err(|e| Error::io(std::env::temp_dir(), e))?;
    for (name, case) in [("year", YEAR)].into_iter().chain(OTHERS) {
        if wanted(name) {
            case.measure(folder.path())?;
        }
    }
    for (name, derived) in [("dense", false), ("derived", true)] {
        if wanted(name) {
            forecasts::measure(folder.path(), derived)?;
        }
    }
    Ok(())
}
