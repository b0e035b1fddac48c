//! The vector kernels: signatures against many signatures, and merging two records.
//!
//! One of three sets of instructions is chosen when the program runs: AVX-512 with its own
//! bit counting, AVX2, or plain Rust. Each kernel has its plain version beside it, which is
//! its oracle and runs everywhere.
//!
//! - [`Kernel::filter_postings`]: which postings of a list can belong to a partner?
//! - [`Kernel::scan_columns`]: which records of a size range can be a partner?
//! - [`Kernel::narrow_signature`]: the bits of a record's tokens in one word.
//! - [`Kernel::wide_signature`]: the same in several words.
//! - [`Kernel::difference`]: in how many bits do two signatures differ?
//! - [`Kernel::overlap_at_least`]: how many tokens do two records share?
//!
//! Cost, measured on one core of a Xeon of 2023 with AVX-512: see `docs/join.md`.
//! Not here: what a signature means ([`crate::auto`]).

mod plain;
#[cfg(target_arch = "x86_64")]
mod x86;

/// How many records stand side by side in a block of columns.
pub(crate) const LANES: usize = 8;

/// Which instructions to use. There is no way to get one that this machine lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kernel(Instructions);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Instructions {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2(x86::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(x86::Avx512),
}

/// What a probe asks of a list of postings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PostingQuery {
    /// Signature of the probe's tokens behind the current one.
    pub signature: u64,
    /// Most that position and differing bits may add up to.
    pub limit: u32,
}

impl Kernel {
    /// The best of this machine.
    #[must_use]
    pub(crate) fn detect() -> Self {
        Self::all().pop().expect("plain Rust runs everywhere")
    }

    /// Every kernel that this machine can run, the best last.
    #[must_use]
    pub(crate) fn all() -> Vec<Self> {
        let mut all = vec![Self(Instructions::Plain)];
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(x86::Avx2::detect().map(|found| Self(Instructions::Avx2(found))));
            all.extend(x86::Avx512::detect().map(|found| Self(Instructions::Avx512(found))));
        }
        all
    }

    /// Appends to `found` the places of postings (two words each, see [`posting`]) with
    /// `position + differing bits <= limit`.
    ///
    /// # Panics
    /// When there is half a posting.
    #[inline]
    pub(crate) fn filter_postings(
        self,
        query: PostingQuery,
        postings: &[u64],
        found: &mut Vec<u32>,
    ) {
        assert!(postings.len().is_multiple_of(2));
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(has) => has.filter_postings(query, postings, found),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(has) => has.filter_postings(query, postings, found),
            Instructions::Plain => plain::filter_postings(query, postings, found),
        }
    }

    /// Appends to `found` the records (by place) whose signature differs from the probe's in at
    /// most `limit` bits. `columns` holds blocks of [`LANES`] records, word by word:
    /// all first words, all second words, and so on, `probe.len()` words each.
    ///
    /// # Panics
    /// When `columns` is not made of whole blocks.
    #[inline]
    pub(crate) fn scan_columns(
        self,
        probe: &[u64],
        columns: &[u64],
        limit: u32,
        found: &mut Vec<u32>,
    ) {
        assert!(!probe.is_empty() && columns.len().is_multiple_of(probe.len() * LANES));
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(has) => has.scan_columns(probe, columns, limit, found),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(has) => has.scan_columns(probe, columns, limit, found),
            Instructions::Plain => plain::scan_columns(probe, columns, limit, found),
        }
    }

    /// The exclusive or of the bits of some tokens, see [`narrow_bit`].
    #[must_use]
    #[inline]
    pub(crate) fn narrow_signature(self, tokens: &[u32]) -> u64 {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(has) => has.narrow_signature(tokens),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(has) => has.narrow_signature(tokens),
            Instructions::Plain => plain::narrow_signature(tokens),
        }
    }

    /// The exclusive or of the bits of some tokens in so many words as `signature` has, a power of
    /// two; see [`wide_bit`].
    #[inline]
    pub(crate) fn wide_signature(self, signature: &mut [u64], tokens: &[u32]) {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(has) => has.wide_signature(signature, tokens),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(has) => has.wide_signature(signature, tokens),
            Instructions::Plain => plain::wide_signature(signature, tokens),
        }
    }

    /// In how many bits two signatures of equal length differ.
    #[must_use]
    #[inline]
    pub(crate) fn difference(self, one: &[u64], two: &[u64]) -> u32 {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(has) => has.difference(one, two),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(has) => has.difference(one, two),
            Instructions::Plain => plain::difference(one, two),
        }
    }

    /// Shared tokens of two ascending, duplicate-free records, if at least `required`.
    #[must_use]
    #[inline]
    pub(crate) fn overlap_at_least(self, x: &[u32], y: &[u32], required: u32) -> Option<u32> {
        let long_enough = x.len() >= 16 && y.len() >= 16;
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2(has) if long_enough => has.overlap_at_least(x, y, required),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512(has) if long_enough => has.avx2().overlap_at_least(x, y, required),
            _ => crate::verify::overlap_at_least(x, y, required),
        }
    }
}

/// A posting: the signature of what stands behind it, then its slot and position.
#[must_use]
#[inline(always)]
pub(crate) fn posting(signature: u64, slot: u32, position: u32) -> [u64; 2] {
    [signature, u64::from(slot) | u64::from(position) << 32]
}

/// The bit of a token in a signature of one word.
#[must_use]
#[inline(always)]
pub(crate) fn narrow_bit(token: u32) -> u64 {
    1 << (token.wrapping_mul(0x9E37_79B1) >> 26)
}

/// The bit of a token in a signature of `words` words, a power of two. In half as many words it is
/// the same but for its highest digit.
#[must_use]
#[inline(always)]
pub(crate) fn wide_bit(token: u32, words: usize) -> u32 {
    let hash = token.wrapping_mul(0x85EB_CA6B);
    (hash ^ (hash >> 15)) & (words as u32 * 64 - 1)
}

/// Asks the processor to fetch what a reference points to, where it can.
#[inline]
pub(crate) fn prefetch<T>(values: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(value) = values.get(at) {
        x86::prefetch(value);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, at);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_kernel_makes_the_same_wide_signature(
            tokens in vec(any::<u32>(), 0..90),
            width in 0_u32..7,
        ) {
            let mut expected = vec![0; 1 << width];
            plain::wide_signature(&mut expected, &tokens);
            for kernel in Kernel::all() {
                let mut signature = vec![u64::MAX; 1 << width];
                kernel.wide_signature(&mut signature, &tokens);
                prop_assert_eq!(&signature, &expected, "{:?}", kernel);
            }
        }

        #[test]
        fn every_kernel_filters_postings_alike(
            postings in vec((any::<u64>(), any::<u32>(), 0_u32..60), 0..70),
            signature in any::<u64>(),
            limit in 0_u32..90,
        ) {
            let query = PostingQuery { signature, limit };
            let expected: Vec<u32> = (0..postings.len() as u32)
                .filter(|&at| {
                    let (other, _, position) = postings[at as usize];
                    (other ^ signature).count_ones() + position <= limit
                })
                .collect();
            let words: Vec<u64> = postings
                .into_iter()
                .flat_map(|(signature, slot, position)| posting(signature, slot, position))
                .collect();
            for kernel in Kernel::all() {
                let mut found = Vec::new();
                kernel.filter_postings(query, &words, &mut found);
                prop_assert_eq!(&found, &expected, "{:?}", kernel);
            }
        }

        #[test]
        fn every_kernel_scans_columns_alike(
            width in 0_u32..6,
            blocks in 0_usize..7,
            seed in any::<u64>(),
            limit in 0_u32..1200,
        ) {
            let words = 1_usize << width;
            let mut state = seed;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state ^ (state >> 29)
            };
            let columns: Vec<u64> = (0..blocks * words * LANES).map(|_| next()).collect();
            let probe: Vec<u64> = (0..words).map(|_| next()).collect();
            let limit = limit % (64 * words as u32);
            let expected: Vec<u32> = (0..(blocks * LANES) as u32)
                .filter(|&record| {
                    let (block, lane) = (record as usize / LANES, record as usize % LANES);
                    let differing: u32 = (0..words)
                        .map(|word| {
                            let at = (block * words + word) * LANES + lane;
                            (columns[at] ^ probe[word]).count_ones()
                        })
                        .sum();
                    differing <= limit
                })
                .collect();
            for kernel in Kernel::all() {
                let mut found = Vec::new();
                kernel.scan_columns(&probe, &columns, limit, &mut found);
                prop_assert_eq!(&found, &expected, "{:?}", kernel);
                let row: Vec<u64> = probe.iter().map(|&word| word.rotate_left(7)).collect();
                let plain: u32 = probe.iter().zip(&row).map(|(a, b)| (a ^ b).count_ones()).sum();
                prop_assert_eq!(kernel.difference(&probe, &row), plain);
            }
        }

        #[test]
        fn every_kernel_makes_the_same_narrow_signature(tokens in vec(any::<u32>(), 0..80)) {
            let expected = tokens.iter().fold(0, |bits, &token| bits ^ narrow_bit(token));
            for kernel in Kernel::all() {
                prop_assert_eq!(kernel.narrow_signature(&tokens), expected);
            }
        }

        #[test]
        fn every_kernel_merges_as_the_readable_merge(
            x in btree_set(0_u32..300, 0..150),
            y in btree_set(0_u32..300, 0..150),
            required in 0_u32..150,
        ) {
            let shared = x.intersection(&y).count() as u32;
            let expected = (shared >= required).then_some(shared);
            let (x, y) = (Vec::from_iter(x), Vec::from_iter(y));
            prop_assert_eq!(crate::verify::overlap_at_least(&x, &y, required), expected);
            for kernel in Kernel::all() {
                prop_assert_eq!(kernel.overlap_at_least(&x, &y, required), expected);
            }
        }
    }
}
