//! Words and shingles by their definition.

use std::num::NonZeroUsize;
use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_script::{Script, UnicodeScript};

/// The words of a text: normalise all of it, lower-case all of it, normalise again, then cut.
#[must_use]
pub fn slow_words(text: &str) -> Vec<String> {
    let lower = text.nfkc().collect::<String>().to_lowercase().replace('ς', "σ");
    let normal: String = lower.nfkc().collect();
    let mut words = Vec::new();
    let mut word = String::new();
    for c in normal.chars() {
        let own = c.is_alphanumeric() && is_han_or_kana(c);
        if (own || !c.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if own {
            words.push(c.to_string());
        } else if c.is_alphanumeric() {
            word.push(c);
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Han and kana by the Unicode script property, with the marks shared by the two scripts.
#[must_use]
pub fn is_han_or_kana(c: char) -> bool {
    matches!(c.script(), Script::Han | Script::Hiragana | Script::Katakana)
        || "\u{3006}\u{3031}\u{3032}\u{3033}\u{3034}\u{3035}\u{303C}\u{30FC}".contains(c)
}

/// The shingles of a text, each as its list of words: every window, or all words of a shorter text.
#[must_use]
pub fn slow_shingle_lists(words: &[String], shingle_words: NonZeroUsize) -> Vec<Vec<String>> {
    match words.len() {
        0 => Vec::new(),
        n if n < shingle_words.get() => vec![words.to_vec()],
        _ => words.windows(shingle_words.get()).map(<[String]>::to_vec).collect(),
    }
}

/// The shingle hashes of a text, each hashed on its own.
#[must_use]
pub fn slow_shingles(words: &[String], shingle_words: NonZeroUsize) -> Vec<u64> {
    slow_shingle_lists(words, shingle_words)
        .iter()
        .map(|shingle| wonbon_text::shingles::shingle_hash(shingle.iter().map(String::as_str)))
        .collect()
}

/// The blocks that moved from a text to another, as pairs of places and lengths in words, in the
/// order of the left text: by trying every pair of places again and again.
///
/// `only_left` and `only_right` are the runs of words that only one of the texts has. A block is a
/// longest run of words, equal and not yet taken, inside a run of each; it holds five words that
/// stand exactly once in each text, and it has eight words, or one that stands once in each text.
/// The longest is taken first, then the earliest on the left, then on the right.
#[must_use]
pub fn slow_moved_blocks(
    left: &[String],
    right: &[String],
    only_left: &[Range<usize>],
    only_right: &[Range<usize>],
) -> Vec<(usize, usize, usize)> {
    let once = |words: &[String]| {
        let times = |text: &[String]| text.windows(words.len()).filter(|run| *run == words).count();
        times(left) == 1 && times(right) == 1
    };
    let mut free_left: Vec<Range<usize>> = only_left.to_vec();
    let mut free_right: Vec<Range<usize>> = only_right.to_vec();
    let mut blocks = Vec::new();
    loop {
        let mut best: Option<(usize, usize, usize)> = None;
        for (l, l_end) in starts(&free_left) {
            for (r, r_end) in starts(&free_right) {
                let same =
                    left[l..l_end].iter().zip(&right[r..r_end]).take_while(|(l, r)| l == r).count();
                let words = &left[l..l + same];
                let better = best.is_none_or(|(.., longest)| same > longest);
                if better && words.windows(5).any(once) && (same >= 8 || words.windows(1).any(once))
                {
                    best = Some((l, r, same));
                }
            }
        }
        let Some((l, r, words)) = best else { break };
        blocks.push((l, r, words));
        free_left = without(&free_left, l..l + words);
        free_right = without(&free_right, r..r + words);
    }
    blocks.sort_unstable();
    blocks
}

/// Every place of these runs with the end of its run.
fn starts(runs: &[Range<usize>]) -> impl Iterator<Item = (usize, usize)> + '_ {
    runs.iter().flat_map(|run| run.clone().map(move |at| (at, run.end)))
}

fn without(runs: &[Range<usize>], gone: Range<usize>) -> Vec<Range<usize>> {
    runs.iter()
        .flat_map(|run| [run.start..run.end.min(gone.start), run.start.max(gone.end)..run.end])
        .filter(|run| !run.is_empty())
        .collect()
}
