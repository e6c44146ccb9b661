//! Rows 17 to 22: names, patterns for names, and the caller's own text.

use super::*;

/// The names that match.
fn matching(store: &Store, filter: Filter) -> Vec<String> {
    store.list(&filter).unwrap().into_iter().map(|info| info.name).collect()
}

fn named(name: &str) -> Filter {
    Filter { name: Some(name.into()), ..Filter::default() }
}

fn glob(pattern: &str) -> Filter {
    Filter { name_glob: Some(pattern.into()), ..Filter::default() }
}

fn fill<'a>(names: &'a [&'a str]) -> impl Fn(&Store) + 'a {
    move |store| {
        for name in names {
            add(store, 1, name, &ramp(0));
        }
    }
}

#[test]
pub(super) fn row_17_a_name_may_be_empty_or_long_and_matches_as_a_whole() {
    let (long, longer) = ("n".repeat(10_000), "n".repeat(10_001));
    let names = ["", &long, &longer, "n"];
    each(fill(&names), |store, ()| {
        for name in names {
            assert_eq!(matching(store, named(name)), [name]);
        }
        assert!(matching(store, named("nn")).is_empty());
    });
}

#[test]
pub(super) fn row_18_every_character_is_itself_in_a_name() {
    let names = ["it's", "\"a\"", "a\\b", "*", "?", "[a]", "%", "_", "a\tb\nc", "żółw 風", "a\0b", "é", "e\u{301}"];
    each(fill(&names), |store, ()| {
        for name in names {
            assert_eq!(matching(store, named(name)), [name], "{name:?}");
        }
    });
}

#[test]
pub(super) fn rows_19_and_20_a_pattern_is_not_a_name() {
    let names = ["wind[1]", "wind1", "ab", "axb", "aXB", "b"];
    each(fill(&names), |store, ()| {
        assert_eq!(matching(store, glob("wind[1]")), ["wind1"]);
        assert_eq!(matching(store, glob("wind[[]1]")), ["wind[1]"]);
        assert_eq!(matching(store, glob("a*b")), ["ab", "axb"]);
        assert_eq!(matching(store, glob("A*B")), [""; 0]);
        assert_eq!(matching(store, glob("a*B")), ["aXB"]);
    });
}

#[test]
pub(super) fn row_21_conditions_join_and_nothing_found_is_no_error() {
    each(fill(&["ab", "axb"]), |store, ()| {
        let single = Some(SeriesType::SingleTimeSeries);
        let all_three = |name: &str, series_type| Filter { name: Some(name.into()), series_type, ..glob("a*b") };
        assert_eq!(matching(store, all_three("ab", single)), ["ab"]);
        assert!(matching(store, all_three("b", single)).is_empty());
        assert!(matching(store, all_three("ab", Some(SeriesType::Scenarios))).is_empty());
    });
}

#[test]
pub(super) fn row_22_the_callers_text_is_kept_to_the_byte() {
    let large = "{\"x\": [1, 2.50]} ".repeat(70_000);
    assert!(large.len() > 1 << 20);
    let texts = ["{not json", "", "a\0b\n", &large];
    let fill = |store: &Store| {
        let values = ramp(0);
        let new = |(owner, text): (i64, &&str)| NewSeries {
            ext: Some(text.to_string()),
            units: Some(text.chars().take(40).collect()),
            ..series(owner, "load", &values)
        };
        store.add_bulk(&(0..).zip(&texts).map(new).collect::<Vec<_>>()).unwrap();
        add(store, 99, "load", &values);
    };
    each(fill, |store, ()| {
        let infos = all(store);
        for (info, text) in infos.iter().zip(texts) {
            assert!(info.ext.as_deref() == Some(text));
            assert_eq!(info.units, Some(text.chars().take(40).collect()));
        }
        assert_eq!((&infos[4].ext, &infos[4].units), (&None, &None), "no text is not the empty text");
    });
}
