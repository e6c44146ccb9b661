//! Sweeps over forecasts, each stored as an array of windows or derived from a single series.

use crate::bare::Bare;
use crate::support::checksum::{bits_of_bytes, Checksum};
use crate::support::{generator, median, peer, series_bytes, single, timed, Row, HOUR, START};
use crate::PEER;
use forcings::array::{ArrayView, DType};
use forcings::readers::{ForecastReader, DEFAULT_READAHEAD};
use forcings::series::{NewSeries, Owner, SeriesData, SeriesType, Windows};
use forcings::store::{CreateOptions, Filter, OpenOptions, Store};
use forcings::time::Period;
use forcings::Result;
use serde_json::json;
use std::path::Path;

const SERIES: usize = 1_000;
const WINDOWS: usize = 365;
/// Steps of a window, and from one window to the next.
const HORIZON: usize = 24;
const DAY: Period = Period::hours(HORIZON as i32);
const ROUNDS: usize = 3;
/// How many times faster than the peer, with and without readahead.
const GOAL: f64 = 4.0;

/// Writes the store of each side and times its sweep.
pub(crate) fn measure(folder: &Path, derived: bool) -> Result<()> {
    let (ours, theirs) = (folder.join("forecasts.nc"), folder.join("forecasts.h5"));
    let kind = if derived {
        write_derived(&ours)?;
        "derived from single series"
    } else {
        write_dense(&ours)?;
        "stored as windows"
    };
    let request = json!({
        "operation": "add_forecasts", "path": theirs, "series": SERIES, "windows": WINDOWS, "horizon": HORIZON,
        "derived": derived,
    });
    let expected = peer("infrastore", &request).map(|answer| answer.checksum);
    let bare = Bare::new(&ours, DType::F64.width())?;
    let [mut bound, mut alone, mut ahead, mut peers]: [Vec<f64>; 4] = Default::default();
    for _ in 0..ROUNDS {
        bound.push(timed(|| bare.run(&(0..HORIZON * WINDOWS)))?.0);
        for (seconds, readahead) in [(&mut alone, 0), (&mut ahead, DEFAULT_READAHEAD)] {
            let (time, sum) = sweep(&ours, readahead)?;
            assert!(expected.as_ref().is_none_or(|expected| *expected == sum), "the sweep reads what the peer wrote");
            seconds.push(time);
        }
        if let Some(answer) = peer("infrastore", &json!({"operation": "forecast_sweep", "path": theirs})) {
            assert_eq!(Some(answer.checksum), expected, "the peer reads what it wrote");
            peers.push(answer.seconds);
        }
    }
    let (bound, peers) = (median(bound), (!peers.is_empty()).then(|| (PEER, median(peers))));
    for (how, seconds) in [("one thread", alone), ("read ahead", ahead)] {
        let row = format!("forecast sweep, {SERIES} x {WINDOWS} windows of {HORIZON}, {kind}, {how}");
        let goal = peers.map(|_| GOAL);
        let (ours_s, bound_s) = (median(seconds), Some(bound));
        Row { area: "readers", row: &row, ours_s, peer: peers, bound_s, goal_ratio_peer: goal, goal_ratio_bound: None }
            .print(&[]);
    }
    Ok(())
}

fn write_dense(path: &Path) -> Result<()> {
    let values = |series: usize| -> Vec<u8> {
        let places = (0..HORIZON).flat_map(|step| (0..WINDOWS).map(move |window| window * HORIZON + step));
        places.flat_map(|step| generator::value(series as u64, step as u64, 0).to_le_bytes()).collect()
    };
    let arrays: Vec<Vec<u8>> = (0..SERIES).map(values).collect();
    let windows = Windows { initial: START, resolution: HOUR, horizon: DAY, interval: DAY, count: WINDOWS };
    let forecasts = arrays.iter().enumerate().map(|(series, bytes)| {
        let values = ArrayView::new(DType::F64, &[HORIZON, WINDOWS], bytes)?;
        let owner = Owner::component(series as i64 + 1, "Generator");
        Ok(NewSeries::new(owner, "load", SeriesData::Deterministic { windows, values }))
    });
    let store = create(path)?;
    store.add_bulk(&forecasts.collect::<Result<Vec<_>>>()?)?;
    store.close()
}

fn write_derived(path: &Path) -> Result<()> {
    const STEPS: [usize; 1] = [HORIZON * WINDOWS];
    let arrays: Vec<Vec<u8>> = (0..SERIES).map(|series| series_bytes(series, STEPS[0])).collect();
    let series = arrays.iter().enumerate().map(|(series, bytes)| single(series + 1, "load", bytes, &STEPS));
    let store = create(path)?;
    store.add_bulk(&series.collect::<Result<Vec<_>>>()?)?;
    store.transform_single_time_series(DAY, DAY, &Filter::default())?;
    store.close()
}

fn create(path: &Path) -> Result<Store> {
    Store::create(path, &CreateOptions { overwrite: true, ..CreateOptions::default() })
}

/// The time to open, build and read every window, and the checksum of what was read.
fn sweep(path: &Path, readahead: usize) -> Result<(f64, String)> {
    let filter = Filter { series_type: Some(SeriesType::Deterministic), resolution: Some(HOUR), ..Filter::default() };
    let (seconds, (sum, store)) = timed(|| {
        let store = Store::open(path, &OpenOptions { read_only: true, ..OpenOptions::default() })?;
        let mut reader = ForecastReader::build(&store, &filter)?;
        reader.set_readahead(readahead);
        let mut sum = Checksum::default();
        for window in 0..reader.len() {
            reader.read_window(window)?;
            for entry in reader.entries() {
                sum.add(window, bits_of_bytes(reader.values(entry.slot()), DType::F64.width()));
            }
        }
        Ok((sum.hex(), store))
    })?;
    store.close()?;
    Ok((seconds, sum))
}
