//! Where two texts differ, in one paragraph: what was taken out and put in, with some words around.

use wonbon_text::difference::{SpanKind as Kind, difference};

use crate::{Page, escape};

impl Page {
    /// Where two texts differ: words only the left has as `<del>`, words only the right has as
    /// `<ins>`, blocks that moved as `<mark>` with their number at both places, and up to `around`
    /// words of agreement before and after each difference.
    pub fn differences(&mut self, left: &str, right: &str, around: usize) {
        let found = difference(left, right);
        self.markup(format_args!("<p class=text>"));
        let last = found.spans.len().saturating_sub(1);
        for (at, span) in found.spans.iter().enumerate() {
            match span.kind {
                Kind::Same => {
                    let words = span.right.clone();
                    let (from, to) = (words.start, words.end);
                    let head = if at == 0 { from } else { (from + around).min(to) };
                    let tail = if at == last { to } else { to.saturating_sub(around).max(head) };
                    if head > from {
                        let place = found.right.place(from..head);
                        self.markup(format_args!("{} ", escape(&right[place])));
                    }
                    if tail > head {
                        self.markup(format_args!("<i>…</i> "));
                    }
                    if at != last && tail < to {
                        let place = found.right.place(tail..to);
                        self.markup(format_args!("{} ", escape(&right[place])));
                    }
                }
                Kind::OnlyLeft => {
                    let place = found.left.place(span.left.clone());
                    self.markup(format_args!("<del>{}</del> ", escape(&left[place])));
                }
                Kind::OnlyRight => {
                    let place = found.right.place(span.right.clone());
                    self.markup(format_args!("<ins>{}</ins> ", escape(&right[place])));
                }
                Kind::MovedLeft(block) => {
                    let place = found.left.place(span.left.clone());
                    self.markup(format_args!(
                        "<mark class=gone><b>{}\u{2192}</b> {}</mark> ",
                        block + 1,
                        escape(&left[place])
                    ));
                }
                Kind::MovedRight(block) => {
                    let place = found.right.place(span.right.clone());
                    self.markup(format_args!(
                        "<mark><b>\u{2192}{}</b> {}</mark> ",
                        block + 1,
                        escape(&right[place])
                    ));
                }
            }
        }
        self.markup(format_args!("</p>"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(left: &str, right: &str, around: usize) -> String {
        let mut page = Page::new("differences");
        page.differences(left, right, around);
        page.body().to_owned()
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
        assert!(page.contains(&format!("<mark class=gone><b>1→</b> {block}</mark>")), "{page}");
        assert!(page.contains(&format!("<mark><b>→1</b> {block}</mark>")), "{page}");
        assert!(!page.contains("<del>") && !page.contains("<ins>"), "{page}");
    }
}
