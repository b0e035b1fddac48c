//! Which document of a family is kept: the order in which documents would have been added.
//!
//! Every document gets a key when it is read; documents are taken by ascending key, and of equal
//! keys the first read comes first (the last read under [`Keep::Last`]). A document whose field is
//! missing or cannot be understood comes after all others: it cannot claim to be the earliest.

use std::fmt;
use std::str::FromStr;

use wonbon_input::rows::Ranking;
use wonbon_time::Timestamp;

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
        let time = || match ranking? {
            Ranking::Number(number) => Timestamp::from_number(number).ok(),
            Ranking::Text(text) => Timestamp::parse_text(text).ok(),
        };
        let number = || match ranking? {
            Ranking::Number(number) => Some(number),
            Ranking::Text(text) => Timestamp::parse_iso(text)
                .map(Timestamp::as_seconds)
                .ok()
                .or_else(|| text.trim().parse().ok()),
        };
        match self {
            Keep::First | Keep::Last => 0,
            Keep::Longest => u64::MAX - 1 - text_bytes as u64,
            Keep::Earliest => {
                time().map_or(MISSING, |time| (time.as_microseconds() as u64) ^ 1 << 63)
            }
            Keep::Min(_) => number().and_then(ordered).unwrap_or(MISSING),
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ways_to_choose_are_read_as_they_are_written() {
        for text in ["earliest", "longest", "first", "last", "min:score", "max:a:b"] {
            assert_eq!(text.parse::<Keep>().unwrap().to_string(), text);
        }
        assert!("min:".parse::<Keep>().is_err() && "newest".parse::<Keep>().is_err());
    }

    #[test]
    fn the_earliest_time_comes_first_however_it_is_written() {
        let key = |ranking| Keep::Earliest.key(Some(ranking), 0);
        let times = [
            Ranking::Text("1969-12-31T23:59:59Z"),
            Ranking::Number(0.5),
            Ranking::Text("2024-05-01"),
            Ranking::Number(1_714_521_601_000.0),
            Ranking::Text("1714521602000000"),
            Ranking::Text("2024-05-01T09:00:03+09:00"),
        ];
        assert!(times.windows(2).all(|pair| key(pair[0]) < key(pair[1])));
        assert_eq!(key(Ranking::Text("2024-02-31")), MISSING);
        assert_eq!(key(Ranking::Number(f64::NAN)), MISSING);
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
