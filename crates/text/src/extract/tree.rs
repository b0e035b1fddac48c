//! A page as one flat array: elements and texts in document order.
//!
//! Why flat: the rules ask "how much text, how much of it in links, is below this element" of every
//! element. In document order a subtree is a range, a parent stands before its children, and all
//! such sums are one backward pass over arrays. Nothing is recursive and nothing is dropped node
//! by node, so depth costs no stack.
//!
//! Why our own builder: it keeps the part of the standard's tree construction that moves text from
//! one block to another (implied end tags of `p`, `li`, `dt`, `dd`, table parts, `option`, scopes,
//! forms closed out of order, leaving `svg`) and leaves out what only moves formatting (the
//! adoption agency, foster parenting). Elements that only change the look of letters are not in
//! the tree. Nesting is followed to [`MAX_DEPTH`]; what is deeper belongs to the element at that
//! depth, so that no end tag looks further than that and deep pages take linear time.
//!
//! Cost: one pass; 40 bytes per element or text. Text with character references is unescaped once,
//! into a side buffer.

use std::borrow::Cow;

use super::marks::{MarkReader, Marks, Said};
use super::model::Model;
use super::tags::{TAG_COUNT, Tag};
use super::tokens::{Span, Token, Tokenizer};
use crate::links::LinkCollector;

/// How deep elements nest before the rest is taken flat. Browsers stop at 512.
const MAX_DEPTH: usize = 512;

/// Index of an element or a text in [`Tree::nodes`].
pub(crate) type NodeIndex = u32;

/// An element or a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    /// The element's tag; `None` for a text.
    pub tag: Option<Tag>,
    /// Whether this text stands in a link.
    pub in_link: bool,
    /// Whether the text's span is in [`Tree::unescaped`] rather than in the page.
    pub unescaped: bool,
    /// What tag attributes say of the element.
    pub marks: Marks,
    /// The model's weights of its tag and class words, added.
    pub score: i16,
    /// Equal for elements of the same tag and class.
    pub signature: u32,
    /// The element around it; the root is its own parent.
    pub parent: NodeIndex,
    /// One behind the last node of its subtree.
    pub end: NodeIndex,
    /// The text, or the part of the start tag behind its name.
    pub span: Span,
    /// Bytes of a text that are not white space: CJK letters weigh three, which is about how much
    /// more they say.
    pub weight: u32,
}

/// A parsed page. Node 0 is the root (the body).
#[derive(Debug)]
pub(crate) struct Tree<'page> {
    pub page: &'page str,
    pub nodes: Vec<Node>,
    pub unescaped: String,
    /// The `title` element's text, unescaped.
    pub title: Option<String>,
    /// `meta`, `link` and `time` start tags, for the metadata.
    pub metas: Vec<(Tag, Span)>,
    /// The `html` start tag's attributes.
    pub html_tail: Option<Span>,
    /// The `body` start tag's attributes.
    pub body_tail: Option<Span>,
    /// Contents of `script type=application/ld+json`.
    pub json_ld: Vec<Span>,
    pub links: LinkCollector<'page>,
}

impl<'page> Tree<'page> {
    /// The text of a text node.
    pub(crate) fn text(&self, node: &Node) -> &str {
        if node.unescaped { node.span.of(&self.unescaped) } else { node.span.of(self.page) }
    }
}

#[derive(Debug, Clone, Copy)]
struct Open {
    node: NodeIndex,
    tag: Tag,
    /// Tells unknown tags apart.
    name_hash: u32,
    /// Inside `svg` or `math`, where other rules hold.
    foreign: bool,
    /// Its end tag came while children were open (`form`): it goes as soon as it is on top.
    closed: bool,
}

struct Builder<'page, 'model> {
    tree: Tree<'page>,
    tokenizer: Tokenizer<'page>,
    stack: Vec<Open>,
    open_count: [u32; TAG_COUNT],
    /// Elements that were opened below [`MAX_DEPTH`].
    too_deep: usize,
    marks: MarkReader<'model>,
}

/// Parses a page; the model has the weights of class words.
pub(crate) fn build<'page>(page: &'page str, model: &Model) -> Tree<'page> {
    let tokenizer = Tokenizer::new(page);
    let page = tokenizer.page();
    let root = Node {
        tag: Some(Tag::Body),
        in_link: false,
        unescaped: false,
        marks: Marks::NONE,
        score: 0,
        signature: 0,
        parent: 0,
        end: 0,
        span: Span::default(),
        weight: 0,
    };
    let mut nodes = Vec::with_capacity(page.len() / 64 + 16);
    nodes.push(root);
    let mut builder = Builder {
        tree: Tree {
            page,
            nodes,
            unescaped: String::new(),
            title: None,
            metas: Vec::new(),
            html_tail: None,
            body_tail: None,
            json_ld: Vec::new(),
            links: LinkCollector::new(page),
        },
        tokenizer,
        stack: Vec::with_capacity(64),
        open_count: [0; TAG_COUNT],
        too_deep: 0,
        marks: MarkReader::new(model),
    };
    builder.stack.push(Open {
        node: 0,
        tag: Tag::Body,
        name_hash: 0,
        foreign: false,
        closed: false,
    });
    while let Some(token) = builder.tokenizer.next() {
        match token {
            Token::Text(span) => builder.text(span),
            Token::Start { name, tail, self_closing } => builder.start(name, tail, self_closing),
            Token::End { name } => builder.end(name),
        }
    }
    let end = builder.tree.nodes.len() as u32;
    for open in &builder.stack {
        builder.tree.nodes[open.node as usize].end = end;
    }
    builder.tree
}

impl Builder<'_, '_> {
    fn top(&self) -> &Open {
        self.stack.last().expect("the root is never popped")
    }

    fn text(&mut self, span: Span) {
        let text = span.of(self.tree.page);
        let in_link = self.tree.links.text(text);
        let parent = self.top().node;
        let (span, unescaped, weight) = if memchr::memchr(b'&', text.as_bytes()).is_some() {
            match htmlize::unescape(text) {
                Cow::Owned(owned) => {
                    let start = self.tree.unescaped.len();
                    self.tree.unescaped.push_str(&owned);
                    let span = Span::new(start, self.tree.unescaped.len());
                    (span, true, weigh(&owned))
                }
                Cow::Borrowed(_) => (span, false, weigh(text)),
            }
        } else {
            (span, false, weigh(text))
        };
        let end = self.tree.nodes.len() as u32 + 1;
        self.tree.nodes.push(Node {
            tag: None,
            in_link,
            unescaped,
            marks: Marks::NONE,
            score: 0,
            signature: 0,
            parent,
            end,
            span,
            weight,
        });
    }

    fn start(&mut self, name: Span, tail: Span, self_closing: bool) {
        let page = self.tree.page;
        let tag = Tag::of(name.of(page));
        if tag.is_block() || tag == Tag::Br {
            self.tree.links.separate();
        }
        if tag.breaks_out() {
            self.tokenizer.leave_foreign();
            while self.top().foreign {
                self.pop();
            }
        }
        match tag {
            Tag::Html => {
                self.tree.html_tail.get_or_insert(tail);
                return;
            }
            Tag::Body => {
                self.tree.body_tail.get_or_insert(tail);
                return;
            }
            Tag::Meta | Tag::Link => {
                self.tree.metas.push((tag, tail));
                return;
            }
            Tag::Time => self.tree.metas.push((tag, tail)),
            Tag::A | Tag::Area | Tag::Base | Tag::Img => {
                self.tree.links.start(tag, &self.tokenizer);
            }
            _ => {}
        }
        if tag.is_look() || (self_closing && self.tokenizer.in_foreign()) {
            return;
        }
        if is_table_part(tag) && tag != Tag::Table && self.open_count[Tag::Table as usize] == 0 {
            self.break_line();
            return;
        }
        self.close_implied(tag);
        if tag.is_void() {
            if matches!(tag, Tag::Br | Tag::Hr | Tag::Img) {
                self.push_node(tag, tail);
                let last = self.tree.nodes.len() - 1;
                self.tree.nodes[last].end = last as u32 + 1;
            }
            return;
        }
        if tag.is_raw() {
            self.raw(tag, name, tail);
            return;
        }
        if tag == Tag::Plaintext {
            let rest = self.tokenizer.rest();
            self.text(rest);
            return;
        }
        if self.stack.len() >= MAX_DEPTH {
            self.too_deep += 1;
            return;
        }
        let foreign = match tag {
            Tag::Svg | Tag::Math => true,
            Tag::ForeignObject => false,
            _ => self.top().foreign,
        };
        let node = self.push_node(tag, tail);
        let name_hash = if tag == Tag::Other { hash_name(name.of(page)) } else { 0 };
        self.stack.push(Open { node, tag, name_hash, foreign, closed: false });
        self.open_count[tag as usize] += 1;
    }

    fn push_node(&mut self, tag: Tag, tail: Span) -> NodeIndex {
        let node = self.tree.nodes.len() as u32;
        let Said { marks, score, signature } = self.marks.read(tag, &self.tokenizer);
        let parent = self.top().node;
        self.tree.nodes.push(Node {
            tag: Some(tag),
            in_link: self.tree.links.is_open(),
            unescaped: false,
            marks,
            score,
            signature,
            parent,
            end: 0,
            span: tail,
            weight: 0,
        });
        node
    }

    fn raw(&mut self, tag: Tag, name: Span, tail: Span) {
        let page = self.tree.page;
        let content = self.tokenizer.raw_text(&name.of(page).to_ascii_lowercase());
        match tag {
            Tag::Title if self.tree.title.is_none() && !self.top().foreign => {
                self.tree.title = Some(htmlize::unescape(content.of(page)).into_owned());
            }
            Tag::Script => {
                let kind = super::tokens::attribute_in(tail.of(page), "type");
                if kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/ld+json"))
                {
                    self.tree.json_ld.push(content);
                }
            }
            Tag::Xmp => self.text(content),
            _ => {}
        }
        // Its own end tag, if there is one; the end of the page otherwise.
        let _own_end = self.tokenizer.next();
    }

    /// Ends the elements that this start tag ends without saying so.
    fn close_implied(&mut self, tag: Tag) {
        match tag {
            Tag::Li => self.close_item(&[Tag::Li]),
            Tag::Dd | Tag::Dt => self.close_item(&[Tag::Dd, Tag::Dt]),
            Tag::Option => self.close_top(&[Tag::Option]),
            Tag::Optgroup => {
                self.close_top(&[Tag::Option]);
                self.close_top(&[Tag::Optgroup]);
            }
            Tag::Tr => self.close_in_table(&[Tag::Tr, Tag::Caption, Tag::Colgroup]),
            Tag::Td | Tag::Th => self.close_in_table(&[Tag::Td, Tag::Th]),
            Tag::Tbody | Tag::Thead | Tag::Tfoot => {
                self.close_in_table(&[
                    Tag::Tbody,
                    Tag::Thead,
                    Tag::Tfoot,
                    Tag::Caption,
                    Tag::Colgroup,
                ]);
            }
            Tag::Button if self.in_scope(Tag::Button) => self.pop_to(Tag::Button),
            Tag::Rt | Tag::Rp | Tag::Rb | Tag::Rtc => {
                self.close_top(&[Tag::Rt, Tag::Rp, Tag::Rb]);
            }
            Tag::A => self.close_top(&[Tag::A]),
            _ => {}
        }
        if tag.is_heading() {
            while self.top().tag.is_heading() {
                self.pop();
            }
        }
        let ends_paragraph = tag.ends_paragraph() || matches!(tag, Tag::Li | Tag::Dd | Tag::Dt);
        if ends_paragraph && self.in_scope(Tag::P) {
            self.pop_to(Tag::P);
        }
    }

    fn close_top(&mut self, tags: &[Tag]) {
        if tags.contains(&self.top().tag) {
            self.pop();
        }
    }

    /// An open list item ends unless another list, or any other special element but `address`,
    /// `div` and `p`, was opened in it.
    fn close_item(&mut self, tags: &[Tag]) {
        if tags.iter().all(|&tag| self.open_count[tag as usize] == 0) {
            return;
        }
        let found = self.stack.iter().rposition(|open| {
            tags.contains(&open.tag)
                || (open.tag.is_special() && !matches!(open.tag, Tag::Address | Tag::Div | Tag::P))
        });
        if let Some(at) = found
            && tags.contains(&self.stack[at].tag)
        {
            self.truncate(at);
        }
    }

    /// Ends the outermost of these within the innermost table.
    fn close_in_table(&mut self, tags: &[Tag]) {
        if self.open_count[Tag::Table as usize] == 0 {
            return;
        }
        let mut found = None;
        for (at, open) in self.stack.iter().enumerate().rev() {
            if tags.contains(&open.tag) {
                found = Some(at);
            } else if matches!(open.tag, Tag::Table | Tag::Template | Tag::Noscript) {
                break;
            }
        }
        if let Some(at) = found {
            self.truncate(at);
        }
    }

    fn in_scope(&self, tag: Tag) -> bool {
        self.open_count[tag as usize] > 0
            && self
                .stack
                .iter()
                .rev()
                .find(|open| {
                    open.tag == tag
                        || open.tag.is_scope()
                        || (tag == Tag::P && open.tag == Tag::Button)
                })
                .is_some_and(|open| open.tag == tag)
    }

    fn end(&mut self, name: Span) {
        let name = name.of(self.tree.page);
        let tag = Tag::of(name);
        match tag {
            Tag::A => self.tree.links.end(),
            Tag::Br => {
                self.break_line();
                return;
            }
            Tag::Body | Tag::Html => return,
            tag if tag.is_block() => self.tree.links.separate(),
            _ => {}
        }
        if tag.is_look() || tag.is_void() {
            return;
        }
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        if self.open_count[tag as usize] == 0 {
            // An end tag that ends nothing still shows where a block was thought to end.
            if tag.is_block() {
                self.break_line();
            }
            return;
        }
        if tag.is_heading() {
            let found = self.stack.iter().rposition(|open| open.tag.is_heading());
            if let Some(at) = found
                && !self.stack[at..].iter().any(|open| open.tag.is_scope())
            {
                self.truncate(at);
            }
            return;
        }
        if tag == Tag::Form {
            // A form ends where it says, but does not end what was opened in it.
            let found = self.stack.iter().rposition(|open| open.tag == tag);
            if let Some(at) = found {
                self.stack[at].closed = true;
                self.pop_closed();
            }
            return;
        }
        let name_hash = if tag == Tag::Other { hash_name(name) } else { 0 };
        let is_inline = !tag.is_special() && !tag.is_scope();
        for (at, open) in self.stack.iter().enumerate().rev() {
            if open.tag == tag && open.name_hash == name_hash {
                self.truncate(at);
                return;
            }
            let stops = if is_table_part(tag) {
                matches!(open.tag, Tag::Table | Tag::Template | Tag::Noscript)
            } else if tag == Tag::Li {
                open.tag.is_scope() || matches!(open.tag, Tag::Ul | Tag::Ol)
            } else if tag == Tag::P {
                open.tag.is_scope() || open.tag == Tag::Button
            } else if is_inline {
                open.tag.is_special()
            } else {
                open.tag.is_scope()
            };
            if stops {
                break;
            }
        }
        if tag.is_block() {
            self.break_line();
        } else if is_inline {
            // Closed across a block: let it go with the block.
            let found =
                self.stack.iter().rposition(|open| open.tag == tag && open.name_hash == name_hash);
            if let Some(at) = found
                && !self.stack[at..].iter().any(|open| open.tag.is_scope())
            {
                self.stack[at].closed = true;
            }
        }
    }

    fn break_line(&mut self) {
        let node = self.tree.nodes.len() as u32;
        self.tree.nodes.push(Node {
            tag: Some(Tag::Br),
            in_link: false,
            unescaped: false,
            marks: Marks::NONE,
            score: 0,
            signature: 0,
            parent: self.top().node,
            end: node + 1,
            span: Span::default(),
            weight: 0,
        });
    }

    fn pop_to(&mut self, tag: Tag) {
        if let Some(at) = self.stack.iter().rposition(|open| open.tag == tag) {
            self.truncate(at);
        }
    }

    /// Ends everything from stack position `at` on.
    fn truncate(&mut self, at: usize) {
        self.too_deep = 0;
        while self.stack.len() > at.max(1) {
            self.pop();
        }
        self.pop_closed();
    }

    fn pop_closed(&mut self) {
        while self.top().closed {
            self.pop();
        }
    }

    fn pop(&mut self) {
        if self.stack.len() > 1
            && let Some(open) = self.stack.pop()
        {
            self.open_count[open.tag as usize] -= 1;
            self.tree.nodes[open.node as usize].end = self.tree.nodes.len() as u32;
        }
    }
}

fn is_table_part(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Table
            | Tag::Tr
            | Tag::Td
            | Tag::Th
            | Tag::Tbody
            | Tag::Thead
            | Tag::Tfoot
            | Tag::Caption
            | Tag::Colgroup
    )
}

/// Bytes that are neither white space nor no-break spaces.
fn weigh(text: &str) -> u32 {
    let bytes = text.as_bytes();
    let visible = bytes.iter().filter(|&&b| b > b' ').count();
    let blanks = memchr::memmem::find_iter(bytes, "\u{a0}").count()
        + memchr::memmem::find_iter(bytes, "\u{200b}").count();
    visible.saturating_sub(2 * blanks) as u32
}

fn hash_name(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, b| {
        (hash ^ u32::from(b.to_ascii_lowercase())).wrapping_mul(0x0100_0193)
    })
}
