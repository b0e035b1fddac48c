//! What can be asked for: the parameters of each kind of job.
//!
//! Only what changes the result, or how politely it is come by. Where results go, how many threads and
//! how much memory a job has, and which addresses may be asked beside the public ones is said by
//! whoever starts the service, never over HTTP.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use wonbon_cluster::clustering::Policy;
use wonbon_cluster::deciding::{Engine, FamilyConfig};
use wonbon_cluster::families::FamilyKind;
use wonbon_cluster::keep::Keep;
use wonbon_crawl::canonical::Rules;
use wonbon_crawl::order::OrderName;
use wonbon_crawl::plan::{Pace, Params, Plan, ScopeKind};
use wonbon_documents::{ChosenFields, Dates};
use wonbon_store::Rule;
use wonbon_time::Timestamp;

use crate::error::RequestError;
use crate::parameters::{USUAL_THRESHOLD, date, dates, one_of, threshold as threshold_of};

/// Seeds that are taken.
const MOST_SEEDS: usize = 10_000;

/// A job to be started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum JobAsked {
    /// Files into the store.
    Import(ImportAsked),
    /// A corpus without its copies.
    Dedup(DedupAsked),
    /// The clusters of a corpus, as in 1997.
    Cluster(ClusterAsked),
    /// Pages from the web into the store.
    Crawl(CrawlAsked),
}

/// Which field of a row means what; guessed from the first row where it is not said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct FieldsAsked {
    /// The field with the text.
    pub text: Option<String>,
    /// The field with the id.
    pub id: Option<String>,
    /// The field with the address.
    pub url: Option<String>,
    /// The field with the creation time.
    pub created: Option<String>,
    /// The field with a page, used where there is no text.
    pub html: Option<String>,
    /// The field with the address a row leads to.
    pub redirect: Option<String>,
}

impl FieldsAsked {
    pub(super) fn chosen(&self) -> ChosenFields {
        let FieldsAsked { text, id, url, created, html, redirect } = self.clone();
        ChosenFields { text, id, url, created, html, redirect }
    }
}

/// Files into the store.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ImportAsked {
    /// Files and folders below the folder `in` of the jobs' directory.
    pub inputs: Vec<String>,
    /// The date of the sweep that saw the documents, if one did.
    #[serde(default)]
    pub sweep: Option<String>,
    /// Which dates decide who is the original: `created`, or `claimed` to take the date that a page
    /// claims where there is no creation time; those of the store if not said.
    #[serde(default)]
    pub dates: Option<String>,
    /// Which field of a row means what.
    #[serde(default)]
    pub fields: FieldsAsked,
}

/// A corpus without its copies: as `wonbon dedup`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct DedupAsked {
    /// Files and folders below the folder `in` of the jobs' directory.
    pub inputs: Vec<String>,
    /// Exact resemblance from which a document is a copy: above 0, up to 1; 0.8 if neither this nor a
    /// rule is said.
    #[serde(default)]
    pub threshold: Option<f64>,
    /// The papers' rule instead of a threshold, such as `2of6`.
    #[serde(default)]
    pub rule: Option<String>,
    /// How copies are put together: `star` or `linked`.
    #[serde(default)]
    pub family: Option<String>,
    /// How copies are looked for: `auto`, `exact` or `features`.
    #[serde(default)]
    pub engine: Option<String>,
    /// Which document of a family stays: `earliest`, `longest`, `first`, `last`, `min:FIELD` or
    /// `max:FIELD`.
    #[serde(default)]
    pub keep: Option<String>,
    /// Whether all rows are kept, with their verdicts.
    #[serde(default)]
    pub annotate: bool,
    /// Which dates decide who is the original: `created` (if not said), or `claimed` to take the date
    /// that a page claims where there is no creation time.
    #[serde(default)]
    pub dates: Option<String>,
    /// Which field of a row means what.
    #[serde(default)]
    pub fields: FieldsAsked,
}

/// The clusters of a corpus: as `wonbon cluster`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ClusterAsked {
    /// Files and folders below the folder `in` of the jobs' directory.
    pub inputs: Vec<String>,
    /// The least value of a pair: above 0, up to 1; 0.5 if not said.
    #[serde(default)]
    pub threshold: Option<f64>,
    /// What must reach it: `resemblance`, `containment` or `containment-of-earlier`.
    #[serde(default)]
    pub policy: Option<String>,
    /// Which dates decide who is the original: `created` (if not said), or `claimed` to take the date
    /// that a page claims where there is no creation time.
    #[serde(default)]
    pub dates: Option<String>,
    /// Which field of a row means what.
    #[serde(default)]
    pub fields: FieldsAsked,
}

/// Pages from the web into the store, as a sweep of the moment the crawl begins: as `wonbon crawl`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CrawlAsked {
    /// Pages to start with.
    pub seeds: Vec<String>,
    /// Which of the known pages comes next; `damped` if not said.
    #[serde(default)]
    pub order: Option<String>,
    /// Where the crawl goes: `domain` (the seeds' domains, if not said), `host` or `all`.
    #[serde(default)]
    pub scope: Option<String>,
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
    #[serde(default)]
    pub dates: Option<String>,
}

/// Pages a crawl asks for if nobody says how many.
pub const USUAL_PAGES: u64 = 1000;

impl JobAsked {
    /// The names of all kinds.
    pub const KINDS: [&str; 4] = ["import", "dedup", "cluster", "crawl"];

    /// The name of its kind.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            JobAsked::Import(_) => "import",
            JobAsked::Dedup(_) => "dedup",
            JobAsked::Cluster(_) => "cluster",
            JobAsked::Crawl(_) => "crawl",
        }
    }

    /// Whether it is a crawl.
    #[must_use]
    pub fn is_crawl(&self) -> bool {
        matches!(self, JobAsked::Crawl(_))
    }

    /// The files it reads.
    pub fn inputs(&self) -> &[String] {
        match self {
            JobAsked::Import(asked) => &asked.inputs,
            JobAsked::Dedup(asked) => &asked.inputs,
            JobAsked::Cluster(asked) => &asked.inputs,
            JobAsked::Crawl(_) => &[],
        }
    }

    /// What it is about, in a line.
    pub fn about(&self) -> String {
        let parts = match self {
            JobAsked::Crawl(asked) => &asked.seeds,
            other => other.inputs(),
        };
        let first = parts.first().cloned().unwrap_or_default();
        match parts.len() {
            0 | 1 => first,
            many => format!("{first} +{}", many - 1),
        }
    }

    /// Refuses what could not be done whatever the files hold.
    pub fn check(&self) -> Result<(), RequestError> {
        match self {
            JobAsked::Import(asked) => asked.sweep().and(asked.dates()).map(|_| ()),
            JobAsked::Dedup(asked) => asked.method().and(asked.dates()).map(|_| ()),
            JobAsked::Cluster(asked) => asked.last_phase().and(asked.dates()).map(|_| ()),
            JobAsked::Crawl(asked) => asked.plan().and(asked.dates()).map(|_| ()),
        }
    }
}

impl ImportAsked {
    pub(super) fn dates(&self) -> Result<Option<Dates>, RequestError> {
        dates(self.dates.as_deref())
    }

    pub(super) fn sweep(&self) -> Result<Option<Timestamp>, RequestError> {
        date("sweep", self.sweep.as_deref())
    }
}

impl DedupAsked {
    pub(super) fn dates(&self) -> Result<Dates, RequestError> {
        Ok(dates(self.dates.as_deref())?.unwrap_or_default())
    }

    /// How families are found; threads and memory are the service's.
    pub(super) fn method(&self) -> Result<FamilyConfig, RequestError> {
        let rule = match (&self.rule, self.threshold) {
            (Some(_), Some(_)) => {
                return Err(RequestError::Both { one: "threshold", other: "rule" });
            }
            (Some(rule), None) => match rule.parse() {
                Ok(rule) => rule,
                Err(error) => return Err(RequestError::unreadable("rule", error)),
            },
            (None, threshold) => {
                Rule::Threshold(threshold_of(threshold.unwrap_or(USUAL_THRESHOLD))?)
            }
        };
        let family = [("star", FamilyKind::Star), ("linked", FamilyKind::Linked)];
        let engines =
            [("auto", Engine::Auto), ("exact", Engine::Exact), ("features", Engine::Features)];
        let keep = match &self.keep {
            None => Keep::default(),
            Some(text) => text.parse().map_err(|error| RequestError::unreadable("keep", error))?,
        };
        Ok(FamilyConfig {
            rule,
            family: one_of("family", self.family.as_deref(), &family)?,
            engine: one_of("engine", self.engine.as_deref(), &engines)?,
            keep,
            ..FamilyConfig::default()
        })
    }
}

impl ClusterAsked {
    pub(super) fn dates(&self) -> Result<Dates, RequestError> {
        Ok(dates(self.dates.as_deref())?.unwrap_or_default())
    }

    pub(super) fn last_phase(&self) -> Result<(f64, Policy), RequestError> {
        let policies = [
            ("resemblance", Policy::Resemblance),
            ("containment", Policy::Containment),
            ("containment-of-earlier", Policy::ContainmentOfEarlier),
        ];
        let policy = one_of("policy", self.policy.as_deref(), &policies)?;
        Ok((threshold_of(self.threshold.unwrap_or(0.5))?, policy))
    }
}

impl CrawlAsked {
    pub(super) fn dates(&self) -> Result<Option<Dates>, RequestError> {
        dates(self.dates.as_deref())
    }

    /// How the crawl is done.
    pub(super) fn plan(&self) -> Result<Plan, RequestError> {
        if self.seeds.len() > MOST_SEEDS {
            return Err(RequestError::TooManySeeds { most: MOST_SEEDS });
        }
        let usual = Params::default();
        let scopes =
            [("domain", ScopeKind::Domain), ("host", ScopeKind::Host), ("all", ScopeKind::All)];
        let order = self.order.clone().unwrap_or(usual.order);
        order.parse::<OrderName>().map_err(|error| RequestError::unreadable("order", error))?;
        let agent = self.agent.clone().unwrap_or(usual.agent);
        if agent.trim().is_empty() || !agent.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
            return Err(RequestError::parameter("agent", "a name of plain letters", agent));
        }
        let delay = self.delay.unwrap_or_else(|| Pace::default().delay.as_secs_f64());
        if !(0.0..=3600.0).contains(&delay) {
            return Err(RequestError::parameter("delay", "from 0 to 3600 seconds", delay));
        }
        let params = Params {
            seeds: self.seeds.clone(),
            order,
            scope: one_of("scope", self.scope.as_deref(), &scopes)?,
            hosts: self.hosts.clone(),
            domains: self.domains.clone(),
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            depth: self.depth,
            site_pages: self.site_pages,
            skip_copies: self.skip_copies,
            sitemaps: !self.no_sitemaps,
            agent,
            ..Params::default()
        };
        let pace = Pace {
            pages: Some(self.pages.unwrap_or(USUAL_PAGES)),
            bytes: self.bytes,
            delay: Duration::from_secs_f64(delay),
            ..Pace::default()
        };
        params.canonical_seeds(&Rules::default())?;
        Ok(Plan { params, pace })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let asked: Result<JobAsked, _> = serde_json::from_str(text);
        match asked {
            Err(error) => error.to_string(),
            Ok(asked) => asked.check().unwrap_err().to_string(),
        }
    }

    #[test]
    fn what_cannot_be_done_is_refused_with_its_name() {
        for (text, about) in [
            (r#"{"kind":"sing"}"#, "sing"),
            (r#"{"kind":"import"}"#, "inputs"),
            (r#"{"kind":"import","inputs":["a"],"sweep":"soon"}"#, "sweep"),
            (r#"{"kind":"import","inputs":["a"],"output":"/etc"}"#, "output"),
            (r#"{"kind":"dedup","inputs":["a"],"threshold":0}"#, "threshold"),
            (r#"{"kind":"dedup","inputs":["a"],"threshold":0.5,"rule":"2of6"}"#, "not both"),
            (r#"{"kind":"dedup","inputs":["a"],"rule":"7of6"}"#, "rule"),
            (r#"{"kind":"dedup","inputs":["a"],"keep":"best"}"#, "keep"),
            (r#"{"kind":"cluster","inputs":["a"],"policy":"none"}"#, "policy"),
            (r#"{"kind":"crawl","seeds":[]}"#, "no page"),
            (r#"{"kind":"crawl","seeds":["ftp://a.example"]}"#, "ftp://a.example"),
            (r#"{"kind":"crawl","seeds":["http://a.example"],"order":"best"}"#, "best"),
            (r#"{"kind":"crawl","seeds":["http://a.example"],"delay":-1}"#, "delay"),
            (r#"{"kind":"crawl","seeds":["http://a.example"],"agent":"a\nb"}"#, "agent"),
            (
                r#"{"kind":"crawl","seeds":["http://a.example"],"allow_private":["10.0.0.0/8"]}"#,
                "allow_private",
            ),
            (
                r#"{"kind":"crawl","seeds":["http://a.example"],"include":["/x"]}"#,
                "outside the scope",
            ),
        ] {
            let detail = refused(text);
            assert!(detail.contains(about), "{text}: {detail}");
        }
    }

    #[test]
    fn what_is_asked_comes_back_from_its_record() {
        let text = r#"{"kind":"crawl","seeds":["http://a.example/"],"pages":7,"delay":0.5}"#;
        let asked: JobAsked = serde_json::from_str(text).unwrap();
        let again: JobAsked =
            serde_json::from_str(&serde_json::to_string(&asked).unwrap()).unwrap();
        assert_eq!(asked, again);
        assert_eq!((asked.kind(), asked.about().as_str()), ("crawl", "http://a.example/"));
        assert!(asked.check().is_ok());
    }
}
