//! A corpus of any size with planted families, the same for the same seed.
//!
//! A document is either fresh (words drawn at random, common ones more often) or a copy of a fresh
//! one before it with some of its words replaced. Every document is made from its number alone, so a
//! corpus can be written in any order and needs no memory.

/// Makes documents.
#[derive(Debug)]
pub struct Generator {
    vocabulary: Vec<String>,
    seed: u64,
    words: u64,
}

/// How many of a hundred documents are copies.
pub const COPIES_IN_A_HUNDRED: u64 = 25;

/// How far back the original of a copy may be.
pub const REACH: u64 = 20_000;

/// Shares of replaced words, in ten-thousandths: a copy has one of these.
const EDITS: [u64; 8] = [0, 5, 20, 50, 100, 150, 200, 400];

/// A small random generator: the state after n steps needs no steps before it.
#[derive(Clone, Copy, Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        wonbon_sketch::finalise(self.0)
    }

    fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }
}

impl Generator {
    /// Documents of about `bytes` bytes.
    #[must_use]
    pub fn new(seed: u64, bytes: u64) -> Self {
        let mut random = Random(seed);
        let syllables: Vec<String> =
            "ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me \
            mi mo mu na ne ni no nu ra re ri ro ru sa se si so su ta te ti to tu"
                .split_whitespace()
                .map(str::to_owned)
                .collect();
        let word = |random: &mut Random| {
            let length = 1 + random.below(4);
            (0..length)
                .map(|_| syllables[random.below(syllables.len() as u64) as usize].as_str())
                .collect()
        };
        let vocabulary = (0..50_000).map(|_| word(&mut random)).collect();
        Generator { vocabulary, seed, words: bytes / 6 }
    }

    fn random(&self, number: u64, purpose: u64) -> Random {
        Random(self.seed ^ wonbon_sketch::finalise(number.wrapping_mul(8) + purpose))
    }

    /// The fresh document that this one is a copy of, if it is one.
    #[must_use]
    pub fn original(&self, number: u64) -> Option<u64> {
        let mut random = self.random(number, 1);
        if number == 0 || random.below(100) >= COPIES_IN_A_HUNDRED {
            return None;
        }
        let mut original = number - 1 - random.below(number.min(REACH));
        while original > 0 && self.random(original, 1).below(100) < COPIES_IN_A_HUNDRED {
            original -= 1;
        }
        Some(original)
    }

    /// Appends the text of a document.
    pub fn text(&self, number: u64, out: &mut String) {
        let original = self.original(number);
        let mut words = self.random(original.unwrap_or(number), 2);
        let mut edits = self.random(number, 3);
        let edited = original.map_or(0, |_| EDITS[edits.below(EDITS.len() as u64) as usize]);
        let count = self.words / 2 + words.below(self.words);
        for at in 0..count {
            let mut drawn = words.next();
            if edited > 0 && edits.below(10_000) < edited {
                drawn = edits.next();
            }
            // The cube of a uniform number: common words are drawn far more often.
            let share = (drawn >> 11) as f64 / (1_u64 << 53) as f64;
            let place = (share * share * share * self.vocabulary.len() as f64) as usize;
            if at > 0 {
                out.push_str(if drawn & 15 == 0 { ". " } else { " " });
            }
            out.push_str(&self.vocabulary[place]);
        }
    }

    /// Appends a document as a line of JSON, with an id and a creation time by its number.
    pub fn json_line(&self, number: u64, out: &mut String) {
        let (day, second) = (1 + number / 86_400 % 28, number % 86_400);
        let (month, year) = (1 + number / (86_400 * 28) % 12, 2020);
        out.push_str(&format!(
            "{{\"id\":\"doc-{number}\",\"created\":\"{year}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z\",\"text\":\"",
            second / 3600,
            second / 60 % 60,
            second % 60
        ));
        self.text(number, out);
        out.push_str("\"}\n");
    }
}
