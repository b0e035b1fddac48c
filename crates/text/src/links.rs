//! The links of a page, with the words they stand on.
//!
//! A link is an `a` or `area` with an `href`. The first `base href` counts for the whole page;
//! addresses are resolved and repaired the way browsers do (the `url` crate), and only `http` and
//! `https` ones are kept, in document order, repeats included (they have different words).
//! The fragment is cut off: it names a place in a document, not another document, and an `href`
//! that is only a fragment is no link at all. `rel` is not looked at: what a `nofollow` means is
//! the crawler's business. Query strings are percent-encoded as UTF-8 even when the page is not.
//!
//! Anchor text is the text up to `</a>` (or the next `a`), white space folded; an image's `alt`
//! stands for the image when there is no text.
//!
//! Why not a general streaming rewriter (lol_html): the tokenizer of `extract` is already here, as
//! fast or faster, has no memory limit to fail at, and gives by construction the same links as the
//! extractor. docs/core-text.md has the measured comparison.
//!
//! Cost: one pass over the page, linear; memory is what is returned, at most 65,536 links.

use url::Url;

use crate::extract::tags::Tag;
use crate::extract::tokens::{Span, Token, Tokenizer};

/// Links of a page that are returned; what lists more is not written for readers. With
/// [`MAX_BASE_BYTES`] it keeps a small page with a long `base` from growing without bound.
const MAX_LINKS: usize = 1 << 16;
/// Longest `href` that is resolved; browsers and servers stop at a few thousand bytes as well.
const MAX_HREF_BYTES: usize = 1 << 13;
/// Longest base address.
const MAX_BASE_BYTES: usize = 1 << 11;

/// Where a page points, and the words it says this with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Absolute `http` or `https` address, without fragment.
    pub url: String,
    /// Anchor text, white space folded; empty when there is none.
    pub text: String,
}

/// All links of a page. `base` is the page's own address; without it and without a `base` element
/// only absolute links are found.
///
/// ```
/// let links = wonbon_text::links::links(
///     "<a href='/b?x=1&amp;y=2#top'>To <b>b</b></a>",
///     Some("https://example.org/a"),
/// );
/// assert_eq!(links[0].url, "https://example.org/b?x=1&y=2");
/// assert_eq!(links[0].text, "To b");
/// ```
pub fn links(html: &str, base: Option<&str>) -> Vec<Link> {
    let mut tokenizer = Tokenizer::new(html);
    let page = tokenizer.page();
    let mut collector = LinkCollector::new(page);
    while let Some(token) = tokenizer.next() {
        match token {
            Token::Text(span) => {
                collector.text(span.of(page));
            }
            Token::End { name } => match Tag::of(name.of(page)) {
                Tag::A => collector.end(),
                tag if tag.is_block() => collector.separate(),
                _ => {}
            },
            Token::Start { name, self_closing, .. } => {
                let name = name.of(page);
                let tag = Tag::of(name);
                if tag.is_block() || tag == Tag::Br {
                    collector.separate();
                }
                if tag.breaks_out() {
                    tokenizer.leave_foreign();
                }
                let is_empty = self_closing && tokenizer.in_foreign();
                match tag {
                    Tag::A | Tag::Area | Tag::Base | Tag::Img => collector.start(tag, &tokenizer),
                    Tag::Plaintext if !is_empty => {
                        let rest = tokenizer.rest();
                        collector.text(rest.of(page));
                    }
                    tag if tag.is_raw() && !is_empty => {
                        let content = tokenizer.raw_text(&name.to_ascii_lowercase());
                        if tag == Tag::Xmp {
                            collector.text(content.of(page));
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    collector.finish(base)
}

/// Gathers links while someone reads the page's tokens.
#[derive(Debug)]
pub(crate) struct LinkCollector<'page> {
    page: &'page str,
    base: Option<Span>,
    found: Vec<Found>,
    /// The link that texts belong to now.
    open: bool,
    /// Texts of all links, one behind the other.
    texts: String,
}

#[derive(Debug)]
struct Found {
    href: Span,
    text: Span,
    alternative: Option<Span>,
}

impl<'page> LinkCollector<'page> {
    pub(crate) fn new(page: &'page str) -> Self {
        LinkCollector { page, base: None, found: Vec::new(), open: false, texts: String::new() }
    }

    /// A start tag of `a`, `area`, `base` or `img`, whose attributes `tokenizer` holds.
    pub(crate) fn start(&mut self, tag: Tag, tokenizer: &Tokenizer<'page>) {
        let span = |name: &str| {
            tokenizer
                .attributes()
                .iter()
                .find(|a| a.name.of(self.page).eq_ignore_ascii_case(name))
                .map(|a| a.value)
        };
        match tag {
            Tag::Base => {
                if self.base.is_none() {
                    self.base = span("href");
                }
            }
            Tag::Img => {
                if self.open
                    && let Some(alternative) = span("alt")
                    && let Some(link) = self.found.last_mut()
                    && link.alternative.is_none_or(Span::is_empty)
                {
                    link.alternative = Some(alternative);
                }
            }
            _ => {
                let href = span("href").or_else(|| span("xlink:href"));
                let alternative = if tag == Tag::Area { span("alt") } else { None };
                self.end();
                if let Some(href) = href
                    && self.found.len() < MAX_LINKS
                {
                    let start = self.texts.len();
                    let text = Span::new(start, start);
                    self.found.push(Found { href, text, alternative });
                    self.open = tag == Tag::A;
                }
            }
        }
    }

    /// The end of an `a`.
    pub(crate) fn end(&mut self) {
        if self.open {
            self.open = false;
            if let Some(link) = self.found.last_mut() {
                link.text.end = self.texts.len() as u32;
            }
        }
    }

    /// A text; says whether it stands in a link.
    pub(crate) fn text(&mut self, text: &str) -> bool {
        if self.open {
            self.texts.push_str(text);
        }
        self.open
    }

    /// A block or line starts or ends: words on its two sides are two words.
    pub(crate) fn separate(&mut self) {
        if self.open && !self.texts.ends_with(' ') {
            self.texts.push(' ');
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// The links, resolved against the page's address and its `base` element.
    pub(crate) fn finish(mut self, address: Option<&str>) -> Vec<Link> {
        self.end();
        let base = self.base_url(address);
        let mut links = Vec::with_capacity(self.found.len());
        for found in &self.found {
            let Some(url) = resolve(found.href.of(self.page), base.as_ref()) else { continue };
            let mut text = fold(&htmlize::unescape(found.text.of(&self.texts)));
            if text.is_empty()
                && let Some(alternative) = found.alternative
            {
                text = fold(&htmlize::unescape_attribute(alternative.of(self.page)));
            }
            links.push(Link { url, text });
        }
        links
    }

    /// The address that relative ones on this page start from.
    pub(crate) fn base_url(&self, address: Option<&str>) -> Option<Url> {
        let address = address
            .filter(|address| address.len() <= MAX_BASE_BYTES)
            .and_then(|address| Url::parse(address.trim()).ok());
        let Some(base) = self.base else { return address };
        if base.of(self.page).len() > MAX_BASE_BYTES {
            return address;
        }
        let href = htmlize::unescape_attribute(base.of(self.page));
        let resolved = Url::options().base_url(address.as_ref()).parse(href.trim()).ok();
        resolved.filter(|url| !url.cannot_be_a_base()).or(address)
    }
}

/// An `href` as an absolute `http(s)` address without fragment.
pub(crate) fn resolve(href: &str, base: Option<&Url>) -> Option<String> {
    if href.len() > MAX_HREF_BYTES {
        return None;
    }
    let href = htmlize::unescape_attribute(href);
    let href = href.trim_matches(|c: char| c <= ' ');
    if href.starts_with('#') {
        return None;
    }
    let mut url = Url::options().base_url(base).parse(href).ok()?;
    if !matches!(url.scheme(), "http" | "https") {
        return None;
    }
    url.set_fragment(None);
    Some(url.into())
}

/// White space folded to single spaces, none at the ends.
pub(crate) fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}
