//! The words of one document as numbers: where each word is, hashes of all windows, and the seeds.
//!
//! A *window* is `N` consecutive words. Storing every window of a corpus would take sixteen bytes a word, three times
//! the text. So the first pass keeps *seeds* only: of the `N - k + 1` runs of `k` words inside a window it keeps the one
//! with the smallest hash, the leftmost of equal ones (a minimizer).
//!
//! Proof that no repeated run of `N` words is lost: which of its seeds a window keeps depends on the words of the window
//! and on nothing else. Two windows with the same words therefore keep seeds with the same words at the same distance from
//! their starts, and equal words have equal hashes. So the seed that a repeated window keeps occurs at two different
//! places at least. A window whose seed occurs once is not repeated. A collision of hashes only makes more
//! seeds look repeated; every later step compares again.
//!
//! With `k = N / 2` neighbouring windows share their seed so often that about `2 / (N - k + 2)` of all words begin one: 7
//! in 100 words for `N = 50`.
//!
//! Cost: one pass over the bytes, 40 bytes of memory a word of the longest document.

use std::collections::VecDeque;

/// How long windows and seeds are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WindowPlan {
    /// Words of a window.
    pub(crate) words: usize,
    /// Words of a seed.
    pub(crate) seed_words: usize,
    /// Which bits of a hash count: all of them. Tests take fewer, so that different windows collide.
    pub(crate) hash_bits: u64,
}

/// Up to so many runs of a window are looked at again when the smallest one has left: cheaper than a queue unless most of
/// them are equal, and then no more than this.
const LONGEST_RESCAN: usize = 64;

/// Seeds have at least so many words, where windows have them: shorter ones repeat by chance.
const LEAST_SEED_WORDS: usize = 8;

impl WindowPlan {
    /// Windows of so many words.
    pub(crate) fn new(words: usize) -> Self {
        let seed_words = words.div_ceil(2).max(LEAST_SEED_WORDS).min(words);
        WindowPlan { words, seed_words, hash_bits: u64::MAX }
    }
}

/// A document that is being looked at, reusing its memory for the next one.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// The normal form: every word is followed by a space, the last one by a line break.
    pub(crate) text: Vec<u8>,
    /// Where each word starts.
    pub(crate) starts: Vec<usize>,
    /// Where each word ends.
    pub(crate) ends: Vec<usize>,
    hashes: Vec<u64>,
    seeds: Vec<u64>,
    windows: Vec<u64>,
    queue: VecDeque<usize>,
}

impl Scan {
    /// Finds the words of `text`, without those in `removed`, which is ascending.
    pub(crate) fn split(&mut self, removed: &[(u64, u64)], text_start: u64) {
        self.starts.clear();
        self.ends.clear();
        self.hashes.clear();
        let mut removed = removed.iter().peekable();
        let Some(last) = self.text.len().checked_sub(1) else { return };
        let text = &self.text[..last];
        let mut start = 0;
        while start < last {
            let (length, hash) = first_word(&text[start..]);
            let end = start + length;
            if length > 0 {
                let at = text_start + start as u64;
                while removed.next_if(|range| range.1 <= at).is_some() {}
                if removed.peek().is_none_or(|range| at < range.0) {
                    self.starts.push(start);
                    self.ends.push(end);
                    self.hashes.push(hash);
                }
            }
            start = end + 1;
        }
    }

    /// How many words there are.
    pub(crate) fn words(&self) -> usize {
        self.starts.len()
    }

    /// Some of the words, as they stand in a text from which nothing was removed.
    pub(crate) fn join(&self, words: std::ops::Range<usize>, out: &mut Vec<u8>) {
        out.clear();
        let (first, last) = (self.starts[words.start], self.ends[words.end - 1]);
        if !self.has_gap(words.clone()) {
            return out.extend_from_slice(&self.text[first..last]);
        }
        for word in words {
            if !out.is_empty() {
                out.push(b' ');
            }
            out.extend_from_slice(&self.text[self.starts[word]..self.ends[word]]);
        }
    }

    /// Whether words were removed between some of these.
    fn has_gap(&self, words: std::ops::Range<usize>) -> bool {
        (words.start + 1..words.end).any(|word| self.is_behind_gap(word))
    }

    fn is_behind_gap(&self, word: usize) -> bool {
        word > 0 && self.starts[word] != self.ends[word - 1] + 1
    }

    /// Calls `each` with the starts of all words, the first word of every window, and the first word and the hash of its
    /// seed.
    pub(crate) fn for_each_window(
        &mut self,
        plan: WindowPlan,
        mut each: impl FnMut(&[usize], usize, usize, u64),
    ) {
        roll(&self.hashes, plan.seed_words, plan.hash_bits, &mut self.seeds);
        let span = plan.words - plan.seed_words;
        if span > LONGEST_RESCAN {
            return self.for_each_window_by_queue(span, each);
        }
        let (seeds, mut least) = (&self.seeds[..], 0);
        for (window, behind) in (span..seeds.len()).enumerate() {
            if window == 0 || least < window {
                // The leftmost of the smallest.
                least = window;
                for at in window + 1..=behind {
                    least = if seeds[at] < seeds[least] { at } else { least };
                }
            } else if seeds[behind] < seeds[least] {
                least = behind;
            }
            each(&self.starts, window, least, seeds[least]);
        }
    }

    /// The same in time that does not depend on how many runs a window has, even if all are equal.
    fn for_each_window_by_queue(
        &mut self,
        span: usize,
        mut each: impl FnMut(&[usize], usize, usize, u64),
    ) {
        self.queue.clear();
        for (arriving, &hash) in self.seeds.iter().enumerate() {
            while self.queue.back().is_some_and(|&other| self.seeds[other] > hash) {
                self.queue.pop_back();
            }
            self.queue.push_back(arriving);
            let Some(window) = arriving.checked_sub(span) else { continue };
            if self.queue.front().is_some_and(|&seed| seed < window) {
                self.queue.pop_front();
            }
            if let Some(&seed) = self.queue.front() {
                each(&self.starts, window, seed, self.seeds[seed]);
            }
        }
    }

    /// Calls `each` with the start and the hash of every seed that a window keeps; with `across_gaps`, of the windows
    /// only that have words on both sides of a gap.
    pub(crate) fn for_each_seed(
        &mut self,
        plan: WindowPlan,
        across_gaps: bool,
        mut each: impl FnMut(usize, u64),
    ) {
        let gaps: Vec<usize> = if across_gaps {
            (1..self.words()).filter(|&word| self.is_behind_gap(word)).collect()
        } else {
            Vec::new()
        };
        let (mut next_gap, mut last) = (0, usize::MAX);
        self.for_each_window(plan, |starts, window, seed, hash| {
            while next_gap < gaps.len() && gaps[next_gap] <= window {
                next_gap += 1;
            }
            let has_gap = gaps.get(next_gap).is_some_and(|&word| word < window + plan.words);
            if seed != last && (has_gap || !across_gaps) {
                last = seed;
                each(starts[seed], hash);
            }
        });
    }

    /// The hashes of all windows.
    pub(crate) fn window_hashes(&mut self, plan: WindowPlan) -> &[u64] {
        roll(&self.hashes, plan.words, plan.hash_bits, &mut self.windows);
        &self.windows
    }
}

/// Odd numbers without structure: the fractional parts of the square roots of 11, 13, 17 and 19, made odd.
const FIRST: u64 = 0x510E_527F_ADE6_82D1;
const SECOND: u64 = 0x9B05_688C_2B3E_6C1F;
const BASE: u64 = 0x1F83_D9AB_FB41_BD6B;
const SPREAD: u64 = 0x5BE0_CD19_137E_2179;

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// The length and the hash of the word before the first space, or of the whole rest.
///
/// Sixteen bytes are looked at at a time, as one number: its lowest byte that is a space is the lowest byte in which
/// subtracting one borrows.
#[inline]
fn first_word(rest: &[u8]) -> (usize, u64) {
    let (mut at, mut hash) = (0, 0);
    loop {
        let piece = match rest[at..].first_chunk::<16>() {
            Some(piece) => u128::from_le_bytes(*piece),
            None => {
                let mut piece = [b' '; 16];
                piece[..rest.len() - at].copy_from_slice(&rest[at..]);
                u128::from_le_bytes(piece)
            }
        };
        let other = piece ^ SPACES;
        let spaces = other.wrapping_sub(EVERY_BYTE) & !other & (EVERY_BYTE << 7);
        if spaces != 0 {
            let length = spaces.trailing_zeros() & !7;
            // A full piece before this one: the length tells it from a word that ends there.
            let word = piece & ((1 << length) - 1);
            let (low, high) = (word as u64, (word >> 64) as u64);
            let length = at + (length / 8) as usize;
            return (length, fold(low ^ FIRST ^ hash, high ^ SECOND ^ length as u64));
        }
        hash = fold(piece as u64 ^ FIRST ^ hash, (piece >> 64) as u64 ^ SECOND);
        at += 16;
    }
}

const EVERY_BYTE: u128 = u128::MAX / 0xFF;
const SPACES: u128 = EVERY_BYTE * b' ' as u128;

/// The hashes of all runs of `length` words.
fn roll(words: &[u64], length: usize, hash_bits: u64, out: &mut Vec<u64>) {
    out.clear();
    if words.len() < length {
        return;
    }
    let leaving_weight = (0..length).fold(1_u64, |power, _| power.wrapping_mul(BASE));
    let mut value = words[..length]
        .iter()
        .fold(0_u64, |value, word| value.wrapping_mul(BASE).wrapping_add(*word));
    let mixed = |value: u64| {
        let mixed = (value ^ (value >> 32)).wrapping_mul(SPREAD);
        (mixed ^ (mixed >> 29)) & hash_bits
    };
    out.reserve(words.len() - length + 1);
    out.push(mixed(value));
    out.extend(words[length..].iter().zip(words).map(|(&arriving, &leaving)| {
        let difference = arriving.wrapping_sub(leaving.wrapping_mul(leaving_weight));
        value = value.wrapping_mul(BASE).wrapping_add(difference);
        mixed(value)
    }));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scan_of(words: &[String]) -> Scan {
        let mut scan = Scan { text: words.join(" ").into_bytes(), ..Scan::default() };
        scan.text.push(b'\n');
        scan.split(&[], 0);
        scan
    }

    proptest! {
        #[test]
        fn a_window_keeps_the_leftmost_of_its_smallest_seeds_and_hashes_are_of_words_alone(
            words in prop::collection::vec("[ab]{1,2}|[a-z]{13,40}", 0..160),
            length in prop_oneof![4 => 1_usize..30, 1 => 60_usize..140],
        ) {
            let plan = WindowPlan { seed_words: length.div_ceil(2), ..WindowPlan::new(length) };
            let mut scan = scan_of(&words);
            prop_assert_eq!(scan.words(), words.len());
            let mut found = Vec::new();
            scan.for_each_window(plan, |_, window, seed, hash| found.push((window, seed, hash)));
            let alone = |words: &[String]| {
                let mut scan = scan_of(words);
                scan.window_hashes(WindowPlan { words: words.len(), ..plan })[0]
            };
            let seeds: Vec<u64> = words.windows(plan.seed_words).map(alone).collect();
            let expected: Vec<(usize, usize, u64)> = (0..(words.len() + 1).saturating_sub(length))
                .map(|window| {
                    let places = window..=window + length - plan.seed_words;
                    let seed = places.min_by_key(|&place| (seeds[place], place)).unwrap();
                    (window, seed, seeds[seed])
                })
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
