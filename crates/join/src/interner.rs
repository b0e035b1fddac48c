//! Tokens of any kind to dense numbers: words as bytes, shingles as 64-bit hashes.
//!
//! Why our own tables: a join reads every token once and then throws the dictionary away, so
//! it should cost little memory (bytes of the distinct words plus 8 to 12 bytes each) and one
//! probe a token. Words are compared byte by byte, so two words never share a number.
//!
//! Cost: words: their bytes, 4 bytes for the end, 5 to 11 bytes of table. Hashes: 8 bytes and
//! the table.
//! Not here: what a word or a shingle is (`wonbon-text`).

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
#[derive(Debug, Clone, Default)]
pub struct WordNumbers {
    bytes: Vec<u8>,
    ends: Vec<u64>,
    slots: Slots,
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
    pub fn number(&mut self, word: &[u8]) -> Result<u32, JoinError> {
        let hash = hash_bytes(word);
        let (bytes, ends) = (&self.bytes, &self.ends);
        let word_at = |number: u32| {
            let start = if number == 0 { 0 } else { ends[number as usize - 1] as usize };
            &bytes[start..ends[number as usize] as usize]
        };
        if let Ok(number) = self.slots.find(hash, |number| word_at(number) == word) {
            return Ok(number);
        }
        let number = next_number(self.ends.len())?;
        self.slots.insert(hash, number, |number| hash_bytes(word_at(number)));
        self.bytes.extend_from_slice(word);
        self.ends.push(self.bytes.len() as u64);
        Ok(number)
    }

    /// How many distinct words there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether no word was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn bytes_held(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * 8 + self.slots.slots.capacity() * 4
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

/// Hash of a word: eight bytes at a time, each step mixed.
#[inline]
fn hash_bytes(word: &[u8]) -> u64 {
    let mut hash = word.len() as u64;
    let mut chunks = word.chunks_exact(8);
    for chunk in &mut chunks {
        let value = u64::from_le_bytes(chunk.try_into().expect("chunks of eight have eight bytes"));
        hash = mix(hash ^ value);
    }
    let rest = chunks.remainder().iter().fold(0_u64, |value, &byte| value << 8 | u64::from(byte));
    mix(hash ^ rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn words_get_the_numbers_of_a_plain_map() {
        let mut numbers = WordNumbers::new();
        let mut map = HashMap::new();
        for i in 0..5000_u32 {
            let word = format!("{}", i.wrapping_mul(2_654_435_761) % 1777);
            let next = map.len() as u32;
            let expected = *map.entry(word.clone()).or_insert(next);
            assert_eq!(numbers.number(word.as_bytes()), Ok(expected));
        }
        assert_eq!(numbers.len(), map.len());
        assert_eq!(numbers.number(b""), Ok(map.len() as u32));
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
