//! A series to be stored: who owns it, how it is named, and its data.

use super::{describe, Features, Owner, SeriesData, SeriesType, TimeReference};
use crate::array::ArrayView;
use crate::time::{Period, UnixMillis};
use crate::{Error, Result};
use std::fmt;

/// A series to be added to a store. Owner, type, name, resolution and features make its identity.
#[derive(Debug, Clone)]
pub struct NewSeries<'a> {
    /// Whose it is.
    pub owner: Owner,
    /// Its name; any text.
    pub name: String,
    /// Its features.
    pub features: Features,
    /// The unit of the values.
    pub units: Option<String>,
    /// Text that belongs to the caller; never parsed.
    pub ext: Option<String>,
    /// How its instants are to be spelled.
    pub time_reference: Option<TimeReference>,
    /// Time axis and values.
    pub data: SeriesData<'a>,
}

impl<'a> NewSeries<'a> {
    /// A series without features, units, `ext` and a time reference.
    pub fn new(owner: Owner, name: impl Into<String>, data: SeriesData<'a>) -> Self {
        let (features, name) = (Features::new(), name.into());
        NewSeries { owner, name, features, units: None, ext: None, time_reference: None, data }
    }

    /// A `SingleTimeSeries` without features, units, `ext` and a time reference.
    pub fn single(
        owner: Owner,
        name: impl Into<String>,
        initial: UnixMillis,
        resolution: Period,
        values: ArrayView<'a>,
    ) -> Self {
        Self::new(owner, name, SeriesData::Single { initial, resolution, values })
    }

    /// The type.
    pub fn series_type(&self) -> SeriesType {
        self.data.series_type()
    }

    /// The values.
    pub fn values(&self) -> &ArrayView<'a> {
        self.data.values()
    }

    /// Checks every rule that does not need the store. Values may be anything, NaN and infinities included.
    ///
    /// # Errors
    /// `InvalidParameter`, naming the series and the rule.
    pub fn validate(&self) -> Result<()> {
        let rules = || {
            self.features.validate()?;
            self.data.validate(self.time_reference.as_ref())
        };
        rules().map_err(|error| match error {
            Error::InvalidParameter(rule) => Error::InvalidParameter(format!("{self}: {rule}")),
            other => other,
        })
    }
}

impl fmt::Display for NewSeries<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&describe(self.series_type(), &self.name, &self.owner, self.data.resolution(), &self.features))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::{Array, DType};
    use crate::ErrorKind;

    fn check(initial: UnixMillis, resolution: Period, values: &Array, features: Features) -> Result<()> {
        let owner = Owner::component(7, "Generator");
        let mut series = NewSeries::single(owner, "max_power", initial, resolution, values.view());
        series.features = features;
        series.validate()
    }

    #[test]
    fn ordinary_series_pass() {
        let hour = Period::hours(1);
        let plain = Array::from_f64(vec![2], &[f64::NAN, f64::INFINITY]).unwrap();
        check(UnixMillis(0), hour, &plain, Features::new()).unwrap();
        check(UnixMillis(-86_400_001), Period::Fixed(1), &plain, Features::new()).unwrap();
        check(UnixMillis(0), hour, &Array::from_f64(vec![0], &[]).unwrap(), Features::new()).unwrap();
        check(UnixMillis(0), hour, &Array::from_f64(vec![0, 3], &[]).unwrap(), Features::new()).unwrap();
        let last_hour = UnixMillis(UnixMillis::MAX_WRITABLE.0 - 3_600_000);
        check(last_hour, hour, &plain, Features::new()).unwrap();
    }

    #[test]
    fn every_broken_rule_is_refused_and_names_the_series() {
        let hour = Period::hours(1);
        let plain = Array::from_f64(vec![2], &[1.0, 2.0]).unwrap();
        let scalar = Array::from_f64(vec![], &[1.0]).unwrap();
        let hollow = Array::from_f64(vec![4, 0], &[]).unwrap();
        let odd_bool = Array::new(DType::Bool, vec![2], vec![1, 2]).unwrap();
        let none = Features::new;
        let epoch = UnixMillis(0);
        let cases = [
            (check(epoch, Period::Fixed(0), &plain, none()), "positive"),
            (check(epoch, Period::Fixed(-1), &plain, none()), "positive"),
            (check(epoch, Period::Months(0), &plain, none()), "positive"),
            (check(epoch, hour, &scalar, none()), "first axis must be time"),
            (check(epoch, hour, &hollow, none()), "axis of length 0"),
            (check(epoch, hour, &odd_bool, none()), "bool"),
            (check(UnixMillis(UnixMillis::MIN_WRITABLE.0 - 1), hour, &plain, none()), "years 0 to 9999"),
            (check(UnixMillis::MAX_WRITABLE, Period::Fixed(1), &plain, none()), "years 0 to 9999"),
            (check(UnixMillis(i64::MAX), hour, &plain, none()), "out of range"),
            (check(epoch, hour, &plain, [("resolution", 1)].into_iter().collect()), "reserved"),
            (check(epoch, hour, &plain, [("factor", f64::NAN)].into_iter().collect()), "NaN"),
        ];
        for (result, rule) in cases {
            let error = result.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParameter);
            let text = error.to_string();
            assert!(text.contains("`max_power` of Component 7 (Generator)") && text.contains(rule), "{text}");
        }
    }
}
