//! Sixteen bytes at a time with SSE2, which every x86-64 processor has.

#![allow(unsafe_code, reason = "vector instructions; the only call is justified where it stands")]

use std::arch::x86_64::{
    __m128i, _mm_add_epi8, _mm_and_si128, _mm_andnot_si128, _mm_cmpeq_epi8, _mm_cmpgt_epi8,
    _mm_cvtsi128_si64, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8,
    _mm_unpackhi_epi64,
};

use super::{BLOCK_BYTES, Masks, hangul_leads, mark_leads};

/// A byte as the signed number that the vector comparisons take it for.
const fn signed(byte: u8) -> i8 {
    byte.cast_signed()
}

#[inline]
#[target_feature(enable = "sse2")]
fn load(bytes: &[u8; 16]) -> __m128i {
    let [low, high] = [0, 8].map(|at| {
        i64::from_le_bytes(*bytes[at..].first_chunk().expect("sixteen bytes are two halves"))
    });
    _mm_set_epi64x(high, low)
}

#[inline]
#[target_feature(enable = "sse2")]
fn store(value: __m128i, bytes: &mut [u8; 16]) {
    let (low, high) = bytes.split_at_mut(8);
    low.copy_from_slice(&_mm_cvtsi128_si64(value).to_le_bytes());
    high.copy_from_slice(&_mm_cvtsi128_si64(_mm_unpackhi_epi64(value, value)).to_le_bytes());
}

/// Bytes from `first` to `last`, as signed numbers shifted so that one comparison is enough.
#[inline]
#[target_feature(enable = "sse2")]
fn within(bytes: __m128i, first: u8, last: u8) -> __m128i {
    let shifted = _mm_add_epi8(bytes, _mm_set1_epi8(signed(0x80_u8.wrapping_sub(first))));
    _mm_cmpgt_epi8(_mm_set1_epi8(signed(0x80_u8.wrapping_add(last - first + 1))), shifted)
}

#[inline]
#[target_feature(enable = "sse2")]
fn bits(bytes: __m128i) -> u64 {
    u64::from(_mm_movemask_epi8(bytes).cast_unsigned())
}

/// One bit for each byte of the pieces that passes a test.
#[inline]
#[target_feature(enable = "sse2")]
fn gather(pieces: &[__m128i; 4], test: impl Fn(__m128i) -> __m128i) -> u64 {
    (0..4).fold(0, |mask, index| mask | (bits(test(pieces[index])) << (16 * index)))
}

/// The masks of a block; its ASCII letters are lower-cased.
#[inline]
pub(super) fn masks(block: &mut [u8; BLOCK_BYTES]) -> Masks {
    // SAFETY: SSE2 is part of x86-64: every processor this is compiled for has it.
    unsafe { masks_by_vectors(block) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn masks_by_vectors(block: &mut [u8; BLOCK_BYTES]) -> Masks {
    let mut pieces = [_mm_set1_epi8(0); 4];
    let mut masks = Masks::default();
    for (index, piece) in block.as_chunks_mut::<16>().0.iter_mut().enumerate() {
        let bytes = load(piece);
        pieces[index] = bytes;
        let upper = within(bytes, b'A', b'Z');
        let lowered = _mm_or_si128(bytes, _mm_and_si128(upper, _mm_set1_epi8(0x20)));
        let letter = within(lowered, b'a', b'z');
        let digit = within(bytes, b'0', b'9');
        store(lowered, piece);
        masks.alphanumeric |= bits(_mm_or_si128(letter, digit)) << (16 * index);
        masks.not_ascii |= bits(bytes) << (16 * index);
    }
    if masks.not_ascii == 0 {
        return masks;
    }
    // As signed numbers, first bytes (from C0) are above the continuation bytes (80 to BF).
    masks.leads = gather(&pieces, |bytes| {
        _mm_andnot_si128(_mm_cmpgt_epi8(_mm_set1_epi8(signed(0xC0)), bytes), bytes)
    });
    let eb_ec = gather(&pieces, |bytes| within(bytes, 0xEB, 0xEC));
    let ea = gather(&pieces, |bytes| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(signed(0xEA))));
    let ed = gather(&pieces, |bytes| _mm_cmpeq_epi8(bytes, _mm_set1_epi8(signed(0xED))));
    let at_least_b0 = gather(&pieces, |bytes| _mm_cmpgt_epi8(bytes, _mm_set1_epi8(signed(0xAF))));
    let below_9e = gather(&pieces, |bytes| _mm_cmpgt_epi8(_mm_set1_epi8(signed(0x9E)), bytes));
    masks.hangul_leads = hangul_leads(eb_ec, ea, ed, at_least_b0, below_9e);
    if masks.leads != masks.hangul_leads {
        masks.mark_leads =
            mark_leads(|first, last| gather(&pieces, |bytes| within(bytes, first, last)));
    }
    masks
}
