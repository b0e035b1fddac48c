//! Oracles for whole corpora: components by walking, families by adding one document at a time.

pub mod truth;

use std::collections::BTreeSet;

/// The smallest number of the component of each number below `count`, by walking along pairs until
/// nothing new is met.
#[must_use]
pub fn components(count: u32, pairs: &[(u32, u32)]) -> Vec<u32> {
    let mut smallest: Vec<u32> = (0..count).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for &(one, other) in pairs {
            let least = smallest[one as usize].min(smallest[other as usize]);
            for end in [one, other] {
                changed |= smallest[end as usize] != least;
                smallest[end as usize] = least;
            }
        }
    }
    smallest
}

/// The part of the union that both have; 0 for two empty sets.
#[must_use]
pub fn resemblance(one: &BTreeSet<u64>, other: &BTreeSet<u64>) -> f64 {
    let union = one.union(other).count();
    if union == 0 { 0.0 } else { one.intersection(other).count() as f64 / union as f64 }
}

/// What each document is when they are added one at a time, in this order, to a store in threshold
/// mode: `None` for an original, or its original and their resemblance.
///
/// A document is compared with the originals so far. It is a copy of the one it resembles most, if
/// that reaches the threshold; of several equal ones, of the earliest. A document without shingles
/// is nobody's copy and nobody's original.
#[must_use]
pub fn families_one_at_a_time(
    documents: &[BTreeSet<u64>],
    threshold: f64,
) -> Vec<Option<(usize, f64)>> {
    let mut originals: Vec<usize> = Vec::new();
    let mut verdicts = Vec::new();
    for (number, document) in documents.iter().enumerate() {
        let mut best: Option<(usize, f64)> = None;
        for &original in &originals {
            let value = resemblance(document, &documents[original]);
            if value >= threshold && best.is_none_or(|(_, most)| value > most) {
                best = Some((original, value));
            }
        }
        if best.is_none() && !document.is_empty() {
            originals.push(number);
        }
        verdicts.push(best);
    }
    verdicts
}

/// What each document is when they are added one at a time, in this order, to a store with the rule of
/// features: `None` for an original, or its original.
///
/// `agreeing` tells in how many features two documents agree. A document is a copy of the original
/// with which it agrees in most, if those are at least `least`; of several equal ones, of the
/// earliest. A document without words is nobody's copy and nobody's original.
#[must_use]
pub fn families_by_agreement(
    has_words: &[bool],
    least: usize,
    agreeing: impl Fn(usize, usize) -> usize,
) -> Vec<Option<usize>> {
    let mut originals: Vec<usize> = Vec::new();
    let mut verdicts = vec![None; has_words.len()];
    for document in (0..has_words.len()).filter(|&document| has_words[document]) {
        let mut best: Option<(usize, usize)> = None;
        for &original in &originals {
            let count = agreeing(document, original);
            if count >= least && best.is_none_or(|(_, most)| count > most) {
                best = Some((original, count));
            }
        }
        match best {
            Some((original, _)) => verdicts[document] = Some(original),
            None => originals.push(document),
        }
    }
    verdicts
}

/// All pairs that reach the threshold, smaller number first, in order.
#[must_use]
pub fn all_pairs(documents: &[BTreeSet<u64>], threshold: f64) -> Vec<(usize, usize, f64)> {
    let mut pairs = Vec::new();
    for one in 0..documents.len() {
        for other in one + 1..documents.len() {
            let value = resemblance(&documents[one], &documents[other]);
            if value >= threshold {
                pairs.push((one, other, value));
            }
        }
    }
    pairs
}
