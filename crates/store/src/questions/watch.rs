//! Watched documents: which stored copies of a reference differ from it by a little.
//!
//! A licence, a contract, a law is copied word for word or not at all: a copy that differs in a few
//! words is an old version, a mistake, or was tampered with. A copy with the words of an earlier version of the
//! reference is reported separately from one with words that the reference never had.
//!
//! Cost: one question and one text for each copy, for every watched document.

use std::collections::HashMap;

use wonbon_text::difference::{SpanKind, difference};
use wonbon_time::Timestamp;

use super::ask::Measure;
use super::moved::MOST_PLACES;
use crate::error::StoreError;
use crate::store::Store;
use crate::sweeps::Place;
use crate::writer::Request;

/// Words shown before and after a difference.
const AROUND: usize = 4;

/// A watched document.
#[derive(Debug, Clone, PartialEq)]
pub struct Watched {
    /// The document.
    pub place: Place,
    /// Since when it is watched.
    pub since: Timestamp,
}

/// A passage in which a copy differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Words before it, in the reference.
    pub before: String,
    /// What the reference says; empty if the copy puts something in.
    pub reference: String,
    /// What the copy says; empty if it leaves something out.
    pub copy: String,
    /// Words after it, in the reference.
    pub after: String,
}

/// A copy that differs from its reference.
#[derive(Debug, Clone, PartialEq)]
pub struct Differing {
    /// Where it is.
    pub place: Place,
    /// Its exact resemblance to the reference.
    pub resemblance: f64,
    /// How many words only the reference has, and only the copy.
    pub words: (usize, usize),
    /// Where it differs, in order.
    pub passages: Vec<Passage>,
}

/// What the copies of one watched document look like.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchReport {
    /// The reference.
    pub watched: Watched,
    /// Copies with its very words.
    pub faithful: u64,
    /// Copies with the very words of an earlier version, and which.
    pub outdated: Vec<(Place, u32)>,
    /// Copies that differ, the highest resemblance first.
    pub differing: Vec<Differing>,
    /// Whether there may be more copies than were compared.
    pub cut: bool,
}

impl Store {
    /// Watches a document; returns whether there is one of this key or address.
    ///
    /// # Errors
    ///
    /// Why it was not stored.
    pub fn watch(&self, key: &str) -> Result<bool, StoreError> {
        self.ask_writer(|reply| Request::Watch { key: key.to_owned(), watch: true, reply })
    }

    /// Stops watching a document; returns whether it was watched.
    ///
    /// # Errors
    ///
    /// Why it was not stored.
    pub fn unwatch(&self, key: &str) -> Result<bool, StoreError> {
        self.ask_writer(|reply| Request::Watch { key: key.to_owned(), watch: false, reply })
    }

    /// The documents that are watched, in the order in which they were first stored.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn watched(&self) -> Result<Vec<Watched>, StoreError> {
        self.reading(|database| {
            let mut watched = Vec::new();
            for (row, since) in database.watched()? {
                if let Some(record) = database.record(row)? {
                    watched.push(Watched { place: database.place(&record)?, since });
                }
            }
            Ok(watched)
        })
    }

    /// Compares a watched document with the stored ones that resemble it by at least `min`; `None`
    /// if it is not stored any more.
    ///
    /// # Errors
    ///
    /// The database's.
    pub fn watch_report(
        &self,
        watched: &Watched,
        min: f64,
    ) -> Result<Option<WatchReport>, StoreError> {
        let Some(record) = self.named(&watched.place.key)? else { return Ok(None) };
        let preparer = &self.inner.preparer;
        let (text, earlier) = self.reading(|database| {
            let mut earlier = HashMap::new();
            for version in database.versions(record.row)? {
                let text = database.version_text(record.row, version.version)?;
                earlier.insert(preparer.shingles(&text).2, version.version);
            }
            Ok::<_, StoreError>((database.text(record.row)?, earlier))
        })?;
        let alike = self.alike(&text, Measure::Resemblance, min, MOST_PLACES)?;
        let mut report = WatchReport {
            watched: watched.clone(),
            faithful: 0,
            outdated: Vec::new(),
            differing: Vec::new(),
            cut: alike.cut,
        };
        for found in alike.matches {
            if found.document.row == record.row {
                continue;
            }
            self.check_cancelled()?;
            // Deleted since it was found.
            let Some(other) = self.named(&found.document.key)? else { continue };
            if other.fingerprints.text == record.fingerprints.text {
                report.faithful += 1;
                continue;
            }
            let place = self.reading(|database| database.place(&other))?;
            if let Some(version) = earlier.get(&other.fingerprints.text) {
                report.outdated.push((place, *version));
                continue;
            }
            let (passages, words) = passages(&text, &found.document.text);
            let resemblance = found.overlap.resemblance();
            report.differing.push(Differing { place, resemblance, words, passages });
        }
        Ok(Some(report))
    }
}

/// Where a copy differs from a reference, and how many words only one of them has.
fn passages(reference: &str, copy: &str) -> (Vec<Passage>, (usize, usize)) {
    let found = difference(reference, copy);
    let left = |words| reference[found.left.place(words)].to_owned();
    let right = |words| copy[found.right.place(words)].to_owned();
    let mut passages = Vec::new();
    let mut words = (0, 0);
    let mut spans = found.spans.iter().peekable();
    while let Some(span) = spans.next() {
        if span.kind == SpanKind::Same {
            continue;
        }
        let (mut in_left, mut in_right) = (span.left.clone(), span.right.clone());
        // What is taken out and what is put in its place are one difference.
        while let Some(next) = spans.next_if(|next| next.kind != SpanKind::Same) {
            in_left = in_left.start..next.left.end.max(in_left.end);
            in_right = in_right.start..next.right.end.max(in_right.end);
        }
        words = (words.0 + in_left.len(), words.1 + in_right.len());
        let before = in_left.start.saturating_sub(AROUND)..in_left.start;
        let after = in_left.end..(in_left.end + AROUND).min(found.left.len());
        passages.push(Passage {
            before: left(before),
            reference: left(in_left),
            copy: right(in_right),
            after: left(after),
        });
    }
    (passages, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_replaces_what_stands_side_by_side_with_some_words_around() {
        let reference = "the seller shall deliver within thirty days of the order at no cost";
        let copy = "the seller shall deliver within ninety working days of the order";
        let (found, words) = passages(reference, copy);
        assert_eq!(words, (4, 2));
        let told: Vec<[&str; 4]> = found
            .iter()
            .map(|passage| {
                [&passage.before, &passage.reference, &passage.copy, &passage.after]
                    .map(String::as_str)
            })
            .collect();
        assert_eq!(
            told,
            [
                ["seller shall deliver within", "thirty", "ninety working", "days of the order"],
                ["days of the order", "at no cost", "", ""],
            ]
        );
    }
}
