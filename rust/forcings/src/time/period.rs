//! The step of a grid: a fixed count of milliseconds or a count of calendar months, its ISO 8601 text, and stepping.

use super::{calendar, calendar::Date, UnixMillis};
use crate::{Error, Result};

mod text;

/// A fixed duration or a number of calendar months. The kinds never compare equal: 30 days are not a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Period {
    /// Milliseconds.
    Fixed(i64),
    /// Calendar months; a year is 12 of them.
    Months(i32),
}

impl Period {
    /// `n` hours.
    pub const fn hours(n: i32) -> Self {
        Period::Fixed(n as i64 * 3_600_000)
    }

    /// Whether a grid can step by it.
    pub fn is_positive(self) -> bool {
        match self {
            Period::Fixed(ms) => ms > 0,
            Period::Months(months) => months > 0,
        }
    }

    /// Whether it is zero, of either kind.
    pub fn is_zero(self) -> bool {
        matches!(self, Period::Fixed(0) | Period::Months(0))
    }

    /// The instant `k` periods after `start`. Months are counted from `start` itself, and its day of the month is cut
    /// to the length of the month that is reached: two months after January 31 is March 31.
    ///
    /// # Errors
    /// `InvalidParameter` when the instant does not fit 64 bits of milliseconds.
    pub fn add(self, start: UnixMillis, k: i64) -> Result<UnixMillis> {
        let out_of_range = || Error::invalid(format!("{k} steps of {self} after {start} is out of range"));
        match self {
            Period::Fixed(ms) => {
                ms.checked_mul(k).and_then(|d| start.0.checked_add(d)).map(UnixMillis).ok_or_else(out_of_range)
            }
            Period::Months(months) => {
                let anchor = start.date();
                let month_index = i64::from(months)
                    .checked_mul(k)
                    .and_then(|d| anchor.month_index().checked_add(d))
                    .filter(|m| m.unsigned_abs() < 1 << 40)
                    .ok_or_else(out_of_range)?;
                let (year, month) = (month_index.div_euclid(12), month_index.rem_euclid(12) as u8 + 1);
                let day = anchor.day.min(calendar::days_in_month(year, month));
                UnixMillis::from_civil(Date { year, month, day }, start.ms_of_day()).map_err(|_| out_of_range())
            }
        }
    }

    /// How often `step` fits into this period: exactly, at least once, and of the same kind.
    ///
    /// # Errors
    /// `InvalidParameter` for other kinds, a step that is not positive, or a remainder.
    pub fn exact_steps(self, step: Period) -> Result<u64> {
        let (whole, part) = match (self, step) {
            (Period::Fixed(whole), Period::Fixed(part)) => (whole, part),
            (Period::Months(whole), Period::Months(part)) => (i64::from(whole), i64::from(part)),
            _ => {
                return Err(Error::invalid(format!(
                    "{self} cannot be counted in steps of {step}: one is a calendar period, the other is not"
                )))
            }
        };
        if whole <= 0 || part <= 0 || whole % part != 0 {
            return Err(Error::invalid(format!("{self} is not a whole, positive number of steps of {step}")));
        }
        Ok((whole / part) as u64)
    }

    /// The largest `k` whose step does not lie after `at`; negative before `start`. The period must be positive.
    pub(crate) fn floor_steps(self, start: UnixMillis, at: UnixMillis) -> i64 {
        debug_assert!(self.is_positive());
        match self {
            Period::Fixed(ms) => {
                // 128 bits hold the difference of any two instants; a quotient beyond 64 bits needs a period below 2.
                let steps = (i128::from(at.0) - i128::from(start.0)).div_euclid(i128::from(ms));
                steps.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
            }
            Period::Months(months) => {
                let gap = at.date().month_index() - start.date().month_index();
                let k = gap.div_euclid(i64::from(months));
                // Only the month of `at` itself can hold a step after `at`.
                match self.add(start, k) {
                    Ok(step) if step <= at => k,
                    _ => k - 1,
                }
            }
        }
    }
}
