//! Windows: the rules of binding one, of sampling several, and of finding one by coordinate values.

use crate::support::*;
use forcings::dataset::{AxisSelect, CoordWindow, DimWindow, Selection, Values};
use forcings::provider::{Provider, ProviderOptions};
use forcings::{Error, ErrorKind};
use std::path::PathBuf;
use tempfile::{tempdir, TempDir};

fn provider(dir: &TempDir) -> (PathBuf, Provider) {
    let path = winds(dir.path(), "a.nc", &hours(0..3), 0);
    let provider = open(files(&[&path]));
    (path, provider)
}

fn selection_error(result: Result<impl Sized, Error>, parts: &[&str]) {
    let error = result.map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Selection, "{error}");
    assert_says(&error, parts);
}

/// A provider whose file is gone: whatever reads now fails with `Io`.
fn bare_provider(dir: &TempDir) -> Provider {
    let (path, provider) = provider(dir);
    std::fs::remove_file(path).unwrap();
    assert_eq!(provider.sample_at(Y2000).unwrap_err().kind(), ErrorKind::Io);
    provider
}

#[test]
fn row_77_a_window_cannot_name_the_time_dimension_even_whole() {
    let dir = tempdir().unwrap();
    let provider = bare_provider(&dir);
    for time in [DimWindow::new().all("time"), DimWindow::new().range("time", 0, 1).all("lat")] {
        selection_error(provider.with_window(time.clone()), &["\"time\" is the time dimension"]);
        let windows = [DimWindow::new().into(), time.into()];
        selection_error(provider.sample_windows_at(Y2000, &windows), &["\"time\" is the time dimension"]);
    }
}

#[test]
fn row_78_windows_do_not_compose() {
    let dir = tempdir().unwrap();
    let provider = bare_provider(&dir);
    // One that takes nothing away is a window too.
    for window in [DimWindow::new().range("lat", 0, 2), DimWindow::new()] {
        let taken = provider.with_window(window).unwrap();
        selection_error(taken.with_window(DimWindow::new()), &["has a selection already"]);
        selection_error(taken.sample_windows_at(Y2000, &[DimWindow::new().into()]), &["has a selection already"]);
        selection_error(taken.coord_window(&CoordWindow::new()), &["has a selection already"]);
        // Before the form, and before the time dimension.
        selection_error(taken.with_window(Selection::All), &["has a selection already"]);
        selection_error(taken.with_window(DimWindow::new().all("time")), &["has a selection already"]);
    }
}

#[test]
fn row_79_a_window_names_its_dimensions() {
    let dir = tempdir().unwrap();
    let provider = bare_provider(&dir);
    for unnamed in [Selection::All, Selection::Positional(vec![AxisSelect::All; 3])] {
        selection_error(provider.with_window(unnamed.clone()), &["names its dimensions"]);
        selection_error(provider.sample_windows_at(Y2000, &[unnamed]), &["names its dimensions"]);
    }
}

#[test]
fn rows_80_and_82_every_format_narrows_so_that_no_selection_is_refused_or_ignored() {
    let dir = tempdir().unwrap();
    let formats = [
        netcdf::Options::empty(),
        netcdf::Options::_64BIT_OFFSET,
        netcdf::Options::_64BIT_DATA,
        netcdf::Options::NETCDF4,
    ];
    for (k, format) in formats.into_iter().enumerate() {
        let path = dir.path().join(format!("{k}.nc"));
        let mut file = netcdf::create_with(&path, format).unwrap();
        file.add_dimension("x", 3).unwrap();
        file.add_variable::<i32>("v", &["x"]).unwrap();
        if k < 3 {
            file.enddef().unwrap();
        }
        file.variable_mut("v").unwrap().put_values(&[1, 2, 3], ..).unwrap();
        file.close().unwrap();
        let window = DimWindow::new().indices("x", [2, 0]);
        let baked = open(ProviderOptions { select: Some(window.clone().into()), ..files(&[&path]) });
        let whole = open(files(&[&path]));
        assert!(whole.supports_selection() && baked.supports_selection());
        for narrowed in [whole.with_window(window).unwrap(), baked] {
            let sample = narrowed.sample_at(0.0).unwrap();
            assert!(sample.variables[0].values.same_bits(&Values::I32(vec![3, 1])));
        }
    }
    let unknown = ProviderOptions { format: "csv".into(), ..files(&[&dir.path().join("3.nc")]) };
    assert_eq!(refusal(unknown).kind(), ErrorKind::InvalidParameter);
}

#[test]
fn row_83_no_windows_are_no_samples_and_no_read() {
    let dir = tempdir().unwrap();
    let provider = bare_provider(&dir);
    assert!(provider.sample_windows_at(Y2000, &[]).unwrap().is_empty());
    let taken = provider.with_window(DimWindow::new()).unwrap();
    assert!(taken.sample_windows_at(f64::NAN, &[]).unwrap().is_empty());
}

#[test]
fn a_step_of_0_is_refused_by_the_union_and_by_the_read() {
    let dir = tempdir().unwrap();
    let provider = bare_provider(&dir);
    let standing = DimWindow::new().range_step("lat", 0, u64::MAX, 0);
    selection_error(provider.sample_windows_at(Y2000, &[standing.clone().into()]), &["step 0"]);
    // What every window must fulfil comes before the union.
    let windows = [standing.clone().into(), DimWindow::new().all("time").into()];
    selection_error(provider.sample_windows_at(Y2000, &windows), &["\"time\" is the time dimension"]);
    assert_eq!(provider.with_window(standing).unwrap().sample_at(Y2000).unwrap_err().kind(), ErrorKind::Io);
}

#[test]
fn a_window_that_does_not_fit_the_file_fails_at_the_read() {
    let dir = tempdir().unwrap();
    let (_, provider) = provider(&dir);
    let read = |window: DimWindow| provider.with_window(window).unwrap().sample_at(Y2000);
    selection_error(read(DimWindow::new().all("latitude")), &["\"latitude\"", "\"lat\", \"lon\""]);
    selection_error(read(DimWindow::new().range("lat", 0, 5)), &["index 4", "length 4"]);
    selection_error(read(DimWindow::new().range_step("lat", 0, 2, 0)), &["step 0"]);
}

#[test]
fn a_window_keeps_its_own_buffer_and_leaves_the_original_alone() {
    let dir = tempdir().unwrap();
    let (_, provider) = provider(&dir);
    let full = provider.refresh(Y2000).unwrap();
    let seam = provider.with_window(DimWindow::new().indices("lon", [5, 0, 1]).range("lat", 1, 3)).unwrap();
    assert!(seam.current().is_none());
    let sample = seam.refresh(Y2000).unwrap();
    let u = sample.variable("u").unwrap();
    let expected: Vec<f64> = [1, 2].iter().flat_map(|j| [5, 0, 1].map(|i| wind(0)[j * LON + i])).collect();
    assert!(u.shape == [2, 3] && u.values.same_bits(&Values::F64(expected)));
    assert_eq!(f64s(sample.coord("lon").unwrap()), [12.5, 0.0, 2.5]);
    assert!(provider.current().unwrap().same_bits(&full));
    assert_eq!(seam.refresh_times(), provider.refresh_times());
}

#[test]
fn a_selection_may_be_baked_in_when_a_provider_is_opened() {
    let dir = tempdir().unwrap();
    let (path, _) = provider(&dir);
    let with = |json: &str| {
        let select = Some(Selection::from_json(json).unwrap());
        ProviderOptions { select, ..files(&[&path]) }
    };
    let positional = open(with(r#"{"axes": [{"indices": [3]}, "all"]}"#));
    assert_eq!(positional.sample_at(Y2000).unwrap().variable("u").unwrap().shape, [1, LON]);
    selection_error(positional.with_window(DimWindow::new()), &["has a selection already"]);
    assert_wind(&open(with(r#"{"dims": {"time": "all"}}"#)).sample_at(Y2000).unwrap(), 0);
    selection_error(Provider::open(with(r#"{"dims": {"time": {"slice": [0, 1]}}}"#)), &["time dimension"]);
    selection_error(Provider::open(with(r#"{"dims": {"lat": {"indices": [9]}}}"#)), &["index 9", "a.nc"]);
}

#[test]
fn row_85_constant_data_leave_the_refusal_of_time_to_the_read() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.nc");
    write(&path, |file| {
        file.add_dimension("time", 2).unwrap();
        file.add_variable::<i32>("v", &["time"]).unwrap().put_values(&[1, 2], ..).unwrap();
    });
    let provider = open(files(&[&path]));
    let window = provider.with_window(DimWindow::new().range("time", 0, 1)).unwrap();
    selection_error(window.materialize(), &["time axis"]);
    assert_eq!(provider.with_window(DimWindow::new().all("time")).unwrap().materialize().unwrap().variables.len(), 1);
    // The union would read the whole axis on behalf of the second window.
    let windows = [DimWindow::new().range("time", 0, 1).into(), DimWindow::new().into()];
    selection_error(provider.sample_windows_at(0.0, &windows), &["time axis"]);
}

/// Checks that a list with this window among good ones fails as the window alone.
fn fails_as_alone(bad: DimWindow, parts: &[&str]) {
    let dir = tempdir().unwrap();
    let (_, provider) = provider(&dir);
    let whole: Selection = DimWindow::new().into();
    let alone = provider.with_window(bad.clone()).unwrap().sample_at(Y2000).unwrap_err();
    let windows = [whole.clone(), bad.into(), DimWindow::new().indices("lat", [0]).into(), whole];
    let together = provider.sample_windows_at(Y2000, &windows).unwrap_err();
    assert_eq!((together.kind(), together.to_string()), (alone.kind(), alone.to_string()));
    selection_error(Err::<(), _>(alone), parts);
}

#[test]
fn row_84_one_window_with_an_unknown_dimension_fails_the_list() {
    fails_as_alone(DimWindow::new().all("nobody"), &["\"nobody\"", "\"lat\", \"lon\""]);
    fails_as_alone(DimWindow::new().range("nobody", 0, 1).indices("lat", [9]), &["\"nobody\""]);
}

#[test]
fn row_86_an_index_outside_is_refused_though_another_window_takes_the_dimension_whole() {
    fails_as_alone(DimWindow::new().indices("lat", [5]), &["index 5", "length 4"]);
    fails_as_alone(DimWindow::new().range("lon", 2, 9), &["index 8", "length 6"]);
}

#[test]
fn a_time_before_the_first_is_the_error_of_a_list_too() {
    let dir = tempdir().unwrap();
    let (_, provider) = provider(&dir);
    let before = provider.sample_windows_at(0.0, &[DimWindow::new().into()]).unwrap_err();
    assert_eq!(before.kind(), ErrorKind::OffGrid);
    assert_eq!(before.to_string(), provider.sample_at(0.0).unwrap_err().to_string());
}

#[test]
fn a_window_by_coordinates_is_found_on_the_axes_of_the_file() {
    let dir = tempdir().unwrap();
    let (path, provider) = provider(&dir);
    // The axes are 0, 2.5, 5, …, and no longitude by their attributes.
    let asked = CoordWindow::new().between("lat", 2.5, 7.4).between("lon", 5.0, 10.0);
    let window = provider.coord_window(&asked).unwrap();
    assert_eq!(window, DimWindow::new().range("lat", 1, 3).range("lon", 2, 5));
    let sample = provider.with_window(window).unwrap().sample_at(Y2000).unwrap();
    assert_eq!(f64s(sample.coord("lat").unwrap()), [2.5, 5.0]);
    assert_eq!(f64s(sample.coord("lon").unwrap()), [5.0, 7.5, 10.0]);
    assert!(sample.same_bits(
        &open(ProviderOptions {
            select: Some(DimWindow::new().range("lat", 1, 3).range("lon", 2, 5).into()),
            ..files(&[&path])
        })
        .sample_at(Y2000)
        .unwrap()
    ));
    let refused = |name: &str, from, to| provider.coord_window(&CoordWindow::new().between(name, from, to));
    selection_error(refused("time", 0.0, 1.0), &["\"time\" is the time dimension"]);
    selection_error(refused("height", 0.0, 1.0), &["a.nc", "no coordinate \"height\"", "\"lat\", \"lon\""]);
    selection_error(refused("lat", 8.0, 9.0), &["a.nc", "\"lat\"", "from 0 to 7.5 in 4 cells"]);
    selection_error(refused("lat", 5.0, f64::NAN), &["NaN"]);
    std::fs::remove_file(path).unwrap();
    assert_eq!(refused("lat", 0.0, 1.0).map(drop).unwrap_err().kind(), ErrorKind::Io);
}

#[test]
fn a_window_across_the_seam_follows_the_globe() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("globe.nc");
    write(&path, |file| {
        file.add_dimension("lon", 8).unwrap();
        let mut lon = file.add_variable::<f32>("lon", &["lon"]).unwrap();
        lon.put_attribute("units", "degrees_east").unwrap();
        lon.put_values(&[-180.0_f32, -135.0, -90.0, -45.0, 0.0, 45.0, 90.0, 135.0], ..).unwrap();
        file.add_variable::<i32>("v", &["lon"]).unwrap().put_values(&(0..8).collect::<Vec<i32>>(), ..).unwrap();
    });
    let provider = open(files(&[&path]));
    for (from, to, expected) in [
        (90.0, 270.0, vec![6, 7, 0, 1, 2]),
        (315.0, 45.0, vec![3, 4, 5]),
        (135.0, -180.0, vec![7, 0]),
        (-180.0, 180.0, vec![0, 1, 2, 3, 4, 5, 6, 7]),
    ] {
        let window = provider.coord_window(&CoordWindow::new().between("lon", from, to)).unwrap();
        let sample = provider.with_window(window).unwrap().sample_at(0.0).unwrap();
        assert!(sample.variables[0].values.same_bits(&Values::I32(expected)), "({from}, {to}): {sample:?}");
    }
}

#[test]
fn dimensions_of_one_name_are_told_apart() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.nc");
    write(&path, |file| {
        let above = file.add_dimension("x", 4).unwrap().identifier();
        let mut group = file.add_group("inner").unwrap();
        group.add_dimension("x", 2).unwrap();
        let mut long = group.add_variable_from_identifiers::<i32>("long", &[above]).unwrap();
        long.put_values(&[1, 2, 3, 4], ..).unwrap();
        group.add_variable::<i32>("short", &["x"]).unwrap().put_values(&[5, 6], ..).unwrap();
    });
    let mut options = files(&[&path]);
    options.group = Some("inner".into());
    let provider = open(options);
    let windows: Vec<Selection> =
        vec![DimWindow::new().indices("x", vec![1, 0, 1]).into(), DimWindow::new().range("x", 0, 1).into()];
    let samples = provider.sample_windows_at(0.0, &windows).unwrap();
    for (sample, window) in samples.iter().zip(&windows) {
        assert!(sample.same_bits(&provider.with_window(window.clone()).unwrap().sample_at(0.0).unwrap()));
    }
    assert!(samples[0].variable("long").unwrap().values.same_bits(&Values::I32(vec![2, 1, 2])));
    assert!(samples[0].variable("short").unwrap().values.same_bits(&Values::I32(vec![6, 5, 6])));
}

#[test]
fn what_is_wrong_outside_of_every_window_concerns_none() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("a.nc");
    write(&path, |file| {
        file.add_dimension("x", 2).unwrap();
        file.add_dimension("y", 2).unwrap();
        // The union of both windows has all four cells, and two of them do not fit an int64.
        let mut v = file.add_variable::<u64>("v", &["x", "y"]).unwrap();
        v.put_values(&[1_u64, u64::MAX, u64::MAX, 2], ..).unwrap();
    });
    let provider = open(files(&[&path]));
    let corner = |i: u64| Selection::from(DimWindow::new().indices("x", [i]).indices("y", [i]));
    let samples = provider.sample_windows_at(0.0, &[corner(0), corner(1)]).unwrap();
    assert!(samples[0].variables[0].values.same_bits(&Values::I64(vec![1])));
    assert!(samples[1].variables[0].values.same_bits(&Values::I64(vec![2])));
    assert_eq!(provider.sample_at(0.0).unwrap_err().kind(), ErrorKind::Format);
}
