//! Times as people write them, as numbers.
//!
//! Created times come in every shape of ISO 8601 and as numbers. One reading for all roads, so that a
//! batch run and a store put the same documents in the same order.

use crate::rows::Ranking;

/// Seconds since 1970 of a time as ISO 8601 writes it: a date, perhaps a time behind `T` or a space,
/// perhaps `Z` or an offset. A year or a year and month alone mean their first moment.
#[must_use]
pub fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let (date, time) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some(text[at + 1..].trim())),
        None => (text, None),
    };
    let mut parts = date.split(['-', '/', '.']);
    let mut next = |digits: std::ops::RangeInclusive<usize>| -> Option<Option<i64>> {
        match parts.next() {
            None => Some(None),
            Some(part) if digits.contains(&part.len()) => whole(part).map(Some),
            Some(_) => None,
        }
    };
    let year = next(4..=4)??;
    let (month, day) = (next(1..=2)?.unwrap_or(1), next(1..=2)?.unwrap_or(1));
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let midnight = days_from_civil(year, month, day) as f64 * 86_400.0;
    match time {
        None | Some("") => Some(midnight),
        Some(time) => Some(midnight + seconds_of_day(time)?),
    }
}

fn whole(digits: &str) -> Option<i64> {
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

fn seconds_of_day(time: &str) -> Option<f64> {
    let end = time.find(['Z', 'z', '+', '-', ' ']).unwrap_or(time.len());
    let zone = time[end..].trim();
    let offset = match zone {
        "" | "Z" | "z" | "UTC" => 0.0,
        _ => {
            let sign = if zone.starts_with('-') { -1.0 } else { 1.0 };
            let digits = zone.strip_prefix(['+', '-'])?;
            let (hours, minutes) = match digits.split_once(':') {
                Some(parts) => parts,
                None if digits.len() == 4 => digits.split_at(2),
                None => (digits, "0"),
            };
            sign * (whole(hours)? * 3600 + whole(minutes)? * 60) as f64
        }
    };
    let mut parts = time[..end].split(':');
    let hours = whole(parts.next()?)?;
    let minutes = parts.next().map_or(Some(0), whole)?;
    let seconds: f64 = match parts.next() {
        Some(text) if text.bytes().all(|b| b.is_ascii_digit() || b == b'.') => text.parse().ok()?,
        Some(_) => return None,
        None => 0.0,
    };
    let right = parts.next().is_none() && hours <= 24 && minutes < 60 && seconds < 61.0;
    right.then_some((hours * 3600 + minutes * 60) as f64 + seconds - offset)
}

/// Days from 1970-01-01 in the proleptic Gregorian calendar. Years are counted from March, so that
/// the leap day is the last of a year.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Microseconds since 1970 of a time in a row: as ISO 8601 writes it, or a number of seconds
/// (of milliseconds or microseconds when it would otherwise lie after the year 5138).
///
/// ```
/// use wonbon_input::rows::Ranking;
/// use wonbon_input::time::{format_time, microseconds};
/// let time = microseconds(Ranking::Text("2024-02-29T12:30:15.5+09:00")).unwrap();
/// assert_eq!(format_time(time), "2024-02-29T03:30:15.5Z");
/// assert_eq!(microseconds(Ranking::Number(1.7e9)), microseconds(Ranking::Number(1.7e12)));
/// ```
#[must_use]
pub fn microseconds(value: Ranking<'_>) -> Option<i64> {
    let seconds = match value {
        Ranking::Text(text) => match seconds(text) {
            Some(seconds) => seconds,
            None => from_number(text.trim().parse().ok()?),
        },
        Ranking::Number(number) => from_number(number),
    };
    // Beyond this an f64 has no whole microseconds, and no calendar has the year.
    let rounded = (seconds * 1e6).round();
    (rounded.is_finite() && rounded.abs() < 9e18).then_some(rounded as i64)
}

fn from_number(number: f64) -> f64 {
    match number.abs() {
        to if to >= 1e14 => number / 1e6,
        to if to >= 1e11 => number / 1e3,
        _ => number,
    }
}

/// A time as ISO 8601 writes it, in UTC, with as many digits as it needs.
#[must_use]
pub fn format_time(microseconds: i64) -> String {
    let seconds = microseconds.div_euclid(1_000_000);
    let fraction = microseconds.rem_euclid(1_000_000);
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil_from_days(days);
    let (hours, minutes, seconds) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    let mut text = format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}");
    if fraction != 0 {
        text.push_str(format!(".{fraction:06}").trim_end_matches('0'));
    }
    text.push('Z');
    text
}

/// The inverse of [`days_from_civil`].
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_read_as_iso_writes_them() {
        for (text, expected) in [
            ("1970-01-01", Some(0.0)),
            ("1970-01-02T00:00:01Z", Some(86_401.0)),
            ("2000-03-01", Some(951_868_800.0)),
            ("2024-02-29 12:30:15.5", Some(1_709_209_815.5)),
            ("2024-02-29T12:30:15.5+09:00", Some(1_709_177_415.5)),
            ("2024-02-29T12:30:15.5-0530", Some(1_709_229_615.5)),
            ("1969", Some(-31_536_000.0)),
            ("2004.05.06", Some(1_083_801_600.0)),
            ("yesterday", None),
            ("2024-13-01", None),
            ("12345678", None),
            ("2024-01-01T1x:00", None),
            ("", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(time in -60_000_000_000_000_000_i64..200_000_000_000_000_000) {
            let text = format_time(time);
            let read = microseconds(Ranking::Text(&text)).unwrap();
            // Seconds are read as an f64, which is good for about a tenth of a millisecond.
            prop_assert!((read - time).abs() <= 100, "{text}: {time} {read}");
            let whole = time - time.rem_euclid(1_000_000);
            prop_assert_eq!(microseconds(Ranking::Text(&format_time(whole))), Some(whole));
        }
    }
}
