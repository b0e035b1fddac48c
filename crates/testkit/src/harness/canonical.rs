//! Whatever the reference, its canonical form is canonical, and what is forbidden stays forbidden.

use std::net::IpAddr;

use url::{Host, Url};
use wonbon_crawl::canonical::Rules;
use wonbon_crawl::guard::Guard;
use wonbon_crawl::scope::{Scope, path_and_query};
use wonbon_crawl::traps::{Limits, Traps};

/// Reads the bytes as a reference on a page.
///
/// # Panics
///
/// When a promise of `Rules::canonical`, `Guard` or `Traps` does not hold.
pub fn canonical(data: &[u8]) {
    let reference = String::from_utf8_lossy(data);
    let base = Url::parse("https://user@example.org/a/b?c#d").expect("a good address");
    let rules = Rules::default();
    let guard = Guard::default();
    for base in [None, Some(&base)] {
        let Ok(url) = rules.canonical(base, &reference) else { continue };
        assert!(matches!(url.scheme(), "http" | "https"));
        assert_eq!((url.username(), url.password(), url.fragment()), ("", None, None));
        assert!(url.host_str().is_some_and(|host| !host.is_empty() && !host.ends_with('.')));
        let again = rules.canonical(None, url.as_str()).expect("a canonical form is an address");
        assert_eq!(again.as_str(), url.as_str(), "the canonical form of itself");
        assert!(path_and_query(&url).starts_with('/'));
        let ip: Option<IpAddr> = match url.host() {
            Some(Host::Ipv4(ip)) => Some(ip.into()),
            Some(Host::Ipv6(ip)) => Some(ip.into()),
            _ => None,
        };
        if ip.is_some_and(|ip| guard.permits(ip).is_err()) {
            assert!(guard.permits_url(&url).is_err(), "{url} leads to a forbidden address");
        }
        assert!(Scope::of_seeds([&url]).check(&url, 0).is_ok(), "a seed is in its own scope");
        let mut traps = Traps::new(Limits::default());
        assert_eq!(traps.check(&url, 0).is_ok(), traps.pages_of(0) == 1);
    }
}
