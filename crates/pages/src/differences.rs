//! Where two texts differ, in one paragraph: what was taken out and put in, with some words around.

use maud::{Markup, html};
use wonbon_text::difference::{SpanKind as Kind, difference};

use crate::Page;

impl Page {
    /// Where two texts differ: words only the left has as `<del>`, words only the right has as
    /// `<ins>`, blocks that moved as `<mark>` with their number at both places, and up to `around`
    /// words of agreement before and after each difference.
    pub fn differences(&mut self, left: &str, right: &str, around: usize) {
        self.markup(html! { p.text { (differing_spans(left, right, around)) } });
    }
}

fn differing_spans(left: &str, right: &str, around: usize) -> Markup {
    let found = difference(left, right);
    let last = found.spans.len().saturating_sub(1);
    let left_words = |words| &left[found.left.place(words)];
    let right_words = |words| &right[found.right.place(words)];
    html! {
        @for (at, span) in found.spans.iter().enumerate() {
            @match span.kind {
                Kind::Same => {
                    @let (from, to) = (span.right.start, span.right.end);
                    @let head = if at == 0 { from } else { (from + around).min(to) };
                    @let tail = if at == last { to } else { to.saturating_sub(around).max(head) };
                    @if head > from { (right_words(from..head)) " " }
                    @if tail > head { i { "…" } " " }
                    @if at != last && tail < to { (right_words(tail..to)) " " }
                }
                Kind::OnlyLeft => { del { (left_words(span.left.clone())) } " " }
                Kind::OnlyRight => { ins { (right_words(span.right.clone())) } " " }
                Kind::MovedLeft(block) => {
                    mark.gone { b { (block + 1) "\u{2192}" } " " (left_words(span.left.clone())) } " "
                }
                Kind::MovedRight(block) => {
                    mark { b { "\u{2192}" (block + 1) } " " (right_words(span.right.clone())) } " "
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(left: &str, right: &str, around: usize) -> String {
        let mut page = Page::new("differences");
        page.differences(left, right, around);
        page.body().0.to_owned()
    }

    #[test]
    fn nothing_of_a_document_becomes_markup() {
        let page = shown("one two three <b>four</b>", "one <script>two</script> three four", 12);
        for mark in ["<b>", "<script"] {
            assert!(!page.contains(mark), "{page}");
        }
        assert!(page.contains("<ins>script") && page.contains("<del>"), "{page}");
    }

    #[test]
    fn agreement_far_from_differences_is_left_out() {
        let words: Vec<String> = (0..200).map(|n| format!("w{n}")).collect();
        let mut changed = words.clone();
        changed[100] = "changed".to_owned();
        let page = shown(&words.join(" "), &changed.join(" "), 12);
        assert!(page.contains("<del>w100</del>") && page.contains("<ins>changed</ins>"), "{page}");
        assert!(page.contains("w99 ") && page.contains(" w101"), "{page}");
        assert!(!page.contains("w50 ") && !page.contains("w150"), "{page}");
    }

    #[test]
    fn a_block_that_moved_is_marked_at_both_places() {
        let block = "seven brown foxes crossed the frozen river twice that night";
        let rest = "while everybody in the village slept and no dog barked at all until dawn came";
        let page = shown(&format!("{block} {rest}"), &format!("{rest} {block}"), 3);
        assert!(page.contains(&format!("<mark class=\"gone\"><b>1→</b> {block}</mark>")), "{page}");
        assert!(page.contains(&format!("<mark><b>→1</b> {block}</mark>")), "{page}");
        assert!(!page.contains("<del>") && !page.contains("<ins>"), "{page}");
    }
}
