//! A table of tricky cases by their numbers: which test stands for each. A test names its rows, and may stand for several.

use std::collections::BTreeMap;

/// Rows, each with the name of the test that stands for it. That the test exists is the compiler's to see.
macro_rules! table {
    ($($row:literal => $test:path,)+) => {
        vec![$({
            let _: fn() = $test;
            ($row, stringify!($test))
        }),+]
    };
}
pub(crate) use table;

/// Checks that each of `rows` stands in the table once, beside a test that names it, and nothing else does.
pub(crate) fn check(table: &[(u32, &str)], rows: impl Iterator<Item = u32>) {
    let counts: BTreeMap<u32, usize> = table.iter().fold(BTreeMap::new(), |mut counts, (row, _)| {
        *counts.entry(*row).or_default() += 1;
        counts
    });
    assert_eq!(counts, rows.map(|row| (row, 1)).collect());
    for (row, test) in table {
        assert!(named_rows(test).contains(row), "{test} does not name row {row}");
    }
}

/// The rows in the name of a test: `row_7_..`, `rows_1_and_2_..`, `rows_61_to_63_..`, `rows_7_9_and_79_..`.
fn named_rows(test: &str) -> Vec<u32> {
    let name = test.rsplit("::").next().expect("a path has a last part").trim_start();
    let words: Vec<&str> = name.split('_').skip(1).collect();
    let mut rows: Vec<u32> = Vec::new();
    let mut is_range = false;
    for word in words {
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
