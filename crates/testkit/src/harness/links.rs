//! Whatever the page, `links` answers with absolute `http(s)` addresses without fragments.

use wonbon_text::links::links as links_of;

/// Reads the links of the bytes as a page, with and without an address.
///
/// # Panics
///
/// When a promise of `links` does not hold.
pub fn links(data: &[u8]) {
    let html = String::from_utf8_lossy(data);
    for base in [None, Some("https://example.org/a/b?c#d"), Some("not an address")] {
        for link in links_of(&html, base) {
            assert!(link.url.starts_with("http://") || link.url.starts_with("https://"));
            assert!(!link.url.contains('#'), "fragment in {}", link.url);
            assert_eq!(link.text, link.text.split_whitespace().collect::<Vec<_>>().join(" "));
            // An address that was resolved resolves to itself.
            let page = format!(
                "<a href=\"{}\">x</a>",
                link.url.replace('&', "&amp;").replace('"', "&quot;")
            );
            let again = links_of(&page, base);
            assert_eq!(again.first().map(|l| &l.url), Some(&link.url));
        }
    }
}
