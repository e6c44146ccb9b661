//! Windows over stores: the named form for every array, the positional one for arrays of its rank, and only the chunks
//! that are needed.

use crate::support::*;
use forcings::dataset::{DimWindow, Selection};
use forcings::ErrorKind;

/// `q(lev 1, lat 10, lon 25)` in chunks of 1 x 4 x 5: a grid of 1 x 3 x 5.
fn fifteen_chunks() -> (Store, Vec<f64>) {
    let store = Store::new();
    let values: Vec<f64> = (0..250).map(f64::from).collect();
    store.array("q", &["lev", "lat", "lon"], &[1, 10, 25], &[1, 4, 5], &values);
    (store, values)
}

#[test]
fn rows_87_and_88_permuted_indices_come_in_order_and_only_their_chunks_are_read() {
    let (store, values) = fifteen_chunks();
    // Row 5 is in the second band; 24 is in the last column of chunks, 2 in the first, 9 and 6 in the second.
    let json = r#"{"dims": {"lat": {"slice": [5, 6]}, "lon": {"indices": [24, 2, 9, 6]}}}"#;
    store.poison("q", |key| ["0.1.0", "0.1.1", "0.1.4"].contains(&key));
    let data = store.read_under(&["q"], Some(json)).unwrap();
    let expected: Vec<f64> = [24, 2, 9, 6].iter().map(|lon| values[5 * 25 + lon]).collect();
    assert_eq!(f64s(&data.variables[0]), expected);
    assert_eq!(data.variables[0].shape, [1, 1, 4]);
    // Two of fifteen.
    store.poison("q", |key| ["0.1.0", "0.1.4"].contains(&key));
    let two = r#"{"axes": ["all", {"indices": [5]}, {"indices": [24, 2, 24]}]}"#;
    let data = store.read_under(&["q"], Some(two)).unwrap();
    assert_eq!(f64s(&data.variables[0]), [149.0, 127.0, 149.0]);
}

#[test]
fn row_89_a_needed_chunk_that_is_garbage_is_a_decode_error() {
    let (store, _) = fifteen_chunks();
    store.put("q/0.1.1", "poison");
    let error = store.refusal("q");
    assert_error(&error, ErrorKind::Format, &["q/0.1.1", "chunk 6", "\"q\"", "6 bytes are stored, 160 are expected"]);
}

#[test]
fn row_90_a_bad_window_is_told_before_any_chunk_is_decoded() {
    let (store, _) = fifteen_chunks();
    store.poison("q", |_| false);
    for (json, part) in [
        (r#"{"dims": {"lon": {"indices": [25]}}}"#, "index 25"),
        (r#"{"dims": {"lat": {"slice": [0, 99]}}}"#, "index 98"),
        (r#"{"dims": {"lat": {"slice": [0, 5, 0]}}}"#, "step 0"),
        (r#"{"dims": {"column": "all"}}"#, "\"column\"; present are \"lev\", \"lat\", \"lon\""),
    ] {
        let error = store.read_under(&["q"], Some(json)).map(drop).unwrap_err();
        assert_error(&error, ErrorKind::Selection, &[part]);
        let window = Selection::from_json(json).unwrap();
        let error = store.open(&["q"]).sample_windows_at(0.0, &[window]).map(drop).unwrap_err();
        assert_error(&error, ErrorKind::Selection, &[part]);
    }
}

#[test]
fn an_empty_selection_reads_no_chunk() {
    let (store, _) = fifteen_chunks();
    store.poison("q", |_| false);
    let data = store.read_under(&["q"], Some(r#"{"dims": {"lat": {"indices": []}}}"#)).unwrap();
    assert_eq!((&data.variables[0].shape[..], f64s(&data.variables[0])), (&[1, 0, 25][..], &[][..]));
}

#[test]
fn row_75_the_named_form_refuses_time_by_its_name_and_the_positional_one_nothing() {
    let store = Store::new();
    let values: Vec<f64> = (0..6).map(f64::from).collect();
    store.array("q", &["Time", "x"], &[3, 2], &[1, 2], &values);
    // Its units say that this is one of time, but a store has no coordinates.
    store.array("t", &["t"], &[3], &[3], &[0.0, 1.0, 2.0]);
    store.put("t/.zattrs", r#"{"_ARRAY_DIMENSIONS": ["t"], "units": "hours since 2000-01-01"}"#);
    let named = r#"{"dims": {"Time": {"slice": [0, 1]}}}"#;
    let error = store.read_under(&["q"], Some(named)).map(drop).unwrap_err();
    assert_error(&error, ErrorKind::Selection, &["\"Time\"", "time axis"]);
    assert_eq!(f64s(&store.read_under(&["q"], Some(r#"{"dims": {"Time": "all"}}"#)).unwrap().variables[0]), values);
    let positional = r#"{"axes": [{"indices": [2, 0]}, "all"]}"#;
    let data = store.read_under(&["q"], Some(positional)).unwrap();
    assert_eq!(f64s(&data.variables[0]), [4.0, 5.0, 0.0, 1.0]);
    let data = store.read_under(&["t"], Some(r#"{"dims": {"t": {"indices": [2]}}}"#)).unwrap();
    assert_eq!(f64s(&data.variables[0]), [2.0]);
}

#[test]
fn row_96_an_array_of_another_rank_is_read_whole_by_position() {
    let (store, values) = fifteen_chunks();
    store.array("lat", &["lat"], &[10], &[3], &(0..10).map(f64::from).collect::<Vec<_>>());
    let json = r#"{"axes": ["all", {"slice": [2, 4]}, {"indices": [1]}]}"#;
    let data = store.read_under(&["q", "lat"], Some(json)).unwrap();
    assert_eq!(f64s(data.variable("q").unwrap()), [values[51], values[76]]);
    assert_eq!(f64s(data.variable("lat").unwrap()).len(), 10);
    // Nothing of that rank is no error.
    let data = store.read_under(&["lat"], Some(json)).unwrap();
    assert_eq!(f64s(data.variable("lat").unwrap()).len(), 10);
}

#[test]
fn arrays_of_one_rank_are_each_selected_by_their_own_positions() {
    let store = Store::new();
    let values: Vec<f64> = (0..6).map(f64::from).collect();
    store.array("a", &["y", "x"], &[2, 3], &[2, 3], &values);
    store.array("b", &["x", "y"], &[3, 2], &[3, 2], &values);
    let json = r#"{"axes": [{"indices": [1]}, {"indices": [0]}]}"#;
    let data = store.read_under(&["a", "b"], Some(json)).unwrap();
    assert_eq!(f64s(data.variable("a").unwrap()), [3.0]);
    assert_eq!(f64s(data.variable("b").unwrap()), [2.0]);
    // By name the transposed one is narrowed along its own axis.
    let data = store.read_under(&["a", "b"], Some(r#"{"dims": {"x": {"indices": [2, 1]}}}"#)).unwrap();
    assert_eq!(f64s(data.variable("a").unwrap()), [2.0, 1.0, 5.0, 4.0]);
    assert_eq!(f64s(data.variable("b").unwrap()), [4.0, 5.0, 2.0, 3.0]);
}

#[test]
fn one_name_may_have_other_lengths_in_other_arrays() {
    let store = Store::new();
    store.array("a", &["x"], &[2], &[1], &[1.0, 2.0]);
    store.array("b", &["x"], &[3], &[1], &[3.0, 4.0, 5.0]);
    let windows = [DimWindow::new().indices("x", [1]).into(), DimWindow::new().indices("x", [0, 0]).into()];
    let provider = store.open(&["a", "b"]);
    let data = provider.sample_windows_at(0.0, &windows).unwrap();
    assert_eq!(f64s(data[0].variable("b").unwrap()), [4.0]);
    assert_eq!(f64s(data[1].variable("a").unwrap()), [1.0, 1.0]);
    let error = provider.with_window(DimWindow::new().indices("x", [2])).unwrap().sample_at(0.0).map(drop).unwrap_err();
    assert_error(&error, ErrorKind::Selection, &["index 2", "length 2"]);
}

#[test]
fn several_windows_are_the_samples_of_each_and_read_their_union() {
    let (store, _) = fifteen_chunks();
    store.array("lat", &["lat"], &[10], &[3], &(0..10).map(f64::from).collect::<Vec<_>>());
    let windows: Vec<Selection> = [
        DimWindow::new().range("lat", 5, 7).range("lon", 0, 3),
        DimWindow::new().indices("lat", [7, 5, 5]).indices("lon", [4, 0]),
        DimWindow::new().range("lat", 4, 4).range("lon", 1, 2),
    ]
    .map(Into::into)
    .into();
    let provider = store.open(&["q", "lat"]);
    let alone: Vec<_> =
        windows.iter().map(|w| provider.with_window(w.clone()).unwrap().sample_at(0.0).unwrap()).collect();
    // The union of the windows lies in one chunk of `q`.
    store.poison("q", |key| key == "0.1.0");
    for (together, alone) in provider.sample_windows_at(0.0, &windows).unwrap().iter().zip(&alone) {
        assert!(together.same_bits(alone));
    }
    assert!(provider.sample_windows_at(0.0, &[]).unwrap().is_empty());
}
