//! The kept part of a page as Markdown: CommonMark with the tables of GitHub's dialect.
//!
//! Only what would mean something else is escaped: marks of emphasis, links, code and references
//! anywhere, marks of headings, lists and quotes at the start of a line. A table has a head row
//! because the dialect wants one: the page's own if its first row is one, else an empty one.
//!
//! Cost: linear in the pieces; prefixes of nested lists are bounded by the nesting of
//! [`structure`](super::structure).

use super::structure::{Container, Inline, Look, Piece};

/// Columns that a table's head may have.
const MAX_COLUMNS: usize = 200;

/// The pieces as Markdown, without a line end at its end.
pub(crate) fn markdown(pieces: &[Piece]) -> String {
    let mut writer = Writer { out: String::new(), open: Vec::new(), tight: false };
    let mut at = 0;
    while at < pieces.len() {
        match &pieces[at] {
            Piece::Open(Container::Table) => {
                let end = end_of(pieces, at);
                writer.table(&pieces[at + 1..end]);
                at = end;
            }
            Piece::Open(container) => writer.enter(*container),
            Piece::Close(_) => {
                writer.open.pop();
                writer.tight = false;
            }
            Piece::Text(look, inlines) => writer.block(look, inlines),
        }
        at += 1;
    }
    writer.out
}

/// Where the table that opens at `from` closes.
fn end_of(pieces: &[Piece], from: usize) -> usize {
    let close = Piece::Close(Container::Table);
    let found = pieces[from..].iter().position(|piece| *piece == close);
    found.map_or(pieces.len() - 1, |offset| from + offset)
}

/// A container that is open.
enum Open {
    /// Whether something was written in it.
    Quote(bool),
    /// The number of the next item, and whether there was one.
    List(Option<u32>, bool),
    /// Its mark, and whether it was written.
    Item(String, bool),
}

struct Writer {
    out: String,
    open: Vec<Open>,
    /// The next block follows an item of the same list: no empty line between.
    tight: bool,
}

impl Writer {
    fn enter(&mut self, container: Container) {
        match container {
            Container::Quote => self.open.push(Open::Quote(false)),
            Container::List(number) => {
                // A list in an item follows its text directly.
                self.tight = matches!(self.open.last(), Some(Open::Item(_, true)));
                self.open.push(Open::List(number, false));
            }
            Container::Item => {
                let mut follows_item = false;
                let mut mark = "- ".to_owned();
                if let Some(Open::List(number, has_items)) = self.open.last_mut() {
                    follows_item = std::mem::replace(has_items, true);
                    if let Some(number) = number {
                        mark = format!("{number}. ");
                        *number = number.saturating_add(1);
                    }
                }
                self.tight |= follows_item && self.last_was_item();
                self.open.push(Open::Item(mark, false));
            }
            Container::Table | Container::Row | Container::Cell(_) => {}
        }
    }

    /// Whether the last line written is the first of an item.
    fn last_was_item(&self) -> bool {
        let line = self.out.rsplit('\n').next().unwrap_or("");
        let rest = line.trim_start_matches([' ', '>']);
        let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.starts_with("- ") || (number.len() < rest.len() && number.starts_with(". "))
    }

    /// Starts a block: separates it from the last and writes the prefixes of its first line.
    fn start(&mut self) {
        if !self.out.is_empty() {
            if !std::mem::take(&mut self.tight) {
                self.out.push('\n');
                let quotes = self.quotes();
                self.out.push_str(quotes.trim_end());
            }
            self.out.push('\n');
        }
        self.tight = false;
        for open in &mut self.open {
            match open {
                Open::Quote(is_written) => {
                    self.out.push_str("> ");
                    *is_written = true;
                }
                Open::List(..) => {}
                Open::Item(mark, is_written @ false) => {
                    self.out.push_str(mark);
                    *is_written = true;
                }
                Open::Item(mark, true) => self.out.extend(std::iter::repeat_n(' ', mark.len())),
            }
        }
    }

    /// The prefix of an empty line: the quotes around that both neighbours are in.
    fn quotes(&self) -> String {
        let mut prefix = String::new();
        for open in &self.open {
            match open {
                Open::Quote(true) => prefix.push_str("> "),
                Open::List(..) => {}
                Open::Item(mark, true) => prefix.extend(std::iter::repeat_n(' ', mark.len())),
                Open::Quote(false) | Open::Item(_, false) => break,
            }
        }
        prefix
    }

    /// Starts a further line of the same block.
    fn next_line(&mut self) {
        self.out.push('\n');
        for open in &self.open {
            match open {
                Open::Quote(_) => self.out.push_str("> "),
                Open::List(..) => {}
                Open::Item(mark, _) => self.out.extend(std::iter::repeat_n(' ', mark.len())),
            }
        }
    }

    fn block(&mut self, look: &Look, inlines: &[Inline]) {
        self.start();
        match look {
            Look::Code(language) => {
                let Some(Inline::Text(code)) = inlines.first() else { return };
                let fence = "`".repeat(longest_run(code).max(2) + 1);
                self.out.push_str(&fence);
                self.out.push_str(language.as_deref().unwrap_or(""));
                for line in code.lines() {
                    self.next_line();
                    self.out.push_str(line);
                }
                self.next_line();
                self.out.push_str(&fence);
            }
            Look::Heading(level) => {
                self.out.extend(std::iter::repeat_n('#', usize::from(*level)));
                self.out.push(' ');
                self.inlines(inlines, Place::OneLine);
            }
            Look::Paragraph => self.inlines(inlines, Place::Paragraph),
        }
    }

    fn inlines(&mut self, inlines: &[Inline], place: Place) {
        let mut link: Option<&str> = None;
        let mut at_start = place == Place::Paragraph;
        for inline in inlines {
            match inline {
                Inline::Text(text) if text.is_empty() => continue,
                Inline::Text(text) => escape(&mut self.out, text, at_start, place == Place::Cell),
                Inline::Code(code) => code_span(&mut self.out, code, place == Place::Cell),
                Inline::Link(address) => {
                    self.out.push('[');
                    link = Some(address);
                }
                Inline::LinkEnd => {
                    if let Some(address) = link.take() {
                        // A space at the end of a link's text stands behind the link.
                        let is_spaced = self.out.ends_with(' ');
                        self.out.truncate(self.out.trim_end_matches(' ').len());
                        self.out.push_str("](");
                        destination(&mut self.out, address, place == Place::Cell);
                        self.out.push(')');
                        if is_spaced {
                            self.out.push(' ');
                        }
                    }
                    continue;
                }
                Inline::Break if place == Place::Paragraph => {
                    self.out.push('\\');
                    self.next_line();
                    at_start = true;
                    continue;
                }
                Inline::Break => self.out.push(' '),
            }
            at_start = false;
        }
    }

    fn table(&mut self, pieces: &[Piece]) {
        let is_row = |piece: &Piece| *piece == Piece::Open(Container::Row);
        // Captions, and cells that stand in no row, come before the table.
        for piece in pieces.iter().take_while(|piece| !is_row(piece)) {
            if let Piece::Text(look, inlines) = piece {
                self.block(look, inlines);
            }
        }
        let rows = || pieces.split(is_row).skip(1);
        let Some(first) = rows().next() else { return };
        let cells = |row: &[Piece]| {
            row.iter().filter(|p| matches!(p, Piece::Open(Container::Cell(_)))).count()
        };
        let columns = rows().map(cells).max().unwrap_or(0).clamp(1, MAX_COLUMNS);
        let has_head = first.iter().all(|piece| *piece != Piece::Open(Container::Cell(false)));
        self.start();
        if has_head {
            self.row(first);
            self.out.push_str(&" |".repeat(columns.saturating_sub(cells(first))));
        } else {
            self.out.push('|');
            self.out.push_str(&" |".repeat(columns));
        }
        self.next_line();
        self.out.push('|');
        self.out.push_str(&" --- |".repeat(columns));
        for row in rows().skip(usize::from(has_head)) {
            self.next_line();
            self.row(row);
        }
    }

    fn row(&mut self, pieces: &[Piece]) {
        self.out.push('|');
        let mut is_empty = true;
        for piece in pieces {
            match piece {
                Piece::Open(Container::Cell(_)) => {
                    self.out.push(' ');
                    is_empty = true;
                }
                Piece::Text(_, inlines) => {
                    if !is_empty {
                        self.out.push(' ');
                    }
                    self.inlines(inlines, Place::Cell);
                    is_empty = false;
                }
                Piece::Close(Container::Cell(_)) => {
                    self.out.push_str(if is_empty { "|" } else { " |" });
                }
                _ => {}
            }
        }
    }
}

/// Where inlines stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Paragraph,
    OneLine,
    Cell,
}

/// The longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

fn code_span(out: &mut String, code: &str, in_cell: bool) {
    let code = code.trim();
    if code.is_empty() {
        return;
    }
    let fence = "`".repeat(if code.contains('`') { longest_run(code) + 1 } else { 1 });
    let gap = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    out.push_str(&fence);
    out.push_str(gap);
    if in_cell {
        out.push_str(&code.replace('|', "\\|"));
    } else {
        out.push_str(code);
    }
    out.push_str(gap);
    out.push_str(&fence);
}

fn destination(out: &mut String, address: &str, in_cell: bool) {
    for c in address.chars() {
        match c {
            // Parentheses would end it, spaces too.
            '(' => out.push_str("%28"),
            ')' => out.push_str("%29"),
            '|' if in_cell => out.push_str("%7C"),
            '\\' => out.push_str("%5C"),
            c => out.push(c),
        }
    }
}

/// Writes text so that Markdown reads it as text.
fn escape(out: &mut String, text: &str, at_start: bool, in_cell: bool) {
    if at_start {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let rest = &text[digits..];
        let is_number = (1..10).contains(&digits) && rest.starts_with(['.', ')']);
        let is_mark = digits == 0 && text.starts_with(['#', '+', '-', '>', '=', '~', ':']);
        if is_number {
            out.push_str(&text[..digits]);
            out.push('\\');
            escape(out, rest, false, in_cell);
            return;
        }
        if is_mark {
            out.push('\\');
        }
    }
    let bytes = text.as_bytes();
    let mut from = 0;
    for (at, &b) in bytes.iter().enumerate() {
        let next = bytes.get(at + 1).copied().unwrap_or(b' ');
        let is_special = match b {
            b'\\' | b'`' | b'*' | b'[' | b']' => true,
            b'_' => {
                // Within a word it means nothing.
                let before = at.checked_sub(1).map_or(b' ', |before| bytes[before]);
                !(is_word(before) && is_word(next))
            }
            b'<' => next.is_ascii_alphabetic() || matches!(next, b'/' | b'!' | b'?'),
            b'&' => next.is_ascii_alphabetic() || next == b'#',
            b'~' => next == b'~',
            b'|' => in_cell,
            _ => false,
        };
        if is_special {
            out.push_str(&text[from..at]);
            out.push('\\');
            from = at;
        }
    }
    out.push_str(&text[from..]);
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b >= 0x80
}
