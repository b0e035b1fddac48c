//! Numbers of one block's text: words, marks, letters, and the words of short blocks.
//!
//! Cost: one look at each byte.

use super::blocks::Block;
use super::choose::Choice;
use super::class_words::{PROSE_BUCKETS, bucket};
use super::tree::Tree;

/// Blocks of at most this many words are looked at word by word.
pub(crate) const SHORT_WORDS: u32 = 12;

/// Calls `word_of` with the bucket of each word of a short text; CJK letters are words.
pub(crate) fn for_each_text_word(text: &str, mut word_of: impl FnMut(usize)) {
    for part in text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()) {
        if part.is_ascii() {
            // Figures are alike.
            let lower = part
                .bytes()
                .map(|b| if b.is_ascii_digit() { b'0' } else { b.to_ascii_lowercase() });
            word_of(bucket(lower));
        } else {
            for c in part.chars() {
                word_of(bucket(u32::from(c).to_le_bytes().into_iter()));
            }
        }
    }
}

/// Words of a paragraph that are looked at: what it is about is said at its beginning.
pub(crate) const PROSE_WORDS: u32 = 40;

/// Calls `word_of` with the bucket of each word of a paragraph's text, up to `left` of them; letters
/// beyond ASCII are letters of words.
pub(crate) fn for_each_prose_word(text: &str, left: &mut u32, mut word_of: impl FnMut(usize)) {
    let mut hash = 0u32;
    for b in text.bytes().chain([b' ']) {
        if b.is_ascii_alphabetic() || b >= 0x80 {
            hash = (hash ^ u32::from(b | 0x20)).wrapping_add(1).wrapping_mul(0x0100_0193);
        } else if hash != 0 {
            if *left == 0 {
                return;
            }
            *left -= 1;
            let mixed = (hash ^ (hash >> 15)).wrapping_mul(0x85eb_ca6b);
            word_of((mixed >> 19) as usize & (PROSE_BUCKETS - 1));
            hash = 0;
        }
    }
}

/// Numbers of one block's text.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TextNumbers {
    pub words: u32,
    pub commas: u32,
    pub stops: u32,
    pub digits: u32,
    pub capitals: u32,
    /// Bytes of letters beyond ASCII.
    pub wide: u32,
    pub marks: u32,
    /// Signs of money.
    pub currency: u32,
    /// Bytes of the longest run without white space.
    pub longest: u32,
    pub first: u8,
    pub last: u8,
    pub hash: u64,
}

pub(crate) fn count_text(block: &Block, tree: &Tree<'_>, choice: &Choice) -> TextNumbers {
    let mut text = TextNumbers { hash: 0xcbf2_9ce4_8422_2325, ..TextNumbers::default() };
    let mut in_word = false;
    let mut run = 0;
    for (_, part) in block.texts(tree, choice) {
        if !part.is_ascii() {
            text.currency += part.matches(['£', '€', '¥', '₩', '₹', '円', '원']).count() as u32;
        }
        for b in part.bytes() {
            let is_wide = b >= 0x80;
            if b > b' ' {
                text.hash = (text.hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
                if text.first == 0 {
                    text.first = b;
                }
                text.last = b;
            }
            run = if b > b' ' { run + 1 } else { 0 };
            text.longest = text.longest.max(run);
            let is_letter = is_wide || b.is_ascii_alphanumeric();
            text.words += u32::from(is_letter && !in_word);
            in_word = is_letter;
            text.wide += u32::from(is_wide);
            text.digits += u32::from(b.is_ascii_digit());
            text.capitals += u32::from(b.is_ascii_uppercase());
            text.commas += u32::from(b == b',');
            text.stops += u32::from(matches!(b, b'.' | b'!' | b'?'));
            text.currency += u32::from(b == b'$');
            text.marks += u32::from(matches!(b, b'|' | b'$' | b'/' | b'#' | b'@' | b'+' | b'*'));
        }
    }
    // Letters of three bytes: about one word each of those that scripts without spaces use.
    text.words = text.words.max(text.wide / 6);
    text
}

pub(crate) fn letter_sort(b: u8) -> u8 {
    match b {
        0 => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        b'0'..=b'9' => 3,
        b'.' => 4,
        b'!' | b'?' => 5,
        b':' => 6,
        b',' | b';' => 7,
        b')' | b']' | b'"' | b'\'' => 8,
        0x80.. => 9,
        _ => 10,
    }
}
