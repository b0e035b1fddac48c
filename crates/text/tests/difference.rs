//! Differences of two texts: blocks that moved against the slow search, and what moving one part
//! of a text looks like.

#![allow(clippy::unwrap_used, reason = "clippy sees no test in what tests call")]

use std::ops::Range;

use proptest::prelude::*;
use wonbon_testkit::generate::{Corpus, CorpusParams};
use wonbon_testkit::text::{slow_moved_blocks, slow_words};
use wonbon_text::difference::{Difference, MOVED_WORDS, SpanKind, difference};

/// The runs of words that one text has alone, moved blocks included.
fn only(found: &Difference, is_left: bool) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for span in &found.spans {
        let words = match span.kind {
            SpanKind::OnlyLeft | SpanKind::MovedLeft(_) if is_left => span.left.clone(),
            SpanKind::OnlyRight | SpanKind::MovedRight(_) if !is_left => span.right.clone(),
            _ => continue,
        };
        match runs.last_mut() {
            Some(last) if last.end == words.start && !same_ends_at(found, words.start, is_left) => {
                last.end = words.end;
            }
            _ => runs.push(words),
        }
    }
    runs
}

/// Whether words that both texts have end right before this word.
fn same_ends_at(found: &Difference, at: usize, is_left: bool) -> bool {
    found.spans.iter().any(|span| {
        span.kind == SpanKind::Same && at == if is_left { span.left.end } else { span.right.end }
    })
}

/// Checks that the spans, applied to one text, give the other.
fn check_rebuild(left: &[String], right: &[String], found: &Difference) {
    let (mut from_left, mut from_right) = (Vec::new(), Vec::new());
    for span in &found.spans {
        from_left.extend_from_slice(&left[span.left.clone()]);
        match span.kind {
            SpanKind::Same => from_right.extend_from_slice(&left[span.left.clone()]),
            SpanKind::MovedRight(block) => {
                from_right.extend_from_slice(&left[found.moved[block].left.clone()]);
            }
            SpanKind::OnlyRight => from_right.extend_from_slice(&right[span.right.clone()]),
            SpanKind::OnlyLeft | SpanKind::MovedLeft(_) => {}
        }
    }
    assert_eq!(from_left, left);
    assert_eq!(from_right, right);
}

fn text(words: &[u32]) -> String {
    words.iter().map(|word| format!("w{word} ")).collect()
}

/// Words of chunks in another order, some of them changed.
fn shuffled() -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
    let chunks = prop::collection::vec(prop::collection::vec(0_u32..60, 1..16), 1..8);
    (chunks, prop::collection::vec(any::<prop::sample::Index>(), 0..5), any::<u64>()).prop_map(
        |(chunks, changes, order)| {
            let left = chunks.concat();
            let mut chunks = chunks;
            let count = chunks.len() as u64;
            chunks.sort_by_key(|chunk| {
                (u64::from(chunk[0]) + chunk.len() as u64).wrapping_mul(order | 1) % count.max(1)
            });
            let mut right = chunks.concat();
            for change in changes {
                let at = change.index(right.len());
                right[at] = (right[at] + 1) % 60;
            }
            (left, right)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn moved_blocks_are_those_of_the_slow_search((left, right) in shuffled()) {
        let (left, right) = (text(&left), text(&right));
        let found = difference(&left, &right);
        let (left, right) = (slow_words(&left), slow_words(&right));
        let slow = slow_moved_blocks(&left, &right, &only(&found, true), &only(&found, false));
        let fast: Vec<_> = found
            .moved
            .iter()
            .map(|block| (block.left.start, block.right.start, block.left.len()))
            .collect();
        prop_assert_eq!(fast, slow);
        check_rebuild(&left, &right, &found);
    }

    #[test]
    fn moving_a_part_of_a_text_without_repeated_words_is_one_moved_block(
        words in 30_usize..2500,
        cuts in prop::array::uniform3(any::<prop::sample::Index>()),
    ) {
        let mut cuts = cuts.map(|cut| cut.index(words + 1));
        cuts.sort_unstable();
        let [a, b, c] = cuts;
        prop_assume!(b - a >= MOVED_WORDS && c - b >= MOVED_WORDS);
        let left: Vec<u32> = (0..words as u32).collect();
        let right = [&left[..a], &left[b..c], &left[a..b], &left[c..]].concat();
        let found = difference(&text(&left), &text(&right));
        prop_assert_eq!(found.moved.len(), 1);
        // The shorter of the two parts that changed places.
        prop_assert_eq!(found.moved[0].left.len(), (b - a).min(c - b));
        prop_assert!(found.spans.iter().all(|span| !matches!(span.kind, SpanKind::OnlyLeft | SpanKind::OnlyRight)));
    }
}

#[test]
fn moving_a_paragraph_of_a_post_is_a_moved_block_up_to_repeated_words() {
    let corpus =
        Corpus::new(CorpusParams { documents: 60, copy_share: 0.0, ..CorpusParams::default() });
    let mut moved = 0;
    for document in corpus.documents() {
        let words = slow_words(&document.text);
        if words.len() < 60 {
            continue;
        }
        let (third, half) = (words.len() / 3, words.len() / 2);
        let rest = [&words[..third], &words[half..]].concat().join(" ");
        let right = format!("{rest} {}", words[third..half].join(" "));
        let found = difference(&document.text, &right);
        check_rebuild(&words, &slow_words(&right), &found);
        let blocks: usize = found.moved.iter().map(|block| block.left.len()).sum();
        let alone: usize = found
            .spans
            .iter()
            .filter(|span| span.kind == SpanKind::OnlyLeft)
            .map(|span| span.left.len())
            .sum();
        assert!(blocks + 4 >= half - third, "{blocks} of {} words", half - third);
        assert!(alone <= 4, "{alone} words are left alone");
        moved += 1;
    }
    assert!(moved > 30, "{moved}");
}

#[test]
fn words_that_were_said_twice_do_not_move() {
    let twice = "alpha beta gamma delta epsilon zeta eta theta iota kappa";
    let middle = "one two three four five six seven eight nine ten eleven twelve";
    let left = format!("{twice} {middle} end {twice}");
    let right = format!("{middle} {twice} and more");
    assert!(difference(&left, &right).moved.is_empty());
}

#[test]
fn five_common_words_do_not_move_and_a_rare_one_among_them_does() {
    let common = "on the other side of";
    let rest = "the lake of one side and the other tree on a hill of the other side";
    let far = "nothing here was ever like that again until much later when we were old";
    let moved = |block: &str| {
        difference(&format!("{block} {rest} {far}"), &format!("{rest} {far} {block}")).moved.len()
    };
    assert_eq!(moved(common), 0);
    assert_eq!(moved("on the other zebra of"), 1);
}

#[test]
fn long_texts_of_repeated_words_are_answered() {
    let left: Vec<u32> = (0..60_000_u64).map(|n| (n * 7919 % 4001 % 50) as u32).collect();
    let right: Vec<u32> = (0..60_000_u64).map(|n| (n * 104_729 % 3001 % 50) as u32).collect();
    let found = difference(&text(&left), &text(&right));
    let words = |words: &[u32]| words.iter().map(|word| format!("w{word}")).collect::<Vec<_>>();
    check_rebuild(&words(&left), &words(&right), &found);
}
