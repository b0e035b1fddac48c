//! Eight folded elements at a time.
#![allow(unsafe_code)]

use super::{Block, Fold32, Work, fold_chunk};
use std::arch::x86_64::{
    __m256i, _mm256_add_epi32, _mm256_loadu_si256, _mm256_min_epu32, _mm256_mullo_epi32,
    _mm256_permute2x128_si256, _mm256_set1_epi32, _mm256_storeu_si256, _mm256_unpackhi_epi32,
    _mm256_unpackhi_epi64, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
};

/// Proof that this CPU has AVX2.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    pub(super) fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("avx2").then_some(Self(()))
    }

    /// Folds `chunk` into `folded` and lowers the minima.
    pub(super) fn lower(self, fold: Fold32, chunk: &[u64], folded: &mut [u32], work: Work<'_>) {
        // SAFETY: an `Avx2` exists only where AVX2 was detected.
        unsafe { lower_chunk(fold, chunk, folded, work) }
    }
}

/// Sixteen registers: four permutations with constants and minima, and the elements, fit.
#[target_feature(enable = "avx2")]
fn lower_chunk(fold: Fold32, chunk: &[u64], folded: &mut [u32], mut work: Work<'_>) {
    fold_chunk(fold, chunk, folded);
    let (vectors, _) = folded.as_chunks::<8>();
    loop {
        work = match work.split::<4>() {
            Ok((block, rest)) => {
                lower_block(vectors, block);
                rest
            }
            Err(rest) => break work = rest,
        };
    }
    while let Ok((block, rest)) = work.split::<1>() {
        lower_block(vectors, block);
        work = rest;
    }
}

#[target_feature(enable = "avx2")]
fn lower_block<const N: usize>(vectors: &[[u32; 8]], block: Block<'_, N>) {
    let multipliers = block.multipliers.map(|a| _mm256_set1_epi32(a.cast_signed()));
    let addends = block.addends.map(|b| _mm256_set1_epi32(b.cast_signed()));
    let mut minima = [_mm256_set1_epi32(-1); N];
    for vector in vectors {
        let x = load(vector);
        for i in 0..N {
            let image = _mm256_add_epi32(_mm256_mullo_epi32(x, multipliers[i]), addends[i]);
            minima[i] = _mm256_min_epu32(minima[i], image);
        }
    }
    lower_by_lanes(minima, block.minima);
}

/// Lowers `minima[i]` to the smallest lane of `lanes[i]`, for up to eight vectors at once:
/// three rounds of interleaving two vectors and taking minima transpose and reduce together.
#[target_feature(enable = "avx2")]
pub(super) fn lower_by_lanes<const N: usize>(lanes: [__m256i; N], minima: &mut [u32]) {
    const { assert!(N <= 8) };
    let mut eight = [_mm256_set1_epi32(-1); 8];
    eight[..N].copy_from_slice(&lanes);
    let [a, b, c, d, e, f, g, h] = eight;
    let low = pair_of_pairs(interleave_32(a, b), interleave_32(c, d));
    let high = pair_of_pairs(interleave_32(e, f), interleave_32(g, h));
    let reduced = _mm256_min_epu32(
        _mm256_permute2x128_si256::<0x20>(low, high),
        _mm256_permute2x128_si256::<0x31>(low, high),
    );
    let mut smallest = [0u32; 8];
    // SAFETY: the array is 32 writable bytes, and this store asks for no alignment.
    unsafe { _mm256_storeu_si256(smallest.as_mut_ptr().cast(), reduced) };
    for (minimum, smallest) in minima.iter_mut().zip(smallest) {
        *minimum = smallest.min(*minimum);
    }
}

/// In each half: two lanes of `a` and of `b` against the other two, as `a b a b`.
#[target_feature(enable = "avx2")]
fn interleave_32(a: __m256i, b: __m256i) -> __m256i {
    _mm256_min_epu32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b))
}

/// In each half: from `a b a b` and `c d c d` the smaller of each, as `a b c d`.
#[target_feature(enable = "avx2")]
fn pair_of_pairs(ab: __m256i, cd: __m256i) -> __m256i {
    _mm256_min_epu32(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd))
}

#[target_feature(enable = "avx2")]
fn load(vector: &[u32; 8]) -> __m256i {
    // SAFETY: the array is 32 readable bytes, and this load asks for no alignment.
    unsafe { _mm256_loadu_si256(vector.as_ptr().cast()) }
}
