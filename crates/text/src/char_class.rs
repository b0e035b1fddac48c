//! What a single character does to the words around it.
//!
//! Why a table: the normal form is NFKC plus lower case, and asking a normalisation library about
//! every character of a Korean or Chinese text would cost more than everything else together.
//! Nearly every character can be judged alone: it separates words, it stands in a word as one
//! (lower-cased, compatibility-mapped) character, or it is a Han or kana character and so a word of
//! its own. The few that act on their neighbours (combining marks, conjoining jamo) or expand to
//! several characters are [`CharClass::Slow`], and the word they stand in takes the slow road.
//!
//! Cost: one load once a block of 256 characters has been used; filling a block asks the
//! normalisation tables 256 times, about 30 microseconds, when a text first needs it. Nothing is
//! generated at build time, so the table can never disagree with the library it is made from.

use std::sync::OnceLock;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// How one character behaves, when its neighbours do not act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CharClass {
    /// Not part of any word.
    Separator,
    /// Stands in a word as this character.
    Word(char),
    /// A word of its own, as this character.
    Single(char),
    /// Only a normalisation of the whole word can tell.
    Slow,
}

/// Whether a character that counts as a letter or digit is a word of its own: Han and kana.
///
/// The ranges are the Han script, the iteration and prolonged-sound marks that stand among Han and
/// kana, and the kana blocks, as of Unicode 17. Compatibility forms need no entry: NFKC has
/// replaced them before this is asked.
pub(crate) fn is_han_or_kana(c: char) -> bool {
    matches!(c,
        '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}'
        | '\u{3038}'..='\u{303C}'
        | '\u{3041}'..='\u{309F}' | '\u{30A0}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}'
        | '\u{2E80}'..='\u{2FD5}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{16FE3}' | '\u{16FF0}'..='\u{16FF6}'
        | '\u{1AFF0}'..='\u{1B16F}'
        | '\u{20000}'..='\u{3FFFD}')
}

/// Lower case of one character, with the final sigma folded into the plain one.
///
/// Folding makes lower-casing independent of the neighbours, so that `ΟΔΟΣ` and `οδος` are one
/// word without looking at what follows.
pub(crate) fn lower(c: char) -> impl Iterator<Item = char> {
    c.to_lowercase().map(|c| if c == 'ς' { 'σ' } else { c })
}

/// The class of a character; ASCII is not asked here by the fast road but is answered rightly.
#[inline]
pub(crate) fn char_class(c: char) -> CharClass {
    let code = c as u32;
    let entry =
        BLOCKS[(code >> 8) as usize].get_or_init(|| block(code >> 8))[(code & 0xFF) as usize];
    let mapped = || char::from_u32(entry & MAPPED).expect("only characters are entered");
    match entry >> KIND {
        SEPARATOR => CharClass::Separator,
        WORD => CharClass::Word(mapped()),
        SINGLE => CharClass::Single(mapped()),
        _ => CharClass::Slow,
    }
}

type Block = Box<[u32; 256]>;

static BLOCKS: [OnceLock<Block>; 0x1100] = [const { OnceLock::new() }; 0x1100];

const KIND: u32 = 24;
const MAPPED: u32 = (1 << KIND) - 1;
const SEPARATOR: u32 = 0;
const WORD: u32 = 1;
const SINGLE: u32 = 2;
const SLOW: u32 = 3;

#[cold]
fn block(number: u32) -> Block {
    let mut entries = Box::new([SEPARATOR << KIND; 256]);
    for (low, entry) in entries.iter_mut().enumerate() {
        if let Some(c) = char::from_u32((number << 8) | low as u32) {
            *entry = judge(c);
        }
    }
    entries
}

/// Whether NFKC may join or reorder this character with the one before it.
pub(crate) fn acts_on_what_precedes(c: char) -> bool {
    let first = std::iter::once(c).nfkc().next().unwrap_or(c);
    canonical_combining_class(first) != 0
        || is_nfkc_quick(std::iter::once(first)) == IsNormalized::Maybe
}

/// Judges a character by its own normal form.
fn judge(c: char) -> u32 {
    if acts_on_what_precedes(c) {
        return SLOW << KIND;
    }
    let mut normal = std::iter::once(c).nfkc().flat_map(lower);
    let (Some(one), rest) = (normal.next(), normal.next()) else {
        return SEPARATOR << KIND;
    };
    if rest.is_none() {
        return match one {
            one if !one.is_alphanumeric() => SEPARATOR << KIND,
            one if is_han_or_kana(one) => (SINGLE << KIND) | one as u32,
            one => (WORD << KIND) | one as u32,
        };
    }
    // An acute accent standing alone is a space and a mark: marks that follow it may change places
    // with its own, so it cannot be cut off.
    let only_separators = std::iter::once(c)
        .nfkc()
        .flat_map(lower)
        .all(|c| !c.is_alphanumeric() && canonical_combining_class(c) == 0);
    if only_separators { SEPARATOR << KIND } else { SLOW << KIND }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_letters_stand_for_themselves_in_lower_case() {
        assert_eq!(char_class('a'), CharClass::Word('a'));
        assert_eq!(char_class('É'), CharClass::Word('é'));
        assert_eq!(char_class('글'), CharClass::Word('글'));
        assert_eq!(char_class('Ж'), CharClass::Word('ж'));
        assert_eq!(char_class('Σ'), CharClass::Word('σ'));
        assert_eq!(char_class('ς'), CharClass::Word('σ'));
    }

    #[test]
    fn compatibility_forms_are_mapped() {
        assert_eq!(char_class('Ａ'), CharClass::Word('a'));
        assert_eq!(char_class('７'), CharClass::Word('7'));
        assert_eq!(char_class('ｶ'), CharClass::Single('カ'));
        assert_eq!(char_class('，'), CharClass::Separator);
        assert_eq!(char_class('…'), CharClass::Separator);
        assert_eq!(char_class('\u{A0}'), CharClass::Separator);
    }

    #[test]
    fn han_and_kana_are_words_of_their_own() {
        for c in ['漢', 'か', 'カ', 'ー', '々', '〇', '𠮷'] {
            assert_eq!(char_class(c), CharClass::Single(c), "{c}");
        }
        assert_eq!(char_class('・'), CharClass::Separator);
    }

    #[test]
    fn what_acts_on_its_neighbours_or_expands_is_slow() {
        for c in "\u{301}\u{1161}\u{11A8}\u{3099}ﾞ½ﬁİ\u{338}´¨".chars() {
            assert_eq!(char_class(c), CharClass::Slow, "{c:?}");
        }
    }

    /// The fast road treats a separator as the end of a word without looking at what follows; that
    /// is right only if no mark can turn a separator into a letter.
    #[test]
    fn no_separator_becomes_a_letter_by_a_following_mark() {
        let all = || (0..=0x10FFFF_u32).filter_map(char::from_u32);
        let marks: Vec<char> =
            all().filter(|&c| is_nfkc_quick(std::iter::once(c)) == IsNormalized::Maybe).collect();
        for separator in all().filter(|&c| char_class(c) == CharClass::Separator) {
            let Some(last) = std::iter::once(separator).nfkc().last() else { continue };
            for &mark in &marks {
                if let Some(c) = unicode_normalization::char::compose(last, mark) {
                    assert!(!c.is_alphanumeric(), "{separator:?} + {mark:?} is {c:?}");
                }
            }
        }
    }
}
