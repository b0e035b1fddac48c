//! Words: a text in normal form, one word after another.
//!
//! The normal form is NFKC, then lower case (with the final sigma folded, so that lower-casing
//! never depends on neighbours). Words are maximal runs of Unicode letters and digits; each Han or
//! kana character is a word of its own; Hangul words stay whole. [`NORMAL_FORM_VERSION`] names this
//! definition: whatever stores shingles or sketches stores it too.
//!
//! Why it is built like this: splitting words, not sketching them, is the wall of the whole
//! pipeline. So the text is walked once, in three gears. ASCII goes 64 bytes at a time: a word
//! inside a register is classified and lower-cased by integer arithmetic on eight bytes, and the
//! runs of letters come out of one bit mask. Other characters go one at a time through a table that
//! is right for every character its neighbours do not act on. Only a word with a combining mark, a
//! conjoining jamo or a ligature is handed to a real normaliser, from its first character on.
//!
//! Cost: no allocation per word; one buffer of [`BUFFER_BYTES`] that grows only when a single word
//! is longer. Linear time for any input: a character is looked at twice at most.
//!
//! Guarantee: the three gears give what the slow, obvious definition gives (`wonbon-testkit` has it
//! and a property test compares them); the words of the words are the same words.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

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

/// Receives the words of a text from [`walk`].
pub(crate) trait WordSink {
    /// A word: `buffer[word]` is its normal form, `place` is where it stands in the text. At least
    /// [`SLACK`] bytes of the buffer, of no meaning, follow the word.
    fn word(&mut self, buffer: &[u8], word: Range<usize>, place: Range<usize>);
}

/// Readable bytes behind every word in the buffer, so that a sink may load a word in fixed pieces.
pub(crate) const SLACK: usize = 64;

/// Walks the words of `text` in order. The buffer may be empty or one used before.
#[inline]
pub(crate) fn walk<S: WordSink>(text: &str, buffer: &mut Vec<u8>, sink: &mut S) {
    if buffer.len() < BUFFER_BYTES {
        buffer.resize(BUFFER_BYTES, 0);
    }
    Walker { text, at: 0, buffer, filled: 0, open: None, open_in_text: 0, sink }.run();
}

/// How much is written to the buffer before its room is looked at again.
const RUN_BYTES: usize = 48;

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
            let ahead = &bytes[self.at..];
            if ahead[0] < 0x80 && worth_a_block(ahead) {
                self.ascii_block(ahead);
            } else {
                self.characters();
            }
        }
        self.close(self.at);
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

    /// Takes up to 64 bytes of ASCII; `ahead` starts with an ASCII character.
    #[inline]
    fn ascii_block(&mut self, ahead: &[u8]) {
        if self.open.is_some_and(|open| open.single) {
            self.close(self.at);
        }
        let mut block = [0_u8; 64];
        let available = if let Some(full) = ahead.first_chunk::<64>() {
            block = *full;
            64
        } else {
            block[..ahead.len()].copy_from_slice(ahead);
            ahead.len()
        };
        let masks = lower_ascii(&mut block);
        let taken = (masks.not_ascii.trailing_zeros() as usize).min(available);
        let out = self.filled;
        self.buffer[out..out + 64].copy_from_slice(&block);

        // One bit per byte: the letters and digits, and where runs of them end and start.
        let valid = if taken == 64 { !0 } else { (1_u64 << taken) - 1 };
        let letters = masks.alphanumeric & valid;
        let continued = u64::from(self.open.is_some());
        let after_letter = (letters << 1) | continued;
        let mut ends = !letters & after_letter & valid;
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
    }

    /// Takes characters one at a time until a longer run of ASCII comes.
    #[inline]
    fn characters(&mut self) {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            self.make_room(RUN_BYTES);
            let first = bytes[self.at];
            if first < 0x80 {
                if worth_a_block(&bytes[self.at..]) {
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
            if self.hangul_run() {
                continue;
            }
            let c = self.text[self.at..].chars().next().expect("at is inside the text");
            match char_class(c) {
                CharClass::Separator => self.close(self.at),
                CharClass::Word(mapped) => {
                    self.letter_follows();
                    self.push(mapped);
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
            self.at += c.len_utf8();
        }
    }

    /// Takes Hangul syllables, which stand for themselves, without decoding and encoding them.
    /// Tells whether there were any.
    #[inline]
    fn hangul_run(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let (from, mut at, mut filled) = (self.at, self.at, self.filled);
        let limit = filled + RUN_BYTES;
        while let Some(syllable) = bytes[at..].first_chunk::<3>() {
            if !is_hangul_syllable(syllable) || filled == limit {
                break;
            }
            if at == from {
                self.letter_follows();
            }
            self.buffer[filled..filled + 3].copy_from_slice(syllable);
            at += 3;
            filled += 3;
        }
        (self.at, self.filled) = (at, filled);
        at != from
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
        for c in self.text[start..end].nfkc().flat_map(lower) {
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

/// Whether enough ASCII lies ahead for the block gear to pay; always true near the end of the text,
/// where a block is the shortest way to finish.
#[inline]
fn worth_a_block(ahead: &[u8]) -> bool {
    match ahead.first_chunk::<16>() {
        Some(next) => (u128::from_le_bytes(*next) & (u128::MAX / 0xFF * 0x80)) == 0,
        None => ahead.is_ascii(),
    }
}

/// Whether three bytes of valid UTF-8, at the start of a character, are a Hangul syllable.
#[inline]
fn is_hangul_syllable(&[first, second, third]: &[u8; 3]) -> bool {
    let code =
        (u32::from(first & 0x0F) << 12) | (u32::from(second & 0x3F) << 6) | u32::from(third & 0x3F);
    first & 0xF0 == 0xE0 && ('가' as u32..='힣' as u32).contains(&code)
}

/// One bit per byte of a block.
struct BlockMasks {
    alphanumeric: u64,
    not_ascii: u64,
}

/// Lower-cases the ASCII letters of a block and tells its letters and digits, eight bytes at a
/// time: a byte below 0x80 plus `0x80 - c` has its high bit set exactly if it is at least `c`, and
/// never carries into the next byte.
#[inline]
fn lower_ascii(block: &mut [u8; 64]) -> BlockMasks {
    const ONES: u64 = u64::MAX / 0xFF;
    const HIGH: u64 = ONES * 0x80;
    #[inline]
    fn at_least(bytes: u64, c: u8) -> u64 {
        bytes + ONES * u64::from(0x80 - c)
    }
    let mut masks = BlockMasks { alphanumeric: 0, not_ascii: 0 };
    for (index, piece) in block.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let bytes = u64::from_le_bytes(*piece);
        let plain = bytes & !HIGH;
        let folded = plain | (ONES * 0x20);
        let ascii = !bytes & HIGH;
        let letter = at_least(folded, b'a') & !at_least(folded, b'z' + 1) & ascii;
        let digit = at_least(plain, b'0') & !at_least(plain, b'9' + 1) & ascii;
        *piece = (bytes | (letter >> 2)).to_le_bytes();
        masks.alphanumeric |= high_bits(letter | digit) << (8 * index);
        masks.not_ascii |= high_bits(ascii ^ HIGH) << (8 * index);
    }
    masks
}

/// Gathers the high bit of each byte into the low eight bits; all other bits must be clear.
#[inline]
fn high_bits(bytes: u64) -> u64 {
    (bytes >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
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
    fn the_high_bits_are_gathered_in_order() {
        for byte in 0..8 {
            assert_eq!(high_bits(0x80 << (8 * byte)), 1 << byte);
        }
    }

    #[test]
    fn every_byte_value_is_classified_as_the_standard_library_does() {
        for byte in 0..=255_u8 {
            let mut block = [b' '; 64];
            block[17] = byte;
            let masks = lower_ascii(&mut block);
            assert_eq!(block[17], byte.to_ascii_lowercase());
            assert_eq!(masks.alphanumeric, u64::from(byte.is_ascii_alphanumeric()) << 17);
            assert_eq!(masks.not_ascii, u64::from(!byte.is_ascii()) << 17);
        }
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
