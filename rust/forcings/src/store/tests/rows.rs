//! The tricky cases of a store by the numbers of their table: which test stands for each. A test names its rows, and may
//! stand for several; what has no test does not compile, or fails the check below.

mod calendar;
mod data;
mod features;
mod hashing;
mod instants;
mod layout;
mod names;
mod opening;
mod periods;
mod ranges;
mod sharing;
mod table;

use super::*;
use crate::store::catalog::tests::search;
use crate::store::operations::tests::{change, maintenance, relations, rows as states};
use table::{check, table};

/// Fills a store in memory and one on disk, and looks at both, and at the second opened again for reading and for writing.
fn each<T>(fill: impl Fn(&Store) -> T, look: impl Fn(&Store, &T)) {
    let memory = Store::memory().unwrap();
    look(&memory, &fill(&memory));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.nc");
    let store = Store::create(&path, &CreateOptions::default()).unwrap();
    let filled = fill(&store);
    look(&store, &filled);
    store.close().unwrap();
    for options in [reading(), writable()] {
        look(&Store::open(&path, &options).unwrap(), &filled);
    }
}

#[test]
fn every_row_has_one_test_that_names_it() {
    let table: Vec<(u32, &str)> = table! {
        1 => hashing::rows_1_and_2_the_digest_covers_values_type_and_shape,
        2 => hashing::rows_1_and_2_the_digest_covers_values_type_and_shape,
        3 => hashing::row_3_nans_are_one_array_with_the_payload_that_was_first,
        4 => hashing::row_4_the_sign_of_zero_makes_two_arrays,
        5 => hashing::row_5_features_have_no_order,
        6 => hashing::row_6_one_and_one_and_true_and_one_are_four_features,
        7 => data::row_7_values_that_are_not_finite_are_values,
        8 => data::row_8_a_value_like_the_fill_of_empty_cells_is_a_value,
        9 => data::row_9_integers_are_exact_to_the_last,
        10 => data::row_10_a_truth_value_is_one_byte,
        11 => data::row_11_a_series_without_steps_is_a_series,
        12 => data::rows_12_and_13_elements_have_an_extent_and_series_have_an_axis,
        13 => data::rows_12_and_13_elements_have_an_extent_and_series_have_an_axis,
        14 => data::row_14_a_range_over_one_step,
        15 => irregular::rows_15_and_16_one_bad_series_keeps_the_whole_batch_out,
        16 => irregular::rows_15_and_16_one_bad_series_keeps_the_whole_batch_out,
        17 => names::row_17_a_name_may_be_empty_or_long_and_matches_as_a_whole,
        18 => names::row_18_every_character_is_itself_in_a_name,
        19 => names::rows_19_and_20_a_pattern_is_not_a_name,
        20 => names::rows_19_and_20_a_pattern_is_not_a_name,
        21 => names::row_21_conditions_join_and_nothing_found_is_no_error,
        22 => names::row_22_the_callers_text_is_kept_to_the_byte,
        23 => features::rows_23_to_25_features_that_could_not_be_found_again_are_refused,
        24 => features::rows_23_to_25_features_that_could_not_be_found_again_are_refused,
        25 => features::rows_23_to_25_features_that_could_not_be_found_again_are_refused,
        26 => features::row_26_a_filter_names_some_features_and_their_kinds,
        27 => features::rows_27_and_28_features_outlive_one_of_two_series_and_are_swept_after_both,
        28 => features::rows_27_and_28_features_outlive_one_of_two_series_and_are_swept_after_both,
        29 => derived::rows_29_81_and_82_a_day_of_hours_becomes_eleven_windows,
        30 => periods::row_30_days_are_no_months_and_no_years,
        31 => periods::rows_31_32_and_35_one_text_is_canonical_and_bad_ones_are_refused,
        32 => periods::rows_31_32_and_35_one_text_is_canonical_and_bad_ones_are_refused,
        33 => periods::row_33_steps_of_milliseconds_are_kept_and_cut,
        34 => periods::row_34_nothing_is_finer_than_a_millisecond,
        35 => periods::rows_31_32_and_35_one_text_is_canonical_and_bad_ones_are_refused,
        36 => periods::row_36_resolutions_are_listed_by_their_texts,
        37 => calendar::rows_37_and_38_february_29_is_a_step_and_its_neighbours_are_not,
        38 => calendar::rows_37_and_38_february_29_is_a_step_and_its_neighbours_are_not,
        39 => calendar::row_39_a_monthly_window_starts_on_february_29,
        40 => calendar::rows_40_to_42_a_slice_is_true_or_refused,
        41 => calendar::rows_40_to_42_a_slice_is_true_or_refused,
        42 => calendar::rows_40_to_42_a_slice_is_true_or_refused,
        43 => derived::rows_43_83_and_84_what_does_not_fit_is_refused_and_nothing_is_written,
        44 => derived::row_44_months_make_windows_of_quarters,
        45 => zoning::rows_45_and_147_days_and_months_are_for_references_without_a_zone,
        46 => calendar::row_46_hours_are_not_counted_in_months,
        47 => instants::row_47_instants_before_1970_are_ordinary,
        48 => instants::row_48_a_century_of_instants_reads_back,
        49 => irregular::row_49_instants_and_values_read_back_exactly,
        50 => instants::row_50_finer_digits_of_others_are_read_to_the_millisecond,
        51 => instants::rows_51_and_53_what_has_no_text_is_refused,
        52 => instants::row_52_a_range_may_end_in_the_far_future,
        53 => instants::rows_51_and_53_what_has_no_text_is_refused,
        54 => ranges::rows_54_to_56_and_58_a_range_takes_the_steps_that_it_overlaps,
        55 => ranges::rows_54_to_56_and_58_a_range_takes_the_steps_that_it_overlaps,
        56 => ranges::rows_54_to_56_and_58_a_range_takes_the_steps_that_it_overlaps,
        57 => ranges::row_57_no_type_has_a_range_that_ends_before_it_begins,
        58 => ranges::rows_54_to_56_and_58_a_range_takes_the_steps_that_it_overlaps,
        59 => ranges::row_59_a_range_begins_with_the_next_instant_and_ends_before_its_end,
        60 => ranges::row_60_a_range_of_one_column_has_nothing_of_its_neighbours,
        61 => forecasts::rows_61_to_63_a_range_takes_the_windows_that_start_inside,
        62 => forecasts::rows_61_to_63_a_range_takes_the_windows_that_start_inside,
        63 => forecasts::rows_61_to_63_a_range_takes_the_windows_that_start_inside,
        64 => ranges::rows_64_and_65_a_range_is_clipped_and_an_open_one_goes_on_to_the_end,
        65 => ranges::rows_64_and_65_a_range_is_clipped_and_an_open_one_goes_on_to_the_end,
        66 => zoning::rows_66_and_143_a_mix_is_read_whole_and_never_by_range,
        67 => ranges::row_67_many_ids_keep_their_order_and_one_unknown_fails_all,
        68 => irregular::row_68_many_reads_equal_single_reads_whatever_the_layout,
        69 => states::rows_69_to_71_an_identity_is_taken_whatever_else_differs,
        70 => states::rows_69_to_71_an_identity_is_taken_whatever_else_differs,
        71 => states::rows_69_to_71_an_identity_is_taken_whatever_else_differs,
        72 => states::row_72_one_number_in_two_categories_is_two_owners,
        73 => search::row_73_an_abstract_look_up_may_be_ambiguous,
        74 => states::row_74_series_without_a_resolution_are_told_apart_by_the_rest,
        75 => search::row_75_deterministic_stands_for_derived_forecasts_in_filters_only,
        76 => forecasts::rows_76_to_78_shapes_and_percentiles_that_do_not_fit_are_refused,
        77 => forecasts::rows_76_to_78_shapes_and_percentiles_that_do_not_fit_are_refused,
        78 => forecasts::rows_76_to_78_shapes_and_percentiles_that_do_not_fit_are_refused,
        79 => forecasts::row_79_every_type_shape_and_element_reads_back,
        80 => forecasts::rows_73_and_80_the_interval_identifies_a_forecast_and_may_be_zero,
        81 => derived::rows_29_81_and_82_a_day_of_hours_becomes_eleven_windows,
        82 => derived::rows_29_81_and_82_a_day_of_hours_becomes_eleven_windows,
        83 => derived::rows_43_83_and_84_what_does_not_fit_is_refused_and_nothing_is_written,
        84 => derived::rows_43_83_and_84_what_does_not_fit_is_refused_and_nothing_is_written,
        85 => derived::row_85_one_grid_is_asked_of_the_scope_only,
        86 => derived::row_86_windows_are_those_of_a_plain_oracle,
        87 => derived::row_87_no_copy_move_or_name_brings_dense_and_derived_together,
        88 => derived::rows_88_and_89_a_source_stays_as_long_as_its_forecast,
        89 => derived::rows_88_and_89_a_source_stays_as_long_as_its_forecast,
        90 => derived::row_90_a_series_beside_a_forecast_of_other_values_may_go,
        91 => sharing::row_91_an_array_stays_until_its_last_series_goes,
        92 => irregular::rows_74_92_and_137_one_array_for_every_type_that_has_it,
        93 => sharing::row_93_a_store_in_memory_is_persisted_with_what_its_series_share,
        94 => irregular::row_94_a_removed_array_lingers_in_the_file_and_not_in_the_catalog,
        95 => layout::row_95_the_1001st_series_that_is_added_alone_gets_another_dataset,
        96 => layout::row_96_the_lowest_free_column_is_taken_first,
        97 => layout::row_97_steps_of_another_length_get_another_dataset,
        98 => layout::row_98_a_batch_has_one_column_for_each_content,
        99 => layout::row_99_what_was_not_committed_is_not_there,
        100 => layout::row_100_an_opened_store_keeps_the_filters_that_it_was_made_with,
        101 => opening::row_101_another_version_is_refused_with_what_was_found,
        102 => states::rows_102_and_103_what_is_no_pair_does_not_open,
        103 => states::rows_102_and_103_what_is_no_pair_does_not_open,
        104 => states::row_104_files_without_permission_to_write_are_read,
        105 => relations::row_105_a_store_without_the_tables_reads_as_empty_and_gains_them,
        106 => states::row_106_a_level_that_does_not_exist_makes_no_file,
        107 => maintenance::row_107_a_value_that_was_changed_behind_the_store_is_reported,
        108 => maintenance::row_108_a_row_without_its_array_is_reported_and_reading_it_finds_nothing,
        109 => states::rows_109_to_113_transactions_end_as_a_whole,
        110 => states::rows_109_to_113_transactions_end_as_a_whole,
        111 => states::rows_109_to_113_transactions_end_as_a_whole,
        112 => states::rows_109_to_113_transactions_end_as_a_whole,
        113 => states::rows_109_to_113_transactions_end_as_a_whole,
        114 => maintenance::row_114_compaction_inside_a_transaction_is_refused,
        115 => change::row_115_a_filter_that_matches_nothing_removes_nothing_and_a_missing_id_fails_all,
        116 => change::row_116_a_collision_moves_no_series_and_the_same_owner_changes_nothing,
        117 => change::row_117_a_copy_of_a_derived_forecast_stays_one_and_a_collision_is_a_duplicate,
        118 => relations::row_118_an_empty_list_of_types_matches_nothing,
        134 => irregular::rows_134_to_136_a_range_of_a_step_function_begins_with_the_value_in_force,
        135 => irregular::rows_134_to_136_a_range_of_a_step_function_begins_with_the_value_in_force,
        136 => irregular::rows_134_to_136_a_range_of_a_step_function_begins_with_the_value_in_force,
        137 => irregular::rows_74_92_and_137_one_array_for_every_type_that_has_it,
        143 => zoning::rows_66_and_143_a_mix_is_read_whole_and_never_by_range,
        144 => zoning::row_144_a_strict_bound_fits_clocks_or_instants_and_a_plain_one_both,
        145 => search::row_145_a_clock_without_a_zone_is_asked_for_and_unset_counts_as_zoned,
        146 => opening::row_146_any_references_but_zoneless_make_one_reader,
        147 => zoning::rows_45_and_147_days_and_months_are_for_references_without_a_zone,
        148 => zoning::row_148_a_malformed_reference_is_refused_before_any_write,
    };
    check(&table, (1..=118).chain(134..=137).chain(143..=148));
}
