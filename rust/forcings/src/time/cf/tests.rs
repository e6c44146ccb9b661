use super::*;
use proptest::prelude::*;

fn unix(units: &str, calendar: &str, value: f64) -> f64 {
    CfTime::parse(units, Some(calendar)).unwrap().to_unix(value).unwrap()
}

fn fault(units: &str, calendar: Option<&str>) -> String {
    CfTime::parse(units, calendar).unwrap_err().to_string()
}

const CALENDARS: [Calendar; 6] = [
    Calendar::Standard,
    Calendar::ProlepticGregorian,
    Calendar::Julian,
    Calendar::NoLeap,
    Calendar::AllLeap,
    Calendar::Day360,
];

/// The next date, by the rules as a person would tell them.
fn tomorrow(calendar: Calendar, (y, m, d): (i64, u32, u32)) -> (i64, u32, u32) {
    if calendar == Calendar::Standard && (y, m, d) == (1582, 10, 4) {
        return (1582, 10, 15);
    }
    let every = |n: i64| y.rem_euclid(n) == 0;
    let leap = match calendar {
        Calendar::Julian => every(4),
        Calendar::ProlepticGregorian => every(4) && !every(100) || every(400),
        Calendar::Standard if y <= 1582 => every(4),
        Calendar::Standard => every(4) && !every(100) || every(400),
        Calendar::AllLeap => true,
        Calendar::NoLeap | Calendar::Day360 => false,
    };
    let length = match m {
        _ if calendar == Calendar::Day360 => 30,
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    match (m, d) {
        (12, d) if d == length => (y + 1, 1, 1),
        (m, d) if d == length => (y, m + 1, 1),
        _ => (y, m, d + 1),
    }
}

#[test]
fn days_are_those_of_a_walk_through_every_calendar() {
    for calendar in CALENDARS {
        let mut date = (-30, 1, 1);
        let mut expected = calendar.days(-30, 1, 1).unwrap();
        while date.0 < 2105 {
            assert_eq!(calendar.days(date.0, date.1, date.2), Some(expected), "{calendar} {date:?}");
            if date == (1970, 1, 1) {
                assert_eq!(expected, 0, "{calendar}");
            }
            let next = tomorrow(calendar, date);
            if next.1 != date.1 && next.2 == 1 {
                assert_eq!(calendar.days(date.0, date.1, date.2 + 1), None, "{calendar} after {date:?}");
            }
            (date, expected) = (next, expected + 1);
        }
    }
}

#[test]
fn the_standard_calendar_has_no_dates_in_the_gap_of_1582() {
    assert_eq!(fault("days since 1582-10-05", None), {
        "time units \"days since 1582-10-05\": the calendar standard has no date 1582-10-05"
    });
    assert_eq!(unix("days since 1582-10-04", "standard", 1.0), unix("days since 1582-10-15", "gregorian", 0.0));
    let julian_time_line = CfTime::parse("days since 1582-10-10", Some("julian")).unwrap();
    assert_eq!(julian_time_line.calendar(), Calendar::Julian);
}

#[test]
fn known_instants() {
    assert_eq!(unix("seconds since 1970-01-01", "standard", 1_780_000_000.0), 1_780_000_000.0);
    assert_eq!(unix("days since 2000-01-01", "standard", 0.0), 946_684_800.0);
    assert_eq!(unix("days since 2000-01-01", "noleap", 0.0), 946_080_000.0);
    assert_eq!(unix("days since 2000-01-01", "360_day", 30.5), (30.0 * 360.0 + 30.5) * 86_400.0);
    assert_eq!(unix("hours since 1900-01-01", "gregorian", 613_608.0), 0.0);
    assert_eq!(unix("days since 1-1-1", "proleptic_gregorian", 719_162.0), 0.0);
    assert_eq!(unix("days since 1-1-1", "standard", 719_164.0), 0.0);
    assert_eq!(unix("hour since 1980-01-14 14:00:00", "standard", 730.5), 316_706_400.0 + 730.5 * 3600.0);
}

#[test]
fn one_instant_in_many_spellings() {
    let expected = unix("seconds since 1992-10-08T21:15:42Z", "standard", 0.5);
    for units in [
        "seconds since 1992-10-8 15:15:42.5 -6:00",
        "seconds since 1992-10-8 15:15:42.5 -6",
        "seconds since 1992-10-08 15:15:42.50-0600",
        "seconds since 1992-10-08T21:15:42.5Z",
        "s since 1992-10-08 21:15:42.5 UTC",
        "Secs  SINCE 1992-10-08t21:15:42.5 gmt",
        "days since 1992-10-09 02:45:42.500000 +05:30",
        "weeks since 1992-10-08 21:15:42.5",
    ] {
        assert_eq!(unix(units, "standard", 0.0), expected, "{units}");
    }
    for units in ["days since 2001-03-01", "d since 2001-03-01 0", "hr since 2001-3-1 00:00", "ms since 2001-3-1 UTC"] {
        assert_eq!(unix(units, "julian", 0.0), unix("days since 2001-3-1T0:0:0", "julian", 0.0), "{units}");
    }
}

#[test]
fn one_length_in_every_unit() {
    let day = 86_400.0;
    for (units, value) in [
        ("days", 1.0),
        ("hours", 24.0),
        ("min", 1440.0),
        ("sec", day),
        ("msec", day * 1e3),
        ("µs", day * 1e6),
        ("microseconds", day * 1e6),
        ("nanoseconds", day * 1e9),
        ("week", 1.0 / 7.0),
    ] {
        assert_eq!(unix(&format!("{units} since 1970-01-01"), "standard", value), day, "{units}");
    }
}

#[test]
fn values_round_to_the_nearest_millisecond() {
    assert_eq!(unix("seconds since 1970-01-01", "standard", 0.0014), 0.001);
    assert_eq!(unix("seconds since 1970-01-01", "standard", -0.0016), -0.002);
    assert_eq!(unix("us since 1970-01-01 00:00:00.0004", "standard", 200.0), 0.001);
    // A third of a day, as single precision would store it, lands on the second.
    assert_eq!(unix("days since 1800-01-01", "standard", 62_091.0 + 8.0 / 24.0), 28_800.0);
}

#[test]
fn what_cannot_be_counted_is_refused_with_a_reason() {
    for (units, reason) in [
        ("months since 1980-01-01", "a months has no fixed length; give the times of the records yourself"),
        ("years since 1980-01-01", "no fixed length"),
        ("furlongs since 1980-01-01", "unknown unit \"furlongs\""),
        ("days", "expected \"<unit> since <reference>\""),
        ("days before 1980-01-01", "expected \"<unit> since <reference>\""),
        ("days since", "no reference"),
        ("days since 1980", "no reference"),
        ("days since 19800101", "no reference"),
        ("days since 1980-02-30", "the calendar standard has no date 1980-02-30"),
        ("days since 1980-13-01", "has no date 1980-13-01"),
        ("days since 1980-01-01 25:00", "no reference"),
        ("days since 1980-01-01 12:00:00 moon", "no reference"),
        ("days since 1980-01-01 -6", "no reference"),
        ("days since 1980-01-01 12:00:00 +19:00", "no reference"),
        ("days since 999999999-01-01", "out of range"),
        ("days since 99999999999999999999-01-01", "no reference"),
        ("days since 1980-01-01 1.5", "no reference"),
        ("days since 1980-é-01", "no reference"),
    ] {
        assert!(fault(units, None).contains(reason), "{units}: {}", fault(units, None));
    }
    assert!(fault("days since 1980-01-01", Some("mayan")).contains("unknown calendar \"mayan\""));
    assert!(fault("days since 1981-02-29", Some("noleap")).contains("noleap has no date"));
    let axis = CfTime::parse("days since 1980-01-01", None).unwrap();
    for value in [f64::NAN, f64::INFINITY, 9.969_209_968_386_869e36, -1e300] {
        assert!(axis.to_unix(value).is_err(), "{value}");
    }
}

#[test]
fn time_units_are_told_by_the_word_since() {
    assert!(is_time_units("days since 1970-01-01") && is_time_units("anything SINCE\tx"));
    assert!(!is_time_units("degrees_north") && !is_time_units("sincerity") && !is_time_units(""));
}

#[test]
fn the_two_gregorian_calendars_share_their_time_line() {
    assert!(Calendar::Standard.shares_time_line(Calendar::ProlepticGregorian));
    assert!(
        !Calendar::Standard.shares_time_line(Calendar::NoLeap) && Calendar::NoLeap.shares_time_line(Calendar::NoLeap)
    );
    for calendar in CALENDARS {
        assert_eq!(calendar.name().parse::<Calendar>().unwrap(), calendar);
    }
}

proptest! {
    #[test]
    fn parsing_never_panics(units in "\\PC*", calendar in "\\PC*") {
        let _ = CfTime::parse(&units, None);
        let _ = CfTime::parse(&format!("days since {units}"), Some(&calendar));
        let _ = CfTime::parse(&format!("days since 2000-01-01 {units}"), None);
    }

    #[test]
    fn hours_written_from_two_references_give_the_same_seconds(
        hour in -3_000_000i64..3_000_000,
        calendar in proptest::sample::select(&CALENDARS[..]),
    ) {
        let shift = (calendar.days(1970, 1, 1).unwrap() - calendar.days(1800, 1, 1).unwrap()) as f64;
        let as_days = CfTime::parse("days since 1800-01-01", Some(calendar.name())).unwrap();
        let as_seconds = CfTime::parse("seconds since 1970-01-01", Some(calendar.name())).unwrap();
        prop_assert_eq!(
            as_days.to_unix(hour as f64 / 24.0 + shift).unwrap().to_bits(),
            as_seconds.to_unix(hour as f64 * 3600.0).unwrap().to_bits()
        );
    }
}
