//! Two texts beside each other, passage by passage, with every differing word marked.
//!
//! A passage is a row of two cells. Rows begin where a paragraph begins in both texts; a long
//! paragraph is also cut where a sentence begins in both, so that what belongs together stays at one
//! height. Paragraphs that were replaced stand beside what replaced them.
//!
//! Marks do not rest on colour: what only one text has is struck through on the left and underlined
//! on the right, a block that moved carries its number and an arrow that leads to its other place.
//! Passages without differences can be hidden by a box to tick, which needs no script.
//!
//! Guarantee: the cells of a side, put together, are that side's whole text. Cost: linear.

use std::ops::Range;

use maud::{Markup, html};
use wonbon_text::difference::{Difference, NumberedWords, Span, SpanKind as Kind};

use crate::{Page, Wording, fill};

/// From this many words on a row ends where a sentence ends in both texts.
const LONG_ROW: usize = 60;

/// What is said of two texts above them.
#[derive(Debug, Clone, Copy)]
pub struct Compared<'a> {
    /// How the left text is called.
    pub left_name: &'a str,
    /// The left text.
    pub left: &'a str,
    /// How the right text is called.
    pub right_name: &'a str,
    /// The right text.
    pub right: &'a str,
    /// Their difference.
    pub found: &'a Difference,
}

/// How much two texts share.
#[derive(Debug, Clone, Copy)]
pub struct Shared<'a> {
    /// What they are called together: `copy`, `partly contained`.
    pub verdict: &'a str,
    /// The resemblance.
    pub resemblance: f64,
    /// The part of the left one's shingles that the right one has.
    pub left_in_right: f64,
    /// The part of the right one's shingles that the left one has.
    pub right_in_left: f64,
}

/// A whole page about two texts: how much they share, then both beside each other.
///
/// ```
/// use wonbon_pages::{Compared, Shared, comparison_page};
/// let (left, right) = ("one two three", "one 2 three");
/// let found = wonbon_text::difference::difference(left, right);
/// let compared =
///     Compared { left_name: "a.txt", left, right_name: "b.txt", right, found: &found };
/// let shared =
///     Shared { verdict: "different", resemblance: 0.0, left_in_right: 0.0, right_in_left: 0.0 };
/// let html = comparison_page(&compared, &shared);
/// assert!(html.contains("<del>two</del>") && html.contains("<ins>2</ins>"));
/// ```
#[must_use]
pub fn comparison_page(compared: &Compared<'_>, shared: &Shared<'_>) -> String {
    let mut page = Page::new(&format!(
        "{} and {}: {}",
        compared.left_name, compared.right_name, shared.verdict
    ));
    page.heading(shared.verdict);
    page.markup(html! {
        p.lead { "A is " code { (compared.left_name) } ", B is " code { (compared.right_name) } "." }
    });
    page.shares(&[
        ("resemblance", shared.resemblance),
        ("A inside B", shared.left_in_right),
        ("B inside A", shared.right_in_left),
    ]);
    page.side_by_side(compared);
    page.finish()
}

impl Page {
    /// Parts of one as bars that are full at 1, each with its name and its number.
    pub fn shares(&mut self, shares: &[(&str, f64)]) {
        self.markup(html! {
            dl.shares {
                @for (name, share) in shares {
                    @let width = share.clamp(0.0, 1.0) * 100.0;
                    div {
                        dt { (name) }
                        dd {
                            svg.bar viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" {
                                rect width=(format_args!("{width:.1}")) height="4" {}
                            }
                            (format_args!("{share:.4}"))
                        }
                    }
                }
            }
        });
    }

    /// Two texts beside each other.
    pub fn side_by_side(&mut self, compared: &Compared<'_>) {
        let name = self.fresh_name();
        let left = Pane::new(compared.left, &compared.found.left);
        let right = Pane::new(compared.right, &compared.found.right);
        let cutting = Cutting { left: &left, right: &right, found: compared.found };
        let rows = cutting.rows();
        let wording = self.wording;
        let render =
            Rendering { name: &name, left: &left, right: &right, found: compared.found, wording };
        self.markup(html! {
            p.marks { (summary(compared.found, wording)) }
            input.only type="checkbox" id=(name);
            label for=(name) { (wording.differences_only) }
            div.beside role="table" aria-label=(wording.beside) {
                div.row.names role="row" {
                    div role="columnheader" { b { "A" } " " (compared.left_name) }
                    div role="columnheader" { b { "B" } " " (compared.right_name) }
                }
                @for alike in rows.chunk_by(|one, other| one.is_same == other.is_same) {
                    @if alike[0].is_same {
                        p.alike { "\u{22EF} " (passages_alike(alike.len(), wording)) }
                    }
                    @for row in alike {
                        div.row.same[row.is_same] role="row" {
                            div.cell.a role="cell" { (render.cell(row, true)) }
                            div.cell.b role="cell" { (render.cell(row, false)) }
                        }
                    }
                }
                @if rows.is_empty() { p { (wording.no_words) } }
            }
        });
    }
}

fn passages_alike(count: usize, wording: &Wording) -> String {
    let told = if count > 1 { wording.passages_alike } else { wording.passage_alike };
    fill(told, &[&count.to_string()])
}

/// How many words differ, in a sentence that explains the marks.
fn summary(found: &Difference, wording: &Wording) -> Markup {
    let words = |wanted: fn(Kind) -> bool| -> usize {
        found
            .spans
            .iter()
            .filter(|span| wanted(span.kind))
            .map(|span| span.left.len().max(span.right.len()))
            .sum()
    };
    let gone = words(|kind| kind == Kind::OnlyLeft);
    let come = words(|kind| kind == Kind::OnlyRight);
    if gone + come + found.moved.len() == 0 {
        return html! { (wording.all_same) };
    }
    let mut parts = Vec::new();
    if gone > 0 {
        parts.push(html! { del { (fill(wording.only_a, &[&gone.to_string()])) } });
    }
    if come > 0 {
        parts.push(html! { ins { (fill(wording.only_b, &[&come.to_string()])) } });
    }
    if !found.moved.is_empty() {
        let moved = words(|kind| matches!(kind, Kind::MovedLeft(_)));
        let many = found.moved.len() > 1;
        let told = if many { wording.moved_blocks } else { wording.moved_block };
        let told = fill(told, &[&moved.to_string(), &found.moved.len().to_string()]);
        parts.push(html! { mark { (told) } });
    }
    html! {
        (wording.words) ": "
        @for (at, part) in parts.iter().enumerate() {
            @if at > 0 { ", " }
            (part)
        }
    }
}

/// What begins at a word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Begins {
    Word,
    Sentence,
    Paragraph,
}

/// One of the two texts: where each word begins and what begins with it.
struct Pane<'a> {
    text: &'a str,
    words: &'a NumberedWords,
    /// Where the text is cut before each word, and its end.
    cuts: Vec<usize>,
    begins: Vec<Begins>,
}

impl<'a> Pane<'a> {
    fn new(text: &'a str, words: &'a NumberedWords) -> Self {
        // Where empty lines tell paragraphs apart, a line's end is only where the line was full.
        let by_empty_lines = has_empty_line(text.trim());
        let mut cuts = Vec::with_capacity(words.len() + 1);
        let mut begins = Vec::with_capacity(words.len() + 1);
        let mut end = 0;
        for word in 0..words.len() {
            let place = words.place(word..word + 1);
            let between = text.get(end..place.start).unwrap_or_default();
            // What sticks to the word, as an opening quotation mark does, goes with it.
            let stuck = between.rsplit(char::is_whitespace).next().unwrap_or_default().len();
            let stuck = if stuck < between.len() { stuck } else { 0 };
            cuts.push(if word == 0 { 0 } else { place.start.max(end) - stuck });
            let paragraph =
                if by_empty_lines { has_empty_line(between) } else { between.contains('\n') };
            begins.push(if word == 0 || paragraph {
                Begins::Paragraph
            } else if ends_sentence(between) {
                Begins::Sentence
            } else {
                Begins::Word
            });
            end = place.end;
        }
        cuts.push(text.len());
        begins.push(Begins::Paragraph);
        if words.is_empty() {
            cuts[0] = 0;
        }
        Pane { text, words, cuts, begins }
    }

    /// The starts of paragraphs behind the first of these words.
    fn paragraphs(&self, words: &Range<usize>) -> Vec<usize> {
        (words.start + 1..words.end).filter(|&at| self.begins[at] == Begins::Paragraph).collect()
    }
}

fn has_empty_line(text: &str) -> bool {
    let mut lines = text.split('\n');
    // What precedes the first line end and what follows the last one are no empty lines.
    let _ = (lines.next(), lines.next_back());
    lines.any(|line| line.trim().is_empty())
}

fn ends_sentence(between: &str) -> bool {
    let mut characters = between.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '。' | '！' | '？' | '\n' => return true,
            '.' | '!' | '?' | '…' => {
                while characters.next_if(|c| matches!(c, '"' | '\'' | ')' | '”' | '’')).is_some()
                {
                }
                if characters.peek().is_some_and(|c| c.is_whitespace()) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// A passage: the words of each side.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    left: Range<usize>,
    right: Range<usize>,
    is_same: bool,
}

struct Cutting<'a> {
    left: &'a Pane<'a>,
    right: &'a Pane<'a>,
    found: &'a Difference,
}

impl Cutting<'_> {
    fn begins(&self, l: usize, r: usize) -> Begins {
        self.left.begins[l].min(self.right.begins[r])
    }

    fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        let mut start = (0, 0);
        let mut is_same = true;
        let mut cut = |start: &mut (usize, usize), l: usize, r: usize, is_same: &mut bool| {
            if (l, r) != *start {
                rows.push(Row { left: start.0..l, right: start.1..r, is_same: *is_same });
            }
            *start = (l, r);
            *is_same = true;
        };
        let is_gap = |kind: Kind| kind != Kind::Same;
        for spans in self.found.spans.chunk_by(|a, b| is_gap(a.kind) && is_gap(b.kind)) {
            let last = &spans[spans.len() - 1];
            let left = spans[0].left.start..last.left.end;
            let right = spans[0].right.start..last.right.end;
            if is_gap(last.kind) {
                let whole = self.begins(left.start, right.start) == Begins::Paragraph
                    && self.begins(left.end, right.end) == Begins::Paragraph;
                if whole {
                    cut(&mut start, left.start, right.start, &mut is_same);
                    let mut lefts = self.left.paragraphs(&left).into_iter();
                    let mut rights = self.right.paragraphs(&right).into_iter();
                    loop {
                        let (l, r) = (lefts.next(), rights.next());
                        is_same = false;
                        cut(
                            &mut start,
                            l.unwrap_or(left.end),
                            r.unwrap_or(right.end),
                            &mut is_same,
                        );
                        if l.is_none() && r.is_none() {
                            break;
                        }
                    }
                } else {
                    is_same = false;
                }
                continue;
            }
            for (l, r) in left.zip(right) {
                let words = (l - start.0).max(r - start.1);
                let needed = if words >= LONG_ROW { Begins::Sentence } else { Begins::Paragraph };
                if self.begins(l, r) >= needed {
                    cut(&mut start, l, r, &mut is_same);
                }
            }
        }
        cut(&mut start, self.found.left.len(), self.found.right.len(), &mut is_same);
        rows
    }
}

struct Rendering<'a> {
    name: &'a str,
    left: &'a Pane<'a>,
    right: &'a Pane<'a>,
    found: &'a Difference,
    wording: &'static Wording,
}

impl Rendering<'_> {
    /// The text of one side of a row, with its marks.
    fn cell(&self, row: &Row, is_left: bool) -> Markup {
        let (pane, words) = if is_left { (self.left, &row.left) } else { (self.right, &row.right) };
        let side = |span: &Span| if is_left { span.left.clone() } else { span.right.clone() };
        if words.is_empty() {
            return html! {};
        }
        let (mut at, end) = (pane.cuts[words.start], pane.cuts[words.end]);
        let mut pieces = Vec::new();
        // Spans are in order: the first that ends behind the row's start, then those inside it.
        let first = self.found.spans.partition_point(|span| side(span).end <= words.start);
        for span in &self.found.spans[first..] {
            let all = side(span);
            let shown = all.start.max(words.start)..all.end.min(words.end);
            if all.start >= words.end {
                break;
            }
            if shown.is_empty() || span.kind == Kind::Same {
                continue;
            }
            let place = pane.words.place(shown.clone());
            let from = place.start.clamp(at, end);
            let to = place.end.clamp(from, end);
            let is_first = shown.start == all.start;
            pieces.push((&pane.text[at..from], &pane.text[from..to], span.kind, is_first));
            at = to;
        }
        html! {
            @for (before, text, kind, is_first) in pieces {
                (before)
                @match kind {
                    Kind::Same => {}
                    Kind::OnlyLeft => { del { (text) } }
                    Kind::OnlyRight => { ins { (text) } }
                    Kind::MovedLeft(block) => { (self.moved(block, "a", "b", text, is_first)) }
                    Kind::MovedRight(block) => { (self.moved(block, "b", "a", text, is_first)) }
                }
            }
            (pane.text[at..end].trim_end())
        }
    }

    /// A block that moved, or a later part of one, which has no name of its own.
    fn moved(&self, block: usize, here: &str, there: &str, text: &str, is_first: bool) -> Markup {
        let (name, number) = (self.name, block + 1);
        let id = is_first.then(|| format!("{name}-{here}{number}"));
        let (label, told) = if here == "a" {
            (format!("{number}\u{2192}"), self.wording.to_b)
        } else {
            (format!("\u{2192}{number}"), self.wording.to_a)
        };
        let told = fill(told, &[&number.to_string()]);
        html! {
            mark id=[id] {
                a href={ "#" (name) "-" (there) (number) } aria-label=(told) { (label) }
                " " (text)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use wonbon_text::difference::difference;

    use super::*;

    fn rows(left: &str, right: &str) -> Vec<(String, String, bool)> {
        let found = difference(left, right);
        let (left, right) = (Pane::new(left, &found.left), Pane::new(right, &found.right));
        let text = |pane: &Pane<'_>, words: &Range<usize>| {
            pane.text[pane.cuts[words.start]..pane.cuts[words.end]].to_owned()
        };
        Cutting { left: &left, right: &right, found: &found }
            .rows()
            .iter()
            .map(|row| (text(&left, &row.left), text(&right, &row.right), row.is_same))
            .collect()
    }

    fn trimmed(rows: &[(String, String, bool)]) -> Vec<(&str, &str, bool)> {
        rows.iter().map(|(left, right, is_same)| (left.trim(), right.trim(), *is_same)).collect()
    }

    #[test]
    fn paragraphs_of_both_texts_stand_beside_each_other() {
        let rows = rows(
            "First words.\n\nSecond part here.\n\n“Third” is the last.",
            "First words.\n\n“Third” was the last.",
        );
        assert_eq!(
            trimmed(&rows),
            [
                ("First words.", "First words.", true),
                ("Second part here.", "", false),
                ("“Third” is the last.", "“Third” was the last.", false),
            ]
        );
    }

    #[test]
    fn a_replaced_paragraph_stands_beside_what_replaced_it() {
        let rows =
            rows("같은 글\n옛날 이야기 하나\n끝 문단", "같은 글\n새로운 소식입니다\n끝 문단");
        assert_eq!(
            trimmed(&rows),
            [
                ("같은 글", "같은 글", true),
                ("옛날 이야기 하나", "새로운 소식입니다", false),
                ("끝 문단", "끝 문단", true)
            ]
        );
    }

    #[test]
    fn full_lines_are_no_paragraphs_where_empty_lines_are() {
        let rows = rows("one two\nthree four\n\nfive", "one two three\nfour\n\nfive");
        assert_eq!(rows.len(), 2, "{rows:?}");
    }

    #[test]
    fn long_paragraphs_are_cut_where_sentences_begin() {
        let sentence = |n: usize| (0..20).map(|w| format!("s{n}w{w} ")).collect::<String>();
        let text: String = (0..12).map(|n| format!("{}end. ", sentence(n))).collect();
        let rows = rows(&text, &text.replace("s5w5", "changed"));
        assert!(rows.len() >= 3, "{}", rows.len());
        assert_eq!(rows.iter().filter(|(.., is_same)| !is_same).count(), 1);
    }

    #[test]
    fn places_of_a_moved_block_lead_to_each_other() {
        let block = "seven brown foxes crossed the frozen river twice that night";
        let rest = "while everybody in the village slept and no dog barked at all until dawn came";
        let (left, right) = (format!("{block}\n{rest}"), format!("{rest}\n{block}"));
        let found = difference(&left, &right);
        let mut page = Page::new("moved");
        page.side_by_side(&Compared {
            left_name: "a",
            left: &left,
            right_name: "b",
            right: &right,
            found: &found,
        });
        for end in ["id=\"w1-a1\"", "href=\"#w1-b1\"", "id=\"w1-b1\"", "href=\"#w1-a1\""] {
            assert_eq!(page.body().0.matches(end).count(), 1, "{end}: {}", page.body().0);
        }
    }

    #[test]
    fn texts_without_words_are_shown_as_such() {
        let found = difference(" !", "");
        let mut page = Page::new("nothing");
        let compared =
            Compared { left_name: "a", left: " !", right_name: "b", right: "", found: &found };
        page.side_by_side(&compared);
        assert!(page.body().0.contains("Neither text has words."));
    }

    /// The text that a reader sees in the cells of one side.
    fn visible(page: &str, class: &str) -> String {
        let mut seen = String::new();
        for cell in page.split(&format!("<div class=\"cell {class}\" role=\"cell\">")).skip(1) {
            let cell = cell.split("</div>").next().unwrap();
            let mut rest = cell;
            while let Some(open) = rest.find('<') {
                seen.push_str(&rest[..open]);
                let tag_end = open + rest[open..].find('>').unwrap();
                let is_link = rest[open..].starts_with("<a ");
                rest = &rest[tag_end + 1..];
                if is_link {
                    rest = &rest[rest.find("</a> ").unwrap() + 5..];
                }
            }
            seen.push_str(rest);
            seen.push(' ');
        }
        seen
    }

    fn squeezed(text: &str) -> String {
        text.split_whitespace().collect()
    }

    proptest! {
        #[test]
        fn the_cells_of_a_side_are_its_whole_text(
            left in "([a-e]{1,2}[ .,\n]{1,3}|½|가나 |\n\n|\u{3000}|漢字。){0,60}",
            right in "([a-e]{1,2}[ .,\n]{1,3}|½|가나 |\n\n|\u{3000}|漢字。){0,60}",
        ) {
            let found = difference(&left, &right);
            let mut page = Page::new("cells");
            page.side_by_side(&Compared {
                left_name: "a", left: &left, right_name: "b", right: &right, found: &found,
            });
            if !found.left.is_empty() {
                prop_assert_eq!(squeezed(&visible(page.body().0, "a")), squeezed(&html! { (left) }.0));
            }
            if !found.right.is_empty() {
                prop_assert_eq!(squeezed(&visible(page.body().0, "b")), squeezed(&html! { (right) }.0));
            }
        }
    }
}
