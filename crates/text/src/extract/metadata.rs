//! What a page says about itself: title, language, canonical address, publication date, and what
//! kind of page it is.
//!
//! Each is taken from the first source that has it, the most deliberate one first:
//!
//! - title: `og:title`, `twitter:title`, JSON-LD `headline`, the `title` element, the first `h1`;
//! - language: `html lang`, `content-language`, `og:locale`, JSON-LD `inLanguage`;
//! - canonical: `link rel=canonical`, then `og:url`, resolved like a link, `http(s)` only;
//! - published: `article:published_time` and its relatives, JSON-LD `datePublished`, a `meta` or
//!   `time` with `itemprop=datePublished`, looser `meta` names, the first `time datetime`.

use super::choose::{PageKind, text_of};
use super::dates::iso;
use super::json_ld::{self, Thing};
use super::known::KnownTexts;
use super::page_traits::{self, PageTraits};
use super::tags::Tag;
use super::tokens::attribute_in;
use super::tree::Tree;
use crate::links::{fold, resolve};

/// What the rules and the page need.
#[derive(Debug)]
pub(crate) struct Metadata {
    pub title: Option<String>,
    pub language: Option<String>,
    pub canonical: Option<String>,
    pub published: Option<String>,
    /// JSON-LD's text of the article, the longest if there are several.
    pub article_body: Option<String>,
    /// JSON-LD's description of the product.
    pub product_description: Option<String>,
    pub kind: PageKind,
    pub traits: PageTraits,
    /// What the metadata says in words.
    pub known: KnownTexts,
}

/// The values of `meta`, `link` and `time` elements that matter, first one each.
#[derive(Debug, Default)]
struct Head {
    og_title: Option<String>,
    twitter_title: Option<String>,
    og_type: Option<String>,
    og_url: Option<String>,
    og_locale: Option<String>,
    description: Option<String>,
    og_description: Option<String>,
    content_language: Option<String>,
    generator: Option<String>,
    canonical: Option<String>,
    published: Option<String>,
    published_item: Option<String>,
    published_loosely: Option<String>,
    time: Option<String>,
}

/// Reads the metadata of a page whose address is `url`.
pub(crate) fn read(tree: &Tree<'_>, url: Option<&str>) -> Metadata {
    let head = read_head(tree);
    let things: Vec<Thing> =
        tree.json_ld.iter().flat_map(|span| json_ld::things(span.of(tree.page))).collect();
    let base = tree.links.base_url(url);
    let kind = kind(&head, &things, url);
    let body_class = tree.body_tail.and_then(|tail| attribute_in(tail.of(tree.page), "class"));
    let traits = page_traits::read(head.og_type.as_deref(), &things, body_class.unwrap_or(""), url);
    let mut known = KnownTexts::default();
    for description in [&head.description, &head.og_description].into_iter().flatten() {
        known.add(description);
    }
    for thing in &things {
        for text in
            [&thing.description, &thing.name, &thing.headline, &thing.text, &thing.article_body]
        {
            text.iter().for_each(|text| known.add(text));
        }
    }
    let first = |field: fn(&Thing) -> Option<&String>| things.iter().find_map(field).cloned();
    let html_language = tree.html_tail.and_then(|tail| {
        let tail = tail.of(tree.page);
        attribute_in(tail, "lang").or_else(|| attribute_in(tail, "xml:lang"))
    });
    Metadata {
        title: [head.og_title, head.twitter_title, first(|thing| thing.headline.as_ref())]
            .into_iter()
            .flatten()
            .chain(tree.title.clone())
            .chain(first_heading(tree))
            .map(|title| fold(&title))
            .find(|title| !title.is_empty()),
        language: html_language
            .map(str::to_owned)
            .into_iter()
            .chain(head.content_language)
            .chain(head.og_locale)
            .chain(first(|thing| thing.language.as_ref()))
            .find_map(|tag| language(&tag)),
        canonical: head
            .canonical
            .and_then(|href| resolve(&href, base.as_ref()))
            .or_else(|| head.og_url.and_then(|href| resolve(&href, base.as_ref()))),
        published: [
            head.published,
            first(|thing| thing.date_published.as_ref()),
            head.published_item,
            head.published_loosely,
            head.time,
        ]
        .into_iter()
        .flatten()
        .find_map(|date| iso(&date)),
        article_body: things.iter().filter_map(|t| t.article_body.clone()).max_by_key(String::len),
        product_description: things
            .iter()
            .filter(|thing| kind == PageKind::Product && thing.is(PRODUCTS))
            .find_map(|thing| thing.description.clone()),
        kind,
        traits,
        known,
    }
}

/// The text of the first `h1`, unless it is something else than a heading.
fn first_heading(tree: &Tree<'_>) -> Option<String> {
    let at = tree.nodes.iter().position(|node| node.tag == Some(Tag::H1))?;
    let is_small = tree.nodes[at].end as usize - at <= 64;
    is_small.then(|| text_of(tree, at))
}

fn read_head(tree: &Tree<'_>) -> Head {
    let mut head = Head::default();
    for &(tag, tail) in &tree.metas {
        let tail = tail.of(tree.page);
        match tag {
            Tag::Meta => read_meta(&mut head, tail),
            Tag::Link => {
                let canonical = attribute_in(tail, "rel").is_some_and(|rel| {
                    rel.split_ascii_whitespace().any(|r| r.eq_ignore_ascii_case("canonical"))
                });
                if canonical && head.canonical.is_none() {
                    head.canonical = attribute_in(tail, "href").map(str::to_owned);
                }
            }
            _ => {
                let Some(date) = attribute_in(tail, "datetime").filter(|d| iso(d).is_some()) else {
                    continue;
                };
                let item = attribute_in(tail, "itemprop").is_some_and(|p| p == "datePublished")
                    || attribute_in(tail, "pubdate").is_some();
                let slot = if item { &mut head.published_item } else { &mut head.time };
                slot.get_or_insert_with(|| date.to_owned());
            }
        }
    }
    head
}

fn read_meta(head: &mut Head, tail: &str) {
    let Some(name) = ["property", "name", "itemprop", "http-equiv"]
        .iter()
        .find_map(|attribute| attribute_in(tail, attribute))
    else {
        return;
    };
    let slot = match name.trim().to_ascii_lowercase().as_str() {
        "og:title" => &mut head.og_title,
        "twitter:title" => &mut head.twitter_title,
        "og:type" => &mut head.og_type,
        "og:url" => &mut head.og_url,
        "og:locale" => &mut head.og_locale,
        "description" => &mut head.description,
        "og:description" => &mut head.og_description,
        "content-language" | "language" => &mut head.content_language,
        "generator" => &mut head.generator,
        "article:published_time"
        | "og:published_time"
        | "og:article:published_time"
        | "article:published" => &mut head.published,
        "datepublished" => &mut head.published_item,
        "date"
        | "pubdate"
        | "publishdate"
        | "publish-date"
        | "publish_date"
        | "dc.date"
        | "dc.date.issued"
        | "dc.date.created"
        | "dcterms.date"
        | "dcterms.created"
        | "dcterms.issued"
        | "parsely-pub-date"
        | "sailthru.date"
        | "article.published"
        | "article:published_date"
        | "citation_publication_date"
        | "og:regdate"
        | "regdate"
        | "datecreated" => &mut head.published_loosely,
        _ => return,
    };
    if slot.is_none()
        && let Some(content) = attribute_in(tail, "content")
    {
        let content = fold(&htmlize::unescape_attribute(content));
        if !content.is_empty() {
            *slot = Some(content);
        }
    }
}

/// A language tag in its usual spelling, if it looks like one.
fn language(tag: &str) -> Option<String> {
    let tag = tag.split([',', ';']).next().unwrap_or(tag).trim().replace('_', "-");
    let mut parts = tag.split('-');
    let first = parts.next()?;
    let sane = (2..=3).contains(&first.len())
        && first.bytes().all(|b| b.is_ascii_alphabetic())
        && parts
            .all(|p| (1..=8).contains(&p.len()) && p.bytes().all(|b| b.is_ascii_alphanumeric()));
    (sane && tag.len() <= 35).then_some(tag)
}

const ARTICLES: &[&str] = &[
    "Article",
    "NewsArticle",
    "BlogPosting",
    "TechArticle",
    "ReportageNewsArticle",
    "ScholarlyArticle",
    "OpinionNewsArticle",
];
const PRODUCTS: &[&str] = &["Product", "ProductGroup"];
const FORUMS: &[&str] = &["DiscussionForumPosting", "QAPage"];

fn kind(head: &Head, things: &[Thing], url: Option<&str>) -> PageKind {
    let is = |names: &[&str]| things.iter().any(|thing| thing.is(names));
    let software = head.generator.as_deref().is_some_and(is_forum_software);
    if software || is(FORUMS) || url.is_some_and(is_forum_address) {
        return PageKind::Forum;
    }
    let says = |names: &[&str]| {
        head.og_type
            .as_deref()
            .is_some_and(|kind| names.iter().any(|n| kind.eq_ignore_ascii_case(n)))
    };
    if is(PRODUCTS) || says(&["product", "og:product", "product.item"]) {
        PageKind::Product
    } else if is(ARTICLES) || says(&["article"]) {
        PageKind::Article
    } else {
        PageKind::Other
    }
}

fn is_forum_software(generator: &str) -> bool {
    let generator = generator.to_ascii_lowercase();
    [
        "vbulletin",
        "phpbb",
        "xenforo",
        "discourse",
        "mybb",
        "flarum",
        "nodebb",
        "invision",
        "lemmy",
        "vanilla",
        "smf",
        "gnuboard",
        "xpressengine",
    ]
    .iter()
    .any(|name| generator.starts_with(name))
}

/// Words of the host or the path that forums use and others do not.
fn is_forum_address(url: &str) -> bool {
    let url = url.to_ascii_lowercase();
    let Some((_, rest)) = url.split_once("://") else { return false };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host_says = host.split('.').any(|part| {
        matches!(
            part,
            "forum" | "forums" | "boards" | "board" | "bbs" | "community" | "discuss" | "reddit"
        )
    });
    host_says
        || path.split(['/', '?', '.']).any(|part| {
            matches!(
                part,
                "forum"
                    | "forums"
                    | "thread"
                    | "threads"
                    | "viewtopic"
                    | "showthread"
                    | "topic"
                    | "topics"
                    | "questions"
                    | "discussion"
                    | "discussions"
                    | "bbs"
            )
        })
}
