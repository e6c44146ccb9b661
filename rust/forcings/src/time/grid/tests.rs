use super::*;
use crate::time::Date;
use crate::ErrorKind;
use proptest::prelude::*;

fn t(text: &str) -> UnixMillis {
    UnixMillis::from_rfc3339(&format!("{text}T00:00:00Z")).unwrap()
}

fn grid(start: &str, period: &str, len: usize) -> Grid {
    Grid::new(t(start), period.parse().unwrap(), len).unwrap()
}

#[test]
fn worked_grids() {
    let cases: [(&str, &str, &[&str]); 5] = [
        (
            "2024-01-31",
            "P1M",
            &[
                "2024-01-31",
                "2024-02-29",
                "2024-03-31",
                "2024-04-30",
                "2024-05-31",
                "2024-06-30",
                "2024-07-31",
                "2024-08-31",
                "2024-09-30",
                "2024-10-31",
                "2024-11-30",
                "2024-12-31",
                "2025-01-31",
                "2025-02-28",
            ],
        ),
        ("2024-01-30", "P1M", &["2024-01-30", "2024-02-29", "2024-03-30", "2024-04-30"]),
        (
            "2024-01-31",
            "P2M",
            &["2024-01-31", "2024-03-31", "2024-05-31", "2024-07-31", "2024-09-30", "2024-11-30", "2025-01-31"],
        ),
        ("2023-11-30", "P3M", &["2023-11-30", "2024-02-29", "2024-05-30", "2024-08-30", "2024-11-30", "2025-02-28"]),
        ("2024-02-29", "P1Y", &["2024-02-29", "2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29"]),
    ];
    for (start, period, days) in cases {
        let grid = grid(start, period, days.len());
        let expected: Vec<_> = days.iter().map(|d| t(d)).collect();
        assert_eq!(grid.instants().collect::<Vec<_>>(), expected, "{start} {period}");
        for (k, &at) in expected.iter().enumerate() {
            assert_eq!(grid.index_of(at).unwrap(), k);
            assert_eq!(grid.at(k).unwrap(), at);
        }
        assert_eq!(grid.at(days.len()).unwrap_err().kind(), ErrorKind::OffGrid);
    }
}

#[test]
fn strict_index_on_month_ends() {
    let from_31 = grid("2024-01-31", "P1M", 14);
    for off in ["2024-02-28", "2024-03-29", "2024-03-30", "2024-04-29", "2024-01-30", "2025-03-31"] {
        assert_eq!(from_31.index_of(t(off)).unwrap_err().kind(), ErrorKind::OffGrid, "{off}");
    }
    assert_eq!(from_31.index_of(UnixMillis(t("2024-02-29").0 + 1)).unwrap_err().kind(), ErrorKind::OffGrid);
    let between = from_31.index_of(t("2024-03-30")).unwrap_err().to_string();
    assert!(between.contains("lies inside the step that begins at 2024-02-29T00:00:00Z"), "{between}");
    let from_1 = grid("2024-01-01", "P1M", 12);
    assert_eq!(from_1.index_of(t("2024-04-01")).unwrap(), 3);
    assert_eq!(from_1.index_of(t("2024-04-02")).unwrap_err().kind(), ErrorKind::OffGrid);
}

#[test]
fn floor_and_ceil_clamp() {
    let hourly = Grid::new(UnixMillis(0), Period::hours(1), 4).unwrap();
    let hour = 3_600_000;
    for (ms, floor, ceil) in [
        (i64::MIN, 0, 0),
        (-1, 0, 0),
        (0, 0, 0),
        (1, 0, 1),
        (hour, 1, 1),
        (hour + hour / 2, 1, 2),
        (3 * hour + 1, 3, 4),
        (4 * hour, 4, 4),
        (i64::MAX, 4, 4),
    ] {
        assert_eq!((hourly.floor_index(UnixMillis(ms)), hourly.ceil_index(UnixMillis(ms))), (floor, ceil), "{ms}");
    }
    let monthly = grid("2024-01-31", "P1M", 3);
    for (day, floor, ceil) in [
        ("0000-01-01", 0, 0),
        ("2024-02-28", 0, 1),
        ("2024-02-29", 1, 1),
        ("2024-03-30", 1, 2),
        ("2024-04-29", 2, 3),
        ("2024-04-30", 3, 3),
        ("9999-12-31", 3, 3),
    ] {
        assert_eq!((monthly.floor_index(t(day)), monthly.ceil_index(t(day))), (floor, ceil), "{day}");
    }
}

#[test]
fn largest_anchorable_length_by_offset() {
    let longest = |grid: &Grid, offset: usize| {
        (0..=grid.len() - offset).rev().find(|&len| grid.sub_grid_is_anchorable(offset, len)).unwrap()
    };
    let monthly = grid("2024-01-31", "P1M", 14);
    let expected = [14, 1, 12, 1, 10, 1, 8, 7, 1, 5, 1, 3, 2, 1];
    assert_eq!((0..14).map(|o| longest(&monthly, o)).collect::<Vec<_>>(), expected);
    let yearly = grid("2024-02-29", "P1Y", 5);
    assert_eq!((1..5).map(|o| longest(&yearly, o)).collect::<Vec<_>>(), [3, 2, 1, 1]);
}

#[test]
fn slices_are_true_or_refused() {
    let monthly = grid("2024-01-31", "P1M", 14);
    let error = monthly.slice(1, 2).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    assert!(error.to_string().contains("2024-02-29") && error.to_string().contains("day 31"), "{error}");
    assert_eq!(monthly.slice(1, 1).unwrap().start(), t("2024-02-29"));
    assert_eq!(monthly.slice(14, 0).unwrap().start(), t("2025-03-31"));
    assert_eq!(monthly.slice(13, 2).unwrap_err().kind(), ErrorKind::InvalidParameter);
    assert_eq!(monthly.slice(1, usize::MAX).unwrap_err().kind(), ErrorKind::InvalidParameter);
}

#[test]
fn exact_division() {
    let steps = |whole: &str, step: &str| whole.parse::<Period>().unwrap().exact_steps(step.parse().unwrap());
    assert_eq!(steps("P1Y", "P1M").unwrap(), 12);
    assert_eq!(steps("P1D", "PT1H").unwrap(), 24);
    assert_eq!(steps("PT1H", "PT1H").unwrap(), 1);
    for (whole, step) in [("P1M", "P1D"), ("PT90M", "PT1H"), ("PT0S", "PT1H"), ("PT1H", "PT0S"), ("-PT2H", "-PT1H")] {
        assert_eq!(steps(whole, step).unwrap_err().kind(), ErrorKind::InvalidParameter, "{whole} / {step}");
    }
}

#[test]
fn grids_that_cannot_be() {
    for (start, period, len) in [
        (0, Period::Fixed(0), 1),
        (0, Period::Fixed(-1), 1),
        (0, Period::Months(0), 1),
        (0, Period::Months(-1), 1),
        (i64::MAX, Period::Fixed(1), 1),
        (0, Period::Fixed(i64::MAX), 2),
        (0, Period::Months(i32::MAX), usize::MAX),
        (0, Period::Months(i32::MAX), 5),
    ] {
        let error = Grid::new(UnixMillis(start), period, len).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{start} {period} {len}");
    }
}

/// Counts months one by one, and cuts the day at the very end.
fn add_months_naively(start: UnixMillis, months: u32) -> UnixMillis {
    let Date { mut year, mut month, day } = start.date();
    for _ in 0..months {
        month += 1;
        if month > 12 {
            (month, year) = (1, year + 1);
        }
    }
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let length = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month as usize - 1];
    UnixMillis::from_civil(Date { year, month, day: day.min(length) }, start.ms_of_day()).unwrap()
}

proptest! {
    #[test]
    fn calendar_steps_agree_with_naive_counting(
        days in -700_000i64..2_900_000, ms in 0i64..86_400_000, months in 1i32..40, len in 1usize..60,
    ) {
        let start = UnixMillis(days * 86_400_000 + ms);
        let grid = Grid::new(start, Period::Months(months), len).unwrap();
        for k in 0..len {
            let at = add_months_naively(start, months as u32 * k as u32);
            prop_assert_eq!(grid.at(k).unwrap(), at);
            prop_assert_eq!(grid.index_of(at).unwrap(), k);
        }
    }

    #[test]
    fn indexes_agree_with_a_linear_search(
        start in -4_000_000_000_000i64..4_000_000_000_000, len in 0usize..40, probe in -200_000_000_000i64..200_000_000_000,
        period in prop_oneof![(1i64..10_000_000_000).prop_map(Period::Fixed), (1i32..30).prop_map(Period::Months)],
    ) {
        let grid = Grid::new(UnixMillis(start), period, len).unwrap();
        let steps: Vec<_> = grid.instants().collect();
        let probes = steps.iter().flat_map(|s| [s.0 - 1, s.0, s.0 + 1]).chain([start + probe, grid.end().0 - 1, grid.end().0]);
        for at in probes.map(UnixMillis) {
            let exact = steps.iter().position(|&s| s == at);
            prop_assert_eq!(grid.index_of(at).ok(), exact);
            let ceil = steps.iter().position(|&s| s >= at).unwrap_or(len);
            prop_assert_eq!(grid.ceil_index(at), ceil);
            let floor = if at >= grid.end() { len } else { steps.iter().rposition(|&s| s <= at).unwrap_or(0) };
            prop_assert_eq!(grid.floor_index(at), floor);
        }
    }

    #[test]
    fn a_slice_names_the_instants_of_its_grid(
        days in 0i64..60_000, months in 1i32..26, len in 1usize..30, from in 0usize..30, count in 0usize..30,
    ) {
        let grid = Grid::new(UnixMillis(days * 86_400_000), Period::Months(months), len).unwrap();
        let (from, count) = (from.min(len), count.min(len - from.min(len)));
        let wanted: Vec<_> = grid.instants().skip(from).take(count).collect();
        let stepped: Option<Vec<_>> = wanted.first().map(|&first| {
            (0..count).map(|k| Period::Months(months).add(first, k as i64).unwrap()).collect()
        });
        match grid.slice(from, count) {
            Ok(slice) => prop_assert_eq!(slice.instants().collect::<Vec<_>>(), wanted),
            Err(_) => prop_assert_ne!(stepped.unwrap(), wanted),
        }
    }
}
