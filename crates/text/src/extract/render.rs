//! Kept nodes to lines of text.
//!
//! A block starts and ends a line, `br` ends one, table cells of a row are separated by tabs,
//! white space is folded, `pre` keeps its lines. Paragraph-like blocks are separated by an empty
//! line only where the page has nothing else to tell them apart: one newline each.

use super::tags::Tag;
use super::tree::Tree;

struct Writer {
    out: String,
    /// White space or a line end that is due before the next word.
    due: Option<char>,
}

impl Writer {
    fn line(&mut self) {
        if !self.out.is_empty() {
            self.due = Some('\n');
        }
    }

    fn cell(&mut self) {
        if !self.out.is_empty() && self.due != Some('\n') {
            self.due = Some('\t');
        }
    }

    fn space(&mut self) {
        if !self.out.is_empty() && self.due.is_none() {
            self.due = Some(' ');
        }
    }

    fn folded(&mut self, text: &str) {
        let mut rest = text;
        loop {
            let trimmed = rest.trim_start();
            if trimmed.len() != rest.len() {
                self.space();
            }
            if trimmed.is_empty() {
                return;
            }
            let end = trimmed.find(char::is_whitespace).unwrap_or(trimmed.len());
            if let Some(due) = self.due.take() {
                self.out.push(due);
            }
            self.out.push_str(&trimmed[..end]);
            rest = &trimmed[end..];
        }
    }

    fn kept(&mut self, text: &str) {
        for (number, line) in text.split('\n').enumerate() {
            let line = line.trim_end();
            if number > 0 {
                if self.due == Some('\n') && !self.out.is_empty() {
                    self.out.push('\n');
                }
                self.line();
            }
            if !line.is_empty() {
                if let Some(due) = self.due.take() {
                    self.out.push(due);
                }
                self.out.push_str(line);
            }
        }
    }
}

/// The text of `root`'s subtree without what is dropped.
pub(crate) fn render(tree: &Tree<'_>, root: usize, dropped: &[bool]) -> String {
    let nodes = &tree.nodes;
    let mut writer = Writer { out: String::new(), due: None };
    // Ends of the blocks that are open, innermost last.
    let mut ends: Vec<(u32, Tag)> = Vec::new();
    let mut preformatted = 0usize;
    let end = nodes[root].end as usize;
    let mut at = root;
    while at < end {
        while let Some(&(block_end, tag)) = ends.last()
            && block_end as usize <= at
        {
            ends.pop();
            if tag == Tag::Pre {
                preformatted -= 1;
            }
            leave(&mut writer, tag);
        }
        let node = &nodes[at];
        if dropped[at] {
            if node.tag.is_some_and(Tag::is_block) {
                writer.line();
            }
            at = node.end as usize;
            continue;
        }
        match node.tag {
            None => {
                let text = tree.text(node);
                if preformatted > 0 { writer.kept(text) } else { writer.folded(text) }
            }
            Some(Tag::Br) => writer.line(),
            Some(tag @ (Tag::Td | Tag::Th)) => {
                writer.cell();
                ends.push((node.end, tag));
            }
            Some(tag) if tag.is_block() => {
                writer.line();
                if tag == Tag::Pre {
                    preformatted += 1;
                }
                ends.push((node.end, tag));
            }
            Some(_) => {}
        }
        at += 1;
    }
    writer.out
}

fn leave(writer: &mut Writer, tag: Tag) {
    if matches!(tag, Tag::Td | Tag::Th) { writer.cell() } else { writer.line() }
}
