//! How a crawl is to be done.
//!
//! Two halves. What decides which pages a crawl finds ([`Params`]) is written into its log and must
//! be the same when the crawl goes on. How fast and how far it goes ([`Pace`]) may differ each time:
//! a crawl that was ended by its budget goes on with a larger one.

use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::canonical::Rules;
use crate::error::CrawlError;
use crate::fetch::FetchLimits;
use crate::graph::SiteRule;
use crate::politeness::Manners;
use crate::scope::Scope;

/// How a crawl is to be done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What decides which pages are found.
    pub params: Params,
    /// How fast and how far.
    pub pace: Pace,
}

/// Where a crawl goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScopeKind {
    /// The registrable domains of the seeds, and what is named beside.
    #[default]
    Domain,
    /// The hosts of the seeds, and what is named beside.
    Host,
    /// Everywhere; if hosts or domains are named, only there.
    All,
}

impl fmt::Display for ScopeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ScopeKind::Domain => "domain",
            ScopeKind::Host => "host",
            ScopeKind::All => "all",
        })
    }
}

/// The text names no scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write domain, host or all")]
pub struct NotAScope;

impl FromStr for ScopeKind {
    type Err = NotAScope;

    fn from_str(text: &str) -> Result<Self, NotAScope> {
        match text {
            "domain" => Ok(ScopeKind::Domain),
            "host" => Ok(ScopeKind::Host),
            "all" => Ok(ScopeKind::All),
            _ => Err(NotAScope),
        }
    }
}

/// What decides which pages a crawl finds. Written into the log; a crawl goes on only with the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// Where it starts.
    pub seeds: Vec<String>,
    /// The name of its ordering.
    pub order: String,
    /// What the ordering draws from, if it draws.
    pub order_seed: u64,
    /// What a site is to the ordering.
    #[serde(with = "by_name")]
    pub site: SiteRule,
    /// Where it goes.
    pub scope: ScopeKind,
    /// Hosts that belong to it beside.
    pub hosts: Vec<String>,
    /// Domains that belong to it beside.
    pub domains: Vec<String>,
    /// Paths must match one of these, if there are any.
    pub include: Vec<String>,
    /// Paths must match none of these.
    pub exclude: Vec<String>,
    /// How many links away from a seed it goes.
    pub depth: Option<u32>,
    /// Pages that are let in of a site, beside its seeds.
    pub site_pages: Option<u32>,
    /// Whether the sitemaps that robots.txt names are read.
    pub sitemaps: bool,
    /// The whole `User-Agent`; up to the first slash or space it is what robots.txt is asked by.
    pub agent: String,
    /// Copies in a row after which a site's pages go behind all others.
    pub skip_copies: Option<u32>,
    /// What bounds a fetch.
    pub limits: FetchLimits,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            seeds: Vec::new(),
            order: "damped".to_owned(),
            order_seed: 1,
            site: SiteRule::Domain,
            scope: ScopeKind::Domain,
            hosts: Vec::new(),
            domains: Vec::new(),
            include: Vec::new(),
            exclude: Vec::new(),
            depth: None,
            site_pages: None,
            sitemaps: true,
            agent: concat!("wonbon/", env!("CARGO_PKG_VERSION")).to_owned(),
            skip_copies: None,
            limits: FetchLimits::default(),
        }
    }
}

/// Rules about sites are written by their names.
mod by_name {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    use crate::graph::SiteRule;

    pub(super) fn serialize<S: Serializer>(rule: &SiteRule, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(rule.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<SiteRule, D::Error> {
        String::deserialize(input)?.parse().map_err(D::Error::custom)
    }
}

/// How fast a crawl goes, and how far this time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pace {
    /// Pages that are asked for at most, over all times the crawl was gone on with.
    pub pages: Option<u64>,
    /// Bytes of bodies after which no further page is asked for.
    pub bytes: Option<u64>,
    /// Time between the end of an answer and the next request to the same host or address. A
    /// second: what most sites bear without noticing.
    pub delay: Duration,
    /// The longest crawl-delay of a robots.txt that is heeded in full.
    pub most_crawl_delay: Duration,
    /// The first back-off after 429 or 503.
    pub first_back_off: Duration,
    /// The longest back-off.
    pub most_back_off: Duration,
    /// How often a page is asked for when the answer is "later" or none at all.
    pub tries: u8,
    /// Redirects in a row that are followed.
    pub redirects: u8,
    /// Requests that are under way at a time, over all hosts. 64: enough for a few dozen sites at a
    /// second each; more costs a connection and up to a body of memory each.
    pub concurrency: usize,
    /// Connections to one host and to one address at a time. More than one is for servers of one's
    /// own.
    pub connections: u32,
    /// Threads that read pages.
    pub threads: usize,
    /// How long what was fetched may wait to be durable; this much is fetched again after a crash.
    pub commit_every: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        let manners = Manners::default();
        Pace {
            pages: None,
            bytes: None,
            delay: manners.delay,
            most_crawl_delay: manners.most_crawl_delay,
            first_back_off: manners.first_back_off,
            most_back_off: manners.most_back_off,
            tries: 3,
            redirects: 5,
            concurrency: 64,
            connections: manners.connections,
            threads: std::thread::available_parallelism().map_or(1, usize::from).min(8),
            commit_every: Duration::from_millis(500),
        }
    }
}

impl Pace {
    pub(crate) fn manners(&self) -> Manners {
        Manners {
            delay: self.delay,
            most_crawl_delay: self.most_crawl_delay,
            first_back_off: self.first_back_off,
            most_back_off: self.most_back_off,
            connections: self.connections.max(1),
        }
    }
}

impl Params {
    /// The name by which robots.txt is asked.
    #[must_use]
    pub fn product(&self) -> &str {
        self.agent.split(['/', ' ']).next().unwrap_or_default()
    }

    /// The seeds in canonical form, none twice.
    ///
    /// # Errors
    ///
    /// There are none, one is no address, or one is outside the scope.
    pub fn canonical_seeds(&self, rules: &Rules) -> Result<Vec<Url>, CrawlError> {
        let mut seeds: Vec<Url> = Vec::new();
        for seed in &self.seeds {
            let url = rules
                .canonical(None, seed.trim())
                .map_err(|_| CrawlError::BadSeed { seed: seed.clone() })?;
            if !seeds.contains(&url) {
                seeds.push(url);
            }
        }
        if seeds.is_empty() {
            return Err(CrawlError::NoSeeds);
        }
        let scope = self.scope(&seeds);
        for seed in &seeds {
            scope.check(seed, 0).map_err(|why| CrawlError::SeedOutOfScope {
                seed: seed.to_string(),
                why: why.to_string(),
            })?;
        }
        Ok(seeds)
    }

    /// What belongs to the crawl.
    #[must_use]
    pub fn scope(&self, seeds: &[Url]) -> Scope {
        let mut scope = match self.scope {
            ScopeKind::Domain => Scope::of_seeds(seeds),
            ScopeKind::Host => Scope::hosts_of_seeds(seeds),
            ScopeKind::All => Scope::everything(),
        };
        scope = self.hosts.iter().fold(scope, |scope, host| scope.host(host));
        scope = self.domains.iter().fold(scope, |scope, domain| scope.domain(domain));
        scope = self.include.iter().fold(scope, |scope, pattern| scope.include(pattern));
        scope = self.exclude.iter().fold(scope, |scope, pattern| scope.exclude(pattern));
        match self.depth {
            Some(depth) => scope.max_depth(depth),
            None => scope,
        }
    }

    /// Whether a crawl begun with `self` can go on with `asked`.
    ///
    /// # Errors
    ///
    /// [`CrawlError::OtherPlan`] with the first difference and both values.
    pub fn check_same(&self, asked: &Params, path: &Path) -> Result<(), CrawlError> {
        let (was, asked) = (serde_json::json!(self), serde_json::json!(asked));
        let fields = was.as_object().into_iter().flat_map(|fields| fields.keys());
        for what in fields {
            if was[what] != asked[what] {
                return Err(CrawlError::OtherPlan {
                    path: path.to_owned(),
                    what: what.clone(),
                    was: was[what].to_string(),
                    asked: asked[what].to_string(),
                });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_the_params_is_compared() {
        let json = serde_json::json!(Params::default());
        let fields = json.as_object().unwrap();
        assert!(fields.contains_key("seeds"));
        for (name, value) in fields {
            let mut other = json.clone();
            let text = value.to_string();
            other[name] = match value {
                serde_json::Value::Null => 7.into(),
                serde_json::Value::Bool(is) => (!is).into(),
                serde_json::Value::Number(_) => 9.into(),
                serde_json::Value::Array(_) => vec!["x"].into(),
                serde_json::Value::Object(_) => {
                    let mut limits = value.clone();
                    limits["body_bytes"] = 1.into();
                    limits
                }
                serde_json::Value::String(_) => "host".into(),
            };
            let other: Params = serde_json::from_value(other).unwrap();
            let error = Params::default().check_same(&other, Path::new("d")).unwrap_err();
            assert!(error.to_string().contains(&text), "{name}: {error}");
        }
    }
}
