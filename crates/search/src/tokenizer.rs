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
//! Nearly all of the time goes into the engine's table of terms, which outgrows the caches near the core.
//! Handing over the occurrences of a term in one document together was tried and was no faster.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::units::for_each_unit;

/// The name under which the schema knows the tokenizer of title and text.
pub(crate) const WORDS: &str = "wonbon_words";

/// Terms of title and text.
#[derive(Clone, Default)]
pub(crate) struct WordTokenizer {
    token: Token,
}

pub(crate) struct WordStream<'a> {
    text: &'a str,
    token: &'a mut Token,
    /// Terms for whoever asks one at a time; the indexer does not.
    listed: Option<std::vec::IntoIter<(usize, String)>>,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        WordStream { text, token: &mut self.token, listed: None }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let text = self.text;
        let listed = self.listed.get_or_insert_with(|| {
            let mut terms = Vec::new();
            for_each_term(text, |term, position| terms.push((position, term.to_owned())));
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

    /// The indexer's road: terms go straight from the text to the sink, through one token.
    fn process(&mut self, sink: &mut dyn FnMut(&Token)) {
        for_each_term(self.text, |term, position| {
            self.token.text.clear();
            self.token.text.push_str(term);
            self.token.position = position;
            sink(self.token);
        });
    }
}

/// Calls `each` with every term of a text and its position, in order.
#[inline]
fn for_each_term(text: &str, mut each: impl FnMut(&str, usize)) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<(usize, String)> {
        let mut terms = Vec::new();
        let mut tokenizer = WordTokenizer::default();
        tokenizer.token_stream(text).process(&mut |token| {
            terms.push((token.position, token.text.clone()));
        });
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
        let text = "한국어B 漢字, 물 the END カ the b 한국 ";
        let mut tokenizer = WordTokenizer::default();
        let mut stream = tokenizer.token_stream(text);
        let mut listed = Vec::new();
        while let Some(token) = stream.next() {
            listed.push((token.position, token.text.clone()));
        }
        assert_eq!(listed, terms(text));
    }
}
