//! Folding a byte string with `pclmulqdq`, the CPU's polynomial multiplication.
//!
//! A 128-bit remainder `H t^64 + L` moved up by n bits is congruent to
//! `H (t^(n+64) mod P) + L (t^n mod P)`: two multiplications, no division. Four such remainders
//! stand 128 bits apart, so that the multiplications of one do not wait for another.
#![allow(unsafe_code)]

use super::Fold;
use std::arch::x86_64::{
    __m128i, _mm_clmulepi64_si128, _mm_cvtsi128_si64, _mm_set_epi64x, _mm_unpackhi_epi64,
    _mm_xor_si128,
};

/// Proof that this CPU has `pclmulqdq`.
#[derive(Clone, Copy)]
pub(super) struct Carryless(());

impl Carryless {
    pub(super) fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("pclmulqdq").then_some(Self(()))
    }

    /// Appends the whole 16-byte blocks of `bytes` to the string with remainder `state`;
    /// returns a congruent 128-bit value and the bytes left over.
    pub(super) fn fold(self, fold: Fold, state: u64, bytes: &[u8]) -> (u128, &[u8]) {
        // SAFETY: a `Carryless` exists only where `pclmulqdq` was detected; SSE2, the rest of
        // what is used, belongs to x86-64.
        unsafe { fold_blocks(fold, state, bytes) }
    }
}

#[target_feature(enable = "sse2,pclmulqdq")]
fn fold_blocks(fold: Fold, state: u64, bytes: &[u8]) -> (u128, &[u8]) {
    let by_128 = constants(fold.by_128);
    let by_512 = constants(fold.by_512);
    let (quads, rest) = bytes.as_chunks::<64>();
    let mut running = _mm_set_epi64x(0, state.cast_signed());
    if let Some((first, quads)) = quads.split_first() {
        let mut four = load_four(first);
        four[0] = _mm_xor_si128(four[0], up(running, by_128));
        for quad in quads {
            let next = load_four(quad);
            for (lane, next) in four.iter_mut().zip(next) {
                *lane = _mm_xor_si128(up(*lane, by_512), next);
            }
        }
        running = four[0];
        for lane in &four[1..] {
            running = _mm_xor_si128(up(running, by_128), *lane);
        }
    }
    let (blocks, tail) = rest.as_chunks::<16>();
    for block in blocks {
        running = _mm_xor_si128(up(running, by_128), load(block));
    }
    let low = _mm_cvtsi128_si64(running).cast_unsigned();
    let high = _mm_cvtsi128_si64(_mm_unpackhi_epi64(running, running)).cast_unsigned();
    (u128::from(high) << 64 | u128::from(low), tail)
}

/// `value` times `t^n`, for the `n` the constants stand for.
#[target_feature(enable = "sse2,pclmulqdq")]
fn up(value: __m128i, constants: __m128i) -> __m128i {
    let low = _mm_clmulepi64_si128::<0x00>(value, constants);
    let high = _mm_clmulepi64_si128::<0x11>(value, constants);
    _mm_xor_si128(low, high)
}

#[target_feature(enable = "sse2")]
fn constants([low, high]: [u64; 2]) -> __m128i {
    _mm_set_epi64x(high.cast_signed(), low.cast_signed())
}

#[target_feature(enable = "sse2")]
fn load(block: &[u8; 16]) -> __m128i {
    let value = u128::from_be_bytes(*block);
    constants([value as u64, (value >> 64) as u64])
}

#[target_feature(enable = "sse2")]
fn load_four(quad: &[u8; 64]) -> [__m128i; 4] {
    let (blocks, _) = quad.as_chunks::<16>();
    [load(&blocks[0]), load(&blocks[1]), load(&blocks[2]), load(&blocks[3])]
}
