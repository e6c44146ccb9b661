//! What the times of records are counted in, where a sample of two records says it.

use crate::formats::{Attribute, AttributeValue};
use crate::time::cf::Calendar;
use crate::Error;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The unit of a time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum TimeUnit {
    /// Seconds since 1970-01-01T00:00:00 of a calendar.
    Unix(Calendar),
    /// That of the files' own axis, which has no fixed length or is not understood.
    Axis { units: String, calendar: Option<String> },
    /// One that only the caller knows.
    #[default]
    Unknown,
}

impl TimeUnit {
    /// Unix seconds in a calendar. The two Gregorian ones count the same seconds, and so have one name here.
    pub(super) fn unix(calendar: Calendar) -> Self {
        TimeUnit::Unix(if calendar.shares_time_line(Calendar::Standard) { Calendar::Standard } else { calendar })
    }

    /// The unit as the attributes of a coordinate.
    pub(super) fn attributes(&self) -> Arc<[Attribute]> {
        let text = |name: &str, text: &str| Attribute {
            name: name.into(),
            value: AttributeValue::Text(text.into()),
            numeric: None,
        };
        match self {
            TimeUnit::Unix(calendar) => {
                [text("units", "seconds since 1970-01-01T00:00:00Z"), text("calendar", calendar.name())].into()
            }
            TimeUnit::Axis { units, calendar } => {
                let calendar = calendar.as_deref().map(|c| text("calendar", c));
                std::iter::once(text("units", units)).chain(calendar).collect()
            }
            TimeUnit::Unknown => [].into(),
        }
    }

    /// The error about two records in a row, of `first` and of `second`, whose times are not in one unit.
    pub(super) fn differs(&self, other: &TimeUnit, first: &Path, second: &Path) -> Error {
        let detail = format!(
            "its times are {other}, those of {} before it are {self}; give each a provider of its own",
            first.display()
        );
        Error::format(second, detail)
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimeUnit::Unix(calendar) => write!(f, "seconds in the calendar {calendar}"),
            TimeUnit::Axis { units, calendar: Some(calendar) } => {
                write!(f, "\"{units}\" in the calendar \"{calendar}\"")
            }
            TimeUnit::Axis { units, calendar: None } => write!(f, "\"{units}\""),
            TimeUnit::Unknown => f.write_str("in a unit that the file does not tell"),
        }
    }
}
