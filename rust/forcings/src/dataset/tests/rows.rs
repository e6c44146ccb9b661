//! The tricky cases of texts and selections by the numbers of their table, from 57 to 76. That each row has its test is
//! checked with those of providers (`tests/provider/rows.rs`).

use super::*;

#[test]
fn characters_beside_numbers_are_single_ones() {
    let file = MemoryFile::new(&[("n", 3)]).chars("label", &["n"], b"a\0c").numbers("value", &["n"], &[1, 2, 3]);
    let dataset = get(&file, &all());
    let label = dataset.variable("label").unwrap();
    assert_eq!((strings(label), dims(label)), (&["a".to_string(), String::new(), "c".into()][..], vec!["n"]));
    let latin = MemoryFile::new(&[("n", 1)]).chars("label", &["n"], b"\xe9").numbers("value", &["n"], &[1]);
    assert!(decode(&latin, &all(), DecodeOptions::default()).unwrap_err().to_string().contains("beyond ASCII"));
}

/// label(n, strlen) beside value(n).
fn labelled() -> MemoryFile {
    MemoryFile::new(&[("n", 3), ("strlen", 4)]).chars("label", &["n", "strlen"], b"ab\0\0cd  \0\0\0\0").numbers(
        "value",
        &["n"],
        &[1, 2, 3],
    )
}

#[test]
fn row_57_a_private_last_dimension_is_the_length_of_strings() {
    let file = labelled();
    let label = &get(&file, &all()).variables[0];
    assert_eq!(strings(label), ["ab", "cd  ", ""]);
    assert_eq!((dims(label), &label.shape[..]), (vec!["n"], &[3][..]));
    let picked = get(&file, &select(r#"{"dims": {"n": {"indices": [2, 1, 1]}}}"#));
    assert_eq!(strings(&picked.variables[0]), ["", "cd  ", "cd  "]);
    let none = get(&file, &select(r#"{"dims": {"n": {"indices": []}}}"#));
    assert_eq!((strings(&none.variables[0]).len(), &none.variables[0].shape[..]), (0, &[0][..]));
}

#[test]
fn row_58_characters_along_their_length_alone_are_one_string() {
    let scalar = MemoryFile::new(&[("strlen", 4)]).chars("label", &["strlen"], b"xyz\0");
    let field = &get(&scalar, &all()).variables[0];
    assert_eq!((strings(field), field.dims.len(), field.shape.len()), (&["xyz".to_string()][..], 0, 0));
    let shared = MemoryFile::new(&[("n", 2)]).chars("first", &["n"], b"ab").chars("twice", &["n", "n"], b"abcd");
    assert_eq!(get(&shared, &all()).variables[1].shape, [2, 2]);
    let named = MemoryFile::new(&[("n", 2)]).chars("label", &["n"], b"ab").numbers("n", &[], &[1]);
    assert_eq!(strings(&get(&named, &all()).variables[0]), ["a", "b"]);
    let station = MemoryFile::new(&[("station", 2), ("len", 3)]).chars("station", &["station", "len"], b"ab\0cde");
    assert_eq!(strings(get(&station, &all()).coord("station").unwrap()), ["ab", "cde"]);
}

#[test]
fn row_59_one_position_binds_to_the_axis_and_not_to_the_length_of_a_string() {
    let file =
        MemoryFile::new(&[("n", 2), ("strlen", 2)]).chars("title", &["strlen"], b"hi").numbers("v", &["n"], &[1, 2]);
    let dataset = get(&file, &select(r#"{"axes": [{"indices": [1]}]}"#));
    assert_eq!(strings(&dataset.variables[0]), ["hi"]);
    assert_eq!(i32s(&dataset.variables[1]), [2]);
}

#[test]
fn row_60_a_length_of_strings_adds_no_rank() {
    let file = labelled();
    selection_refused(&file, r#"{"axes": ["all", "all"]}"#, "no data variable has 2 dimensions");
    let one = get(&file, &select(r#"{"axes": [{"indices": [1]}]}"#));
    assert_eq!((strings(&one.variables[0]), i32s(&one.variables[1])), (&["cd  ".into()][..], &[2][..]));
}

#[test]
fn row_61_a_length_of_strings_is_no_dimension_of_a_window() {
    let file = labelled();
    selection_refused(&file, r#"{"dims": {"strlen": {"slice": [0, 1]}}}"#, "\"strlen\" is the length of strings");
    selection_refused(&file, r#"{"dims": {"strlen": "all"}}"#, "present are \"n\"");
}

#[test]
fn row_63_one_map_of_names_narrows_fields_of_every_rank() {
    let json =
        r#"{"dims": {"lat": {"slice": [1, 3]}, "lon": {"indices": [4, 0, 0]}, "lon_edge": {"slice": [0, 6, 4]}}}"#;
    let dataset = get(&staggered(), &select(json));
    let shape = |name| dataset.variable(name).unwrap().shape.clone();
    assert_eq!((shape("ps"), shape("t"), shape("u")), (vec![2, 2, 3], vec![2, 3, 2, 3], vec![2, 2, 2]));
    assert_eq!(f64s(dataset.variable("ps").unwrap())[..6], [9.0, 5.0, 5.0, 14.0, 10.0, 10.0]);
    assert_eq!(f64s(dataset.variable("u").unwrap())[..4], [6.0, 10.0, 12.0, 16.0]);
    assert_eq!(f64s(dataset.coord("lat").unwrap()), [-0.5, 0.5]);
    assert_eq!(f64s(dataset.coord("lon").unwrap()), [4.0, 0.0, 0.0]);
}

#[test]
fn row_64_a_dimension_that_nobody_has_is_refused_even_whole() {
    let file = staggered();
    selection_refused(&file, r#"{"dims": {"zz": "all"}}"#, "\"zz\"; present are \"time\", \"lev\", \"lat\", \"lon\"");
    // All of them at once, and before the index that lies outside.
    let json = r#"{"dims": {"zz": "all", "spare": {"slice": [0, 1]}, "lat": {"indices": [99]}}}"#;
    selection_refused(&file, json, "the dimension \"spare\", \"zz\"; present are \"time\", \"lev\", \"lat\", \"lon\"");
    // Before the time axis too.
    let json = r#"{"dims": {"time": {"indices": [99]}, "zlast": "all"}}"#;
    selection_refused(&file, json, "the dimension \"zlast\"");
}

#[test]
fn row_65_a_dimension_that_the_projection_took_away_is_refused() {
    let request = Request { variables: vec!["flag".into()], ..select(r#"{"dims": {"lon_edge": "all"}}"#) };
    let (kind, text) = refused(&staggered(), &request);
    assert_eq!(kind, ErrorKind::Selection);
    assert!(text.contains("\"lon_edge\"; present are \"time\", \"lat\", \"lon\""), "{text}");
    let bare = MemoryFile::new(&[("x", 2)]).numbers("flag", &[], &[7]).numbers("v", &["x"], &[1, 2]);
    let request = Request { variables: vec!["flag".into()], ..select(r#"{"dims": {"x": "all"}}"#) };
    assert!(refused(&bare, &request).1.contains("present are none"));
}

#[test]
fn row_66_no_names_are_everything() {
    let whole = get(&staggered(), &all());
    for everything in ["{}", r#"{"dims": {}}"#, r#"{"all_records": true}"#, r#"{"dims": {"lat": "all", "lev": "all"}}"#]
    {
        assert!(get(&staggered(), &select(everything)).same_bits(&whole), "{everything}");
    }
}

/// The wire form is refused before there is a file.
fn not_parsed(json: &str, reason: &str) {
    let error = Selection::from_json(json).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Selection, "{json}");
    assert!(error.to_string().contains(reason), "{json}: {error}");
}

#[test]
fn row_67_both_forms_at_once_are_refused() {
    not_parsed(r#"{"axes": ["all"], "dims": {"lat": "all"}}"#, "exclude each other");
    not_parsed(r#"{"axes": [], "dims": {}}"#, "exclude each other");
}

#[test]
fn row_68_unknown_keys_and_selectors_are_refused() {
    not_parsed(r#"{"axis": ["all"]}"#, "unknown key \"axis\"; \"dims\" and \"axes\" are known");
    not_parsed(r#"{"dims": {}, "lat": "all"}"#, "unknown key \"lat\"");
    not_parsed(r#"{"dims": {"lat": "some"}}"#, "dimension \"lat\": expected \"all\"");
    not_parsed(r#"{"axes": ["all", "some"]}"#, "axis 1: expected \"all\"");
    not_parsed(r#"{"dims": {"lat": {"slice": [0]}}}"#, "two or three entries");
    not_parsed(r#"{"dims": {"lat": {"slice": [0, 1, 1, 1]}}}"#, "two or three entries");
    not_parsed(r#"{"dims": {"lat": {"indices": [0], "slice": [0, 1]}}}"#, "expected");
    not_parsed(r#"["all"]"#, "must be an object");
    not_parsed("null", "must be an object");
    not_parsed(r#"{"axes": "all"}"#, "must be a list");
    not_parsed(r#"{"dims": ["all"]}"#, "must be an object");
}

#[test]
fn row_69_negative_and_broken_indices_are_refused_by_the_parser() {
    for index in ["-1", "1.5", "1.0", "1e3", "\"1\"", "true", "null", "18446744073709551616"] {
        not_parsed(&format!(r#"{{"dims": {{"lat": {{"indices": [0, {index}]}}}}}}"#), "is not an index");
        not_parsed(&format!(r#"{{"axes": [{{"slice": [0, {index}]}}]}}"#), "is not an index");
    }
}

#[test]
fn row_70_each_dimension_has_its_own_length() {
    let file = staggered();
    let edge = select(r#"{"dims": {"lon_edge": {"indices": [5]}}}"#);
    assert_eq!(get(&file, &edge).variable("u").unwrap().shape, [2, 4, 1]);
    let lon = r#"{"dims": {"lon": {"indices": [0, 5]}}}"#;
    selection_refused(&file, lon, "index 5 of dimension \"lon\" lies outside its length 5");
}

#[test]
fn row_71_a_slice_beyond_the_file_is_refused_and_not_clamped() {
    let file = staggered();
    selection_refused(&file, r#"{"dims": {"lev": {"slice": [1, 99]}}}"#, "index 98 of dimension \"lev\"");
    selection_refused(&file, r#"{"dims": {"lev": {"slice": [0, 18446744073709551615, 7]}}}"#, "lies outside");
    selection_refused(&file, r#"{"dims": {"lev": {"slice": [0, 2, 0]}}}"#, "step 0");
    selection_refused(&file, r#"{"dims": {"lev": {"slice": [2, 0, 0]}}}"#, "step 0");
    // The largest index that is met counts, and the first dimension at fault by name.
    let strided = get(&file, &select(r#"{"dims": {"lon_edge": {"slice": [0, 7, 4]}}}"#));
    assert_eq!(f64s(strided.variable("u").unwrap())[..4], [0.0, 4.0, 6.0, 10.0]);
    selection_refused(&file, r#"{"dims": {"lon": {"indices": [5]}, "lev": {"indices": [3]}}}"#, "\"lev\"");
}

/// The latitudes that a selector takes.
fn lats(selector: &str) -> Vec<f64> {
    let dataset = get(&staggered(), &select(&format!(r#"{{"dims": {{"lat": {selector}}}}}"#)));
    let (lat, ps) = (dataset.coord("lat").unwrap(), dataset.variable("ps").unwrap());
    assert_eq!((dims(ps), dims(lat)), (vec!["time", "lat", "lon"], vec!["lat"]));
    assert_eq!((&ps.shape[..], &lat.shape[..]), (&[2, lat.values.len(), 5][..], &[lat.values.len()][..]));
    f64s(lat).to_vec()
}

#[test]
fn row_72_an_empty_selection_keeps_its_dimension() {
    for empty in [r#"{"slice": [2, 0]}"#, r#"{"slice": [9, 9]}"#, r#"{"slice": [1, 1, 5]}"#, r#"{"indices": []}"#] {
        assert_eq!(lats(empty), [0.0; 0], "{empty}");
    }
}

#[test]
fn row_73_indices_keep_their_order_and_repeats() {
    assert_eq!(lats(r#"{"indices": [2, 0]}"#), [0.5, -1.5]);
    assert_eq!(lats(r#"{"indices": [1, 1]}"#), [-0.5, -0.5]);
    assert_eq!(lats(r#"{"indices": [3, 0, 1]}"#), [1.5, -1.5, -0.5]);
    assert_eq!(lats(r#"{"slice": [0, 6, 3]}"#), [-1.5, 1.5]);
}

#[test]
fn row_74_one_index_keeps_its_dimension() {
    assert_eq!(lats(r#"{"indices": [3]}"#), [1.5]);
    assert_eq!(lats(r#"{"slice": [3, 4]}"#), [1.5]);
}

/// `step` is a time axis by its units, `Time` by its name.
fn two_time_axes() -> MemoryFile {
    MemoryFile::new(&[("step", 2), ("Time", 1)])
        .numbers("step", &["step"], &[0, 1])
        .units("days SINCE 1970-01-01")
        .numbers("v", &["step", "Time"], &[1, 2])
}

#[test]
fn row_75_a_time_axis_cannot_be_narrowed() {
    let file = staggered();
    // Refused before its bounds are looked at.
    selection_refused(&file, r#"{"dims": {"time": {"indices": [99]}}}"#, "\"time\" is a time axis");
    selection_refused(&file, r#"{"dims": {"time": {"slice": [0, 2]}}}"#, "\"time\" is a time axis");
    let axes = two_time_axes();
    selection_refused(&axes, r#"{"dims": {"step": {"slice": [0, 1]}}}"#, "\"step\" is a time axis");
    selection_refused(&axes, r#"{"dims": {"Time": {"slice": [0, 1]}}}"#, "\"Time\" is a time axis");
    selection_refused(&axes, r#"{"axes": ["all", {"indices": []}]}"#, "\"Time\" is a time axis");
    // By position the axis is refused before any bounds, by name each dimension in its turn.
    let rank3 = r#"{"axes": [{"slice": [0, 1]}, {"indices": [99]}, "all"]}"#;
    selection_refused(&file, rank3, "\"time\" is a time axis");
    selection_refused(&file, r#"{"dims": {"time": {"slice": [0, 1]}, "lat": {"indices": [99]}}}"#, "index 99");
}

#[test]
fn row_76_a_time_axis_may_be_named_whole() {
    let file = staggered();
    assert!(get(&file, &select(r#"{"dims": {"time": "all"}}"#)).same_bits(&get(&file, &all())));
    let axes = two_time_axes();
    assert!(get(&axes, &select(r#"{"dims": {"Time": "all", "step": "all"}}"#)).same_bits(&get(&axes, &all())));
}

#[test]
fn positions_bind_to_variables_of_that_rank_and_then_by_name() {
    let file = staggered();
    let rank4 = r#"{"axes": ["all", {"slice": [2, 3]}, {"indices": [3, 0]}, "all"]}"#;
    let dataset = get(&file, &select(rank4));
    assert_eq!(dataset.variable("t").unwrap().shape, [2, 1, 2, 5]);
    assert_eq!(dataset.variable("ps").unwrap().shape, [2, 2, 5]);
    assert_eq!(f64s(dataset.coord("lat").unwrap()), [1.5, -1.5]);
    selection_refused(&file, r#"{"axes": ["all", "all"]}"#, "no data variable has 2 dimensions");
    // The whole file tells the ranks, not the projection.
    let request = Request { variables: vec!["flag".into()], ..select(rank4) };
    assert_eq!(f64s(get(&file, &request).coord("lat").unwrap()), [1.5, -1.5]);
}

#[test]
fn positions_that_contradict_each_other_are_refused_first() {
    let file = MemoryFile::new(&[("a", 2), ("time", 2)]).numbers("ab", &["a", "time"], &[1, 2, 3, 4]).numbers(
        "ba",
        &["time", "a"],
        &[1, 2, 3, 4],
    );
    selection_refused(&file, r#"{"axes": [{"slice": [0, 9]}, "all"]}"#, "two selectors");
    let same = get(&file, &select(r#"{"axes": ["all", "all"]}"#));
    assert!(same.same_bits(&get(&file, &all())));
    // A variable that is not decoded offers no rank.
    let other = MemoryFile::new(&[("a", 2), ("b", 2)]).other("pair", &["a", "b"]).numbers("v", &["a"], &[1, 2]);
    selection_refused(&other, r#"{"axes": ["all", "all"]}"#, "no data variable has 2 dimensions");
}
