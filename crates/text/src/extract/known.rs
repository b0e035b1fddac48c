//! What a page's metadata says in words, to recognise it in the page: descriptions and names are the
//! page's own summary of its content.
//!
//! Runs of three words are remembered as hashes, and each text as a whole for blocks of one or two
//! words. A false match has a probability of about 2^-64 a pair.
//!
//! Cost: linear in the metadata and in the text that is looked up.

use std::collections::HashSet;

use super::marks::Hashed;

/// Words of a run.
const RUN: usize = 3;

/// The texts of a page's metadata.
#[derive(Debug, Default)]
pub(crate) struct KnownTexts {
    runs: HashSet<u64, Hashed>,
}

impl KnownTexts {
    /// Remembers a text.
    pub(crate) fn add(&mut self, text: &str) {
        let mut words = Words::default();
        words.read(text, |run| {
            self.runs.insert(run);
        });
        if words.count < RUN {
            self.runs.insert(words.whole());
        }
    }

    /// Whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// How many runs of a text there are, and how many are known.
    pub(crate) fn look_up<'text>(&self, parts: impl Iterator<Item = &'text str>) -> (u32, u32) {
        let (mut known, mut all) = (0, 0);
        let mut words = Words::default();
        for part in parts {
            words.read(part, |run| {
                all += 1;
                known += u32::from(self.runs.contains(&run));
            });
        }
        if words.count < RUN && words.count > 0 {
            return (u32::from(self.runs.contains(&words.whole())), 1);
        }
        (known, all)
    }
}

/// The last words that were read.
#[derive(Debug, Default)]
struct Words {
    last: [u64; RUN],
    count: usize,
}

impl Words {
    fn read(&mut self, text: &str, mut run: impl FnMut(u64)) {
        let mut hash = 0u64;
        for b in text.bytes().chain([b' ']) {
            if b.is_ascii_alphanumeric() || b >= 0x80 {
                let b = u64::from(b.to_ascii_lowercase());
                hash = (hash ^ b).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                hash ^= hash >> 29;
            } else if hash != 0 {
                self.last.rotate_left(1);
                self.last[RUN - 1] = hash;
                self.count += 1;
                hash = 0;
                if self.count >= RUN {
                    run(self.whole());
                }
            }
        }
    }

    /// A hash of the last words.
    fn whole(&self) -> u64 {
        self.last.iter().fold(0, |whole: u64, word| {
            (whole.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_known_texts_are_found_and_others_are_not() {
        let mut known = KnownTexts::default();
        known.add("A small lamp for reading in bed.");
        known.add("Lamp No 7");
        known.add("Lamp");
        let look_up = |text| known.look_up(std::iter::once(text));
        assert_eq!(look_up("small LAMP, for reading"), (2, 2));
        assert_eq!(look_up("Lamp"), (1, 1));
        assert_eq!(look_up("No lamp for sale"), (0, 2));
        assert_eq!(look_up("small"), (0, 1));
        assert_eq!(look_up(""), (0, 0));
    }
}
