//! Whatever the bytes, a sitemap is read within its limits, and a longer one gives no less.

use wonbon_crawl::sitemap::{Limits, parse};

/// Reads the bytes as a sitemap, whole and cut in the middle.
///
/// # Panics
///
/// When a promise of `sitemap::parse` does not hold.
pub fn sitemap(data: &[u8]) {
    let limits = Limits { entries: 20, bytes: 4096, address_bytes: 64 };
    let sitemap = parse(data, limits);
    assert_eq!(sitemap, parse(data, limits), "the same bytes give the same answer");
    assert!(sitemap.pages.len() + sitemap.sitemaps.len() <= limits.entries);
    let addresses = sitemap.pages.iter().map(|entry| &entry.url).chain(&sitemap.sitemaps);
    for address in addresses {
        assert!(!address.is_empty() && address.len() <= limits.address_bytes);
        assert_eq!(address.trim(), address);
    }
    if sitemap.pages.len() + sitemap.sitemaps.len() < limits.entries && data.len() <= limits.bytes {
        assert!(!sitemap.cut || data.starts_with(&[0x1f, 0x8b]));
    }
    let half = parse(&data[..data.len() / 2], limits);
    assert!(half.pages.len() + half.sitemaps.len() <= limits.entries);
}
