//! What the readers ask of the series that they list, whatever they keep of them: their order, and whether they can share
//! one time axis.

use super::column::ColumnInfo;
use crate::array::ArrayHash;
use crate::series::{FeatureValue, Features, OwnerCategory, SeriesId, SeriesInfo, TimeReference};
use crate::{Error, Result};
use std::cmp::Ordering;
use std::fmt::Display;

/// A series as a reader lists it. Its text names it.
pub(super) trait Listed: Display {
    /// Its number.
    fn id(&self) -> SeriesId;
    /// Its owner's number and category.
    fn owner(&self) -> (i64, OwnerCategory);
    /// Its name.
    fn name(&self) -> &str;
    /// Its features.
    fn features(&self) -> &Features;
    /// How its instants are to be spelled.
    fn time_reference(&self) -> Option<&TimeReference>;
    /// Its array.
    fn hash(&self) -> &ArrayHash;
}

impl Listed for SeriesInfo {
    fn id(&self) -> SeriesId {
        self.id
    }

    fn owner(&self) -> (i64, OwnerCategory) {
        (self.owner.id, self.owner.category)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn features(&self) -> &Features {
        &self.features
    }

    fn time_reference(&self) -> Option<&TimeReference> {
        self.time_reference.as_ref()
    }

    fn hash(&self) -> &ArrayHash {
        &self.hash
    }
}

impl Listed for ColumnInfo {
    fn id(&self) -> SeriesId {
        self.id()
    }

    fn owner(&self) -> (i64, OwnerCategory) {
        (self.owner_id(), self.owner_category())
    }

    fn name(&self) -> &str {
        self.name()
    }

    fn features(&self) -> &Features {
        self.features()
    }

    fn time_reference(&self) -> Option<&TimeReference> {
        self.time_reference()
    }

    fn hash(&self) -> &ArrayHash {
        self.hash()
    }
}

/// The order of the series of a reader: by owner id, owner category, name and features.
pub(super) fn by_owner(a: &impl Listed, b: &impl Listed) -> Ordering {
    let ((a_owner, a_category), (b_owner, b_category)) = (a.owner(), b.owner());
    (a_owner, a_category.name(), a.name())
        .cmp(&(b_owner, b_category.name(), b.name()))
        .then_with(|| compare_features(a.features(), b.features()))
        .then_with(|| a.id().cmp(&b.id()))
}

/// How the instants of a reader of these series are spelled: as those of its series if all agree, else in UTC; `None` if
/// none of them says.
///
/// # Errors
/// `InvalidParameter` when some are readings of a wall clock and some are not; it names the reader and one of each.
pub(super) fn common_reference<'a, S: Listed + 'a>(
    reader: &str,
    series: impl IntoIterator<Item = &'a S>,
) -> Result<Option<TimeReference>> {
    let mut series = series.into_iter();
    let Some(first) = series.next() else { return Ok(None) };
    let is_zoneless = |series: &S| series.time_reference().is_some_and(TimeReference::is_zoneless);
    let mut agree = true;
    for other in series {
        if is_zoneless(first) != is_zoneless(other) {
            let (clock, instant) = if is_zoneless(first) { (first, other) } else { (other, first) };
            return Err(Error::invalid(format!(
                "a {reader} has one time axis: {clock} has readings of a wall clock, but {instant} has instants; set the \
                 filter's `zoneless` to choose"
            )));
        }
        agree &= first.time_reference() == other.time_reference();
    }
    Ok(if agree { first.time_reference().cloned() } else { Some(TimeReference::Utc) })
}

/// Key by key, as words in a dictionary.
fn compare_features(a: &Features, b: &Features) -> Ordering {
    let by_pair = a.iter().zip(b.iter()).map(|((a_key, a), (b_key, b))| a_key.cmp(b_key).then(compare_values(a, b)));
    by_pair.into_iter().find(|o| o.is_ne()).unwrap_or(a.len().cmp(&b.len()))
}

fn compare_values(a: &FeatureValue, b: &FeatureValue) -> Ordering {
    let kind = |value: &FeatureValue| match value {
        FeatureValue::Int(_) => 0,
        FeatureValue::Float(_) => 1,
        FeatureValue::Bool(_) => 2,
        FeatureValue::Text(_) => 3,
    };
    match (a, b) {
        (FeatureValue::Int(a), FeatureValue::Int(b)) => a.cmp(b),
        (FeatureValue::Float(a), FeatureValue::Float(b)) => a.total_cmp(b),
        (FeatureValue::Bool(a), FeatureValue::Bool(b)) => a.cmp(b),
        (FeatureValue::Text(a), FeatureValue::Text(b)) => a.cmp(b),
        _ => kind(a).cmp(&kind(b)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::cohort::tests::info;
    use super::*;
    use crate::series::Owner;
    use crate::ErrorKind;

    fn common(references: &[&str]) -> Result<Option<TimeReference>> {
        let series: Vec<SeriesInfo> = references
            .iter()
            .enumerate()
            .map(|(k, text)| SeriesInfo {
                time_reference: (!text.is_empty()).then(|| text.parse().unwrap()),
                ..info(k as i64, Owner::component(k as i64, "Bus"), "load")
            })
            .collect();
        common_reference("StaticReader", &series)
    }

    #[test]
    fn row_146_different_spellings_of_instants_are_utc() {
        for (references, expected) in [
            (&[][..], None),
            (&[""], None),
            (&["", ""], None),
            (&["zoneless", "zoneless"], Some("zoneless")),
            (&["America/Denver", "America/Denver"], Some("America/Denver")),
            (&["utc", "America/Denver", "-07:00"], Some("utc")),
            (&["", "America/Denver"], Some("utc")),
            (&["-07:00", ""], Some("utc")),
        ] {
            let expected = expected.map(|text| text.parse().unwrap());
            assert_eq!(common(references).unwrap(), expected, "{references:?}");
        }
    }

    #[test]
    fn row_143_wall_clocks_beside_instants_are_refused_with_one_series_of_each() {
        for references in [["utc", "utc", "zoneless"], ["", "", "zoneless"], ["zoneless", "-07:00", "zoneless"]] {
            let error = common(&references).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParameter);
            let clock = references.iter().position(|r| *r == "zoneless").unwrap();
            let other = references.iter().position(|r| *r != "zoneless").unwrap();
            let text = error.to_string();
            for part in [
                format!("(id {clock}) has readings of a wall clock"),
                format!("(id {other}) has instants"),
                "StaticReader".into(),
                "`zoneless`".into(),
            ] {
                assert!(text.contains(&part), "{part}: {text}");
            }
        }
    }
}
