//! The tricky cases of providers and prefetch groups by the numbers of their table, from 31 on: which test stands for each. A test names its
//! rows, and may stand for several; what has no test does not compile, or fails the check below.

use super::table::{check, table};
use super::{brackets, samples, times, values};

/// Rows with tests that this program does not see: they stand in these files under `rust`.
macro_rules! elsewhere {
    ($($file:literal: { $($row:literal => $test:ident,)+ })+) => {
        vec![$($(($row, stringify!($test), include_str!(concat!("../../../", $file))),)+)+]
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
        "forcings-capi/src/provider/tests.rs": {
            32 => rows_32_and_33_an_unknown_option_is_refused_by_name,
            33 => rows_32_and_33_an_unknown_option_is_refused_by_name,
        }
        "forcings/src/dataset/tests/rows.rs": {
            57 => row_57_a_private_last_dimension_is_the_length_of_strings,
            58 => row_58_characters_along_their_length_alone_are_one_string,
            59 => row_59_one_position_binds_to_the_axis_and_not_to_the_length_of_a_string,
            60 => row_60_a_length_of_strings_adds_no_rank,
            61 => row_61_a_length_of_strings_is_no_dimension_of_a_window,
            63 => row_63_one_map_of_names_narrows_fields_of_every_rank,
            64 => row_64_a_dimension_that_nobody_has_is_refused_even_whole,
            65 => row_65_a_dimension_that_the_projection_took_away_is_refused,
            66 => row_66_no_names_are_everything,
            67 => row_67_both_forms_at_once_are_refused,
            68 => row_68_unknown_keys_and_selectors_are_refused,
            69 => row_69_negative_and_broken_indices_are_refused_by_the_parser,
            70 => row_70_each_dimension_has_its_own_length,
            71 => row_71_a_slice_beyond_the_file_is_refused_and_not_clamped,
            72 => row_72_an_empty_selection_keeps_its_dimension,
            73 => row_73_indices_keep_their_order_and_repeats,
            74 => row_74_one_index_keeps_its_dimension,
            75 => row_75_a_time_axis_cannot_be_narrowed,
            76 => row_76_a_time_axis_may_be_named_whole,
        }
        "forcings/tests/provider/damage.rs": {
            62 => row_62_missing_foreign_and_truncated_files_are_refused_by_name,
        }
        "forcings/tests/provider/windows.rs": {
            77 => row_77_a_window_cannot_name_the_time_dimension_even_whole,
            78 => row_78_windows_do_not_compose,
            79 => row_79_a_window_names_its_dimensions,
            80 => rows_80_and_82_every_format_narrows_so_that_no_selection_is_refused_or_ignored,
            82 => rows_80_and_82_every_format_narrows_so_that_no_selection_is_refused_or_ignored,
            83 => row_83_no_windows_are_no_samples_and_no_read,
            84 => row_84_one_window_with_an_unknown_dimension_fails_the_list,
            85 => row_85_constant_data_leave_the_refusal_of_time_to_the_read,
            86 => row_86_an_index_outside_is_refused_though_another_window_takes_the_dimension_whole,
        }
        "forcings/tests/provider/samples.rs": {
            81 => row_81_a_selection_for_one_call_reads_afresh_and_keeps_nothing,
        }
        "forcings/tests/zarr/selections.rs": {
            87 => rows_87_and_88_permuted_indices_come_in_order_and_only_their_chunks_are_read,
            88 => rows_87_and_88_permuted_indices_come_in_order_and_only_their_chunks_are_read,
            89 => row_89_a_needed_chunk_that_is_garbage_is_a_decode_error,
            90 => row_90_a_bad_window_is_told_before_any_chunk_is_decoded,
            96 => row_96_an_array_of_another_rank_is_read_whole_by_position,
        }
        "forcings/tests/zarr/values.rs": {
            91 => row_91_absent_chunks_hold_the_fill_value_and_stay_numbers,
            92 => row_92_a_stored_value_equal_to_the_fill_value_is_that_value,
            94 => row_94_separators_of_both_versions,
        }
        "forcings/tests/zarr/http.rs": {
            93 => row_93_a_store_of_version_2_opens_online_and_each_object_is_fetched_once,
            95 => row_95_an_unknown_chunk_is_an_error_and_not_the_fill_value,
        }
        "forcings/src/prefetch/tests/build.rs": {
            98 => rows_98_and_99_bad_groups_are_refused,
            99 => rows_98_and_99_bad_groups_are_refused,
        }
        "forcings/tests/prefetch_provider.rs": {
            100 => row_100_windows_that_cannot_be_bound_to_a_member_are_refused_at_construction,
        }
        "forcings/src/prefetch/tests/calls.rs": {
            101 => rows_101_and_106_takes_that_do_not_fit_are_refused,
            103 => row_103_an_order_starts_anywhere,
            104 => row_104_a_bad_start_leaves_the_order_alone,
            105 => row_105_an_epoch_that_is_not_next_is_not_ready,
            106 => rows_101_and_106_takes_that_do_not_fit_are_refused,
            107 => rows_107_and_111_an_error_is_raised_at_its_take_and_ends_the_order,
            108 => row_108_the_error_is_that_of_the_first_key,
            111 => rows_107_and_111_an_error_is_raised_at_its_take_and_ends_the_order,
            117 => row_117_closing_twice_and_cancelling_afterwards_do_nothing,
            118 => row_118_dropping_under_load_waits_for_what_runs,
        }
        "forcings/src/prefetch/tests/gate.rs": {
            102 => row_102_a_repeated_anchor_gives_the_same_object,
            116 => row_116_coarse_members_are_decoded_once_per_anchor,
            120 => row_120_everything_has_changed_when_an_order_begins,
        }
        "forcings/src/prefetch/tests/overlap.rs": {
            109 => row_109_a_consumer_that_computes_longer_than_a_decode_waits_for_nothing,
        }
        "forcings/src/prefetch/schedule/tests/rules.rs": {
            110 => row_110_epochs_before_a_failure_are_delivered_and_none_behind_it_is_admitted,
            114 => row_114_delivery_keeps_the_order_when_the_newest_finishes_first,
            115 => row_115_one_byte_runs_each_epoch_alone,
        }
        "forcings/tests/corpus/prefetch.rs": {
            112 => row_112_what_is_missing_is_an_error_of_its_own_epoch,
        }
        "forcings/src/prefetch/tests/transform.rs": {
            113 => row_113_its_error_is_raised_at_the_take_and_ends_the_order,
        }
        "forcings/tests/zarr/values.rs": {
            119 => row_119_special_values_travel_to_the_bit,
        }
        "forcings/tests/zarr/access.rs": {
            97 => row_97_a_store_without_variables_is_refused,
        }
    } {
        let before = source.split_once(&format!("fn {test}()")).map(|(before, _)| before.trim_end());
        let is_test = before.is_some_and(|b| b.trim_end_matches("pub(crate)").trim_end().ends_with("#[test]"));
        assert!(is_test, "there is no test {test}");
        table.push((row, test));
    }
    check(&table, 31..=120);
}
