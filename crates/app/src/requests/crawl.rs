//! Pages from the web.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use wonbon_crawl::canonical::Rules;
use wonbon_crawl::order::OrderName;
use wonbon_crawl::plan::{Plan, ScopeKind};
use wonbon_time::Dates;

use super::by_name;
use crate::error::RequestError;

/// Seeds that are taken.
const MOST_SEEDS: usize = 10_000;

/// Pages a crawl of the service asks for if nobody says how many.
pub const USUAL_PAGES: u64 = 1000;

/// Pages from the web into the store, as a sweep of the moment the crawl begins: as `wonbon crawl`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CrawlRequest {
    /// Pages to start with.
    pub seeds: Vec<String>,
    /// Which of the known pages comes next; `damped` if not said.
    #[serde(default, with = "by_name")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub order: Option<OrderName>,
    /// Where the crawl goes: `domain` (the seeds' domains, if not said), `host` or `all`.
    #[serde(default, with = "by_name")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub scope: Option<ScopeKind>,
    /// Hosts that belong to it beside.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Domains that belong to it beside.
    #[serde(default)]
    pub domains: Vec<String>,
    /// Only paths that begin like one of these.
    #[serde(default)]
    pub include: Vec<String>,
    /// No paths that begin like one of these.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Stop after so many pages; 1000 if not said.
    #[serde(default)]
    pub pages: Option<u64>,
    /// Stop after so many bytes of bodies.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// Go at most so many links away from a seed.
    #[serde(default)]
    pub depth: Option<u32>,
    /// Let in at most so many pages of a site, beside its seeds.
    #[serde(default)]
    pub site_pages: Option<u32>,
    /// Seconds between an answer and the next request to the same host; 1 if not said.
    #[serde(default)]
    pub delay: Option<f64>,
    /// Put the pages of a site behind all others after so many copies in a row.
    #[serde(default)]
    pub skip_copies: Option<u32>,
    /// Whether sitemaps are not read.
    #[serde(default)]
    pub no_sitemaps: bool,
    /// Who asks: a name, and where its owner can be reached.
    #[serde(default)]
    pub agent: Option<String>,
    /// The number of an earlier crawl: pages it has are asked for only if they changed.
    #[serde(default)]
    pub sweep_of: Option<u32>,
    /// Which dates decide who is the original: `created`, or `claimed` to take an earlier date that a
    /// page claims; those of the store if not said.
    #[serde(default, with = "by_name")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub dates: Option<Dates>,
}

impl CrawlRequest {
    /// Puts what was given into a plan: a new one, or that of a crawl that is resumed.
    ///
    /// # Errors
    ///
    /// [`RequestError::Parameter`] if the agent or the delay is out of range.
    pub fn change(&self, plan: &mut Plan) -> Result<(), RequestError> {
        let params = &mut plan.params;
        if let Some(order) = self.order {
            order.name().clone_into(&mut params.order);
        }
        if let Some(agent) = &self.agent {
            if agent.trim().is_empty() || !agent.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
                return Err(RequestError::parameter("agent", "a name of plain letters", agent));
            }
            params.agent.clone_from(agent);
        }
        if let Some(delay) = self.delay {
            if !(0.0..=86_400.0).contains(&delay) {
                return Err(RequestError::parameter("delay", "from 0 to 86400 seconds", delay));
            }
            plan.pace.delay = Duration::from_secs_f64(delay);
        }
        params.scope = self.scope.unwrap_or(params.scope);
        for (list, given) in [
            (&mut params.seeds, &self.seeds),
            (&mut params.hosts, &self.hosts),
            (&mut params.domains, &self.domains),
            (&mut params.include, &self.include),
            (&mut params.exclude, &self.exclude),
        ] {
            if !given.is_empty() {
                list.clone_from(given);
            }
        }
        params.depth = self.depth.or(params.depth);
        params.site_pages = self.site_pages.or(params.site_pages);
        params.skip_copies = self.skip_copies.or(params.skip_copies);
        params.sitemaps &= !self.no_sitemaps;
        if self.pages.is_some() || self.bytes.is_some() {
            (plan.pace.pages, plan.pace.bytes) = (self.pages, self.bytes);
        }
        Ok(())
    }

    /// The plan of a new crawl of the service, which ends after [`USUAL_PAGES`] unless it says otherwise.
    ///
    /// # Errors
    ///
    /// As [`CrawlRequest::change`], and if there are too many seeds or one cannot be crawled.
    pub fn plan(&self) -> Result<Plan, RequestError> {
        if self.seeds.len() > MOST_SEEDS {
            return Err(RequestError::TooManySeeds { most: MOST_SEEDS });
        }
        let mut plan = Plan::default();
        self.change(&mut plan)?;
        plan.pace.pages = Some(self.pages.unwrap_or(USUAL_PAGES));
        plan.params.canonical_seeds(&Rules::default())?;
        Ok(plan)
    }
}
