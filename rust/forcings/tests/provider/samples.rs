//! Samples, the buffer of `refresh`, constant data, projection, many threads and many files.

use crate::support::*;
use forcings::dataset::{Dataset, DimWindow, Selection, Values};
use forcings::provider::{Provider, ProviderOptions, Sampler};
use forcings::ErrorKind;
use std::sync::Arc;
use tempfile::tempdir;

fn names(dataset: &Dataset) -> (Vec<&str>, Vec<&str>) {
    (dataset.variables.iter().map(|f| &*f.name).collect(), dataset.coords.iter().map(|f| &*f.name).collect())
}

#[test]
fn a_sample_drops_the_time_dimension_and_its_coordinate_only() {
    let dir = tempdir().unwrap();
    let provider = open(files(&[&winds(dir.path(), "a.nc", &hours(0..3), 5)]));
    let sample = provider.sample_at(Y2000 + HOUR).unwrap();
    assert_wind(&sample, 6);
    assert_eq!(names(&sample), (vec!["height", "u"], vec!["lat", "lon"]));
    assert_eq!(sample.variable("height").unwrap().shape, [LAT, LON]);
    assert_eq!(f64s(sample.coord("lat").unwrap()), [0.0, 2.5, 5.0, 7.5]);
}

#[test]
fn the_time_dimension_is_dropped_wherever_it_stands() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.nc");
    write(&path, |file| {
        file.add_dimension("x", 2).unwrap();
        file.add_dimension("time", 3).unwrap();
        let mut time = file.add_variable::<i64>("time", &["time"]).unwrap();
        time.put_attribute("units", "seconds since 1970-01-01").unwrap();
        time.put_values(&[0_i64, 10, 20], ..).unwrap();
        file.add_variable::<i32>("v", &["x", "time"]).unwrap().put_values(&[1, 2, 3, 4, 5, 6], ..).unwrap();
    });
    let v = &open(files(&[&path])).sample_at(15.0).unwrap().variables[0];
    assert!(v.shape == [2] && v.values.same_bits(&Values::I32(vec![2, 5])));
}

#[test]
pub(crate) fn row_35_a_time_inside_the_current_interval_keeps_the_buffer() {
    let dir = tempdir().unwrap();
    let provider = open(files(&[&winds(dir.path(), "a.nc", &hours(0..3), 0)]));
    assert!(provider.current().is_none());
    let first = provider.refresh(Y2000).unwrap();
    assert!(first.same_bits(&provider.sample_at(Y2000).unwrap()));
    assert!(Arc::ptr_eq(&first, &provider.refresh(Y2000 + 1800.0).unwrap()));
    assert!(Arc::ptr_eq(&first, &provider.clone().current().unwrap()));
    assert_wind(&provider.refresh(Y2000 + HOUR).unwrap(), 1);
    assert_wind(&provider.current().unwrap(), 1);
}

#[test]
pub(crate) fn row_47_sampling_between_two_refreshes_leaves_the_buffer_alone() {
    let dir = tempdir().unwrap();
    let provider = open(files(&[&winds(dir.path(), "a.nc", &hours(0..3), 0)]));
    let kept = provider.refresh(Y2000).unwrap();
    let copy = provider.sample_at(Y2000).unwrap();
    assert_wind(&provider.sample_at(Y2000 + 2.0 * HOUR).unwrap(), 2);
    assert!(Arc::ptr_eq(&kept, &provider.current().unwrap()) && kept.same_bits(&copy));
    assert!(Arc::ptr_eq(&kept, &provider.refresh(Y2000 + 1.0).unwrap()));
}

#[test]
fn a_failed_refresh_leaves_the_buffer_and_can_be_repeated() {
    let dir = tempdir().unwrap();
    let [early, late] =
        [0, 3].map(|first| winds(dir.path(), &format!("{first}.nc"), &hours(first..first + 3), first as usize));
    let provider = open(files(&[&early, &late]));
    let kept = provider.refresh(Y2000).unwrap();
    let hidden = dir.path().join("hidden.nc");
    std::fs::rename(&late, &hidden).unwrap();
    for t in [Y2000 - 1.0, Y2000 + 4.0 * HOUR, f64::NAN] {
        assert!(provider.refresh(t).is_err());
        assert!(Arc::ptr_eq(&kept, &provider.current().unwrap()));
        assert!(Arc::ptr_eq(&kept, &provider.refresh(Y2000).unwrap()));
    }
    std::fs::rename(&hidden, &late).unwrap();
    assert_wind(&provider.refresh(Y2000 + 4.0 * HOUR).unwrap(), 4);
}

#[test]
fn row_81_a_selection_for_one_call_reads_afresh_and_keeps_nothing() {
    let dir = tempdir().unwrap();
    let whole = open(files(&[&winds(dir.path(), "a.nc", &hours(0..3), 0)]));
    let (north, south) = (DimWindow::new().range("lat", 0, 1), DimWindow::new().range("lat", 2, 4));
    let baked = whole.with_window(north).unwrap();
    let kept = baked.refresh(Y2000).unwrap();
    let peeked = baked.peek(Y2000, &south.clone().into()).unwrap();
    assert!(peeked.same_bits(&whole.with_window(south).unwrap().sample_at(Y2000).unwrap()));
    assert!(baked.peek(Y2000, &Selection::All).unwrap().same_bits(&whole.sample_at(Y2000).unwrap()));
    assert!(Arc::ptr_eq(&kept, &baked.current().unwrap()));
    assert_eq!(baked.sample_at(Y2000 + HOUR).unwrap().variable("u").unwrap().shape, [1, LON]);
    let time = DimWindow::new().range("time", 0, 1).into();
    assert_eq!(whole.peek(Y2000, &time).unwrap_err().kind(), ErrorKind::Selection);
    assert_eq!(whole.peek(Y2000 - 1.0, &Selection::All).unwrap_err().kind(), ErrorKind::OffGrid);
}

#[test]
pub(crate) fn row_49_constant_data_ignore_the_time() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.nc");
    write(&path, |file| {
        file.add_dimension("x", 3).unwrap();
        file.add_variable::<f32>("x", &["x"]).unwrap().put_values(&[1.0_f32, 2.0, 3.0], ..).unwrap();
        file.add_variable::<f64>("v", &["x"]).unwrap().put_values(&[0.1, 0.2, 0.3], ..).unwrap();
    });
    let provider = open(files(&[&path]));
    assert!(provider.is_const() && provider.refresh_times().is_empty() && provider.calendar().is_none());
    let data = provider.materialize().unwrap();
    assert_eq!(f64s(&data.variables[0]), [0.1, 0.2, 0.3]);
    for t in [0.0, -1e300, f64::NAN] {
        assert!(provider.sample_at(t).unwrap().same_bits(&data));
    }
    assert!(Arc::ptr_eq(&data, &provider.materialize().unwrap()));
    assert_eq!(provider.anchor(0.0).unwrap_err().kind(), ErrorKind::InvalidParameter);
    let varying = open(files(&[&winds(dir.path(), "b.nc", &hours(0..3), 0)]));
    assert_says(&varying.materialize().map(drop).unwrap_err(), &["change with time"]);
}

#[test]
pub(crate) fn row_52_no_names_mean_every_variable() {
    let dir = tempdir().unwrap();
    let mut options = files(&[&winds(dir.path(), "a.nc", &hours(0..2), 0)]);
    assert!(options.variables.is_empty());
    assert_eq!(names(&open(options.clone()).sample_at(Y2000).unwrap()), (vec!["height", "u"], vec!["lat", "lon"]));
    options.variables = vec!["height".into()];
    assert_eq!(names(&open(options).sample_at(Y2000).unwrap()), (vec!["height"], vec!["lat", "lon"]));
}

#[test]
pub(crate) fn rows_50_and_51_what_is_no_data_variable_is_refused_with_a_list() {
    let dir = tempdir().unwrap();
    let mut options = files(&[&winds(dir.path(), "a.nc", &hours(0..2), 0)]);
    for wrong in ["wind", "lat"] {
        options.variables = vec!["u".into(), wrong.into()];
        let error = refusal(options.clone());
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_says(&error, &[&format!("\"{wrong}\""), "\"height\", \"u\"", "a.nc"]);
    }
}

#[test]
fn a_static_projection_of_a_file_without_time_coordinate_is_whole() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.nc");
    write(&path, |file| {
        file.add_dimension("time", 2).unwrap();
        file.add_dimension("x", 2).unwrap();
        file.add_variable::<i32>("v", &["time", "x"]).unwrap().put_values(&[1, 2, 3, 4], ..).unwrap();
        file.add_variable::<i32>("mask", &["x"]).unwrap().put_values(&[8, 9], ..).unwrap();
    });
    let mut options = files(&[&path]);
    options.times = Some(vec![0.0, 1.0]);
    options.variables = vec!["mask".into()];
    let mask = &open(options).sample_at(1.0).unwrap().variables[0];
    assert!(mask.values.same_bits(&Values::I32(vec![8, 9])));
}

#[test]
fn a_group_is_read_when_it_is_named() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.nc");
    write(&path, |file| {
        file.add_dimension("x", 2).unwrap();
        file.add_variable::<i32>("root", &["x"]).unwrap().put_values(&[1, 2], ..).unwrap();
        let mut group = file.add_group("inner").unwrap();
        group.add_dimension("y", 1).unwrap();
        group.add_variable::<i32>("leaf", &["y"]).unwrap().put_values(&[3], ..).unwrap();
    });
    assert_eq!(names(&open(files(&[&path])).materialize().unwrap()).0, ["root"]);
    let mut options = files(&[&path]);
    options.group = Some("inner".into());
    assert_eq!(names(&open(options.clone()).materialize().unwrap()).0, ["leaf"]);
    options.group = Some("outer".into());
    assert_eq!(refusal(options).kind(), ErrorKind::NotFound);
}

#[test]
pub(crate) fn row_48_twelve_threads_get_what_one_gets() {
    let dir = tempdir().unwrap();
    let parts: Vec<_> =
        (0..3).map(|k| winds(dir.path(), &format!("{k}.nc"), &hours(8 * k..8 * k + 8), 8 * k as usize)).collect();
    let mut options = ProviderOptions::of_files(parts);
    options.threads = 2;
    let provider = open(options);
    let times = provider.refresh_times().to_vec();
    std::thread::scope(|scope| {
        for start in 0..12 {
            let (provider, times) = (&provider, &times);
            scope.spawn(move || {
                for k in 0..times.len() {
                    let k = (k * 5 + start) % times.len();
                    assert_wind(&provider.sample_at(times[k]).unwrap(), k);
                }
            });
        }
    });
}

#[test]
fn more_files_than_stay_open_are_read_in_any_order() {
    let dir = tempdir().unwrap();
    let parts = (0..70).map(|k| winds(dir.path(), &format!("{k}.nc"), &hours([k]), k as usize));
    let provider = open(ProviderOptions::of_files(parts.collect::<Vec<_>>()));
    let times = provider.refresh_times().to_vec();
    assert_eq!(times.len(), 70);
    std::thread::scope(|scope| {
        for start in [0, 35] {
            let (provider, times) = (&provider, &times);
            scope.spawn(move || {
                for k in (0..70).map(|k| (k * 3 + start) % 70) {
                    assert_wind(&provider.sample_at(times[k]).unwrap(), k);
                }
            });
        }
    });
    let descriptors = std::fs::read_dir("/proc/self/fd").unwrap();
    let open = descriptors.filter_map(|d| std::fs::read_link(d.ok()?.path()).ok());
    assert!(open.filter(|target| target.starts_with(dir.path())).count() <= 64);
}

#[test]
fn a_provider_is_a_sampler() {
    let dir = tempdir().unwrap();
    let axis = Axis { calendar: Some("proleptic_gregorian"), ..hours(0..2) };
    let provider = open(files(&[&winds(dir.path(), "a.nc", &axis, 0)]));
    let sampler: Arc<dyn Sampler> = Arc::new(provider.clone());
    assert_eq!(sampler.refresh_times(), provider.refresh_times());
    assert_eq!(sampler.anchor(Y2000 + 1.0).unwrap(), Y2000);
    assert!(sampler.sample_at(Y2000).unwrap().same_bits(&provider.sample_at(Y2000).unwrap()));
    assert_eq!(sampler.calendar(), Some("standard"));
}

#[test]
fn classic_files_of_every_kind_are_read() {
    use netcdf::Options;
    let dir = tempdir().unwrap();
    for options in [Options::empty(), Options::_64BIT_OFFSET, Options::_64BIT_DATA] {
        let path = dir.path().join(format!("{}.nc", options.bits()));
        let mut file = netcdf::create_with(&path, options).unwrap();
        file.add_unlimited_dimension("time").unwrap();
        file.add_dimension("x", 3).unwrap();
        let mut time = file.add_variable::<f64>("time", &["time"]).unwrap();
        time.put_attribute("units", "seconds since 1970-01-01").unwrap();
        let mut v = file.add_variable::<i16>("v", &["time", "x"]).unwrap();
        v.put_attribute("scale_factor", 0.5).unwrap();
        file.enddef().unwrap();
        for record in 0..4_i16 {
            let at = record as usize;
            file.variable_mut("time").unwrap().put_value(f64::from(record) * 10.0, [at]).unwrap();
            let mut v = file.variable_mut("v").unwrap();
            v.put_values(&[record * 10, record * 10 + 1, -record], (at, ..)).unwrap();
        }
        file.close().unwrap();
        let provider: Provider = open(files(&[&path]));
        let sample = provider.sample_at(20.0).unwrap();
        assert_eq!(f64s(&sample.variables[0]), [10.0, 10.5, -1.0]);
    }
}
