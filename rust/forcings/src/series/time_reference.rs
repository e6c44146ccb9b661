//! How the instants of a series are to be spelled: as true instants, or as the face of a wall clock.

use super::cut;
use crate::time::Period;
use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

const DAY_MS: i64 = 86_400_000;
/// Bytes and parts that the name of a zone has at most.
const MAX_ZONE_BYTES: usize = 64;
const MAX_ZONE_PARTS: usize = 3;

/// A time reference. It never changes which instants are stored, and is no part of a series' identity.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TimeReference {
    /// Instants, spelled in UTC.
    Utc,
    /// Readings of a wall clock: the stored UTC digits are its face, and no instants.
    Zoneless,
    /// Instants, spelled at this offset from UTC.
    FixedOffset(OffsetMinutes),
    /// Instants, spelled as clocks in a zone show them.
    Zone(ZoneName),
}

/// Minutes east of UTC, less than a day either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct OffsetMinutes(i16);

/// The name of a zone, such as `America/Denver`. Whether there is such a zone is not checked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ZoneName(String);

impl TimeReference {
    /// Whether it stands for readings of a wall clock. A series without a reference counts with the others.
    pub fn is_zoneless(&self) -> bool {
        *self == TimeReference::Zoneless
    }

    /// Refuses steps that the reference cannot have: days in a zone are not always 24 hours long. The period is called
    /// `what`.
    ///
    /// # Errors
    /// `InvalidParameter` for a zone with a calendar period, or with one of a day or more.
    pub(crate) fn check_step(&self, what: &str, period: Period) -> Result<()> {
        match (self, period) {
            (TimeReference::Zone(ZoneName(zone)), Period::Months(_) | Period::Fixed(DAY_MS..)) => {
                Err(Error::invalid(format!(
                    "the {what} {period} and the zone {zone} do not fit: days there are not always 24 hours long; use a \
                     fixed offset, or a {what} below one day"
                )))
            }
            _ => Ok(()),
        }
    }
}

impl OffsetMinutes {
    /// This many minutes.
    ///
    /// # Errors
    /// `InvalidParameter` for a day or more.
    pub fn new(minutes: i16) -> Result<Self> {
        match minutes {
            -1439..=1439 => Ok(OffsetMinutes(minutes)),
            _ => Err(Error::invalid(format!("an offset of {minutes} minutes is not below a day"))),
        }
    }

    /// The number of minutes.
    pub fn minutes(self) -> i16 {
        self.0
    }
}

impl ZoneName {
    /// A name of this shape: at most 64 bytes, and at most three parts between slashes, each of which starts with a
    /// letter.
    ///
    /// # Errors
    /// `InvalidParameter` for another text.
    pub fn new(name: impl Into<String>) -> Result<Self> {
        let name = name.into();
        let part = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_alphabetic())
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_+-".contains(&b))
        };
        let parts = name.split('/').count();
        let fits = name.len() <= MAX_ZONE_BYTES && parts <= MAX_ZONE_PARTS && name.split('/').all(part);
        match fits && !["utc", "zoneless"].contains(&name.as_str()) {
            true => Ok(ZoneName(name)),
            false => Err(Error::invalid(format!(
                "`{}` is no time reference; write utc, zoneless, an offset like -07:00 or a zone like America/Denver",
                cut(&name)
            ))),
        }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TimeReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimeReference::Utc => f.write_str("utc"),
            TimeReference::Zoneless => f.write_str("zoneless"),
            TimeReference::FixedOffset(OffsetMinutes(minutes)) => {
                let sign = if *minutes < 0 { '-' } else { '+' };
                write!(f, "{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
            }
            TimeReference::Zone(ZoneName(name)) => f.write_str(name),
        }
    }
}

impl FromStr for TimeReference {
    type Err = Error;

    /// Reads `utc`, `zoneless`, an offset (`+HH:MM`, `+HHMM` or `+HH`, with either sign) or the name of a zone.
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "utc" => Ok(TimeReference::Utc),
            "zoneless" => Ok(TimeReference::Zoneless),
            _ => match text.as_bytes() {
                [sign @ (b'+' | b'-'), digits @ ..] => {
                    offset(*sign, digits).map(TimeReference::FixedOffset).ok_or_else(|| {
                        Error::invalid(format!("`{}` is no offset from UTC; write one like -07:00", cut(text)))
                    })
                }
                _ => ZoneName::new(text).map(TimeReference::Zone),
            },
        }
    }
}

fn offset(sign: u8, digits: &[u8]) -> Option<OffsetMinutes> {
    let two = |a: u8, b: u8| {
        (a.is_ascii_digit() && b.is_ascii_digit()).then(|| i16::from(a - b'0') * 10 + i16::from(b - b'0'))
    };
    let (hours, minutes) = match *digits {
        [a, b] => (two(a, b)?, 0),
        [a, b, c, d] | [a, b, b':', c, d] => (two(a, b)?, two(c, d)?),
        _ => return None,
    };
    if minutes > 59 {
        return None;
    }
    let minutes = hours * 60 + minutes;
    OffsetMinutes::new(if sign == b'-' { -minutes } else { minutes }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<TimeReference> {
        text.parse()
    }

    #[test]
    fn texts_and_references() {
        let offset = |minutes| TimeReference::FixedOffset(OffsetMinutes(minutes));
        for (text, reference, canonical) in [
            ("utc", TimeReference::Utc, "utc"),
            ("zoneless", TimeReference::Zoneless, "zoneless"),
            ("+00:00", offset(0), "+00:00"),
            ("-00:00", offset(0), "+00:00"),
            ("-0730", offset(-450), "-07:30"),
            ("+05", offset(300), "+05:00"),
            ("+23:59", offset(1439), "+23:59"),
            ("UTC", TimeReference::Zone(ZoneName("UTC".into())), "UTC"),
            ("America/Denver", TimeReference::Zone(ZoneName("America/Denver".into())), "America/Denver"),
            (
                "America/Argentina/Buenos_Aires",
                TimeReference::Zone(ZoneName("America/Argentina/Buenos_Aires".into())),
                "America/Argentina/Buenos_Aires",
            ),
            ("Etc/GMT+7", TimeReference::Zone(ZoneName("Etc/GMT+7".into())), "Etc/GMT+7"),
        ] {
            assert_eq!(parse(text).unwrap(), reference);
            assert_eq!(reference.to_string(), canonical);
            assert_eq!(reference.is_zoneless(), text == "zoneless");
        }
    }

    #[test]
    fn row_148_malformed_references_are_refused() {
        let long = "A".repeat(65);
        for text in [
            "",
            " ",
            "+24:00",
            "-24:00",
            "+7",
            "+07:60",
            "+07:0",
            "+07:00:00",
            "07:00",
            "1abc",
            "America/",
            "/Denver",
            "America//Denver",
            "America/2",
            "A/B/C/D",
            "America/New York",
            "Zürich",
            "a\0b",
            &long,
        ] {
            assert_eq!(parse(text).unwrap_err().kind(), ErrorKind::InvalidParameter, "{text:?}");
        }
        assert!(ZoneName::new("utc").is_err() && ZoneName::new("zoneless").is_err());
        assert!(OffsetMinutes::new(1440).is_err() && OffsetMinutes::new(-1440).is_err());
    }

    #[test]
    fn row_147_a_zone_takes_no_steps_of_a_day() {
        let refused = [Period::Months(1), Period::Fixed(DAY_MS), Period::Fixed(7 * DAY_MS)];
        let zone = parse("America/Denver").unwrap();
        for period in refused {
            assert_eq!(zone.check_step("interval", period).unwrap_err().kind(), ErrorKind::InvalidParameter);
            for text in ["utc", "zoneless", "-07:00"] {
                parse(text).unwrap().check_step("interval", period).unwrap();
            }
        }
        for period in [Period::Fixed(DAY_MS - 1), Period::hours(1), Period::Fixed(0)] {
            zone.check_step("interval", period).unwrap();
        }
    }

    proptest! {
        #[test]
        fn what_parses_is_its_own_text(text in "[+-]?[A-Za-z0-9/:_ -]{0,12}") {
            if let Ok(reference) = parse(&text) {
                prop_assert_eq!(parse(&reference.to_string()).unwrap(), reference);
            }
        }
    }
}
