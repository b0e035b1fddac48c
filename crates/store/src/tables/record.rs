//! A row of the table `documents` as a value, its fingerprint, and the bytes in which its features are kept.
//! The same in SQLite and in PostgreSQL, so a row that is copied from one to the other keeps its fingerprint.

use std::hash::Hasher;

use wonbon_index::Row;
use wonbon_sketch::rabin::{RABIN_64, RabinHasher};
use wonbon_time::Timestamp;

use crate::decisions::Decision;
use crate::document::Order;
use wonbon_rule::{Fingerprints, Kind};

/// A document's row in the tables, without its text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    pub(crate) row: Row,
    pub(crate) key: String,
    pub(crate) created: Timestamp,
    pub(crate) stored: Timestamp,
    pub(crate) version: u32,
    pub(crate) url: Option<String>,
    pub(crate) site: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) language: Option<String>,
    pub(crate) words: u64,
    pub(crate) fingerprints: Fingerprints,
    pub(crate) features: Vec<u64>,
    pub(crate) standing: Standing,
    /// What was decided of it, if that is in effect.
    pub(crate) decision: Option<Decision>,
    /// The last entry of the log of decisions that changed that; 0 if none did.
    pub(crate) decision_entry: u64,
    /// When it claims to be published.
    pub(crate) published: Option<Timestamp>,
}

/// Where a document stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Standing {
    pub(crate) kind: Kind,
    /// Its original, if it is a copy.
    pub(crate) original: Option<Row>,
    /// How many features agree with the original's.
    pub(crate) features_equal: Option<usize>,
    /// Its resemblance to the original, where the decision needed it.
    pub(crate) resemblance: Option<f64>,
}

impl Standing {
    pub(crate) const fn alone(kind: Kind) -> Self {
        Standing { kind, original: None, features_equal: None, resemblance: None }
    }
}

impl Record {
    pub(crate) fn order(&self) -> Order {
        Order::new(self.decision, self.created, self.row)
    }

    /// Of everything in the row, in a fixed order.
    pub(super) fn fingerprint(&self) -> i64 {
        // In one piece, because short pieces take several times as long.
        let mut bytes = Vec::with_capacity(512);
        let mut text = |text: Option<&str>| {
            bytes.extend_from_slice(&text.map_or(u64::MAX, |text| text.len() as u64).to_le_bytes());
            bytes.extend_from_slice(text.unwrap_or_default().as_bytes());
        };
        text(Some(&self.key));
        for field in [&self.url, &self.site, &self.author, &self.title, &self.language] {
            text(field.as_deref());
        }
        let Standing { kind, original, features_equal, resemblance } = self.standing;
        for number in [
            i64::from(self.row.0),
            self.created.as_microseconds(),
            self.stored.as_microseconds(),
            i64::from(self.version),
            self.words as i64,
            self.fingerprints.text as i64,
            self.fingerprints.shingle_set as i64,
            kind.number(),
            original.map_or(-1, |original| i64::from(original.0)),
            features_equal.map_or(-1, |count| count as i64),
            resemblance.map_or(-1, |resemblance| resemblance.to_bits() as i64),
        ] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.fingerprints.content);
        for feature in &self.features {
            bytes.extend_from_slice(&feature.to_le_bytes());
        }
        // Rows from before there were decisions have none.
        if self.decision_entry > 0 {
            bytes.extend_from_slice(&self.decision_entry.to_le_bytes());
            let decision = Decision::number(self.decision).unwrap_or(-1);
            bytes.extend_from_slice(&decision.to_le_bytes());
        }
        // Nor do rows from before the column have a date of publication.
        if let Some(published) = self.published {
            bytes.extend_from_slice(b"published");
            bytes.extend_from_slice(&published.as_microseconds().to_le_bytes());
        }
        RABIN_64.fingerprint(&bytes) as i64
    }
}

/// Features as bytes: each in eight, then a fingerprint of them and of the row they belong to.
pub(super) fn features_to_bytes(row: Row, features: &[u64]) -> Vec<u8> {
    let mut bytes: Vec<u8> = features.iter().flat_map(|feature| feature.to_le_bytes()).collect();
    let fingerprint = features_fingerprint(row, &bytes);
    bytes.extend_from_slice(&fingerprint.to_le_bytes());
    bytes
}

/// What [`features_to_bytes`] wrote; `None` if it is not exactly that.
pub(super) fn features_from_bytes(row: Row, bytes: &[u8]) -> Option<Vec<u64>> {
    let (features, fingerprint) = bytes.split_last_chunk()?;
    let (whole, []) = features.as_chunks() else { return None };
    let as_written = u64::from_le_bytes(*fingerprint) == features_fingerprint(row, features);
    as_written.then(|| whole.iter().map(|feature| u64::from_le_bytes(*feature)).collect())
}

fn features_fingerprint(row: Row, features: &[u8]) -> u64 {
    let mut hash = RabinHasher::new(&RABIN_64);
    hash.write(features);
    hash.write(&row.0.to_le_bytes());
    hash.finish()
}
