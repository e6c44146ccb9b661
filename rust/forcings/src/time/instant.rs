//! An instant of the UTC time line, without leap seconds, and its RFC 3339 text.

use super::calendar::{days_in_month, Date, DAY_MS};
use crate::{Error, Result};
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Whole milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMillis(pub i64);

impl UnixMillis {
    /// The first instant of the year 0.
    pub const MIN_WRITABLE: UnixMillis = UnixMillis(-62_167_219_200_000);
    /// The last millisecond of the year 9999.
    pub const MAX_WRITABLE: UnixMillis = UnixMillis(253_402_300_799_999);

    /// The present instant of the system's clock.
    pub fn now() -> Self {
        let ms = |d: std::time::Duration| i64::try_from(d.as_millis()).unwrap_or(i64::MAX);
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => UnixMillis(ms(since)),
            Err(before) => UnixMillis(-ms(before.duration())),
        }
    }

    /// The instant at which a UTC calendar shows `date` and a clock `ms_of_day`.
    ///
    /// # Errors
    /// `InvalidParameter` when the instant does not fit 64 bits of milliseconds.
    pub fn from_civil(date: Date, ms_of_day: i64) -> Result<Self> {
        date.to_days()
            .checked_mul(DAY_MS)
            .and_then(|ms| ms.checked_add(ms_of_day))
            .map(UnixMillis)
            .ok_or_else(|| Error::invalid(format!("an instant in the year {} is out of range", date.year)))
    }

    /// The date on the UTC calendar.
    pub fn date(self) -> Date {
        Date::from_days(self.0.div_euclid(DAY_MS))
    }

    /// Milliseconds since midnight UTC.
    pub fn ms_of_day(self) -> i64 {
        self.0.rem_euclid(DAY_MS)
    }

    /// Whether the year is one of 0 to 9999, which RFC 3339 can spell.
    pub fn is_writable(self) -> bool {
        (Self::MIN_WRITABLE..=Self::MAX_WRITABLE).contains(&self)
    }

    /// Reads an RFC 3339 text with any offset. Digits past the millisecond are dropped.
    ///
    /// # Errors
    /// `InvalidParameter` for another form, a field out of its range (a second 60 included), and an instant that lies
    /// outside the years 0 to 9999 in UTC.
    pub fn from_rfc3339(text: &str) -> Result<Self> {
        parse(text.as_bytes()).ok_or_else(|| {
            Error::invalid(format!(
                "`{}` is not an RFC 3339 instant like 2024-01-31T06:30:00Z",
                text.chars().take(64).collect::<String>()
            ))
        })
    }

    /// RFC 3339 with the offset `+00:00`. Years outside 0 to 9999 come out with a sign, which no reader accepts.
    pub fn to_rfc3339(self) -> String {
        format!("{}+00:00", Digits(self))
    }

    /// RFC 3339 with the offset `Z`; see [`to_rfc3339`](Self::to_rfc3339).
    pub fn to_rfc3339_z(self) -> String {
        format!("{}Z", Digits(self))
    }
}

impl fmt::Display for UnixMillis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}Z", Digits(*self))
    }
}

/// Date and time without an offset; the fraction only when it is not zero.
struct Digits(UnixMillis);

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Date { year, month, day } = self.0.date();
        match year {
            0..=9999 => write!(f, "{year:04}")?,
            _ => write!(f, "{year:+05}")?,
        }
        let ms = self.0.ms_of_day();
        let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
        write!(f, "-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        match ms % 1000 {
            0 => Ok(()),
            fraction => write!(f, ".{fraction:03}"),
        }
    }
}

fn parse(text: &[u8]) -> Option<UnixMillis> {
    let mut rest = text;
    let year = number(&mut rest, 4)?;
    literal(&mut rest, b"-")?;
    let month = within(number(&mut rest, 2)?, 1, 12)?;
    literal(&mut rest, b"-")?;
    let day = within(number(&mut rest, 2)?, 1, i64::from(days_in_month(year, month as u8)))?;
    literal(&mut rest, b"Tt ")?;
    let hour = within(number(&mut rest, 2)?, 0, 23)?;
    literal(&mut rest, b":")?;
    let minute = within(number(&mut rest, 2)?, 0, 59)?;
    literal(&mut rest, b":")?;
    let second = within(number(&mut rest, 2)?, 0, 59)?;
    let fraction = match rest.first() {
        Some(b'.') => {
            rest = &rest[1..];
            let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
            let (digits, tail) = rest.split_at_checked(digits).filter(|(d, _)| !d.is_empty())?;
            rest = tail;
            (0..3).fold(0, |ms, i| ms * 10 + digits.get(i).map_or(0, |&d| i64::from(d - b'0')))
        }
        _ => 0,
    };
    let offset_minutes = match rest {
        b"Z" | b"z" => 0,
        _ => {
            let sign = if literal(&mut rest, b"+-")? == b'-' { -1 } else { 1 };
            let hours = within(number(&mut rest, 2)?, 0, 23)?;
            literal(&mut rest, b":")?;
            let minutes = within(number(&mut rest, 2)?, 0, 59)?;
            if !rest.is_empty() {
                return None;
            }
            sign * (hours * 60 + minutes)
        }
    };
    let date = Date { year, month: month as u8, day: day as u8 };
    let ms_of_day = (hour * 3600 + minute * 60 + second) * 1000 + fraction;
    let instant = UnixMillis(date.to_days() * DAY_MS + ms_of_day - offset_minutes * 60_000);
    instant.is_writable().then_some(instant)
}

fn number(rest: &mut &[u8], digits: usize) -> Option<i64> {
    let (head, tail) = rest.split_at_checked(digits)?;
    *rest = tail;
    head.iter().try_fold(0, |n, b| b.is_ascii_digit().then(|| n * 10 + i64::from(b - b'0')))
}

fn literal(rest: &mut &[u8], allowed: &[u8]) -> Option<u8> {
    let (&byte, tail) = rest.split_first()?;
    *rest = tail;
    allowed.contains(&byte).then_some(byte)
}

fn within(value: i64, low: i64, high: i64) -> Option<i64> {
    (low..=high).contains(&value).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn golden_texts() {
        let cases = [
            (0, "1970-01-01T00:00:00"),
            (1_704_067_200_000, "2024-01-01T00:00:00"),
            (1_704_177_000_250, "2024-01-02T06:30:00.250"),
            (-1, "1969-12-31T23:59:59.999"),
            (UnixMillis::MIN_WRITABLE.0, "0000-01-01T00:00:00"),
            (UnixMillis::MAX_WRITABLE.0, "9999-12-31T23:59:59.999"),
        ];
        for (ms, text) in cases {
            let instant = UnixMillis(ms);
            assert_eq!(instant.to_rfc3339(), format!("{text}+00:00"));
            assert_eq!(instant.to_rfc3339_z(), format!("{text}Z"));
            assert_eq!(instant.to_string(), format!("{text}Z"));
            assert_eq!(UnixMillis::from_rfc3339(&instant.to_rfc3339()).unwrap(), instant);
        }
    }

    #[test]
    fn any_offset_is_read_and_finer_digits_are_dropped() {
        let noon = 1_706_702_400_000;
        for (text, ms) in [
            ("2024-01-31T12:00:00Z", noon),
            ("2024-01-31t12:00:00z", noon),
            ("2024-01-31 12:00:00+00:00", noon),
            ("2024-01-31T05:00:00-07:00", noon),
            ("2024-02-01T00:30:00.0+12:30", noon),
            ("2024-01-31T12:00:00.5Z", noon + 500),
            ("2024-01-31T12:00:00.123999999Z", noon + 123),
        ] {
            assert_eq!(UnixMillis::from_rfc3339(text).unwrap(), UnixMillis(ms), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "2024-01-31",
            "2024-01-31T12:00:00",
            "2024-02-30T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "2024-13-01T00:00:00Z",
            "2024-00-01T00:00:00Z",
            "2024-01-00T00:00:00Z",
            "2024-01-01T24:00:00Z",
            "2024-01-01T00:60:00Z",
            "2016-12-31T23:59:60Z",
            "2024-01-01T00:00:00.Z",
            "2024-01-01T00:00:00+0000",
            "2024-01-01T00:00:00+24:00",
            "2024-01-01T00:00:00ZZ",
            "2024-01-01T00:00:00+00:001",
            "+10000-01-01T00:00:00Z",
            "0000-01-01T00:00:00+01:00",
            "9999-12-31T23:59:59-00:01",
            "2024-01-01T00:00:0०Z",
        ] {
            let error = UnixMillis::from_rfc3339(text).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::InvalidParameter, "{text}");
        }
    }

    proptest! {
        #[test]
        fn text_and_instant_are_one(ms in UnixMillis::MIN_WRITABLE.0..=UnixMillis::MAX_WRITABLE.0) {
            let instant = UnixMillis(ms);
            prop_assert_eq!(UnixMillis::from_rfc3339(&instant.to_rfc3339()).unwrap(), instant);
            prop_assert_eq!(UnixMillis::from_rfc3339(&instant.to_rfc3339_z()).unwrap(), instant);
            prop_assert_eq!(UnixMillis::from_civil(instant.date(), instant.ms_of_day()).unwrap(), instant);
        }

        #[test]
        fn arbitrary_text_never_panics(text in ".{0,40}") {
            let _ = UnixMillis::from_rfc3339(&text);
        }
    }
}
