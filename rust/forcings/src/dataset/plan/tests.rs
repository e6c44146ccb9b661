//! Brackets of files in memory, where reads can be counted.

use crate::chunks::AxisRead;
use crate::dataset::testing::MemoryFile;
use crate::dataset::{
    decode, decode_parts, Bracket, Dataset, DecodeOptions, Field, Part, Records, Request, Schema, Second, Values,
};
use crate::formats::{AttributeValue, ByteOrder};

fn times() -> Field {
    let values = Values::F64(vec![0.0, 60.0]);
    Field { name: "time".into(), dims: vec!["time".into()], shape: vec![2], values, attributes: [].into() }
}

fn record(index: u64) -> Request {
    let records = Some(Records { dim: "time".into(), indices: vec![index], squeeze: false });
    Request { records, ..Request::default() }
}

/// The bracket of a record of one file and a record of another, or of the first record alone.
fn bracket(first: (&MemoryFile, u64), second: Option<(&MemoryFile, u64)>) -> Result<Dataset, (usize, String)> {
    let schemas = [Schema::of(first.0), Schema::of(second.unwrap_or(first).0)];
    let requests = [record(first.1), record(second.unwrap_or(first).1)];
    let axes = [0, 1].map(|k| schemas[k].check(&requests[k]).unwrap());
    assert_eq!(axes[0].len(), schemas[0].dimension_lens().len());
    assert!(matches!(axes[0][0], AxisRead::Indices(_)));
    let part = Part { schema: &schemas[0], container: first.0, axes: &axes[0] };
    let second = match second {
        Some((file, _)) => Second::Part(Part { schema: &schemas[1], container: file, axes: &axes[1] }),
        None => Second::First,
    };
    let times = times();
    let bracket = Bracket { second, times: &times };
    decode_parts(&part, &requests[0], Some(bracket), DecodeOptions::default())
        .map_err(|fault| (fault.part, fault.error.to_string()))
}

fn three_records() -> MemoryFile {
    MemoryFile::new(&[("time", 3), ("x", 2)])
        .numbers("time", &["time"], &[0, 60, 120])
        .units("seconds since 1970-01-01")
        .numbers("v", &["time", "x"], &[1_i16, 2, 3, 4, 5, 6])
        .with("scale_factor", AttributeValue::Floats(vec![0.5]))
        .numbers("x", &["x"], &[7, 8])
}

#[test]
fn a_record_that_stands_for_both_is_read_once() {
    let file = three_records();
    let dataset = bracket((&file, 1), None).unwrap();
    // Once for `v`, once for `x`, and not at all for `time`.
    assert_eq!(file.reads(), 2);
    assert!(dataset.variables[0].values.same_bits(&Values::F64(vec![1.5, 2.0, 1.5, 2.0])));
    assert_eq!(dataset.variables[0].shape, [2, 2]);
    assert!(dataset.coords[0].same_bits(&times()));
}

#[test]
fn every_half_follows_the_rules_of_its_own_file() {
    let first = three_records();
    let second = MemoryFile::new(&[("time", 1), ("y", 9), ("x", 2)])
        .ordered("v", &["time", "x"], &[2.25_f32, -9.0], ByteOrder::Big)
        .with("missing_value", AttributeValue::Floats(vec![-9.0]));
    let dataset = bracket((&first, 2), Some((&second, 0))).unwrap();
    assert!(dataset.variables[0].values.same_bits(&Values::F64(vec![2.5, 3.0, 2.25, f64::NAN])));
    assert_eq!((first.reads(), second.reads()), (2, 1));
}

#[test]
fn a_bracket_has_its_times_even_where_the_file_has_no_coordinate() {
    let file = MemoryFile::new(&[("time", 2), ("x", 1)]).numbers("v", &["time"], &[1, 2]).numbers("x", &["x"], &[5]);
    let dataset = bracket((&file, 0), None).unwrap();
    assert_eq!(dataset.coords.iter().map(|c| &*c.name).collect::<Vec<_>>(), ["x", "time"]);
}

#[test]
fn the_first_fault_in_file_order_is_told_on_any_number_of_threads() {
    let whole = |file: MemoryFile| file.numbers("w", &["x"], &[1, 2]);
    let large = |file: MemoryFile| file.numbers("v", &["x"], &[1, u64::MAX]);
    // More than the file holds.
    let cut_off = |file: MemoryFile| file.numbers::<f64>("u", &["y"], &[]);
    let empty = || MemoryFile::new(&[("x", 2), ("y", 1000)]);
    let files = [(cut_off(large(whole(empty()))), "2^63"), (large(cut_off(whole(empty()))), "beyond the end")];
    for (file, cause) in &files {
        for threads in 1..5 {
            let options = DecodeOptions { threads, ..DecodeOptions::default() };
            let text = decode(file, &Request::default(), options).unwrap_err().to_string();
            assert!(text.contains(cause), "{text}");
        }
    }
}

#[test]
fn a_fault_tells_which_file_it_is_about() {
    let good = MemoryFile::new(&[("time", 2)]).numbers("v", &["time"], &[1_u64, 2]);
    let large = MemoryFile::new(&[("time", 1)]).numbers("v", &["time"], &[u64::MAX]);
    for (first, second, part) in [((&good, 1), (&large, 0), 1), ((&large, 0), (&good, 0), 0)] {
        let (blamed, text) = bracket(first, Some(second)).unwrap_err();
        assert_eq!(blamed, part);
        assert!(text.contains("2^63"), "{text}");
    }
    let other = MemoryFile::new(&[("time", 1)]).numbers("w", &["time"], &[1_u64]);
    assert_eq!(bracket((&good, 0), Some((&other, 0))).unwrap_err().0, 1);
    // Refused before any value was read.
    assert_eq!(other.reads(), 0);
}
