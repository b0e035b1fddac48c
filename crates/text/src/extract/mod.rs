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

mod blocks;
mod choose;
mod class_words;
mod clean_html;
mod columns;
mod dates;
mod features;
mod json_ld;
mod known;
mod labels;
#[doc(hidden)]
pub mod learning;
mod markdown;
mod marks;
mod metadata;
mod model;
mod numbers;
mod page_numbers;
mod page_traits;
mod reading;
mod render;
mod seen;
mod structure;
mod surroundings;
pub(crate) mod tags;
mod text_numbers;
pub(crate) mod tokens;
mod tree;

pub(crate) use tags::is_html_tag;

use reading::Reading;

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
    let reading = Reading::new(html, url, &numbers::MODEL);
    let kept = reading.kept(&numbers::MODEL);
    let text = reading.text(&kept);
    reading.into_page(text, url)
}

/// Which formatted texts are wanted beside the plain one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Formats {
    /// Markdown: headings, lists, tables, links and code.
    pub markdown: bool,
    /// HTML with nothing but the same structure.
    pub html: bool,
}

/// A page's core text with its structure, as far as wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Formatted {
    /// The core text as Markdown.
    pub markdown: Option<String>,
    /// The core text as cleaned HTML.
    pub html: Option<String>,
}

/// As [`extract`], with the core text also in other formats. The page is the same as without them.
///
/// ```
/// use wonbon_text::extract::{Formats, extract_formatted};
/// let html = "<main><h2>Bread</h2><ul><li>flour<li>a <a href=/w>little water</a></ul></main>";
/// let formats = Formats { markdown: true, html: false };
/// let (page, formatted) = extract_formatted(html, Some("https://example.org/"), formats);
/// assert_eq!(page.text, "Bread\nflour\na little water");
/// assert_eq!(
///     formatted.markdown.as_deref(),
///     Some("## Bread\n\n- flour\n- a [little water](https://example.org/w)"),
/// );
/// ```
pub fn extract_formatted(html: &str, url: Option<&str>, formats: Formats) -> (Page, Formatted) {
    let reading = Reading::new(html, url, &numbers::MODEL);
    let kept = reading.kept(&numbers::MODEL);
    let (text, pieces) = reading.text_and_structure(&kept, url);
    let formatted = Formatted {
        markdown: formats.markdown.then(|| markdown::markdown(&pieces)),
        html: formats.html.then(|| clean_html::clean_html(&pieces)),
    };
    (reading.into_page(text, url), formatted)
}

/// The formats of a text that is no page: Markdown is the text itself, in HTML its lines are
/// paragraphs.
fn format_plain(text: &str, formats: Formats) -> Formatted {
    Formatted {
        markdown: formats.markdown.then(|| text.to_owned()),
        html: formats.html.then(|| clean_html::clean_html(&structure::paragraphs(text))),
    }
}

/// Bytes to core text: decodes, then extracts when it is HTML. Plain text is left as it is, with
/// neither metadata nor links. `declared` is the charset of the HTTP header, `url` the address.
pub fn core_text(bytes: &[u8], declared: Option<&str>, url: Option<&str>) -> CoreText {
    core_text_with(bytes, declared, |html| (extract(html, url), ())).0
}

/// As [`core_text`], with the core text also in other formats.
pub fn core_text_formatted(
    bytes: &[u8],
    declared: Option<&str>,
    url: Option<&str>,
    formats: Formats,
) -> (CoreText, Formatted) {
    let (core, formatted) =
        core_text_with(bytes, declared, |html| extract_formatted(html, url, formats));
    let formatted = if core.is_html { formatted } else { format_plain(&core.page.text, formats) };
    (core, formatted)
}

fn core_text_with<T: Default>(
    bytes: &[u8],
    declared: Option<&str>,
    extract: impl FnOnce(&str) -> (Page, T),
) -> (CoreText, T) {
    let decoded = decode(bytes, declared);
    let is_html = looks_like_html(&decoded.text);
    let (page, more) = if is_html {
        extract(&decoded.text)
    } else {
        (Page { text: decoded.text.into_owned(), ..Page::default() }, T::default())
    };
    let core = CoreText { page, charset: decoded.charset, malformed: decoded.malformed, is_html };
    (core, more)
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
