//! Which stored documents together explain a text: where it was taken from.
//!
//! A document explains a word if it has a shingle that contains the word. The document that explains most words is taken
//! first, then the one that explains most of the remaining words, and so on. This greedy cover needs at most ln n times as
//! many documents as the smallest one. Words that no document explains are reported too.
//!
//! Cost: one question ([`Store::ask`]); then one pass over the words for each document that is taken.

use std::collections::HashMap;
use std::ops::Range;

use wonbon_index::Row;
use wonbon_text::shingles::shingles;
use wonbon_text::words::for_each_word_at;

use super::ask::AskedText;
use crate::asked_set::AskedSet;
use crate::document::StoredDocument;
use crate::error::StoreError;
use crate::store::Store;
use crate::tables::Record;

/// How many documents are considered.
const MOST_LOOKED_AT: usize = 400;

/// Which sources are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourcesQuestion {
    /// How many documents are named at most.
    pub limit: usize,
    /// A document is named if it explains at least this many words that no other one did.
    pub least_words: usize,
    /// A document that does not count: the text's own.
    pub except: Option<Row>,
}

impl Default for SourcesQuestion {
    fn default() -> Self {
        SourcesQuestion { limit: 20, least_words: 8, except: None }
    }
}

/// Words of the text that stand in a source too, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePassage {
    /// Which words of the text.
    pub words: Range<usize>,
    /// Where they stand in the text, in bytes.
    pub place: Range<usize>,
    /// Where they stand in the source, in bytes.
    pub source_place: Range<usize>,
}

/// A document that explains part of the text.
#[derive(Debug, Clone)]
pub struct Source {
    /// The document.
    pub document: StoredDocument,
    /// What it explains that none before it did.
    pub passages: Vec<SourcePassage>,
    /// How many words these are.
    pub words: usize,
    /// How many words it explains, whether others do or not.
    pub words_in_all: usize,
}

/// Part of the text that nothing explains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unexplained {
    /// Which words of the text.
    pub words: Range<usize>,
    /// Where they stand in the text, in bytes.
    pub place: Range<usize>,
}

/// Where a text comes from.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The one that explains most first.
    pub sources: Vec<Source>,
    /// What is left.
    pub unexplained: Vec<Unexplained>,
    /// How many words the text has.
    pub words: usize,
    /// How many of them are explained.
    pub explained: usize,
}

/// A document that may be a source, and which words it explains.
struct Candidate {
    record: Record,
    explains: Vec<bool>,
}

impl Store {
    /// The fewest stored documents that together cover a text, greedily.
    ///
    /// # Errors
    ///
    /// As [`Store::ask`].
    pub fn sources(&self, text: &str, question: &SourcesQuestion) -> Result<Sources, StoreError> {
        let asked = self.asked_text(text)?;
        let width = self.inner.preparer.shingle_words();
        let mut places = Vec::new();
        for_each_word_at(text, |_, place| places.push(place));
        let in_order = shingles(text, width);
        // A text shorter than a shingle is one.
        let width = width.get().min(places.len());
        let (rows, _) = self.promising_documents(&asked, question.except)?;
        self.reading(|database| {
            let mut candidates = Vec::new();
            let mut set = AskedSet::new(&asked.shingles);
            for row in rows {
                self.check_cancelled()?;
                let Some(record) = database.record(row)? else { continue };
                let text = database.text(row)?;
                set.overlap(&self.inner.preparer.shingles_as_they_come(&text).0);
                let mut explains = vec![false; places.len()];
                for (at, shingle) in in_order.iter().enumerate() {
                    if set.last_has(*shingle) {
                        explains[at..at + width].fill(true);
                    }
                }
                candidates.push(Candidate { record, explains });
            }
            // Of those that explain as much, the earliest is the likelier source.
            candidates.sort_by_key(|candidate| candidate.record.order());
            let mut open = vec![true; places.len()];
            let mut answer = Sources { words: places.len(), ..Sources::default() };
            while answer.sources.len() < question.limit {
                self.check_cancelled()?;
                let gain = |candidate: &Candidate| {
                    candidate.explains.iter().zip(&open).filter(|(a, b)| **a && **b).count()
                };
                let gains = candidates.iter().map(gain).enumerate();
                // The last of the largest when looked at backwards is the first.
                let Some((best, words)) = gains.rev().max_by_key(|(_, words)| *words) else {
                    break;
                };
                if words < question.least_words.max(1) {
                    break;
                }
                let Candidate { record, explains } = candidates.remove(best);
                let document = self.inner.stored_document(database, record)?;
                let fresh: Vec<bool> =
                    explains.iter().zip(&open).map(|(explains, open)| *explains && *open).collect();
                let passages = passages(&fresh, &in_order, width, &places, &document.text, self);
                for (open, explains) in open.iter_mut().zip(&explains) {
                    *open &= !explains;
                }
                answer.explained += words;
                let words_in_all = explains.iter().filter(|explains| **explains).count();
                answer.sources.push(Source { document, passages, words, words_in_all });
            }
            answer.unexplained = runs(&open)
                .map(|words| Unexplained { place: place(&places, &words), words })
                .collect();
            Ok(answer)
        })
    }

    /// The documents that share most with the text, and whether these are all that share something.
    pub(super) fn promising_documents(
        &self,
        asked: &AskedText<'_>,
        except: Option<Row>,
    ) -> Result<(Vec<Row>, bool), StoreError> {
        let values = self.inner.preparer.sampler().all(&asked.shingles);
        let found = self.candidates(&values, 1, |_, candidate| Some(candidate.row) != except)?;
        let mut ranked: Vec<(u64, Row)> = found
            .candidates
            .iter()
            .map(|candidate| {
                let level = wonbon_index::shingles::level_of(candidate.shingles as usize);
                (u64::from(candidate.shared) << level, candidate.row)
            })
            .collect();
        ranked.sort_unstable_by_key(|&(shared, row)| (std::cmp::Reverse(shared), row));
        let all = ranked.len() <= MOST_LOOKED_AT;
        ranked.truncate(MOST_LOOKED_AT);
        Ok((ranked.into_iter().map(|(_, row)| row).collect(), all))
    }
}

/// Maximal runs of what is true.
fn runs(marks: &[bool]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    marks.chunk_by(|a, b| a == b).filter_map(move |run| {
        let words = at..at + run.len();
        at = words.end;
        run[0].then_some(words)
    })
}

fn place(places: &[Range<usize>], words: &Range<usize>) -> Range<usize> {
    places[words.start].start..places[words.end - 1].end
}

/// The runs of words that a source explains, cut where the source continues at another place.
fn passages(
    fresh: &[bool],
    in_order: &[u64],
    width: usize,
    places: &[Range<usize>],
    source: &str,
    store: &Store,
) -> Vec<SourcePassage> {
    let source_shingles = shingles(source, store.inner.preparer.shingle_words());
    let mut source_places = Vec::new();
    for_each_word_at(source, |_, place| source_places.push(place));
    let mut first: HashMap<u64, usize> = HashMap::new();
    for (at, &shingle) in source_shingles.iter().enumerate() {
        first.entry(shingle).or_insert(at);
    }
    let mut passages: Vec<SourcePassage> = Vec::new();
    for run in runs(fresh) {
        // From the first word of the run on: the shingle that covers it says where it stands.
        let mut word = run.start;
        while word < run.end {
            let covering = (word + 1).saturating_sub(width)..=word.min(in_order.len() - 1);
            let Some((start, at)) =
                covering.rev().find_map(|start| Some((start, *first.get(&in_order[start])?)))
            else {
                break;
            };
            // As long as text and source go on alike.
            let mut same = 1;
            while in_order.get(start + same).is_some()
                && in_order.get(start + same) == source_shingles.get(at + same)
            {
                same += 1;
            }
            let end = (start + same - 1 + width).min(run.end);
            let from = at + (word - start);
            let source_words = from..(from + end - word).min(source_places.len());
            passages.push(SourcePassage {
                place: place(places, &(word..end)),
                source_place: place(&source_places, &source_words),
                words: word..end,
            });
            word = end;
        }
    }
    passages
}
