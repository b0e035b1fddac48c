//! Units: what is searched for, the words of the normal form cut once more.
//!
//! A word of Latin, Cyrillic, digits and so on is one unit. A word of Hangul, and a run of Han or kana
//! characters that stand next to each other in the text, is a *run*: each character is a unit, and units
//! of one run are *joined*. Where Hangul meets other letters inside a word, the word is cut: `한글ABC`
//! is the run `한글` and the unit `abc`, and both find it.
//!
//! **What matches.** A query's word or phrase is a sequence of units, and matches where the text has the
//! same units one after another and joined at the same places. Nothing is asked of the two ends, so
//! a query of Hangul, Han or kana is found inside longer runs: `한국` and `국어` find `한국어를`, `집`
//! finds `우리집`, and the phrase `"우리 집"` finds `우리 집에` but not `우리집`. Other words are whole:
//! `cat` does not find `cats`.
//!
//! Why not words for Korean: its words carry particles, so whole words would miss most of what is
//! meant, and cutting them right needs a dictionary. Characters that follow each other are a good stand-in,
//! need no dictionary, and serve Chinese and Japanese alike.
//!
//! Words longer than [`UNIT_BYTES_MAX`] count by their beginning: they are data rather than words.
//!
//! Cost: one pass of `wonbon-text` and a look at the first bytes of each word; no allocation per unit.

use std::ops::Range;

use wonbon_text::words::for_each_word_at;

/// What of a longer word counts.
pub const UNIT_BYTES_MAX: usize = 255;

/// One unit of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit<'a> {
    /// The unit in normal form: one character of a run, or a word.
    pub text: &'a str,
    /// Whether it is a character of Hangul, Han or kana.
    pub in_run: bool,
    /// Whether it goes on with the run of the unit before it.
    pub joined: bool,
    /// The word it stands in, in normal form.
    pub word: &'a str,
    /// Where it stands in that word, in bytes.
    pub at: usize,
    /// Where that word stands in the text, in bytes.
    pub place: Range<usize>,
}

/// Calls `each` with every unit of `text`, in order.
///
/// Characters that come out of one normalised run of text (`㌔` gives `キ` and `ロ`) count as neighbours.
///
/// ```
/// let mut units = Vec::new();
/// wonbon_search::units::for_each_unit("漢字와 ABC", |unit| units.push((unit.text.to_owned(), unit.joined)));
/// let expected = [("漢", false), ("字", true), ("와", false), ("abc", false)];
/// assert_eq!(units, expected.map(|(unit, joined)| (unit.to_owned(), joined)));
/// ```
#[inline]
pub fn for_each_unit(text: &str, mut each: impl FnMut(Unit<'_>)) {
    // Where the last word ended, if it was a Han or kana character.
    let mut open = None;
    for_each_word_at(text, |word, place| {
        if word.is_ascii() {
            open = None;
            let text = &word[..word.len().min(UNIT_BYTES_MAX)];
            each(Unit { text, in_run: false, joined: false, word, at: 0, place });
            return;
        }
        let first = word.chars().next().expect("no word is empty");
        if is_han_or_kana(first) {
            let joined = open.is_some_and(|end| place.start <= end);
            open = Some(place.end);
            each(Unit { text: word, in_run: true, joined, word, at: 0, place });
            return;
        }
        open = None;
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let hangul = is_hangul(first);
            let length = rest.find(|c| is_hangul(c) != hangul).unwrap_or(rest.len());
            let (part, behind) = rest.split_at(length);
            let start = word.len() - rest.len();
            if hangul {
                for (at, character) in part.char_indices() {
                    let text = &part[at..at + character.len_utf8()];
                    let (joined, at, place) = (at > 0, start + at, place.clone());
                    each(Unit { text, in_run: true, joined, word, at, place });
                }
            } else {
                let text = beginning(part);
                each(Unit {
                    text,
                    in_run: false,
                    joined: false,
                    word,
                    at: start,
                    place: place.clone(),
                });
            }
            rest = behind;
        }
    });
}

/// What counts of a word.
fn beginning(word: &str) -> &str {
    let mut end = word.len().min(UNIT_BYTES_MAX);
    while !word.is_char_boundary(end) {
        end -= 1;
    }
    &word[..end]
}

/// Whether a character of the normal form is Hangul: syllables and conjoining jamo.
fn is_hangul(c: char) -> bool {
    matches!(c, '가'..='\u{D7FF}' | '\u{1100}'..='\u{11FF}' | '\u{A960}'..='\u{A97F}')
}

/// Whether a character of the normal form is a word of its own; a test holds it to what `wonbon-text`
/// does with every character there is.
fn is_han_or_kana(c: char) -> bool {
    matches!(c,
        '\u{4E00}'..='\u{9FFF}' | '\u{3041}'..='\u{309F}' | '\u{30A0}'..='\u{30FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}'
        | '\u{3031}'..='\u{3035}' | '\u{3038}'..='\u{303C}' | '\u{31F0}'..='\u{31FF}'
        | '\u{2E80}'..='\u{2FD5}' | '\u{F900}'..='\u{FAFF}' | '\u{16FE3}'
        | '\u{16FF0}'..='\u{16FF6}' | '\u{1AFF0}'..='\u{1B16F}' | '\u{20000}'..='\u{3FFFD}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(text: &str) -> Vec<(String, bool, bool)> {
        let mut units = Vec::new();
        for_each_unit(text, |unit| units.push((unit.text.to_owned(), unit.in_run, unit.joined)));
        units
    }

    #[test]
    fn han_and_kana_are_what_the_normal_form_takes_for_words_of_their_own() {
        for c in ('\0'..=char::MAX).filter(|c| c.is_alphanumeric()) {
            let doubled: String = [c, c].iter().collect();
            let mut words = Vec::new();
            wonbon_text::words::for_each_word(&doubled, |word| words.push(word.to_owned()));
            if words.len() == 1 && words[0] == doubled {
                assert!(!is_han_or_kana(c), "{c:?} joins into words");
            }
            if words.len() == 2 && words.iter().all(|word| word.chars().eq([c])) {
                assert!(is_han_or_kana(c), "{c:?} is a word of its own");
            }
        }
    }

    #[test]
    fn a_word_is_cut_where_hangul_meets_other_letters() {
        let expected = [
            ("b", false, false),
            ("형", true, false),
            ("간", true, true),
            ("2024", false, false),
            ("년", true, false),
        ];
        assert_eq!(units("B형간 2024년"), expected.map(|(t, r, j)| (t.to_owned(), r, j)));
    }

    #[test]
    fn han_characters_join_only_when_adjacent() {
        let expected =
            [("漢", true, false), ("字", true, true), ("本", true, false), ("ア", true, true)];
        assert_eq!(units("漢字。本ア"), expected.map(|(t, r, j)| (t.to_owned(), r, j)));
    }

    #[test]
    fn characters_out_of_one_character_join() {
        let expected = [("キ", true, false), ("ロ", true, true)];
        assert_eq!(units("㌔"), expected.map(|(t, r, j)| (t.to_owned(), r, j)));
    }

    #[test]
    fn a_long_word_counts_by_its_beginning() {
        let long = "é".repeat(200);
        let unit = &units(&long)[0].0;
        assert_eq!(unit.len(), UNIT_BYTES_MAX - 1);
        assert!(long.starts_with(unit.as_str()));
    }
}
