//! The words of the program that made the published truth files.
//!
//! It differs from ours in two ways: it does not apply NFKC, and a run of letters that holds any Han or
//! kana character is cut into characters as a whole, Hangul and digits included (`韓민족` is three words
//! there, two here). A difference from a truth file is explained when its value comes out with these
//! words, and one of the texts is cut differently by them.

use std::num::NonZeroUsize;

use wonbon_sketch::ElementSet;

use crate::text::{is_han_or_kana, slow_shingles, slow_words};

/// The words of a text as that program cuts them.
#[must_use]
pub fn truth_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for run in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|r| !r.is_empty()) {
        if run.chars().any(is_han_or_kana) {
            words.extend(run.chars().map(String::from));
        } else {
            words.push(run.to_owned());
        }
    }
    words
}

/// The shingles of a text as that program makes them.
#[must_use]
pub fn truth_shingles(text: &str, shingle_words: NonZeroUsize) -> ElementSet {
    ElementSet::new(slow_shingles(&truth_words(text), shingle_words))
}

/// Whether that program finds other words in a text than we do.
#[must_use]
pub fn is_cut_differently(text: &str) -> bool {
    truth_words(text) != slow_words(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_mixed_runs_and_compatibility_characters_are_cut_differently() {
        for text in ["plain words, 2 of them", "한국 사람 韓國", "漢字 kana かな"] {
            assert!(!is_cut_differently(text), "{text}");
        }
        for text in ["韓민족", "第25部", "ﬁne", "①"] {
            assert!(is_cut_differently(text), "{text}");
        }
    }
}
