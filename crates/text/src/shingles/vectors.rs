//! Shingles of five words, eight at a time: AVX-512 has a multiplication of 64-bit lanes (its part DQ).

#![allow(unsafe_code, reason = "vector instructions; the only call is justified where it stands")]

use super::write_five;

/// As [`write_five`]; `false` if this processor cannot.
pub(super) fn write_five_by_vectors(hashes: &[u64], shingles: &mut [u64]) -> bool {
    let found = std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512dq");
    if found {
        // SAFETY: the features were just detected.
        unsafe { write_five_wide(hashes, shingles) };
    }
    found
}

#[target_feature(enable = "avx512f,avx512dq")]
fn write_five_wide(hashes: &[u64], shingles: &mut [u64]) {
    write_five(hashes, shingles);
}
