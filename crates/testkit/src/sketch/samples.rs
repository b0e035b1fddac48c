//! Smallest-s, modulus and scaled sketches and their estimates, by sets of all values.

use super::min_values::{LOW_TERMS_40, LOW_TERMS_64, ODD, slow_derive};
use super::rabin::slow_rabin;
use std::collections::BTreeSet;

/// An element under the random permutation of 64 bits of a published seed.
pub fn slow_permuted_64(element: u64, seed_number: u64) -> u64 {
    let mut value = element ^ slow_derive(seed_number, 4, 0);
    value ^= value >> 32;
    value = value.wrapping_mul(ODD[0]);
    value = value.wrapping_add(slow_derive(seed_number, 4, 1));
    value ^= value >> 29;
    value = value.wrapping_mul(ODD[1]);
    value ^= value >> 32;
    value = value.wrapping_mul(ODD[2]);
    value ^ (value >> 32)
}

/// An element's 40-bit fingerprint under the random permutation of 40 bits of a published seed.
pub fn slow_permuted_40(element: u64, seed_number: u64) -> u64 {
    let range = 1u64 << 40;
    let mut value = slow_rabin(&element.to_le_bytes(), 40, LOW_TERMS_40);
    value ^= slow_derive(seed_number, 4, 0) % range;
    value ^= value >> 20;
    value = value.wrapping_mul(ODD[0]).wrapping_add(slow_derive(seed_number, 4, 1)) % range;
    value ^= value >> 17;
    value = value.wrapping_mul(ODD[1]) % range;
    value ^= value >> 20;
    value = value.wrapping_mul(ODD[2]) % range;
    value ^ (value >> 20)
}

/// The `count` smallest values.
pub fn slow_smallest(elements: &[u64], seed_number: u64, count: usize) -> Vec<u64> {
    let values: BTreeSet<u64> =
        elements.iter().map(|element| slow_permuted_64(*element, seed_number)).collect();
    values.into_iter().take(count).collect()
}

/// The values that `modulus` divides, after `permuted`.
pub fn slow_modulus(elements: &[u64], modulus: u64, permuted: impl Fn(u64) -> u64) -> Vec<u64> {
    let values: BTreeSet<u64> = elements.iter().map(|element| permuted(*element)).collect();
    values.into_iter().filter(|value| value % modulus == 0).collect()
}

/// The modulus for the size of the set, and the values it divides, after `permuted`.
pub fn slow_scaled(
    elements: &[u64],
    base: u64,
    most: u64,
    permuted: impl Fn(u64) -> u64,
) -> (u64, Vec<u64>) {
    let distinct: BTreeSet<u64> = elements.iter().copied().collect();
    let mut modulus = 1;
    while distinct.len() as u64 > most * modulus {
        modulus *= base;
    }
    (modulus, slow_modulus(elements, modulus, permuted))
}

/// The fingerprints of the runs of `run` neighbours.
pub fn slow_super_shingles(sorted: &[u64], run: usize) -> Vec<u64> {
    let mut found = BTreeSet::new();
    let length = run.min(sorted.len());
    for start in 0..sorted.len() {
        if !sorted.is_empty() && start + length <= sorted.len() {
            let mut bytes = Vec::new();
            for value in &sorted[start..start + length] {
                bytes.extend(value.to_le_bytes());
            }
            found.insert(slow_rabin(&bytes, 64, LOW_TERMS_64));
        }
    }
    found.into_iter().collect()
}

/// Intersection over union; 0 for two empty sets.
pub fn slow_resemblance(left: &[u64], right: &[u64]) -> f64 {
    let left: BTreeSet<_> = left.iter().collect();
    let right: BTreeSet<_> = right.iter().collect();
    let (shared, union) = (left.intersection(&right).count(), left.union(&right).count());
    if union == 0 { 0.0 } else { shared as f64 / union as f64 }
}

/// The part of the left set that the right one has; 0 when the left is empty.
pub fn slow_containment(left: &[u64], right: &[u64]) -> f64 {
    let left: BTreeSet<_> = left.iter().collect();
    let right: BTreeSet<_> = right.iter().collect();
    let shared = left.intersection(&right).count();
    if left.is_empty() { 0.0 } else { shared as f64 / left.len() as f64 }
}
