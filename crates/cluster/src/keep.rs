//! Which document of a family is kept: the order in which documents would have been added.
//!
//! Every document gets a key when it is read; documents are taken by ascending key, and of equal
//! keys the first read comes first (the last read under [`Keep::Last`]). A document whose field is
//! missing or cannot be understood comes after all others: it cannot claim to be the earliest.

use std::fmt;
use std::str::FromStr;

use wonbon_input::rows::Ranking;

/// Which document of a family is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The earliest created, then the first read: what "original" means.
    #[default]
    Earliest,
    /// The one with the longest text.
    Longest,
    /// The first read.
    First,
    /// The last read.
    Last,
    /// The one whose field is smallest.
    Min(String),
    /// The one whose field is largest.
    Max(String),
}

impl Keep {
    /// The field of a row that decides, if one does.
    #[must_use]
    pub fn field<'a>(&'a self, created: &'a str) -> Option<&'a str> {
        match self {
            Keep::Earliest => Some(created),
            Keep::Min(field) | Keep::Max(field) => Some(field),
            Keep::Longest | Keep::First | Keep::Last => None,
        }
    }

    /// The key of a document. [`MISSING`] where the field says nothing.
    #[must_use]
    pub fn key(&self, ranking: Option<Ranking<'_>>, text_bytes: usize) -> u64 {
        let number = || match ranking? {
            Ranking::Number(number) => Some(number),
            Ranking::Text(text) => seconds(text).or_else(|| text.trim().parse().ok()),
        };
        match self {
            Keep::First | Keep::Last => 0,
            Keep::Longest => u64::MAX - 1 - text_bytes as u64,
            Keep::Earliest | Keep::Min(_) => number().and_then(ordered).unwrap_or(MISSING),
            Keep::Max(_) => number().and_then(|n| ordered(-n)).unwrap_or(MISSING),
        }
    }
}

/// The key of a document whose field is missing or cannot be understood.
pub const MISSING: u64 = u64::MAX;

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Keep::Earliest => f.write_str("earliest"),
            Keep::Longest => f.write_str("longest"),
            Keep::First => f.write_str("first"),
            Keep::Last => f.write_str("last"),
            Keep::Min(field) => write!(f, "min:{field}"),
            Keep::Max(field) => write!(f, "max:{field}"),
        }
    }
}

/// The text names no way to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write earliest, longest, first, last, min:FIELD or max:FIELD")]
pub struct NotAKeep;

impl FromStr for Keep {
    type Err = NotAKeep;

    fn from_str(text: &str) -> Result<Self, NotAKeep> {
        Ok(match text {
            "earliest" => Keep::Earliest,
            "longest" => Keep::Longest,
            "first" => Keep::First,
            "last" => Keep::Last,
            _ => match text.split_once(':') {
                Some(("min", field)) if !field.is_empty() => Keep::Min(field.to_owned()),
                Some(("max", field)) if !field.is_empty() => Keep::Max(field.to_owned()),
                _ => return Err(NotAKeep),
            },
        })
    }
}

/// A number as an integer of the same order; `None` for what is no number.
fn ordered(number: f64) -> Option<u64> {
    if number.is_nan() {
        return None;
    }
    // Positive zero and negative zero are one number.
    let bits = (number + 0.0).to_bits();
    Some(if bits >> 63 == 0 { bits | 1 << 63 } else { !bits })
}

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

    #[test]
    fn ways_to_choose_are_read_as_they_are_written() {
        for text in ["earliest", "longest", "first", "last", "min:score", "max:a:b"] {
            assert_eq!(text.parse::<Keep>().unwrap().to_string(), text);
        }
        assert!("min:".parse::<Keep>().is_err() && "newest".parse::<Keep>().is_err());
    }

    proptest! {
        #[test]
        fn keys_have_the_order_of_their_numbers(one in any::<f64>(), other in any::<f64>()) {
            let key = |keep: &Keep, number| keep.key(Some(Ranking::Number(number)), 0);
            let (min, max) = (Keep::Min("f".into()), Keep::Max("f".into()));
            if let Some(order) = one.partial_cmp(&other) {
                prop_assert_eq!(key(&min, one).cmp(&key(&min, other)), order);
                prop_assert_eq!(key(&max, one).cmp(&key(&max, other)), order.reverse());
                prop_assert!(key(&min, one) < min.key(None, 0));
            }
        }
    }
}
