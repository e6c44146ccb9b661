//! Rows 30 to 36: fixed and calendar periods, and their texts.

use super::*;

const DAY: i64 = 24 * HOUR;

fn at(owner: i64, resolution: Period, values: &Array) -> NewSeries<'_> {
    NewSeries::single(Owner::component(owner, "Bus"), "load", START, resolution, values.view())
}

fn period(text: &str) -> Period {
    text.parse().unwrap()
}

#[test]
pub(super) fn row_30_days_are_no_months_and_no_years() {
    let pairs = [(Period::Fixed(30 * DAY), Period::Months(1)), (Period::Fixed(365 * DAY), Period::Months(12))];
    let fill = |store: &Store| {
        for (fixed, calendar) in pairs {
            assert_ne!(fixed, calendar);
            store.add(&at(1, fixed, &ramp(0))).unwrap();
            store.add(&at(1, calendar, &ramp(1))).unwrap();
        }
    };
    each(fill, |store, ()| {
        for period in pairs.iter().flat_map(|(fixed, calendar)| [fixed, calendar]) {
            let found = store.list(&Filter { resolution: Some(*period), ..Filter::default() }).unwrap();
            assert_eq!(found.iter().map(|info| info.resolution).collect::<Vec<_>>(), [Some(*period)]);
            assert!(store.has_series(&Identity::of(&found[0])).unwrap());
        }
        let other = Filter { resolution: Some(Period::Fixed(31 * DAY)), ..Filter::default() };
        assert!(store.list(&other).unwrap().is_empty());
    });
}

#[test]
pub(super) fn rows_31_32_and_35_one_text_is_canonical_and_bad_ones_are_refused() {
    let texts =
        [("PT60M", "PT1H"), ("P1W", "P7D"), ("PT24H", "P1D"), ("P18M", "P18M"), ("P1Y6M", "P18M"), ("P24M", "P2Y")];
    for (text, canonical) in texts {
        assert_eq!(period(text).to_string(), canonical);
        assert_eq!(period(text), period(canonical));
    }
    for text in ["P1MT1H", "PT1.5H", "P", "PT", "+PT1H"] {
        assert_eq!(text.parse::<Period>().unwrap_err().kind(), ErrorKind::InvalidParameter, "{text}");
    }
}

#[test]
pub(super) fn row_33_steps_of_milliseconds_are_kept_and_cut() {
    let steps = [(500, "PT0.5S"), (1, "PT0.001S")];
    let fill = |store: &Store| {
        steps.map(|(ms, text)| {
            assert_eq!(Period::Fixed(ms).to_string(), text);
            store.add(&at(ms, Period::Fixed(ms), &ramp(0))).unwrap()
        })
    };
    each(fill, |store, ids| {
        for (id, (ms, _)) in ids.iter().zip(steps) {
            assert_eq!(store.read(*id).unwrap().info.resolution, Some(Period::Fixed(ms)));
            let (from, to) = (UnixMillis(START.0 + ms), UnixMillis(START.0 + 3 * ms));
            let read = store.read_range(*id, Some(from), Some(to)).unwrap();
            assert_eq!((read.info.initial, read.values.to_f64()), (Some(from), Some(vec![1.0, 2.0])));
        }
    });
}

#[test]
pub(super) fn row_34_nothing_is_finer_than_a_millisecond() {
    for text in ["PT0.0005S", "PT0.5000S", "PT0.0000005S"] {
        assert_eq!(text.parse::<Period>().unwrap_err().kind(), ErrorKind::InvalidParameter, "{text}");
    }
}

#[test]
pub(super) fn row_36_resolutions_are_listed_by_their_texts() {
    let listed = ["P1D", "P1M", "PT10H", "PT15M", "PT1H"];
    let fill = |store: &Store| {
        for text in ["PT10H", "PT15M", "PT1H", "P1M", "P1D", "PT60M"] {
            // The last is the third in another spelling.
            let owner = text.len() as i64;
            store.add(&at(owner, period(text), &ramp(0))).unwrap();
        }
    };
    each(fill, |store, ()| assert_eq!(store.resolutions().unwrap(), listed.map(period)));
}
