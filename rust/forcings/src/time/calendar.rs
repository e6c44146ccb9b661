//! The proleptic Gregorian calendar: days since 1970-01-01 to year, month and day, and back.
//! Plain integer arithmetic; what an instant or a period makes of it lives next door.

/// Milliseconds in a day.
pub(crate) const DAY_MS: i64 = 86_400_000;

/// Days in 400 years.
const ERA_DAYS: i64 = 146_097;

/// A date of the proleptic Gregorian calendar, with a year 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    /// The year; the year before 1 is 0.
    pub year: i64,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
}

impl Date {
    /// The date `days` after 1970-01-01. Defined for every count of days that an instant in milliseconds can have.
    pub fn from_days(days: i64) -> Self {
        // Years are counted from March, so that the leap day is the last day of a year.
        let from_march_of_0 = days + 719_468;
        let era = from_march_of_0.div_euclid(ERA_DAYS);
        let day_of_era = from_march_of_0.rem_euclid(ERA_DAYS);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let day = (day_of_year - (153 * march_month + 2) / 5 + 1) as u8;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 } as u8;
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        Date { year, month, day }
    }

    /// Days since 1970-01-01. `month` and `day` must exist; years within ±10^12 do not overflow.
    pub fn to_days(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let march_month = (i64::from(self.month) + 9) % 12;
        let day_of_year = (153 * march_month + 2) / 5 + i64::from(self.day) - 1;
        let year_of_era = year.rem_euclid(400);
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        year.div_euclid(400) * ERA_DAYS + day_of_era - 719_468
    }

    /// Months since January of year 0.
    pub(crate) fn month_index(self) -> i64 {
        self.year * 12 + i64::from(self.month) - 1
    }
}

/// Whether `year` has a February 29.
pub fn is_leap_year(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// The length of `month` (1 to 12) in days.
pub fn days_in_month(year: i64, month: u8) -> u8 {
    match month {
        2 if is_leap_year(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Walks day by day, with nothing but the rule for the length of a month.
    #[test]
    fn agrees_with_a_calendar_that_counts_days() {
        let (mut year, mut month, mut day) = (-1i64, 1u8, 1u8);
        let mut days = Date { year, month, day }.to_days();
        let mut epochs = 0;
        while year < 10_001 {
            let date = Date { year, month, day };
            assert_eq!(Date::from_days(days), date);
            assert_eq!(date.to_days(), days);
            epochs += usize::from(days == 0 && date == Date { year: 1970, month: 1, day: 1 });
            let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
            let length = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month as usize - 1];
            assert_eq!(days_in_month(year, month), length);
            days += 1;
            day += 1;
            if day > length {
                (day, month) = (1, month + 1);
            }
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
        assert_eq!(epochs, 1);
    }

    #[test]
    fn the_ends_of_the_time_line_convert_back() {
        for ms in [i64::MIN, i64::MAX] {
            let days = ms.div_euclid(DAY_MS);
            assert_eq!(Date::from_days(days).to_days(), days);
        }
    }
}
