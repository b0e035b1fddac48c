//! Min-values and features, one element and one permutation at a time.

use super::rabin::slow_rabin;
#[allow(deprecated)]
use std::hash::{Hasher, SipHasher};

/// 2^64 over the golden ratio; the fractions of the square roots of 3 and 7.
pub(super) const ODD: [u64; 3] =
    [0x9e37_79b9_7f4a_7c15, 0xbb67_ae85_84ca_a73b, 0xa54f_f53a_5f1d_36f1];

/// The low terms of the 64-bit and the 40-bit polynomial.
pub(super) const LOW_TERMS_64: u64 = 0x243f_6a88_85a3_0907;
pub(super) const LOW_TERMS_40: u64 = 0x24_3f6a_889f;

/// The number a published seed gives for a purpose and an index: the SipHash-2-4 of the
/// standard library, keyed by the seed's number and 0.
pub fn slow_derive(seed_number: u64, purpose: u64, index: u64) -> u64 {
    #[allow(deprecated)]
    let mut hasher = SipHasher::new_with_keys(seed_number, 0);
    hasher.write(&purpose.to_le_bytes());
    hasher.write(&index.to_le_bytes());
    hasher.finish()
}

/// The `count` min-values of a set under a published seed; none when it is empty.
pub fn slow_min_values(elements: &[u64], seed_number: u64, count: usize) -> Vec<u32> {
    if elements.is_empty() {
        return Vec::new();
    }
    let fold = |element: u64| {
        let mut value = element ^ slow_derive(seed_number, 1, 0);
        value = value.wrapping_mul(ODD[0]);
        value ^= value >> 32;
        value = value.wrapping_add(slow_derive(seed_number, 1, 1));
        value = value.wrapping_mul(ODD[1]);
        value >> 32
    };
    let mut min_values = Vec::new();
    for index in 0..count as u64 {
        let multiplier = slow_derive(seed_number, 2, index) >> 32 | 1;
        let addend = slow_derive(seed_number, 3, index) >> 32;
        let image = |element: &u64| {
            let image = u128::from(fold(*element)) * u128::from(multiplier) + u128::from(addend);
            (image % (1 << 32)) as u32
        };
        min_values.extend(elements.iter().map(image).min());
    }
    min_values
}

/// The features of a set under a published seed; none when it is empty.
pub fn slow_features(
    elements: &[u64],
    seed_number: u64,
    groups: usize,
    group_size: usize,
) -> Vec<u64> {
    let min_values = slow_min_values(elements, seed_number, groups * group_size);
    let mut features = Vec::new();
    for group in min_values.chunks(group_size) {
        let mut bytes = Vec::new();
        for value in group {
            bytes.extend(value.to_le_bytes());
        }
        features.push(slow_rabin(&bytes, 64, LOW_TERMS_64));
    }
    features
}
