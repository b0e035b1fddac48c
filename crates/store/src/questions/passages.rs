//! Which passages of a text stand in stored documents, run by run.
//!
//! A stored passage is a run of at least `N` words that the text and a stored document have in common and that neither the
//! word before nor the word behind makes longer in both. Runs of several documents over the same words of the text are one passage
//! with several places; a shorter run inside a longer one is a passage of its own.
//!
//! Documents come from the index of sampled shingles, and words are compared: what is told is there, but a document of which
//! no sampled shingle lies in the text is not looked at. The 400 documents are looked at that share most
//! with it; the answer says whether there were more.
//!
//! Cost: one question ([`Store::ask`]), then one walk over the words of each document.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use wonbon_index::Row;
use wonbon_text::words::for_each_word_at;

use crate::document::StoredDocument;
use crate::error::StoreError;
use crate::store::Store;

/// The most runs of one document: a text of one word repeated has as many as the product of both lengths.
const MOST_RUNS: usize = 10_000;

/// Which passages are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassagesQuestion {
    /// The least words of a passage; at least 1.
    pub words: usize,
    /// How many documents are named at most: those with most words of the text first.
    pub limit: usize,
    /// A document that does not count: the text's own.
    pub except: Option<Row>,
}

/// A run of words of the text that stored documents have too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPassage {
    /// Which words of the text.
    pub words: Range<usize>,
    /// Where they stand in the text, in bytes.
    pub place: Range<usize>,
    /// The documents that have them, by their numbers in the answer, and where, in bytes.
    pub places: Vec<(usize, Range<usize>)>,
}

/// What of a text stands in stored documents.
#[derive(Debug, Clone, Default)]
pub struct StoredPassages {
    /// In the order of the text; of those that begin at one word the longest first.
    pub passages: Vec<StoredPassage>,
    /// The documents that have some, that with most words of the text first.
    pub documents: Vec<StoredDocument>,
    /// How many words the text has.
    pub words: usize,
    /// How many of them stand in a passage.
    pub repeated: usize,
    /// Whether all candidates were looked at.
    pub complete: bool,
}

/// A text as words in normal form.
#[derive(Debug, Default)]
struct Words {
    normal: String,
    /// Where each word stands in the normal form and in the text.
    words: Vec<(Range<usize>, Range<usize>)>,
}

impl Words {
    fn of(text: &str) -> Self {
        let mut words = Words::default();
        for_each_word_at(text, |word, place| {
            let start = words.normal.len();
            words.normal.push_str(word);
            words.words.push((start..words.normal.len(), place));
        });
        words
    }

    fn len(&self) -> usize {
        self.words.len()
    }

    fn word(&self, number: usize) -> Option<&str> {
        self.words.get(number).map(|(normal, _)| &self.normal[normal.clone()])
    }

    fn window(&self, start: usize, length: usize) -> Option<Vec<&str>> {
        (start..start + length).map(|number| self.word(number)).collect()
    }

    fn place(&self, words: &Range<usize>) -> Range<usize> {
        self.words[words.start].1.start..self.words[words.end - 1].1.end
    }
}

/// The maximal runs of at least `least` words that both have, as words of the text and the first word in the document.
fn common_runs(
    text: &Words,
    windows: &HashMap<Vec<&str>, Vec<usize>>,
    document: &Words,
    least: usize,
) -> Vec<(Range<usize>, usize)> {
    let mut runs = Vec::new();
    for there in 0..(document.len() + 1).saturating_sub(least) {
        let window = document.window(there, least);
        for &here in window.and_then(|window| windows.get(&window)).into_iter().flatten() {
            let before = |words: &Words, at: usize| {
                at.checked_sub(1).and_then(|at| words.word(at).map(str::to_owned))
            };
            let left = before(text, here);
            if left.is_some() && left == before(document, there) {
                continue;
            }
            let mut length = least;
            while let Some(word) = text.word(here + length)
                && document.word(there + length) == Some(word)
            {
                length += 1;
            }
            runs.push((here..here + length, there));
            if runs.len() == MOST_RUNS {
                return runs;
            }
        }
    }
    runs
}

impl Store {
    /// The passages of a text that stand in stored documents.
    ///
    /// # Errors
    ///
    /// As [`Store::ask`].
    pub fn passages(
        &self,
        text: &str,
        question: &PassagesQuestion,
    ) -> Result<StoredPassages, StoreError> {
        let asked = self.asked_text(text)?;
        let least = question.words.max(1);
        let own = Words::of(text);
        let mut windows: HashMap<Vec<&str>, Vec<usize>> = HashMap::new();
        for start in 0..(own.len() + 1).saturating_sub(least) {
            if let Some(window) = own.window(start, least) {
                windows.entry(window).or_default().push(start);
            }
        }
        let (rows, complete) = self.promising_documents(&asked, question.except)?;
        let mut answer = StoredPassages { words: own.len(), complete, ..StoredPassages::default() };
        if windows.is_empty() {
            return Ok(answer);
        }
        self.reading(|database| {
            let mut found = Vec::new();
            for row in rows {
                let Some(record) = database.record(row)? else { continue };
                let document = Words::of(&database.text(row)?);
                let runs: Vec<_> = common_runs(&own, &windows, &document, least)
                    .into_iter()
                    .map(|(words, there)| {
                        let place = document.place(&(there..there + words.len()));
                        (words, place)
                    })
                    .collect();
                if !runs.is_empty() {
                    let mut covered = vec![false; own.len()];
                    runs.iter().for_each(|(words, _)| covered[words.clone()].fill(true));
                    let covered = covered.into_iter().filter(|covered| *covered).count();
                    found.push((covered, record, runs));
                }
            }
            // Of those that have as much, the earliest is the likelier source.
            found.sort_by_key(|(covered, record, _)| (std::cmp::Reverse(*covered), record.order()));
            found.truncate(question.limit);
            let mut passages: BTreeMap<(usize, std::cmp::Reverse<usize>), StoredPassage> =
                BTreeMap::new();
            let mut repeated = vec![false; own.len()];
            for (number, (_, record, runs)) in found.into_iter().enumerate() {
                for (words, place) in runs {
                    repeated[words.clone()].fill(true);
                    let key = (words.start, std::cmp::Reverse(words.end));
                    let passage = passages.entry(key).or_insert_with(|| StoredPassage {
                        place: own.place(&words),
                        words,
                        places: Vec::new(),
                    });
                    passage.places.push((number, place));
                }
                answer.documents.push(self.inner.stored_document(database, record)?);
            }
            answer.passages = passages.into_values().collect();
            answer.repeated = repeated.into_iter().filter(|repeated| *repeated).count();
            Ok(answer)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By trying every run of words of both.
    fn slow_runs(text: &Words, document: &Words, least: usize) -> Vec<(Range<usize>, usize)> {
        let mut runs = Vec::new();
        for there in 0..document.len() {
            for here in 0..text.len() {
                let same = |at: usize| {
                    text.word(here + at).is_some()
                        && text.word(here + at) == document.word(there + at)
                };
                let goes_back =
                    here > 0 && there > 0 && text.word(here - 1) == document.word(there - 1);
                let length = (0..).take_while(|&at| same(at)).count();
                if length >= least && !goes_back {
                    runs.push((here..here + length, there));
                }
            }
        }
        runs
    }

    proptest! {
        #[test]
        fn runs_are_those_that_one_finds_by_trying(
            text in "[ab漢 .]{0,60}",
            document in "[ab漢 .]{0,60}",
            least in 1_usize..6,
        ) {
            let (text, document) = (Words::of(&text), Words::of(&document));
            let mut windows: HashMap<Vec<&str>, Vec<usize>> = HashMap::new();
            for start in 0..text.len() {
                if let Some(window) = text.window(start, least) {
                    windows.entry(window).or_default().push(start);
                }
            }
            let found = common_runs(&text, &windows, &document, least);
            prop_assert_eq!(found, slow_runs(&text, &document, least));
        }
    }
}
