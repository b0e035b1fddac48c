//! Sixteen folded elements at a time.
#![allow(unsafe_code)]

use super::{Block, Fold32, LANES, Work, fold_chunk};
use std::arch::x86_64::{
    __m256i, __m512i, _mm256_min_epu32, _mm512_add_epi32, _mm512_castsi512_si256,
    _mm512_extracti64x4_epi64, _mm512_loadu_si512, _mm512_min_epu32, _mm512_mullo_epi32,
    _mm512_set1_epi32,
};

/// Proof that this CPU has AVX-512 F and DQ, and AVX2.
#[derive(Debug, Clone, Copy)]
pub(super) struct Avx512(());

impl Avx512 {
    pub(super) fn detect() -> Option<Self> {
        let found = std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512dq")
            && std::arch::is_x86_feature_detected!("avx2");
        found.then_some(Self(()))
    }

    /// Folds `chunk` into `folded` and lowers the minima.
    pub(super) fn lower(self, fold: Fold32, chunk: &[u64], folded: &mut [u32], work: Work<'_>) {
        // SAFETY: an `Avx512` exists only where these features were detected.
        unsafe { lower_chunk(fold, chunk, folded, work) }
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx2")]
fn lower_chunk(fold: Fold32, chunk: &[u64], folded: &mut [u32], mut work: Work<'_>) {
    fold_chunk(fold, chunk, folded);
    let (vectors, _) = folded.as_chunks::<LANES>();
    loop {
        work = match work.split::<8>() {
            Ok((block, rest)) => {
                lower_block(vectors, block);
                rest
            }
            Err(rest) => break work = rest,
        };
    }
    work = match work.split::<4>() {
        Ok((block, rest)) => {
            lower_block(vectors, block);
            rest
        }
        Err(rest) => rest,
    };
    while let Ok((block, rest)) = work.split::<1>() {
        lower_block(vectors, block);
        work = rest;
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx2")]
fn lower_block<const N: usize>(vectors: &[[u32; LANES]], block: Block<'_, N>) {
    let multipliers = block.multipliers.map(|a| _mm512_set1_epi32(a.cast_signed()));
    let addends = block.addends.map(|b| _mm512_set1_epi32(b.cast_signed()));
    let mut minima = [_mm512_set1_epi32(-1); N];
    for vector in vectors {
        let x = load(vector);
        for i in 0..N {
            let image = _mm512_add_epi32(_mm512_mullo_epi32(x, multipliers[i]), addends[i]);
            minima[i] = _mm512_min_epu32(minima[i], image);
        }
    }
    let halves = minima.map(|minimum| halve(minimum));
    super::avx2::lower_by_lanes(halves, block.minima);
}

#[target_feature(enable = "avx512f,avx512dq,avx2")]
fn halve(minimum: __m512i) -> __m256i {
    _mm256_min_epu32(_mm512_castsi512_si256(minimum), _mm512_extracti64x4_epi64::<1>(minimum))
}

#[target_feature(enable = "avx512f")]
fn load(vector: &[u32; LANES]) -> __m512i {
    // SAFETY: the array is 64 readable bytes, and this load asks for no alignment.
    unsafe { _mm512_loadu_si512(vector.as_ptr().cast()) }
}
