//! Refresh times, anchors, and the record that belongs to a time.

use crate::support::*;
use forcings::cache::{Cache, CacheOptions};
use forcings::dataset::{decode, DecodeOptions, Records, Request};
use forcings::formats;
use forcings::prefetch::PrefetchGroup;
use forcings::provider::ProviderOptions;
use forcings::time::cf::Calendar;
use forcings::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

fn dir() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// `parts` files of 8 hourly records each, from hour 0 on; the seed of a record is its hour.
fn series_of_files(dir: &TempDir, parts: usize) -> Vec<PathBuf> {
    let part = |k: usize| {
        let first = 8 * k as i32;
        winds(dir.path(), &format!("part{k}.nc"), &hours(first..first + 8), first as usize)
    };
    (0..parts).map(part).collect()
}

fn with_times(mut options: ProviderOptions, times: &[f64]) -> ProviderOptions {
    options.times = Some(times.to_vec());
    options
}

#[test]
fn the_times_of_several_files_are_those_of_their_own_axes_in_any_order() {
    let dir = dir();
    let parts = series_of_files(&dir, 3);
    let provider = open(files(&[&parts[2], &parts[0], &parts[1]]));
    let expected: Vec<f64> = (0..24).map(|h| Y2000 + f64::from(h) * HOUR).collect();
    assert_eq!(provider.refresh_times(), expected);
    assert_eq!((provider.time_dim(), provider.calendar()), (Some("time"), Some(Calendar::Standard)));
    for hour in [0, 7, 8, 23] {
        assert_wind(&provider.sample_at(Y2000 + hour as f64 * HOUR).unwrap(), hour);
    }
}

#[test]
pub(crate) fn row_36_times_between_two_anchors_belong_to_the_one_before() {
    let dir = dir();
    let provider = open(files(&[&winds(dir.path(), "a.nc", &hours(10..13), 0)]));
    let start = Y2000 + 10.0 * HOUR;
    assert_eq!(provider.anchor(start).unwrap(), start);
    assert_eq!(provider.anchor(start + 59.0 * 60.0).unwrap(), start);
    assert!(provider.sample_at(start + 3599.9).unwrap().same_bits(&provider.sample_at(start).unwrap()));
    assert_wind(&provider.sample_at(start + HOUR).unwrap(), 1);
    assert_eq!(provider.anchor(start + 1e9).unwrap(), start + 2.0 * HOUR);
    assert_wind(&provider.sample_at(f64::INFINITY).unwrap(), 2);
}

#[test]
pub(crate) fn row_37_a_time_before_the_first_anchor_is_the_same_error_from_every_call() {
    let dir = dir();
    let provider = open(files(&[&winds(dir.path(), "a.nc", &hours(10..13), 0)]));
    let before = Y2000 + 10.0 * HOUR - 0.001;
    let errors = [
        provider.sample_at(before).map(drop).unwrap_err(),
        provider.refresh(before).map(drop).unwrap_err(),
        provider.anchor(before).map(drop).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::OffGrid);
        assert_says(&error, &["precedes the first refresh time"]);
    }
    assert_eq!(provider.sample_at(f64::NAN).unwrap_err().kind(), ErrorKind::InvalidParameter);
}

#[test]
fn one_instant_has_one_time_however_its_file_writes_it() {
    let dir = dir();
    let days = Axis {
        units: "days since 1800-01-01",
        calendar: None,
        values: (0..4).map(|h| 73_048.0 + f64::from(h) / 24.0).collect(),
    };
    let seconds = Axis {
        units: "seconds since 1970-01-01T00:00:00Z",
        calendar: Some("proleptic_gregorian"),
        values: (4..8).map(|h| Y2000 + f64::from(h) * HOUR).collect(),
    };
    let early = winds(dir.path(), "days.nc", &days, 0);
    let late = winds(dir.path(), "seconds.nc", &seconds, 4);
    let provider = open(files(&[&late, &early]));
    let expected: Vec<f64> = (0..8).map(|h| Y2000 + f64::from(h) * HOUR).collect();
    assert_eq!(provider.refresh_times(), expected);
}

#[test]
fn times_are_counted_in_the_calendar_of_the_data() {
    let dir = dir();
    let axis = |calendar| Axis { units: "days since 2000-02-28", calendar: Some(calendar), values: vec![0.0, 1.0] };
    let noleap = winds(dir.path(), "noleap.nc", &axis("noleap"), 0);
    let provider = open(files(&[&noleap]));
    let start = (30.0 * 365.0 + 31.0 + 27.0) * 24.0 * HOUR;
    assert_eq!(provider.refresh_times(), [start, start + 24.0 * HOUR]);
    assert_eq!(provider.calendar(), Some(Calendar::NoLeap));
    let standard = winds(dir.path(), "standard.nc", &axis("standard"), 0);
    assert_says(&refusal(files(&[&noleap, &standard])), &["standard.nc", "noleap.nc", "calendar is standard"]);
}

#[test]
fn given_times_are_not_matched_across_calendars() {
    let dir = dir();
    let axis = |calendar, first: f64| Axis {
        units: "days since 2000-01-01",
        calendar: Some(calendar),
        values: vec![first, first + 1.0],
    };
    let noleap = winds(dir.path(), "noleap.nc", &axis("noleap", 0.0), 0);
    let standard = winds(dir.path(), "standard.nc", &axis("standard", 2.0), 2);
    let both = files(&[&noleap, &standard]);
    let day = 24.0 * HOUR;
    let start = 30.0 * 365.0 * day;
    let error = refusal(with_times(both.clone(), &[start, Y2000 + 2.0 * day]));
    assert_says(&error, &["do not match", "standard.nc", "calendar is standard", "noleap.nc is noleap"]);
    // The numbers of the axes mean what the caller says they mean.
    let provider = open(with_times(both, &[0.0, 2.0]));
    assert_eq!(provider.calendar(), None);
    assert_wind(&provider.sample_at(2.0).unwrap(), 2);
}

#[test]
fn counts_of_nanoseconds_are_times_like_any_other() {
    let dir = dir();
    let path = dir.path().join("ns.nc");
    write(&path, |file| {
        file.add_dimension("time", 3).unwrap();
        let mut time = file.add_variable::<i64>("time", &["time"]).unwrap();
        time.put_attribute("units", "nanoseconds since 1970-01-01").unwrap();
        let values: Vec<i64> = (0..3).map(|h| (Y2000 as i64 + h * 3600) * 1_000_000_000 + 1).collect();
        time.put_values(&values, ..).unwrap();
        file.add_variable::<i32>("v", &["time"]).unwrap().put_values(&[4, 5, 6], ..).unwrap();
    });
    let provider = open(files(&[&path]));
    assert_eq!(provider.refresh_times(), [Y2000, Y2000 + HOUR, Y2000 + 2.0 * HOUR]);
    assert_eq!(value(&provider, Y2000 + 1.5 * HOUR), [5]);
}

#[test]
fn times_that_stand_in_two_files_are_an_error_that_names_both() {
    let dir = dir();
    let a = winds(dir.path(), "a.nc", &hours(0..4), 0);
    let b = winds(dir.path(), "b.nc", &hours(3..6), 0);
    let between = winds(dir.path(), "between.nc", &hours([1, 9]), 0);
    for other in [&b, &between] {
        let name = other.file_name().unwrap().to_str().unwrap();
        assert_says(&refusal(files(&[&a, other])), &["overlap", "a.nc", name]);
    }
    let twice = winds(dir.path(), "twice.nc", &hours([0, 5, 5]), 0);
    assert_says(&refusal(files(&[&twice])), &["twice.nc", "records 1 and 2", "same time"]);
}

#[test]
fn records_may_be_stored_in_any_order() {
    let dir = dir();
    let provider = open(files(&[&winds(dir.path(), "a.nc", &hours([5, 3, 4]), 0)]));
    assert_eq!(provider.refresh_times()[0], Y2000 + 3.0 * HOUR);
    for (hour, record) in [(3.0, 1), (4.0, 2), (5.0, 0)] {
        assert_wind(&provider.sample_at(Y2000 + hour * HOUR).unwrap(), record);
    }
}

#[test]
fn given_times_are_matched_with_the_axis_as_seconds_or_as_its_own_numbers() {
    let dir = dir();
    let parts = series_of_files(&dir, 2);
    let options = files(&[&parts[0], &parts[1]]);
    let seconds = [Y2000 + 3.0 * HOUR, Y2000 + 12.0 * HOUR];
    let provider = open(with_times(options.clone(), &seconds));
    assert_eq!((provider.refresh_times(), provider.calendar()), (&seconds[..], Some(Calendar::Standard)));
    assert_wind(&provider.sample_at(seconds[1] + 1.0).unwrap(), 12);
    let numbers = [3.0, 12.0, 15.0];
    let provider = open(with_times(options.clone(), &numbers));
    assert_eq!((provider.refresh_times(), provider.calendar()), (&numbers[..], None));
    assert_wind(&provider.sample_at(14.9).unwrap(), 12);
    let error = refusal(with_times(options.clone(), &[3.0, 12.5]));
    assert_says(&error, &["do not match the time axis \"time\"", "12.5 is not among them"]);
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    // Every record has a time, but not in one and the same unit.
    assert_says(&refusal(with_times(options, &[3.0, Y2000 + 12.0 * HOUR])), &["do not match"]);
}

#[test]
fn given_times_that_stand_in_two_files_are_refused() {
    let dir = dir();
    let axis = |units| Axis { units, calendar: None, values: vec![0.0, 1.0] };
    let a = winds(dir.path(), "a.nc", &axis("days since 2000-01-01"), 0);
    let b = winds(dir.path(), "b.nc", &axis("days since 2001-01-01"), 10);
    let error = refusal(with_times(files(&[&a, &b]), &[0.0, 1.0]));
    assert_says(&error, &["stands in", "a.nc", "b.nc"]);
    let second_year = Y2000 + 366.0 * 24.0 * HOUR;
    let provider = open(with_times(files(&[&a, &b]), &[Y2000, second_year]));
    assert_wind(&provider.sample_at(second_year).unwrap(), 10);
}

#[test]
fn units_without_a_fixed_length_need_given_times() {
    let dir = dir();
    let axis = Axis { units: "months since 2000-01-01", calendar: None, values: vec![0.0, 1.0, 2.0] };
    let path = winds(dir.path(), "a.nc", &axis, 0);
    let error = refusal(files(&[&path]));
    assert_eq!(error.kind(), ErrorKind::Format);
    assert_says(&error, &["a.nc", "time axis \"time\"", "months has no fixed length"]);
    let provider = open(with_times(files(&[&path]), &[0.0, 2.0]));
    assert_wind(&provider.sample_at(2.5).unwrap(), 2);
}

#[test]
fn a_missing_time_is_an_error_that_names_its_record() {
    let dir = dir();
    let axis = Axis { values: vec![0.0, f64::NAN], ..hours([]) };
    assert_says(&refusal(files(&[&winds(dir.path(), "a.nc", &axis, 0)])), &["a.nc", "record 1", "not a number"]);
}

/// `step` records of `v(step)` without any time units.
fn unlabelled(dir: &TempDir, name: &str, dim: &str, values: &[i32]) -> PathBuf {
    let path = dir.path().join(name);
    write(&path, |file| {
        file.add_dimension(dim, values.len()).unwrap();
        file.add_variable::<i32>("v", &[dim]).unwrap().put_values(values, ..).unwrap();
    });
    path
}

fn value(provider: &forcings::provider::Provider, t: f64) -> Vec<i32> {
    match &provider.sample_at(t).unwrap().variable("v").unwrap().values {
        forcings::dataset::Values::I32(values) => values.clone(),
        other => panic!("{:?}", other.field_type()),
    }
}

#[test]
pub(crate) fn row_40_without_an_axis_records_are_counted_through_the_files() {
    let dir = dir();
    let of_length = |k: i32, len: i32| {
        let values: Vec<i32> = (0..len).map(|r| 100 * k + r).collect();
        unlabelled(&dir, &format!("{k}.nc"), "step", &values)
    };
    let parts: Vec<PathBuf> = (0..7).map(|k| of_length(k, 8)).collect();
    let mut options = ProviderOptions::of_files(parts);
    options.time_dim = Some("step".into());
    let times: Vec<f64> = (0..56).map(|k| f64::from(k) * 0.125).collect();
    let provider = open(with_times(options.clone(), &times));
    assert_eq!((value(&provider, times[9]), value(&provider, times[55])), (vec![101], vec![607]));
    // A short file in the middle moves what comes behind it.
    options.files[1] = of_length(50, 3);
    let provider = open(with_times(options.clone(), &times[..51]));
    assert_eq!((value(&provider, times[10]), value(&provider, times[11])), (vec![5002], vec![200]));
    assert_says(&refusal(with_times(options.clone(), &times)), &["56 times", "only 51 records", "\"step\""]);
    assert_says(&refusal(with_times(options, &times[..50])), &["50 times", "more records"]);
}

#[test]
fn a_dimension_called_time_needs_no_units_when_times_are_given() {
    let dir = dir();
    let path = unlabelled(&dir, "a.nc", "Time", &[7, 8, 9]);
    let provider = open(with_times(files(&[&path]), &[1.0, 2.0, 4.0]));
    assert_eq!((provider.time_dim(), value(&provider, 3.0)), (Some("Time"), vec![8]));
    let constant = open(files(&[&path]));
    assert!(constant.is_const());
    assert_eq!(value(&constant, 0.0), [7, 8, 9]);
}

#[test]
fn files_without_a_time_dimension_are_one_sample_each() {
    let dir = dir();
    let parts = [unlabelled(&dir, "a.nc", "x", &[1, 2]), unlabelled(&dir, "b.nc", "x", &[3, 4])];
    let provider = open(with_times(files(&[&parts[0], &parts[1]]), &[10.0, 20.0]));
    assert_eq!((value(&provider, 10.0), value(&provider, 99.0)), (vec![1, 2], vec![3, 4]));
    assert_eq!(provider.time_dim(), None);
    assert_says(&refusal(with_times(files(&[&parts[0]]), &[1.0, 2.0])), &["2 times are given for 1 files"]);
    assert_says(&refusal(files(&[&parts[0], &parts[1]])), &["a.nc", "give times"]);
}

#[test]
fn several_time_axes_need_a_choice() {
    let dir = dir();
    let path = dir.path().join("a.nc");
    write(&path, |file| {
        for (dim, len) in [("time", 2), ("reftime", 3)] {
            file.add_dimension(dim, len).unwrap();
            let mut axis = file.add_variable::<i32>(dim, &[dim]).unwrap();
            axis.put_attribute("units", "days since 1970-01-01").unwrap();
            axis.put_values(&(0..len as i32).collect::<Vec<_>>(), ..).unwrap();
        }
        let mut v = file.add_variable::<i32>("v", &["reftime", "time"]).unwrap();
        v.put_values(&[1, 2, 3, 4, 5, 6], ..).unwrap();
    });
    assert_says(&refusal(files(&[&path])), &["time, reftime", "time_dim"]);
    let mut options = files(&[&path]);
    options.time_dim = Some("time".into());
    let provider = open(options.clone());
    assert_eq!((provider.refresh_times().len(), value(&provider, 90_000.0)), (2, vec![2, 4, 6]));
    options.time_dim = Some("tiem".into());
    assert_says(&refusal(options), &["no dimension \"tiem\"", "time, reftime"]);
}

#[test]
pub(crate) fn row_31_an_unknown_format_is_refused_at_construction() {
    let options = ProviderOptions { format: "grib".into(), ..ProviderOptions::of_files(["/nowhere/a.nc"]) };
    let error = refusal(options);
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    assert_says(&error, &["unknown format \"grib\"", "netcdf"]);
}

#[test]
pub(crate) fn row_34_a_sample_has_one_record_or_two() {
    for records_per_sample in [0, 3, usize::MAX] {
        let options = ProviderOptions { records_per_sample, ..ProviderOptions::of_files(["/nowhere/a.nc"]) };
        let error = refusal(options);
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        assert_says(&error, &[&format!("records_per_sample is {records_per_sample}"), "1 record, or 2"]);
    }
}

#[test]
pub(crate) fn row_38_a_schedule_begins_with_the_first_time_given() {
    let dir = dir();
    let whole = files(&[&winds(dir.path(), "a.nc", &hours(0..3), 0)]);
    let half_past = Y2000 + 1800.0;
    // The record in force at half past belongs to a schedule from the full hour before.
    let provider = open(whole.clone());
    assert_eq!(provider.refresh_times()[0], Y2000);
    assert_wind(&provider.sample_at(half_past).unwrap(), 0);
    // One from half past on begins with the next full hour, before which there are no data.
    let provider = open(with_times(whole, &[Y2000 + HOUR, Y2000 + 2.0 * HOUR]));
    assert_eq!(provider.refresh_times()[0], Y2000 + HOUR);
    assert_eq!(provider.sample_at(half_past).unwrap_err().kind(), ErrorKind::OffGrid);
    assert_wind(&provider.sample_at(half_past + HOUR).unwrap(), 1);
}

#[test]
pub(crate) fn row_39_data_without_times_have_no_schedule_and_join_no_group() {
    let dir = dir();
    let provider = open(files(&[&unlabelled(&dir, "a.nc", "x", &[1, 2])]));
    assert!(provider.refresh_times().is_empty());
    let error = PrefetchGroup::builder().member("fixed", Arc::new(provider)).build().map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    assert_says(&error, &["\"fixed\"", "no refresh times"]);
}

#[test]
pub(crate) fn row_46_a_record_beyond_its_file_is_an_error_that_tells_both_numbers() {
    let dir = dir();
    let path = unlabelled(&dir, "a.nc", "time", &[1, 2]);
    let claimed: Vec<f64> = (0..24).map(f64::from).collect();
    assert_says(&refusal(with_times(files(&[&path]), &claimed)), &["24 times", "only 2 records"]);
    let url = PathBuf::from(format!("file://{}", path.display()));
    let cache = Some(Cache::with_options(CacheOptions::at(dir.path().join("cache"))).unwrap());
    let provider = open(ProviderOptions { cache, ..with_times(files(&[&url]), &claimed) });
    let error = provider.sample_at(5.0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    assert_says(&error, &["24 times", "2 records", "a.nc"]);
    let records = Some(Records { dim: "time".into(), indices: vec![5], squeeze: true });
    let request = Request { records, ..Request::default() };
    let error = decode(&*formats::open(&path).unwrap(), &request, DecodeOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Selection);
    assert_says(&error, &["record 5", "outside 0:1", "a.nc"]);
}

#[test]
fn options_that_cannot_hold_are_refused_before_any_file_is_opened() {
    let base = || ProviderOptions::of_files(["/nowhere/a.nc"]);
    let change = |change: &dyn Fn(&mut ProviderOptions)| {
        let mut options = base();
        change(&mut options);
        refusal(options)
    };
    assert_says(&refusal(ProviderOptions::default()), &["at least one file"]);
    assert_says(&change(&|o| o.threads = 0), &["threads is 0"]);
    assert_says(&change(&|o| o.times = Some(vec![])), &["times is empty"]);
    assert_says(&change(&|o| o.times = Some(vec![0.0, f64::NAN])), &["times[1]", "NaN"]);
    assert_says(&change(&|o| o.times = Some(vec![0.0, 2.0, 2.0])), &["ascend strictly", "position 2"]);
    assert_eq!(refusal(base()).kind(), ErrorKind::Io);
}
