//! A set of small numbers as bits, which also says how many members come before a number.
//!
//! Why: a table of what only some representatives have (copies their originals, members of buckets their buckets) needs a
//! row for those alone; the rank of a representative is its row.
//!
//! Cost: an eighth of a byte a number, and a byte for every 128; a rank reads two lines of memory.

/// Words of 64 bits between two stored ranks: a cache line.
const WORDS: usize = 8;

/// Which numbers below a limit are in the set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RankedBits {
    words: Vec<u64>,
    /// How many members come before each group of words.
    ranks: Vec<u32>,
}

impl RankedBits {
    /// The set of these bits.
    pub(crate) fn new(bits: Bits) -> Self {
        let words = bits.words;
        let mut before = 0;
        let ranks = words
            .chunks(WORDS)
            .map(|group| {
                let rank = before;
                before += count(group);
                rank
            })
            .collect();
        RankedBits { words, ranks }
    }

    /// Whether a number is in the set.
    #[inline]
    pub(crate) fn contains(&self, number: u32) -> bool {
        self.words[(number / 64) as usize] >> (number % 64) & 1 == 1
    }

    /// How many members are smaller than a number.
    #[inline]
    pub(crate) fn rank(&self, number: u32) -> u32 {
        let word = (number / 64) as usize;
        let below = self.words[word] & ((1 << (number % 64)) - 1);
        let group = word / WORDS;
        self.ranks[group] + count(&self.words[group * WORDS..word]) + below.count_ones()
    }

    /// The row of a number: how many members are smaller, if it is one.
    #[inline]
    pub(crate) fn row(&self, number: u32) -> Option<usize> {
        self.contains(number).then(|| self.rank(number) as usize)
    }

    /// The members, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        (0_u32..).step_by(64).zip(&self.words).flat_map(|(first, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let place = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(first + place)
            })
        })
    }
}

fn count(words: &[u64]) -> u32 {
    words.iter().map(|word| word.count_ones()).sum()
}

/// A set that still grows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// No number of those below a limit.
    pub(crate) fn new(limit: u32) -> Self {
        Bits { words: vec![0; limit as usize / 64 + 1] }
    }

    #[inline]
    pub(crate) fn contains(&self, number: u32) -> bool {
        self.words[(number / 64) as usize] >> (number % 64) & 1 == 1
    }

    #[inline]
    pub(crate) fn insert(&mut self, number: u32) {
        self.words[(number / 64) as usize] |= 1 << (number % 64);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ranks_are_places_in_the_sorted_list(
            limit in prop_oneof![0_u32..70, 500_u32..2000],
            members in prop::collection::vec(0_u32..2000, 0..300),
        ) {
            let members: BTreeSet<u32> = members.into_iter().filter(|&one| one < limit).collect();
            let mut bits = Bits::new(limit);
            members.iter().for_each(|&one| bits.insert(one));
            let set = RankedBits::new(bits.clone());
            prop_assert!(set.iter().eq(members.iter().copied()));
            for number in 0..limit {
                prop_assert_eq!(set.contains(number), members.contains(&number));
                prop_assert_eq!(bits.contains(number), members.contains(&number));
                prop_assert_eq!(set.rank(number) as usize, members.range(..number).count());
                let row = members.iter().position(|&one| one == number);
                prop_assert_eq!(set.row(number), row);
            }
        }
    }
}
