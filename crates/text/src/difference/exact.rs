//! Exact alignment of two runs of words: the longest common subsequence.
//!
//! Two algorithms, each with a bound on its work. [`align_small`] fills the dynamic-programming table
//! of the textbook and is meant for runs of at most [`EXACT_CELLS`] pairs of words. [`align_few_edits`]
//! is the greedy search of Myers (1986): O(n x edits), given up beyond [`FEW_EDITS`] edits.

/// A gap is solved exactly when it has at most this many pairs of words.
pub const EXACT_CELLS: usize = 1 << 20;

/// A longer gap is solved exactly when at most this many words have to be taken out or put in.
pub const FEW_EDITS: usize = 500;

/// The textbook table, for small runs.
pub(super) fn align_small(
    left: &[u32],
    right: &[u32],
    offset: (usize, usize),
    pairs: &mut Vec<(usize, usize)>,
) {
    let width = right.len() + 1;
    let mut longest = vec![0_u32; (left.len() + 1) * width];
    for l in (0..left.len()).rev() {
        for r in (0..right.len()).rev() {
            longest[l * width + r] = if left[l] == right[r] {
                longest[(l + 1) * width + r + 1] + 1
            } else {
                longest[(l + 1) * width + r].max(longest[l * width + r + 1])
            };
        }
    }
    let (mut l, mut r) = (0, 0);
    while l < left.len() && r < right.len() {
        if left[l] == right[r] {
            pairs.push((offset.0 + l, offset.1 + r));
            (l, r) = (l + 1, r + 1);
        } else if longest[(l + 1) * width + r] >= longest[l * width + r + 1] {
            l += 1;
        } else {
            r += 1;
        }
    }
}

/// Myers' greedy search for the fewest words to take out or put in, given up beyond [`FEW_EDITS`].
/// Returns whether it got there.
pub(super) fn align_few_edits(
    left: &[u32],
    right: &[u32],
    offset: (usize, usize),
    pairs: &mut Vec<(usize, usize)>,
) -> bool {
    if left.len().abs_diff(right.len()) > FEW_EDITS {
        return false;
    }
    let mut search = GreedySearch { left: left.len(), right: right.len(), rounds: Vec::new() };
    for edits in 0..=FEW_EDITS {
        let mut round = vec![None; edits + 1];
        for index in 0..=edits {
            let Some(step) = search.step(edits, index) else { continue };
            let mut l = step.to;
            let r = on_right(l, edits, index);
            l += left[l..].iter().zip(&right[r..]).take_while(|(l, r)| l == r).count();
            round[index] = Some(l);
            if l == left.len() && on_right(l, edits, index) == right.len() {
                search.rounds.push(round);
                search.walk_back(index, offset, pairs);
                return true;
            }
        }
        search.rounds.push(round);
    }
    false
}

/// How far the greedy search gets with each number of edits.
///
/// With `edits` edits it stands on the diagonals `left - right` from `-edits` to `edits` in steps of
/// two; the one at `index` is `2 * index - edits`.
struct GreedySearch {
    left: usize,
    right: usize,
    /// For each number of edits and each diagonal, the farthest place on the left, if the diagonal
    /// can be reached at all.
    rounds: Vec<Vec<Option<usize>>>,
}

/// An edit that leads to a diagonal.
struct Step {
    /// The place on the left it leads to.
    to: usize,
    /// A word of the left text is taken out; else one of the right is put in.
    takes_out: bool,
}

fn on_right(l: usize, edits: usize, index: usize) -> usize {
    l + edits - 2 * index
}

impl GreedySearch {
    /// The better of the two edits that lead from the round before to this diagonal.
    fn step(&self, edits: usize, index: usize) -> Option<Step> {
        let Some(before) = edits.checked_sub(1).map(|before| &self.rounds[before]) else {
            return Some(Step { to: 0, takes_out: false });
        };
        let taken_out = index
            .checked_sub(1)
            .and_then(|below| before[below])
            .filter(|&l| l < self.left)
            .map(|l| Step { to: l + 1, takes_out: true });
        let put_in = before
            .get(index)
            .copied()
            .flatten()
            .filter(|&l| on_right(l, edits, index) <= self.right)
            .map(|l| Step { to: l, takes_out: false });
        match (taken_out, put_in) {
            (Some(taken_out), Some(put_in)) if put_in.to > taken_out.to => Some(put_in),
            (Some(taken_out), _) => Some(taken_out),
            (None, put_in) => put_in,
        }
    }

    /// Collects the pairs on the way that was found, from its end to its start.
    fn walk_back(&self, index: usize, offset: (usize, usize), pairs: &mut Vec<(usize, usize)>) {
        let (first, mut index) = (pairs.len(), index);
        for (edits, round) in self.rounds.iter().enumerate().rev() {
            let (Some(end), Some(step)) = (round[index], self.step(edits, index)) else {
                unreachable!("the way was found over diagonals that were reached");
            };
            pairs.extend(
                (step.to..end).rev().map(|l| (offset.0 + l, offset.1 + on_right(l, edits, index))),
            );
            if step.takes_out {
                index -= 1;
            }
        }
        pairs[first..].reverse();
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The length of the longest common subsequence, by its definition.
    pub(in super::super) fn longest(left: &[u32], right: &[u32]) -> usize {
        let mut row = vec![0; right.len() + 1];
        for l in left {
            let mut diagonal = 0;
            for (at, r) in right.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if l == r { diagonal + 1 } else { row[at + 1].max(row[at]) };
                diagonal = above;
            }
        }
        row[right.len()]
    }

    proptest! {
        #[test]
        fn the_greedy_search_finds_the_longest_common_subsequence(
            left in prop::collection::vec(0_u32..5, 1..80),
            right in prop::collection::vec(0_u32..5, 1..80),
        ) {
            let mut pairs = Vec::new();
            prop_assert!(align_few_edits(&left, &right, (0, 0), &mut pairs));
            prop_assert_eq!(pairs.len(), longest(&left, &right));
            prop_assert!(pairs.iter().all(|&(l, r)| left[l] == right[r]));
            prop_assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
        }
    }
}
