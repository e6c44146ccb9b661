//! What a time series is: its owner, its identity, its features, and the rules that a new one must keep.
//! Where series are stored is the [`store`](crate::store)'s business.

mod bound;
mod data;
mod features;
mod info;
mod new;
mod owner;
mod rules;
mod time_reference;
mod windows;

pub use bound::{Bound, TimeRange};
pub use data::SeriesData;
pub use features::{FeatureValue, Features, FeaturesHash};
pub use info::{Series, SeriesInfo};
pub use new::NewSeries;
pub use owner::{Owner, OwnerCategory};
pub use time_reference::{OffsetMinutes, TimeReference, ZoneName};
pub use windows::Windows;

use std::fmt;

/// The number of a series in its store. A store never issues one twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesId(pub i64);

impl fmt::Display for SeriesId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The kinds of series that a catalog can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum SeriesType {
    /// Values on a regular grid, each of which covers its step.
    SingleTimeSeries = 0,
    /// Values at listed instants, and none between them.
    NonSequentialTimeSeries = 1,
    /// A step function: each value holds until the next breakpoint.
    PersistentTimeSeries = 2,
    /// One forecast per window.
    Deterministic = 3,
    /// A forecast whose windows are slices of a `SingleTimeSeries`.
    DeterministicSingleTimeSeries = 4,
    /// Percentiles per window.
    Probabilistic = 5,
    /// Equally likely futures per window.
    Scenarios = 6,
}

impl SeriesType {
    /// Every type, in the order of its number.
    pub const ALL: [SeriesType; 7] = [
        SeriesType::SingleTimeSeries,
        SeriesType::NonSequentialTimeSeries,
        SeriesType::PersistentTimeSeries,
        SeriesType::Deterministic,
        SeriesType::DeterministicSingleTimeSeries,
        SeriesType::Probabilistic,
        SeriesType::Scenarios,
    ];

    /// The name in the catalog.
    pub fn name(self) -> &'static str {
        [
            "SingleTimeSeries",
            "NonSequentialTimeSeries",
            "PersistentTimeSeries",
            "Deterministic",
            "DeterministicSingleTimeSeries",
            "Probabilistic",
            "Scenarios",
        ][self as usize]
    }

    /// The type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.name() == name)
    }

    /// Whether it has windows.
    pub fn is_forecast(self) -> bool {
        self >= SeriesType::Deterministic
    }

    /// The position, among the axes of the stored array, of the one that counts windows; `None` where there is none.
    pub fn window_axis(self) -> Option<usize> {
        match self {
            SeriesType::Deterministic => Some(1),
            SeriesType::Probabilistic | SeriesType::Scenarios => Some(2),
            _ => None,
        }
    }

    /// The type with this number.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(code as usize).copied()
    }
}

impl fmt::Display for SeriesType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Names a series in an error text. Long names are cut; features are left to the features' own texts.
fn describe(
    series_type: SeriesType,
    name: &str,
    owner: &Owner,
    resolution: Option<crate::time::Period>,
    features: &Features,
) -> String {
    let mut text = format!("{series_type} `{}` of {owner}", cut(name));
    if let Some(resolution) = resolution {
        text += &format!(", resolution {resolution}");
    }
    if !features.is_empty() {
        text += &format!(", features {{{}}}", cut(&features.to_string()));
    }
    text
}

/// At most 120 characters of `text`.
fn cut(text: &str) -> String {
    let mut chars = text.chars();
    let mut shown: String = chars.by_ref().take(120).collect();
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_convert_back() {
        for (code, series_type) in SeriesType::ALL.into_iter().enumerate() {
            assert_eq!(SeriesType::from_name(series_type.name()), Some(series_type));
            assert_eq!(SeriesType::from_code(code as u8), Some(series_type));
        }
        assert_eq!(SeriesType::from_name("singletimeseries"), None);
        assert_eq!(SeriesType::from_code(7), None);
    }

    #[test]
    fn long_names_are_cut_at_a_character() {
        assert_eq!(cut("é"), "é");
        assert_eq!(cut(&"é".repeat(121)).chars().count(), 121);
    }
}
