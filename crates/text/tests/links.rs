//! Links: the forms they take, and agreement with a tokenizer that follows the standard to the
//! letter.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use proptest::prelude::*;
use wonbon_text::extract::extract;
use wonbon_text::links::links;

const BASE: &str = "https://example.org/dir/page?q#f";

fn urls(html: &str, base: Option<&str>) -> Vec<String> {
    links(html, base).into_iter().map(|link| link.url).collect()
}

#[test]
fn relative_addresses_are_resolved_like_a_browser_does() {
    for (href, url) in [
        ("other", "https://example.org/dir/other"),
        ("/root", "https://example.org/root"),
        ("../up", "https://example.org/up"),
        ("?x", "https://example.org/dir/page?x"),
        ("//other.example/a", "https://other.example/a"),
        ("HTTP://EXAMPLE.com:80/%7ea", "http://example.com/%7ea"),
        (" \n spaced.html\t", "https://example.org/dir/spaced.html"),
        ("back\\slash", "https://example.org/dir/back/slash"),
        ("a b", "https://example.org/dir/a%20b"),
        ("한글?가=나", "https://example.org/dir/%ED%95%9C%EA%B8%80?%EA%B0%80=%EB%82%98"),
        ("a&amp;b?c=1&amp;d", "https://example.org/dir/a&b?c=1&d"),
        ("x#part", "https://example.org/dir/x"),
        ("", "https://example.org/dir/page?q"),
    ] {
        assert_eq!(urls(&format!("<a href=\"{href}\">t</a>"), Some(BASE)), [url], "{href:?}");
    }
}

#[test]
fn what_leads_to_no_other_document_is_left_out() {
    for href in
        ["#top", "mailto:a@b.example", "javascript:void(0)", "tel:123", "data:,x", "http://["]
    {
        assert!(urls(&format!("<a href='{href}'>t</a>"), Some(BASE)).is_empty(), "{href}");
    }
    assert!(urls("<a name=x>t</a><a>u</a>", Some(BASE)).is_empty());
    assert!(urls("<a href=relative>t</a>", None).is_empty());
    assert_eq!(urls("<a href=http://a.example>t</a>", None), ["http://a.example/"]);
}

#[test]
fn the_first_base_counts_for_the_whole_page() {
    let html = "<a href=a>1</a><base target=x><base href=/b/><base href=/c/><a href=d>2</a>";
    assert_eq!(urls(html, Some(BASE)), ["https://example.org/b/a", "https://example.org/b/d"]);
    assert_eq!(urls("<base href=http://x.example/y/><a href=z>", None), ["http://x.example/y/z"]);
    let bad = "<base href='data:,x'><a href=z>t</a>";
    assert_eq!(urls(bad, Some(BASE)), ["https://example.org/dir/z"]);
}

#[test]
fn anchor_text_is_folded_unescaped_and_falls_back_to_the_image() {
    let text = |html: &str| links(html, Some(BASE))[0].text.clone();
    assert_eq!(text("<a href=x> one \n <b>two</b>&amp;three </a>"), "one two&three");
    assert_eq!(text("<a href=x><div>one</div><div>two</div></a>"), "one two");
    assert_eq!(text("<a href=x>one<br>two</a>"), "one two");
    assert_eq!(text("<a href=x><img alt='a  picture'></a>"), "a picture");
    assert_eq!(text("<a href=x><img alt='a picture'>words</a>"), "words");
    assert_eq!(text("<a href=x>one<a href=y>two</a>"), "one");
    assert_eq!(text("<map><area href=x alt=place></map>"), "place");
}

#[test]
fn links_in_comments_scripts_and_attributes_are_not_links() {
    let html = "<!-- <a href=a> --><script>'<a href=b>'</script><p title='<a href=c>'>\
                <textarea><a href=d></textarea><style><a href=e></style>";
    assert!(urls(html, Some(BASE)).is_empty());
}

#[test]
fn a_long_base_does_not_multiply() {
    let base = format!("<base href='/{}/'>", "x".repeat(1 << 20));
    let html = base + &"<a href=y>t</a>".repeat(1 << 17);
    let found = links(&html, Some(BASE));
    assert_eq!(found.len(), 1 << 16);
    assert!(found.iter().all(|link| link.url == "https://example.org/dir/y"));
}

/// `href`s of `a` start tags, by html5ever's tokenizer.
#[derive(Default)]
struct Oracle {
    hrefs: RefCell<Vec<String>>,
}

impl TokenSink for Oracle {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        if let Token::TagToken(tag) = token
            && tag.kind == TagKind::StartTag
            && &*tag.name == "a"
            && let Some(href) = tag.attrs.iter().find(|a| &*a.name.local == "href")
        {
            self.hrefs.borrow_mut().push(href.value.to_string());
        }
        TokenSinkResult::Continue
    }
}

fn oracle(html: &str) -> Vec<String> {
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from(html));
    let tokenizer = Tokenizer::new(Oracle::default(), TokenizerOpts::default());
    // The sink never pauses, so one call reads everything.
    let _done = tokenizer.feed(&queue);
    tokenizer.end();
    tokenizer.sink.hrefs.take()
}

/// Tag soup without raw text elements: these need a tree builder to switch the oracle.
fn soup() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z<>&;=/\"'! -]{0,8}",
        "[a-z]{1,5}".prop_map(|path| format!("<a href={path}>")),
        "[a-z&;= ]{0,6}".prop_map(|path| format!("<a class=\"b>\" href=\"{path}\">")),
        "[a-z]{0,6}".prop_map(|path| format!("<A HREF='{path}'x>")),
        Just("</a>".to_owned()),
        Just("<!-- <a href=no> -->".to_owned()),
        Just("<p>".to_owned()),
        Just("<!--".to_owned()),
        Just("-->".to_owned()),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn start_tags_are_those_of_the_standard(html in soup()) {
        let expected: Vec<String> = oracle(&html)
            .iter()
            .flat_map(|href| urls(&format!("<a href=\"{}\">", href.replace('&', "&amp;").replace('"', "&quot;")), Some(BASE)))
            .collect();
        prop_assert_eq!(urls(&html, Some(BASE)), expected);
    }

    #[test]
    fn extract_finds_the_same_links(html in soup()) {
        prop_assert_eq!(links(&html, Some(BASE)), extract(&html, Some(BASE)).links);
    }

    #[test]
    fn any_string_has_sound_links(html in "\\PC*") {
        wonbon_testkit::harness::links(html.as_bytes());
    }
}
