//! Core text of a page.

mod choose;
mod json_ld;
mod labels;
mod marks;
mod metadata;
mod render;
pub(crate) mod tags;
pub(crate) mod tokens;
mod tree;

pub(crate) use tags::is_html_tag;

use crate::decode::{decode, looks_like_html};
use crate::links::Link;

/// What a page says, and about itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// The page's title.
    pub title: Option<String>,
    /// Language tag, such as `ko` or `en-US`.
    pub language: Option<String>,
    /// The address the page says it should be known by, absolute.
    pub canonical: Option<String>,
    /// When it was published, ISO 8601.
    pub published: Option<String>,
    /// The core text.
    pub text: String,
    /// All links of the page.
    pub links: Vec<Link>,
}

/// Reads the core text, the metadata and the links of an HTML page whose address is `url`.
pub fn extract(html: &str, url: Option<&str>) -> Page {
    let tree = tree::build(html);
    let metadata = metadata::read(&tree, url);
    let kind = metadata.kind;
    let title: Vec<String> = metadata
        .title
        .iter()
        .chain(&tree.title)
        .flat_map(|title| title.split_whitespace().map(str::to_lowercase))
        .collect();
    let mut choice = choose::choose(&tree, kind, &title, false);
    let mut text = render::render(&tree, choice.root, &choice.dropped);
    if choice.weight < 600 {
        let again = choose::choose(&tree, kind, &title, true);
        if again.weight > choice.weight {
            choice = again;
            text = render::render(&tree, choice.root, &choice.dropped);
        }
    }
    if let Some(body) = &metadata.article_body
        && body.len() * 2 > text.len() * 3
    {
        text = plain(body);
    }
    if let Some(description) = &metadata.product_description {
        let description = plain(description);
        let lead: String = description.chars().take(60).collect();
        if !lead.is_empty() && !text.contains(lead.trim()) {
            text.insert(0, '\n');
            text.insert_str(0, &description);
        }
    }
    Page {
        title: metadata.title,
        language: metadata.language,
        canonical: metadata.canonical,
        published: metadata.published,
        text,
        links: tree.links.finish(url),
    }
}

/// A metadata value as text: some sites put markup or character references into it.
fn plain(value: &str) -> String {
    let unescaped = htmlize::unescape(value);
    if unescaped.contains('<') {
        let tree = tree::build(&unescaped);
        return render::render(&tree, 0, &vec![false; tree.nodes.len()]);
    }
    unescaped.trim().to_owned()
}

/// Bytes to core text: decodes, then extracts when it is HTML. Plain text is left as it is, with
/// neither metadata nor links. `declared` is the charset of the HTTP header, `url` the address.
pub fn core_text(bytes: &[u8], declared: Option<&str>, url: Option<&str>) -> CoreText {
    let decoded = decode(bytes, declared);
    let is_html = looks_like_html(&decoded.text);
    let page = if is_html {
        extract(&decoded.text, url)
    } else {
        Page { text: decoded.text.into_owned(), ..Page::default() }
    };
    CoreText { page, charset: decoded.charset, malformed: decoded.malformed, is_html }
}

/// A [`Page`] and how its bytes were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreText {
    /// The page; of plain text only `text` is set.
    pub page: Page,
    /// The charset the bytes were read as.
    pub charset: &'static str,
    /// Whether some bytes had no meaning in it.
    pub malformed: bool,
    /// Whether the text was taken for HTML.
    pub is_html: bool,
}
