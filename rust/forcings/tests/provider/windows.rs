//! Windows: the rules of binding one, and the gate that a windowed read is the full read, sliced afterwards.

use crate::support::*;
use forcings::dataset::{AxisSelect, Dataset, DimWindow, Field, Selection, Values};
use forcings::provider::{Provider, ProviderOptions};
use forcings::{Error, ErrorKind};
use proptest::prelude::*;
use std::collections::BTreeMap;
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

#[test]
fn a_window_is_checked_before_any_read() {
    let dir = tempdir().unwrap();
    let (path, provider) = provider(&dir);
    // Whatever reads now says so.
    std::fs::remove_file(path).unwrap();
    let windowed = provider.with_window(DimWindow::new().range("lat", 0, 2)).unwrap();
    let identity = provider.with_window(DimWindow::new()).unwrap();
    for taken in [&windowed, &identity] {
        selection_error(taken.with_window(DimWindow::new()), &["has a selection already"]);
        selection_error(taken.sample_windows_at(Y2000, &[DimWindow::new().into()]), &["has a selection already"]);
    }
    for unnamed in [Selection::All, Selection::Positional(vec![AxisSelect::All; 3])] {
        selection_error(provider.with_window(unnamed.clone()), &["names its dimensions"]);
        selection_error(provider.sample_windows_at(Y2000, &[unnamed]), &["names its dimensions"]);
    }
    let all = DimWindow::new().all("time");
    selection_error(provider.with_window(all.clone()), &["\"time\" is the time dimension"]);
    let windows = [DimWindow::new().into(), all.into()];
    selection_error(provider.sample_windows_at(Y2000, &windows), &["\"time\" is the time dimension"]);
    let standing = DimWindow::new().range_step("lat", 0, u64::MAX, 0);
    selection_error(provider.sample_windows_at(Y2000, &[standing.clone().into()]), &["step 0"]);
    assert_eq!(provider.with_window(standing).unwrap().sample_at(Y2000).unwrap_err().kind(), ErrorKind::Io);
    assert!(provider.sample_windows_at(f64::NAN, &[]).unwrap().is_empty());
    assert!(provider.supports_selection());
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
fn constant_data_leave_the_refusal_of_time_to_the_read() {
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

#[test]
fn several_windows_fail_as_the_one_at_fault_would_alone() {
    let dir = tempdir().unwrap();
    let (_, provider) = provider(&dir);
    let whole: Selection = DimWindow::new().into();
    for bad in
        [DimWindow::new().all("nobody"), DimWindow::new().indices("lat", [5]), DimWindow::new().range("lon", 2, 9)]
    {
        let alone = provider.with_window(bad.clone()).unwrap().sample_at(Y2000).unwrap_err();
        let together = provider.sample_windows_at(Y2000, &[whole.clone(), bad.into(), whole.clone()]).unwrap_err();
        assert_eq!((together.kind(), together.to_string()), (alone.kind(), alone.to_string()));
    }
    let before = provider.sample_windows_at(0.0, &[whole]).unwrap_err();
    assert_eq!(before.kind(), ErrorKind::OffGrid);
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

const DIMS: [&str; 4] = ["time", "lev", "lat", "lon"];

/// A file of random extents, chunks, filters and kind.
#[derive(Debug, Clone)]
struct Shape {
    extents: [usize; 4],
    chunk: [usize; 4],
    deflate: bool,
    classic: bool,
    seed: u32,
}

fn any_shape() -> impl Strategy<Value = Shape> {
    let extents = (1..4_usize, 1..4_usize, 1..6_usize, 1..8_usize).prop_map(|(a, b, c, d)| [a, b, c, d]);
    let chunk = (1..3_usize, 1..3_usize, 1..4_usize, 1..5_usize).prop_map(|(a, b, c, d)| [a, b, c, d]);
    (extents, chunk, any::<(bool, bool, u32)>()).prop_map(|(extents, chunk, (deflate, classic, seed))| Shape {
        extents,
        chunk: std::array::from_fn(|i| chunk[i].min(extents[i])),
        deflate,
        classic,
        seed,
    })
}

/// Packed, masked, plain, text and scalar variables, of several ranks, with coordinates for all dimensions but `lev`.
fn random_file(dir: &TempDir, shape: &Shape) -> PathBuf {
    let path = dir.path().join("random.nc");
    let options = if shape.classic { netcdf::Options::empty() } else { netcdf::Options::NETCDF4 };
    let mut file = netcdf::create_with(&path, options).unwrap();
    for (name, len) in DIMS.iter().zip(shape.extents) {
        file.add_dimension(name, len).unwrap();
    }
    file.add_dimension("width", 3).unwrap();
    let chunk_of =
        |dims: &[&str]| dims.iter().map(|d| shape.chunk[DIMS.iter().position(|n| n == d).unwrap()]).collect::<Vec<_>>();
    let variables: [(&str, &[&str]); 4] =
        [("t", &DIMS), ("ps", &["lat", "time", "lon"]), ("n", &["lev", "lat"]), ("s", &["lon"])];
    macro_rules! define {
        ($type:ty, $name:expr, $dims:expr) => {{
            let dims: &[&str] = $dims;
            let mut v = file.add_variable::<$type>($name, dims).unwrap();
            if !shape.classic && !dims.is_empty() {
                v.set_chunking(&chunk_of(dims)).unwrap();
                if shape.deflate {
                    v.set_compression(1, shape.seed % 2 == 0).unwrap();
                }
            }
            v
        }};
    }
    define!(i32, "time", &["time"]).put_attribute("units", "hours since 2000-01-01").unwrap();
    define!(f64, "lat", &["lat"]);
    define!(f32, "lon", &["lon"]);
    let mut t = define!(i16, variables[0].0, variables[0].1);
    t.put_attribute("_FillValue", 7_i16).unwrap();
    t.put_attribute("add_offset", 0.1).unwrap();
    t.put_attribute("scale_factor", 0.3_f32).unwrap();
    define!(f32, variables[1].0, variables[1].1).put_attribute("missing_value", vec![3.0_f32, 5.0]).unwrap();
    define!(i32, variables[2].0, variables[2].1);
    define!(f64, variables[3].0, variables[3].1);
    define!(i16, "flag", &[]);
    let text = netcdf::types::NcVariableType::Char;
    file.add_variable_with_type("label", &["lat", "width"], &text).unwrap();
    if shape.classic {
        file.enddef().unwrap();
    }
    let len = |dims: &[&str]| dims.iter().map(|d| file_len(shape, d)).product::<usize>();
    let mut state = shape.seed | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    macro_rules! fill {
        ($type:ty, $name:expr, $dims:expr) => {{
            let values: Vec<$type> = (0..len($dims)).map(|_| (next() % 40) as $type).collect();
            file.variable_mut($name).unwrap().put_values(&values, ..).unwrap();
        }};
    }
    let hours: Vec<i32> = (0..shape.extents[0] as i32).collect();
    file.variable_mut("time").unwrap().put_values(&hours, ..).unwrap();
    fill!(f64, "lat", &["lat"]);
    fill!(f32, "lon", &["lon"]);
    fill!(i16, variables[0].0, variables[0].1);
    fill!(f32, variables[1].0, variables[1].1);
    fill!(i32, variables[2].0, variables[2].1);
    fill!(f64, variables[3].0, variables[3].1);
    file.variable_mut("flag").unwrap().put_value(5_i16, ()).unwrap();
    file.close().unwrap();
    path
}

fn file_len(shape: &Shape, dim: &str) -> usize {
    shape.extents[DIMS.iter().position(|n| *n == dim).unwrap()]
}

/// Numbers from which selectors for axes of any length are made.
type Draw = (u8, Vec<u64>, u64);

fn any_draws() -> impl Strategy<Value = [Draw; 3]> {
    let draw = || (0..4_u8, proptest::collection::vec(any::<u64>(), 0..5), any::<u64>());
    (draw(), draw(), draw()).prop_map(|(a, b, c)| [a, b, c])
}

fn window(shape: &Shape, draws: &[Draw; 3]) -> Selection {
    let mut dims = BTreeMap::new();
    for (name, (kind, numbers, extra)) in DIMS[1..].iter().zip(draws) {
        let len = file_len(shape, name) as u64;
        let selector = match kind {
            0 => continue,
            1 => AxisSelect::All,
            2 => AxisSelect::Indices(numbers.iter().map(|n| n % len).collect()),
            _ => AxisSelect::Slice {
                start: extra % (len + 1),
                stop: (extra >> 8) % (len + 1),
                step: 1 + (extra >> 16) % 3,
            },
        };
        dims.insert(name.to_string(), selector);
    }
    Selection::Named(dims)
}

/// Slices a field by the names of its dimensions, one element at a time.
fn slice(field: &Field, window: &Selection) -> Field {
    let Selection::Named(dims) = window else { panic!("named windows only") };
    let lists: Vec<Vec<usize>> = field
        .dims
        .iter()
        .zip(&field.shape)
        .map(|(dim, len)| match dims.get(&**dim) {
            None | Some(AxisSelect::All) => (0..*len).collect(),
            Some(AxisSelect::Indices(list)) => list.iter().map(|i| *i as usize).collect(),
            Some(AxisSelect::Slice { start, stop, step }) => {
                (*start..*stop).step_by(*step as usize).map(|i| i as usize).collect()
            }
        })
        .collect();
    let mut indices = vec![0];
    for (list, len) in lists.iter().zip(&field.shape) {
        indices = indices.iter().flat_map(|base| list.iter().map(move |i| base * len + i)).collect();
    }
    let values = match &field.values {
        Values::F64(v) => Values::F64(indices.iter().map(|i| v[*i]).collect()),
        Values::I32(v) => Values::I32(indices.iter().map(|i| v[*i]).collect()),
        Values::String(v) => Values::String(indices.iter().map(|i| v[*i].clone()).collect()),
        other => panic!("{:?} does not occur", other.field_type()),
    };
    Field { shape: lists.iter().map(Vec::len).collect(), values, ..field.clone() }
}

fn sliced(dataset: &Dataset, window: &Selection) -> Dataset {
    let slice_all = |fields: &[Field]| fields.iter().map(|f| slice(f, window)).collect();
    Dataset {
        variables: slice_all(&dataset.variables),
        coords: slice_all(&dataset.coords),
        attributes: dataset.attributes.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn a_windowed_read_is_the_full_read_sliced_afterwards(
        shape in any_shape(),
        draws in proptest::collection::vec(any_draws(), 1..4),
    ) {
        let dir = tempdir().unwrap();
        let provider = open(files(&[&random_file(&dir, &shape)]));
        let windows: Vec<Selection> = draws.iter().map(|d| window(&shape, d)).collect();
        for &t in provider.refresh_times() {
            let full = provider.sample_at(t).unwrap();
            let mut alone = Vec::new();
            for window in &windows {
                let sample = provider.with_window(window.clone()).unwrap().sample_at(t).unwrap();
                prop_assert!(sample.same_bits(&sliced(&full, window)), "{window:?}");
                alone.push(sample);
            }
            let together = provider.sample_windows_at(t, &windows).unwrap();
            prop_assert_eq!(together.len(), alone.len());
            for (a, b) in together.iter().zip(&alone) {
                prop_assert!(a.same_bits(b), "{windows:?}");
            }
        }
    }
}
