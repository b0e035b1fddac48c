//! All pairs by a double loop, each decided by cross-multiplied integers.
//!
//! Cost: every pair of sets, one hash-free merge each. Fine for hundreds of sets.

use std::collections::BTreeSet;

/// The measures by name, as the oracle understands them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OracleMeasure {
    /// shared / (a + b - shared)
    Jaccard,
    /// shared / sqrt(a b)
    Cosine,
    /// 2 shared / (a + b)
    Dice,
    /// shared
    Overlap,
    /// shared / a, with a the first file's set, or the smaller in a self join
    Containment,
}

/// Whether two sets reach `numerator / denominator`; empty sets reach nothing.
#[must_use]
pub fn reaches(
    measure: OracleMeasure,
    numerator: u64,
    denominator: u64,
    one: &BTreeSet<u32>,
    two: &BTreeSet<u32>,
) -> bool {
    if one.is_empty() || two.is_empty() {
        return false;
    }
    let shared = one.intersection(two).count() as u128;
    let (a, b) = (one.len() as u128, two.len() as u128);
    let (n, d) = (u128::from(numerator), u128::from(denominator));
    match measure {
        OracleMeasure::Jaccard => shared * d >= n * (a + b - shared),
        OracleMeasure::Cosine => shared * shared * d * d >= n * n * a * b,
        OracleMeasure::Dice => 2 * shared * d >= n * (a + b),
        OracleMeasure::Overlap => shared * d >= n,
        OracleMeasure::Containment => shared * d >= n * a,
    }
}

/// The pairs `(left, right, shared)` of one list of sets, `left < right`, ascending.
#[must_use]
pub fn self_join(
    measure: OracleMeasure,
    numerator: u64,
    denominator: u64,
    sets: &[BTreeSet<u32>],
) -> Vec<(u32, u32, u32)> {
    let mut pairs = Vec::new();
    for (left, one) in sets.iter().enumerate() {
        for (right, two) in sets.iter().enumerate().skip(left + 1) {
            let (smaller, larger) = if one.len() <= two.len() { (one, two) } else { (two, one) };
            if reaches(measure, numerator, denominator, smaller, larger) {
                let shared = one.intersection(two).count() as u32;
                pairs.push((left as u32, right as u32, shared));
            }
        }
    }
    pairs
}

/// The pairs `(left, right, shared)` of two lists of sets, ascending.
#[must_use]
pub fn two_file_join(
    measure: OracleMeasure,
    numerator: u64,
    denominator: u64,
    lefts: &[BTreeSet<u32>],
    rights: &[BTreeSet<u32>],
) -> Vec<(u32, u32, u32)> {
    let mut pairs = Vec::new();
    for (left, one) in lefts.iter().enumerate() {
        for (right, two) in rights.iter().enumerate() {
            if reaches(measure, numerator, denominator, one, two) {
                let shared = one.intersection(two).count() as u32;
                pairs.push((left as u32, right as u32, shared));
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_exactly_on_the_threshold_is_found() {
        let sets = [(0..18).collect(), (0..20).collect()];
        let found = self_join(OracleMeasure::Jaccard, 9, 10, &sets);
        assert_eq!(found, vec![(0, 1, 18)]);
        assert!(self_join(OracleMeasure::Jaccard, 901, 1000, &sets).is_empty());
    }

    #[test]
    fn empty_sets_join_with_nothing() {
        let sets = [BTreeSet::new(), BTreeSet::new(), BTreeSet::from([1])];
        assert!(self_join(OracleMeasure::Containment, 1, 10, &sets).is_empty());
        assert!(two_file_join(OracleMeasure::Containment, 1, 10, &sets, &sets[..2]).is_empty());
    }
}
