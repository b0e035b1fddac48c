//! The built-in labels of page pieces, in the languages of the pages.
//!
//! The caller gives all other words of a page. Places for values are written `{0}`, `{1}`: their
//! order differs between languages.

use maud::{Markup, html};

/// The words of one language.
#[derive(Debug, PartialEq, Eq)]
pub struct Wording {
    /// The language, as HTML names it.
    pub language: &'static str,
    /// Instead of bars, when all are empty.
    pub none: &'static str,
    /// Instead of a plot, when nothing is known.
    pub no_numbers: &'static str,
    /// What opens the table behind a plot.
    pub the_numbers: &'static str,
    /// What a plot shows: which values, for which moments.
    pub plot: &'static str,
    /// A series in words: its name, its first value, where, its last value, where.
    pub series: &'static str,
    /// The box that hides passages without differences.
    pub differences_only: &'static str,
    /// What the two panes are, to those who do not see them.
    pub beside: &'static str,
    /// One passage without differences.
    pub passage_alike: &'static str,
    /// `{0}` passages without differences.
    pub passages_alike: &'static str,
    /// Neither text has words.
    pub no_words: &'static str,
    /// All words are the same.
    pub all_same: &'static str,
    /// Before the counts of words.
    pub words: &'static str,
    /// `{0}` words only in A.
    pub only_a: &'static str,
    /// `{0}` words only in B.
    pub only_b: &'static str,
    /// `{0}` words that moved in one block.
    pub moved_block: &'static str,
    /// `{0}` words that moved in `{1}` blocks.
    pub moved_blocks: &'static str,
    /// The link of moved block `{0}` to its place in A.
    pub to_a: &'static str,
    /// The link of moved block `{0}` to its place in B.
    pub to_b: &'static str,
}

/// In English.
pub static ENGLISH: Wording = Wording {
    language: "en",
    none: "There are none.",
    no_numbers: "There are no numbers yet.",
    the_numbers: "the numbers",
    plot: "{0} for each {1}.",
    series: "{0}: from {1} at {2} to {3} at {4}.",
    differences_only: "differences only",
    beside: "the two texts, passage by passage",
    passage_alike: "1 passage alike",
    passages_alike: "{0} passages alike",
    no_words: "Neither text has words.",
    all_same: "All words are the same.",
    words: "Words",
    only_a: "{0} only in A",
    only_b: "{0} only in B",
    moved_block: "{0} moved, in 1 block",
    moved_blocks: "{0} moved, in {1} blocks",
    to_a: "moved block {0}, to its place in A",
    to_b: "moved block {0}, to its place in B",
};

/// In Korean.
pub static KOREAN: Wording = Wording {
    language: "ko",
    none: "없습니다.",
    no_numbers: "아직 숫자가 없습니다.",
    the_numbers: "숫자로 보기",
    plot: "{1}마다 {0}.",
    series: "{0}: {2}에 {1}, {4}에 {3}.",
    differences_only: "다른 부분만",
    beside: "두 글을 단락별로 나란히",
    passage_alike: "같은 단락 1개",
    passages_alike: "같은 단락 {0}개",
    no_words: "두 글 모두 낱말이 없습니다.",
    all_same: "모든 낱말이 같습니다.",
    words: "낱말",
    only_a: "A에만 {0}개",
    only_b: "B에만 {0}개",
    moved_block: "옮겨진 낱말 {0}개(덩어리 1개)",
    moved_blocks: "옮겨진 낱말 {0}개(덩어리 {1}개)",
    to_a: "옮겨진 덩어리 {0}, A의 자리로",
    to_b: "옮겨진 덩어리 {0}, B의 자리로",
};

/// A sentence with its values put in: `{0}` is the first.
///
/// ```
/// assert_eq!(wonbon_pages::fill("{1} of {0}", &["nine", "{0}"]), "{0} of nine");
/// ```
#[must_use]
pub fn fill(sentence: &str, values: &[&str]) -> String {
    let mut filled = String::with_capacity(sentence.len() + 16);
    let mut rest = sentence;
    while let Some(open) = rest.find('{') {
        let (before, behind) = rest.split_at(open);
        filled.push_str(before);
        let value = behind.find('}').and_then(|close| {
            let value = behind[1..close].parse::<usize>().ok().and_then(|at| values.get(at))?;
            Some((value, close))
        });
        match value {
            Some((value, close)) => {
                filled.push_str(value);
                rest = &behind[close + 1..];
            }
            None => {
                filled.push('{');
                rest = &behind[1..];
            }
        }
    }
    filled.push_str(rest);
    filled
}

/// A sentence with a piece of markup in the place of its `{0}`.
#[must_use]
pub fn fill_markup(sentence: &str, value: &Markup) -> Markup {
    let (before, behind) = sentence.split_once("{0}").unwrap_or((sentence, ""));
    html! { (before) (value) (behind) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_place_stays() {
        assert_eq!(fill("a {} {9} {x} b", &["1"]), "a {} {9} {x} b");
        assert_eq!(fill("{0}{0}", &["ab"]), "abab");
    }
}
