//! Title, language, canonical address, publication date: what the page says about itself.

use super::choose::PageKind;
use super::json_ld::{self, Thing};
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
    pub article_body: Option<String>,
    pub product_description: Option<String>,
    pub kind: PageKind,
}

/// Reads the metadata of a page whose address is `url`.
pub(crate) fn read(tree: &Tree<'_>, url: Option<&str>) -> Metadata {
    let mut metadata = Metadata {
        title: None,
        language: None,
        canonical: None,
        published: None,
        article_body: None,
        product_description: None,
        kind: PageKind::Other,
    };
    let (mut said_article, mut said_product) = (false, false);
    let things: Vec<Thing> =
        tree.json_ld.iter().flat_map(|span| json_ld::things(span.of(tree.page))).collect();
    let base = tree.links.base_url(url);
    let mut og_title = None;
    for &(tag, tail) in &tree.metas {
        let tail = tail.of(tree.page);
        match tag {
            Tag::Meta => {
                let Some(name) = attribute_in(tail, "property")
                    .or_else(|| attribute_in(tail, "name"))
                    .or_else(|| attribute_in(tail, "itemprop"))
                else {
                    continue;
                };
                let content = || {
                    let value = attribute_in(tail, "content")?;
                    let value = fold(&htmlize::unescape_attribute(value));
                    (!value.is_empty()).then_some(value)
                };
                match name.to_ascii_lowercase().as_str() {
                    "og:type" => {
                        said_article |= content().is_some_and(|kind| kind == "article");
                        said_product |=
                            content().is_some_and(|kind| matches!(&*kind, "product" | "og:product"));
                    }
                    "generator" => {
                        if content().is_some_and(|name| is_forum_software(&name)) {
                            metadata.kind = PageKind::Forum;
                        }
                    }
                    "og:title" => og_title = og_title.or_else(content),
                    "article:published_time" => {
                        metadata.published = metadata.published.take().or_else(content);
                    }
                    _ => {}
                }
            }
            Tag::Link => {
                let canonical = attribute_in(tail, "rel").is_some_and(|rel| {
                    rel.split_ascii_whitespace().any(|r| r.eq_ignore_ascii_case("canonical"))
                });
                if canonical
                    && metadata.canonical.is_none()
                    && let Some(href) = attribute_in(tail, "href")
                {
                    metadata.canonical = resolve(href, base.as_ref());
                }
            }
            _ => {}
        }
    }
    metadata.title =
        og_title.or_else(|| tree.title.as_deref().map(fold).filter(|title| !title.is_empty()));
    metadata.article_body =
        things.iter().filter_map(|thing| thing.article_body.clone()).max_by_key(String::len);
    let is = |names: &[&str]| {
        things.iter().any(|thing| thing.types.iter().any(|kind| names.contains(&kind.as_str())))
    };
    if is(&["DiscussionForumPosting", "QAPage"]) || url.is_some_and(is_forum_address) {
        metadata.kind = PageKind::Forum;
    }
    if metadata.kind == PageKind::Other
        && (said_article
            || is(&["Article", "NewsArticle", "BlogPosting", "TechArticle", "ReportageNewsArticle"]))
        && !is(&["Product"])
    {
        metadata.kind = PageKind::Article;
    }
    if metadata.kind == PageKind::Other && (said_product || is(&["Product", "ProductGroup"])) {
        metadata.kind = PageKind::Product;
        metadata.product_description = things
            .iter()
            .filter(|thing| thing.types.iter().any(|kind| kind == "Product" || kind == "ProductGroup"))
            .find_map(|thing| thing.description.clone());
    }
    metadata
}

fn is_forum_software(generator: &str) -> bool {
    let generator = generator.to_lowercase();
    ["vbulletin", "phpbb", "xenforo", "discourse", "mybb", "flarum", "nodebb", "invision", "lemmy", "vanilla", "smf"]
        .iter()
        .any(|name| generator.starts_with(name))
}

fn is_forum_address(url: &str) -> bool {
    let url = url.to_lowercase();
    let Some((_, rest)) = url.split_once("://") else { return false };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    host.split('.').any(|part| matches!(part, "forum" | "forums" | "boards" | "board" | "bbs" | "community" | "discuss" | "discourse" | "reddit"))
        || path.split(['/', '?', '.']).any(|part| {
            matches!(part, "forum" | "forums" | "thread" | "threads" | "viewtopic" | "showthread" | "topic" | "topics" | "questions" | "discussion" | "discussions" | "bbs")
        })
}
