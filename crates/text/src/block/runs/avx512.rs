//! A block in one step with AVX-512 (the parts F, BW and VBMI2).

#![allow(unsafe_code, reason = "vector instructions; every call is justified where it stands")]

use std::arch::x86_64::{
    __m512i, _mm512_add_epi32, _mm512_castsi512_si128, _mm512_cmpeq_epi8_mask,
    _mm512_cmpge_epu8_mask, _mm512_cmple_epu8_mask, _mm512_cmplt_epu8_mask, _mm512_cvtepu8_epi32,
    _mm512_extracti32x4_epi32, _mm512_loadu_si512, _mm512_mask_mov_epi8,
    _mm512_maskz_compress_epi8, _mm512_movepi8_mask, _mm512_or_si512, _mm512_set1_epi8,
    _mm512_set1_epi32, _mm512_storeu_si512, _mm512_sub_epi8,
};

use super::super::{hangul_leads, mark_leads};
use super::{BLOCK_BYTES, Edges, Masks, Run};

/// Proof that this processor has what is used here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avx512(());

impl Avx512 {
    pub(super) fn detect() -> Option<Self> {
        let found = std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512bw")
            && std::arch::is_x86_feature_detected!("avx512vbmi2")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("popcnt");
        found.then_some(Self(()))
    }

    pub(super) fn run(
        self,
        edges: &mut Edges,
        run: &mut Run,
        text: &[u8],
        buffer: &mut [u8],
        short: usize,
    ) -> usize {
        // SAFETY: an `Avx512` exists only where these features were detected.
        unsafe { run_blocks(edges, run, text, buffer, short) }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,popcnt")]
fn run_blocks(
    edges: &mut Edges,
    run: &mut Run,
    text: &[u8],
    buffer: &mut [u8],
    short: usize,
) -> usize {
    edges.run_by(
        run,
        text,
        buffer,
        short,
        // Closures have the features of the function they stand in.
        |block| masks(block),
        |bits, base, places| write_edges(bits, base, places),
    )
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load(bytes: &[u8; BLOCK_BYTES]) -> __m512i {
    // SAFETY: the array is 64 readable bytes, and this load asks for no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn all(byte: u8) -> __m512i {
    _mm512_set1_epi8(byte.cast_signed())
}

/// The masks of a block; its ASCII letters are lower-cased.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn masks(block: &mut [u8; BLOCK_BYTES]) -> Masks {
    let bytes = load(block);
    // Of no other byte does this bit make a small letter.
    let small = _mm512_or_si512(bytes, all(0x20));
    let letter = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(small, all(b'a')), all(26));
    let digit = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(bytes, all(b'0')), all(10));
    let lowered = _mm512_mask_mov_epi8(bytes, letter, small);
    // SAFETY: the array is 64 writable bytes, and this store asks for no alignment.
    unsafe { _mm512_storeu_si512(block.as_mut_ptr().cast(), lowered) };
    let mut masks = Masks {
        alphanumeric: letter | digit,
        not_ascii: _mm512_movepi8_mask(bytes),
        ..Masks::default()
    };
    if masks.not_ascii != 0 {
        masks.leads = _mm512_cmpge_epu8_mask(bytes, all(0xC0));
        let eb_ec =
            _mm512_cmpeq_epi8_mask(bytes, all(0xEB)) | _mm512_cmpeq_epi8_mask(bytes, all(0xEC));
        let ea = _mm512_cmpeq_epi8_mask(bytes, all(0xEA));
        let ed = _mm512_cmpeq_epi8_mask(bytes, all(0xED));
        let at_least_b0 = _mm512_cmpge_epu8_mask(bytes, all(0xB0));
        let below_9e = _mm512_cmple_epu8_mask(bytes, all(0x9D));
        masks.hangul_leads = hangul_leads(eb_ec, ea, ed, at_least_b0, below_9e);
        if masks.leads != masks.hangul_leads {
            masks.mark_leads = mark_leads(|first, last| {
                let from_first = _mm512_sub_epi8(bytes, all(first));
                _mm512_cmple_epu8_mask(from_first, all(last - first))
            });
        }
    }
    masks
}

/// The number of each byte.
const NUMBERS: [u8; BLOCK_BYTES] = {
    let mut numbers = [0; BLOCK_BYTES];
    let mut number = 0;
    while number < BLOCK_BYTES {
        numbers[number] = number as u8;
        number += 1;
    }
    numbers
};

/// Packs the numbers of the bits and widens them, sixteen at a time.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
fn write_edges(bits: u64, base: u32, places: &mut [u32; BLOCK_BYTES]) {
    let packed = _mm512_maskz_compress_epi8(bits, load(&NUMBERS));
    let base = _mm512_set1_epi32(base.cast_signed());
    let sixteens = places.as_chunks_mut::<16>().0;
    let mut write = |number: usize, sixteen| {
        let wide = _mm512_add_epi32(_mm512_cvtepu8_epi32(sixteen), base);
        let places: &mut [u32; 16] = &mut sixteens[number];
        // SAFETY: the array is 64 writable bytes, and this store asks for no alignment.
        unsafe { _mm512_storeu_si512(places.as_mut_ptr().cast(), wide) };
    };
    write(0, _mm512_castsi512_si128(packed));
    write(1, _mm512_extracti32x4_epi32::<1>(packed));
    // Few blocks have so many.
    if bits.count_ones() > 32 {
        write(2, _mm512_extracti32x4_epi32::<2>(packed));
        write(3, _mm512_extracti32x4_epi32::<3>(packed));
    }
}
