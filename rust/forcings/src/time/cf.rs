//! CF time axes: `"<unit> since <reference>"` in one of the CF calendars, as Unix seconds.
//!
//! Seconds are counted in the axis's own calendar: they are the time elapsed since 1970-01-01T00:00:00 of that calendar.
//! Nothing here names a date; that needs a calendar again, and models keep to one.

mod calendar;
mod reference;
#[cfg(test)]
mod tests;

pub use calendar::Calendar;

use crate::{Error, Result};

/// Whether `units` reads like a time axis: the word `since` stands in it.
pub fn is_time_units(units: &str) -> bool {
    units.split_whitespace().any(|word| word.eq_ignore_ascii_case("since"))
}

/// The units and the calendar of a time axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CfTime {
    /// One unit is `milliseconds.0 / milliseconds.1` milliseconds; one of the two is 1, so that both are exact.
    milliseconds: (f64, f64),
    /// Whole milliseconds of the reference since 1970-01-01T00:00:00 of the calendar.
    reference: i64,
    /// What the reference has beyond whole milliseconds, in `0.0..1.0`.
    reference_fraction: f64,
    calendar: Calendar,
}

impl CfTime {
    /// Understands the attributes `units` and `calendar` of a time axis; without a calendar it is `standard`.
    ///
    /// # Errors
    /// `InvalidParameter` for a unit without a fixed length (months, years), an unknown unit or calendar, and a
    /// reference that is no date of the calendar.
    pub fn parse(units: &str, calendar: Option<&str>) -> Result<Self> {
        let calendar = calendar.map_or(Ok(Calendar::Standard), str::parse)?;
        let fault = |detail: String| Error::invalid(format!("time units \"{}\": {detail}", units.trim()));
        let mut words = units.split_whitespace();
        let (unit, since) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if !since.eq_ignore_ascii_case("since") {
            return Err(fault("expected \"<unit> since <reference>\"".into()));
        }
        let milliseconds = unit_length(unit).map_err(fault)?;
        let (reference, reference_fraction) =
            reference::parse(&words.collect::<Vec<_>>().join(" "), calendar).map_err(fault)?;
        Ok(CfTime { milliseconds, reference, reference_fraction, calendar })
    }

    /// The calendar.
    pub fn calendar(&self) -> Calendar {
        self.calendar
    }

    /// The Unix seconds of one number of the axis, rounded to the nearest millisecond.
    ///
    /// # Errors
    /// `InvalidParameter` for NaN, an infinity, or an instant too far away for whole milliseconds.
    pub fn to_unix(&self, value: f64) -> Result<f64> {
        let offset = value * self.milliseconds.0 / self.milliseconds.1 + self.reference_fraction;
        // The cast saturates, and turns NaN into 0, which the test on `offset` refuses.
        let total = (offset.round() as i64).saturating_add(self.reference);
        if offset.is_finite() && total.unsigned_abs() <= MAX_MILLISECONDS {
            // A whole number that doubles hold exactly: only the division rounds.
            return Ok(total as f64 / 1000.0);
        }
        Err(Error::invalid(format!("the time {value} is not a number or lies too far away")))
    }
}

/// 2^53: beyond it doubles no longer hold every whole number.
const MAX_MILLISECONDS: u64 = 1 << 53;

fn unit_length(unit: &str) -> std::result::Result<(f64, f64), String> {
    let name = unit.to_lowercase();
    Ok(match name.as_str() {
        "ns" | "nsec" | "nsecs" | "nanosec" | "nanosecs" | "nanosecond" | "nanoseconds" => (1.0, 1e6),
        "us" | "µs" | "μs" | "usec" | "usecs" | "microsec" | "microsecs" | "microsecond" | "microseconds" => {
            (1.0, 1e3)
        }
        "ms" | "msec" | "msecs" | "millisec" | "millisecs" | "millisecond" | "milliseconds" => (1.0, 1.0),
        "s" | "sec" | "secs" | "second" | "seconds" => (1e3, 1.0),
        "min" | "mins" | "minute" | "minutes" => (60e3, 1.0),
        "h" | "hr" | "hrs" | "hour" | "hours" => (3_600e3, 1.0),
        "d" | "day" | "days" => (86_400e3, 1.0),
        "week" | "weeks" => (604_800e3, 1.0),
        "month" | "months" | "mon" | "common_year" | "common_years" | "year" | "years" | "yr" | "yrs" | "a" => {
            return Err(format!("a {unit} has no fixed length; give the times of the records yourself"))
        }
        _ => return Err(format!("unknown unit \"{unit}\"; days, hours, minutes, seconds and parts of them are known")),
    })
}
