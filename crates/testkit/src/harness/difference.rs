//! Two texts, parted by the first NUL: their difference covers both, and its parts are what it says.

use std::collections::HashSet;
use std::ops::Range;

use wonbon_text::difference::{MOVED_WORDS, NumberedWords, SpanKind, difference, difference_until};

use crate::text::slow_words;

/// Compares the two halves of the bytes.
///
/// # Panics
///
/// When a promise of `difference` does not hold.
pub fn difference_of_halves(data: &[u8]) {
    let at = data.iter().position(|&byte| byte == 0).unwrap_or(data.len() / 2);
    let left = String::from_utf8_lossy(&data[..at]);
    let right = String::from_utf8_lossy(data.get(at + 1..).unwrap_or_default());
    let found = difference(&left, &right);
    let words = (words_of(&left, &found.left), words_of(&right, &found.right));
    let (mut left_at, mut right_at, mut last) = (0, 0, None);
    let mut moved = HashSet::new();
    for span in &found.spans {
        assert_eq!((span.left.start, span.right.start), (left_at, right_at), "{found:?}");
        (left_at, right_at) = (span.left.end, span.right.end);
        let (ours, theirs) = (span.left.len(), span.right.len());
        assert_ne!(Some(span.kind), last, "neighbours are of different kinds");
        last = Some(span.kind);
        match span.kind {
            SpanKind::Same => {
                assert!(ours > 0 && words.0[span.left.clone()] == words.1[span.right.clone()]);
            }
            SpanKind::OnlyLeft => assert!(ours > 0 && theirs == 0),
            SpanKind::OnlyRight => assert!(ours == 0 && theirs > 0),
            SpanKind::MovedLeft(block) => {
                assert!(theirs == 0 && span.left == found.moved[block].left);
                assert!(moved.insert((block, true)));
            }
            SpanKind::MovedRight(block) => {
                assert!(ours == 0 && span.right == found.moved[block].right);
                assert!(moved.insert((block, false)));
            }
        }
    }
    assert_eq!((left_at, right_at), (found.left.len(), found.right.len()), "both are covered");
    assert_eq!(moved.len(), 2 * found.moved.len());
    for block in &found.moved {
        assert!(block.left.len() >= MOVED_WORDS);
        assert_eq!(words.0[block.left.clone()], words.1[block.right.clone()]);
    }
    let same = difference(&left, &left);
    assert!(same.spans.iter().all(|span| span.kind == SpanKind::Same), "a text is itself");
    assert!(difference_until(&left, &right, &|| true).is_none());
}

/// The words of a text in normal form, which its places lead to.
fn words_of(text: &str, numbered: &NumberedWords) -> Vec<String> {
    let place = |words: Range<usize>| &text[numbered.place(words)];
    let words: Vec<String> = slow_words(text);
    assert_eq!(words.len(), numbered.len());
    for (at, word) in words.iter().enumerate() {
        // One sign may stand for several words.
        assert!(slow_words(place(at..at + 1)).concat().contains(word), "{word}");
    }
    words
}
