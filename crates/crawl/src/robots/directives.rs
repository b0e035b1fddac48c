//! What a page asks of robots: `<meta name=robots>` and `X-Robots-Tag`.
//!
//! The head of a page is looked through tag by tag, passing over comments, scripts and styles, up to
//! its body or for [`Directives::LOOK_BYTES`], without building anything.

use super::product_token;

/// What a page asks of robots, in its head or in a header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// Do not list the page.
    pub noindex: bool,
    /// Do not follow its links.
    pub nofollow: bool,
}

impl Directives {
    /// How much of a page is looked at.
    pub const LOOK_BYTES: usize = 256 * 1024;

    /// Reads the content of `<meta name="robots">`, or of one with the product's name.
    #[must_use]
    pub fn of_meta(content: &str) -> Self {
        let mut directives = Directives::default();
        for word in content.split([',', ' ', '\t', '\n', '\r']) {
            directives.add(word);
        }
        directives
    }

    /// Reads a value of the header `X-Robots-Tag`; what is meant for another product is passed
    /// over: `googlebot: nofollow`. A name holds for all words up to the next name.
    #[must_use]
    pub fn of_header(value: &str, product: &str) -> Self {
        /// Directives that have a value behind a colon, and so look like a name.
        const WITH_VALUE: [&str; 4] =
            ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];
        let product = product_token(product.as_bytes());
        let mut directives = Directives::default();
        let mut for_us = true;
        for item in value.split(',') {
            let mut words = item.trim();
            if let Some((name, rest)) = words.split_once(':') {
                let name = name.trim();
                if WITH_VALUE.iter().any(|known| name.eq_ignore_ascii_case(known)) {
                    continue;
                }
                for_us = name.as_bytes().eq_ignore_ascii_case(product);
                words = rest.trim();
            }
            if for_us {
                directives.add(words);
            }
        }
        directives
    }

    /// Reads the head of a page.
    #[must_use]
    pub fn of_page(html: &str, product: &str) -> Self {
        let product = product_token(product.as_bytes());
        let mut directives = Directives::default();
        let mut end = html.len().min(Self::LOOK_BYTES);
        while !html.is_char_boundary(end) {
            end -= 1;
        }
        let mut rest = &html[..end];
        while let Some(at) = rest.find('<') {
            rest = &rest[at + 1..];
            let name_end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
            let name = &rest[..name_end];
            let is = |known: &str| name.eq_ignore_ascii_case(known);
            if let Some(comment) = rest.strip_prefix("!--") {
                rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            } else if is("body") {
                break;
            } else if let Some(raw) =
                ["script", "style", "title", "noscript", "template"].into_iter().find(|raw| is(raw))
            {
                rest = behind_end_tag(rest, raw);
            } else if is("meta") {
                let (mut meta_name, mut content) = ("", "");
                rest = attributes(&rest[name_end..], |name, value| {
                    if name.eq_ignore_ascii_case("name") {
                        meta_name = value.trim();
                    } else if name.eq_ignore_ascii_case("content") {
                        content = value;
                    }
                });
                let for_us = meta_name.eq_ignore_ascii_case("robots")
                    || (!product.is_empty() && meta_name.as_bytes().eq_ignore_ascii_case(product));
                if for_us {
                    directives = directives.or(Directives::of_meta(content));
                }
            }
        }
        directives
    }

    /// What either says.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Directives {
            noindex: self.noindex || other.noindex,
            nofollow: self.nofollow || other.nofollow,
        }
    }

    fn add(&mut self, word: &str) {
        let is = |name: &str| word.eq_ignore_ascii_case(name);
        self.noindex |= is("noindex") || is("none");
        self.nofollow |= is("nofollow") || is("none");
    }
}

/// What comes behind `</name`; nothing if it does not come.
fn behind_end_tag<'a>(html: &'a str, name: &str) -> &'a str {
    let mut rest = html;
    while let Some(at) = rest.find("</") {
        rest = &rest[at + 2..];
        if rest.get(..name.len()).is_some_and(|end| end.eq_ignore_ascii_case(name)) {
            return rest;
        }
    }
    ""
}

/// Calls `each` with every attribute of a tag; gives what comes behind the tag.
fn attributes<'a>(tail: &'a str, mut each: impl FnMut(&'a str, &'a str)) -> &'a str {
    let mut rest = tail;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        match rest.chars().next() {
            None => return "",
            Some('>') => return &rest[1..],
            // An equals sign where a name begins is part of it, as browsers have it.
            Some(_) => {}
        }
        let name_end = rest
            .char_indices()
            .skip(1)
            .find(|&(_, c)| c.is_ascii_whitespace() || matches!(c, '=' | '>' | '/'))
            .map_or(rest.len(), |(at, _)| at);
        let name = &rest[..name_end];
        rest = rest[name_end..].trim_ascii_start();
        let Some(value) = rest.strip_prefix('=') else {
            each(name, "");
            continue;
        };
        let value = value.trim_ascii_start();
        let (value, behind) = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                let value = &value[1..];
                value.split_once(quote).unwrap_or((value, ""))
            }
            _ => {
                let end = value.find(|c: char| c.is_ascii_whitespace() || c == '>');
                value.split_at(end.unwrap_or(value.len()))
            }
        };
        each(name, value);
        rest = behind;
    }
}
