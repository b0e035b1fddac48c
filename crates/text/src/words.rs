//! Words: a text in normal form, one word after another.
//!
//! The normal form is NFKC, then lower case (with the final sigma folded, so that lower-casing
//! never depends on neighbours), then NFKC once more (a capital and its marks may compose only when
//! the capital is gone). Words are maximal runs of Unicode letters and digits; each Han or
//! kana character is a word of its own; Hangul words stay whole. [`NORMAL_FORM_VERSION`] names this
//! definition: whatever stores shingles or sketches stores it too.
//!
//! Why it is built like this: splitting words, not sketching them, is the wall of the whole
//! pipeline. So the text is walked once, in three gears. ASCII and Hangul go 64 bytes at a time: a
//! block is lower-cased and classified as a whole, and the runs of letters come out of one bit mask.
//! Other characters go one at a time through a table that is right for every character its
//! neighbours do not act on. Only a word with a combining mark, a conjoining jamo or a ligature is
//! handed to a real normaliser, from its first character on.
//!
//! Cost: no allocation per word; one buffer of [`BUFFER_BYTES`], less for a short text, that grows only when a single word
//! is longer. Linear time for any input: a character is looked at twice at most.
//!
//! Guarantee: the three gears give what the slow, obvious definition gives (`wonbon-testkit` has it
//! and a property test compares them); the words of the words are the same words.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

use crate::block::runs::{Edges, Run};
use crate::block::{BLOCK_BYTES, Classified, classify};
use crate::char_class::{CharClass, char_class, is_han_or_kana, lower};

/// The version of the normal form; changes when any text may get other words than before.
pub const NORMAL_FORM_VERSION: u32 = 1;

/// The size at which the buffer of normalised text is emptied: well inside the first-level cache.
pub const BUFFER_BYTES: usize = 8 << 10;

/// Calls `each` with every word of `text`, in normal form, in order.
///
/// ```
/// let mut words = Vec::new();
/// wonbon_text::words::for_each_word("The ＷＥＢ, 漢字와 한글!", |word| words.push(word.to_owned()));
/// assert_eq!(words, ["the", "web", "漢", "字", "와", "한글"]);
/// ```
pub fn for_each_word(text: &str, mut each: impl FnMut(&str)) {
    for_each_word_at(text, |word, _| each(word));
}

/// Like [`for_each_word`], with the place of the word in `text`, in bytes.
///
/// Words that come out of one character or one normalised run together (`½` gives `1` and `2`)
/// share its place.
pub fn for_each_word_at(text: &str, each: impl FnMut(&str, Range<usize>)) {
    struct Visit<F>(F);
    impl<F: FnMut(&str, Range<usize>)> WordSink for Visit<F> {
        #[inline]
        fn word(&mut self, buffer: &[u8], word: Range<usize>, place: Range<usize>) {
            let word =
                std::str::from_utf8(&buffer[word]).expect("the walker writes whole characters");
            (self.0)(word, place);
        }
    }
    walk(text, &mut Vec::new(), &mut Visit(each));
}

/// Appends every word of `text`, in normal form, to `words`, with a space behind each. Calls `each` with where the word
/// starts in `words`, and with its place in `text`, as [`for_each_word_at`] does.
///
/// Faster than appending what [`for_each_word_at`] gives: a short word is copied in one piece.
///
/// ```
/// let (mut words, mut starts) = (Vec::new(), Vec::new());
/// wonbon_text::words::append_words("A rose, 漢字", &mut words, |start, _| starts.push(start));
/// assert_eq!((words, starts), ("a rose 漢 字 ".into(), vec![0, 2, 7, 11]));
/// ```
pub fn append_words(text: &str, words: &mut Vec<u8>, each: impl FnMut(usize, Range<usize>)) {
    struct Append<'a, F> {
        words: &'a mut Vec<u8>,
        each: F,
    }
    impl<F: FnMut(usize, Range<usize>)> WordSink for Append<'_, F> {
        #[inline]
        fn word(&mut self, buffer: &[u8], word: Range<usize>, place: Range<usize>) {
            let (start, length) = (self.words.len(), word.len());
            match buffer[word.start..].first_chunk::<16>() {
                Some(piece) if length < 16 => {
                    let mut piece = *piece;
                    piece[length] = b' ';
                    self.words.extend_from_slice(&piece);
                    self.words.truncate(start + length + 1);
                }
                _ => {
                    self.words.extend_from_slice(&buffer[word]);
                    self.words.push(b' ');
                }
            }
            (self.each)(start, place);
        }
    }
    walk(text, &mut Vec::new(), &mut Append { words, each });
}

/// The words of `text` joined by single spaces: equal for two texts exactly if they have the same
/// words in the same order.
///
/// ```
/// assert_eq!(wonbon_text::words::normal_form("  A rose is\na ROSE. "), "a rose is a rose");
/// ```
#[must_use]
pub fn normal_form(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    for_each_word(text, |word| {
        if !normal.is_empty() {
            normal.push(' ');
        }
        normal.push_str(word);
    });
    normal
}

/// Whether `text` has a word. Most texts tell by their first characters.
///
/// ```
/// use wonbon_text::words::has_word;
/// assert!(has_word("... and 원본") && has_word("½"));
/// assert!(!has_word(" — …!\u{301} "));
/// ```
#[must_use]
pub fn has_word(text: &str) -> bool {
    for c in text.chars() {
        match char_class(c) {
            CharClass::Separator => {}
            CharClass::Word(_) | CharClass::Single(_) => return true,
            // Only the normaliser can tell, from the first character on.
            CharClass::Slow => {
                let mut found = false;
                for_each_word(text, |_| found = true);
                return found;
            }
        }
    }
    false
}

/// Receives the words of a text from [`walk`].
pub(crate) trait WordSink {
    /// A word: `buffer[word]` is its normal form, `place` is where it stands in the text. At least
    /// [`SLACK`] bytes of the buffer, of no meaning, follow the word.
    fn word(&mut self, buffer: &[u8], word: Range<usize>, place: Range<usize>);

    /// A word that stands in the text as it is, with as many bytes behind it. The buffer is another one.
    #[inline]
    fn word_of_text(&mut self, text: &[u8], place: Range<usize>, _buffer: &[u8]) {
        self.word(text, place.clone(), place);
    }

    /// The list to which the words of whole blocks go, if the sink does not need to know where they stand
    /// in the text. The words in the list come before those that are told later.
    #[inline]
    fn edges(&mut self) -> Option<&mut Edges> {
        None
    }

    /// What the buffer holds is about to change: the words in the list are taken from it.
    #[inline]
    fn take_edges(&mut self, _buffer: &[u8]) {}
}

/// Readable bytes behind every word in the buffer, so that a sink may load a word in fixed pieces.
pub(crate) const SLACK: usize = 64;

/// Walks the words of `text` in order. The buffer may be empty or one used before.
#[inline]
pub(crate) fn walk<S: WordSink>(text: &str, buffer: &mut Vec<u8>, sink: &mut S) {
    // A short text needs little, and it may be one of thousands.
    let least = BUFFER_BYTES.min(2 * text.len() + 4 * SLACK);
    if buffer.len() < least {
        buffer.resize(least, 0);
    }
    Walker { text, at: 0, buffer, filled: 0, open: None, open_in_text: 0, sink }.run();
}

/// A block of which less is taken sends the walk to the next gear.
const SHORT_BLOCK: usize = 16;

/// What the word that is being read is.
#[derive(Clone, Copy)]
struct Open {
    /// Where it starts in the buffer.
    start: usize,
    /// A Han or kana character: complete, unless a mark follows.
    single: bool,
}

struct Walker<'a, S> {
    text: &'a str,
    /// The next byte of the text to look at; always a character boundary.
    at: usize,
    /// Normalised text; what precedes the open word is of no more use.
    buffer: &'a mut Vec<u8>,
    filled: usize,
    open: Option<Open>,
    /// Where the open word starts in the text.
    open_in_text: usize,
    sink: &'a mut S,
}

impl<S: WordSink> Walker<'_, S> {
    #[inline]
    fn run(mut self) {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            self.make_room(SLACK);
            // A short block tells that the text is not of the kind that blocks are for.
            let taken = match self.whole_blocks() {
                Some(taken) => taken,
                None => self.block(&bytes[self.at..]),
            };
            if taken < SHORT_BLOCK {
                self.characters();
            }
        }
        self.close(self.at);
        self.sink.take_edges(self.buffer);
    }

    /// Takes whole blocks of ASCII and Hangul until one is short, for a sink that has a list of words;
    /// returns how much was taken of the last one. None if there is no whole block.
    #[inline]
    fn whole_blocks(&mut self) -> Option<usize> {
        let is_single = self.open.is_some_and(|open| open.single);
        if is_single || self.text.len() - self.at < BLOCK_BYTES {
            return None;
        }
        if !self.sink.edges()?.has_room() {
            self.sink.take_edges(self.buffer);
        }
        let mut run = Run {
            at: self.at,
            filled: self.filled,
            open: self.open.map(|open| open.start),
            open_in_text: self.open_in_text,
        };
        let taken =
            self.sink.edges()?.run(&mut run, self.text.as_bytes(), self.buffer, SHORT_BLOCK);
        let Run { at, filled, open, open_in_text } = run;
        (self.at, self.filled, self.open_in_text) = (at, filled, open_in_text);
        self.open = open.map(|start| Open { start, single: false });
        Some(taken)
    }

    /// Empties the buffer down to the open word when it is full, and grows it for long words.
    #[inline]
    fn make_room(&mut self, bytes: usize) {
        if self.filled + bytes + SLACK > self.buffer.len() {
            self.empty_buffer(bytes);
        }
    }

    #[cold]
    fn empty_buffer(&mut self, bytes: usize) {
        self.sink.take_edges(self.buffer);
        let start = self.open.map_or(self.filled, |open| open.start);
        self.buffer.copy_within(start..self.filled, 0);
        self.filled -= start;
        if let Some(open) = &mut self.open {
            open.start = 0;
        }
        let needed = self.filled + bytes + SLACK;
        if needed > self.buffer.len() {
            self.buffer.resize(needed.next_power_of_two(), 0);
        }
    }

    /// Ends the open word, if there is one, before the byte `end` of the text.
    #[inline]
    fn close(&mut self, end: usize) {
        if let Some(open) = self.open.take() {
            self.sink.word(self.buffer, open.start..self.filled, self.open_in_text..end);
        }
    }

    /// Takes up to 64 bytes of ASCII and Hangul; returns how many.
    #[inline]
    fn block(&mut self, ahead: &[u8]) -> usize {
        let mut block = [0_u8; BLOCK_BYTES];
        let length = if let Some(full) = ahead.first_chunk::<BLOCK_BYTES>() {
            block = *full;
            BLOCK_BYTES
        } else {
            block[..ahead.len()].copy_from_slice(ahead);
            ahead.len()
        };
        let Classified { letters, taken } = classify(&mut block, length);
        if taken == 0 {
            return 0;
        }
        if self.open.is_some_and(|open| open.single) {
            self.close(self.at);
        }
        let out = self.filled;
        self.buffer[out..out + BLOCK_BYTES].copy_from_slice(&block);

        // One bit per byte: where runs of letters end and start.
        let continued = u64::from(self.open.is_some());
        let after_letter = (letters << 1) | continued;
        let mut ends = !letters & after_letter;
        if taken < BLOCK_BYTES {
            ends &= (1 << taken) - 1;
        }
        let mut starts = letters & !after_letter;
        let mut start = self.open.map_or(out, |open| open.start);
        let mut start_in_text = self.open_in_text;
        let mut inside = self.open.is_some();
        while ends != 0 {
            if !inside {
                let at = starts.trailing_zeros() as usize;
                starts &= starts - 1;
                start = out + at;
                start_in_text = self.at + at;
            }
            let end = ends.trailing_zeros() as usize;
            ends &= ends - 1;
            self.sink.word(self.buffer, start..out + end, start_in_text..self.at + end);
            inside = false;
        }
        if starts != 0 {
            let at = starts.trailing_zeros() as usize;
            start = out + at;
            start_in_text = self.at + at;
            inside = true;
        }
        self.open = inside.then_some(Open { start, single: false });
        self.open_in_text = start_in_text;
        self.filled = out + taken;
        self.at += taken;
        taken
    }

    /// Takes characters one at a time until a block may be worth it again.
    #[inline]
    fn characters(&mut self) {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            self.make_room(4);
            let first = bytes[self.at];
            if first < 0x80 {
                if ascii_ahead(&bytes[self.at..]) {
                    return;
                }
                if first.is_ascii_alphanumeric() {
                    self.letter_follows();
                    self.buffer[self.filled] = first.to_ascii_lowercase();
                    self.filled += 1;
                } else {
                    self.close(self.at);
                }
                self.at += 1;
                continue;
            }
            if self.single_words() {
                continue;
            }
            let c = self.text[self.at..].chars().next().expect("at is inside the text");
            let behind = self.at + c.len_utf8();
            match char_class(c) {
                CharClass::Separator => self.close(self.at),
                CharClass::Word(mapped) => {
                    self.letter_follows();
                    self.push(mapped);
                    // One syllable is taken here at least, so a block that takes none is harmless.
                    if ('가'..='힣').contains(&mapped) {
                        self.at = behind;
                        return;
                    }
                }
                CharClass::Single(mapped) => {
                    self.close(self.at);
                    self.open = Some(Open { start: self.filled, single: true });
                    self.open_in_text = self.at;
                    self.push(mapped);
                }
                CharClass::Slow => {
                    self.normalise_word();
                    continue;
                }
            }
            self.at = behind;
        }
    }

    /// Takes Han and kana that stand for themselves, straight from the text, as long as what follows
    /// cannot be a mark on them. Returns whether there were any.
    #[inline]
    fn single_words(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let from = self.at;
        while let Some(&[a, b, c, d, e, f]) = bytes[self.at..].first_chunk::<6>() {
            let room = self.at + 3 + SLACK <= bytes.len();
            if !room || !is_plain_single([a, b, c]) || acts_on_what_precedes([d, e, f]) {
                break;
            }
            if self.at == from {
                self.close(from);
            }
            let place = self.at..self.at + 3;
            self.at = place.end;
            self.sink.word_of_text(bytes, place, self.buffer);
        }
        self.at != from
    }

    /// A letter or digit stands at the current place: it goes on with the open word or opens one.
    #[inline]
    fn letter_follows(&mut self) {
        if self.open.is_none_or(|open| open.single) {
            self.close(self.at);
            self.open = Some(Open { start: self.filled, single: false });
            self.open_in_text = self.at;
        }
    }

    #[inline]
    fn push(&mut self, c: char) {
        self.filled += c.encode_utf8(&mut self.buffer[self.filled..]).len();
    }

    /// Normalises from the start of the open word to the next separator, as a whole.
    ///
    /// Both ends are places where NFKC can be cut: a word starts with a character that does not act
    /// on what precedes it, and so does every separator.
    #[cold]
    fn normalise_word(&mut self) {
        let start = match self.open.take() {
            Some(open) => {
                self.filled = open.start;
                self.open_in_text
            }
            None => self.at,
        };
        let end = self.text[self.at..]
            .char_indices()
            .find(|&(_, c)| char_class(c) == CharClass::Separator)
            .map_or(self.text.len(), |(offset, _)| self.at + offset);
        self.at = end;
        for c in self.text[start..end].nfkc().flat_map(lower).nfkc() {
            self.make_room(4);
            if !c.is_alphanumeric() {
                self.close(end);
            } else {
                let single = is_han_or_kana(c);
                if single || self.open.is_none() {
                    self.close(end);
                    self.open = Some(Open { start: self.filled, single: false });
                    self.open_in_text = start;
                }
                self.push(c);
                if single {
                    self.close(end);
                }
            }
        }
        self.close(end);
    }
}

/// Whether enough ASCII lies ahead for the block gear to pay after other characters.
#[inline]
fn ascii_ahead(ahead: &[u8]) -> bool {
    ahead.first_chunk::<16>().is_none_or(|next| u128::from_le_bytes(*next) & HIGH_BITS == 0)
}

const HIGH_BITS: u128 = u128::MAX / 0xFF * 0x80;

/// Whether these bytes, at the start of a character, are a Han or kana character that stands for
/// itself: U+4000 to U+9FFF without the block that holds the hexagrams, and the kana that are letters
/// and neither marks nor ligatures.
#[inline]
fn is_plain_single(character: [u8; 3]) -> bool {
    match character {
        [0xE5..=0xE9, ..] => true,
        [0xE4, second, _] => second != 0xB7,
        [0xE3, 0x81, third] => third >= 0x81,
        [0xE3, 0x82, third] => matches!(third, 0x80..=0x96 | 0xA1..=0xBF),
        [0xE3, 0x83, third] => matches!(third, 0x80..=0xBA | 0xBC..=0xBE),
        _ => false,
    }
}

/// Whether the character that starts with these bytes might act on the character before it; in doubt
/// it might. What cannot: ASCII, ideographs, kana and CJK punctuation other than the marks among them.
#[inline]
fn acts_on_what_precedes(character: [u8; 3]) -> bool {
    match character {
        [0x00..=0x7F | 0xE4..=0xE9, ..] | [0xE3, 0x81 | 0x83, _] => false,
        [0xE3, 0x80, third] => matches!(third, 0xAA..=0xAF),
        [0xE3, 0x82, third] => matches!(third, 0x99..=0x9C),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        for_each_word(text, |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn an_empty_text_and_one_of_separators_have_no_words() {
        assert!(words("").is_empty());
        assert!(words(" \n\t,.!?\u{0}\u{0}…—🎉").is_empty());
    }

    #[test]
    fn bytes_are_judged_as_their_characters_are() {
        for c in ('\u{800}'..='\u{FFFF}').chain('\0'..='\x7F') {
            let mut bytes = [0; 3];
            c.encode_utf8(&mut bytes);
            if is_plain_single(bytes) {
                assert_eq!(char_class(c), CharClass::Single(c), "{c:?}");
            }
            if !acts_on_what_precedes(bytes) {
                assert!(!crate::char_class::acts_on_what_precedes(c), "{c:?}");
            }
        }
        assert!(is_plain_single("漢".as_bytes().try_into().unwrap()));
        assert!(is_plain_single("ー".as_bytes().try_into().unwrap()));
    }

    #[test]
    fn words_cross_block_boundaries_whole() {
        for length in 1..200 {
            let word = "x".repeat(length);
            for before in [0, 1, 30, 63, 64, 65, 127] {
                let text = format!("{}{word} Tail", ".".repeat(before));
                assert_eq!(words(&text), [word.as_str(), "tail"], "{before} + {length}");
            }
        }
    }

    #[test]
    fn a_word_longer_than_the_buffer_stays_whole() {
        let long = "긴".repeat(BUFFER_BYTES) + &"b".repeat(3 * BUFFER_BYTES);
        assert_eq!(words(&format!("a {long} c")), ["a", long.as_str(), "c"]);
    }

    #[test]
    fn decomposed_hangul_equals_composed() {
        let composed = "한글 원본, 각 글자는 같다";
        let decomposed: String = composed.nfd().collect();
        assert_ne!(composed, decomposed);
        assert_eq!(words(composed), words(&decomposed));
        assert_eq!(words(&decomposed)[0], "한글");
    }

    #[test]
    fn a_mark_after_a_kana_joins_it() {
        assert_eq!(words("か\u{3099}き"), ["が", "き"]);
        assert_eq!(words("ｶﾞｷﾞ"), ["ガ", "ギ"]);
    }

    #[test]
    fn marks_compose_across_gears() {
        assert_eq!(words("Cafe\u{301}s are CAFÉS"), ["cafés", "are", "cafés"]);
        assert_eq!(words("ﬁne ½ ™"), ["fine", "1", "2", "tm"]);
    }

    #[test]
    fn upper_and_lower_case_greek_are_the_same_words() {
        assert_eq!(words("ΟΔΟΣ"), words("οδος"));
    }

    #[test]
    fn places_point_at_the_words() {
        let text = "Ein  Süßes 漢字, e\u{301}te\u{301} END";
        let mut places = Vec::new();
        for_each_word_at(text, |word, place| places.push((word.to_owned(), &text[place])));
        let expected = [
            ("ein", "Ein"),
            ("süßes", "Süßes"),
            ("漢", "漢"),
            ("字", "字"),
            ("été", "e\u{301}te\u{301}"),
            ("end", "END"),
        ];
        assert_eq!(places, expected.map(|(word, place)| (word.to_owned(), place)));
    }
}
