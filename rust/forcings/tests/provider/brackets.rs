//! Samples of two records: the one in force and its successor, in one file or over a seam, and their times.

mod joined;

use crate::remote::{cache, half_a_day, Files};
use crate::support::*;
use forcings::dataset::{Dataset, DimWindow, Field, Selection, Values};
use forcings::formats::AttributeValue;
use forcings::prefetch::{Order, PrefetchGroup};
use forcings::provider::ProviderOptions;
use forcings::{Error, ErrorKind};
use netcdf::FileMut;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::{tempdir, TempDir};

fn bracket(options: ProviderOptions) -> ProviderOptions {
    ProviderOptions { records_per_sample: 2, ..options }
}

/// Two files of 4 hourly records each, from hour 0 on; the seed of a record is its hour.
fn two_files(dir: &TempDir) -> [PathBuf; 2] {
    [0, 1].map(|k| winds(dir.path(), &format!("part{k}.nc"), &hours(4 * k..4 * k + 4), 4 * k as usize))
}

fn dims(field: &Field) -> Vec<&str> {
    field.dims.iter().map(|d| &**d).collect()
}

fn assert_winds(sample: &Dataset, seeds: [usize; 2]) {
    let u = sample.variable("u").unwrap();
    assert_eq!((dims(u), &u.shape[..]), (vec!["time", "lat", "lon"], &[2, LAT, LON][..]));
    let expected: Vec<f64> = seeds.into_iter().flat_map(wind).collect();
    assert!(u.values.same_bits(&Values::F64(expected)), "records {seeds:?}: {:?}", u.values);
}

/// The times of a bracket, and their units and calendar.
fn times(sample: &Dataset) -> (Vec<f64>, Option<String>, Option<String>) {
    let time = sample.coord("time").unwrap();
    assert_eq!((dims(time), &time.shape[..]), (vec!["time"], &[2][..]));
    let text = |name: &str| match &time.attributes.iter().find(|a| a.name == name)?.value {
        AttributeValue::Text(text) => Some(String::from_utf8(text.clone()).unwrap()),
        other => panic!("{other:?}"),
    };
    (f64s(time).to_vec(), text("units"), text("calendar"))
}

const UNIX: &str = "seconds since 1970-01-01T00:00:00Z";

fn unix_times(sample: &Dataset) -> Vec<f64> {
    let (values, units, calendar) = times(sample);
    assert_eq!((units.as_deref(), calendar.as_deref()), (Some(UNIX), Some("standard")));
    values
}

#[test]
fn a_bracket_is_the_record_in_force_and_the_next_one() {
    let dir = tempdir().unwrap();
    let provider = open(bracket(files(&[&winds(dir.path(), "a.nc", &hours(0..3), 5)])));
    let sample = provider.sample_at(Y2000 + HOUR).unwrap();
    assert_winds(&sample, [6, 7]);
    assert_eq!(unix_times(&sample), [Y2000 + HOUR, Y2000 + 2.0 * HOUR]);
    assert_eq!(sample.coords.iter().map(|c| &*c.name).collect::<Vec<_>>(), ["time", "lat", "lon"]);
    // It is that of the interval, not of the instant.
    assert!(provider.sample_at(Y2000 + HOUR + 3599.0).unwrap().same_bits(&sample));
    assert!(provider.refresh(Y2000 + HOUR).unwrap().same_bits(&sample));
    assert_eq!(provider.sample_at(Y2000 - 1.0).unwrap_err().kind(), ErrorKind::OffGrid);
}

#[test]
pub(crate) fn row_41_a_bracket_crosses_from_one_file_to_the_next() {
    let dir = tempdir().unwrap();
    let [early, late] = two_files(&dir);
    let provider = open(bracket(files(&[&late, &early])));
    let sample = provider.sample_at(Y2000 + 3.0 * HOUR).unwrap();
    assert_winds(&sample, [3, 4]);
    assert_eq!(unix_times(&sample), [Y2000 + 3.0 * HOUR, Y2000 + 4.0 * HOUR]);
    assert_winds(&provider.sample_at(Y2000 + 2.0 * HOUR).unwrap(), [2, 3]);
    assert_winds(&provider.sample_at(Y2000 + 4.0 * HOUR).unwrap(), [4, 5]);
}

#[test]
pub(crate) fn row_42_at_the_end_both_records_and_both_times_are_the_last() {
    let dir = tempdir().unwrap();
    let [early, late] = two_files(&dir);
    let last = Y2000 + 7.0 * HOUR;
    let provider = open(bracket(files(&[&early, &late])));
    for t in [last, last + 1e9] {
        let sample = provider.sample_at(t).unwrap();
        assert_winds(&sample, [7, 7]);
        assert_eq!(unix_times(&sample), [last, last]);
    }
    // The end is that of the times, even where the file goes on.
    let given = ProviderOptions { times: Some(vec![Y2000, Y2000 + 2.0 * HOUR]), ..files(&[&early]) };
    let provider = open(bracket(given));
    assert_winds(&provider.sample_at(Y2000 + HOUR).unwrap(), [0, 2]);
    assert_winds(&provider.sample_at(Y2000 + 2.0 * HOUR).unwrap(), [2, 2]);
}

#[test]
pub(crate) fn row_43_a_successor_that_cannot_be_read_is_an_error() {
    let dir = tempdir().unwrap();
    let [early, late] = two_files(&dir);
    let provider = open(bracket(files(&[&early, &late])));
    std::fs::remove_file(&late).unwrap();
    assert_winds(&provider.sample_at(Y2000 + 2.0 * HOUR).unwrap(), [2, 3]);
    let error = provider.sample_at(Y2000 + 3.0 * HOUR).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert_says(&error, &["part1.nc"]);

    let (server, root) = (Files::serve(), tempdir().unwrap());
    let (urls, ticks) = half_a_day(&server);
    std::fs::remove_file(server.path().join("p1.nc")).unwrap();
    let options = ProviderOptions { times: Some(ticks.clone()), cache: Some(cache(&root, false)), ..files(&[]) };
    let options = ProviderOptions { files: urls, ..options };
    let provider = open(bracket(options.clone()));
    assert_winds(&provider.sample_at(ticks[2]).unwrap(), [2, 3]);
    let error = provider.sample_at(ticks[3]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_says(&error, &["p1.nc", &format!("the time {}", ticks[4])]);
    let kept = provider.refresh(ticks[0]).unwrap();
    assert!(provider.refresh(ticks[3]).is_err());
    assert!(Arc::ptr_eq(&kept, &provider.current().unwrap()));
    // Alone, the record is there.
    assert_wind(&open(options).sample_at(ticks[3]).unwrap(), 3);
}

#[test]
pub(crate) fn row_44_a_masked_cell_of_the_second_record_stays_masked() {
    let dir = tempdir().unwrap();
    let [early, late] = two_files(&dir);
    let provider = open(bracket(files(&[&early, &late])));
    for hour in [1, 3] {
        let sample = provider.sample_at(Y2000 + hour as f64 * HOUR).unwrap();
        let u = f64s(sample.variable("u").unwrap()).to_vec();
        // The missing cell of a record is the one that its seed counts to.
        let masked: Vec<usize> = (0..u.len()).filter(|i| u[*i].to_bits() == f64::NAN.to_bits()).collect();
        assert_eq!(masked, [hour, LAT * LON + hour + 1]);
    }
}

#[test]
pub(crate) fn row_45_what_has_no_time_dimension_gets_none() {
    let dir = tempdir().unwrap();
    let [early, late] = two_files(&dir);
    let files = files(&[&early, &late]);
    let (both, one) = (open(bracket(files.clone())), open(files));
    for hour in [0.0, 3.0, 7.0] {
        let (both, one) = (both.sample_at(Y2000 + hour * HOUR).unwrap(), one.sample_at(Y2000 + hour * HOUR).unwrap());
        assert!(both.variable("height").unwrap().same_bits(one.variable("height").unwrap()));
        assert!(both.coord("lon").unwrap().same_bits(one.coord("lon").unwrap()));
    }
}

#[test]
fn the_times_are_counted_in_the_calendar_of_the_data() {
    let dir = tempdir().unwrap();
    for (calendar, said) in [
        ("noleap", "noleap"),
        ("365_day", "noleap"),
        ("all_leap", "all_leap"),
        ("360_day", "360_day"),
        ("julian", "julian"),
        ("gregorian", "standard"),
        ("proleptic_gregorian", "standard"),
    ] {
        let axis = Axis { units: "days since 2000-02-28", calendar: Some(calendar), values: vec![0.0, 1.0] };
        let provider = open(bracket(files(&[&winds(dir.path(), "a.nc", &axis, 0)])));
        let ticks = provider.refresh_times();
        let expected = (ticks.to_vec(), Some(UNIX.to_string()), Some(said.to_string()));
        assert_eq!(times(&provider.sample_at(ticks[0]).unwrap()), expected);
        assert_eq!(ticks[1] - ticks[0], 24.0 * HOUR);
    }
}

#[test]
fn given_times_become_unix_seconds_where_the_axis_tells_how() {
    let dir = tempdir().unwrap();
    let axis = |units, values| Axis { units, calendar: None, values };
    let days = winds(dir.path(), "days.nc", &axis("days since 2000-01-01", vec![0.0, 1.0]), 0);
    let more = winds(dir.path(), "more.nc", &axis("days since 2000-01-01", vec![2.0, 3.0]), 2);
    let given = |files, times: &[f64]| bracket(ProviderOptions { times: Some(times.to_vec()), ..files });
    let provider = open(given(files(&[&days, &more]), &[0.0, 1.0, 3.0]));
    assert_eq!(unix_times(&provider.sample_at(1.5).unwrap()), [Y2000 + 24.0 * HOUR, Y2000 + 72.0 * HOUR]);
    assert_eq!(unix_times(&provider.sample_at(3.0).unwrap()), [Y2000 + 72.0 * HOUR; 2]);
    let months = winds(dir.path(), "months.nc", &axis("months since 2000-01-01", vec![0.0, 1.0, 2.0]), 0);
    let provider = open(given(files(&[&months]), &[0.0, 2.0]));
    let expected = (vec![0.0, 2.0], Some("months since 2000-01-01".to_string()), None);
    assert_eq!(times(&provider.sample_at(0.5).unwrap()), expected);
    let path = dir.path().join("none.nc");
    write(&path, |file| {
        file.add_dimension("time", 3).unwrap();
        file.add_variable::<i32>("v", &["time"]).unwrap().put_values(&[1, 2, 3], ..).unwrap();
    });
    let provider = open(given(files(&[&path]), &[0.25, 0.5, 1.0]));
    let sample = provider.sample_at(0.6).unwrap();
    assert_eq!(times(&sample), (vec![0.5, 1.0], None, None));
    assert!(sample.variables[0].values.same_bits(&Values::I32(vec![2, 3])));
}

/// A file of `x` by `time` (hours from `first` on) with integers, doubles and texts.
fn columns(dir: &Path, name: &str, first: i32, build: impl FnOnce(&mut FileMut)) -> PathBuf {
    let path = dir.join(name);
    write(&path, |file| {
        file.add_dimension("x", 2).unwrap();
        file.add_dimension("time", 2).unwrap();
        let mut time = file.add_variable::<i32>("time", &["time"]).unwrap();
        time.put_attribute("units", "hours since 2000-01-01").unwrap();
        time.put_values(&[first, first + 1], ..).unwrap();
        let own = |k: i32| [10, 11, 20, 21].map(|v| v + k * first);
        file.add_variable::<i32>("n", &["x", "time"]).unwrap().put_values(&own(1), ..).unwrap();
        let mut label = file.add_string_variable("label", &["x", "time"]).unwrap();
        for (i, value) in own(1).iter().enumerate() {
            label.put_string(&value.to_string(), [i / 2, i % 2]).unwrap();
        }
        build(file);
    });
    path
}

#[test]
fn the_time_dimension_stays_where_it_stands() {
    let dir = tempdir().unwrap();
    // The two files store the same numbers in different ways.
    let early = columns(dir.path(), "a.nc", 0, |file| {
        file.add_variable::<f64>("v", &["x", "time"]).unwrap().put_values(&[0.5, 1.5, 2.5, 3.5], ..).unwrap();
    });
    let late = columns(dir.path(), "b.nc", 2, |file| {
        let mut v = file.add_variable::<i16>("v", &["x", "time"]).unwrap();
        v.put_attribute("scale_factor", 0.5).unwrap();
        v.put_values(&[9_i16, 11, 13, 15], ..).unwrap();
    });
    let provider = open(bracket(files(&[&early, &late])));
    for (hour, n, v) in [
        (0.0, [10, 11, 20, 21], [0.5, 1.5, 2.5, 3.5]),
        (1.0, [11, 12, 21, 22], [1.5, 4.5, 3.5, 6.5]),
        (2.0, [12, 13, 22, 23], [4.5, 5.5, 6.5, 7.5]),
        (3.0, [13, 13, 23, 23], [5.5, 5.5, 7.5, 7.5]),
    ] {
        let sample = provider.sample_at(Y2000 + hour * HOUR).unwrap();
        for field in &sample.variables {
            assert_eq!((dims(field), &field.shape[..]), (vec!["x", "time"], &[2, 2][..]));
        }
        let same = |name: &str, values| sample.variable(name).unwrap().values.same_bits(&values);
        assert!(same("n", Values::I32(n.to_vec())), "{hour}");
        assert!(same("v", Values::F64(v.to_vec())), "{hour}");
        assert!(same("label", Values::String(n.iter().map(i32::to_string).collect())), "{hour}");
    }
}

#[test]
fn records_that_cannot_stand_together_are_refused_by_name() {
    let dir = tempdir().unwrap();
    let early = columns(dir.path(), "early.nc", 0, |file| {
        file.add_dimension("y", 2).unwrap();
        let mut v = file.add_variable::<i32>("v", &["time", "x"]).unwrap();
        v.put_attribute("units", "K").unwrap();
        v.put_values(&[1, 2, 3, 4], ..).unwrap();
    });
    type Build = fn(&mut FileMut);
    let cases: [(Build, ErrorKind, &str); 5] = [
        (|_| {}, ErrorKind::NotFound, "no data variable \"v\""),
        (
            |file| {
                file.add_variable::<f32>("v", &["time", "x"]).unwrap();
            },
            ErrorKind::Format,
            "has the type floating point here and int32 in",
        ),
        (
            |file| {
                file.add_dimension("y", 2).unwrap();
                file.add_variable::<i32>("v", &["time", "y"]).unwrap();
            },
            ErrorKind::Format,
            "has the dimensions \"time\", \"y\" here and \"time\", \"x\" in",
        ),
        (
            |file| {
                file.add_variable::<i32>("v", &["x", "time"]).unwrap();
            },
            ErrorKind::Format,
            "has the dimensions \"x\", \"time\" here",
        ),
        (
            |file| {
                let mut v = file.add_variable::<i32>("v", &["time", "x"]).unwrap();
                v.put_attribute("units", "degC").unwrap();
            },
            ErrorKind::Format,
            "has the units \"degC\" here and \"K\" in",
        ),
    ];
    for (k, (build, kind, part)) in cases.into_iter().enumerate() {
        let late = columns(dir.path(), &format!("late{k}.nc"), 2, build);
        let provider = open(bracket(files(&[&early, &late])));
        assert!(provider.sample_at(Y2000).is_ok());
        let error = provider.sample_at(Y2000 + HOUR).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert_says(&error, &[part, &format!("late{k}.nc"), "early.nc"]);
    }
    let wide = dir.path().join("wide.nc");
    write(&wide, |file| {
        file.add_dimension("x", 3).unwrap();
        file.add_dimension("time", 1).unwrap();
        let mut time = file.add_variable::<i32>("time", &["time"]).unwrap();
        time.put_attribute("units", "hours since 2000-01-01").unwrap();
        time.put_values(&[2], ..).unwrap();
        file.add_variable::<i32>("v", &["time", "x"]).unwrap();
    });
    let options = ProviderOptions { variables: vec!["v".into()], ..files(&[&early, &wide]) };
    let provider = open(bracket(options));
    let error = provider.sample_at(Y2000 + HOUR).unwrap_err();
    assert_says(&error, &["wide.nc", "shape [1, 3] here and [1, 2] in", "early.nc"]);
    // A window in which they agree is a bracket of it.
    let narrow = provider.with_window(DimWindow::new().range("x", 0, 2)).unwrap();
    assert_eq!(narrow.sample_at(Y2000 + HOUR).unwrap().variables[0].shape, [2, 2]);
    let error = provider.with_window(DimWindow::new().indices("x", [2])).unwrap().sample_at(Y2000).unwrap_err();
    assert_says(&error, &["early.nc", "length 2"]);
}

#[test]
fn a_bracket_needs_a_time_dimension() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.nc");
    write(&path, |file| {
        file.add_dimension("x", 2).unwrap();
        file.add_variable::<i32>("v", &["x"]).unwrap().put_values(&[1, 2], ..).unwrap();
    });
    let given = ProviderOptions { times: Some(vec![0.0]), ..files(&[&path]) };
    for options in [files(&[&path]), given.clone()] {
        let error = refusal(bracket(options));
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        assert_says(&error, &["a.nc", "two records", "name it with time_dim", "or take records_per_sample = 1"]);
    }
    let (server, root) = (Files::serve(), tempdir().unwrap());
    std::fs::copy(&path, server.path().join("a.nc")).unwrap();
    let remote = ProviderOptions { files: vec![server.url("a.nc")], cache: Some(cache(&root, false)), ..given };
    let error = open(bracket(remote)).sample_at(0.0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    assert_says(
        &error,
        &[server.url("a.nc").to_str().unwrap(), "needed for the time 0", "two records", "records_per_sample = 1"],
    );
}

#[test]
fn a_bracket_over_urls_fetches_both_files_and_no_more() {
    let (server, root) = (Files::serve(), tempdir().unwrap());
    let (urls, ticks) = half_a_day(&server);
    let options = ProviderOptions { times: Some(ticks.clone()), cache: Some(cache(&root, false)), ..files(&[]) };
    let provider = open(bracket(ProviderOptions { files: urls, ..options }));
    assert_winds(&provider.sample_at(ticks[1]).unwrap(), [1, 2]);
    assert_eq!(server.asked(), ["p0.nc"]);
    let sample = provider.sample_at(ticks[3] + 1.0).unwrap();
    assert_winds(&sample, [3, 4]);
    assert_eq!(unix_times(&sample), [ticks[3], ticks[4]]);
    assert_eq!(server.asked(), ["p1.nc"]);
    // What is fetched ahead includes the successor of the last record in force.
    assert_eq!(provider.prefetch(ticks[4], ticks[7]).unwrap(), 1);
    assert!(server.asked().is_empty());
    assert_eq!(provider.prefetch(ticks[4], ticks[7] + 1.0).unwrap(), 2);
    assert_eq!(server.asked(), ["p2.nc"]);
    assert_eq!(provider.prefetch(ticks[11], f64::INFINITY).unwrap(), 1);
    assert_eq!(provider.prefetch(ticks[4], ticks[4]).unwrap(), 0);
}

#[test]
fn files_behind_urls_whose_times_differ_in_unit_make_no_bracket() {
    let (server, root) = (Files::serve(), tempdir().unwrap());
    let axis = |calendar| Axis { units: "days since 2000-01-01", calendar: Some(calendar), values: vec![0.0, 1.0] };
    winds(server.path(), "standard.nc", &axis("standard"), 0);
    winds(server.path(), "noleap.nc", &Axis { values: vec![2.0, 3.0], ..axis("noleap") }, 2);
    let urls = ["standard.nc", "standard.nc", "noleap.nc", "noleap.nc"].map(|name| server.url(name));
    let options = ProviderOptions { cache: Some(cache(&root, false)), ..ProviderOptions::of_files(urls) };
    let provider = open(bracket(ProviderOptions { times: Some(vec![0.0, 1.0, 2.0, 3.0]), ..options }));
    assert_eq!(unix_times(&provider.sample_at(0.0).unwrap()), [Y2000, Y2000 + 24.0 * HOUR]);
    let error: Error = provider.sample_at(1.0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Format);
    assert_says(&error, &["noleap.nc", "calendar noleap", "standard.nc", "calendar standard"]);
}

#[test]
fn files_whose_given_times_differ_in_unit_make_no_bracket() {
    let dir = tempdir().unwrap();
    let axis = |units, calendar, values| Axis { units, calendar: Some(calendar), values };
    let days = "days since 2000-01-01";
    let standard = winds(dir.path(), "standard.nc", &axis(days, "standard", vec![0.0, 1.0]), 0);
    let noleap = winds(dir.path(), "noleap.nc", &axis(days, "noleap", vec![2.0, 3.0]), 2);
    let given = ProviderOptions { times: Some(vec![0.0, 1.0, 2.0, 3.0]), ..files(&[&standard, &noleap]) };
    let error = refusal(bracket(given.clone()));
    assert_eq!(error.kind(), ErrorKind::Format);
    assert_says(&error, &["noleap.nc", "noleap", "standard.nc", "standard", "a provider of its own"]);
    // One record at a time needs no common unit.
    assert_wind(&open(given.clone()).sample_at(2.0).unwrap(), 2);
    // Nor does a bracket whose records are all of one file.
    let provider = open(bracket(ProviderOptions { times: Some(vec![2.0, 3.0]), ..given }));
    assert_winds(&provider.sample_at(2.0).unwrap(), [2, 3]);
}

#[test]
fn members_of_a_group_may_be_brackets() {
    let dir = tempdir().unwrap();
    let [early, late] = two_files(&dir);
    let provider = open(bracket(files(&[&early, &late])));
    let hourly = open(files(&[&early, &late]));
    let members = PrefetchGroup::builder().member("both", Arc::new(provider.clone())).member("one", Arc::new(hourly));
    let group = members.workers(2).build().unwrap();
    for order in [Order::Forward, Order::Reverse] {
        let reverse = matches!(order, Order::Reverse);
        group.start(order, None).unwrap();
        for k in 0..8 {
            let k = if reverse { 7 - k } else { k };
            let epoch = group.take(k).unwrap();
            assert_winds(&epoch.get("both").unwrap().data, [k, (k + 1).min(7)]);
            let fresh = provider.sample_at(group.boundaries()[k]).unwrap();
            assert!(epoch.get("both").unwrap().data.same_bits(&fresh));
            assert_wind(&epoch.get("one").unwrap().data, k);
        }
    }
}

#[test]
fn windows_of_a_bracket_keep_the_order_of_the_times() {
    let dir = tempdir().unwrap();
    let [early, _] = two_files(&dir);
    let mixed = winds(dir.path(), "mixed.nc", &hours([7, 5, 4, 6]), 10);
    let provider = open(bracket(files(&[&early, &mixed])));
    let windows: Vec<Selection> = vec![
        DimWindow::new().range("lat", 1, 3).into(),
        DimWindow::new().indices("lon", [5, 0, 0]).into(),
        DimWindow::new().indices("lat", []).into(),
    ];
    let seeds = [0, 1, 2, 3, 12, 11, 13, 10];
    for hour in 0..8 {
        let t = Y2000 + hour as f64 * HOUR;
        assert_winds(&provider.sample_at(t).unwrap(), [seeds[hour], seeds[(hour + 1).min(7)]]);
        let together = provider.sample_windows_at(t, &windows).unwrap();
        for (sample, window) in together.iter().zip(&windows) {
            let alone = provider.with_window(window.clone()).unwrap().sample_at(t).unwrap();
            assert!(sample.same_bits(&alone), "{hour} {window:?}");
            assert_eq!(unix_times(sample)[0], t);
        }
    }
}
