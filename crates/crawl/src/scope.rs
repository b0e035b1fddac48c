//! Which pages belong to a crawl: hosts, domains, paths and depth.
//!
//! A page is inside when its host or its registrable domain is named (or nothing is named, which
//! means everywhere), its path matches an include pattern (or there is none) and no exclude pattern,
//! and it is at most so many links away from a seed. Patterns are those of robots.txt: they match
//! the beginning of path and query, `*` stands for anything, `$` for the end.
//!
//! Cost: one look-up for the host, one in the public suffix list, and one match per pattern.

use std::collections::BTreeSet;

use url::{Host, Url};
use wonbon_text::site::registrable_domain;

use crate::pattern::Pattern;

/// Why a page is not part of the crawl.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OutOfScope {
    /// Neither the host nor its domain is named.
    #[error("the host {host} is not one of the crawl's")]
    Host {
        /// The host.
        host: String,
    },
    /// Include patterns are given and none matches.
    #[error("no include pattern matches {path}")]
    NotIncluded {
        /// Path and query.
        path: String,
    },
    /// An exclude pattern matches.
    #[error("the exclude pattern {pattern} matches")]
    Excluded {
        /// The pattern as it was given.
        pattern: String,
    },
    /// Too many links away from the seeds.
    #[error("{depth} links away from a seed, the limit is {limit}")]
    Depth {
        /// How many links.
        depth: u32,
        /// How many are allowed.
        limit: u32,
    },
}

/// A pattern and how it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Written {
    text: String,
    pattern: Pattern,
}

/// What belongs to a crawl.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Hosts, as URLs write them; with `domains` empty too, every host is inside.
    hosts: BTreeSet<String>,
    /// Registrable domains: `example.co.kr` holds `www.example.co.kr`.
    domains: BTreeSet<String>,
    /// Whether the crawl has no seeds of use: nothing is inside.
    nowhere: bool,
    include: Vec<Written>,
    exclude: Vec<Written>,
    max_depth: Option<u32>,
}

impl Scope {
    /// Every page of the web.
    #[must_use]
    pub fn everything() -> Self {
        Scope::default()
    }

    /// The registrable domains of the seeds; for hosts that have none (addresses, `localhost`), the
    /// hosts.
    #[must_use]
    pub fn of_seeds<'a>(seeds: impl IntoIterator<Item = &'a Url>) -> Self {
        let mut scope = Scope { nowhere: true, ..Scope::default() };
        for seed in seeds {
            match (domain_of(seed), seed.host_str()) {
                (Some(domain), _) => scope = scope.domain(&domain),
                (None, Some(host)) => scope = scope.host(host),
                (None, None) => {}
            }
        }
        scope
    }

    /// The hosts of the seeds and no others of their domains.
    #[must_use]
    pub fn hosts_of_seeds<'a>(seeds: impl IntoIterator<Item = &'a Url>) -> Self {
        let mut scope = Scope { nowhere: true, ..Scope::default() };
        for host in seeds.into_iter().filter_map(Url::host_str) {
            scope = scope.host(host);
        }
        scope
    }

    /// This host too.
    #[must_use]
    pub fn host(mut self, host: &str) -> Self {
        self.hosts.insert(written_host(host));
        self.nowhere = false;
        self
    }

    /// This domain and everything under it too. It need not be a registrable one: `docs.example.org`
    /// holds `a.docs.example.org`.
    #[must_use]
    pub fn domain(mut self, domain: &str) -> Self {
        self.domains.insert(written_host(domain));
        self.nowhere = false;
        self
    }

    /// Only pages whose path and query begin as this pattern or another include pattern says.
    #[must_use]
    pub fn include(mut self, pattern: &str) -> Self {
        self.include.push(Written { text: pattern.to_owned(), pattern: Pattern::new(pattern) });
        self
    }

    /// No page whose path and query begin as this pattern says.
    #[must_use]
    pub fn exclude(mut self, pattern: &str) -> Self {
        self.exclude.push(Written { text: pattern.to_owned(), pattern: Pattern::new(pattern) });
        self
    }

    /// Only pages at most so many links away from a seed; a seed itself is 0 away.
    #[must_use]
    pub fn max_depth(mut self, links: u32) -> Self {
        self.max_depth = Some(links);
        self
    }

    /// Whether a page, so many links away from a seed, belongs to the crawl.
    ///
    /// # Errors
    ///
    /// Why it does not.
    pub fn check(&self, url: &Url, depth: u32) -> Result<(), OutOfScope> {
        if let Some(limit) = self.max_depth.filter(|&limit| depth > limit) {
            return Err(OutOfScope::Depth { depth, limit });
        }
        let host = url.host_str().unwrap_or_default();
        if !self.holds_host(url, host) {
            return Err(OutOfScope::Host { host: host.to_owned() });
        }
        if self.include.is_empty() && self.exclude.is_empty() {
            return Ok(());
        }
        let path = path_and_query(url);
        if let Some(written) = self.exclude.iter().find(|written| written.pattern.matches(path)) {
            return Err(OutOfScope::Excluded { pattern: written.text.clone() });
        }
        if !self.include.is_empty()
            && !self.include.iter().any(|written| written.pattern.matches(path))
        {
            return Err(OutOfScope::NotIncluded { path: path.to_owned() });
        }
        Ok(())
    }

    fn holds_host(&self, url: &Url, host: &str) -> bool {
        if self.hosts.is_empty() && self.domains.is_empty() {
            return !self.nowhere;
        }
        if self.hosts.contains(host) {
            return true;
        }
        if self.domains.is_empty() || !matches!(url.host(), Some(Host::Domain(_))) {
            return false;
        }
        // The host and everything it is under, longest first.
        let mut name = host.trim_end_matches('.');
        loop {
            if self.domains.contains(name) {
                return true;
            }
            match name.split_once('.') {
                Some((_, parent)) => name = parent,
                None => return false,
            }
        }
    }
}

/// The registrable domain of an address, private suffixes included (`me.github.io`); none for IP
/// addresses and for hosts that are a suffix themselves.
#[must_use]
pub fn domain_of(url: &Url) -> Option<String> {
    registrable_domain(url.host_str()?).map(str::to_owned)
}

/// Path and query of an address, as robots.txt sees them.
#[must_use]
pub fn path_and_query(url: &Url) -> &str {
    let rest = &url[url::Position::BeforePath..url::Position::AfterQuery];
    if rest.is_empty() { "/" } else { rest }
}

/// A host as URLs write it: lower case, punycode; a text that is no host stays as it is.
fn written_host(host: &str) -> String {
    let host = host.trim_end_matches('.');
    Host::parse(host).map_or_else(|_| host.to_ascii_lowercase(), |host| host.to_string())
}
