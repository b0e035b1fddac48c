//! Which document of a family is kept: the order in which documents would have been added.
//!
//! Every document gets a key when it is read; documents are taken by ascending key, and of equal
//! keys the first read comes first (the last read under [`Keep::Last`]). A document whose field is
//! missing or cannot be understood comes after all others: it cannot claim to be the earliest.

use std::fmt;
use std::str::FromStr;

use wonbon_documents::Value;
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
    /// The field of a row that decides, if one beside the creation time does.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        match self {
            Keep::Min(field) | Keep::Max(field) => Some(field),
            Keep::Earliest | Keep::Longest | Keep::First | Keep::Last => None,
        }
    }

    /// Whether a document may lack what decides.
    #[must_use]
    pub fn may_lack_key(&self) -> bool {
        matches!(self, Keep::Earliest | Keep::Min(_) | Keep::Max(_))
    }

    /// The key of a document by its creation time, the value of [`field`](Keep::field) and the length
    /// of its text. [`MISSING`] where it does not have what decides.
    #[must_use]
    pub fn key(&self, created: Option<Timestamp>, ranking: &Value<'_>, text_bytes: usize) -> u64 {
        let number = || match ranking {
            Value::Integer(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            Value::Time(time) => Some(time.as_seconds()),
            // CSV has no numbers: what reads as one is one, so that a score of 2000 is no year.
            Value::Text(text) => text
                .trim()
                .parse()
                .ok()
                .or_else(|| Some(Timestamp::parse_iso(text).ok()?.as_seconds())),
            Value::Missing | Value::NotUtf8 | Value::Binary | Value::Other => None,
        };
        match self {
            Keep::First | Keep::Last => 0,
            Keep::Longest => u64::MAX - 1 - text_bytes as u64,
            Keep::Earliest => {
                created.map_or(MISSING, |time| (time.as_microseconds() as u64) ^ 1 << 63)
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
    fn the_earliest_time_comes_first_and_none_last() {
        let key = |text: &str| Keep::Earliest.key(text.parse().ok(), &Value::Missing, 0);
        let times = ["1969-12-31T23:59:59Z", "0.5", "2024-05-01", "1714521601000", "none"];
        assert!(times.windows(2).all(|pair| key(pair[0]) < key(pair[1])));
        assert_eq!(key("none"), MISSING);
    }

    #[test]
    fn a_score_is_a_number_in_every_format() {
        let key = |value: Value<'_>| Keep::Max("score".into()).key(None, &value, 0);
        for score in [7, 999, 1500, 2024, 9999, 20_000] {
            let written = score.to_string();
            assert_eq!(key(written.as_str().into()), key(Value::Integer(score)), "{score}");
            assert_eq!(key(Value::Float(score as f64)), key(Value::Integer(score)), "{score}");
        }
        assert!(key("20000".into()) < key("1500".into()) && key("1500".into()) < key("999".into()));
        assert!(key("2024-05-02".into()) < key("2024-05-01".into()));
        assert_eq!(key("none".into()), MISSING);
    }

    proptest! {
        #[test]
        fn keys_have_the_order_of_their_numbers(one in any::<f64>(), other in any::<f64>()) {
            let key = |keep: &Keep, number| keep.key(None, &Value::Float(number), 0);
            let (min, max) = (Keep::Min("f".into()), Keep::Max("f".into()));
            if let Some(order) = one.partial_cmp(&other) {
                prop_assert_eq!(key(&min, one).cmp(&key(&min, other)), order);
                prop_assert_eq!(key(&max, one).cmp(&key(&max, other)), order.reverse());
                prop_assert!(key(&min, one) < min.key(None, &Value::Missing, 0));
            }
        }
    }
}
