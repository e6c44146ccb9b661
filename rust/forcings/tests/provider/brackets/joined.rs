//! Brackets of random files are two samples of one record each.

use super::{bracket, unix_times};
use crate::support::*;
use forcings::dataset::{Dataset, DimWindow, Values};
use forcings::provider::{Provider, ProviderOptions};
use proptest::prelude::*;
use std::path::PathBuf;
use tempfile::tempdir;

/// Checks that every field of a bracket is the two records that other samples are.
fn assert_joined(both: &Dataset, first: &Dataset, second: &Dataset) {
    assert_eq!(both.variables.len(), first.variables.len());
    for field in &both.variables {
        let [one, two] = [first, second].map(|sample| sample.variable(&field.name).unwrap());
        let Some(axis) = field.dims.iter().position(|d| &**d == "time") else {
            assert!(field.same_bits(one));
            continue;
        };
        let inner: usize = field.shape[axis + 1..].iter().product();
        for k in 0..field.values.len() {
            let (outer, half, at) = (k / (2 * inner), k / inner % 2, k % inner);
            let from = [one, two][half];
            let same = match (&field.values, &from.values) {
                (Values::F64(a), Values::F64(b)) => a[k].to_bits() == b[outer * inner + at].to_bits(),
                (Values::I32(a), Values::I32(b)) => a[k] == b[outer * inner + at],
                (Values::String(a), Values::String(b)) => a[k] == b[outer * inner + at],
                other => panic!("{other:?}"),
            };
            assert!(same, "{} at {k}", field.name);
        }
        assert_eq!(field.attributes, one.attributes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_bracket_is_two_samples_of_one_record(
        lens in proptest::collection::vec(1..4_usize, 1..4),
        (x, y) in (1..4_usize, 1..4_usize),
        (classic, chunk, seed) in any::<(bool, bool, u32)>(),
        window in proptest::option::of(proptest::collection::vec(any::<u64>(), 0..4)),
    ) {
        let dir = tempdir().unwrap();
        let mut first = 0;
        let parts: Vec<PathBuf> = lens.iter().enumerate().map(|(k, len)| {
            let path = dir.path().join(format!("{k}.nc"));
            let options = if classic { netcdf::Options::empty() } else { netcdf::Options::NETCDF4 };
            let mut file = netcdf::create_with(&path, options).unwrap();
            for (name, len) in [("time", *len), ("x", x), ("y", y), ("width", 2)] {
                file.add_dimension(name, len).unwrap();
            }
            file.add_variable::<f64>("time", &["time"]).unwrap().put_attribute("units", "hours since 2000-01-01").unwrap();
            let mut p = file.add_variable::<i16>("p", &["x", "time", "y"]).unwrap();
            if chunk && !classic {
                p.set_chunking(&[1, 1, y]).unwrap();
            }
            p.put_attribute("scale_factor", 0.1).unwrap();
            p.put_attribute("_FillValue", 3_i16).unwrap();
            file.add_variable::<i32>("n", &["time", "x"]).unwrap();
            file.add_variable::<f32>("h", &["y", "x"]).unwrap();
            file.add_variable_with_type("s", &["y", "time", "width"], &netcdf::types::NcVariableType::Char).unwrap();
            if classic {
                file.enddef().unwrap();
            }
            let mut state = seed.wrapping_add(k as u32) | 1;
            let mut next = |len: usize| -> Vec<i32> {
                let mut step = || {
                    state ^= state << 13;
                    state ^= state >> 17;
                    state ^= state << 5;
                    (state % 9) as i32
                };
                (0..len).map(|_| step()).collect()
            };
            let clock: Vec<f64> = (first..first + len).map(|h| h as f64).collect();
            file.variable_mut("time").unwrap().put_values(&clock, ..).unwrap();
            let short: Vec<i16> = next(x * len * y).into_iter().map(|v| v as i16).collect();
            file.variable_mut("p").unwrap().put_values(&short, ..).unwrap();
            file.variable_mut("n").unwrap().put_values(&next(x * len), ..).unwrap();
            file.close().unwrap();
            first += len;
            path
        }).collect();
        let options = ProviderOptions::of_files(parts);
        let (mut both, mut one): (Provider, Provider) = (open(bracket(options.clone())), open(options));
        if let Some(list) = window {
            let window = DimWindow::new().indices("x", list.iter().map(|i| i % x as u64).collect::<Vec<_>>());
            (both, one) = (both.with_window(window.clone()).unwrap(), one.with_window(window).unwrap());
        }
        let ticks = one.refresh_times().to_vec();
        for k in 0..ticks.len() {
            let next = ticks[(k + 1).min(ticks.len() - 1)];
            let sample = both.sample_at(ticks[k]).unwrap();
            assert_joined(&sample, &one.sample_at(ticks[k]).unwrap(), &one.sample_at(next).unwrap());
            prop_assert_eq!(unix_times(&sample), [ticks[k], next]);
        }
    }
}
