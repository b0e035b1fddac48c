//! The frame of a page and its plain pieces: headings, cards, tables.

use maud::{DOCTYPE, Markup, PreEscaped, Render, html};

use crate::thousands;
use crate::wording::{ENGLISH, Wording};

/// The style of every page; what has a frame of its own sends it as a file.
pub const STYLE: &str = include_str!("page.css");

/// A page that is being written, from top to bottom.
#[derive(Debug, Clone)]
pub struct Page {
    title: String,
    body: String,
    /// How many names have been given to elements.
    names: usize,
    pub(crate) wording: &'static Wording,
}

/// A number with what it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// The number as it is shown.
    pub number: String,
    /// What is counted.
    pub name: String,
    /// A few words more.
    pub note: String,
}

/// A cell of a table.
#[derive(Debug, Clone)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number as it is shown; stands on the right.
    Number(String),
    /// A key, a path, a value of a program.
    Code(String),
    /// Markup of its own.
    Markup(Markup),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::Text(text)
    }
}

impl From<Markup> for Cell {
    fn from(markup: Markup) -> Self {
        Cell::Markup(markup)
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Cell::Number(thousands(number))
    }
}

impl Page {
    /// A page with a title for the window, and nothing on it.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Page::in_language(title, &ENGLISH)
    }

    /// The same, whose pieces speak another language.
    #[must_use]
    pub fn in_language(title: &str, wording: &'static Wording) -> Self {
        Page { title: title.to_owned(), body: String::new(), names: 0, wording }
    }

    /// What the page is called.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The whole page.
    #[must_use]
    pub fn finish(self) -> String {
        let style = PreEscaped(STYLE);
        let page = html! {
            (DOCTYPE)
            html lang=(self.wording.language) {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width,initial-scale=1";
                    title { (self.title) }
                    style { "\n" (style) }
                }
                body { main { "\n" (self.body()) } }
            }
            "\n"
        };
        finish_markup(page)
    }

    /// The pieces so far, without the frame: for who has a frame already.
    #[must_use]
    pub fn body(&self) -> PreEscaped<&str> {
        PreEscaped(&self.body)
    }

    /// What the page is about.
    pub fn heading(&mut self, text: &str) {
        self.markup(html! { h1 { (text) } });
    }

    /// The name of a part.
    pub fn subheading(&mut self, text: &str) {
        self.markup(html! { h2 { (text) } });
    }

    /// The sentences under the heading.
    pub fn lead(&mut self, text: &str) {
        self.markup(html! { p.lead { (text) } });
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) {
        self.markup(html! { p { (text) } });
    }

    /// Markup of one's own.
    pub fn markup(&mut self, markup: Markup) {
        self.body.push_str(&markup.0);
    }

    /// Pieces inside an element of one's own: `wrap` gets their markup and puts it where it belongs.
    pub fn within(&mut self, wrap: impl FnOnce(Markup) -> Markup, content: impl FnOnce(&mut Page)) {
        let outside = std::mem::take(&mut self.body);
        content(self);
        let inside = std::mem::replace(&mut self.body, outside);
        self.markup(wrap(PreEscaped(inside)));
    }

    /// Numbers beside each other.
    pub fn cards(&mut self, cards: &[Card]) {
        self.markup(html! {
            div.cards {
                @for Card { number, name, note } in cards {
                    div.card { b { (number) } span { (name) } small { (note) } }
                }
            }
        });
    }

    /// A table; without names of columns it has no head.
    pub fn table(&mut self, columns: &[&str], rows: &[Vec<Cell>]) {
        // What may have to be scrolled can be reached by keyboard: by a link in it, or itself.
        let is_link =
            |cell: &Cell| matches!(cell, Cell::Markup(markup) if markup.0.contains("<a "));
        let tab = if rows.iter().flatten().any(is_link) { None } else { Some(0) };
        let is_number = |at: usize| {
            rows.iter().any(|row: &Vec<Cell>| matches!(row.get(at), Some(Cell::Number(_))))
        };
        self.markup(html! {
            div.wide tabindex=[tab] {
                table {
                    @if !columns.is_empty() {
                        tr {
                            @for (at, column) in columns.iter().enumerate() {
                                th scope="col" class=[is_number(at).then_some("n")] { (column) }
                            }
                        }
                    }
                    @for row in rows { tr { @for cell in row { (cell) } } }
                }
            }
        });
    }

    /// Sections beside each other where there is room.
    pub fn columns(&mut self, sections: impl FnOnce(&mut Page)) {
        self.within(|inside| html! { div.two { (inside) } }, sections);
    }

    /// A part with its name.
    pub fn section(&mut self, name: &str, content: impl FnOnce(&mut Page)) {
        self.within(|inside| html! { section { h2 { (name) } (inside) } }, content);
    }

    /// A part that can be opened.
    pub fn details(&mut self, summary: impl Render, open: bool, content: impl FnOnce(&mut Page)) {
        self.within(
            |inside| html! { details open[open] { summary { (summary) } (inside) } },
            content,
        );
    }

    /// A name for an element that no other element of the page has.
    pub(crate) fn fresh_name(&mut self) -> String {
        self.names += 1;
        format!("w{}", self.names)
    }
}

impl Render for Cell {
    fn render(&self) -> Markup {
        html! {
            @match self {
                Cell::Text(text) if is_figures(text) => { td.d { (text) } }
                Cell::Text(text) => { td { (text) } }
                Cell::Number(number) => { td.n { (number) } }
                Cell::Code(code) => { td { code { (code) } } }
                Cell::Markup(markup) => { td { (markup) } }
            }
        }
    }
}

/// Whether a text is figures and what stands between them, such as a date, a time, or from when to when:
/// it is not broken into lines.
fn is_figures(text: &str) -> bool {
    let is_figure = |c: char| c.is_ascii_digit() || matches!(c, '-' | ':' | '.' | ' ' | '–' | '/');
    (1..=48).contains(&text.len()) && text.chars().all(is_figure)
}

/// A whole page as it is sent. A browser drops NUL, so that the text shown would not be the text that
/// there is; U+FFFD says that something was there.
#[must_use]
pub fn finish_markup(page: Markup) -> String {
    let page = page.into_string();
    if page.contains('\0') { page.replace('\0', "\u{FFFD}") } else { page }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_given_as_text_becomes_markup() {
        let bad = "</title><script>\"'&";
        let mut page = Page::new(bad);
        page.heading(bad);
        page.subheading(bad);
        page.lead(bad);
        page.paragraph(bad);
        page.cards(&[Card { number: bad.into(), name: bad.into(), note: bad.into() }]);
        page.table(&[bad], &[vec![bad.into()], vec![Cell::Code(bad.into())]]);
        page.section(bad, |page| page.bars(bad, &[(bad.to_owned(), 1)]));
        page.differences(bad, "other words", 3);
        let html = page.finish();
        assert!(!html.contains("<script"), "{html}");
        assert_eq!(html.matches("</title>").count(), 2, "the page's own and the plot's");
    }

    #[test]
    fn dates_stay_in_one_line() {
        let mut page = Page::new("table");
        page.table(&[], &[vec!["2026-11-16 – 2026-11-18".into(), "on 2026-11-16".into()]]);
        assert!(page.body().0.contains("<td class=\"d\">2026-11-16 – 2026-11-18</td>"));
        assert!(page.body().0.contains("<td>on 2026-11-16</td>"));
    }

    #[test]
    fn columns_of_numbers_have_their_name_on_the_right() {
        let mut page = Page::new("table");
        page.table(&["a", "b"], &[vec!["x".into(), Cell::from(1000_u64)]]);
        assert!(
            page.body().0.contains(r#"<th scope="col">a</th><th scope="col" class="n">b</th>"#)
        );
        assert!(page.body().0.contains("<td class=\"n\">1\u{202F}000</td>"));
    }
}
