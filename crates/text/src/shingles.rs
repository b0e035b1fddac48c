//! Shingles: every run of `w` consecutive words, as a 64-bit hash.
//!
//! A text of `n >= w` words has `n - w + 1` shingles (with repetitions); a shorter text that has
//! words is one shingle of all of them; a text without words has none. Who needs the shingle *set*
//! removes repetitions; minima and samples do not care.
//!
//! How a shingle is hashed: each word's normal form, taken in pieces of 16 bytes, is folded to 64
//! bits by a 64 x 64 to 128 bit multiplication; the hashes of `w` consecutive words are the
//! coefficients of a polynomial modulo 2^64 whose value rolls from one shingle to the next with two
//! multiplications whatever `w` is; a bijection then spreads every bit over the whole value. The
//! hash has no secret in it: it is a name for the shingle, the same on every machine for ever
//! (see [`SHINGLE_HASH_VERSION`]). Secrets belong to sketches.
//!
//! Cost: four multiplications and no allocation per word. Two different shingles get the same hash
//! with probability about 2^-64: among a million shingles, any two with 3 x 10^-8.
//!
//! Not here: sampling shingles and estimating from samples (`wonbon-sketch`).

#[cfg(target_arch = "x86_64")]
mod vectors;

use std::num::NonZeroUsize;
use std::ops::Range;

use crate::block::runs::Edges;
use crate::words::{BUFFER_BYTES, SLACK, WordSink, walk};

/// The version of the shingle hash; changes when any shingle may get another hash than before.
pub const SHINGLE_HASH_VERSION: u32 = 1;

/// Five words: long enough that a shared shingle means shared text, short enough that one changed
/// word costs only five of them. Longer shingles make every change count more.
pub const DEFAULT_SHINGLE_WORDS: NonZeroUsize = NonZeroUsize::new(5).expect("five is not zero");

/// The longest shingle that can be asked for; a text is rarely worth comparing by longer ones.
pub const MAX_SHINGLE_WORDS: usize = 65_536;

/// How many shingles are handed over at a time.
pub const CHUNK_SHINGLES: usize = 1024;

/// What was seen while the shingles were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShingleCount {
    /// Words of the text.
    pub words: u64,
    /// Shingles of the text, repetitions included.
    pub shingles: u64,
    /// A hash of the whole sequence of words: equal for equal normal forms.
    pub normal_form_hash: u64,
}

/// Makes the shingles of one text after another, reusing its memory.
#[derive(Debug)]
pub struct Shingler {
    shingle_words: usize,
    /// Normalised text, for the walk over the words.
    buffer: Vec<u8>,
    /// Where words begin and end in it.
    edges: Edges,
    /// Hashes of words: those of one shingle that went before, then a chunk of new ones.
    hashes: Vec<u64>,
    /// The shingles that end with the new words.
    chunk: Vec<u64>,
}

impl Shingler {
    /// Shingles of `shingle_words` words.
    ///
    /// # Panics
    ///
    /// If these are more than [`MAX_SHINGLE_WORDS`].
    #[must_use]
    pub fn new(shingle_words: NonZeroUsize) -> Self {
        let shingle_words = shingle_words.get();
        assert!(shingle_words <= MAX_SHINGLE_WORDS, "a shingle of {shingle_words} words");
        Shingler {
            shingle_words,
            buffer: Vec::new(),
            edges: Edges::new(BUFFER_BYTES / 2),
            hashes: vec![0; shingle_words + CHUNK_SHINGLES],
            chunk: vec![0; CHUNK_SHINGLES],
        }
    }

    /// Calls `each` with the shingle hashes of `text`, in order and with repetitions, up to
    /// [`CHUNK_SHINGLES`] at a time: constant memory for any length of text.
    #[inline]
    pub fn for_each_chunk(&mut self, text: &str, each: impl FnMut(&[u64])) -> ShingleCount {
        self.hashes[..self.shingle_words].fill(0);
        let mut rolling = Rolling {
            each,
            shingle_words: self.shingle_words,
            hashes: &mut self.hashes,
            filled: self.shingle_words,
            chunk: &mut self.chunk,
            edges: &mut self.edges,
            count: ShingleCount::default(),
        };
        walk(text, &mut self.buffer, &mut rolling);
        rolling.finish()
    }

    /// Calls `each` with the hash of every word of `text`, in order: the words without the shingles.
    #[inline]
    pub fn for_each_word_hash(&mut self, text: &str, each: impl FnMut(u64)) {
        struct Hashes<'a, F>(F, &'a mut Edges);
        impl<F: FnMut(u64)> WordSink for Hashes<'_, F> {
            #[inline]
            fn word(&mut self, buffer: &[u8], word: Range<usize>, _place: Range<usize>) {
                self.take_edges(buffer);
                (self.0)(hash_padded(buffer, word));
            }

            #[inline]
            fn word_of_text(&mut self, text: &[u8], place: Range<usize>, buffer: &[u8]) {
                self.take_edges(buffer);
                (self.0)(hash_padded(text, place));
            }

            #[inline]
            fn edges(&mut self) -> Option<&mut Edges> {
                Some(self.1)
            }

            #[inline]
            fn take_edges(&mut self, buffer: &[u8]) {
                for &[start, end] in self.1.words() {
                    (self.0)(hash_padded(buffer, start as usize..end as usize));
                }
                self.1.clear();
            }
        }
        walk(text, &mut self.buffer, &mut Hashes(each, &mut self.edges));
    }
}

/// The shingle hashes of `text`, in order and with repetitions.
///
/// ```
/// use std::num::NonZeroUsize;
/// let four = NonZeroUsize::new(4).unwrap();
/// let shingles = wonbon_text::shingles::shingles("a rose is a rose is a rose", four);
/// assert_eq!(shingles.len(), 5);
/// assert_eq!(shingles[0], shingles[3]); // (a, rose, is, a) occurs twice
/// ```
#[must_use]
pub fn shingles(text: &str, shingle_words: NonZeroUsize) -> Vec<u64> {
    let mut all = Vec::new();
    Shingler::new(shingle_words).for_each_chunk(text, |chunk| all.extend_from_slice(chunk));
    all
}

/// The hash of one word in normal form.
#[must_use]
pub fn word_hash(word: &str) -> u64 {
    let mut buffer = vec![0; word.len() + SLACK];
    buffer[..word.len()].copy_from_slice(word.as_bytes());
    hash_padded(&buffer, 0..word.len())
}

/// The hash of one shingle, word by word: what the rolling computation must equal.
#[must_use]
pub fn shingle_hash<'a>(words: impl IntoIterator<Item = &'a str>) -> u64 {
    let value = words
        .into_iter()
        .fold(0_u64, |value, word| value.wrapping_mul(BASE).wrapping_add(word_hash(word)));
    spread(value)
}

/// Odd numbers without structure: the fractional parts of the square roots of 2, 3, 5 and 7, made
/// odd.
const FIRST: u64 = 0x6A09_E667_F3BC_C909;
const SECOND: u64 = 0xBB67_AE85_84CA_A73B;
const BASE: u64 = 0x3C6E_F372_FE94_F82B;
const SPREAD: u64 = 0xA54F_F53A_5F1D_36F1;

/// Folds two 64-bit values into one through their 128-bit product.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// A bijection of the 64-bit values in which every bit of the result depends on every bit.
#[inline]
fn spread(value: u64) -> u64 {
    let value = (value ^ (value >> 32)).wrapping_mul(SPREAD);
    value ^ (value >> 29)
}

/// Hashes `buffer[word]`, piece after piece, each folded into what precedes it; [`SLACK`] readable
/// bytes follow the word.
#[inline]
fn hash_padded(buffer: &[u8], word: Range<usize>) -> u64 {
    let (mut start, mut hash) = (word.start, 0);
    while start + 16 < word.end {
        hash = fold_piece(hash, buffer, start, 16);
        start += 16;
    }
    fold_piece(hash, buffer, start, word.end - start)
}

/// Folds the first `length <= 16` of at least 16 bytes from `start` on into a hash. A word has no zero bytes,
/// so filling up with zeros keeps different words different.
#[inline]
fn fold_piece(hash: u64, buffer: &[u8], start: usize, length: usize) -> u64 {
    /// The bits of the first `n` bytes of a little-endian value.
    const KEEP: [u128; 17] = {
        let mut keep = [u128::MAX; 17];
        let mut n = 0;
        while n < 16 {
            keep[n] = (1 << (8 * n)) - 1;
            n += 1;
        }
        keep
    };
    let piece = buffer.get(start..start + 16).and_then(|piece| piece.first_chunk::<16>());
    let value = u128::from_le_bytes(*piece.expect("a piece has 16 readable bytes")) & KEEP[length];
    fold((value as u64) ^ FIRST ^ hash, ((value >> 64) as u64) ^ SECOND)
}

/// Collects the hashes of the words of one text and makes shingles of them a chunk at a time.
///
/// In three steps because each alone is a short loop: finding words, hashing them, then arithmetic on lists of
/// numbers. The hash of the normal form goes with the second: it waits for one multiplication after another,
/// and the hashes of words are computed meanwhile.
struct Rolling<'a, F> {
    each: F,
    shingle_words: usize,
    hashes: &'a mut [u64],
    filled: usize,
    chunk: &'a mut [u64],
    edges: &'a mut Edges,
    count: ShingleCount,
}

impl<F: FnMut(&[u64])> Rolling<'_, F> {
    /// Makes the shingles that end with the new words and hands them out.
    #[inline(never)]
    fn roll(&mut self) {
        let (length, new) = (self.shingle_words, self.filled - self.shingle_words);
        // Words before the text count as 0.
        write_shingles(&self.hashes[1..self.filled], length, &mut self.chunk[..new]);

        // The first `length - 1` words of a text do not end a shingle.
        let unfinished = (length as u64 - 1).saturating_sub(self.count.words);
        let first = usize::try_from(unfinished).map_or(new, |unfinished| unfinished.min(new));
        self.count.words += new as u64;
        self.hand_out(first..new);
        self.hashes.copy_within(new..new + length, 0);
        self.filled = length;
    }

    fn hand_out(&mut self, shingles: Range<usize>) {
        if !shingles.is_empty() {
            self.count.shingles += shingles.len() as u64;
            (self.each)(&self.chunk[shingles]);
        }
    }

    fn finish(mut self) -> ShingleCount {
        self.roll();
        if self.count.shingles == 0 && self.count.words > 0 {
            let words = &self.hashes[..self.shingle_words];
            let value = words.iter().fold(0_u64, |value, &hash| append(value, hash));
            self.chunk[0] = spread(value);
            self.hand_out(0..1);
        }
        self.count
    }

    #[inline]
    fn push(&mut self, hash: u64) {
        self.hashes[self.filled] = hash;
        self.filled += 1;
        let normal = &mut self.count.normal_form_hash;
        *normal = append_to_normal_form(*normal, hash);
        if self.filled == self.hashes.len() {
            self.roll();
        }
    }
}

impl<F: FnMut(&[u64])> WordSink for Rolling<'_, F> {
    #[inline]
    fn word(&mut self, buffer: &[u8], word: Range<usize>, _place: Range<usize>) {
        if !self.edges.has_room() {
            self.take_edges(buffer);
        }
        self.edges.push(word.start, word.end);
    }

    #[inline]
    fn word_of_text(&mut self, text: &[u8], place: Range<usize>, buffer: &[u8]) {
        if !self.edges.is_empty() {
            self.take_edges(buffer);
        }
        self.push(hash_padded(text, place));
    }

    #[inline]
    fn edges(&mut self) -> Option<&mut Edges> {
        Some(self.edges)
    }

    #[inline(never)]
    fn take_edges(&mut self, buffer: &[u8]) {
        let mut taken = 0;
        loop {
            let words = &self.edges.words()[taken..];
            let room = &mut self.hashes[self.filled..];
            let mut normal = self.count.normal_form_hash;
            for (&[start, end], hash) in words.iter().zip(&mut *room) {
                *hash = hash_padded(buffer, start as usize..end as usize);
                normal = append_to_normal_form(normal, *hash);
            }
            self.count.normal_form_hash = normal;
            let done = words.len().min(room.len());
            taken += done;
            self.filled += done;
            if done == words.len() && self.filled < self.hashes.len() {
                break;
            }
            self.roll();
        }
        self.edges.clear();
    }
}

#[inline]
fn append_to_normal_form(normal: u64, hash: u64) -> u64 {
    (normal.rotate_left(23) ^ hash).wrapping_mul(SPREAD)
}

#[inline]
fn append(value: u64, hash: u64) -> u64 {
    value.wrapping_mul(BASE).wrapping_add(hash)
}

/// The shingles of `length` words, one for every run of so many hashes.
fn write_shingles(hashes: &[u64], length: usize, shingles: &mut [u64]) {
    if length != 5 {
        return roll_shingles(hashes, length, shingles);
    }
    #[cfg(target_arch = "x86_64")]
    if vectors::write_five_by_vectors(hashes, shingles) {
        return;
    }
    write_five(hashes, shingles);
}

/// Shingles of five words: without a chain from one to the next, so that several are computed at once.
#[inline(always)]
fn write_five(hashes: &[u64], shingles: &mut [u64]) {
    let count = shingles.len();
    let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|from| &hashes[from..from + count]);
    for at in 0..count {
        let words = [b[at], c[at], d[at], e[at]];
        shingles[at] = spread(words.into_iter().fold(a[at], append));
    }
}

/// The same for any length: the polynomial over the last words, rolling.
fn roll_shingles(hashes: &[u64], length: usize, shingles: &mut [u64]) {
    // The weight of the word that drops out of the polynomial.
    let leaving_weight = (1..length).fold(1_u64, |power, _| power.wrapping_mul(BASE));
    let (first, arriving) = hashes.split_at(length - 1);
    let mut value = first.iter().fold(0, |value, &hash| append(value, hash));
    for ((&hash, &leaving), shingle) in arriving.iter().zip(hashes).zip(shingles) {
        value = append(value, hash);
        *shingle = spread(value);
        value = value.wrapping_sub(leaving.wrapping_mul(leaving_weight));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn shingles_of_five_are_those_that_roll(hashes in prop::collection::vec(any::<u64>(), 5..60)) {
            let mut made = vec![vec![0; hashes.len() - 4]; 3];
            write_shingles(&hashes, 5, &mut made[0]);
            write_five(&hashes, &mut made[1]);
            roll_shingles(&hashes, 5, &mut made[2]);
            prop_assert_eq!(&made[0], &made[1]);
            prop_assert_eq!(&made[1], &made[2]);
        }
    }
}
