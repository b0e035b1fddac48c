//! Signatures: sets of tokens as bits under exclusive or.
//!
//! The bit of a token is a function of its number; a signature is the exclusive or of its
//! tokens' bits. Each bit in which two signatures differ comes from at least one token that
//! only one of the sets has, so `differing bits <= tokens in one set only`.
//!
//! A wide signature *folds*: the exclusive or of its two halves is the signature of half the
//! width. So a probe has one signature and can be compared with records of narrower ones.
//!
//! The wider, the fewer bits cancel out: [`words_for`] picks a width at which sets that share
//! little are ruled out nearly always.

/// The widest signature: 4,096 bits.
pub(super) const MOST_WORDS: usize = 64;

/// A signature at its width and at each half of that, widest first: down to one word.
#[derive(Debug, Default)]
pub(super) struct Widths(Vec<Vec<u64>>);

impl Widths {
    /// Room for the widest, to be filled by `fill`; the others follow from it.
    pub(super) fn make(&mut self, widest: usize, fill: impl FnOnce(&mut [u64])) {
        let wide = &mut self.0;
        wide.resize_with(widest.ilog2() as usize + 1, Vec::new);
        wide[0].resize(widest, 0);
        fill(&mut wide[0]);
        for at in 1..wide.len() {
            let (before, after) = wide.split_at_mut(at);
            after[0].clone_from(&before[at - 1]);
            fold(&mut after[0], widest >> at);
        }
    }

    /// The widest that is not wider than so many words.
    #[inline]
    pub(super) fn at_most(&self, words: usize) -> &[u64] {
        let found = self.0.iter().find(|signature| signature.len() <= words);
        found.expect("there is every width down to one word")
    }
}

/// Halves a signature until it has `words` words.
fn fold(signature: &mut Vec<u64>, words: usize) {
    while signature.len() > words {
        let half = signature.len() / 2;
        let (low, high) = signature.split_at_mut(half);
        for (low, high) in low.iter_mut().zip(high) {
            *low ^= *high;
        }
        signature.truncate(half);
    }
}

/// How many words a signature needs so that two sets of `size` tokens that share a quarter of
/// them differ in clearly more than `allowed` bits; none if no width does it. (Mails share that
/// much without resembling each other. Four deviations: with three, 285 tokens and Jaccard 0.75,
/// ten times as many records were verified for nothing and the join took 1.3 times as long; with
/// six the wider signatures took 1.15 times as long.)
pub(super) fn words_for(size: u32, allowed: u32) -> Option<usize> {
    let differing = 1.45 * f64::from(size);
    let mut words = 1;
    while words <= MOST_WORDS {
        let bits = (words * 64) as f64;
        // Expectation and deviation of the number of odd cells when balls are thrown.
        let odd = 0.5 * (1.0 - (-2.0 * differing / bits).exp());
        let (mean, deviation) = (bits * odd, (bits * odd * (1.0 - odd)).sqrt());
        if mean - 4.0 * deviation > f64::from(allowed) {
            return Some(words);
        }
        words *= 2;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{Kernel, narrow_bit};
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    fn make(signature: &mut [u64], tokens: &[u32]) {
        Kernel::detect().wide_signature(signature, tokens);
    }

    proptest! {
        #[test]
        fn signatures_never_differ_in_more_bits_than_the_sets_in_tokens(
            x in btree_set(0_u32..500, 0..90),
            y in btree_set(0_u32..500, 0..90),
            width in 0_u32..6,
        ) {
            let difference = x.symmetric_difference(&y).count() as u32;
            let (x, y) = (Vec::from_iter(x), Vec::from_iter(y));
            let (mut one, mut two) = (vec![0; 1 << width], vec![0; 1 << width]);
            make(&mut one, &x);
            make(&mut two, &y);
            let differing: u32 = one.iter().zip(&two).map(|(a, b)| (a ^ b).count_ones()).sum();
            prop_assert!(differing <= difference);
            let narrow = |set: &[u32]| set.iter().fold(0, |bits, &token| bits ^ narrow_bit(token));
            prop_assert!((narrow(&x) ^ narrow(&y)).count_ones() <= difference);
        }

        #[test]
        fn folding_gives_the_narrower_signature(
            x in btree_set(any::<u32>(), 0..90),
            width in 0_u32..6,
            narrower in 0_u32..6,
        ) {
            let x = Vec::from_iter(x);
            let narrower = narrower.min(width);
            let (mut wide, mut narrow) = (vec![0; 1 << width], vec![0; 1 << narrower]);
            make(&mut wide, &x);
            make(&mut narrow, &x);
            fold(&mut wide, 1 << narrower);
            prop_assert_eq!(wide, narrow);
        }
    }

    #[test]
    fn widths_grow_with_size_and_fall_with_the_threshold() {
        assert_eq!(words_for(200, 12), Some(1));
        assert!(words_for(200, 130) > words_for(200, 60));
        assert_eq!(words_for(10, 20), None);
    }
}
