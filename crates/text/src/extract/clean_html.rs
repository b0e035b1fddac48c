//! The kept part of a page as HTML without anything but its structure: headings, paragraphs,
//! lists, tables, quotes, code and links; no attribute but `href`, `start` and a code's language.
//!
//! Everything that was text is escaped, and links have no other scheme than `http`, `https` or
//! none: what comes out can stand in another page.
//!
//! Cost: linear in the pieces.

use super::structure::{Container, Inline, Look, Piece};

/// The pieces as HTML, a line each block, without a line end at its end.
pub(crate) fn clean_html(pieces: &[Piece]) -> String {
    let mut out = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        // The only text of an item or a cell stands in it without a paragraph around.
        let before = at.checked_sub(1).map(|before| &pieces[before]);
        let is_bare = matches!(piece, Piece::Text(Look::Paragraph, _))
            && matches!(before, Some(Piece::Open(Container::Item | Container::Cell(_))));
        let is_inside = is_bare
            || matches!(piece, Piece::Close(_))
                && matches!(before, Some(Piece::Text(..) | Piece::Open(_)))
            || matches!(piece, Piece::Open(Container::Cell(_)));
        if !out.is_empty() && !is_inside {
            out.push('\n');
        }
        match piece {
            Piece::Open(container) => open(&mut out, *container),
            Piece::Close(container) => close(&mut out, *container),
            Piece::Text(Look::Code(language), inlines) => {
                code(&mut out, language.as_deref(), inlines);
            }
            Piece::Text(look, texts) => {
                let name = match look {
                    Look::Heading(level) => {
                        ["h1", "h2", "h3", "h4", "h5", "h6"][usize::from(*level).clamp(1, 6) - 1]
                    }
                    _ => "p",
                };
                if !is_bare {
                    out.push_str(&format!("<{name}>"));
                }
                inlines(&mut out, texts);
                if !is_bare {
                    out.push_str(&format!("</{name}>"));
                }
            }
        }
    }
    out
}

fn name(container: Container) -> &'static str {
    match container {
        Container::Quote => "blockquote",
        Container::List(None) => "ul",
        Container::List(Some(_)) => "ol",
        Container::Item => "li",
        Container::Table => "table",
        Container::Row => "tr",
        Container::Cell(true) => "th",
        Container::Cell(false) => "td",
    }
}

fn open(out: &mut String, container: Container) {
    match container {
        Container::List(Some(start)) if start != 1 => {
            out.push_str(&format!("<ol start=\"{start}\">"));
        }
        _ => out.push_str(&format!("<{}>", name(container))),
    }
}

fn close(out: &mut String, container: Container) {
    out.push_str(&format!("</{}>", name(container)));
}

fn code(out: &mut String, language: Option<&str>, inlines: &[Inline]) {
    out.push_str("<pre><code");
    if let Some(language) = language {
        out.push_str(" class=\"language-");
        escape(out, language);
        out.push('"');
    }
    out.push('>');
    for inline in inlines {
        if let Inline::Text(text) = inline {
            escape(out, text);
        }
    }
    out.push_str("</code></pre>");
}

fn inlines(out: &mut String, inlines: &[Inline]) {
    let mut is_link = false;
    for inline in inlines {
        match inline {
            Inline::Text(text) => escape(out, text),
            Inline::Code(code) if code.is_empty() => {}
            Inline::Code(code) => {
                out.push_str("<code>");
                escape(out, code);
                out.push_str("</code>");
            }
            Inline::Link(address) => {
                out.push_str("<a href=\"");
                escape(out, address);
                out.push_str("\">");
                is_link = true;
            }
            Inline::LinkEnd => {
                if std::mem::take(&mut is_link) {
                    out.push_str("</a>");
                }
            }
            Inline::Break => out.push_str("<br>"),
        }
    }
}

fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
}
