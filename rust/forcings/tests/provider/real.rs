//! The monthly winds that the examples use, against netCDF-C.

use crate::support::*;
use forcings::dataset::{DimWindow, Values};
use forcings::time::cf::Calendar;
use std::path::PathBuf;

fn winds_of_the_examples() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/monthly_winds.nc"))
}

#[test]
fn monthly_winds_are_what_netcdf_c_reads() {
    let path = winds_of_the_examples();
    let provider = open(files(&[&path]));
    let file = netcdf::open(&path).unwrap();
    let hours: Vec<f64> = file.variable("time").unwrap().get_values(..).unwrap();
    let start = 316_706_400.0; // 1980-01-14T14:00:00Z
    assert_eq!(provider.refresh_times(), hours.iter().map(|h| start + h * HOUR).collect::<Vec<_>>());
    assert!(hours.len() == 132 && hours.windows(2).all(|pair| pair[1] - pair[0] == 730.5));
    assert_eq!(provider.calendar(), Some(Calendar::Standard));

    let stored = |name| (name, file.variable(name).unwrap().get_values::<i16, _>(..).unwrap());
    let stored: [(&str, Vec<i16>); 2] = [stored("uwnd"), stored("vwnd")];
    for (record, &t) in provider.refresh_times().iter().enumerate() {
        let sample = provider.sample_at(t).unwrap();
        for (name, stored) in &stored {
            let stored = &stored[record * 73 * 144..][..73 * 144];
            let expected =
                stored.iter().map(|raw| if *raw == i16::MIN { f64::NAN } else { f64::from(*raw) * 0.01 + 0.0 });
            let field = sample.variable(name).unwrap();
            assert_eq!(field.shape, [73, 144]);
            assert!(field.values.same_bits(&Values::F64(expected.collect())), "{name} of record {record}");
        }
    }
}

#[test]
fn a_window_of_the_monthly_winds_crosses_the_seam() {
    let provider = open(files(&[&winds_of_the_examples()]));
    let last = *provider.refresh_times().last().unwrap();
    let whole = provider.sample_at(last).unwrap();
    let window = DimWindow::new().indices("lon", [143, 0, 1]);
    let seam = provider.with_window(window).unwrap().sample_at(last).unwrap();
    let (u, all) = (f64s(seam.variable("uwnd").unwrap()), f64s(whole.variable("uwnd").unwrap()));
    for row in 0..73 {
        assert_eq!(u[row * 3..][..3], [all[row * 144 + 143], all[row * 144], all[row * 144 + 1]]);
    }
    let lat = f64s(whole.coord("lat").unwrap());
    assert_eq!((lat[0], lat[72]), (-90.0, 90.0));
}
