//! Whatever the page, `extract` answers and its text is made of the page's words.

use std::collections::HashMap;

use wonbon_text::extract::extract as extract_page;
use wonbon_text::links::links;

/// Extracts the bytes as a page (malformed UTF-8 replaced).
///
/// # Panics
///
/// When a promise of `extract` does not hold.
pub fn extract(data: &[u8]) {
    let html = String::from_utf8_lossy(data);
    let url = Some("https://example.org/a/b?c");
    let page = extract_page(&html, url);
    assert_eq!(page, extract_page(&html, url), "the same page gives the same answer");
    assert_eq!(page.links, links(&html, url), "both ways to the links give the same");
    assert!(!page.text.starts_with('\n') && !page.text.ends_with(['\n', ' ']));
    // JSON-LD may stand for the text, and entities make letters: then words differ.
    if !html.contains("ld+json") && !html.contains('&') {
        assert_is_part_of(&page.text, &html);
    }
}

/// Every letter of `text` is in `page`, as often: text is chosen, never made up.
fn assert_is_part_of(text: &str, page: &str) {
    let mut counts: HashMap<char, i64> = HashMap::new();
    for c in page.chars() {
        *counts.entry(c).or_default() += 1;
    }
    for c in text.chars().filter(|c| !c.is_whitespace()) {
        let count = counts.entry(c).or_default();
        *count -= 1;
        assert!(*count >= 0, "{c:?} is more often in the text than in the page");
    }
}
