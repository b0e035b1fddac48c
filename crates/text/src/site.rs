//! Which site an address belongs to.
//!
//! A site is the registrable domain by the public suffix list, private suffixes included (`me.github.io`), because whoever
//! registered it answers for all of its hosts. IP addresses and hosts that are a suffix themselves have no registrable
//! domain; there the host is the site. Crawls, stores and questions all ask here.
//!
//! Cost: one look-up in the list, which is compiled in.

use std::net::IpAddr;

use url::Url;

/// The registrable domain of a host in lower case; none for IP addresses and for hosts that are a suffix themselves.
#[must_use]
pub fn registrable_domain(host: &str) -> Option<&str> {
    let is_ip_address = host.starts_with('[') || host.parse::<IpAddr>().is_ok();
    if is_ip_address { None } else { psl::domain_str(host.trim_end_matches('.')) }
}

/// The site of a host in lower case.
#[must_use]
pub fn site_of_host(host: &str) -> &str {
    registrable_domain(host).unwrap_or_else(|| host.trim_end_matches('.'))
}

/// The site of an address; none if it is no URL or has no host.
#[must_use]
pub fn site_of_address(address: &str) -> Option<String> {
    let address = Url::parse(address).ok()?;
    Some(site_of_host(address.host_str()?).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_the_registrable_domain_or_the_host() {
        for (host, domain) in [
            ("www.cs.wisc.edu", Some("wisc.edu")),
            ("www.cs.wisc.edu.", Some("wisc.edu")),
            ("news.bbc.co.uk", Some("bbc.co.uk")),
            ("me.github.io", Some("me.github.io")),
            ("co.uk", None),
            ("192.0.2.7", None),
            ("[2001:db8::1]", None),
            ("localhost", None),
        ] {
            assert_eq!(registrable_domain(host), domain, "{host}");
            assert_eq!(site_of_host(host), domain.unwrap_or(host), "{host}");
        }
    }

    #[test]
    fn a_site_is_found_whatever_stands_around_the_host() {
        for (address, site) in [
            ("http://WWW.Example.org", Some("example.org")),
            ("https://me:secret@blog.example.org.:8080/x?y#z", Some("example.org")),
            ("http://[2001:DB8::1]:80/", Some("[2001:db8::1]")),
            ("http://3221225991/", Some("192.0.2.7")),
            ("http://블로그.예시.한국/", Some("xn--vv4b11d.xn--3e0b707e")),
            ("a.example/page", None),
            ("mailto:me@example.org", None),
            ("note 7", None),
        ] {
            assert_eq!(site_of_address(address).as_deref(), site, "{address}");
        }
    }
}
