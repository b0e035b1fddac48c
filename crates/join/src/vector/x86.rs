//! The kernels for x86-64: the only `unsafe` of this crate.
//!
//! [`Avx2`] and [`Avx512`] are proofs that the processor has the instructions: they exist only
//! where detection found them, so their methods can call code compiled for them. Pointers are
//! made from slices whose lengths are checked beside each block.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{LANES, PostingQuery, plain};

/// Proof that AVX2 and POPCNT are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Avx2(());

/// Proof that AVX-512 F, VL and VPOPCNTDQ are there, and AVX2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Avx512(Avx2);

impl Avx2 {
    pub(super) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt")).then_some(Self(()))
    }

    #[inline]
    pub(super) fn narrow_signature(self, tokens: &[u32]) -> u64 {
        #[target_feature(enable = "avx2,popcnt")]
        fn compiled(tokens: &[u32]) -> u64 {
            plain::narrow_signature(tokens)
        }
        // SAFETY: `self` proves the features.
        unsafe { compiled(tokens) }
    }

    #[inline]
    pub(super) fn wide_signature(self, signature: &mut [u64], tokens: &[u32]) {
        #[target_feature(enable = "avx2,popcnt")]
        fn compiled(signature: &mut [u64], tokens: &[u32]) {
            match signature.len() {
                1 => plain::wide_signature_of::<1>(signature, tokens),
                2 => plain::wide_signature_of::<2>(signature, tokens),
                4 => plain::wide_signature_of::<4>(signature, tokens),
                _ => plain::wide_signature(signature, tokens),
            }
        }
        // SAFETY: `self` proves the features.
        unsafe { compiled(signature, tokens) }
    }

    #[inline]
    pub(super) fn filter_postings(
        self,
        query: PostingQuery,
        postings: &[u64],
        found: &mut Vec<u32>,
    ) {
        #[target_feature(enable = "avx2,popcnt")]
        fn compiled(query: PostingQuery, postings: &[u64], found: &mut Vec<u32>) {
            plain::filter_postings(query, postings, found);
        }
        // SAFETY: `self` proves the features.
        unsafe { compiled(query, postings, found) }
    }

    #[inline]
    pub(super) fn scan_columns(
        self,
        probe: &[u64],
        columns: &[u64],
        limit: u32,
        found: &mut Vec<u32>,
    ) {
        #[target_feature(enable = "avx2,popcnt")]
        fn compiled(probe: &[u64], columns: &[u64], limit: u32, found: &mut Vec<u32>) {
            plain::scan_columns(probe, columns, limit, found);
        }
        // SAFETY: `self` proves the features.
        unsafe { compiled(probe, columns, limit, found) }
    }

    #[inline]
    pub(super) fn difference(self, one: &[u64], two: &[u64]) -> u32 {
        #[target_feature(enable = "avx2,popcnt")]
        fn compiled(one: &[u64], two: &[u64]) -> u32 {
            plain::difference(one, two)
        }
        // SAFETY: `self` proves the features.
        unsafe { compiled(one, two) }
    }

    #[inline]
    pub(super) fn overlap_at_least(self, x: &[u32], y: &[u32], required: u32) -> Option<u32> {
        // SAFETY: `self` proves the features.
        unsafe { overlap_256(x, y, required) }
    }
}

impl Avx512 {
    pub(super) fn detect() -> Option<Self> {
        let avx2 = Avx2::detect()?;
        (is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vpopcntdq"))
        .then_some(Self(avx2))
    }

    #[inline]
    pub(super) fn avx2(self) -> Avx2 {
        self.0
    }

    #[inline]
    pub(super) fn narrow_signature(self, tokens: &[u32]) -> u64 {
        #[target_feature(enable = "avx512f,avx512vl,avx512vpopcntdq")]
        fn compiled(tokens: &[u32]) -> u64 {
            plain::narrow_signature(tokens)
        }
        // SAFETY: `self` proves the features.
        unsafe { compiled(tokens) }
    }

    #[inline]
    pub(super) fn wide_signature(self, signature: &mut [u64], tokens: &[u32]) {
        #[target_feature(enable = "avx512f,avx512vl,avx512vpopcntdq")]
        fn compiled(signature: &mut [u64], tokens: &[u32]) {
            match signature.len() {
                1 => plain::wide_signature_of::<1>(signature, tokens),
                2 => plain::wide_signature_of::<2>(signature, tokens),
                4 => plain::wide_signature_of::<4>(signature, tokens),
                8 => plain::wide_signature_of::<8>(signature, tokens),
                16 => plain::wide_signature_of::<16>(signature, tokens),
                _ => plain::wide_signature(signature, tokens),
            }
        }
        // SAFETY: `self` proves the features.
        unsafe { compiled(signature, tokens) }
    }

    #[inline]
    pub(super) fn filter_postings(
        self,
        query: PostingQuery,
        postings: &[u64],
        found: &mut Vec<u32>,
    ) {
        // SAFETY: `self` proves the features.
        unsafe { filter_postings_512(query, postings, found) }
    }

    #[inline]
    pub(super) fn scan_columns(
        self,
        probe: &[u64],
        columns: &[u64],
        limit: u32,
        found: &mut Vec<u32>,
    ) {
        // SAFETY: `self` proves the features.
        unsafe {
            match probe.len() {
                1 => scan_columns_512::<1>(probe, columns, limit, found),
                2 => scan_columns_512::<2>(probe, columns, limit, found),
                4 => scan_columns_512::<4>(probe, columns, limit, found),
                8 => scan_columns_512::<8>(probe, columns, limit, found),
                16 => scan_columns_512::<16>(probe, columns, limit, found),
                _ => scan_columns_any_512(probe, columns, limit, found),
            }
        }
    }

    #[inline]
    pub(super) fn difference(self, one: &[u64], two: &[u64]) -> u32 {
        assert_eq!(one.len(), two.len());
        // SAFETY: `self` proves the features.
        unsafe { difference_512(one, two) }
    }
}

#[inline]
pub(super) fn prefetch<T>(value: &T) {
    // SAFETY: prefetching reads nothing that could fault; the reference is valid anyway.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) };
}

#[target_feature(enable = "avx512f,avx512vl,avx512vpopcntdq")]
fn filter_postings_512(query: PostingQuery, postings: &[u64], found: &mut Vec<u32>) {
    let probe = _mm512_set1_epi64(query.signature as i64);
    let limit = _mm512_set1_epi64(i64::from(query.limit));
    let even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    let odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    let count = postings.len() / 2;
    let mut at = 0;
    while at < count {
        let here = (count - at).min(LANES);
        // Two bits a posting; the lower half of them is the first load, the upper the second.
        let words = ((1_u32 << (2 * here)) - 1) as u16;
        // SAFETY: the masks keep both loads inside the `2 * here` words from `2 * at` on.
        let (low, high) = unsafe {
            let start = postings.as_ptr().add(2 * at).cast::<i64>();
            (
                _mm512_maskz_loadu_epi64(words as u8, start),
                _mm512_maskz_loadu_epi64((words >> 8) as u8, start.wrapping_add(LANES)),
            )
        };
        let signatures = _mm512_permutex2var_epi64(low, even, high);
        let positions = _mm512_srli_epi64::<32>(_mm512_permutex2var_epi64(low, odd, high));
        let differing = _mm512_popcnt_epi64(_mm512_xor_epi64(signatures, probe));
        let sum = _mm512_add_epi64(differing, positions);
        let lanes = ((1_u32 << here) - 1) as u8;
        push_lanes(_mm512_mask_cmple_epu64_mask(lanes, sum, limit), at, found);
        at += LANES;
    }
}

/// Appends `at + lane` for each lane of the mask.
#[target_feature(enable = "avx512f,avx512vl")]
#[inline]
fn push_lanes(mask: u8, at: usize, found: &mut Vec<u32>) {
    if mask == 0 {
        return;
    }
    found.reserve(LANES);
    let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let places = _mm256_add_epi32(lanes, _mm256_set1_epi32(at as i32));
    // SAFETY: there is room for all lanes behind the vector's length, and as many as the mask
    // has bits are written before the length grows by as many.
    unsafe {
        let end = found.as_mut_ptr().add(found.len());
        _mm256_mask_compressstoreu_epi32(end.cast(), mask, places);
        found.set_len(found.len() + mask.count_ones() as usize);
    }
}

#[target_feature(enable = "avx512f,avx512vl,avx512vpopcntdq")]
fn scan_columns_512<const WORDS: usize>(
    probe: &[u64],
    columns: &[u64],
    limit: u32,
    found: &mut Vec<u32>,
) {
    let limit = _mm512_set1_epi64(i64::from(limit));
    let mut words = [_mm512_setzero_si512(); WORDS];
    for (word, &value) in words.iter_mut().zip(probe) {
        *word = _mm512_set1_epi64(value as i64);
    }
    let passing = |lanes: &[u64]| {
        assert_eq!(lanes.len(), WORDS * LANES);
        let mut sum = _mm512_setzero_si512();
        for (word, &value) in words.iter().enumerate() {
            // SAFETY: `lanes` has `WORDS * LANES` words, as just checked, and `word < WORDS`.
            let column = unsafe { _mm512_loadu_epi64(lanes.as_ptr().add(word * LANES).cast()) };
            sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(_mm512_xor_epi64(column, value)));
        }
        _mm512_cmple_epu64_mask(sum, limit)
    };
    // Four blocks between two branches: hardly any slot passes.
    let fours = columns.chunks_exact(4 * WORDS * LANES);
    let rest = fours.remainder();
    let mut at = 0;
    for four in fours {
        let mut blocks = four.chunks_exact(WORDS * LANES);
        let masks: [u8; 4] = std::array::from_fn(|_| blocks.next().map_or(0, passing));
        if u32::from_ne_bytes(masks) != 0 {
            for (block, &mask) in masks.iter().enumerate() {
                push_lanes(mask, at + block * LANES, found);
            }
        }
        at += 4 * LANES;
    }
    for block in rest.chunks_exact(WORDS * LANES) {
        push_lanes(passing(block), at, found);
        at += LANES;
    }
}

#[target_feature(enable = "avx512f,avx512vl,avx512vpopcntdq")]
fn scan_columns_any_512(probe: &[u64], columns: &[u64], limit: u32, found: &mut Vec<u32>) {
    let limit = _mm512_set1_epi64(i64::from(limit));
    for (block, lanes) in columns.chunks_exact(probe.len() * LANES).enumerate() {
        let mut sum = _mm512_setzero_si512();
        for (&value, column) in probe.iter().zip(lanes.chunks_exact(LANES)) {
            // SAFETY: `column` has `LANES` words.
            let column = unsafe { _mm512_loadu_epi64(column.as_ptr().cast()) };
            let value = _mm512_set1_epi64(value as i64);
            sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(_mm512_xor_epi64(column, value)));
        }
        let mask = _mm512_cmple_epu64_mask(sum, limit);
        push_lanes(mask, block * LANES, found);
    }
}

#[target_feature(enable = "avx512f,avx512vl,avx512vpopcntdq,popcnt")]
fn difference_512(one: &[u64], two: &[u64]) -> u32 {
    let mut sum = _mm512_setzero_si512();
    let (ones, twos) = (one.chunks_exact(LANES), two.chunks_exact(LANES));
    let rest = plain::difference(ones.remainder(), twos.remainder());
    for (one, two) in ones.zip(twos) {
        // SAFETY: both chunks have `LANES` words.
        let (one, two) = unsafe {
            (_mm512_loadu_epi64(one.as_ptr().cast()), _mm512_loadu_epi64(two.as_ptr().cast()))
        };
        sum = _mm512_add_epi64(sum, _mm512_popcnt_epi64(_mm512_xor_epi64(one, two)));
    }
    rest + _mm512_reduce_add_epi64(sum) as u32
}

/// Merges eight tokens against eight at a time: each of the one is compared with each of the
/// other in eight rotations, then whichever block ends with the smaller token is done with.
#[target_feature(enable = "avx2,popcnt")]
fn overlap_256(x: &[u32], y: &[u32], required: u32) -> Option<u32> {
    let required = required as usize;
    let (mut i, mut j, mut overlap) = (0, 0, 0);
    let one = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0);
    let four = _mm256_setr_epi32(4, 5, 6, 7, 0, 1, 2, 3);
    while i + 8 <= x.len() && j + 8 <= y.len() {
        if overlap + (x.len() - i).min(y.len() - j) < required {
            return None;
        }
        // SAFETY: eight tokens from `i` and from `j` on are inside the slices.
        let (a, b) = unsafe {
            (
                _mm256_loadu_si256(x.as_ptr().add(i).cast()),
                _mm256_loadu_si256(y.as_ptr().add(j).cast()),
            )
        };
        let b4 = _mm256_permutevar8x32_epi32(b, four);
        let b1 = _mm256_permutevar8x32_epi32(b, one);
        let b5 = _mm256_permutevar8x32_epi32(b4, one);
        let b2 = _mm256_permutevar8x32_epi32(b1, one);
        let b6 = _mm256_permutevar8x32_epi32(b5, one);
        let b3 = _mm256_permutevar8x32_epi32(b2, one);
        let b7 = _mm256_permutevar8x32_epi32(b6, one);
        let equal = |b| _mm256_cmpeq_epi32(a, b);
        let any = _mm256_or_si256(
            _mm256_or_si256(
                _mm256_or_si256(equal(b), equal(b4)),
                _mm256_or_si256(equal(b1), equal(b5)),
            ),
            _mm256_or_si256(
                _mm256_or_si256(equal(b2), equal(b6)),
                _mm256_or_si256(equal(b3), equal(b7)),
            ),
        );
        overlap += _mm256_movemask_ps(_mm256_castsi256_ps(any)).count_ones() as usize;
        let (last_x, last_y) = (x[i + 7], y[j + 7]);
        i += if last_x <= last_y { 8 } else { 0 };
        j += if last_y <= last_x { 8 } else { 0 };
    }
    crate::verify::overlap_from(overlap as u32, &x[i..], &y[j..], required as u32)
}
