//! What can be asked for: the parameters of each kind of job.
//!
//! Only what changes the result, or how politely it is come by. Where results go, how many threads and
//! how much memory a job has, and which addresses may be asked beside the public ones is said by
//! whoever starts the service, never over HTTP.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wonbon_cluster::clustering::Policy;
use wonbon_cluster::deciding::{Engine, FamilyConfig};
use wonbon_cluster::families::{CopyRule, FamilyKind};
use wonbon_cluster::fields::ChosenFields;
use wonbon_cluster::keep::Keep;
use wonbon_crawl::canonical::Rules;
use wonbon_crawl::order::OrderName;
use wonbon_crawl::plan::{Pace, Params, Plan, ScopeKind};
use wonbon_store::Rule;

use crate::asked::date;
use crate::problem::{Code, Problem};

/// Seeds that are taken.
const MOST_SEEDS: usize = 10_000;

/// A job to be started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum JobAsked {
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
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FieldsAsked {
    /// The field with the text.
    pub(crate) text: Option<String>,
    /// The field with the id.
    pub(crate) id: Option<String>,
    /// The field with the address.
    pub(crate) url: Option<String>,
    /// The field with the creation time.
    pub(crate) created: Option<String>,
    /// The field with a page, used where there is no text.
    pub(crate) html: Option<String>,
    /// The field with the address a row leads to.
    pub(crate) redirect: Option<String>,
}

impl FieldsAsked {
    pub(super) fn chosen(&self) -> ChosenFields {
        let FieldsAsked { text, id, url, created, html, redirect } = self.clone();
        ChosenFields { text, id, url, created, html, redirect }
    }
}

/// Files into the store.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportAsked {
    /// Files and folders below the folder `in` of the jobs' directory.
    pub(crate) inputs: Vec<String>,
    /// The date of the sweep that saw the documents, if one did.
    #[serde(default)]
    pub(crate) sweep: Option<String>,
    /// Which field of a row means what.
    #[serde(default)]
    pub(crate) fields: FieldsAsked,
}

/// A corpus without its copies: as `wonbon dedup`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DedupAsked {
    /// Files and folders below the folder `in` of the jobs' directory.
    pub(crate) inputs: Vec<String>,
    /// Exact resemblance from which a document is a copy: above 0, up to 1; 0.8 if neither this nor a
    /// rule is said.
    #[serde(default)]
    pub(crate) threshold: Option<f64>,
    /// The papers' rule instead of a threshold, such as `2of6`.
    #[serde(default)]
    pub(crate) rule: Option<String>,
    /// How copies are put together: `star` or `linked`.
    #[serde(default)]
    pub(crate) family: Option<String>,
    /// How copies are looked for: `auto`, `exact` or `features`.
    #[serde(default)]
    pub(crate) engine: Option<String>,
    /// Which document of a family stays: `earliest`, `longest`, `first`, `last`, `min:FIELD` or
    /// `max:FIELD`.
    #[serde(default)]
    pub(crate) keep: Option<String>,
    /// Whether all rows are kept, with their verdicts.
    #[serde(default)]
    pub(crate) annotate: bool,
    /// Which field of a row means what.
    #[serde(default)]
    pub(crate) fields: FieldsAsked,
}

/// The clusters of a corpus: as `wonbon cluster`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClusterAsked {
    /// Files and folders below the folder `in` of the jobs' directory.
    pub(crate) inputs: Vec<String>,
    /// The least value of a pair: above 0, up to 1; 0.5 if not said.
    #[serde(default)]
    pub(crate) threshold: Option<f64>,
    /// What must reach it: `resemblance`, `containment` or `containment-of-earlier`.
    #[serde(default)]
    pub(crate) policy: Option<String>,
    /// Which field of a row means what.
    #[serde(default)]
    pub(crate) fields: FieldsAsked,
}

/// Pages from the web into the store, as a sweep of the moment the crawl begins: as `wonbon crawl`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CrawlAsked {
    /// Pages to start with.
    pub(crate) seeds: Vec<String>,
    /// Which of the known pages comes next; `damped` if not said.
    #[serde(default)]
    pub(crate) order: Option<String>,
    /// Where the crawl goes: `domain` (the seeds' domains, if not said), `host` or `all`.
    #[serde(default)]
    pub(crate) scope: Option<String>,
    /// Hosts that belong to it beside.
    #[serde(default)]
    pub(crate) hosts: Vec<String>,
    /// Domains that belong to it beside.
    #[serde(default)]
    pub(crate) domains: Vec<String>,
    /// Only paths that begin like one of these.
    #[serde(default)]
    pub(crate) include: Vec<String>,
    /// No paths that begin like one of these.
    #[serde(default)]
    pub(crate) exclude: Vec<String>,
    /// Stop after so many pages; 1000 if not said.
    #[serde(default)]
    pub(crate) pages: Option<u64>,
    /// Stop after so many bytes of bodies.
    #[serde(default)]
    pub(crate) bytes: Option<u64>,
    /// Go at most so many links away from a seed.
    #[serde(default)]
    pub(crate) depth: Option<u32>,
    /// Let in at most so many pages of a site, beside its seeds.
    #[serde(default)]
    pub(crate) site_pages: Option<u32>,
    /// Seconds between an answer and the next request to the same host; 1 if not said.
    #[serde(default)]
    pub(crate) delay: Option<f64>,
    /// Put the pages of a site behind all others after so many copies in a row.
    #[serde(default)]
    pub(crate) skip_copies: Option<u32>,
    /// Whether sitemaps are not read.
    #[serde(default)]
    pub(crate) no_sitemaps: bool,
    /// Who asks: a name, and where its owner can be reached.
    #[serde(default)]
    pub(crate) agent: Option<String>,
    /// The number of an earlier crawl: pages it has are asked for only if they changed.
    #[serde(default)]
    pub(crate) sweep_of: Option<u32>,
}

/// Pages a crawl asks for if nobody says how many.
pub(crate) const USUAL_PAGES: u64 = 1000;

fn wrong(detail: impl Into<String>) -> Problem {
    Problem::new(Code::BadParameter, detail)
}

fn share(threshold: f64) -> Result<f64, Problem> {
    match threshold {
        share if share > 0.0 && share <= 1.0 => Ok(share),
        other => Err(wrong(format!("`threshold` is above 0 and at most 1, not {other}"))),
    }
}

fn one_of<T: Copy>(name: &str, given: Option<&str>, known: &[(&str, T)]) -> Result<T, Problem> {
    let Some(given) = given else { return Ok(known[0].1) };
    known.iter().find(|(name, _)| *name == given).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<String> = known.iter().map(|(name, _)| format!("`{name}`")).collect();
        wrong(format!("`{name}` is one of {}, not `{given}`", names.join(", ")))
    })
}

impl JobAsked {
    pub(crate) const KINDS: [&str; 4] = ["import", "dedup", "cluster", "crawl"];

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            JobAsked::Import(_) => "import",
            JobAsked::Dedup(_) => "dedup",
            JobAsked::Cluster(_) => "cluster",
            JobAsked::Crawl(_) => "crawl",
        }
    }

    pub(crate) fn is_crawl(&self) -> bool {
        matches!(self, JobAsked::Crawl(_))
    }

    /// The files it reads.
    pub(crate) fn inputs(&self) -> &[String] {
        match self {
            JobAsked::Import(asked) => &asked.inputs,
            JobAsked::Dedup(asked) => &asked.inputs,
            JobAsked::Cluster(asked) => &asked.inputs,
            JobAsked::Crawl(_) => &[],
        }
    }

    /// What it is about, in a line.
    pub(crate) fn about(&self) -> String {
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
    pub(crate) fn check(&self) -> Result<(), Problem> {
        match self {
            JobAsked::Import(asked) => asked.sweep().map(|_| ()),
            JobAsked::Dedup(asked) => asked.method().map(|_| ()),
            JobAsked::Cluster(asked) => asked.last_phase().map(|_| ()),
            JobAsked::Crawl(asked) => asked.plan().map(|_| ()),
        }
    }
}

impl ImportAsked {
    pub(super) fn sweep(&self) -> Result<Option<i64>, Problem> {
        date("sweep", self.sweep.as_deref())
    }
}

impl DedupAsked {
    /// How families are found; threads and memory are the service's.
    pub(super) fn method(&self) -> Result<FamilyConfig, Problem> {
        let rule = match (&self.rule, self.threshold) {
            (Some(_), Some(_)) => return Err(wrong("say a `threshold` or a `rule`, not both")),
            (Some(rule), None) => match rule.parse() {
                Ok(Rule::Features(least)) => CopyRule::Agreeing(least as u32),
                Ok(Rule::Threshold(threshold)) => CopyRule::Threshold(share(threshold)?),
                Err(error) => return Err(wrong(format!("`rule`: {error}"))),
            },
            (None, threshold) => CopyRule::Threshold(share(threshold.unwrap_or(0.8))?),
        };
        let family = [("star", FamilyKind::Star), ("linked", FamilyKind::Linked)];
        let engines =
            [("auto", Engine::Auto), ("exact", Engine::Exact), ("features", Engine::Features)];
        let keep = match &self.keep {
            None => Keep::default(),
            Some(text) => text.parse().map_err(|error| wrong(format!("`keep`: {error}")))?,
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
    pub(super) fn last_phase(&self) -> Result<(f64, Policy), Problem> {
        let policies = [
            ("resemblance", Policy::Resemblance),
            ("containment", Policy::Containment),
            ("containment-of-earlier", Policy::ContainmentOfEarlier),
        ];
        let policy = one_of("policy", self.policy.as_deref(), &policies)?;
        Ok((share(self.threshold.unwrap_or(0.5))?, policy))
    }
}

impl CrawlAsked {
    /// How the crawl is done.
    pub(super) fn plan(&self) -> Result<Plan, Problem> {
        if self.seeds.len() > MOST_SEEDS {
            return Err(wrong(format!("at most {MOST_SEEDS} seeds are taken")));
        }
        let usual = Params::default();
        let scopes =
            [("domain", ScopeKind::Domain), ("host", ScopeKind::Host), ("all", ScopeKind::All)];
        let order = self.order.clone().unwrap_or(usual.order);
        order.parse::<OrderName>().map_err(|error| wrong(error.to_string()))?;
        let agent = self.agent.clone().unwrap_or(usual.agent);
        if agent.trim().is_empty() || !agent.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
            return Err(wrong("`agent` is a name of plain letters"));
        }
        let delay = self.delay.unwrap_or_else(|| Pace::default().delay.as_secs_f64());
        if !(0.0..=3600.0).contains(&delay) {
            return Err(wrong(format!("`delay` is from 0 to 3600 seconds, not {delay}")));
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
        params.canonical_seeds(&Rules::default()).map_err(|error| wrong(error.to_string()))?;
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
            Ok(asked) => asked.check().unwrap_err().detail,
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
