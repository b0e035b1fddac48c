//! The learned part of the extractor: how likely is each block to be core text, and which blocks
//! to keep.
//!
//! What: oblivious decision trees over byte features. All nodes of one level of such a tree ask the
//! same question, so a tree is six comparisons and a table of 64 values, and all blocks of a page
//! go through a comparison together. A second layer of trees that saw the first one's opinion of the
//! neighbours was tried: 0.0006 better in cross-validation, within noise, for twice the time.
//!
//! Which blocks: the set with the greatest expected word F1. With probabilities `p` and words `n`,
//! keeping a set expects `2 Σ p n / (Σ n + Σ_all p n)`; the best set is all blocks above some
//! probability, which one pass over 256 classes of probability finds. So a page about which the
//! model is unsure loses no more than one about which it is sure.
//!
//! Why trees rather than the rules alone or a linear model: docs/core-text.md has the comparison.
//! `benches/core-text/learn` learns the numbers; everything here is integers, so every machine decides alike.
//!
//! Cost: six vector comparisons per tree and sixteen blocks, one look-up per tree and block.

use std::borrow::Cow;

use super::class_words::{BUCKETS, PROSE_BUCKETS};
use super::columns::Columns;

/// Levels of a tree.
pub(crate) const DEPTH: usize = 6;
/// Leaves of a tree.
pub(crate) const LEAVES: usize = 1 << DEPTH;
/// What a logit of one is in leaves and scores.
pub(crate) const UNIT: i32 = 1024;

/// A tree: bit `d` of a block's leaf says whether feature `splits[d].0` is above `splits[d].1`.
#[derive(Debug, Clone)]
pub struct ObliviousTree {
    /// Feature and threshold of each level.
    pub splits: [(u8, u8); DEPTH],
    /// Logits of the leaves in 1/1024.
    pub leaves: [i16; LEAVES],
}

/// All learned numbers.
#[derive(Debug, Clone)]
pub struct Model {
    /// Weights of the words of `class` and `id`, by bucket.
    pub class_words: [i8; BUCKETS],
    /// Weights of the words of short blocks, by bucket.
    pub text_words: [i8; BUCKETS],
    /// Weights of the words of headings for what stands below them, by bucket.
    pub heading_words: [i8; BUCKETS],
    /// Weights of the words of paragraphs, by bucket.
    pub prose_words: [i8; PROSE_BUCKETS],
    /// Whether the sites that comparisons are about were learned from too.
    pub learned_all: bool,
    /// The trees.
    pub trees: Cow<'static, [ObliviousTree]>,
}

/// Adds the trees' leaves up, for every block.
pub(crate) fn evaluate(trees: &[ObliviousTree], columns: &Columns) -> Vec<i32> {
    let mut scores = vec![0i32; columns.rows()];
    let mut leaf_of = vec![0u8; columns.rows()];
    for tree in trees {
        leaf_of.fill(0);
        for (level, &(feature, threshold)) in tree.splits.iter().enumerate() {
            let column = columns.column(feature.into());
            for (leaf, &value) in leaf_of.iter_mut().zip(column) {
                *leaf |= u8::from(value > threshold) << level;
            }
        }
        for (score, &leaf) in scores.iter_mut().zip(&leaf_of) {
            *score += i32::from(tree.leaves[leaf as usize & (LEAVES - 1)]);
        }
    }
    scores
}

/// Probability in 1/65536 of a score.
pub(crate) fn probability(score: i32) -> u32 {
    // Linear between steps of a quarter.
    let place = score.clamp(-8 * UNIT, 8 * UNIT - 1) + 8 * UNIT;
    let (step, rest) = (place as u32 / 256, place as u32 % 256);
    let (low, high) = (SIGMOID[step as usize], SIGMOID[step as usize + 1]);
    low + (high - low) * rest / 256
}

/// 65536 / (1 + e^-x) for x from -8 to 8 in steps of a quarter.
const SIGMOID: [u32; 65] = [
    22, 28, 36, 47, 60, 77, 98, 126, 162, 208, 267, 342, 439, 562, 720, 922, 1179, 1506, 1921,
    2446, 3108, 3938, 4971, 6249, 7812, 9702, 11955, 14595, 17625, 21025, 24743, 28693, 32768,
    36843, 40793, 44511, 47911, 50941, 53581, 55834, 57724, 59287, 60565, 61598, 62428, 63090,
    63615, 64030, 64357, 64614, 64816, 64974, 65097, 65194, 65269, 65328, 65374, 65410, 65438,
    65459, 65476, 65489, 65500, 65508, 65514,
];

/// For each block, whether it is kept: the set with the greatest expected F1.
pub(crate) fn keep(scores: &[i32], words: &[u32]) -> Vec<bool> {
    // Sums of words and of expected words by class of probability.
    let mut classes = [(0u64, 0u64); 256];
    for (&score, &n) in scores.iter().zip(words) {
        let p = probability(score);
        let class = &mut classes[(p >> 8).min(255) as usize];
        class.0 += u64::from(n);
        class.1 += u64::from(n) * u64::from(p);
    }
    let all: u64 = classes.iter().map(|class| class.1).sum::<u64>() >> 16;
    let (mut kept, mut hit) = (0u64, 0u64);
    let mut best = (0u64, 1u64, 255usize);
    for (at, class) in classes.iter().enumerate().rev() {
        kept += class.0;
        hit += class.1;
        // 2 hit / (kept + all), compared as fractions.
        let (value, whole) = (hit >> 12, (kept + all).max(1));
        if u128::from(value) * u128::from(best.1) >= u128::from(best.0) * u128::from(whole) {
            best = (value, whole, at);
        }
    }
    scores.iter().map(|&score| (probability(score) >> 8) as usize >= best.2).collect()
}

/// The F1 that a set of blocks is expected to have, in 1/65536.
pub(crate) fn expected_f1(kept: &[bool], scores: &[i32], words: &[u32]) -> u64 {
    let (mut all, mut hit, mut size) = (0u64, 0u64, 0u64);
    for ((&is_kept, &score), &n) in kept.iter().zip(scores).zip(words) {
        let expected = u64::from(n) * u64::from(probability(score));
        all += expected;
        if is_kept {
            hit += expected;
            size += u64::from(n);
        }
    }
    (2 * hit).checked_div(size + (all >> 16)).unwrap_or(0)
}
