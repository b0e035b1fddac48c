//! Times in JSON and other formats: a text as ISO 8601 writes it; texts and numbers are read.
//!
//! Where a file holds counts of microseconds, the field says
//! `#[serde(with = "wonbon_time::microseconds")]`.

use std::fmt;

use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use crate::Timestamp;

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrNumber)
    }
}

struct TextOrNumber;

impl Visitor<'_> for TextOrNumber {
    type Value = Timestamp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Timestamp, E> {
        Timestamp::parse_text(text).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Timestamp, E> {
        Timestamp::from_integer(number).map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Timestamp, E> {
        self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Timestamp, E> {
        Timestamp::from_number(number).map_err(E::custom)
    }
}

/// A field that is a count of microseconds since 1970.
pub mod microseconds {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::Timestamp;

    /// Writes the count.
    ///
    /// # Errors
    ///
    /// The serializer's.
    pub fn serialize<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(time.as_microseconds())
    }

    /// Reads the count.
    ///
    /// # Errors
    ///
    /// If it is no whole number.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        i64::deserialize(deserializer).map(Timestamp::from_microseconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Counted {
        #[serde(with = "crate::microseconds")]
        time: Timestamp,
    }

    #[test]
    fn times_are_written_as_texts_and_read_from_texts_and_numbers() {
        let time = Timestamp::from_milliseconds(1_700_000_000_500);
        assert_eq!(serde_json::to_string(&time).unwrap(), "\"2023-11-14T22:13:20.5Z\"");
        for json in
            ["\"2023-11-14T22:13:20.5Z\"", "1700000000.5", "1700000000500", "\"1700000000500\""]
        {
            assert_eq!(serde_json::from_str::<Timestamp>(json).unwrap(), time, "{json}");
        }
        for json in ["\"soon\"", "18446744073709551615", "true"] {
            let error = serde_json::from_str::<Timestamp>(json).unwrap_err().to_string();
            assert!(error.contains("a time"), "{error}");
        }
    }

    #[test]
    fn a_count_stays_a_count() {
        let counted = Counted { time: Timestamp::from_microseconds(7) };
        assert_eq!(serde_json::to_string(&counted).unwrap(), "{\"time\":7}");
        assert_eq!(serde_json::from_str::<Counted>("{\"time\":7}").unwrap(), counted);
    }
}
