//! Words and shingles by their definition.

use std::num::NonZeroUsize;

use unicode_normalization::UnicodeNormalization;
use unicode_script::{Script, UnicodeScript};

/// The words of a text: normalise all of it, lower-case all of it, normalise again, then cut.
#[must_use]
pub fn slow_words(text: &str) -> Vec<String> {
    let lower = text.nfkc().collect::<String>().to_lowercase().replace('ς', "σ");
    let normal: String = lower.nfkc().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for c in normal.chars() {
        let own = c.is_alphanumeric() && is_han_or_kana(c);
        if (own || !c.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if own {
            words.push(c.to_string());
        } else if c.is_alphanumeric() {
            word.push(c);
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Han and kana by the Unicode script property, with the marks shared by the two scripts.
#[must_use]
pub fn is_han_or_kana(c: char) -> bool {
    matches!(c.script(), Script::Han | Script::Hiragana | Script::Katakana)
        || "\u{3006}\u{3031}\u{3032}\u{3033}\u{3034}\u{3035}\u{303C}\u{30FC}".contains(c)
}

/// The shingles of a text, each as its list of words: every window, or all words of a shorter text.
#[must_use]
pub fn slow_shingle_lists(words: &[String], shingle_words: NonZeroUsize) -> Vec<Vec<String>> {
    match words.len() {
        0 => Vec::new(),
        n if n < shingle_words.get() => vec![words.to_vec()],
        _ => words.windows(shingle_words.get()).map(<[String]>::to_vec).collect(),
    }
}

/// The shingle hashes of a text, each hashed on its own.
#[must_use]
pub fn slow_shingles(words: &[String], shingle_words: NonZeroUsize) -> Vec<u64> {
    slow_shingle_lists(words, shingle_words)
        .iter()
        .map(|shingle| wonbon_text::shingles::shingle_hash(shingle.iter().map(String::as_str)))
        .collect()
}
