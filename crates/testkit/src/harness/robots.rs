//! Whatever a server sends as robots.txt, it is read and its answers hold together.

use wonbon_crawl::robots::{Directives, MAX_BYTES, MAX_CRAWL_DELAY, Robots};

/// The first line is a path, the rest a robots.txt.
///
/// # Panics
///
/// When a promise of `Robots` does not hold.
pub fn robots(data: &[u8]) {
    let (path, file) = match data.iter().position(|&byte| byte == b'\n') {
        Some(at) => (&data[..at], &data[at + 1..]),
        None => (data, data),
    };
    let path = String::from_utf8_lossy(path);
    let robots = Robots::parse(file, "wonbon");
    assert_eq!(robots, Robots::parse(file, "WONBON/1.0 (about)"), "only the token counts");
    assert!(robots.allows("/robots.txt"), "the file itself is always allowed");
    let decision = robots.decide(&path);
    assert_eq!(robots.allows(&path), decision.allowed);
    let lines = 1 + file.iter().filter(|&&byte| byte == b'\n' || byte == b'\r').count();
    assert!(decision.line.is_none_or(|line| (1..=lines).contains(&(line as usize))));
    assert!(robots.crawl_delay().is_none_or(|delay| delay <= MAX_CRAWL_DELAY));
    // A group for somebody else changes nothing for us.
    if !file.starts_with(b"\xef\xbb\xbf") && file.len() < MAX_BYTES - 100 {
        let group = b"User-agent: another\nDisallow: /\n\n".as_slice();
        let other = Robots::parse(&[group, file].concat(), "wonbon");
        assert_eq!(robots.allows(&path), other.allows(&path));
        assert_eq!(robots.crawl_delay(), other.crawl_delay());
        assert_eq!(robots.sitemaps(), other.sitemaps());
    }
    let text = String::from_utf8_lossy(file);
    let of_page = Directives::of_page(&text, "wonbon");
    assert_eq!(of_page, of_page.or(of_page));
    let of_header = Directives::of_header(&text, "wonbon");
    assert_eq!(of_header, Directives::of_header(&text, "Wonbon"), "names have no case");
}
