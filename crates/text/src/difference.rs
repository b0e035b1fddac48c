//! Which words two texts share in order, and which only one of them has.
//!
//! `align` pairs up the words that belong together: short texts and texts that differ by few words
//! exactly (`exact`), long ones by anchors, which are runs of words that occur once in each text.
//! `moved` then looks for blocks that only the left text has here and only the right text has
//! elsewhere ([`Moved`]).
//!
//! Cost: O(n log n) for anchors and blocks; at most [`EXACT_CELLS`] steps for each short gap and
//! O(n x [`FEW_EDITS`]) for a long one. Deterministic: no time limit decides anything.
//!
//! Guarantee: the spans cover both texts in order; words under [`SpanKind::Same`] are equal in normal
//! form; texts of up to a thousand words, and longer ones that differ by at most [`FEW_EDITS`]
//! words, get the longest common subsequence. Blocks that moved have at least [`MOVED_WORDS`] words,
//! equal in normal form, and never overlap; the longest is taken first, of equal ones the earliest.

mod align;
mod exact;
mod moved;

use std::collections::HashMap;
use std::ops::Range;

pub use exact::{EXACT_CELLS, FEW_EDITS};
pub use moved::{MOVED_WORDS, Moved, SURELY_MOVED_WORDS};

use crate::words::for_each_word_at;

/// What a span of words is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
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
    pub kind: SpanKind,
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

/// Compares two texts word by word.
///
/// ```
/// use wonbon_text::difference::{difference, SpanKind};
/// let found = difference("A rose is a rose", "A rose was a ROSE");
/// let kinds: Vec<_> = found.spans.iter().map(|span| span.kind).collect();
/// assert_eq!(kinds, [SpanKind::Same, SpanKind::OnlyLeft, SpanKind::OnlyRight, SpanKind::Same]);
/// ```
#[must_use]
pub fn difference(left: &str, right: &str) -> Difference {
    difference_until(left, right, &|| false).expect("nobody asks to stop")
}

/// As [`difference`]; `None` when `stop` says to stop. It is asked before each step that may take
/// milliseconds: two texts of 16 MB take seconds.
#[must_use]
pub fn difference_until(left: &str, right: &str, stop: &dyn Fn() -> bool) -> Option<Difference> {
    let mut numbers = HashMap::new();
    let left = number_words(left, &mut numbers);
    let right = number_words(right, &mut numbers);
    let pairs = align::align_words(&left.numbers, &right.numbers, stop)?;
    let spans = spans(&pairs, left.len(), right.len());
    let moved = moved::moved_blocks(&left.numbers, &right.numbers, &spans);
    let spans = moved::cut_spans(spans, &moved);
    (!stop()).then_some(Difference { left, right, spans, moved })
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

/// Turns pairs of words into the spans between and under them.
fn spans(pairs: &[(usize, usize)], left_words: usize, right_words: usize) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let (mut l, mut r) = (0, 0);
    let end = [(left_words, right_words)];
    for (index, &(next_l, next_r)) in pairs.iter().chain(&end).enumerate() {
        if l < next_l {
            spans.push(Span { kind: SpanKind::OnlyLeft, left: l..next_l, right: r..r });
        }
        if r < next_r {
            spans.push(Span { kind: SpanKind::OnlyRight, left: next_l..next_l, right: r..next_r });
        }
        if index == pairs.len() {
            break;
        }
        (l, r) = (next_l + 1, next_r + 1);
        match spans.last_mut() {
            Some(last) if last.kind == SpanKind::Same => {
                last.left.end = l;
                last.right.end = r;
            }
            _ => spans.push(Span { kind: SpanKind::Same, left: next_l..l, right: next_r..r }),
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::exact::tests::longest;
    use super::*;

    fn check_cover(found: &Difference) {
        let (mut l, mut r, mut last) = (0, 0, None);
        for span in &found.spans {
            assert_ne!(last, Some(span.kind), "neighbours of one kind");
            assert_eq!((span.left.start, span.right.start), (l, r), "a gap before {span:?}");
            match span.kind {
                SpanKind::Same => assert_eq!(
                    found.left.numbers[span.left.clone()],
                    found.right.numbers[span.right.clone()]
                ),
                SpanKind::OnlyLeft => assert!(span.right.is_empty() && !span.left.is_empty()),
                SpanKind::OnlyRight => assert!(span.left.is_empty() && !span.right.is_empty()),
                SpanKind::MovedLeft(block) => {
                    assert_eq!((&span.left, span.right.len()), (&found.moved[block].left, 0));
                }
                SpanKind::MovedRight(block) => {
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
        let ends =
            |span: &&Span| matches!(span.kind, SpanKind::MovedLeft(_) | SpanKind::MovedRight(_));
        assert_eq!(found.spans.iter().filter(ends).count(), 2 * found.moved.len());
    }

    fn same_words(found: &Difference) -> usize {
        found.spans.iter().filter(|s| s.kind == SpanKind::Same).map(|s| s.left.len()).sum()
    }

    #[test]
    fn equal_and_empty_texts_have_no_differences() {
        assert!(difference("", " !").spans.is_empty());
        let found = difference("One, two. THREE", "one two three");
        assert_eq!(found.spans, [Span { kind: SpanKind::Same, left: 0..3, right: 0..3 }]);
        assert_eq!(difference("a", "").spans[0].kind, SpanKind::OnlyLeft);
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
