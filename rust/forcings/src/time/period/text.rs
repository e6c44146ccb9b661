//! ISO 8601 durations: one canonical spelling out, the usual spellings in.

use super::Period;
use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const WEEK: i64 = 7 * DAY;

impl fmt::Display for Period {
    /// The canonical text: whole years as `Y`, other months as `M`, fixed periods as days, hours, minutes and seconds
    /// without the units that are zero.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Period::Months(months) => {
                let sign = if months < 0 { "-" } else { "" };
                match months.unsigned_abs() {
                    n if n != 0 && n % 12 == 0 => write!(f, "{sign}P{}Y", n / 12),
                    n => write!(f, "{sign}P{n}M"),
                }
            }
            Period::Fixed(0) => f.write_str("PT0S"),
            Period::Fixed(ms) => {
                f.write_str(if ms < 0 { "-P" } else { "P" })?;
                let total = ms.unsigned_abs();
                let parts = |unit: i64, limit: u64| total / unit as u64 % limit;
                let (days, hours, minutes) = (total / DAY as u64, parts(HOUR, 24), parts(MINUTE, 60));
                let (seconds, fraction) = (parts(SECOND, 60), total % SECOND as u64);
                if days != 0 {
                    write!(f, "{days}D")?;
                }
                if total % DAY as u64 != 0 {
                    f.write_str("T")?;
                }
                if hours != 0 {
                    write!(f, "{hours}H")?;
                }
                if minutes != 0 {
                    write!(f, "{minutes}M")?;
                }
                match (seconds, fraction) {
                    (0, 0) => Ok(()),
                    (s, 0) => write!(f, "{s}S"),
                    (s, ms) => write!(f, "{s}.{}S", format!("{ms:03}").trim_end_matches('0')),
                }
            }
        }
    }
}

impl FromStr for Period {
    type Err = Error;

    /// Reads `[-]P[nY][nM][nW][nD][T[nH][nM][n[.fff]S]]`. Units may repeat, stand in any order, and be lower case;
    /// years and months do not mix with the fixed units; only seconds have a fraction, of at most three digits.
    fn from_str(text: &str) -> Result<Self> {
        parse(text.trim()).map_err(|why| {
            let shown: String = text.chars().take(64).collect();
            Error::invalid(format!("`{shown}` is not an ISO 8601 period like PT1H or P1M: {why}"))
        })
    }
}

fn parse(text: &str) -> std::result::Result<Period, &'static str> {
    const TOO_LARGE: &str = "it is too large";
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let mut rest = unsigned.strip_prefix('P').ok_or("it must begin with P, or -P if it is negative")?;
    let (mut months, mut fixed): (Option<i64>, Option<i128>) = (None, None);
    let mut in_time = false;
    while !rest.is_empty() {
        if let (false, Some(time)) = (in_time, rest.strip_prefix('T')) {
            (in_time, rest) = (true, time);
            continue;
        }
        let (whole, tail) = split_digits(rest).ok_or("a unit needs a number in front of it")?;
        let (fraction, tail) = match tail.strip_prefix('.') {
            Some(after) => {
                let (digits, tail) = split_digits(after).ok_or("a decimal point needs digits behind it")?;
                (Some(digits), tail)
            }
            None => (None, tail),
        };
        let unit = tail.chars().next().ok_or("a number needs a unit behind it")?;
        rest = &tail[unit.len_utf8()..];
        let count: i64 = whole.parse().map_err(|_| TOO_LARGE)?;
        let unit_ms = match (in_time, unit.to_ascii_uppercase()) {
            (false, 'Y') | (false, 'M') if fraction.is_none() => {
                let per_unit = if unit.eq_ignore_ascii_case(&'Y') { 12 } else { 1 };
                let sum = count.checked_mul(per_unit).and_then(|m| m.checked_add(months.unwrap_or(0)));
                months = Some(sum.ok_or(TOO_LARGE)?);
                continue;
            }
            (false, 'W') => WEEK,
            (false, 'D') => DAY,
            (true, 'H') => HOUR,
            (true, 'M') => MINUTE,
            (true, 'S') => SECOND,
            (false, 'Y' | 'M') => return Err("only seconds may have a fraction"),
            _ => return Err("the units are Y, M, W, D and, behind T, H, M, S"),
        };
        let millis = match fraction {
            None => 0,
            Some(_) if unit_ms != SECOND => return Err("only seconds may have a fraction"),
            Some(digits) if digits.len() > 3 => return Err("seconds have at most three decimals"),
            Some(digits) => format!("{digits:0<3}").parse().map_err(|_| TOO_LARGE)?,
        };
        // A sum of 64-bit counts stays far below 128 bits for any text that fits in memory.
        fixed = Some(fixed.unwrap_or(0) + i128::from(count) * i128::from(unit_ms) + millis);
    }
    match (months, fixed) {
        (Some(m), None) => i32::try_from(sign * m).map(Period::Months).map_err(|_| TOO_LARGE),
        (None, Some(ms)) => i64::try_from(i128::from(sign) * ms).map(Period::Fixed).map_err(|_| TOO_LARGE),
        (Some(_), Some(_)) => Err("years and months do not mix with weeks, days and times"),
        (None, None) => Err("it has no parts"),
    }
}

/// The digits at the front, if there are any, and what follows.
fn split_digits(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn canonical_texts() {
        let months = [
            (1, "P1M"),
            (3, "P3M"),
            (6, "P6M"),
            (12, "P1Y"),
            (18, "P18M"),
            (24, "P2Y"),
            (0, "P0M"),
            (-1, "-P1M"),
            (-12, "-P1Y"),
            (i32::MIN, "-P2147483648M"),
        ];
        let fixed = [
            (HOUR, "PT1H"),
            (24 * HOUR, "P1D"),
            (90 * MINUTE, "PT1H30M"),
            (36 * HOUR, "P1DT12H"),
            (WEEK, "P7D"),
            (5 * MINUTE, "PT5M"),
            (30 * DAY, "P30D"),
            (500, "PT0.5S"),
            (1, "PT0.001S"),
            (1500, "PT1.5S"),
            (15 * MINUTE, "PT15M"),
            (60_000 * HOUR, "P2500D"),
            (-HOUR, "-PT1H"),
            (0, "PT0S"),
            (730 * HOUR + 30 * MINUTE, "P30DT10H30M"),
            (DAY + 10, "P1DT0.01S"),
            (i64::MIN, "-P106751991167DT7H12M55.808S"),
        ];
        let cases = months
            .iter()
            .map(|&(n, text)| (Period::Months(n), text))
            .chain(fixed.iter().map(|&(ms, text)| (Period::Fixed(ms), text)));
        for (period, text) in cases {
            assert_eq!(period.to_string(), text);
            assert_eq!(text.parse::<Period>().unwrap(), period);
        }
    }

    #[test]
    fn other_spellings() {
        for (text, canonical) in [
            ("PT24H", "P1D"),
            ("PT1440M", "P1D"),
            ("PT60M", "PT1H"),
            ("P1W", "P7D"),
            ("P1Y6M", "P18M"),
            ("PT1H1H", "PT2H"),
            ("P1M1M", "P2M"),
            ("P1DT", "P1D"),
            ("P1d", "P1D"),
            ("PT1h", "PT1H"),
            ("P1m", "P1M"),
            ("  PT1H\t", "PT1H"),
            ("P0D", "PT0S"),
            ("P0Y", "P0M"),
            ("P0M", "P0M"),
            ("-PT0S", "PT0S"),
            ("PT1.500S", "PT1.5S"),
            ("PT1.5S30M", "PT30M1.5S"),
            ("P007D", "P7D"),
        ] {
            assert_eq!(text.parse::<Period>().unwrap().to_string(), canonical, "{text}");
        }
    }

    #[test]
    fn refused_spellings() {
        for text in [
            "",
            "-",
            "P",
            "-P",
            "PT",
            "P1",
            "1H",
            "PH",
            "PTH",
            "P1MT1H",
            "P1Y1D",
            "P0MT1H",
            "PT1.5H",
            "PT1.5M",
            "P1.5D",
            "P1.5W",
            "P0.5Y",
            "P0.5M",
            "PT.5S",
            "PT1.S",
            "PT1.5000S",
            "p1D",
            "P1Dt1H",
            "+PT1H",
            "PT-1H",
            "P-1M",
            "--PT1H",
            "P1H",
            "PT1D",
            "PT1Y",
            "PT1HT1M",
            "P 1D",
            "P1D ,",
            "P1é",
            "P2147483648M",
            "-P2147483649M",
            "P178956971Y",
            "P99999999999999999999D",
            "P9223372036854775807D",
            "PT9223372036854775.808S",
        ] {
            let error = text.parse::<Period>().unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::InvalidParameter, "{text}");
        }
    }

    proptest! {
        #[test]
        fn text_and_period_are_one(ms in any::<i64>(), months in any::<i32>()) {
            for period in [Period::Fixed(ms), Period::Months(months)] {
                prop_assert_eq!(period.to_string().parse::<Period>().unwrap(), period);
            }
        }

        #[test]
        fn arbitrary_text_never_panics(text in "-?P?[0-9YMWDTHS.ymwdths é]{0,30}") {
            let _ = text.parse::<Period>();
        }
    }
}
