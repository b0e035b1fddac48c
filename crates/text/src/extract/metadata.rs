//! Title, language, canonical address, publication date: what the page says about itself.

use super::json_ld::{self, Thing};
use super::tags::Tag;
use super::tokens::attribute_in;
use super::tree::Tree;
use crate::links::{fold, resolve};

/// What the rules and the page need.
#[derive(Debug, Default)]
pub(crate) struct Metadata {
    pub title: Option<String>,
    pub language: Option<String>,
    pub canonical: Option<String>,
    pub published: Option<String>,
    pub article_body: Option<String>,
    pub product_description: Option<String>,
    pub forum: bool,
}

/// Reads the metadata of a page whose address is `url`.
pub(crate) fn read(tree: &Tree<'_>, url: Option<&str>) -> Metadata {
    let mut metadata = Metadata::default();
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
    metadata.forum = things.iter().any(|thing| {
        thing
            .types
            .iter()
            .any(|kind| matches!(kind.as_str(), "DiscussionForumPosting" | "QAPage" | "Question"))
    });
    metadata
}
