//! The reference of a CF time axis: `Y-M-D[( |T)h[:m[:s[.f]]]][ zone]`.

use super::Calendar;

type Parsed<T> = std::result::Result<T, String>;

/// Years beyond this are refused; it keeps all arithmetic far from overflow.
const MAX_YEAR: i64 = 200_000;

/// The whole milliseconds since 1970-01-01T00:00:00 of the calendar, and the rest of one in `0.0..1.0`.
pub(super) fn parse(text: &str, calendar: Calendar) -> Parsed<(i64, f64)> {
    let fault = || format!("\"{text}\" is no reference such as 1970-01-01T00:00:00Z");
    let (negative, unsigned) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    let date_end = unsigned.find(|c: char| !(c.is_ascii_digit() || c == '-')).unwrap_or(unsigned.len());
    let (date, rest) = unsigned.split_at(date_end);
    let [year, month, day] = numbers::<3>(date, '-').ok_or_else(fault)?;
    let year = if negative { -year } else { year };
    if year.abs() > MAX_YEAR {
        return Err(format!("the year of \"{text}\" is out of range"));
    }
    let (month, day) = (u32::try_from(month).map_err(|_| fault())?, u32::try_from(day).map_err(|_| fault())?);
    let days = calendar
        .days(year, month, day)
        .ok_or_else(|| format!("the calendar {calendar} has no date {}", &text[..text.len() - rest.len()]))?;

    // A time follows a blank or a `T`; a zone may follow the time, with a blank or without one.
    let rest = rest.strip_prefix(['T', 't']).unwrap_or(rest).trim();
    let clock_end = rest.find(|c: char| !(c.is_ascii_digit() || c == ':' || c == '.')).unwrap_or(rest.len());
    let (clock, zone) = rest.split_at(clock_end);
    let (seconds, milliseconds) = if clock.is_empty() { (0, 0.0) } else { time_of_day(clock).ok_or_else(fault)? };
    let offset = match zone.trim() {
        "" => 0,
        zone if ["Z", "UTC", "GMT"].iter().any(|utc| zone.eq_ignore_ascii_case(utc)) => 0,
        // Behind a bare date a signed number may be meant as an hour or as a zone.
        zone if !clock.is_empty() => zone_seconds(zone).ok_or_else(fault)?,
        _ => return Err(fault()),
    };
    let whole = (days * 86_400 + seconds - offset) * 1000 + milliseconds as i64;
    Ok((whole, milliseconds.fract()))
}

/// Whole seconds since midnight, and milliseconds behind them.
fn time_of_day(text: &str) -> Option<(i64, f64)> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, digits)) if whole.matches(':').count() == 2 && digits.bytes().all(|b| b.is_ascii_digit()) => {
            (whole, format!("0.{digits}0").parse::<f64>().ok()?)
        }
        Some(_) => return None,
        None => (text, 0.0),
    };
    let [hour, minute, second] = match whole.matches(':').count() {
        0 => [numbers::<1>(whole, ':')?[0], 0, 0],
        1 => numbers::<2>(whole, ':').map(|[h, m]| [h, m, 0])?,
        _ => numbers::<3>(whole, ':')?,
    };
    (hour < 24 && minute < 60 && second < 60).then_some((hour * 3600 + minute * 60 + second, fraction * 1000.0))
}

/// `±h`, `±hh`, `±h:mm`, `±hh:mm` or `±hhmm`, in seconds east of Greenwich.
fn zone_seconds(text: &str) -> Option<i64> {
    let sign = match text.bytes().next()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits = text[1..].trim();
    let [hours, minutes] = if digits.contains(':') {
        numbers::<2>(digits, ':')?
    } else {
        let [number] = numbers::<1>(digits, ':')?;
        match digits.len() {
            1 | 2 => [number, 0],
            4 => [number / 100, number % 100],
            _ => return None,
        }
    };
    (hours <= 18 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

/// Exactly `N` runs of one to nine digits with a separator between them.
fn numbers<const N: usize>(text: &str, separator: char) -> Option<[i64; N]> {
    let mut found = [0; N];
    let mut parts = text.split(separator);
    for number in &mut found {
        let part = parts.next()?;
        if part.is_empty() || part.len() > 9 || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(found)
}
