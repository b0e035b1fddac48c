//! The kept part of a page as paragraphs, headings, lists, tables, quotes and code: what Markdown
//! and cleaned HTML are both written from.
//!
//! A page becomes one flat list of [`Piece`]s. Lists, tables and quotes open and close around
//! texts; those that hold no text are never opened. The rest of the page's elements only separates
//! texts. A table that lays out a page (with headings, lists or further tables inside, or with a
//! single column) is not a table.
//!
//! Bounds: containers nest [`MAX_NESTING`] deep, what is deeper is flat; links take at most
//! [`LINK_BYTES_PER_PAGE_BYTE`] times the page's size, later ones are text. So what is written grows
//! linearly with the page, whatever the page.
//!
//! Cost: one pass over the nodes, two over tables.

use url::Url;

use super::tags::Tag;
use super::tokens::attribute_in;
use super::tree::Tree;
use crate::links::resolve;

/// How deep lists, tables and quotes nest.
const MAX_NESTING: usize = 12;
/// Bytes of link addresses that a page may have for each of its own.
const LINK_BYTES_PER_PAGE_BYTE: usize = 4;

/// What stands around texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Container {
    Quote,
    /// A list, numbered from somewhere or not.
    List(Option<u32>),
    Item,
    Table,
    Row,
    /// A cell; of the head or not.
    Cell(bool),
}

/// How a text looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Look {
    Paragraph,
    /// A heading of level 1 to 6.
    Heading(u8),
    /// Code, in a language if the page says so. Its only inline is [`Inline::Text`].
    Code(Option<String>),
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Inline {
    Text(String),
    Code(String),
    /// What follows, up to the next [`Inline::LinkEnd`], is a link.
    Link(String),
    LinkEnd,
    Break,
}

/// An element of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    Open(Container),
    Close(Container),
    Text(Look, Vec<Inline>),
}

/// The kept part of a page.
pub(crate) fn structure(tree: &Tree<'_>, dropped: &[bool], url: Option<&str>) -> Vec<Piece> {
    let mut writer = Writer {
        tree,
        pieces: Vec::new(),
        containers: Vec::new(),
        inlines: Vec::new(),
        space: false,
        has_text: false,
        look: Look::Paragraph,
        code: None,
        base: tree.links.base_url(url),
        link: None,
        link_bytes: tree.page.len() * LINK_BYTES_PER_PAGE_BYTE + (1 << 16),
    };
    writer.walk(dropped);
    without_empty_rows(writer.pieces)
}

/// Drops rows without text and tables without rows: what was in them was not kept. Empty cells of other
/// rows keep the columns apart.
fn without_empty_rows(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut kept: Vec<Piece> = Vec::with_capacity(pieces.len());
    // Rows and tables that are open: where they begin, and whether there is text in them.
    let mut open: Vec<(usize, bool)> = Vec::new();
    for piece in pieces {
        let is_row = |container| matches!(container, Container::Row | Container::Table);
        match &piece {
            Piece::Open(container) if is_row(*container) => open.push((kept.len(), false)),
            Piece::Close(container) if is_row(*container) => {
                let (start, has_text) = open.pop().unwrap_or((kept.len(), true));
                if !has_text {
                    kept.truncate(start);
                    continue;
                }
                if let Some((_, around_has_text)) = open.last_mut() {
                    *around_has_text = true;
                }
            }
            Piece::Text(..) => {
                if let Some((_, has_text)) = open.last_mut() {
                    *has_text = true;
                }
            }
            _ => {}
        }
        kept.push(piece);
    }
    kept
}

/// Paragraphs of a text that is no page.
pub(crate) fn paragraphs(text: &str) -> Vec<Piece> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| Piece::Text(Look::Paragraph, vec![Inline::Text(line.to_owned())]))
        .collect()
}

struct Writer<'tree, 'page> {
    tree: &'tree Tree<'page>,
    pieces: Vec<Piece>,
    /// Open containers, and whether they are in `pieces` yet.
    containers: Vec<(Container, bool)>,
    inlines: Vec<Inline>,
    /// White space is due before the next word.
    space: bool,
    /// Whether `inlines` has more than marks.
    has_text: bool,
    look: Look,
    /// The text of the open `pre`.
    code: Option<String>,
    base: Option<Url>,
    /// The address of the link that is open, and whether it was written.
    link: Option<(String, bool)>,
    link_bytes: usize,
}

/// What ends where an element ends.
enum Ending {
    Line,
    Heading,
    Pre,
    Container,
    Link,
    InlineCode(usize),
}

impl Writer<'_, '_> {
    fn walk(&mut self, dropped: &[bool]) {
        let tree = self.tree;
        let nodes = &tree.nodes;
        let mut endings: Vec<(u32, Ending)> = Vec::new();
        let mut table_cells_to = 0;
        let mut at = 0;
        loop {
            while let Some(&(end, _)) = endings.last()
                && end as usize <= at
                && let Some((_, ending)) = endings.pop()
            {
                self.leave(&ending);
            }
            if at >= nodes.len() {
                break;
            }
            let node = &nodes[at];
            if dropped[at] {
                if node.tag.is_some_and(Tag::is_block) {
                    self.line();
                }
                at = node.end as usize;
                continue;
            }
            match node.tag {
                None => self.text(tree.text(node)),
                Some(tag) => {
                    if tag == Tag::Table && at >= table_cells_to && is_data_table(tree, dropped, at)
                    {
                        table_cells_to = node.end as usize;
                        self.open(Container::Table, node.end, &mut endings);
                    } else {
                        self.element(tag, at, at < table_cells_to, &mut endings);
                    }
                }
            }
            at += 1;
        }
        self.line();
    }

    fn element(&mut self, tag: Tag, at: usize, in_table: bool, endings: &mut Vec<(u32, Ending)>) {
        let node = &self.tree.nodes[at];
        let attribute = |name| attribute_in(node.span.of(self.tree.page), name);
        match tag {
            Tag::Br if self.code.is_some() => self.text("\n"),
            Tag::Br => self.line_break(),
            Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => {
                self.line();
                self.look = Look::Heading(tag as u8 - Tag::H1 as u8 + 1);
                endings.push((node.end, Ending::Heading));
            }
            Tag::Pre | Tag::Listing | Tag::Xmp if self.code.is_none() && !in_table => {
                self.line();
                let class = attribute("class").unwrap_or("");
                self.look = Look::Code(language(class));
                self.code = Some(String::new());
                endings.push((node.end, Ending::Pre));
            }
            Tag::Code => {
                if self.code.is_some() {
                    if let Look::Code(known @ None) = &mut self.look {
                        *known = language(attribute("class").unwrap_or(""));
                    }
                } else {
                    if std::mem::take(&mut self.space) && self.has_text {
                        self.push(" ");
                    }
                    endings.push((node.end, Ending::InlineCode(self.inlines.len())));
                    // What follows is not appended to the text before.
                    self.inlines.push(Inline::Text(String::new()));
                }
            }
            Tag::A => {
                let address = attribute("href").and_then(|href| self.address(href));
                if let Some(address) = address
                    && self.link.is_none()
                    && address.len() <= self.link_bytes
                {
                    self.link_bytes -= address.len();
                    self.link = Some((address, false));
                    endings.push((node.end, Ending::Link));
                }
            }
            Tag::Blockquote => self.open(Container::Quote, node.end, endings),
            Tag::Ul | Tag::Menu | Tag::Dir => self.open(Container::List(None), node.end, endings),
            Tag::Ol => {
                let start = attribute("start").and_then(|start| start.trim().parse().ok());
                self.open(Container::List(Some(start.unwrap_or(1))), node.end, endings);
            }
            Tag::Li => self.open(Container::Item, node.end, endings),
            Tag::Tr if in_table => self.open(Container::Row, node.end, endings),
            Tag::Td | Tag::Th if in_table => {
                self.open(Container::Cell(tag == Tag::Th), node.end, endings);
            }
            tag if tag.is_block() => {
                self.line();
                endings.push((node.end, Ending::Line));
            }
            _ => {}
        }
    }

    fn leave(&mut self, ending: &Ending) {
        match *ending {
            Ending::Line => self.line(),
            Ending::Heading => {
                self.line();
                self.look = Look::Paragraph;
            }
            Ending::Pre => {
                self.line();
                self.look = Look::Paragraph;
                self.code = None;
            }
            Ending::Container => {
                self.line();
                if let Some((container, true)) = self.containers.pop() {
                    self.pieces.push(Piece::Close(container));
                }
            }
            Ending::Link => {
                self.close_link();
                self.link = None;
            }
            Ending::InlineCode(from) => self.inline_code(from),
        }
    }

    /// Opens a container, if it may stand where it is.
    fn open(&mut self, container: Container, end: u32, endings: &mut Vec<(u32, Ending)>) {
        self.line();
        let around = self.containers.last().map(|open| open.0);
        // An item without its list gets none; a list in a list stands in an item.
        let fits = match container {
            Container::Item => matches!(around, Some(Container::List(_))),
            Container::Row => around == Some(Container::Table),
            Container::Cell(_) => around == Some(Container::Row),
            _ => !matches!(around, Some(Container::Row | Container::Table | Container::Cell(_))),
        };
        if !fits || self.containers.len() >= MAX_NESTING || self.code.is_some() {
            endings.push((end, Ending::Line));
            return;
        }
        // A cell counts even when it is empty: others stand beside it.
        let is_cell = matches!(container, Container::Cell(_));
        self.containers.push((container, false));
        if is_cell {
            self.open_due();
        }
        endings.push((end, Ending::Container));
    }

    fn open_due(&mut self) {
        for (container, is_open) in &mut self.containers {
            if !*is_open {
                *is_open = true;
                self.pieces.push(Piece::Open(*container));
            }
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(code) = &mut self.code {
            code.push_str(text);
            return;
        }
        let mut rest = text;
        loop {
            let trimmed = rest.trim_start();
            self.space |= trimmed.len() != rest.len();
            if trimmed.is_empty() {
                return;
            }
            let end = trimmed.find(char::is_whitespace).unwrap_or(trimmed.len());
            self.word(&trimmed[..end]);
            rest = &trimmed[end..];
        }
    }

    fn word(&mut self, word: &str) {
        if std::mem::take(&mut self.space) && self.has_text {
            self.push(" ");
        }
        if let Some((address, is_written @ false)) = &mut self.link {
            *is_written = true;
            self.inlines.push(Inline::Link(address.clone()));
        }
        self.has_text = true;
        self.push(word);
    }

    fn push(&mut self, text: &str) {
        if let Some(Inline::Text(last)) = self.inlines.last_mut() {
            last.push_str(text);
        } else {
            self.inlines.push(Inline::Text(text.to_owned()));
        }
    }

    fn line_break(&mut self) {
        if self.has_text && self.inlines.last() != Some(&Inline::Break) {
            self.inlines.push(Inline::Break);
        }
        self.space = false;
    }

    /// Ends the text that is open.
    fn line(&mut self) {
        self.space = false;
        if let Some(code) = self.code.as_mut().map(std::mem::take) {
            let code = code.trim_matches(['\n', '\r']).trim_end();
            if !code.is_empty() {
                self.inlines.push(Inline::Text(code.to_owned()));
                self.has_text = true;
            }
        }
        // A link over several texts is a link in the first of them.
        self.close_link();
        while self.inlines.last() == Some(&Inline::Break) {
            self.inlines.pop();
        }
        let inlines = std::mem::take(&mut self.inlines);
        if std::mem::take(&mut self.has_text) {
            self.open_due();
            self.pieces.push(Piece::Text(self.look.clone(), inlines));
        }
    }

    fn close_link(&mut self) {
        let open = self.inlines.iter().rev().find_map(|inline| match inline {
            Inline::Link(_) => Some(true),
            Inline::LinkEnd => Some(false),
            _ => None,
        });
        if open == Some(true) {
            self.inlines.push(Inline::LinkEnd);
        }
    }

    /// Makes what was written since inline code.
    fn inline_code(&mut self, from: usize) {
        let Some(written) = self.inlines.get_mut(from..) else { return };
        for inline in written {
            if let Inline::Text(text) = inline {
                *inline = Inline::Code(std::mem::take(text));
            }
        }
    }

    /// An `href` as it is written: absolute where the page's address is known.
    fn address(&self, href: &str) -> Option<String> {
        if let Some(address) = resolve(href, self.base.as_ref()) {
            return Some(address);
        }
        let href = htmlize::unescape_attribute(href);
        let href = href.trim_matches(|c: char| c <= ' ');
        let is_relative = self.base.is_none()
            && !href.is_empty()
            && href.len() <= 1 << 11
            && !href.starts_with(['#', '\\'])
            && !href.chars().any(|c| c.is_control() || c == ' ' || c == '<' || c == '>')
            && !href.split(['/', '?', '#']).next().is_some_and(|start| start.contains(':'));
        is_relative.then(|| href.to_owned())
    }
}

/// The language that a class names: `language-rust`, `lang-rust`, `highlight-source-rust`.
fn language(class: &str) -> Option<String> {
    class.split_ascii_whitespace().find_map(|name| {
        let name = ["language-", "lang-", "highlight-source-"]
            .iter()
            .find_map(|prefix| name.strip_prefix(prefix))?;
        let is_sane = !name.is_empty()
            && name.len() <= 20
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'#' | b'-'));
        is_sane.then(|| name.to_owned())
    })
}

/// Whether a table shows data: two columns somewhere, and nothing in it but cells.
fn is_data_table(tree: &Tree<'_>, dropped: &[bool], table: usize) -> bool {
    let mut at = table + 1;
    let (mut columns, mut widest) = (0, 0);
    while at < tree.nodes[table].end as usize {
        let node = &tree.nodes[at];
        if dropped[at] {
            at = node.end as usize;
            continue;
        }
        match node.tag {
            Some(Tag::Tr) => columns = 0,
            Some(Tag::Td | Tag::Th) => {
                columns += 1;
                widest = widest.max(columns);
            }
            Some(Tag::Table | Tag::Pre | Tag::Blockquote | Tag::Ul | Tag::Ol | Tag::Form) => {
                return false;
            }
            Some(tag) if tag.is_heading() => return false,
            _ => {}
        }
        at += 1;
    }
    widest >= 2
}
