//! Tokens of any kind to dense numbers: words as bytes, shingles as 64-bit hashes.
//!
//! Why our own tables: a join reads every token once and then throws the dictionary away, so
//! it should cost little memory and one look a token. Words are compared byte by byte, so two
//! words never share a number.
//!
//! - Words that are plain numbers (`0`, `17`; not `017`) are mostly small and dense in files of
//!   sets: their value leads straight to their number, through pages of 256 values. A page is
//!   made only while pages stay small beside the dictionary; other numbers are words like any.
//! - Other words lie one behind the other in one piece of memory, each with its number and
//!   length before it. A table of 8 bytes a place says where, with 24 bits of the word's hash,
//!   so that nearly every look at a word is a hit.
//!
//! Cost: plain numbers 4 bytes in dense files; words their bytes, 5 bytes, and 11 to 21 bytes of
//! table; pages at most 24 bytes a distinct word. Hashes: 8 bytes and 5 to 11 bytes of table.
//! Not here: what a word or a shingle is (`wonbon-text`).

use std::hash::{BuildHasher, RandomState};

use crate::error::JoinError;

const EMPTY: u32 = u32::MAX;

/// Spreads a 64-bit value over all bits (the finishing steps of a multiplicative hash).
#[inline]
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (value ^ (value >> 29)).wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ (value >> 32)
}

/// Open addressing over numbers whose keys live elsewhere.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slots {
    slots: Vec<u32>,
    filled: usize,
}

impl Slots {
    /// The number whose key satisfies `is_key`, or the free slot where it belongs.
    #[inline]
    pub(crate) fn find(
        &self,
        hash: u64,
        mut is_key: impl FnMut(u32) -> bool,
    ) -> Result<u32, usize> {
        if self.slots.is_empty() {
            return Err(0);
        }
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            match self.slots[at] {
                EMPTY => return Err(at),
                number if is_key(number) => return Ok(number),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// Puts a number that was not found; `hash_of` gives the hash of any number put before.
    pub(crate) fn insert(&mut self, hash: u64, number: u32, hash_of: impl Fn(u32) -> u64) {
        if (self.filled + 1) * 4 > self.slots.len() * 3 {
            let wider = (self.slots.len() * 2).max(64);
            let old = std::mem::replace(&mut self.slots, vec![EMPTY; wider]);
            for number in old.into_iter().filter(|&number| number != EMPTY) {
                self.place(hash_of(number), number);
            }
        }
        self.place(hash, number);
        self.filled += 1;
    }

    fn place(&mut self, hash: u64, number: u32) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] != EMPTY {
            at = (at + 1) & mask;
        }
        self.slots[at] = number;
    }
}

/// Numbers for words, in order of first appearance.
#[derive(Debug, Clone)]
pub struct WordNumbers {
    count: u32,
    plain: PlainNumbers,
    words: Words,
}

impl Default for WordNumbers {
    fn default() -> Self {
        // Where words lie in the table depends on the seed, their numbers do not.
        let seed = RandomState::new().hash_one(0_u8);
        Self { count: 0, plain: PlainNumbers::default(), words: Words::new(seed) }
    }
}

impl WordNumbers {
    /// An empty dictionary.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of a word, a new one if it was not seen before.
    ///
    /// # Errors
    /// When 2^32 - 1 distinct words have been seen.
    #[inline]
    pub fn number(&mut self, word: &[u8]) -> Result<u32, JoinError> {
        let mut value = 0_u32;
        let mut digits = word.len() <= MOST_DIGITS && !word.is_empty();
        for &byte in word.iter().take(MOST_DIGITS) {
            let digit = byte.wrapping_sub(b'0');
            digits &= digit < 10;
            value = value.wrapping_mul(10).wrapping_add(u32::from(digit));
        }
        if digits && (word[0] != b'0' || word.len() == 1) {
            return match self.plain.get(value) {
                Some(number) => Ok(number),
                None => self.rare_number(value, word),
            };
        }
        self.word(word)
    }

    /// Appends the numbers of the words between ASCII white space.
    ///
    /// # Errors
    /// When 2^32 - 1 distinct words have been seen.
    pub fn number_all(&mut self, text: &[u8], numbers: &mut Vec<u32>) -> Result<(), JoinError> {
        let mut rest = text;
        while let [first, others @ ..] = rest {
            if first.is_ascii_whitespace() {
                rest = others;
                continue;
            }
            if let Some((value, length)) = short_number(rest) {
                let number = match self.plain.get(value) {
                    Some(number) => number,
                    None => self.rare_number(value, &rest[..length])?,
                };
                numbers.push(number);
                // Behind the white space that ends it.
                rest = &rest[length + 1..];
                continue;
            }
            let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
            numbers.push(self.number(&rest[..end])?);
            rest = &rest[end..];
        }
        Ok(())
    }

    /// A plain number without a place of its own: an ordinary word, or new.
    #[cold]
    fn rare_number(&mut self, value: u32, word: &[u8]) -> Result<u32, JoinError> {
        let hash = self.words.hash(word);
        if let Some(number) = self.words.find(hash, word) {
            return Ok(number);
        }
        let number = next_number(self.count as usize)?;
        if !self.plain.put(value, number) {
            self.words.put(hash, word, number);
        }
        self.count += 1;
        Ok(number)
    }

    fn word(&mut self, word: &[u8]) -> Result<u32, JoinError> {
        let hash = self.words.hash(word);
        if let Some(number) = self.words.find(hash, word) {
            return Ok(number);
        }
        let number = next_number(self.count as usize)?;
        self.words.put(hash, word, number);
        self.count += 1;
        Ok(number)
    }

    /// How many distinct words there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether no word was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn bytes_held(&self) -> usize {
        (self.plain.pages.capacity() + self.plain.page_of.capacity()) * 4
            + self.words.bytes.capacity()
            + self.words.places.capacity() * 8
    }
}

/// The most digits that are taken as a plain number.
const MOST_DIGITS: usize = 8;

/// The plain number that a text begins with and its length, if it has at most seven digits, ends with
/// ASCII white space and at least eight bytes are there to look at: all of them at once.
#[inline]
fn short_number(text: &[u8]) -> Option<(u32, usize)> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let eight = u64::from_le_bytes(*text.first_chunk()?);
    let digits = eight ^ (ONES * u64::from(b'0'));
    // The highest bit of each byte that is no digit. Carries disturb only bytes behind the first of them.
    let others = (digits.wrapping_add(ONES * 0x76) | digits) & (ONES * 0x80);
    let length = (others.trailing_zeros() / 8) as usize;
    let ends = text.get(length).is_some_and(u8::is_ascii_whitespace);
    if !(1..MOST_DIGITS).contains(&length) || !ends || (text[0] == b'0' && length > 1) {
        return None;
    }
    // Zeros before it make it eight digits; then pairs, fours and all of them are put together.
    let eight = digits << (64 - 8 * length);
    let twos = (eight * 10 + (eight >> 8)) & 0x00FF_00FF_00FF_00FF;
    let fours = (twos * 100 + (twos >> 16)) & 0x0000_FFFF_0000_FFFF;
    Some(((fours * 10_000 + (fours >> 32)) as u32, length))
}
const PAGE: usize = 256;
/// Pages may always have so many places, and later so many for each distinct word.
const FREE_PLACES: usize = 1 << 18;
const PLACES_A_WORD: usize = 6;

/// Dense plain numbers: value to number without hashing.
#[derive(Debug, Clone, Default)]
struct PlainNumbers {
    /// Where the page of 256 values begins in `pages`, plus one; zero if there is none.
    page_of: Vec<u32>,
    pages: Vec<u32>,
}

impl PlainNumbers {
    #[inline]
    fn get(&self, value: u32) -> Option<u32> {
        let page = (*self.page_of.get(value as usize / PAGE)?).checked_sub(1)? as usize;
        let number = self.pages[page * PAGE + value as usize % PAGE];
        (number != EMPTY).then_some(number)
    }

    /// Gives a value its number, unless that would need a page too many.
    fn put(&mut self, value: u32, number: u32) -> bool {
        let at = value as usize / PAGE;
        if self.page_of.get(at).is_none_or(|&page| page == 0) {
            let most = FREE_PLACES.max(number as usize * PLACES_A_WORD);
            // The table of pages itself counts like pages.
            if self.pages.len() + PAGE + self.page_of.len().max(at + 1) > most {
                return false;
            }
            if self.page_of.len() <= at {
                self.page_of.resize(at + 1, 0);
            }
            self.pages.resize(self.pages.len() + PAGE, EMPTY);
            self.page_of[at] = (self.pages.len() / PAGE) as u32;
        }
        let page = self.page_of[at] as usize - 1;
        self.pages[page * PAGE + value as usize % PAGE] = number;
        true
    }
}

/// Words of any kind with their numbers.
#[derive(Debug, Clone)]
struct Words {
    seed: u64,
    /// For each word its number (4 bytes), its length (1 byte, or 255 and 8 more) and itself.
    bytes: Vec<u8>,
    /// The upper 24 bits of the word's hash and where it lies; `FREE` where there is none.
    places: Vec<u64>,
    filled: usize,
}

const FREE: u64 = u64::MAX;
const OFFSET_BITS: u32 = 40;
const OFFSET: u64 = (1 << OFFSET_BITS) - 1;

impl Words {
    fn new(seed: u64) -> Self {
        Self { seed, bytes: Vec::new(), places: Vec::new(), filled: 0 }
    }

    #[inline]
    fn hash(&self, word: &[u8]) -> u64 {
        hash_bytes(self.seed, word)
    }

    /// Number, bytes and end of the word at an offset.
    #[inline]
    fn at(&self, offset: usize) -> (u32, &[u8], usize) {
        let rest = &self.bytes[offset..];
        let number = u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]);
        let (start, length) = match rest[4] {
            255 => {
                let long = rest[5..13].try_into().expect("eight bytes were asked for");
                (13, u64::from_le_bytes(long) as usize)
            }
            short => (5, usize::from(short)),
        };
        (number, &rest[start..start + length], offset + start + length)
    }

    #[inline]
    fn find(&self, hash: u64, word: &[u8]) -> Option<u32> {
        if self.places.is_empty() {
            return None;
        }
        let mask = self.places.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let place = self.places[at];
            if place == FREE {
                return None;
            }
            if (place ^ hash) >> OFFSET_BITS == 0 {
                let (number, other, _) = self.at((place & OFFSET) as usize);
                if other == word {
                    return Some(number);
                }
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds a word that is not there.
    fn put(&mut self, hash: u64, word: &[u8], number: u32) {
        if (self.filled + 1) * 4 > self.places.len() * 3 {
            let wider = (self.places.len() * 2).max(64);
            self.places = Vec::new();
            self.places = vec![FREE; wider];
            let mut offset = 0;
            while offset < self.bytes.len() {
                let (_, other, end) = self.at(offset);
                let hash = self.hash(other);
                self.place(hash, offset);
                offset = end;
            }
        }
        let offset = self.bytes.len();
        assert!((offset as u64) < OFFSET, "2^40 bytes of distinct words do not fit in memory");
        self.bytes.extend_from_slice(&number.to_le_bytes());
        match u8::try_from(word.len()) {
            Ok(length) if length < 255 => self.bytes.push(length),
            _ => {
                self.bytes.push(255);
                self.bytes.extend_from_slice(&(word.len() as u64).to_le_bytes());
            }
        }
        self.bytes.extend_from_slice(word);
        self.place(hash, offset);
        self.filled += 1;
    }

    fn place(&mut self, hash: u64, offset: usize) {
        let mask = self.places.len() - 1;
        let mut at = hash as usize & mask;
        while self.places[at] != FREE {
            at = (at + 1) & mask;
        }
        self.places[at] = (hash & !OFFSET) | offset as u64;
    }
}

/// Numbers for 64-bit hashes (shingles), in order of first appearance.
#[derive(Debug, Clone, Default)]
pub struct HashNumbers {
    keys: Vec<u64>,
    slots: Slots,
}

impl HashNumbers {
    /// An empty dictionary.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of a hash, a new one if it was not seen before.
    ///
    /// # Errors
    /// When 2^32 - 1 distinct hashes have been seen.
    pub fn number(&mut self, key: u64) -> Result<u32, JoinError> {
        let hash = mix(key);
        let keys = &self.keys;
        if let Ok(number) = self.slots.find(hash, |number| keys[number as usize] == key) {
            return Ok(number);
        }
        let number = next_number(self.keys.len())?;
        self.slots.insert(hash, number, |number| mix(keys[number as usize]));
        self.keys.push(key);
        Ok(number)
    }
}

fn next_number(count: usize) -> Result<u32, JoinError> {
    match u32::try_from(count) {
        Ok(number) if number != EMPTY => Ok(number),
        _ => Err(JoinError::TooMany { what: "token", count: count as u64 }),
    }
}

/// Hash of a word: sixteen bytes at a time, multiplied to 128 bits and folded.
#[inline]
fn hash_bytes(seed: u64, word: &[u8]) -> u64 {
    let fold = |one: u64, two: u64| {
        let product = u128::from(one) * u128::from(two);
        product as u64 ^ (product >> 64) as u64
    };
    let eight = |at: usize| {
        u64::from_le_bytes(word[at..at + 8].try_into().expect("eight bytes were asked for"))
    };
    let four = |at: usize| {
        u32::from_le_bytes(word[at..at + 4].try_into().expect("four bytes were asked for"))
    };
    let length = word.len();
    let mut hash = seed ^ (length as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut at = 0;
    while length - at > 16 {
        hash = fold(eight(at) ^ hash, eight(at + 8) ^ 0xD6E8_FEB8_6659_FD93);
        at += 16;
    }
    // The last sixteen bytes or fewer, as two values that may overlap.
    let (one, two) = match length - at {
        8.. => (eight(at), eight(length - 8)),
        4.. => (u64::from(four(at)), u64::from(four(length - 4))),
        1.. => {
            let (first, middle, last) = (word[at], word[(at + length) / 2], word[length - 1]);
            (u64::from(first) | u64::from(middle) << 8, u64::from(last))
        }
        0 => (0, 0),
    };
    mix(fold(one ^ hash, two ^ 0xA076_1D64_78BD_642F))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn agrees_with_a_plain_map(words: impl IntoIterator<Item = String>) -> WordNumbers {
        let mut numbers = WordNumbers::new();
        let mut map = HashMap::new();
        for word in words {
            let next = map.len() as u32;
            let expected = *map.entry(word.clone()).or_insert(next);
            assert_eq!(numbers.number(word.as_bytes()), Ok(expected), "{word:?}");
        }
        assert_eq!(numbers.len(), map.len());
        numbers
    }

    fn scattered(i: u32) -> u32 {
        i.wrapping_mul(2_654_435_761)
    }

    #[test]
    fn words_get_the_numbers_of_a_plain_map() {
        agrees_with_a_plain_map((0..5000).map(|i| format!("w{}", scattered(i) % 1777)));
        agrees_with_a_plain_map((0..3000).map(|i| "xyz".repeat((scattered(i) % 150) as usize)));
        agrees_with_a_plain_map((0..400).map(|i| "\0".repeat(i % 40)));
    }

    #[test]
    fn plain_numbers_get_the_numbers_of_a_plain_map() {
        let dense =
            agrees_with_a_plain_map((0..90_000).map(|i| (scattered(i) % 40_000).to_string()));
        assert!(dense.words.bytes.is_empty());
        // Scattered ones fill the pages that are free, then become words; pages that are made
        // later for dense ones must not hide them.
        let values = (0..40_000).map(|i| scattered(i) >> 5).chain(0..400_000);
        let again = values.clone().map(|value| value.to_string());
        let mixed = agrees_with_a_plain_map(values.map(|value| value.to_string()).chain(again));
        assert!(!mixed.words.bytes.is_empty());
        assert!(mixed.bytes_held() < 24 * mixed.len() + (4 << 20));
    }

    #[test]
    fn numbers_written_differently_are_different_words() {
        let words = ["7", "07", "007", "0", "00", "", "+7", "7.0", "12345678", "123456789", "7"];
        agrees_with_a_plain_map(words.map(String::from));
    }

    #[test]
    fn a_line_is_cut_at_any_white_space() {
        let mut numbers = Vec::new();
        let mut words = WordNumbers::new();
        words.number_all(b"  a 12\tb\r\n", &mut numbers).unwrap();
        words.number_all(b"12  a c", &mut numbers).unwrap();
        words.number_all(b" ", &mut numbers).unwrap();
        assert_eq!(numbers, [0, 1, 2, 1, 0, 3]);
    }

    proptest! {
        #[test]
        fn eight_bytes_at_once_are_read_as_one_after_the_other(
            words in prop::collection::vec("[0-9]{1,10}|[0-9]{1,6}[a-z:/\u{e9}]|0[0-9]{0,3}", 0..12),
            spaces in prop::collection::vec("[ \t\r\x0c]{1,3}", 12),
        ) {
            let (mut fast, mut slow) = (WordNumbers::new(), WordNumbers::new());
            let (mut text, mut expected) = (String::new(), Vec::new());
            for (word, space) in words.iter().zip(&spaces) {
                text.push_str(word);
                text.push_str(space);
                expected.push(slow.number(word.as_bytes()).unwrap());
            }
            for text in [&text[..], text.trim_end()] {
                let mut numbers = Vec::new();
                fast.number_all(text.as_bytes(), &mut numbers).unwrap();
                prop_assert_eq!(&numbers, &expected);
            }
        }

        #[test]
        fn short_numbers_are_what_the_standard_library_reads(text in "[0-9]{1,9}[ \nx][0-9 ]{0,9}") {
            if let Some((value, length)) = short_number(text.as_bytes()) {
                prop_assert_eq!(value.to_string(), &text[..length]);
                prop_assert!(text.as_bytes()[length].is_ascii_whitespace());
            }
        }
    }

    #[test]
    fn hashes_get_the_numbers_of_a_plain_map() {
        let mut numbers = HashNumbers::new();
        let mut map = HashMap::new();
        for i in 0..5000_u64 {
            let key = (i * i) % 1999 * 0x1_0000_0001;
            let next = map.len() as u32;
            assert_eq!(numbers.number(key), Ok(*map.entry(key).or_insert(next)));
        }
    }
}
