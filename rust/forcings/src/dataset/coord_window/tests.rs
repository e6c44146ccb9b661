//! Cells of intervals, on axes of every direction and turn.

use super::super::testing::MemoryFile;
use super::super::AxisSelect;
use super::*;
use crate::formats::AttributeValue;
use crate::ErrorKind;
use proptest::prelude::*;

fn axis(values: &[f64]) -> Axis {
    Axis { values: values.to_vec(), is_longitude: false, rounding: 2.0 * f64::EPSILON }
}

fn longitude(values: impl IntoIterator<Item = f64>) -> Axis {
    Axis { values: values.into_iter().collect(), is_longitude: true, rounding: 2.0 * f64::EPSILON }
}

fn degrees(range: Range<i32>, step: usize) -> impl DoubleEndedIterator<Item = f64> {
    range.step_by(step).map(f64::from)
}

/// The values of the cells, in the order in which they are returned.
fn met(axis: &Axis, from: f64, to: f64) -> Vec<f64> {
    let list = |run: Range<usize>| axis.values[run].to_vec();
    match axis.cells(from, to).unwrap() {
        Cells::Run(run) => list(run),
        Cells::AcrossSeam(tail, head) => [list(tail), list(head)].concat(),
    }
}

fn refused(axis: &Axis, from: f64, to: f64, parts: &[&str]) {
    let text = axis.cells(from, to).unwrap_err();
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}

#[test]
fn intervals_include_both_ends_and_keep_the_order_of_the_file() {
    let up = axis(&[-90.0, -45.0, 0.0, 45.0, 90.0]);
    assert_eq!(up.cells(-45.0, 45.0).unwrap(), Cells::Run(1..4));
    assert_eq!(up.cells(-44.9, 44.9).unwrap(), Cells::Run(2..3));
    assert_eq!(up.cells(90.0, 90.0).unwrap(), Cells::Run(4..5));
    assert_eq!(up.cells(f64::NEG_INFINITY, 0.0).unwrap(), Cells::Run(0..3));
    let down = axis(&[1000.0, 850.0, 500.0, 250.0]);
    assert_eq!(down.cells(300.0, 850.0).unwrap(), Cells::Run(1..3));
    assert_eq!(down.cells(0.0, f64::INFINITY).unwrap(), Cells::Run(0..4));
    assert_eq!(axis(&[7.0]).cells(6.0, 8.0).unwrap(), Cells::Run(0..1));
}

#[test]
fn what_has_no_cells_is_refused() {
    let up = axis(&[-90.0, 0.0, 90.0]);
    refused(&up, 10.0, 20.0, &["no cell lies in (10, 20)", "from -90 to 90 in 3 cells"]);
    refused(&up, 91.0, 200.0, &["from -90 to 90"]);
    refused(&up, 90.0, -90.0, &["(lower, upper)"]);
    refused(&up, f64::NAN, 1.0, &["NaN"]);
    refused(&up, 0.0, f64::NAN, &["NaN"]);
    refused(&axis(&[]), 0.0, 1.0, &["no cells"]);
    refused(&axis(&[0.0, 2.0, 1.0]), 0.0, 1.0, &["neither ascends nor descends"]);
    refused(&axis(&[0.0, 1.0, 1.0]), 0.0, 1.0, &["neither ascends nor descends"]);
    refused(&axis(&[0.0, f64::NAN]), 0.0, 1.0, &["cell 1", "NaN"]);
    refused(&axis(&[f64::INFINITY, 0.0]), 0.0, 1.0, &["cell 0", "inf"]);
}

#[test]
fn a_longitude_goes_across_the_seam_whatever_turn_its_numbers_count_in() {
    let east = longitude(degrees(0..360, 5));
    assert_eq!(east.cells(350.0, 10.0).unwrap(), Cells::AcrossSeam(70..72, 0..3));
    assert_eq!(met(&east, 350.0, 10.0), [350.0, 355.0, 0.0, 5.0, 10.0]);
    for (from, to) in [(-10.0, 10.0), (350.0, 370.0), (-370.0, -350.0), (710.0, 10.0)] {
        assert_eq!(met(&east, from, to), met(&east, 350.0, 10.0), "({from}, {to})");
    }
    let both = longitude(degrees(-180..180, 5));
    assert_eq!(both.cells(350.0, 10.0).unwrap(), Cells::Run(34..39));
    assert_eq!(met(&both, 350.0, 10.0), [-10.0, -5.0, 0.0, 5.0, 10.0]);
    assert_eq!(met(&both, 170.0, 190.0), [170.0, 175.0, -180.0, -175.0, -170.0]);
    assert_eq!(met(&both, 170.0, -170.0), met(&both, 170.0, 190.0));
    let west = longitude(degrees(0..360, 5).rev());
    assert_eq!(met(&west, 350.0, 10.0), [10.0, 5.0, 0.0, 355.0, 350.0]);
    assert_eq!(west.cells(100.0, 110.0).unwrap(), Cells::Run(49..52));
}

#[test]
fn a_turn_or_more_is_the_whole_axis_in_the_order_of_the_file() {
    let east = longitude(degrees(0..360, 5));
    for (from, to) in [(0.0, 360.0), (-180.0, 180.0), (0.0, 355.0), (10.0, 1000.0)] {
        assert_eq!(east.cells(from, to).unwrap(), Cells::Run(0..72), "({from}, {to})");
    }
    assert_eq!(met(&east, 10.0, 0.0).len(), 71);
    assert_eq!(met(&east, 10.0, 0.0)[0], 10.0);
    assert_eq!(met(&east, 10.0, 9.0).len(), 72);
}

#[test]
fn a_cell_on_both_sides_of_the_seam_is_returned_once() {
    let twice = longitude(degrees(0..361, 10));
    assert_eq!(met(&twice, 350.0, 10.0), [350.0, 0.0, 10.0]);
    assert_eq!(twice.cells(350.0, 10.0).unwrap(), Cells::AcrossSeam(35..36, 0..2));
    // Here the copy at the end saves the jump to the beginning.
    assert_eq!(twice.cells(340.0, 360.0).unwrap(), Cells::Run(34..37));
    assert_eq!(twice.cells(0.0, 20.0).unwrap(), Cells::Run(0..3));
    assert_eq!(twice.cells(360.0, 360.0).unwrap(), Cells::Run(0..1));
    assert_eq!(twice.cells(0.0, 360.0).unwrap(), Cells::Run(0..36));
    let halo = longitude(degrees(-10..371, 10));
    assert_eq!(halo.cells(340.0, 20.0).unwrap(), Cells::AcrossSeam(35..36, 0..4));
    assert_eq!(met(&halo, 340.0, 0.0), [340.0, 350.0, 360.0]);
    // Beyond a turn, but not on the same meridians.
    let askew = longitude(degrees(0..365, 7));
    assert_eq!(met(&askew, 357.0, 7.0), [357.0, 0.0, 7.0]);
}

#[test]
fn a_part_of_the_globe_has_ends() {
    let west = longitude(degrees(-20..41, 10));
    assert_eq!(met(&west, 350.0, 10.0), [-10.0, 0.0, 10.0]);
    assert_eq!(met(&west, 300.0, 100.0), degrees(-20..41, 10).collect::<Vec<_>>());
    refused(&west, 30.0, 350.0, &["both ends", "from -20 to 40"]);
    refused(&west, 100.0, 200.0, &["no cell lies in (100, 200)", "from -20 to 40"]);
    refused(&west, f64::NEG_INFINITY, 0.0, &["finite"]);
    refused(&longitude([]), 0.0, 1.0, &["no cells"]);
    assert_eq!(longitude([5.0]).cells(0.0, 10.0).unwrap(), Cells::Run(0..1));
}

#[test]
fn longitudes_that_jump_back_count_on() {
    let jumping = longitude(degrees(0..181, 10).chain(degrees(-170..0, 10)));
    assert_eq!(met(&jumping, 170.0, 190.0), [170.0, 180.0, -170.0]);
    assert_eq!(jumping.cells(170.0, 190.0).unwrap(), Cells::Run(17..20));
    assert_eq!(met(&jumping, 350.0, 10.0), [-10.0, 0.0, 10.0]);
    let west = longitude([-150.0, -170.0, 170.0, 150.0]);
    assert_eq!(met(&west, 160.0, -160.0), [-170.0, 170.0]);
    refused(&longitude([0.0, 10.0, 5.0]), 0.0, 1.0, &["neither ascends nor descends"]);
}

#[test]
fn bounds_are_met_in_the_precision_of_the_file() {
    let tenths: Vec<f64> = (0..3600).map(|i| f64::from(i as f32 * 0.1)).collect();
    assert_ne!(tenths[3], 0.3);
    let single = |is_longitude| Axis { values: tenths.clone(), is_longitude, rounding: f64::from(f32::EPSILON) };
    for i in [1, 3, 7, 1234, 2999, 3599] {
        let bound = f64::from(i) / 10.0;
        let i = i as usize;
        assert_eq!(single(false).cells(bound, bound).unwrap(), Cells::Run(i..i + 1));
        assert_eq!(single(true).cells(bound, bound).unwrap(), Cells::Run(i..i + 1));
        assert_eq!(single(true).cells(bound - 360.0, bound - 360.0).unwrap(), Cells::Run(i..i + 1));
    }
    let packed = axis(&[0.1 * 1.0, 0.1 * 2.0, 0.1 * 3.0]);
    assert_eq!(packed.cells(0.2, 0.3).unwrap(), Cells::Run(1..3));
}

fn file() -> MemoryFile {
    MemoryFile::new(&[("time", 1), ("lat", 3), ("x", 4), ("west", 4), ("name", 2), ("bare", 2)])
        .numbers("time", &["time"], &[0])
        .units("hours since 2000-01-01")
        .numbers("lat", &["lat"], &[50_i16, 0, -50])
        .with("scale_factor", AttributeValue::Floats(vec![0.1]))
        .numbers("x", &["x"], &[0_i32, 90, 180, 270])
        .with("standard_name", AttributeValue::Text("longitude".into()))
        .numbers("west", &["west"], &[-180.0_f32, -90.0, 0.0, 90.0])
        .units("degrees_east")
        .strings("name", &["name"], &["a", "b"])
        .numbers("v", &["lat", "x"], &[0; 12])
        .numbers("w", &["bare", "west"], &[0; 8])
}

fn resolved(window: &CoordWindow) -> Result<DimWindow> {
    let file = file();
    Schema::of(&file).coord_window(&file, window)
}

#[test]
fn a_window_is_resolved_into_indices() {
    let window = CoordWindow::new().between("lat", -5.0, 0.0).between("x", 270.0, 0.0).between("west", 1.0, 2.0);
    let window = window.between("west", 90.0, -180.0);
    let expected = DimWindow::new().range("lat", 1, 3).indices("x", [3, 0]).indices("west", [3, 0]);
    assert_eq!(resolved(&window).unwrap(), expected);
    assert_eq!(resolved(&CoordWindow::new()).unwrap(), DimWindow::new());
    let window = resolved(&CoordWindow::new().between("x", 0.0, 90.0)).unwrap();
    let expected = AxisSelect::Slice { start: 0, stop: 2, step: 1 };
    assert_eq!(window.selectors().collect::<Vec<_>>(), [("x", &expected)]);
}

#[test]
fn coordinates_that_are_no_axes_of_numbers_are_refused() {
    for (name, part) in [
        ("bare", "no coordinate \"bare\"; there are \"time\", \"lat\", \"x\", \"west\", \"name\""),
        ("v", "no coordinate \"v\""),
        ("time", "time axis"),
        ("name", "holds no numbers"),
        ("lat", "\"lat\": no cell lies in (80, 90); the axis runs from 5 to -5 in 3 cells"),
    ] {
        let error = resolved(&CoordWindow::new().between(name, 80.0, 90.0)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Selection);
        assert!(error.to_string().contains(part) && error.to_string().contains("memory.nc"), "{error}");
    }
    let twice = MemoryFile::new(&[("x", 2), ("x", 3)]).numbers("x", &["x"], &[1, 2]);
    let error = Schema::of(&twice).coord_window(&twice, &CoordWindow::new().between("x", 1.0, 2.0)).unwrap_err();
    assert!(error.to_string().contains("several dimensions"), "{error}");
}

proptest! {
    /// Against the plain definition: each cell whose way east from `from` is no longer than the interval, once.
    #[test]
    fn an_arc_has_exactly_the_cells_on_its_way(
        cells in 2..40_i32,
        offset in -400..400_i32,
        from in -800..800_i32,
        width in 0..400_i32,
        descends in any::<bool>(),
        turn in any::<bool>(),
    ) {
        // Eighths of a degree are exact, and so is the step.
        let step = if turn { 2880 / cells } else { 8 };
        prop_assume!(!turn || 2880 % cells == 0);
        let mut eighths: Vec<i32> = (0..cells).map(|i| 8 * offset + i * step).collect();
        if descends {
            eighths.reverse();
        }
        let axis = longitude(eighths.iter().map(|e| f64::from(*e) / 8.0));
        let is_met = |e: &&i32| (**e - 8 * from).rem_euclid(2880) <= 8 * width || width >= 360;
        let expected: Vec<i32> = eighths.iter().filter(is_met).copied().collect();
        let (lower, upper) = (f64::from(from), f64::from(from + width));
        match axis.cells(lower, upper) {
            Ok(_) => {
                let mut got: Vec<i32> = met(&axis, lower, upper).iter().map(|x| (x * 8.0) as i32).collect();
                if turn && got.len() > 1 && got.len() < eighths.len() {
                    let ways: Vec<i32> = got.iter().map(|e| (e - 8 * from).rem_euclid(2880)).collect();
                    let ordered = |w: &[i32]| if descends { w[0] > w[1] } else { w[0] < w[1] };
                    prop_assert!(ways.windows(2).all(ordered), "{ways:?}");
                }
                let (mut got_sorted, mut expected) = (std::mem::take(&mut got), expected);
                got_sorted.sort_unstable();
                expected.sort_unstable();
                prop_assert_eq!(got_sorted, expected);
            }
            Err(text) if expected.is_empty() => prop_assert!(text.contains("no cell lies in"), "{}", text),
            // Only the two ends of a part of the circle, with a gap between them, have no order.
            Err(text) => {
                let ends = [&eighths[0], &eighths[eighths.len() - 1]];
                prop_assert!(!turn && text.contains("both ends"), "{}", text);
                prop_assert!(ends.iter().all(is_met) && expected.len() < eighths.len(), "{}", text);
            }
        }
    }
}
