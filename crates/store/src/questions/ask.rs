//! Finds stored documents by what they share with a text: those that resemble it, contain it, or are contained in it.
//!
//! The index of shingles ([`wonbon_index::shingles`]) returns candidates with an estimate of what they share with the text.
//! Candidates that may reach the value asked for, within [`SURE`] standard errors, are verified on the full shingle sets,
//! the most promising first. Nothing is answered without verification.
//!
//! The sketch of a long document may have none of the shingles of a short text that the document contains. So for short
//! texts the search index is asked for the same words too ([`phrases`]), and the originals it finds are candidates together
//! with their copies. A phrase is a shingle: where sketches of long documents keep some of the text's shingles, as many
//! phrases fewer are looked for.
//!
//! Cost: a look-up for each shingle and segment, then one read and one set of shingles for each verified document, 30 to 60
//! microseconds for one of 2 kB; at most [`most_verified`] of them.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, HashMap, HashSet};

use wonbon_index::Row;
use wonbon_index::shingles::{Candidate, Found, level_of};
use wonbon_search::{Page, Query};
use wonbon_sketch::{ElementSet, Estimate, Overlap};
use wonbon_text::words::for_each_word_at;

use crate::asked_set::AskedSet;
use crate::document::StoredDocument;
use crate::error::StoreError;
use crate::store::Store;
use crate::tables::{Reading, Record};

/// The longest text that can be asked about, in bytes.
pub const MOST_ASKED_BYTES: usize = 32 << 20;

/// How many standard errors an estimate may lie below what was asked.
pub const SURE: f64 = 4.0;

/// A candidate is skipped when its estimate plus this many standard errors is less than what is
/// shown.
const PROMISING: f64 = 2.0;

/// How many candidates are ranked, at least.
const MOST_RANKED: usize = 1 << 14;

/// Texts with fewer shingles are looked for by their words too.
const SHORT_SHINGLES: usize = 64;

/// How many phrases and kept shingles of a short text are looked for, and of how many words.
const PHRASES: usize = 6;
const PHRASE_WORDS: usize = 5;

/// How many originals are taken from the search index, and how many documents with their copies.
const MOST_SEARCHED: usize = 20;
const MOST_SEARCHED_WITH_COPIES: usize = 100;

/// What is asked of a text and a stored document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// The resemblance of the two.
    Resemblance,
    /// The part of the text that the document has.
    Within,
    /// The part of the document that the text has.
    Contains,
}

impl Measure {
    /// The value, where the text is the left set and the document the right one.
    #[must_use]
    pub fn of(self, overlap: &Overlap) -> f64 {
        match self {
            Measure::Resemblance => overlap.resemblance(),
            Measure::Within => overlap.left_in_right(),
            Measure::Contains => overlap.right_in_left(),
        }
    }

    /// Whether documents of this size can reach a value at all.
    fn possible(self, min: f64, text: usize, document: usize) -> bool {
        let (text, document) = (text as f64, document as f64);
        match self {
            Measure::Resemblance => document >= min * text && text >= min * document,
            Measure::Within => document >= min * text,
            Measure::Contains => text >= min * document,
        }
    }

    /// What the index says of a candidate.
    fn estimate(self, found: &Found, candidate: &Candidate) -> Estimate {
        let level = level_of(candidate.shingles as usize);
        let asked = u64::from(found.asked[level as usize]);
        let looked_up = u64::from(found.looked_up(candidate));
        let (shared, values) = (u64::from(candidate.shared), u64::from(candidate.values));
        // Values that were too common to be looked up are taken to be shared as the others are.
        let all_shared = (shared * asked).checked_div(looked_up).unwrap_or(0).min(values);
        let sampled = looked_up as f64 / (asked.max(1) << level) as f64;
        match self {
            Measure::Resemblance => {
                let union = (asked + values).saturating_sub(all_shared);
                Estimate::of_share(all_shared, union, sampled)
            }
            Measure::Within => Estimate::of_share(shared, looked_up, sampled),
            Measure::Contains => Estimate::of_share(all_shared, values, sampled),
        }
    }
}

/// Which documents are asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// By what they are ranked.
    pub measure: Measure,
    /// The least value that is shown.
    pub min: f64,
    /// How many are shown.
    pub limit: usize,
}

/// A document that answers a question.
#[derive(Debug, Clone)]
pub struct Match {
    /// The document.
    pub document: StoredDocument,
    /// The exact sizes: the text's set of shingles on the left, the document's on the right.
    pub overlap: Overlap,
    /// What the sketches said before; without samples if it was found by its words alone.
    pub estimate: Estimate,
}

/// The documents that answer a question, best first.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// Each is verified; equal values are in the order of creation.
    pub matches: Vec<Match>,
    /// How many different shingles the text has.
    pub shingles: usize,
    /// How many of them were left out because too many documents have them.
    pub common: usize,
    /// How many documents could have answered by their sketches.
    pub candidates: usize,
    /// How many of them were verified.
    pub verified: usize,
    /// Whether every document was verified that could have been among those shown.
    pub complete: bool,
}

/// How many documents are verified for one question.
#[must_use]
pub fn most_verified(limit: usize) -> usize {
    limit.saturating_mul(8).saturating_add(64)
}

/// A text that is asked about.
pub(super) struct AskedText<'a> {
    pub(super) text: &'a str,
    pub(super) shingles: ElementSet,
}

/// A document that may answer.
struct Promise {
    row: Row,
    estimate: Estimate,
    /// The value it is likely to have.
    likely: f64,
}

impl Promise {
    fn new(row: Row, estimate: Estimate) -> Self {
        let Estimate { value, standard_error, samples } = estimate;
        // Three of three sampled shingles say less than all of all.
        let likely = if standard_error == 0.0 {
            value
        } else {
            (value * samples as f64 + 0.5) / (samples as f64 + 1.0)
        };
        Promise { row, estimate, likely }
    }

    fn before(&self, other: &Promise) -> Ordering {
        other.likely.total_cmp(&self.likely).then(self.row.cmp(&other.row))
    }

    /// The value it may well have.
    fn best(&self) -> f64 {
        self.estimate.value + PROMISING * self.estimate.standard_error
    }
}

/// What was verified and is good enough.
struct Best {
    question: Question,
    /// The values of the best so far, the least on top; they order as their bits do.
    values: BinaryHeap<Reverse<u64>>,
    matches: Vec<(Record, Overlap, Estimate)>,
}

impl Best {
    fn put(&mut self, record: Record, overlap: Overlap, estimate: Estimate) {
        let value = self.question.measure.of(&overlap);
        if overlap.shared == 0 || value < self.question.min {
            return;
        }
        self.values.push(Reverse(value.to_bits()));
        if self.values.len() > self.question.limit {
            self.values.pop();
        }
        self.matches.push((record, overlap, estimate));
    }

    /// Whether there are as many as are shown.
    fn is_full(&self) -> bool {
        self.values.len() == self.question.limit
    }

    /// Whether as many as are shown have more than this.
    fn is_full_above(&self, value: f64) -> bool {
        let least = self.values.peek().map(|least| f64::from_bits(least.0));
        self.is_full() && least.is_some_and(|least| value < least)
    }

    /// Those that are shown, in order.
    fn ranked(self) -> Vec<(Record, Overlap, Estimate)> {
        let Best { question, mut matches, .. } = self;
        let value = |found: &(Record, Overlap, Estimate)| question.measure.of(&found.1);
        matches.sort_by(|a, b| {
            value(b).total_cmp(&value(a)).then_with(|| a.0.order().cmp(&b.0.order()))
        });
        matches.truncate(question.limit);
        matches
    }
}

impl Store {
    /// Finds stored documents, originals and copies, by what they share with a text.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoWords`], [`StoreError::TooLong`], [`StoreError::Behind`] when the index of
    /// shingles cannot be brought up, or the database's.
    pub fn ask(&self, text: &str, question: &Question) -> Result<Answer, StoreError> {
        let asked = self.asked_text(text)?;
        let size = asked.shingles.len();
        let Question { measure, min, limit } = *question;
        let least = match measure {
            Measure::Contains => 1,
            // The size is a whole number at least min times the text's.
            Measure::Resemblance | Measure::Within => ((min * size as f64) as usize).max(1),
        };
        self.check_cancelled()?;
        let values = self.inner.preparer.sampler().all(&asked.shingles);
        let found = self.candidates(&values, least, |found, candidate| {
            let estimate = measure.estimate(found, candidate);
            measure.possible(min, size, candidate.shingles as usize)
                && estimate.value + SURE * estimate.standard_error >= min
        })?;
        let mut promises: Vec<Promise> = found
            .candidates
            .iter()
            .map(|candidate| Promise::new(candidate.row, measure.estimate(&found, candidate)))
            .collect();
        let candidates = promises.len();
        let most = MOST_RANKED.max(most_verified(limit));
        if candidates > most {
            promises.select_nth_unstable_by(most, Promise::before);
            promises.truncate(most);
        }
        promises.sort_unstable_by(Promise::before);
        let mut answer = Answer {
            shingles: size,
            common: found.ignored[0] as usize,
            candidates,
            complete: true,
            ..Answer::default()
        };
        // Of the text's shingles, those that the sketch of every document that has them keeps.
        let [.., asked_of_long] = found.asked;
        let [.., ignored_of_long] = found.ignored;
        let kept_everywhere = (asked_of_long - ignored_of_long) as usize;
        if limit > 0 {
            self.reading(|database| {
                let looked_for = (&promises[..], kept_everywhere);
                self.verify_all(database, &asked, question, looked_for, &mut answer)
            })?;
        }
        Ok(answer)
    }

    pub(super) fn asked_text<'a>(&self, text: &'a str) -> Result<AskedText<'a>, StoreError> {
        if text.len() > MOST_ASKED_BYTES {
            return Err(StoreError::TooLong { bytes: text.len(), most: MOST_ASKED_BYTES });
        }
        let (shingles, ..) = self.inner.preparer.shingles(text);
        if shingles.is_empty() {
            return Err(StoreError::NoWords);
        }
        Ok(AskedText { text, shingles })
    }

    /// Verifies candidates, the likeliest first, without those that cannot be among those shown; then, if there is room
    /// for more, those that are found by their words alone.
    fn verify_all(
        &self,
        database: &dyn Reading,
        asked: &AskedText<'_>,
        question: &Question,
        (promises, kept_everywhere): (&[Promise], usize),
        answer: &mut Answer,
    ) -> Result<(), StoreError> {
        let mut best = Best { question: *question, values: BinaryHeap::new(), matches: Vec::new() };
        // Documents with the same shingles share as much.
        let mut known: HashMap<u64, Overlap> = HashMap::new();
        let mut set = AskedSet::new(&asked.shingles);
        let mut seen: HashSet<Row> = HashSet::new();
        let mut look = |best: &mut Best, row: Row, estimate: Estimate| {
            self.check_cancelled()?;
            // Deleted since the index saw it, or seen already.
            let Some(record) = database.record(row)? else { return Ok(false) };
            if !seen.insert(row) {
                return Ok(false);
            }
            let overlap = match known.get(&record.fingerprints.shingle_set) {
                Some(&overlap) => overlap,
                None => {
                    let text = database.text(row)?;
                    let (shingles, ..) = self.inner.preparer.shingles_as_they_come(&text);
                    let overlap = set.overlap(&shingles);
                    known.insert(record.fingerprints.shingle_set, overlap);
                    overlap
                }
            };
            best.put(record, overlap, estimate);
            Ok::<bool, StoreError>(true)
        };
        for promise in promises {
            if best.is_full_above(promise.best()) {
                continue;
            }
            if answer.verified == most_verified(question.limit) {
                answer.complete = false;
                break;
            }
            answer.verified += usize::from(look(&mut best, promise.row, promise.estimate)?);
        }
        answer.complete &= best.is_full() || answer.candidates == promises.len();
        let phrases_left = PHRASES.saturating_sub(kept_everywhere);
        let short = asked.shingles.len() < SHORT_SHINGLES;
        if question.measure == Measure::Within && short && phrases_left > 0 && !best.is_full() {
            for row in self.with_the_words_of(database, asked, phrases_left)? {
                answer.verified +=
                    usize::from(look(&mut best, row, Estimate::of_share(0, 0, 0.0))?);
            }
        }
        for (record, overlap, estimate) in best.ranked() {
            let document = self.inner.stored_document(database, record)?;
            answer.matches.push(Match { document, overlap, estimate });
        }
        Ok(())
    }

    /// Documents that the search index finds by phrases of the text, and their copies.
    fn with_the_words_of(
        &self,
        database: &dyn Reading,
        asked: &AskedText<'_>,
        most_phrases: usize,
    ) -> Result<Vec<Row>, StoreError> {
        let Some(query) = phrases(asked.text, most_phrases) else { return Ok(Vec::new()) };
        let reader = self.inner.search.reader.read().expect("no one panics with it").clone();
        let Some(reader) = reader else { return Ok(Vec::new()) };
        let found = reader.search(&query, Page { offset: 0, limit: MOST_SEARCHED })?;
        let mut rows = Vec::new();
        for hit in found.hits {
            rows.push(Row(hit.row));
            rows.extend(database.family(Row(hit.row))?);
            if rows.len() >= MOST_SEARCHED_WITH_COPIES {
                break;
            }
        }
        Ok(rows)
    }
}

/// Asks for any of some phrases of a text that do not overlap; nothing for a text without one.
fn phrases(text: &str, most: usize) -> Option<Query> {
    let mut places = Vec::new();
    for_each_word_at(text, |_, place| places.push(place));
    let whole = places.len() / PHRASE_WORDS;
    let step = whole.div_ceil(most).max(1);
    let quoted: Vec<String> = places
        .chunks_exact(PHRASE_WORDS)
        .step_by(step)
        .map(|words| {
            let phrase = &text[words[0].start..words[PHRASE_WORDS - 1].end];
            format!("\"{}\"", phrase.replace('"', " "))
        })
        .collect();
    Query::parse(&quoted.join(" OR ")).ok()
}
