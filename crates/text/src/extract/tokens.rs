//! HTML bytes to tags and texts: a tokenizer that borrows everything.
//!
//! Why our own: the extractor and the link reader need start tags with their attributes, end tags
//! and texts, nothing else. Working on a whole page in memory lets every token be a range of it,
//! so nothing is copied and no state survives between calls; `memchr` does the long jumps.
//!
//! It follows the WHATWG tokenizer where the difference can be seen in text or links: quoted
//! attribute values, comments and their odd endings, bogus comments, raw text (`script`, `style`,
//! `iframe`, …) up to its own end tag, `script` holding `<!-- <script>`, an unfinished tag at the
//! end of the file is dropped. Character references are left to the caller.
//!
//! Cost: one pass, no step back over what was read: linear in the page whatever is in it.
//! Not here: which element a tag closes (`tree`).

use memchr::{memchr, memchr2, memmem};

/// A part of the page: byte offsets `start..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Span { start: start as u32, end: end as u32 }
    }

    pub(crate) fn of(self, text: &str) -> &str {
        &text[self.start as usize..self.end as usize]
    }

    pub(crate) fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// One attribute of the current start tag, not unescaped; the name as written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attribute {
    pub name: Span,
    pub value: Span,
}

/// What the tokenizer saw. The attributes of a start tag are in [`Tokenizer::attributes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    /// Text between tags, not unescaped.
    Text(Span),
    /// `<name …>`; `tail` is everything between the name and the closing `>`.
    Start { name: Span, tail: Span, self_closing: bool },
    /// `</name …>`.
    End { name: Span },
}

/// Longest page the `u32` offsets can address; what lies beyond is not read.
pub(crate) const MAX_PAGE_BYTES: usize = u32::MAX as usize - 1;

/// Reads tokens from a page, front to back.
#[derive(Debug)]
pub(crate) struct Tokenizer<'page> {
    page: &'page str,
    bytes: &'page [u8],
    at: usize,
    attributes: Vec<Attribute>,
    foreign: bool,
}

impl<'page> Tokenizer<'page> {
    pub(crate) fn new(page: &'page str) -> Self {
        let page = if page.len() > MAX_PAGE_BYTES {
            let mut end = MAX_PAGE_BYTES;
            while !page.is_char_boundary(end) {
                end -= 1;
            }
            &page[..end]
        } else {
            page
        };
        Tokenizer { page, bytes: page.as_bytes(), at: 0, attributes: Vec::new(), foreign: false }
    }

    pub(crate) fn page(&self) -> &'page str {
        self.page
    }

    /// Whether we are inside `svg` or `math`, where `/>` really closes and so `<style/>` is empty.
    /// Readers call [`leave_foreign`](Self::leave_foreign) at tags that cannot stand there.
    pub(crate) fn in_foreign(&self) -> bool {
        self.foreign
    }

    pub(crate) fn leave_foreign(&mut self) {
        self.foreign = false;
    }

    /// Attributes of the start tag last returned, in order; a repeated name appears repeatedly
    /// and the first one counts.
    pub(crate) fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// The value of the named attribute of the start tag last returned.
    pub(crate) fn attribute(&self, name: &str) -> Option<&'page str> {
        self.attributes
            .iter()
            .find(|a| a.name.of(self.page).eq_ignore_ascii_case(name))
            .map(|a| a.value.of(self.page))
    }

    /// The next token, or `None` at the end of the page.
    pub(crate) fn next(&mut self) -> Option<Token> {
        loop {
            let start = self.at;
            if start >= self.bytes.len() {
                return None;
            }
            if self.bytes[start] != b'<' {
                return Some(self.text(start, start));
            }
            match self.bytes.get(start + 1) {
                Some(b) if b.is_ascii_alphabetic() => {
                    if let Some(token) = self.start_tag(start + 1) {
                        return Some(token);
                    }
                }
                Some(b'/') => match self.bytes.get(start + 2) {
                    Some(b) if b.is_ascii_alphabetic() => {
                        if let Some(token) = self.end_tag(start + 2) {
                            return Some(token);
                        }
                    }
                    Some(b'>') => self.at = start + 3,
                    Some(_) => self.bogus_comment(start + 2),
                    None => return Some(self.text(start, start + 2)),
                },
                Some(b'!') => {
                    if self.bytes[start + 2..].starts_with(b"--") {
                        self.comment(start + 4);
                    } else {
                        self.bogus_comment(start + 2);
                    }
                }
                Some(b'?') => self.bogus_comment(start + 1),
                _ => return Some(self.text(start, start + 1)),
            }
        }
    }

    /// Everything up to (not including) the end tag of the raw text element `name`, which the
    /// following call of [`next`](Self::next) returns. Without such a tag: the rest of the page.
    pub(crate) fn raw_text(&mut self, name: &str) -> Span {
        let start = self.at;
        let end = if name == "script" {
            self.script_end(start)
        } else {
            self.raw_end(start, name.as_bytes())
        };
        self.at = end;
        Span::new(start, end)
    }

    /// The rest of the page, as `plaintext` asks.
    pub(crate) fn rest(&mut self) -> Span {
        let span = Span::new(self.at, self.bytes.len());
        self.at = self.bytes.len();
        span
    }

    fn text(&mut self, start: usize, search_from: usize) -> Token {
        // A lone '<' is text; go on to the next '<' so that runs of it stay one token each.
        let end = memchr(b'<', &self.bytes[search_from..])
            .map_or(self.bytes.len(), |found| search_from + found);
        self.at = end;
        Token::Text(Span::new(start, end))
    }

    fn bogus_comment(&mut self, from: usize) {
        self.at =
            memchr(b'>', &self.bytes[from..]).map_or(self.bytes.len(), |found| from + found + 1);
    }

    /// `from` is just behind `<!--`.
    fn comment(&mut self, from: usize) {
        let rest = &self.bytes[from..];
        if rest.starts_with(b">") {
            self.at = from + 1;
            return;
        }
        if rest.starts_with(b"->") {
            self.at = from + 2;
            return;
        }
        let mut at = from;
        while let Some(found) = memmem::find(&self.bytes[at..], b"--") {
            let mut behind = at + found + 2;
            while self.bytes.get(behind) == Some(&b'-') {
                behind += 1;
            }
            match self.bytes.get(behind) {
                Some(b'>') => {
                    self.at = behind + 1;
                    return;
                }
                Some(b'!') if self.bytes.get(behind + 1) == Some(&b'>') => {
                    self.at = behind + 2;
                    return;
                }
                _ => at = behind,
            }
        }
        self.at = self.bytes.len();
    }

    fn name_end(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(&b) = self.bytes.get(at) {
            if is_space(b) || b == b'/' || b == b'>' {
                break;
            }
            at += 1;
        }
        at
    }

    fn is_foreign_name(&self, start: usize, end: usize) -> bool {
        let name = &self.bytes[start..end];
        name.eq_ignore_ascii_case(b"svg") || name.eq_ignore_ascii_case(b"math")
    }

    fn start_tag(&mut self, name_start: usize) -> Option<Token> {
        let name_end = self.name_end(name_start);
        self.attributes.clear();
        let (close, self_closing) = self.read_attributes(name_end)?;
        self.at = close + 1;
        self.foreign |= self.is_foreign_name(name_start, name_end) && !self_closing;
        Some(Token::Start {
            name: Span::new(name_start, name_end),
            tail: Span::new(name_end, close),
            self_closing,
        })
    }

    fn end_tag(&mut self, name_start: usize) -> Option<Token> {
        let name_end = self.name_end(name_start);
        // Attributes of an end tag are skipped with the same care for quotes.
        self.attributes.clear();
        let (close, _) = self.read_attributes(name_end)?;
        self.at = close + 1;
        self.foreign &= !self.is_foreign_name(name_start, name_end);
        Some(Token::End { name: Span::new(name_start, name_end) })
    }

    /// Reads attributes from `at` up to the `>` of the tag; returns its position and whether a
    /// `/` stood right before it. At the end of the file the tag is dropped: `None`.
    fn read_attributes(&mut self, mut at: usize) -> Option<(usize, bool)> {
        let bytes = self.bytes;
        loop {
            while bytes.get(at).copied().is_some_and(is_space) {
                at += 1;
            }
            match bytes.get(at) {
                None => {
                    self.at = bytes.len();
                    return None;
                }
                Some(b'>') => return Some((at, false)),
                Some(b'/') => {
                    if bytes.get(at + 1) == Some(&b'>') {
                        return Some((at + 1, true));
                    }
                    at += 1;
                    continue;
                }
                Some(_) => {}
            }
            let name_start = at;
            // A leading '=' belongs to the name.
            at += 1;
            while let Some(&b) = bytes.get(at) {
                if b == b'=' || b == b'>' || b == b'/' || is_space(b) {
                    break;
                }
                at += 1;
            }
            let name = Span::new(name_start, at);
            let mut behind = at;
            while bytes.get(behind).copied().is_some_and(is_space) {
                behind += 1;
            }
            if bytes.get(behind) != Some(&b'=') {
                self.attributes.push(Attribute { name, value: Span::new(at, at) });
                at = behind;
                continue;
            }
            at = behind + 1;
            while bytes.get(at).copied().is_some_and(is_space) {
                at += 1;
            }
            let value = match bytes.get(at) {
                None => {
                    self.at = bytes.len();
                    return None;
                }
                Some(&quote @ (b'"' | b'\'')) => {
                    let Some(length) = memchr(quote, &bytes[at + 1..]) else {
                        self.at = bytes.len();
                        return None;
                    };
                    let value = Span::new(at + 1, at + 1 + length);
                    at += length + 2;
                    value
                }
                Some(_) => {
                    let value_start = at;
                    while let Some(&b) = bytes.get(at) {
                        if b == b'>' || is_space(b) {
                            break;
                        }
                        at += 1;
                    }
                    Span::new(value_start, at)
                }
            };
            self.attributes.push(Attribute { name, value });
        }
    }

    /// Where `</name` followed by a space, `/` or `>` stands.
    fn raw_end(&self, from: usize, name: &[u8]) -> usize {
        let mut at = from;
        while let Some(found) = memmem::find(&self.bytes[at..], b"</") {
            let tag = at + found;
            if self.is_tag_name(tag + 2, name) {
                return tag;
            }
            at = tag + 2;
        }
        self.bytes.len()
    }

    /// `script` ends at `</script>`, but not inside `<!-- <script> … </script> -->`.
    fn script_end(&self, from: usize) -> usize {
        let (mut commented, mut nested) = (false, false);
        let mut at = from;
        loop {
            let Some(found) = (if commented {
                memchr2(b'<', b'-', &self.bytes[at..])
            } else {
                memchr(b'<', &self.bytes[at..])
            }) else {
                return self.bytes.len();
            };
            at += found;
            let rest = &self.bytes[at..];
            if rest[0] == b'-' {
                if rest.starts_with(b"-->") {
                    (commented, nested) = (false, false);
                }
                at += 1;
            } else if !commented && rest.starts_with(b"<!--") {
                commented = true;
                // `<!-->` and `<!--->` end at once: look again from the dashes.
                at += 2;
            } else if rest.get(1) == Some(&b'/') && self.is_tag_name(at + 2, b"script") {
                if !nested {
                    return at;
                }
                nested = false;
                at += 8;
            } else if commented && !nested && self.is_tag_name(at + 1, b"script") {
                nested = true;
                at += 7;
            } else {
                at += 1;
            }
        }
    }

    fn is_tag_name(&self, at: usize, name: &[u8]) -> bool {
        self.bytes.get(at..at + name.len()).is_some_and(|b| b.eq_ignore_ascii_case(name))
            && self
                .bytes
                .get(at + name.len())
                .is_some_and(|&b| is_space(b) || b == b'/' || b == b'>')
    }
}

/// White space as HTML's tokenizer means it.
pub(crate) fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}

/// The value of an attribute in a start tag's `tail`, not unescaped.
pub(crate) fn attribute_in<'page>(tail: &'page str, name: &str) -> Option<&'page str> {
    // The tail was cut before its '>': give the reader one to stop at.
    let mut tokenizer = Tokenizer {
        page: tail,
        bytes: tail.as_bytes(),
        at: 0,
        attributes: Vec::new(),
        foreign: false,
    };
    let _unfinished = tokenizer.read_attributes(0);
    tokenizer.attribute(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(page: &str) -> Vec<String> {
        let mut tokenizer = Tokenizer::new(page);
        let mut out = Vec::new();
        while let Some(token) = tokenizer.next() {
            out.push(match token {
                Token::Text(span) => format!("text {}", span.of(page)),
                Token::Start { name, self_closing, .. } => {
                    let attributes: Vec<String> = tokenizer
                        .attributes()
                        .iter()
                        .map(|a| format!(" {}={}", a.name.of(page), a.value.of(page)))
                        .collect();
                    let slash = if self_closing { " /" } else { "" };
                    format!("start {}{}{slash}", name.of(page), attributes.concat())
                }
                Token::End { name } => format!("end {}", name.of(page)),
            });
        }
        out
    }

    #[test]
    fn a_closing_bracket_inside_quotes_does_not_end_the_tag() {
        assert_eq!(
            tokens(r#"<a title="a>b" href='c>d' x=1>t</a>"#),
            ["start a title=a>b href=c>d x=1", "text t", "end a"]
        );
    }

    #[test]
    fn attributes_without_value_or_quotes_are_read() {
        assert_eq!(
            tokens("<input disabled value = yes/><p/>"),
            ["start input disabled= value=yes/", "start p /"]
        );
    }

    #[test]
    fn comments_end_where_the_standard_says() {
        assert_eq!(
            tokens("a<!-- <b> -- > -->b<!-->c<!--->d<!--x--!>e<!doctype html>f<?php x>g"),
            ["text a", "text b", "text c", "text d", "text e", "text f", "text g"]
        );
    }

    #[test]
    fn a_lone_bracket_is_text_and_an_unfinished_tag_is_dropped() {
        assert_eq!(tokens("1 < 2 </ p>x<a href="), ["text 1 ", "text < 2 ", "text x"]);
    }

    #[test]
    fn script_goes_to_its_end_tag_but_not_inside_a_commented_script() {
        let page = "<script>a<b</script >x";
        let mut tokenizer = Tokenizer::new(page);
        tokenizer.next();
        assert_eq!(tokenizer.raw_text("script").of(page), "a<b");
        let page = "<script><!-- <script>1</script> --></script>x";
        let mut tokenizer = Tokenizer::new(page);
        tokenizer.next();
        assert_eq!(tokenizer.raw_text("script").of(page), "<!-- <script>1</script> -->");
    }

    #[test]
    fn attributes_are_found_again_in_a_tail() {
        assert_eq!(attribute_in(r#" Class="a b" href=x"#, "class"), Some("a b"));
        assert_eq!(attribute_in(r#" class="a b" href=x"#, "href"), Some("x"));
        assert_eq!(attribute_in(" a b", "c"), None);
    }
}
