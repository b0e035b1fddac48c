//! The three fingerprints of a document: of its bytes, of its words, of its set of shingles.
//!
//! They decide which kind of copy a copy is, and in a batch run documents with the same set of shingles
//! are compared once. There the fingerprint of the set alone decides, so it has 128 bits: among 10^10
//! documents 1.5e-19 pairs of different sets are expected to share one (64 bits: 2.7). Content and text are
//! compared only between documents whose sets agree, or whose keys do.
//!
//! Fingerprints are unkeyed, the same in every store and every run.
//!
//! Cost: content one pass over the bytes, a set two additions and a multiplication an element.

use wonbon_sketch::finalise;
use wonbon_sketch::rabin::RABIN_64;

/// What tells equal contents, texts and shingle sets from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprints {
    /// Of the bytes as they came ([`fingerprint_content`]).
    pub content: [u8; 16],
    /// Of the words in their order: `ShingleCount::normal_form_hash` of `wonbon-text`.
    pub text: u64,
    /// Of the set of shingles: the low half of [`fingerprint_set`].
    pub shingle_set: u64,
}

/// The fingerprint of bytes: two of 64 bits each, one of the bytes and one of the bytes spread.
#[must_use]
pub fn fingerprint_content(bytes: &[u8]) -> [u8; 16] {
    let second = bytes.chunks(8).fold(bytes.len() as u64, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        finalise(hash ^ u64::from_le_bytes(word)).rotate_left(29)
    });
    let mut fingerprint = [0; 16];
    fingerprint[..8].copy_from_slice(&fingerprint_content_half(bytes).to_le_bytes());
    fingerprint[8..].copy_from_slice(&second.to_le_bytes());
    fingerprint
}

/// The first half of [`fingerprint_content`]: enough where only documents with the same set of shingles
/// are compared.
#[must_use]
pub fn fingerprint_content_half(bytes: &[u8]) -> u64 {
    RABIN_64.fingerprint(bytes)
}

/// The fingerprint of a set of different elements, the same in any order; 0 for the empty set only.
#[must_use]
pub fn fingerprint_set(set: &[u64]) -> u128 {
    if set.is_empty() {
        return 0;
    }
    let (mut sum, mut parity) = (0_u64, 0_u64);
    for &element in set {
        let mixed = (element ^ (element >> 31)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        sum = sum.wrapping_add(mixed ^ (mixed >> 32));
        parity ^= mixed.rotate_left(17);
    }
    let high = finalise(parity ^ (set.len() as u64).rotate_left(32));
    let low = finalise(sum ^ high);
    (u128::from(high) << 64 | u128::from(low)).max(1)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sets_have_the_same_fingerprint_if_they_are_the_same(
            one in prop::collection::hash_set(0_u64..12, 0..8),
            other in prop::collection::hash_set(0_u64..12, 0..8),
        ) {
            let list = |set: &HashSet<u64>| -> Vec<u64> { set.iter().copied().collect() };
            let (left, right) = (fingerprint_set(&list(&one)), fingerprint_set(&list(&other)));
            prop_assert_eq!(left == right, one == other);
            prop_assert_eq!(left as u64 == right as u64, one == other);
            prop_assert_eq!(left == 0, one.is_empty());
        }
    }

    #[test]
    fn every_flipped_bit_changes_both_halves() {
        let bytes: Vec<u8> = (0..100).collect();
        let mut seen = HashSet::new();
        for bit in 0..8 * bytes.len() {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            for half in fingerprint_content(&flipped).as_chunks::<8>().0 {
                assert!(seen.insert(*half), "bit {bit}");
            }
        }
        for half in fingerprint_content(&bytes).as_chunks::<8>().0 {
            assert!(seen.insert(*half));
        }
    }
}
