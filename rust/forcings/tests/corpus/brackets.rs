//! Samples of two records, over the seams of files and behind the last time.

use crate::files::{cache, read};
use crate::prefetch::check_equivalence;
use crate::scenarios::{check_windows, Runs};
use crate::sockets::without_sockets;

#[test]
fn brackets_of_a_series_of_files() {
    let runs: Runs = read("scenarios/brackets.json");
    without_sockets(|| runs.check(&cache()));
}

#[test]
fn several_windows_of_one_bracket() {
    without_sockets(|| check_windows(&[2], &cache()));
}

#[test]
fn a_group_gives_the_brackets_of_fresh_providers() {
    check_equivalence(&[1, 2]);
}
