//! Core text of a page: its text without menus, sidebars, advertisements, footers and comment
//! forms; its title, language, canonical address, publication date and links.
//!
//! One parse into a flat tree (`tree`), then rules over sums of its subtrees (`choose`). Rules,
//! because no ready-made extractor was both right and quick enough, and because a rule can be
//! read, argued about and tested; docs/core-text.md has the measurements and what still fails.
//!
//! Guarantees: never a panic, whatever the input; time and memory linear in it; the same page
//! gives the same text. Every word of the text is a word of the page (of its metadata, when the
//! text was taken from there).
//!
//! Cost: 0.7 ms for a page of WCXB (313 kB on average; docs/core-text.md). Memory is linear: some
//! 30 bytes per element or text, as much again for the sums. Pages beyond 4 GB are read up to there.
//!
//! Not here: charsets ([`decode`](crate::decode)), words of the normal form.

mod choose;
mod dates;
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

/// Below this weight (about 120 words) a page's `noscript` is worth a look.
const FEW_WORDS: u32 = 600;

/// Words of the title that are compared with headings.
const TITLE_WORDS: usize = 64;

/// Reads the core text, the metadata and the links of an HTML page whose address is `url`.
///
/// The address serves to resolve links and to recognise forums; without it relative links are
/// not returned.
///
/// ```
/// let page = wonbon_text::extract::extract(
///     "<html lang=ko><title>봄</title><nav><a href=/>처음</a></nav>
///      <main><p>꽃이 피었다.</p></main>",
///     Some("https://example.org/spring"),
/// );
/// assert_eq!(page.text, "꽃이 피었다.");
/// assert_eq!(page.title.as_deref(), Some("봄"));
/// assert_eq!(page.links[0].url, "https://example.org/");
/// ```
pub fn extract(html: &str, url: Option<&str>) -> Page {
    let tree = tree::build(html);
    let metadata = metadata::read(&tree, url);
    let title: Vec<String> = metadata
        .title
        .iter()
        .chain(&tree.title)
        .flat_map(|title| title.split_whitespace().take(TITLE_WORDS).map(str::to_lowercase))
        .collect();
    let mut choice = choose::choose(&tree, metadata.kind, &title, false);
    let has_noscript = || tree.nodes.iter().any(|node| node.tag == Some(tags::Tag::Noscript));
    if choice.weight < FEW_WORDS && has_noscript() {
        let again = choose::choose(&tree, metadata.kind, &title, true);
        if again.weight > choice.weight {
            choice = again;
        }
    }
    let mut text = render::render(&tree, choice.root, &choice.dropped);
    // A page that draws its text by script often carries it whole in its metadata.
    if let Some(body) = metadata.article_body.as_deref().map(plain)
        && body.len() * 2 > text.len() * 3
    {
        text = body;
    }
    if let Some(description) = metadata.product_description.as_deref().map(plain) {
        let lead: String = description.chars().take(60).collect();
        if !lead.is_empty() && !text.contains(lead.trim()) {
            text = format!("{description}\n{text}");
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
