//! Which site an address belongs to.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use wonbon_text::site::site_of_host;

/// What a site is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum SiteRule {
    /// The registrable domain, as in [`wonbon_text::site`]; the host where there is none.
    #[default]
    Domain,
    /// The host.
    Host,
}

impl SiteRule {
    /// How it is called.
    pub fn name(self) -> &'static str {
        match self {
            SiteRule::Domain => "domain",
            SiteRule::Host => "host",
        }
    }

    /// The site of a host in lower case.
    pub fn site(self, host: &str) -> &str {
        match self {
            SiteRule::Host => host,
            SiteRule::Domain => site_of_host(host),
        }
    }
}

impl fmt::Display for SiteRule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// No rule is called so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{asked}` is neither host nor domain")]
pub struct UnknownSiteRule {
    /// What was asked for.
    pub asked: String,
}

impl FromStr for SiteRule {
    type Err = UnknownSiteRule;

    fn from_str(text: &str) -> Result<Self, UnknownSiteRule> {
        [SiteRule::Domain, SiteRule::Host]
            .into_iter()
            .find(|rule| rule.name() == text)
            .ok_or_else(|| UnknownSiteRule { asked: text.to_owned() })
    }
}

/// The host of an address in lower case, without user, port and final dot. Not a full parser: a graph
/// of ten million addresses is read in seconds, and what its writer took for a page is one.
pub(super) fn host(address: &[u8], host: &mut String) -> bool {
    host.clear();
    let Some(scheme) = address.windows(3).position(|bytes| bytes == b"://") else {
        return false;
    };
    let rest = &address[scheme + 3..];
    let end = rest.iter().position(|byte| b"/?#\\".contains(byte)).unwrap_or(rest.len());
    let authority = &rest[..end];
    let start = authority.iter().rposition(|&byte| byte == b'@').map_or(0, |at| at + 1);
    let authority = &authority[start..];
    let end = match authority.first() {
        Some(b'[') => authority.iter().position(|&byte| byte == b']').map_or(0, |at| at + 1),
        _ => authority.iter().position(|&byte| byte == b':').unwrap_or(authority.len()),
    };
    let name = authority[..end].strip_suffix(b".").unwrap_or(&authority[..end]);
    let Ok(name) = std::str::from_utf8(name) else {
        return false;
    };
    if name.is_empty() || name.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return false;
    }
    host.push_str(name);
    host.make_ascii_lowercase();
    true
}

/// Numbers sites as they come.
pub(super) struct Sites {
    rule: SiteRule,
    numbers: HashMap<Box<str>, u32>,
    host: String,
    /// Addresses of a site often follow each other.
    last_host: String,
    last: u32,
}

impl Sites {
    pub(super) fn new(rule: SiteRule) -> Self {
        Sites {
            rule,
            numbers: HashMap::new(),
            host: String::new(),
            last_host: String::new(),
            last: 0,
        }
    }

    /// The number of the site of an address.
    pub(super) fn number(&mut self, address: &[u8]) -> Option<u32> {
        if !host(address, &mut self.host) {
            return None;
        }
        if self.host != self.last_host {
            let site = self.rule.site(&self.host);
            self.last = match self.numbers.get(site) {
                Some(&number) => number,
                None => {
                    // No more sites than pages.
                    let number = self.numbers.len() as u32;
                    self.numbers.insert(site.into(), number);
                    number
                }
            };
            self.last_host.clone_from(&self.host);
        }
        Some(self.last)
    }

    pub(super) fn count(&self) -> u32 {
        self.numbers.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host_of(address: &str) -> Option<String> {
        let mut found = String::new();
        host(address.as_bytes(), &mut found).then_some(found)
    }

    #[test]
    fn the_host_of_an_address_is_found() {
        for (address, expected) in [
            ("http://WWW.Example.org", Some("www.example.org")),
            ("https://me:secret@a.example:8080/x?y#z", Some("a.example")),
            ("http://a.example.?q", Some("a.example")),
            ("http://[::1]:80/", Some("[::1]")),
            ("http://도메인.한국/", Some("도메인.한국")),
            ("a.example/page", None),
            ("http:///page", None),
            ("http://a b/", None),
            ("", None),
        ] {
            assert_eq!(host_of(address).as_deref(), expected, "{address}");
        }
    }
}
