//! The calendars of the CF conventions: which dates they have, and how many days lie between them.

use crate::time::calendar::{is_leap_year, Date};
use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// A CF calendar. Years are counted astronomically: year 0 is the one before year 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Calendar {
    /// Julian up to 1582-10-04, Gregorian from 1582-10-15 on, nothing between (`standard`, `gregorian`).
    Standard,
    /// Gregorian at all times.
    ProlepticGregorian,
    /// Julian at all times.
    Julian,
    /// Every year has 365 days (`noleap`, `365_day`).
    NoLeap,
    /// Every year has 366 days (`all_leap`, `366_day`).
    AllLeap,
    /// Every month has 30 days.
    Day360,
}

impl Calendar {
    /// Its name in the CF conventions.
    pub fn name(self) -> &'static str {
        match self {
            Calendar::Standard => "standard",
            Calendar::ProlepticGregorian => "proleptic_gregorian",
            Calendar::Julian => "julian",
            Calendar::NoLeap => "noleap",
            Calendar::AllLeap => "all_leap",
            Calendar::Day360 => "360_day",
        }
    }

    /// Whether Unix seconds of the two mean the same instants. `standard` and `proleptic_gregorian` count the same
    /// days; they only name those before 1582-10-15 differently.
    pub fn shares_time_line(self, other: Calendar) -> bool {
        let gregorian = |c| matches!(c, Calendar::Standard | Calendar::ProlepticGregorian);
        self == other || gregorian(self) && gregorian(other)
    }

    /// Days from 1970-01-01 to the date, both in this calendar; `None` where it has no such date.
    pub(super) fn days(self, year: i64, month: u32, day: u32) -> Option<i64> {
        if !(1..=12).contains(&month) || day < 1 || day > self.month_days(year, month) {
            return None;
        }
        let date = Date { year, month: month as u8, day: day as u8 };
        Some(match self {
            Calendar::ProlepticGregorian => date.to_days(),
            Calendar::Julian => julian_days(date) - julian_days(Date { year: 1970, month: 1, day: 1 }),
            Calendar::Standard if (year, month, day) >= (1582, 10, 15) => date.to_days(),
            Calendar::Standard if (year, month, day) <= (1582, 10, 4) => julian_days(date),
            Calendar::Standard => return None,
            Calendar::NoLeap => (year - 1970) * 365 + day_of_year(date, false),
            Calendar::AllLeap => (year - 1970) * 366 + day_of_year(date, true),
            Calendar::Day360 => (year - 1970) * 360 + i64::from(month - 1) * 30 + i64::from(day - 1),
        })
    }

    fn month_days(self, year: i64, month: u32) -> u32 {
        match (self, month) {
            (Calendar::Day360, _) => 30,
            (_, 4 | 6 | 9 | 11) => 30,
            (_, 2) => 28 + u32::from(self.is_leap(year)),
            _ => 31,
        }
    }

    fn is_leap(self, year: i64) -> bool {
        match self {
            Calendar::ProlepticGregorian => is_leap_year(year),
            Calendar::Standard if year > 1582 => is_leap_year(year),
            Calendar::Standard | Calendar::Julian => year % 4 == 0,
            Calendar::NoLeap | Calendar::Day360 => false,
            Calendar::AllLeap => true,
        }
    }
}

impl fmt::Display for Calendar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Calendar {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Ok(match text.trim().to_ascii_lowercase().as_str() {
            "standard" | "gregorian" => Calendar::Standard,
            "proleptic_gregorian" => Calendar::ProlepticGregorian,
            "julian" => Calendar::Julian,
            "noleap" | "365_day" => Calendar::NoLeap,
            "all_leap" | "366_day" => Calendar::AllLeap,
            "360_day" => Calendar::Day360,
            _ => {
                return Err(Error::invalid(format!(
                    "unknown calendar \"{text}\"; known are standard, gregorian, proleptic_gregorian, julian, noleap, \
                     365_day, all_leap, 366_day and 360_day"
                )))
            }
        })
    }
}

/// Days from the Gregorian 1970-01-01 to a date of the Julian calendar.
fn julian_days(date: Date) -> i64 {
    // Years that begin in March put the leap day last.
    let (year, month) = if date.month > 2 { (date.year, date.month - 3) } else { (date.year - 1, date.month + 9) };
    365 * year + year.div_euclid(4) + (153 * i64::from(month) + 2) / 5 + i64::from(date.day) - 719_471
}

fn day_of_year(date: Date, leap: bool) -> i64 {
    const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    BEFORE[usize::from(date.month) - 1] + i64::from(leap && date.month > 2) + i64::from(date.day - 1)
}
