//! Alignment: which words of two texts belong together, in the order of both.
//!
//! Texts that are short, or that differ by few words, are solved exactly. Otherwise runs of words that
//! occur exactly once in each text are anchors. The longest chain of anchors that is in order in both
//! texts is kept and grown, and the gaps between anchors are aligned again with shorter runs, down to
//! single words. This is patience diff over shingles: it follows sentences the way a reader does, and
//! its cost stays O(n log n) on two long texts that have nothing in common, where the exact algorithms
//! are quadratic.

use std::collections::HashMap;

use super::exact::{EXACT_CELLS, align_few_edits, align_small};

/// The lengths of anchors, longest first: a sentence-like run is a surer sign than a word.
const ANCHOR_WORDS: [usize; 3] = [8, 3, 1];

/// The positions of words that belong together, in order; `None` when `stop` said to stop.
pub(super) fn align_words(
    left: &[u32],
    right: &[u32],
    stop: &dyn Fn() -> bool,
) -> Option<Vec<(usize, usize)>> {
    let mut aligner = Aligner { pairs: Vec::new(), stop };
    aligner.align(left, right, (0, 0), &ANCHOR_WORDS);
    (!stop()).then(|| join_runs(&aligner.pairs, left, right))
}

/// What is aligned so far.
struct Aligner<'a> {
    /// The positions of words that belong together, in order.
    pairs: Vec<(usize, usize)>,
    stop: &'a dyn Fn() -> bool,
}

impl Aligner<'_> {
    /// Aligns two runs of words; `offset` is where they start in their texts.
    fn align(&mut self, left: &[u32], right: &[u32], offset: (usize, usize), anchors: &[usize]) {
        let ahead = left.iter().zip(right).take_while(|(l, r)| l == r).count();
        self.pair_runs(offset, ahead);
        let (left, right) = (&left[ahead..], &right[ahead..]);
        let offset = (offset.0 + ahead, offset.1 + ahead);
        let behind = left.iter().rev().zip(right.iter().rev()).take_while(|(l, r)| l == r).count();
        let (left_end, right_end) = (left.len() - behind, right.len() - behind);

        self.align_middle(&left[..left_end], &right[..right_end], offset, anchors);

        self.pair_runs((offset.0 + left_end, offset.1 + right_end), behind);
    }

    /// Aligns two runs that differ in their first and in their last word.
    fn align_middle(
        &mut self,
        left: &[u32],
        right: &[u32],
        offset: (usize, usize),
        anchor_words: &[usize],
    ) {
        if left.is_empty() || right.is_empty() || (self.stop)() {
            return;
        }
        if left.len().saturating_mul(right.len()) <= EXACT_CELLS {
            return align_small(left, right, offset, &mut self.pairs);
        }
        if align_few_edits(left, right, offset, &mut self.pairs) {
            return;
        }
        let Some((&length, shorter)) = anchor_words.split_first() else { return };
        let anchors = longest_chain(&find_anchors(left, right, length));
        let (mut l, mut r) = (0, 0);
        for (anchor_l, anchor_r) in anchors {
            // Growing an earlier anchor may have covered this one, wholly or in part.
            if anchor_l < l || anchor_r < r {
                continue;
            }
            let after = (offset.0 + l, offset.1 + r);
            self.align(&left[l..anchor_l], &right[r..anchor_r], after, shorter);
            let same =
                left[anchor_l..].iter().zip(&right[anchor_r..]).take_while(|(l, r)| l == r).count();
            self.pair_runs((offset.0 + anchor_l, offset.1 + anchor_r), same);
            (l, r) = (anchor_l + same, anchor_r + same);
        }
        self.align(&left[l..], &right[r..], (offset.0 + l, offset.1 + r), shorter);
    }

    /// Pairs the words of two equal runs.
    fn pair_runs(&mut self, start: (usize, usize), words: usize) {
        self.pairs.extend((0..words).map(|at| (start.0 + at, start.1 + at)));
    }
}

/// The places of runs of `length` words that stand exactly once in each text, in left order.
pub(super) fn find_anchors(left: &[u32], right: &[u32], length: usize) -> Vec<(usize, usize)> {
    /// A run seen once at a place, or more often.
    #[derive(Default)]
    struct Seen {
        left: Option<usize>,
        right: Option<usize>,
        often: bool,
    }
    let mut seen: HashMap<&[u32], Seen> = HashMap::new();
    for (at, run) in left.windows(length).enumerate() {
        let seen = seen.entry(run).or_default();
        seen.often |= seen.left.replace(at).is_some();
    }
    for (at, run) in right.windows(length).enumerate() {
        if let Some(seen) = seen.get_mut(run) {
            seen.often |= seen.right.replace(at).is_some();
        }
    }
    let mut anchors: Vec<(usize, usize)> = seen
        .into_values()
        .filter(|seen| !seen.often)
        .filter_map(|seen| Some((seen.left?, seen.right?)))
        .collect();
    anchors.sort_unstable();
    anchors
}

/// The longest subsequence of `places`, which ascend on the left, that ascends on the right too.
fn longest_chain(places: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length of chain, the place with the smallest right end, and each place's predecessor.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(places.len());
    for (index, &(_, right)) in places.iter().enumerate() {
        let length = ends.partition_point(|&end| places[end].1 < right);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(index);
        } else {
            ends[length] = index;
        }
    }
    let mut chain = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(index) = at {
        chain.push(places[index]);
        at = before[index];
    }
    chain.reverse();
    chain
}

/// A run of pairs: where it starts on both sides, and how many they are.
type Run = (usize, usize, usize);

/// Pairs as many as before, in fewer runs: a run that can as well stand directly before the next one,
/// or directly behind the one before, is put there.
///
/// Of several longest common subsequences the search takes any, and pairs a word as soon as it can:
/// `the` of a paragraph that is gone with `the` that begins the next one. People see that the
/// paragraph is gone.
fn join_runs(pairs: &[(usize, usize)], left: &[u32], right: &[u32]) -> Vec<(usize, usize)> {
    let mut runs: Vec<Run> = Vec::new();
    for &(l, r) in pairs {
        match runs.last_mut() {
            Some((first_l, first_r, words)) if (*first_l + *words, *first_r + *words) == (l, r) => {
                *words += 1;
            }
            _ => runs.push((l, r, 1)),
        }
    }
    let same = |l: usize, r: usize, words: usize| left[l..l + words] == right[r..r + words];
    let mut kept: Vec<Run> = Vec::with_capacity(runs.len());
    for &(l, r, words) in runs.iter().rev() {
        match kept.last_mut() {
            Some((next_l, next_r, more))
                if (r + words == *next_r && same(*next_l - words, r, words))
                    || (l + words == *next_l && same(l, *next_r - words, words)) =>
            {
                (*next_l, *next_r, *more) = (*next_l - words, *next_r - words, *more + words);
            }
            _ => kept.push((l, r, words)),
        }
    }
    let mut runs: Vec<Run> = Vec::with_capacity(kept.len());
    for &(l, r, words) in kept.iter().rev() {
        match runs.last_mut() {
            Some((before_l, before_r, before))
                if (r == *before_r + *before && same(*before_l + *before, r, words))
                    || (l == *before_l + *before && same(l, *before_r + *before, words)) =>
            {
                *before += words;
            }
            _ => runs.push((l, r, words)),
        }
    }
    runs.iter().flat_map(|&(l, r, words)| (0..words).map(move |at| (l + at, r + at))).collect()
}
