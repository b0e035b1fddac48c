//! The frame of a page and its plain pieces: headings, cards, tables.

use std::fmt;
use std::fmt::Write as _;

use crate::wording::{ENGLISH, Wording};
use crate::{escape, thousands};

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number as it is shown; stands on the right.
    Number(String),
    /// A key, a path, a value of a program.
    Code(String),
    /// Markup, put in as it is.
    Markup(String),
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
        let Page { title, body, wording, .. } = self;
        let title = escape(&title);
        let language = wording.language;
        format!(
            "<!doctype html><html lang={language}><head><meta charset=utf-8><meta name=viewport content=\"width=device-width,initial-scale=1\"><title>{title}</title><style>\n{STYLE}</style></head><body><main>\n{body}</main></body></html>\n"
        )
    }

    /// The pieces so far, without the frame: for who has a frame already.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    /// What the page is about.
    pub fn heading(&mut self, text: &str) {
        self.markup(format_args!("<h1>{}</h1>", escape(text)));
    }

    /// The name of a part.
    pub fn subheading(&mut self, text: &str) {
        self.markup(format_args!("<h2>{}</h2>", escape(text)));
    }

    /// The sentences under the heading.
    pub fn lead(&mut self, text: &str) {
        self.markup(format_args!("<p class=lead>{}</p>", escape(text)));
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) {
        self.markup(format_args!("<p>{}</p>", escape(text)));
    }

    /// Markup, put in as it is; what comes from outside has to go through [`escape`].
    pub fn markup(&mut self, markup: fmt::Arguments<'_>) {
        self.body.write_fmt(markup).expect("writing to a string does not fail");
    }

    /// Numbers beside each other.
    pub fn cards(&mut self, cards: &[Card]) {
        self.markup(format_args!("<div class=cards>"));
        for Card { number, name, note } in cards {
            self.markup(format_args!(
                "<div class=card><b>{}</b><span>{}</span><small>{}</small></div>",
                escape(number),
                escape(name),
                escape(note)
            ));
        }
        self.markup(format_args!("</div>"));
    }

    /// A table; without names of columns it has no head.
    pub fn table(&mut self, columns: &[&str], rows: &[Vec<Cell>]) {
        // What may have to be scrolled can be reached by keyboard: by a link in it, or itself.
        let is_link = |cell: &Cell| matches!(cell, Cell::Markup(markup) if markup.contains("<a "));
        let tab = if rows.iter().flatten().any(is_link) { "" } else { " tabindex=0" };
        self.markup(format_args!("<div class=wide{tab}><table>"));
        if !columns.is_empty() {
            self.markup(format_args!("<tr>"));
            for (at, column) in columns.iter().enumerate() {
                let number = |row: &Vec<Cell>| matches!(row.get(at), Some(Cell::Number(_)));
                let class = if rows.iter().any(number) { " class=n" } else { "" };
                self.markup(format_args!("<th scope=col{class}>{}</th>", escape(column)));
            }
            self.markup(format_args!("</tr>"));
        }
        for row in rows {
            self.markup(format_args!("<tr>"));
            for cell in row {
                match cell {
                    Cell::Text(text) if is_figures(text) => {
                        self.markup(format_args!("<td class=d>{}</td>", escape(text)));
                    }
                    Cell::Text(text) => self.markup(format_args!("<td>{}</td>", escape(text))),
                    Cell::Number(number) => {
                        self.markup(format_args!("<td class=n>{}</td>", escape(number)));
                    }
                    Cell::Code(code) => {
                        self.markup(format_args!("<td><code>{}</code></td>", escape(code)));
                    }
                    Cell::Markup(markup) => self.markup(format_args!("<td>{markup}</td>")),
                }
            }
            self.markup(format_args!("</tr>"));
        }
        self.markup(format_args!("</table></div>"));
    }

    /// Sections beside each other where there is room.
    pub fn columns(&mut self, sections: impl FnOnce(&mut Page)) {
        self.markup(format_args!("<div class=two>"));
        sections(self);
        self.markup(format_args!("</div>"));
    }

    /// A part with its name.
    pub fn section(&mut self, name: &str, content: impl FnOnce(&mut Page)) {
        self.markup(format_args!("<section>"));
        self.subheading(name);
        content(self);
        self.markup(format_args!("</section>"));
    }

    /// A part that can be opened; the summary is markup.
    pub fn details(&mut self, summary_markup: &str, open: bool, content: impl FnOnce(&mut Page)) {
        let open = if open { " open" } else { "" };
        self.markup(format_args!("<details{open}><summary>{summary_markup}</summary>"));
        content(self);
        self.markup(format_args!("</details>"));
    }

    /// A name for an element that no other element of the page has.
    pub(crate) fn fresh_name(&mut self) -> String {
        self.names += 1;
        format!("w{}", self.names)
    }
}

/// Whether a text is figures and what stands between them, such as a date, a time, or from when to when:
/// it is not broken into lines.
fn is_figures(text: &str) -> bool {
    let is_figure = |c: char| c.is_ascii_digit() || matches!(c, '-' | ':' | '.' | ' ' | '–' | '/');
    (1..=48).contains(&text.len()) && text.chars().all(is_figure)
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
        assert!(page.body().contains("<td class=d>2026-11-16 – 2026-11-18</td>"));
        assert!(page.body().contains("<td>on 2026-11-16</td>"));
    }

    #[test]
    fn columns_of_numbers_have_their_name_on_the_right() {
        let mut page = Page::new("table");
        page.table(&["a", "b"], &[vec!["x".into(), Cell::from(1000_u64)]]);
        assert!(page.body().contains("<th scope=col>a</th><th scope=col class=n>b</th>"));
        assert!(page.body().contains("<td class=n>1\u{202F}000</td>"));
    }
}
