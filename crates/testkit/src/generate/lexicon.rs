//! Made-up words by frequency.
//!
//! A lexicon holds different words in the order of their frequency; the word of rank r is drawn
//! with a probability proportional to 1 / (r + 2), after Zipf, so that a few words make up much of
//! every text and most words are rare. Frequent words are short and rare ones long, as in real
//! languages. English-like words are syllables of consonants and vowels; Korean-like ones are
//! Hangul syllables put together from their parts, most with a particle at the end.
//!
//! Cost: a binary search in the cumulated weights for a word.

use std::collections::BTreeSet;

use super::random::Random;

/// How many words a language has: of the order of what a large blog has seen.
const WORDS: usize = 40_000;

const PARTICLES: [&str; 14] =
    ["은", "는", "이", "가", "을", "를", "에", "의", "도", "로", "에서", "으로", "하고", "했다"];

const ONSETS: [&str; 20] = [
    "", "b", "c", "d", "f", "g", "h", "l", "m", "n", "p", "r", "s", "t", "w", "st", "tr", "pl",
    "th", "sh",
];
const NUCLEI: [&str; 10] = ["a", "e", "i", "o", "u", "e", "a", "ea", "ou", "io"];
const CODAS: [&str; 12] = ["", "", "", "n", "r", "s", "t", "l", "d", "ng", "ck", "rt"];

/// The words of a language and how often they come.
#[derive(Debug)]
pub(super) struct Lexicon {
    words: Vec<String>,
    /// The sum of the weights of a word and all before it.
    cumulated: Vec<u64>,
}

impl Lexicon {
    /// English-like words.
    pub(super) fn english(random: &mut Random) -> Self {
        Self::new(|rank| {
            let syllables = 1 + length_class(rank) / 2 + random.below(2);
            (0..syllables)
                .map(|_| {
                    [pick(&ONSETS, random), pick(&NUCLEI, random), pick(&CODAS, random)].concat()
                })
                .collect()
        })
    }

    /// Korean-like words.
    pub(super) fn korean(random: &mut Random) -> Self {
        Self::new(|rank| {
            let syllables = 1 + length_class(rank) / 3 + random.below(2);
            let mut word: String = (0..syllables).map(|_| hangul(random)).collect();
            if random.below(3) > 0 {
                word.push_str(pick(&PARTICLES, random));
            }
            word
        })
    }

    fn new(mut make: impl FnMut(usize) -> String) -> Self {
        let (mut seen, mut words) = (BTreeSet::new(), Vec::with_capacity(WORDS));
        while words.len() < WORDS {
            let word = make(words.len());
            if seen.insert(word.clone()) {
                words.push(word);
            }
        }
        let mut sum = 0;
        let cumulated = (0..WORDS as u64)
            .map(|rank| {
                sum += (1 << 40) / (rank + 2);
                sum
            })
            .collect();
        Lexicon { words, cumulated }
    }

    /// Draws a word.
    pub(super) fn word(&self, random: &mut Random) -> &str {
        let all = *self.cumulated.last().expect("a lexicon has words");
        let drawn = random.below(all);
        &self.words[self.cumulated.partition_point(|&sum| sum <= drawn)]
    }
}

/// 0 for the most frequent words, one more for every four times the rank.
fn length_class(rank: usize) -> u64 {
    u64::from((rank / 64 + 1).ilog2() / 2)
}

fn pick<'a>(from: &[&'a str], random: &mut Random) -> &'a str {
    from[random.below(from.len() as u64) as usize]
}

/// A Hangul syllable: initial, medial and, in half of them, a final consonant.
fn hangul(random: &mut Random) -> char {
    let (initial, medial) = (random.below(19), random.below(21));
    let last = if random.below(2) == 0 { 0 } else { random.below(28) };
    let code = 0xAC00 + (initial * 21 + medial) * 28 + last;
    u32::try_from(code).ok().and_then(char::from_u32).expect("the code is a Hangul syllable's")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_lexicon_differ_and_are_words() {
        let english = Lexicon::english(&mut Random::new(1, 1, 0));
        let korean = Lexicon::korean(&mut Random::new(1, 1, 1));
        for lexicon in [&english, &korean] {
            assert_eq!(lexicon.words.iter().collect::<BTreeSet<_>>().len(), WORDS);
            for word in &lexicon.words {
                assert_eq!(crate::text::slow_words(word), [word.as_str()]);
            }
        }
    }

    #[test]
    fn frequencies_follow_zipf() {
        let lexicon = Lexicon::english(&mut Random::new(1, 1, 0));
        let mut random = Random::new(2, 2, 2);
        let draws = 200_000;
        let mut first = [0.0; 8];
        for _ in 0..draws {
            let word = lexicon.word(&mut random);
            if let Some(rank) = lexicon.words[..8].iter().position(|candidate| candidate == word) {
                first[rank] += 1.0;
            }
        }
        // The sum of 1/(r + 2) over 40,000 ranks is 10.17; four standard errors are allowed.
        for (rank, count) in first.into_iter().enumerate() {
            let expected = f64::from(draws) / 10.17 / (rank as f64 + 2.0);
            assert!((count - expected).abs() < 4.0 * expected.sqrt(), "{rank}: {count} {expected}");
        }
    }
}
