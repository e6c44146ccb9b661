//! Structured arguments: the JSON objects of the interface, and what they become in the core.

use forcings::series::{Bound, FeatureValue, Features, Owner, OwnerCategory, SeriesId, SeriesType, TimeRange};
use forcings::store::Filter;
use forcings::time::{Period, UnixMillis};
use forcings::{Error, Result};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A period: `{"ms": 3600000}` or `{"months": 1}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PeriodObject {
    ms: Option<i64>,
    months: Option<i32>,
}

/// A feature's value; JSON tells integers and floats apart by the decimal point or exponent.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum FeatureObject {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
}

/// An owner, as the catalog names its category.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnerObject {
    id: i64,
    #[serde(rename = "type")]
    owner_type: String,
    category: String,
}

/// A series to add, without its values.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SeriesObject {
    pub(crate) owner: OwnerObject,
    pub(crate) name: String,
    pub(crate) features: BTreeMap<String, FeatureObject>,
    pub(crate) units: Option<String>,
    pub(crate) ext: Option<String>,
}

/// The range of a read; a bound that is missing or null is the series' own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RangeObject {
    from: Option<BoundObject>,
    to: Option<BoundObject>,
}

/// A bound: `kind` is `floating`, `utc` or `zoneless`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BoundObject {
    ms: i64,
    kind: BoundKind,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum BoundKind {
    Floating,
    Utc,
    Zoneless,
}

/// The filter of a listing or a reader; a member that is missing or null selects nothing away.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FilterObject {
    owner_id: Option<i64>,
    owner_type: Option<String>,
    owner_category: Option<String>,
    name: Option<String>,
    name_glob: Option<String>,
    resolution: Option<PeriodObject>,
    interval: Option<PeriodObject>,
    series_type: Option<String>,
    initial_ms: Option<i64>,
    length: Option<u64>,
    zoneless: Option<bool>,
    features: Option<BTreeMap<String, FeatureObject>>,
    exact_features: Option<BTreeMap<String, FeatureObject>>,
    ids: Option<Vec<i64>>,
}

impl PeriodObject {
    pub(crate) fn into_period(self) -> Result<Period> {
        match (self.ms, self.months) {
            (Some(ms), None) => Ok(Period::Fixed(ms)),
            (None, Some(months)) => Ok(Period::Months(months)),
            _ => Err(Error::invalid("a period has either `ms` or `months`")),
        }
    }
}

impl OwnerObject {
    pub(crate) fn into_owner(self) -> Result<Owner> {
        Ok(Owner { id: self.id, owner_type: self.owner_type, category: category(&self.category)? })
    }
}

impl FilterObject {
    pub(crate) fn into_filter(self) -> Result<Filter> {
        let series_type = self.series_type.map(|name| {
            SeriesType::from_name(&name).ok_or_else(|| Error::invalid(format!("there is no series type `{name}`")))
        });
        Ok(Filter {
            owner_id: self.owner_id,
            owner_type: self.owner_type,
            owner_category: self.owner_category.as_deref().map(category).transpose()?,
            name: self.name,
            name_glob: self.name_glob,
            resolution: self.resolution.map(PeriodObject::into_period).transpose()?,
            interval: self.interval.map(PeriodObject::into_period).transpose()?,
            series_type: series_type.transpose()?,
            initial: self.initial_ms.map(UnixMillis),
            length: self.length,
            zoneless: self.zoneless,
            features: features(self.features.unwrap_or_default()),
            exact_features: self.exact_features.map(features),
            ids: self.ids.map(|ids| ids.into_iter().map(SeriesId).collect()),
        })
    }
}

impl BoundObject {
    pub(crate) fn into_bound(self) -> Bound {
        let at = UnixMillis(self.ms);
        match self.kind {
            BoundKind::Floating => Bound::Floating(at),
            BoundKind::Utc => Bound::Utc(at),
            BoundKind::Zoneless => Bound::Zoneless(at),
        }
    }
}

impl RangeObject {
    pub(crate) fn into_range(self) -> TimeRange {
        TimeRange { from: self.from.map(BoundObject::into_bound), to: self.to.map(BoundObject::into_bound) }
    }
}

/// A period in two numbers, of which at most one is not 0.
pub(crate) fn period(what: &str, ms: i64, months: i64) -> Result<Period> {
    match (ms, months) {
        (ms, 0) => Ok(Period::Fixed(ms)),
        (0, months) => i32::try_from(months)
            .map(Period::Months)
            .map_err(|_| Error::invalid(format!("the {what} of {months} months is too long"))),
        _ => Err(Error::invalid(format!("the {what} has both milliseconds and months"))),
    }
}

pub(crate) fn features(objects: BTreeMap<String, FeatureObject>) -> Features {
    let value = |object| match object {
        FeatureObject::Bool(b) => FeatureValue::Bool(b),
        FeatureObject::Int(n) => FeatureValue::Int(n),
        FeatureObject::Float(x) => FeatureValue::Float(x),
        FeatureObject::Text(text) => FeatureValue::Text(text),
    };
    objects.into_iter().map(|(key, object)| (key, value(object))).collect()
}

pub(crate) fn category(name: &str) -> Result<OwnerCategory> {
    OwnerCategory::from_name(name).ok_or_else(|| Error::invalid(format!("there is no owner category `{name}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(text: &str) -> Result<Filter> {
        serde_json::from_str::<FilterObject>(text).map_err(|e| Error::invalid(e.to_string()))?.into_filter()
    }

    #[test]
    fn filters_keep_kinds_and_refuse_what_they_do_not_know() {
        assert_eq!(filter("{}").unwrap(), Filter::default());
        let some = filter(r#"{"owner_id":3,"resolution":{"months":1},"features":{"a":1,"b":1.0,"c":true,"d":"1"}}"#);
        let expected = [
            ("a", FeatureValue::Int(1)),
            ("b", FeatureValue::Float(1.0)),
            ("c", FeatureValue::Bool(true)),
            ("d", FeatureValue::Text("1".into())),
        ];
        let features = expected.into_iter().collect();
        let expected = Filter { owner_id: Some(3), resolution: Some(Period::Months(1)), features, ..Filter::default() };
        assert_eq!(some.unwrap(), expected);
        for text in [
            r#"{"owner":3}"#,
            r#"{"owner_category":"Bus"}"#,
            r#"{"resolution":{"ms":1,"months":1}}"#,
            r#"{"resolution":{}}"#,
            r#"{"series_type":"Plain"}"#,
            r#"{"owner_id":9223372036854775808}"#,
            r#"{"length":-1}"#,
            r#"{"zoneless":1}"#,
        ] {
            assert!(filter(text).is_err(), "{text}");
        }
    }

    #[test]
    fn bounds_say_what_they_are() {
        let range = |text| serde_json::from_str::<RangeObject>(text).map(RangeObject::into_range);
        assert_eq!(range("{}").unwrap(), TimeRange::default());
        let strict = range(r#"{"from":{"ms":-5,"kind":"utc"},"to":{"ms":7,"kind":"zoneless"}}"#).unwrap();
        let expected = (Some(Bound::Utc(UnixMillis(-5))), Some(Bound::Zoneless(UnixMillis(7))));
        assert_eq!((strict.from, strict.to), expected);
        let floating = range(r#"{"to":{"ms":7,"kind":"floating"}}"#).unwrap();
        assert_eq!(floating, TimeRange::floating(None, Some(UnixMillis(7))));
        for text in [r#"{"from":{"ms":1}}"#, r#"{"from":{"ms":1,"kind":"UTC"}}"#, r#"{"from":1}"#, r#"{"until":null}"#]
        {
            assert!(range(text).is_err(), "{text}");
        }
    }

    #[test]
    fn periods_have_one_kind() {
        assert_eq!(period("interval", 0, 0).unwrap(), Period::Fixed(0));
        assert_eq!(period("interval", -3, 0).unwrap(), Period::Fixed(-3));
        assert_eq!(period("interval", 0, 12).unwrap(), Period::Months(12));
        for (ms, months) in [(1, 1), (0, 1 << 31)] {
            assert!(period("interval", ms, months).unwrap_err().to_string().contains("interval"));
        }
    }
}
