use super::super::cohort::tests::info;
use super::super::cohort::tests::{refusal, window};
use crate::series::{Bound, Owner, SeriesInfo};
use crate::time::{Period, UnixMillis};

const HOUR: i64 = 3_600_000;

fn hour(k: i64) -> UnixMillis {
    UnixMillis(k * HOUR)
}

/// A start that floats.
fn at(instant: UnixMillis) -> Option<Bound> {
    Some(instant.into())
}

/// `length` hours from `first` on.
fn hours(owner: i64, first: i64, length: u64) -> SeriesInfo {
    SeriesInfo {
        initial: Some(hour(first)),
        length: Some(length),
        ..info(owner, Owner::component(owner, "Bus"), "load")
    }
}

/// Hours 0 to 5, and 2 to 7.
fn ragged() -> Vec<SeriesInfo> {
    vec![hours(1, 0, 6), hours(2, 2, 6)]
}

/// The first instant, the length and the offsets of a window.
fn shape(series: Vec<SeriesInfo>, start: i64, extent: Option<u64>) -> (UnixMillis, usize, Vec<usize>) {
    let cohort = window(series, at(hour(start)), extent).unwrap();
    let grid = *cohort.timeline.grid().unwrap();
    let mut rows = vec![0; cohort.timeline.lanes()];
    cohort.timeline.rows_at(grid.start(), &mut rows).map_err(|_| ()).unwrap();
    let columns = cohort.groups.iter().flat_map(|g| g.columns());
    (grid.start(), grid.len(), columns.map(|c| rows[c.lane()]).collect())
}

#[test]
fn row_126_a_window_goes_as_far_as_every_series() {
    assert_eq!(shape(ragged(), 2, None), (hour(2), 4, vec![2, 0]));
    assert_eq!(shape(ragged(), 2, Some(3)), (hour(2), 3, vec![2, 0]));
    assert_eq!(shape(ragged(), 5, None), (hour(5), 1, vec![5, 3]));
    // A year beside a week: the window has two columns, the filter on the grid one.
    assert_eq!(shape(vec![hours(1, 0, 24), hours(2, 7, 48)], 7, None), (hour(7), 17, vec![7, 0]));
    assert_eq!(shape(vec![hours(1, 7, 4), hours(2, 7, 9)], 7, None), (hour(7), 4, vec![0, 0]));
}

#[test]
fn a_window_that_a_series_does_not_cover_names_it() {
    for (start, extent, parts) in [
        (
            2,
            Some(5),
            &["Component 1 (Bus)", "does not cover 5 steps", "6 steps of PT1H from 1970-01-01T00", "at most 4"][..],
        ),
        (6, None, &["is empty", "Component 1 (Bus)", "ended before"]),
        (7, None, &["is empty", "Component 1 (Bus)"]),
        (0, None, &["is no step of", "Component 2 (Bus)", "from 1970-01-01T02"]),
        (2, Some(0), &["0 steps is empty"]),
        (7, Some(1), &["Component 1 (Bus)", "does not cover 1 step"]),
        // After the last step of both, and a step of both grids.
        (100, None, &["is empty"]),
    ] {
        let text = refusal(window(ragged(), at(hour(start)), extent));
        parts.iter().for_each(|part| assert!(text.contains(part), "{start} {extent:?}, {part}: {text}"));
    }
    let text = refusal(window(ragged(), at(UnixMillis(2 * HOUR + HOUR / 2)), None));
    assert!(text.contains("is no step of") && text.contains("Component 1 (Bus)"), "{text}");
}

#[test]
fn row_127_an_extent_near_the_integer_maximum_is_not_covered() {
    for extent in [u64::MAX, u64::MAX - 1, i64::MAX as u64, 1 << 40] {
        for start in [2, 5] {
            let text = refusal(window(ragged(), at(hour(start)), Some(extent)));
            assert!(text.contains("does not cover"), "{text}");
        }
    }
}

fn months(initial: &str, months: i32, length: u64) -> Vec<SeriesInfo> {
    vec![SeriesInfo {
        initial: Some(UnixMillis::from_rfc3339(initial).unwrap()),
        resolution: Some(Period::Months(months)),
        length: Some(length),
        ..info(1, Owner::component(1, "Bus"), "load")
    }]
}

#[test]
fn row_128_a_window_of_calendar_steps_has_the_dates_of_the_series_or_is_refused() {
    // The largest extent from each offset of the month ends of 2024-01-31, and from each leap day.
    let from_january = [14, 1, 12, 1, 10, 1, 8, 7, 1, 5, 1, 3, 2, 1];
    let from_a_leap_day = [5, 3, 2, 1, 1];
    let cases = [("2024-01-31T00:00:00Z", 1, &from_january[..]), ("2024-02-29T00:00:00Z", 12, &from_a_leap_day)];
    for (initial, step, largest) in cases {
        let series = || months(initial, step, largest.len() as u64);
        let grid = series()[0].grid().unwrap();
        for (offset, &most) in largest.iter().enumerate() {
            for extent in 1..=(largest.len() - offset) as u64 {
                let cohort = window(series(), at(grid.at(offset).unwrap()), Some(extent));
                if extent > most {
                    let text = refusal(cohort);
                    assert!(text.contains("misses month ends") && text.contains("Component 1 (Bus)"), "{text}");
                    continue;
                }
                let its: Vec<UnixMillis> = cohort.unwrap().timeline.instants();
                let own: Vec<UnixMillis> = grid.instants().skip(offset).take(extent as usize).collect();
                assert_eq!(its, own);
            }
        }
    }
    // Wrong dates are refused before a window that is too long, which no extent makes loop for long.
    let start = at(UnixMillis::from_rfc3339("2024-02-29T00:00:00Z").unwrap());
    assert!(refusal(window(months("2024-01-31T00:00:00Z", 1, 14), start, Some(u64::MAX))).contains("misses month ends"));
    let start = at(UnixMillis::from_rfc3339("2024-03-31T00:00:00Z").unwrap());
    assert!(refusal(window(months("2024-01-31T00:00:00Z", 1, 14), start, Some(u64::MAX))).contains("does not cover"));
}

#[test]
fn the_rules_are_asked_in_their_order() {
    // Off the grid before empty; a series that ended before wall clocks beside instants.
    let clock = |series| SeriesInfo { time_reference: Some("zoneless".parse().unwrap()), ..series };
    let text = refusal(window(vec![hours(1, 0, 6), clock(hours(2, 10, 6))], at(hour(8)), None));
    assert!(text.contains("is no step of") && text.contains("Component 2 (Bus)"), "{text}");
    let text = refusal(window(vec![hours(1, 0, 6), clock(hours(2, 2, 6))], at(hour(8)), Some(1)));
    assert!(text.contains("does not cover"), "{text}");
    let text = refusal(window(vec![hours(1, 0, 6), clock(hours(2, 2, 6))], at(hour(2)), None));
    assert!(text.contains("wall clock"), "{text}");
}

#[test]
fn row_144_a_strict_start_fits_instants_or_clocks_only() {
    let with = |reference: Option<&str>| {
        let time_reference = reference.map(|text| text.parse().unwrap());
        vec![SeriesInfo { time_reference, ..hours(1, 0, 6) }]
    };
    for (reference, zoneless) in [
        (None, false),
        (Some("utc"), false),
        (Some("-07:00"), false),
        (Some("America/Denver"), false),
        (Some("zoneless"), true),
    ] {
        for (bound, fits) in
            [(Bound::Floating(hour(2)), true), (Bound::Utc(hour(2)), !zoneless), (Bound::Zoneless(hour(2)), zoneless)]
        {
            let cohort = window(with(reference), Some(bound), None);
            match fits {
                true => assert_eq!(cohort.unwrap().timeline.instants(), (2..6).map(hour).collect::<Vec<_>>()),
                false => assert!(refusal(cohort).contains("Component 1 (Bus)")),
            }
        }
    }
}
