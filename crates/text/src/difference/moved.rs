//! Blocks of words that stand in both texts, but not in order.
//!
//! How: among the words that only one text has, a run of [`MOVED_WORDS`] words that stands exactly
//! once in each text shows where a block was and where it is now. It is grown on both sides as far
//! as the words agree and belong to one text only. Blocks are taken longest first, of equal ones the
//! earliest on the left; what a taken block covers is taken from the others.
//!
//! Why exactly once: of a run that stands in several places nobody can tell which one moved where. A
//! block of fewer than [`SURELY_MOVED_WORDS`] words must have a word that stands once in each text:
//! five words such as `on the other side of` meet by chance.
//!
//! Cost: O(n) for runs and growing, O(b log b) for b blocks. A block that grows never covers the
//! run another one grew from (that run would then stand at two places of a text), so blocks overlap
//! only where they touch, and no word is looked at more than a few times.
//!
//! Guarantee: the words of a block are equal in normal form; no word belongs to two blocks; each
//! block lies inside one span of words that only the left text has and one that only the right has.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter::Peekable;
use std::ops::Range;

use super::align::find_anchors;
use super::{Span, SpanKind};

/// The fewest words of a block that moved.
pub const MOVED_WORDS: usize = 5;

/// From this many words on a block moved even if all its words are common.
pub const SURELY_MOVED_WORDS: usize = 8;

/// A block of words that stands at one place of the left text and at another of the right one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Its words in the left text.
    pub left: Range<usize>,
    /// Its words in the right text, as many.
    pub right: Range<usize>,
}

/// Finds the blocks that moved, in the order of the left text.
pub(super) fn moved_blocks(left: &[u32], right: &[u32], spans: &[Span]) -> Vec<Moved> {
    let only = |kind, side: fn(&Span) -> &Range<usize>| -> Vec<Range<usize>> {
        let spans = spans.iter().filter(|span| span.kind == kind).map(side);
        spans.filter(|words| words.len() >= MOVED_WORDS).cloned().collect()
    };
    let only_left = only(SpanKind::OnlyLeft, |span| &span.left);
    let only_right = only(SpanKind::OnlyRight, |span| &span.right);
    if only_left.is_empty() || only_right.is_empty() {
        return Vec::new();
    }
    let signs: Vec<(usize, usize)> = find_anchors(left, right, MOVED_WORDS)
        .into_iter()
        .filter(|&(l, r)| around(&only_left, l).is_some() && around(&only_right, r).is_some())
        .collect();

    let mut waiting = BinaryHeap::new();
    let mut reached = 0;
    for &(l, r) in &signs {
        // A sign inside the block that grew before is part of that block.
        if l + MOVED_WORDS <= reached {
            continue;
        }
        let (Some(in_left), Some(in_right)) = (around(&only_left, l), around(&only_right, r))
        else {
            unreachable!("signs lie inside");
        };
        let ahead = left[l..in_left.end]
            .iter()
            .zip(&right[r..in_right.end])
            .take_while(|(l, r)| l == r)
            .count();
        let behind = left[in_left.start..l]
            .iter()
            .rev()
            .zip(right[in_right.start..r].iter().rev())
            .take_while(|(l, r)| l == r)
            .count();
        reached = l + ahead;
        waiting.push(Waiting::new(l - behind, r - behind, ahead + behind));
    }

    let (left_counts, right_counts) = counts(left, right);
    let tells = |block: &Waiting| {
        let words = &left[block.left()..block.left() + block.words];
        let first = signs.partition_point(|&(l, _)| l < block.left());
        let end = block.left() + block.words;
        signs.get(first).is_some_and(|&(l, _)| l + MOVED_WORDS <= end)
            && (words.len() >= SURELY_MOVED_WORDS
                || words.iter().any(|&word| {
                    left_counts[word as usize] == 1 && right_counts[word as usize] == 1
                }))
    };
    let mut taken = (vec![false; left.len()], vec![false; right.len()]);
    let mut blocks = Vec::new();
    while let Some(block) = waiting.pop() {
        if !tells(&block) {
            continue;
        }
        let free: Vec<bool> = (0..block.words)
            .map(|at| !taken.0[block.left() + at] && !taken.1[block.right() + at])
            .collect();
        if free.iter().all(|&free| free) {
            let moved = Moved {
                left: block.left()..block.left() + block.words,
                right: block.right()..block.right() + block.words,
            };
            taken.0[moved.left.clone()].fill(true);
            taken.1[moved.right.clone()].fill(true);
            blocks.push(moved);
            continue;
        }
        let mut at = 0;
        for part in free.chunk_by(|one, other| one == other) {
            if part[0] {
                waiting.push(Waiting::new(block.left() + at, block.right() + at, part.len()));
            }
            at += part.len();
        }
    }
    blocks.sort_unstable_by_key(|block| block.left.start);
    blocks
}

/// A block that may be taken; the largest is the longest, then the earliest.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    words: usize,
    place: Reverse<(usize, usize)>,
}

impl Waiting {
    fn new(left: usize, right: usize, words: usize) -> Self {
        Waiting { words, place: Reverse((left, right)) }
    }

    fn left(&self) -> usize {
        self.place.0.0
    }

    fn right(&self) -> usize {
        self.place.0.1
    }
}

/// The one of these spans, in order, that has the whole sign at this place.
fn around(spans: &[Range<usize>], at: usize) -> Option<&Range<usize>> {
    let after = spans.partition_point(|span| span.start <= at);
    spans[..after].last().filter(|span| at + MOVED_WORDS <= span.end)
}

/// How often each word stands in each text.
fn counts(left: &[u32], right: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let words = left.iter().chain(right).max().map_or(0, |&most| most as usize + 1);
    let count = |text: &[u32]| {
        let mut counts = vec![0; words];
        for &word in text {
            counts[word as usize] += 1;
        }
        counts
    };
    (count(left), count(right))
}

/// Cuts spans where blocks begin and end.
pub(super) fn cut_spans(spans: Vec<Span>, blocks: &[Moved]) -> Vec<Span> {
    let mut in_left: Vec<(usize, Range<usize>)> =
        blocks.iter().map(|block| block.left.clone()).enumerate().collect();
    let mut in_right: Vec<(usize, Range<usize>)> =
        blocks.iter().map(|block| block.right.clone()).enumerate().collect();
    in_left.sort_unstable_by_key(|(_, words)| words.start);
    in_right.sort_unstable_by_key(|(_, words)| words.start);
    let mut in_left = in_left.into_iter().peekable();
    let mut in_right = in_right.into_iter().peekable();
    let mut cut = Vec::with_capacity(spans.len() + 2 * blocks.len());
    for Span { kind, left, right } in spans {
        match kind {
            SpanKind::OnlyLeft => {
                let parts = parts(kind, left, &mut in_left, SpanKind::MovedLeft);
                let part = |(kind, left)| Span { kind, left, right: right.clone() };
                cut.extend(parts.into_iter().map(part));
            }
            SpanKind::OnlyRight => {
                let parts = parts(kind, right, &mut in_right, SpanKind::MovedRight);
                let part = |(kind, right)| Span { kind, left: left.clone(), right };
                cut.extend(parts.into_iter().map(part));
            }
            SpanKind::Same | SpanKind::MovedLeft(_) | SpanKind::MovedRight(_) => {
                cut.push(Span { kind, left, right });
            }
        }
    }
    cut
}

/// Cuts one run of words at the blocks inside it, which are the next ones.
fn parts(
    kind: SpanKind,
    words: Range<usize>,
    blocks: &mut Peekable<impl Iterator<Item = (usize, Range<usize>)>>,
    moved: fn(usize) -> SpanKind,
) -> Vec<(SpanKind, Range<usize>)> {
    let mut parts = Vec::new();
    let mut at = words.start;
    while let Some((number, block)) = blocks.next_if(|(_, block)| block.start < words.end) {
        parts.push((kind, at..block.start));
        at = block.end;
        parts.push((moved(number), block));
    }
    parts.push((kind, at..words.end));
    parts.retain(|(_, words)| !words.is_empty());
    parts
}
