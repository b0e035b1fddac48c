//! The kernels in plain Rust: what the vector versions must equal.

use super::{LANES, PostingQuery, narrow_bit, wide_bit};

#[inline(always)]
pub(super) fn filter_postings(query: PostingQuery, postings: &[u64], found: &mut Vec<u32>) {
    for (at, posting) in postings.chunks_exact(2).enumerate() {
        let differing = (posting[0] ^ query.signature).count_ones();
        if u64::from(differing) + (posting[1] >> 32) <= u64::from(query.limit) {
            found.push(at as u32);
        }
    }
}

#[inline(always)]
pub(super) fn scan_columns(probe: &[u64], columns: &[u64], limit: u32, found: &mut Vec<u32>) {
    for (block, words) in columns.chunks_exact(probe.len() * LANES).enumerate() {
        let mut differing = [0_u64; LANES];
        for (&word, lanes) in probe.iter().zip(words.chunks_exact(LANES)) {
            for (sum, &lane) in differing.iter_mut().zip(lanes) {
                *sum += u64::from((lane ^ word).count_ones());
            }
        }
        for (lane, &sum) in differing.iter().enumerate() {
            if sum <= u64::from(limit) {
                found.push((block * LANES + lane) as u32);
            }
        }
    }
}

#[inline(always)]
pub(super) fn difference(one: &[u64], two: &[u64]) -> u32 {
    one.iter().zip(two).map(|(one, two)| (one ^ two).count_ones()).sum()
}

#[inline(always)]
pub(super) fn narrow_signature(tokens: &[u32]) -> u64 {
    tokens.iter().fold(0, |bits, &token| bits ^ narrow_bit(token))
}

/// As [`super::Kernel::wide_signature`] for `WORDS` words that fit into registers.
#[inline(always)]
pub(super) fn wide_signature_of<const WORDS: usize>(signature: &mut [u64], tokens: &[u32]) {
    let mut words = [0_u64; WORDS];
    for &token in tokens {
        let bit = wide_bit(token, WORDS);
        for (at, word) in words.iter_mut().enumerate() {
            *word ^= u64::from(bit / 64 == at as u32) << (bit % 64);
        }
    }
    signature.copy_from_slice(&words);
}

#[inline(always)]
pub(super) fn wide_signature(signature: &mut [u64], tokens: &[u32]) {
    signature.fill(0);
    for &token in tokens {
        let bit = wide_bit(token, signature.len());
        signature[bit as usize / 64] ^= 1 << (bit % 64);
    }
}
