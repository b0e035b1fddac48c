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

/// Puts a token into a wide signature.
#[inline]
pub(super) fn toggle(signature: &mut [u64], token: u32) {
    let hash = token.wrapping_mul(0x85EB_CA6B);
    let bit = (hash ^ (hash >> 15)) as usize & (signature.len() * 64 - 1);
    signature[bit / 64] ^= 1 << (bit % 64);
}

/// Makes the signature of a record.
pub(super) fn make(signature: &mut [u64], tokens: &[u32]) {
    signature.fill(0);
    for &token in tokens {
        toggle(signature, token);
    }
}

/// Halves a signature until it has `words` words.
pub(super) fn fold(signature: &mut Vec<u64>, words: usize) {
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
/// much without resembling each other; wider or narrower was slower, see `docs/join.md`.)
pub(super) fn words_for(size: u32, allowed: u32) -> Option<usize> {
    let differing = 1.45 * f64::from(size);
    let mut words = 1;
    while words <= MOST_WORDS {
        let bits = (words * 64) as f64;
        // Expectation and deviation of the number of odd cells when balls are thrown.
        let odd = 0.5 * (1.0 - (-2.0 * differing / bits).exp());
        let (mean, deviation) = (bits * odd, (bits * odd * (1.0 - odd)).sqrt());
        if mean - 3.0 * deviation > f64::from(allowed) {
            return Some(words);
        }
        words *= 2;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::narrow_bit;
    use proptest::collection::btree_set;
    use proptest::prelude::*;

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
        assert_eq!(words_for(200, 18), Some(1));
        assert!(words_for(200, 130) > words_for(200, 60));
        assert_eq!(words_for(10, 20), None);
    }
}
