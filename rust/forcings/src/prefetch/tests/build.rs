//! What a builder accepts, and what it says about the rest.

use super::fake::{group_of, Fake};
use crate::prefetch::{PrefetchGroup, PrefetchGroupBuilder};
use crate::{Error, ErrorKind};
use std::sync::Arc;

fn refusal(builder: PrefetchGroupBuilder) -> String {
    let error: Error = builder.build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    error.to_string()
}

fn two(change: impl FnOnce(&mut Fake)) -> PrefetchGroupBuilder {
    let b = Fake::new(1, 0, 1, 3).with(change);
    PrefetchGroup::builder().member("a", Arc::new(Fake::new(0, 0, 1, 3))).member("b", Arc::new(b))
}

#[test]
fn rows_98_and_99_bad_groups_are_refused() {
    assert!(refusal(PrefetchGroup::builder()).contains("at least one member"));
    assert!(refusal(two(|_| {}).depth(0)).contains("depth is 0"));
    assert!(refusal(two(|_| {}).workers(0)).contains("workers is 0"));
    assert!(
        refusal(two(|_| {}).member("a", Arc::new(Fake::new(2, 0, 1, 1)))).contains("two members have the key \"a\"")
    );
    let constant = refusal(two(|_| {}).member("c", Arc::new(Fake::new(2, 0, 1, 0))));
    assert!(constant.contains("\"c\"") && constant.contains("materialize"));
}

#[test]
fn times_have_to_be_finite() {
    let (builder, _) = group_of(Fake::new(0, 0, 1, 3).with(|fake| fake.set_time(1, f64::NAN)));
    assert!(refusal(builder).contains("member \"m\" has the refresh time NaN"));
}

#[test]
fn members_share_a_calendar() {
    let calendar = |name: &str| Some(name.to_string());
    two(|b| b.calendar = calendar("noleap")).build().expect("the other member has a unit of its own");
    let mixed = two(|b| b.calendar = calendar("noleap"))
        .member("c", Arc::new(Fake::new(2, 0, 1, 3).with(|c| c.calendar = calendar("standard"))));
    let text = refusal(mixed);
    for word in ["\"b\"", "\"noleap\"", "\"c\"", "\"standard\""] {
        assert!(text.contains(word), "{text}");
    }
}

#[test]
fn boundaries_are_the_union_of_the_times_and_keys_are_sorted_by_bytes() {
    let group = PrefetchGroup::builder()
        .member("é", Arc::new(Fake::new(0, 0, 3, 3)))
        .member("b", Arc::new(Fake::new(1, 1, 2, 3)))
        .member("Z", Arc::new(Fake::new(2, 0, 6, 2)))
        .build()
        .unwrap();
    assert_eq!(group.boundaries(), [0.0, 1.0, 3.0, 5.0, 6.0]);
    assert_eq!(group.keys().collect::<Vec<_>>(), ["Z", "b", "é"]);
}

#[test]
fn the_two_zeros_are_one_time() {
    let group = PrefetchGroup::builder()
        .member("a", Arc::new(Fake::new(0, 0, 1, 2)))
        .member("b", Arc::new(Fake::new(0, 0, 1, 2).with(|b| b.set_time(0, -0.0))))
        .build()
        .unwrap();
    assert_eq!(group.boundaries(), [0.0, 1.0]);
}
