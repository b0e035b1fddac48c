//! Which words two texts share in order, and which only one of them has.
//!
//! How: texts that are short, or that differ by few words, are solved exactly (the textbook table;
//! Myers' greedy search, 1986). Otherwise runs of words that stand exactly once in each text are
//! anchors; the longest chain of anchors that are in order in both is kept and grown; what lies
//! between is compared again, with shorter runs, down to single words. This is patience sorting over
//! shingles: it follows sentences the way a reader does, and its cost does not explode on two long
//! texts that have nothing in common, as the exact algorithms' does.
//!
//! What then stands only on the left and again only on the right, in another place, is a block that
//! moved ([`Moved`]); how blocks are found is told in `difference/moved.rs`.
//!
//! Cost: O(n log n) for the anchors and the blocks; at most [`EXACT_CELLS`] steps for a short rest and
//! O(n x [`FEW_EDITS`]) for a long one. Deterministic: no time limit decides anything.
//!
//! Guarantee: the spans cover both texts in order; words under [`Kind::Same`] are equal in normal
//! form; texts of up to a thousand words, and longer ones that differ by at most [`FEW_EDITS`]
//! words, get the longest common subsequence. Blocks that moved have at least [`MOVED_WORDS`] words,
//! equal in normal form, and never overlap; the longest is taken first, of equal ones the earliest.

mod moved;

use std::collections::HashMap;
use std::ops::Range;

pub use moved::{MOVED_WORDS, Moved, SURELY_MOVED_WORDS};

use crate::words::for_each_word_at;

/// What a span of words is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// In both texts.
    Same,
    /// Only in the left text.
    OnlyLeft,
    /// Only in the right text.
    OnlyRight,
    /// In the left text here and in the right one elsewhere: a block by its number in
    /// [`Difference::moved`].
    MovedLeft(usize),
    /// In the right text here and in the left one elsewhere.
    MovedRight(usize),
}

/// A run of words of one kind. The range of the text that does not have them is empty and says where
/// they would stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// What it is.
    pub kind: Kind,
    /// Its words in the left text.
    pub left: Range<usize>,
    /// Its words in the right text.
    pub right: Range<usize>,
}

/// A text as numbered words: equal words of the two texts have equal numbers.
#[derive(Clone, Debug, Default)]
pub struct NumberedWords {
    numbers: Vec<u32>,
    places: Vec<Range<usize>>,
}

impl NumberedWords {
    /// How many words there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The place in the text, in bytes, from the first to behind the last of these words.
    #[must_use]
    pub fn place(&self, words: Range<usize>) -> Range<usize> {
        match words.clone().next_back() {
            Some(last) => self.places[words.start].start..self.places[last].end,
            None => {
                let at = match words.start.checked_sub(1) {
                    Some(before) => self.places[before].end,
                    None => 0,
                };
                at..at
            }
        }
    }
}

/// The difference of two texts: their words and the spans that cover them.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The words of the left text.
    pub left: NumberedWords,
    /// The words of the right text.
    pub right: NumberedWords,
    /// In order; neighbours are of different kinds. Between two spans of words that are in both, what
    /// the left text has stands before what the right one has.
    pub spans: Vec<Span>,
    /// The blocks that moved, in the order of the left text.
    pub moved: Vec<Moved>,
}

/// A rest is solved exactly when it has at most this many pairs of words.
pub const EXACT_CELLS: usize = 1 << 20;

/// A longer rest is solved exactly when at most this many words have to be taken out or put in.
pub const FEW_EDITS: usize = 500;

/// The lengths of anchors, longest first: a sentence-like run is a surer sign than a word.
const ANCHOR_WORDS: [usize; 3] = [8, 3, 1];

/// Compares two texts word by word.
///
/// ```
/// use wonbon_text::difference::{difference, Kind};
/// let found = difference("A rose is a rose", "A rose was a ROSE");
/// let kinds: Vec<_> = found.spans.iter().map(|span| span.kind).collect();
/// assert_eq!(kinds, [Kind::Same, Kind::OnlyLeft, Kind::OnlyRight, Kind::Same]);
/// ```
#[must_use]
pub fn difference(left: &str, right: &str) -> Difference {
    let mut numbers = HashMap::new();
    let left = number_words(left, &mut numbers);
    let right = number_words(right, &mut numbers);
    let mut pairs = Vec::new();
    align(&left.numbers, &right.numbers, (0, 0), &ANCHOR_WORDS, &mut pairs);
    let pairs = joined(&pairs, &left.numbers, &right.numbers);
    let spans = spans(&pairs, left.len(), right.len());
    let moved = moved::moved_blocks(&left.numbers, &right.numbers, &spans);
    let spans = moved::cut_spans(spans, &moved);
    Difference { left, right, spans, moved }
}

fn number_words(text: &str, numbers: &mut HashMap<Box<str>, u32>) -> NumberedWords {
    let mut words = NumberedWords::default();
    for_each_word_at(text, |word, place| {
        let number = match numbers.get(word) {
            Some(&number) => number,
            None => {
                let next = u32::try_from(numbers.len()).expect("fewer than 2^32 different words");
                numbers.insert(word.into(), next);
                next
            }
        };
        words.numbers.push(number);
        words.places.push(place);
    });
    words
}

/// Appends the positions of words that belong together, in order; `offset` is where the two slices
/// start in their texts.
fn align(
    left: &[u32],
    right: &[u32],
    offset: (usize, usize),
    anchor_words: &[usize],
    pairs: &mut Vec<(usize, usize)>,
) {
    let ahead = left.iter().zip(right).take_while(|(l, r)| l == r).count();
    pairs.extend((0..ahead).map(|at| (offset.0 + at, offset.1 + at)));
    let (left, right) = (&left[ahead..], &right[ahead..]);
    let offset = (offset.0 + ahead, offset.1 + ahead);
    let behind = left.iter().rev().zip(right.iter().rev()).take_while(|(l, r)| l == r).count();
    let (left_end, right_end) = (left.len() - behind, right.len() - behind);

    middle(&left[..left_end], &right[..right_end], offset, anchor_words, pairs);

    pairs.extend((0..behind).map(|at| (offset.0 + left_end + at, offset.1 + right_end + at)));
}

/// Aligns two runs that differ in their first and in their last word.
fn middle(
    left: &[u32],
    right: &[u32],
    offset: (usize, usize),
    anchor_words: &[usize],
    pairs: &mut Vec<(usize, usize)>,
) {
    if left.is_empty() || right.is_empty() {
        return;
    }
    if left.len().saturating_mul(right.len()) <= EXACT_CELLS {
        return longest_common_subsequence(left, right, offset, pairs);
    }
    if few_edits(left, right, offset, pairs) {
        return;
    }
    let Some((&length, shorter)) = anchor_words.split_first() else { return };
    let anchors = longest_chain(&anchors(left, right, length));
    let (mut l, mut r) = (0, 0);
    for (anchor_l, anchor_r) in anchors {
        // Growing an earlier anchor may have covered this one, wholly or in part.
        if anchor_l < l || anchor_r < r {
            continue;
        }
        let after = (offset.0 + l, offset.1 + r);
        align(&left[l..anchor_l], &right[r..anchor_r], after, shorter, pairs);
        let same =
            left[anchor_l..].iter().zip(&right[anchor_r..]).take_while(|(l, r)| l == r).count();
        pairs.extend((0..same).map(|at| (offset.0 + anchor_l + at, offset.1 + anchor_r + at)));
        (l, r) = (anchor_l + same, anchor_r + same);
    }
    align(&left[l..], &right[r..], (offset.0 + l, offset.1 + r), shorter, pairs);
}

/// The places of runs of `length` words that stand exactly once in each text, in left order.
fn anchors(left: &[u32], right: &[u32], length: usize) -> Vec<(usize, usize)> {
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

/// The textbook table, for small runs.
fn longest_common_subsequence(
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
/// Tells whether it got there.
fn few_edits(
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

/// A run of pairs: where it starts on both sides, and how many they are.
type Run = (usize, usize, usize);

/// Pairs as many as before, in fewer runs: a run that can as well stand directly before the next one,
/// or directly behind the one before, is put there.
///
/// Of several longest common subsequences the search takes any, and pairs a word as soon as it can:
/// `the` of a paragraph that is gone with `the` that begins the next one. People see that the
/// paragraph is gone.
fn joined(pairs: &[(usize, usize)], left: &[u32], right: &[u32]) -> Vec<(usize, usize)> {
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

/// Turns pairs of words into the spans between and under them.
fn spans(pairs: &[(usize, usize)], left_words: usize, right_words: usize) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let (mut l, mut r) = (0, 0);
    let end = [(left_words, right_words)];
    for (index, &(next_l, next_r)) in pairs.iter().chain(&end).enumerate() {
        if l < next_l {
            spans.push(Span { kind: Kind::OnlyLeft, left: l..next_l, right: r..r });
        }
        if r < next_r {
            spans.push(Span { kind: Kind::OnlyRight, left: next_l..next_l, right: r..next_r });
        }
        if index == pairs.len() {
            break;
        }
        (l, r) = (next_l + 1, next_r + 1);
        match spans.last_mut() {
            Some(last) if last.kind == Kind::Same => {
                last.left.end = l;
                last.right.end = r;
            }
            _ => spans.push(Span { kind: Kind::Same, left: next_l..l, right: next_r..r }),
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check_cover(found: &Difference) {
        let (mut l, mut r, mut last) = (0, 0, None);
        for span in &found.spans {
            assert_ne!(last, Some(span.kind), "neighbours of one kind");
            assert_eq!((span.left.start, span.right.start), (l, r), "a gap before {span:?}");
            match span.kind {
                Kind::Same => assert_eq!(
                    found.left.numbers[span.left.clone()],
                    found.right.numbers[span.right.clone()]
                ),
                Kind::OnlyLeft => assert!(span.right.is_empty() && !span.left.is_empty()),
                Kind::OnlyRight => assert!(span.left.is_empty() && !span.right.is_empty()),
                Kind::MovedLeft(block) => {
                    assert_eq!((&span.left, span.right.len()), (&found.moved[block].left, 0));
                }
                Kind::MovedRight(block) => {
                    assert_eq!((&span.right, span.left.len()), (&found.moved[block].right, 0));
                }
            }
            (l, r, last) = (span.left.end, span.right.end, Some(span.kind));
        }
        assert_eq!((l, r), (found.left.len(), found.right.len()));
        for block in &found.moved {
            assert_eq!(
                found.left.numbers[block.left.clone()],
                found.right.numbers[block.right.clone()]
            );
        }
        let ends = |span: &&Span| matches!(span.kind, Kind::MovedLeft(_) | Kind::MovedRight(_));
        assert_eq!(found.spans.iter().filter(ends).count(), 2 * found.moved.len());
    }

    fn same_words(found: &Difference) -> usize {
        found.spans.iter().filter(|s| s.kind == Kind::Same).map(|s| s.left.len()).sum()
    }

    /// The length of the longest common subsequence, by its definition.
    fn longest(left: &[u32], right: &[u32]) -> usize {
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

    #[test]
    fn equal_and_empty_texts_have_no_differences() {
        assert!(difference("", " !").spans.is_empty());
        let found = difference("One, two. THREE", "one two three");
        assert_eq!(found.spans, [Span { kind: Kind::Same, left: 0..3, right: 0..3 }]);
        assert_eq!(difference("a", "").spans[0].kind, Kind::OnlyLeft);
    }

    #[test]
    fn places_are_those_of_the_words() {
        let (left, right) = ("Ein  Süßes Wort.", "Ein Wort");
        let found = difference(left, right);
        assert_eq!(&left[found.left.place(found.spans[1].left.clone())], "Süßes");
        assert!(found.right.place(found.spans[1].right.clone()).is_empty());
    }

    #[test]
    fn long_texts_with_scattered_changes_are_followed() {
        let words: Vec<String> = (0..30_000).map(|n| format!("w{}", n * 7919 % 4001)).collect();
        let mut changed = words.clone();
        for at in (100..changed.len()).step_by(997) {
            changed[at] = format!("new{at}");
        }
        changed.drain(12_000..12_050);
        let found = difference(&words.join(" "), &changed.join(" "));
        check_cover(&found);
        assert_eq!(same_words(&found), longest(&found.left.numbers, &found.right.numbers));
    }

    #[test]
    fn long_texts_with_nothing_in_common_are_answered() {
        let left: Vec<String> = (0..100_000).map(|n| format!("l{n}")).collect();
        let right: Vec<String> = (0..100_000).map(|n| format!("r{n}")).collect();
        let found = difference(&left.join(" "), &right.join(" "));
        check_cover(&found);
        assert_eq!(same_words(&found), 0);
    }

    proptest! {
        #[test]
        fn short_texts_share_their_longest_common_subsequence(
            left in prop::collection::vec(0_u8..6, 0..60),
            right in prop::collection::vec(0_u8..6, 0..60),
        ) {
            let text = |words: &[u8]| words.iter().map(|w| format!("w{w} ")).collect::<String>();
            let found = difference(&text(&left), &text(&right));
            check_cover(&found);
            prop_assert_eq!(same_words(&found), longest(&found.left.numbers, &found.right.numbers));
        }

        #[test]
        fn the_greedy_search_finds_the_longest_common_subsequence(
            left in prop::collection::vec(0_u32..5, 1..80),
            right in prop::collection::vec(0_u32..5, 1..80),
        ) {
            let mut pairs = Vec::new();
            prop_assert!(few_edits(&left, &right, (0, 0), &mut pairs));
            prop_assert_eq!(pairs.len(), longest(&left, &right));
            prop_assert!(pairs.iter().all(|&(l, r)| left[l] == right[r]));
            prop_assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
        }

        #[test]
        fn any_texts_are_covered(left in any::<String>(), right in any::<String>()) {
            check_cover(&difference(&left, &right));
        }

        #[test]
        fn anchors_between_long_runs_keep_the_cover(
            left in prop::collection::vec(0_u32..900, 1100..1400),
            cut in 0_usize..1000,
            right in prop::collection::vec(0_u32..900, 1100..1400),
        ) {
            let right = [&right[..300], &left[cut..], &right[300..]].concat();
            let text = |words: &[u32]| words.iter().map(|w| format!("w{w} ")).collect::<String>();
            let found = difference(&text(&left), &text(&right));
            check_cover(&found);
            prop_assert!(same_words(&found) >= left.len() - cut);
        }
    }
}
