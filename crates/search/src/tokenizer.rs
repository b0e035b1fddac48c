//! Terms: what the units of a text are called in the index.
//!
//! A word is its own term. In a run every character starts one term: the bigram of it and the next, or
//! at the end of the run the character alone. So each unit has exactly one term at its position, and
//! - a run of two or more characters is found by a phrase of its bigrams,
//! - a single character by all terms that start with it, wherever it stands in a run,
//! - the end of a run, which matters inside phrases of several words, by the character alone.
//!
//! Cost: as many terms as units. The terms at the ends of runs are a third of all in Korean text; bigrams
//! alone would save their postings and lose single characters at the ends of words, and phrases
//! could no longer tell where a word ends.
//!
//! Why terms are grouped: for every occurrence the engine looks its term up in a table that is larger
//! than the caches near the core, and that is nearly all that indexing costs. So the occurrences of a term in
//! one document are handed over one after another; four in ten then find everything at hand.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::units::for_each_unit;

/// The name under which the schema knows the tokenizer of title and text.
pub(crate) const WORDS: &str = "wonbon_words";

/// Terms of title and text.
#[derive(Clone, Default)]
pub(crate) struct WordTokenizer {
    token: Token,
    groups: Groups,
}

pub(crate) struct WordStream<'a> {
    text: &'a str,
    token: &'a mut Token,
    groups: &'a mut Groups,
    /// Terms for whoever asks one at a time; the indexer does not.
    listed: Option<std::vec::IntoIter<(usize, String)>>,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        WordStream { text, token: &mut self.token, groups: &mut self.groups, listed: None }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let text = self.text;
        let listed = self.listed.get_or_insert_with(|| {
            let mut terms = Vec::new();
            for_each_term(text, |term, position| terms.push((position as usize, term.to_owned())));
            terms.into_iter()
        });
        match listed.next() {
            Some((position, text)) => {
                self.token.position = position;
                self.token.text = text;
                true
            }
            None => false,
        }
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }

    /// The indexer's road: terms go from the text to the sink through one token, in groups. Positions of
    /// one term ascend, which is all that the indexer asks for.
    fn process(&mut self, sink: &mut dyn FnMut(&Token)) {
        for_each_term(self.text, |term, position| {
            if self.groups.is_full() {
                self.groups.empty(self.token, sink);
            }
            self.groups.add(term, position);
        });
        self.groups.empty(self.token, sink);
    }
}

/// Calls `each` with every term of a text and its position, in order.
#[inline]
fn for_each_term(text: &str, mut each: impl FnMut(&str, u32)) {
    // The last character of a run that may go on: it has no term yet.
    let mut open = String::with_capacity(8);
    let mut position = 0;
    for_each_unit(text, |unit| {
        if unit.joined {
            if let Some(start) = unit.at.checked_sub(open.len()) {
                each(&unit.word[start..unit.at + unit.text.len()], position - 1);
                open.clear();
            } else {
                let length = open.len();
                open.push_str(unit.text);
                each(&open, position - 1);
                open.drain(..length);
                position += 1;
                return;
            }
        } else if !open.is_empty() {
            each(&open, position - 1);
            open.clear();
        }
        if unit.in_run {
            open.push_str(unit.text);
        } else {
            each(unit.text, position);
        }
        position += 1;
    });
    if !open.is_empty() {
        each(&open, position - 1);
    }
}

/// So many occurrences are grouped at a time: whole documents mostly, and no more than a near cache holds.
const GROUPED: usize = 1 << 12;
const SLOTS: usize = 2 * GROUPED;
const NONE: u16 = u16::MAX;

/// Occurrences by term.
#[derive(Clone, Default)]
struct Groups {
    /// The terms, one behind the other.
    text: String,
    terms: Vec<Group>,
    occurrences: Vec<Occurrence>,
    /// Numbers of terms by hash; open addressing, at most half full.
    slots: Vec<u16>,
}

#[derive(Clone, Copy)]
struct Group {
    start: u32,
    end: u32,
    first: u16,
    last: u16,
}

#[derive(Clone, Copy)]
struct Occurrence {
    position: u32,
    next: u16,
}

impl Groups {
    fn is_full(&self) -> bool {
        self.occurrences.len() == GROUPED
    }

    #[inline]
    fn add(&mut self, term: &str, position: u32) {
        if self.slots.is_empty() {
            self.slots.resize(SLOTS, NONE);
        }
        let occurrence = self.occurrences.len() as u16;
        self.occurrences.push(Occurrence { position, next: NONE });
        let mut slot = hash(term.as_bytes()) as usize % SLOTS;
        loop {
            let number = self.slots[slot];
            if number == NONE {
                self.slots[slot] = self.terms.len() as u16;
                let start = self.text.len() as u32;
                self.text.push_str(term);
                let end = self.text.len() as u32;
                self.terms.push(Group { start, end, first: occurrence, last: occurrence });
                return;
            }
            let group = &mut self.terms[number as usize];
            if &self.text[group.start as usize..group.end as usize] == term {
                self.occurrences[group.last as usize].next = occurrence;
                group.last = occurrence;
                return;
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    /// Hands everything over.
    fn empty(&mut self, token: &mut Token, sink: &mut dyn FnMut(&Token)) {
        if self.terms.is_empty() {
            return;
        }
        for group in &self.terms {
            token.text.clear();
            token.text.push_str(&self.text[group.start as usize..group.end as usize]);
            let mut next = group.first;
            while next != NONE {
                let occurrence = self.occurrences[next as usize];
                token.position = occurrence.position as usize;
                sink(token);
                next = occurrence.next;
            }
        }
        self.text.clear();
        self.terms.clear();
        self.occurrences.clear();
        self.slots.fill(NONE);
    }
}

/// A hash of the length and the first and last eight bytes: enough to tell the words of a text apart.
#[inline]
fn hash(term: &[u8]) -> u64 {
    let (first, last) = match (term.first_chunk::<8>(), term.last_chunk::<8>()) {
        (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => match (term.first_chunk::<4>(), term.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)))
            }
            _ => (term.iter().fold(0, |sum, &byte| (sum << 8) | u64::from(byte)), 0),
        },
    };
    let mixed =
        (first ^ last.rotate_left(32) ^ term.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed >> 40
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<(usize, String)> {
        let mut terms = Vec::new();
        let mut tokenizer = WordTokenizer::default();
        tokenizer.token_stream(text).process(&mut |token| {
            terms.push((token.position, token.text.clone()));
        });
        terms.sort();
        terms
    }

    #[test]
    fn every_unit_has_one_term_at_its_position() {
        let expected =
            ["한국", "국어", "어", "b", "漢字", "字", "물", "the", "end"].map(str::to_owned);
        let expected: Vec<_> = expected.into_iter().enumerate().collect();
        assert_eq!(terms("한국어B 漢字, 물 the END"), expected);
    }

    #[test]
    fn one_at_a_time_gives_the_same_terms() {
        let text = "한국어B 漢字, 물 the END カ the b 한국 ".repeat(1_000);
        let text = text.as_str();
        let mut tokenizer = WordTokenizer::default();
        let mut stream = tokenizer.token_stream(text);
        let mut listed = Vec::new();
        while let Some(token) = stream.next() {
            listed.push((token.position, token.text.clone()));
        }
        assert!(listed.len() > 2 * GROUPED);
        assert_eq!(listed, terms(text));
    }

    #[test]
    fn positions_of_a_term_ascend() {
        let mut last = std::collections::HashMap::new();
        let mut tokenizer = WordTokenizer::default();
        let text = "a b a 가나 가나다 a ".repeat(2_000);
        tokenizer.token_stream(&text).process(&mut |token| {
            let before = last.insert(token.text.clone(), token.position);
            assert!(before < Some(token.position), "{}", token.text);
        });
    }
}
