//! The tricky cases of providers by the numbers of their table, from 31 on: which test stands for each. A test names its
//! rows, and may stand for several; what has no test does not compile, or fails the check below.

use super::{brackets, samples, times, values};
use std::collections::BTreeMap;

/// A row, and the name of the test that stands for it. That the test exists is the compiler's to see.
macro_rules! table {
    ($($row:literal => $test:path,)+) => {
        vec![$({
            let _: fn() = $test;
            ($row, stringify!($test))
        }),+]
    };
}

/// The same for tests that this program does not see: they stand in these files under `rust`.
macro_rules! elsewhere {
    ($($row:literal => $test:ident in $file:literal,)+) => {
        vec![$(($row, stringify!($test), include_str!(concat!("../../../", $file)))),+]
    };
}

#[test]
fn every_row_has_one_test_that_names_it() {
    let mut table: Vec<(u32, &str)> = table! {
        31 => times::row_31_an_unknown_format_is_refused_at_construction,
        34 => times::row_34_a_sample_has_one_record_or_two,
        35 => samples::row_35_a_time_inside_the_current_interval_keeps_the_buffer,
        36 => times::row_36_times_between_two_anchors_belong_to_the_one_before,
        37 => times::row_37_a_time_before_the_first_anchor_is_the_same_error_from_every_call,
        38 => times::row_38_a_schedule_begins_with_the_first_time_given,
        39 => times::row_39_data_without_times_have_no_schedule_and_join_no_group,
        40 => times::row_40_without_an_axis_records_are_counted_through_the_files,
        41 => brackets::row_41_a_bracket_crosses_from_one_file_to_the_next,
        42 => brackets::row_42_at_the_end_both_records_and_both_times_are_the_last,
        43 => brackets::row_43_a_successor_that_cannot_be_read_is_an_error,
        44 => brackets::row_44_a_masked_cell_of_the_second_record_stays_masked,
        45 => brackets::row_45_what_has_no_time_dimension_gets_none,
        46 => times::row_46_a_record_beyond_its_file_is_an_error_that_tells_both_numbers,
        47 => samples::row_47_sampling_between_two_refreshes_leaves_the_buffer_alone,
        48 => samples::row_48_twelve_threads_get_what_one_gets,
        49 => samples::row_49_constant_data_ignore_the_time,
        50 => samples::rows_50_and_51_what_is_no_data_variable_is_refused_with_a_list,
        51 => samples::rows_50_and_51_what_is_no_data_variable_is_refused_with_a_list,
        52 => samples::row_52_no_names_mean_every_variable,
        53 => values::row_53_a_packed_int16_with_a_fill_cell_is_float64_with_nan,
        54 => values::row_54_a_time_axis_of_int32_stays_int32_with_its_units_and_calendar,
        55 => values::rows_55_and_56_characters_beside_numbers_are_strings_of_one_and_nul_is_empty,
        56 => values::rows_55_and_56_characters_beside_numbers_are_strings_of_one_and_nul_is_empty,
    };
    for (row, test, source) in elsewhere! {
        32 => rows_32_and_33_an_unknown_option_is_refused_by_name in "forcings-capi/src/provider/tests.rs",
        33 => rows_32_and_33_an_unknown_option_is_refused_by_name in "forcings-capi/src/provider/tests.rs",
    } {
        let before = source.split_once(&format!("fn {test}()")).map(|(before, _)| before.trim_end());
        let is_test = before.is_some_and(|b| b.trim_end_matches("pub(crate)").trim_end().ends_with("#[test]"));
        assert!(is_test, "there is no test {test}");
        table.push((row, test));
    }
    let counts: BTreeMap<u32, usize> = table.iter().fold(BTreeMap::new(), |mut counts, (row, _)| {
        *counts.entry(*row).or_default() += 1;
        counts
    });
    assert_eq!(counts, (31..=56).map(|row| (row, 1)).collect());
    for (row, test) in table {
        assert!(named_rows(test).contains(&row), "{test} does not name row {row}");
    }
}

/// The rows in the name of a test: `row_31_..`, `rows_50_and_51_..`, `rows_57_to_59_..`.
fn named_rows(test: &str) -> Vec<u32> {
    let name = test.rsplit("::").next().expect("a path has a last part").trim_start();
    let mut rows: Vec<u32> = Vec::new();
    let mut is_range = false;
    for word in name.split('_').skip(1) {
        match (word, word.parse::<u32>()) {
            ("and", _) => {}
            ("to", _) => is_range = true,
            (_, Ok(row)) if is_range => {
                let first = rows.last().map_or(row, |last| last + 1);
                rows.extend(first..=row);
                is_range = false;
            }
            (_, Ok(row)) => rows.push(row),
            _ => break,
        }
    }
    rows
}
