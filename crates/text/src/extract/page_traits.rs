//! What a page's metadata and its address say about its type, as small numbers for the model.

use super::class_words::{for_each_name, for_each_word};
use super::json_ld::Thing;

/// Types of JSON-LD that tell pages apart, by the names of schema.org.
const TYPES: [&[&str]; 9] = [
    &["Article", "NewsArticle", "ReportageNewsArticle", "OpinionNewsArticle"],
    &["BlogPosting", "Blog", "TechArticle", "ScholarlyArticle"],
    &["Product", "ProductGroup", "Offer"],
    &["ItemList", "CollectionPage", "SearchResultsPage", "OfferCatalog"],
    &["DiscussionForumPosting", "QAPage", "Question", "Comment"],
    &["Service", "LocalBusiness", "ProfessionalService", "SoftwareApplication"],
    &["FAQPage"],
    &["Recipe", "HowTo"],
    &["Person", "ProfilePage"],
];

/// Words of addresses that tell pages apart.
const ADDRESS_WORDS: [&[&str]; 6] = [
    &["product", "products", "p", "shop", "item", "dp", "buy"],
    &["blog", "news", "article", "articles", "story", "post", "posts"],
    &[
        "docs",
        "doc",
        "documentation",
        "guide",
        "guides",
        "api",
        "reference",
        "manual",
        "help",
        "wiki",
    ],
    &[
        "category",
        "categories",
        "collection",
        "collections",
        "tag",
        "tags",
        "topics",
        "list",
        "search",
    ],
    &["forum", "forums", "thread", "threads", "community", "topic", "questions", "discussion", "t"],
    &["service", "services", "solutions", "features", "pricing", "about", "platform"],
];

/// Words of the class of `body` that tell pages apart.
const BODY_WORDS: [&[&str]; 8] = [
    &["product", "pdp", "item"],
    &["collection", "category", "shop", "plp", "catalog", "search", "taxonomy"],
    &["single", "post", "article", "postid"],
    &["page", "pageid", "pages"],
    &["home", "index", "frontpage", "front"],
    &["forum", "topic", "thread", "question", "bbpress", "discussion", "viewtopic"],
    &["archive", "list", "listing", "tag", "blog"],
    &["docs", "documentation", "wiki", "mediawiki", "manual"],
];

/// What the metadata and the address say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PageTraits {
    /// `og:type`: 0 none, 1 website, 2 article, 3 product, 4 another.
    pub og_type: u8,
    /// Which of [`TYPES`] there are.
    pub types: [u8; TYPES.len()],
    /// Whether the address has one of [`ADDRESS_WORDS`], each.
    pub address_words: [u8; ADDRESS_WORDS.len()],
    /// Whether the class of `body` has one of [`BODY_WORDS`], each.
    pub body_words: [u8; BODY_WORDS.len()],
    /// Parts of the address's path; 0 without an address.
    pub path_parts: u8,
    /// Hyphens of the path's longest part: titles in addresses have many.
    pub hyphens: u8,
    /// Digits of the path, at most 9.
    pub digits: u8,
}

impl PageTraits {
    /// Whether neither address nor metadata say anything. The class of `body` is no metadata.
    pub(crate) fn is_empty(&self) -> bool {
        let body_words = [0; BODY_WORDS.len()];
        PageTraits { body_words, ..*self } == PageTraits::default()
    }
}

/// Reads the traits.
pub(crate) fn read(
    og_type: Option<&str>,
    things: &[Thing],
    body_class: &str,
    url: Option<&str>,
) -> PageTraits {
    let mut body_words = [0; BODY_WORDS.len()];
    for_each_name(body_class, |name| {
        for_each_word(name, |word| {
            for (has, words) in body_words.iter_mut().zip(BODY_WORDS) {
                *has |= u8::from(words.iter().any(|known| known.eq_ignore_ascii_case(word)));
            }
        });
    });
    let mut traits = PageTraits {
        og_type: match og_type.map(str::to_ascii_lowercase).as_deref() {
            None => 0,
            Some("website") => 1,
            Some("article") => 2,
            Some("product" | "og:product" | "product.item") => 3,
            Some(_) => 4,
        },
        types: TYPES.map(|names| u8::from(things.iter().any(|thing| thing.is(names)))),
        body_words,
        ..PageTraits::default()
    };
    let Some((_, rest)) = url.and_then(|url| url.split_once("://")) else { return traits };
    let rest = rest.to_ascii_lowercase();
    let path = rest.split_once('/').map_or("", |(_, path)| path);
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let parts = || path.split('/').filter(|part| !part.is_empty());
    traits.path_parts = 1 + parts().count().min(8) as u8;
    traits.hyphens = parts().map(|part| part.matches('-').count()).max().unwrap_or(0).min(20) as u8;
    traits.digits = path.bytes().filter(u8::is_ascii_digit).count().min(9) as u8;
    traits.address_words = ADDRESS_WORDS
        .map(|words| u8::from(rest.split(['/', '.', '?']).any(|part| words.contains(&part))));
    traits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_speak_of_the_page() {
        let of = |url| read(None, &[], "", Some(url));
        let post = of("https://example.org/blog/2024/ten-ways-to-fold-a-map?x=1-2-3-4-5-6");
        assert_eq!((post.path_parts, post.hyphens, post.digits), (4, 5, 4));
        assert_eq!(post.address_words[1], 1);
        assert_eq!(of("https://forum.example.org/").address_words[4], 1);
        assert_eq!(read(None, &[], "", None), PageTraits::default());
        let shop = read(None, &[], "woocommerce single-product postid-7", None);
        assert_eq!((shop.body_words[0], shop.body_words[2], shop.is_empty()), (1, 1, true));
    }
}
