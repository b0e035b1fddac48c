//! Seeded sets with the shape of the paper's two data sets.
//!
//! DBLP: author names and title words of publications, 988,567 records, 15.2 tokens on
//! average, about 710,000 distinct tokens. ENRON: words of e-mails, 245,481 records, 285.5
//! tokens on average, about 2.36 million distinct tokens. The real files are not public in the
//! paper's form; these have the same counts, a skewed size distribution, token frequencies
//! that fall as a power of the rank, and a share of near-copies, so that a join has something
//! to find at every threshold.
//!
//! Guarantee: the same seed gives the same records on every machine (integer arithmetic and
//! a table only).
//! Not here: the exact pair counts of the paper; only its shape.

/// A small seeded generator of 64-bit numbers (a counter, mixed).
#[derive(Debug, Clone)]
pub struct Numbers(u64);

impl Numbers {
    /// Starts a sequence.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678_9ABC_DEF0)
    }

    /// The next number.
    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `limit` (which is not zero).
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next_number()) * u128::from(limit)) >> 64) as u64
    }
}

/// What a generated data set looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Number of records.
    pub records: u32,
    /// Average size aimed at, in hundredths of a token.
    pub average_hundredths: u32,
    /// Least size.
    pub least: u32,
    /// How skewed sizes are: the sum of this many uniform draws makes a size; fewer are wider.
    pub draws: u32,
    /// Distinct tokens the frequent part of the vocabulary has.
    pub common: u32,
    /// In 1000 tokens so many are names: drawn from the long tail.
    pub tail_in_1000: u32,
    /// Size of the long tail.
    pub tail: u32,
    /// In 1000 records so many are edited copies of an earlier one.
    pub copies_in_1000: u32,
    /// Seed of everything.
    pub seed: u64,
}

/// The paper's DBLP.
pub const DBLP: Shape = Shape {
    records: 988_567,
    average_hundredths: 1_520,
    least: 3,
    draws: 3,
    common: 60_000,
    tail_in_1000: 220,
    tail: 700_000,
    copies_in_1000: 30,
    seed: 2012,
};

/// The paper's ENRON.
pub const ENRON: Shape = Shape {
    records: 245_481,
    average_hundredths: 28_550,
    least: 4,
    draws: 1,
    common: 40_000,
    tail_in_1000: 90,
    tail: 2_500_000,
    copies_in_1000: 200,
    seed: 2012,
};

impl Shape {
    /// The same shape with another number of records; the tail shrinks or grows with it.
    #[must_use]
    pub fn with_records(self, records: u32) -> Self {
        let tail = u64::from(self.tail) * u64::from(records) / u64::from(self.records);
        Self { records, tail: (tail as u32).max(1), ..self }
    }

    /// Generates the records, handing each to `each` (tokens in no order, without repetition).
    pub fn generate(&self, mut each: impl FnMut(&[u32])) {
        let mut numbers = Numbers::seeded(self.seed);
        let ranks = skewed_ranks(self.common);
        // Copies are made of recent originals, as mails and re-listed papers are.
        let mut recent: Vec<Vec<u32>> = Vec::new();
        let mut tokens: Vec<u32> = Vec::new();
        for _ in 0..self.records {
            tokens.clear();
            if !recent.is_empty() && numbers.below(1000) < u64::from(self.copies_in_1000) {
                let original = &recent[numbers.below(recent.len() as u64) as usize];
                tokens.extend_from_slice(original);
                // Between no edit and every third token: more small edits than large ones.
                let share = numbers.below(34).min(numbers.below(34));
                let edits = (tokens.len() as u64 * share).div_ceil(100);
                for _ in 0..edits {
                    let at = numbers.below(tokens.len() as u64) as usize;
                    match numbers.below(3) {
                        0 if tokens.len() > 1 => {
                            tokens.swap_remove(at);
                        }
                        1 => tokens[at] = self.token(&ranks, &mut numbers),
                        _ => tokens.push(self.token(&ranks, &mut numbers)),
                    }
                }
            } else {
                let size = self.size(&mut numbers);
                // Drawing again on repetition keeps the size; frequent words repeat often.
                let mut seen = std::collections::HashSet::with_capacity(size as usize);
                let mut tries = 0;
                while tokens.len() < size as usize && tries < 20 * size {
                    let token = self.token(&ranks, &mut numbers);
                    if seen.insert(token) {
                        tokens.push(token);
                    }
                    tries += 1;
                }
                if recent.len() < 4096 {
                    recent.push(tokens.clone());
                } else {
                    let at = numbers.below(4096) as usize;
                    recent[at].clone_from(&tokens);
                }
            }
            tokens.sort_unstable();
            tokens.dedup();
            each(&tokens);
        }
    }

    fn size(&self, numbers: &mut Numbers) -> u32 {
        let spread = u64::from(self.average_hundredths) - u64::from(self.least) * 100;
        // With one draw: a product of two uniform draws, quadrupled, has mean `spread` and a
        // long right tail. With more draws: their mean, doubled, is bell-shaped.
        let hundredths = if self.draws == 1 {
            let (a, b) = (numbers.below(1 << 20), numbers.below(1 << 20));
            ((u128::from(spread) * 4 * u128::from(a) * u128::from(b)) >> 40) as u64
        } else {
            let draws = u64::from(self.draws);
            (0..draws).map(|_| numbers.below(2 * spread)).sum::<u64>() / draws
        };
        self.least + (hundredths / 100) as u32
    }

    fn token(&self, ranks: &[u32], numbers: &mut Numbers) -> u32 {
        if numbers.below(1000) < u64::from(self.tail_in_1000) {
            // Half of the tail's draws go to its first tenth: names that come back.
            let width = if numbers.below(2) == 0 { self.tail / 10 } else { self.tail };
            self.common + numbers.below(u64::from(width.max(1))) as u32
        } else {
            ranks[numbers.below(ranks.len() as u64) as usize]
        }
    }
}

/// A table in which rank `r` stands in proportion to about `1 / r`, so that a uniform draw
/// from it has a Zipf distribution. Made of integers only.
fn skewed_ranks(common: u32) -> Vec<u32> {
    let slots_for_first = u64::from(common) / 2;
    let mut ranks = Vec::new();
    let mut owed = 0_u64;
    for rank in 0..common {
        // A flattened head: the very first ranks would otherwise be in every record.
        owed += (slots_for_first << 16) / (u64::from(rank) + 12);
        while owed >= 1 << 16 {
            ranks.push(rank);
            owed -= 1 << 16;
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn facts(shape: Shape) -> (usize, f64, usize) {
        let (mut records, mut tokens) = (0, 0);
        let mut distinct = HashSet::new();
        shape.generate(|set| {
            records += 1;
            tokens += set.len();
            distinct.extend(set.iter().copied());
        });
        (records, tokens as f64 / records as f64, distinct.len())
    }

    #[test]
    fn generated_sets_have_the_shape_asked_for() {
        let (records, average, _) = facts(DBLP.with_records(20_000));
        assert_eq!(records, 20_000);
        assert!((14.7..15.7).contains(&average), "{average}");
        let (_, average, _) = facts(ENRON.with_records(3_000));
        assert!((270.0..300.0).contains(&average), "{average}");
    }

    #[test]
    fn the_same_seed_gives_the_same_records() {
        let collect = || {
            let mut all = Vec::new();
            DBLP.with_records(500).generate(|set| all.push(set.to_vec()));
            all
        };
        assert_eq!(collect(), collect());
    }
}
