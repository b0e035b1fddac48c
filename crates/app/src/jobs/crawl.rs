//! A crawl: pages from the web into the store the service serves, as one sweep.
//!
//! Its log, WARC archive, texts, link graph and report go to the folder `crawl` of the job. What it may
//! reach is the service's to say ([`super::JobsConfig::guard`]): every name is resolved, every address
//! judged, every redirect judged again, whatever the seeds and the pages say.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use wonbon_crawl::CrawlError;
use wonbon_crawl::canonical::Rules;
use wonbon_crawl::crawl::Crawl;
use wonbon_crawl::fetch::Fetcher;
use wonbon_crawl::fetch::network::{Network, NetworkConfig};
use wonbon_crawl::plan::Plan;
use wonbon_crawl::progress::{Control, Ended, Observer, Stats, Summary};
use wonbon_store::StoreError;

use super::hosts::Counting;
use super::record::{CrawledSite, CurvePoint};
use super::request::CrawlAsked;
use super::{Entry, Jobs, Stopped, sentence, store_failed};
use crate::crawl::{StoreSink, write_results};
use crate::error::{AppError, RequestError};

/// Points of a curve while a crawl runs.
const POINTS: usize = 200;
/// Sites that the record names.
const SITES: usize = 50;

/// Where a crawl is in its job's directory.
const FOLDER: &str = "crawl";

impl Jobs {
    fn network(&self, plan: &Plan) -> Result<Network, CrawlError> {
        Network::new(NetworkConfig {
            agent: plan.params.agent.clone(),
            limits: plan.params.limits,
            guard: self.config.guard.clone(),
            ..NetworkConfig::default()
        })
    }

    /// Refuses seeds that must not be asked or have no address, and an earlier crawl that is none.
    pub(super) fn check_crawl(&self, asked: &CrawlAsked) -> Result<(), AppError> {
        let plan = asked.plan()?;
        if let Some(number) = asked.sweep_of {
            let is_crawl = self.get(number)?.job().asked.is_crawl();
            if !is_crawl {
                return Err(RequestError::NotACrawl { number }.into());
            }
        }
        let network = self.network(&plan).map_err(RequestError::from)?;
        let seeds = plan.params.canonical_seeds(&Rules::default()).map_err(RequestError::from)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|source| AppError::Io { doing: "start a runtime", source })?;
        let mut hosts = std::collections::HashSet::new();
        for seed in &seeds {
            let host = seed.host_str().unwrap_or_default();
            if !hosts.insert((host, seed.port())) {
                continue;
            }
            if let Err(why) = self.config.guard.permits_url(seed) {
                let why = why.to_string();
                return Err(AppError::ForbiddenSeed { seed: seed.to_string(), why });
            }
            if let Err(source) = runtime.block_on(network.resolve(host)) {
                return Err(AppError::Seed { seed: seed.to_string(), source });
            }
        }
        Ok(())
    }

    /// Refuses a crawl whose sweep is not the store's latest any more.
    pub(super) fn check_sweep(&self, directory: &Path) -> Result<(), AppError> {
        let folder = directory.join(FOLDER);
        match Crawl::begun_of(&folder) {
            Ok(begun) => {
                StoreSink::sweep(self.store.clone(), begun, None)?;
                Ok(())
            }
            // It had not begun.
            Err(_) => Ok(()),
        }
    }
}

/// Tells a job's record how a crawl goes.
struct Recorder<'a> {
    entry: &'a Entry,
    counting: &'a Counting,
    most: Option<u64>,
}

impl Recorder<'_> {
    fn record(&self, stats: &Stats) {
        let (hosts, failures) = self.counting.told();
        self.entry.progress(|job| {
            "crawl".clone_into(&mut job.progress.phase);
            job.progress.done = stats.asked;
            job.progress.total = self.most;
            job.progress.counts = counts(stats);
            let crawl = job.crawl.get_or_insert_default();
            crawl.outcomes =
                stats.outcomes.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
            crawl.hosts = hosts;
            crawl.failures = failures;
            crawl.exact = false;
            let point =
                CurvePoint { pages: stats.pages, share: stats.link_share, sites: stats.sites };
            if stats.pages > crawl.curve.last().map_or(0, |last| last.pages) {
                crawl.curve.push(point);
            }
            if crawl.curve.len() > POINTS {
                let mut at = 0;
                crawl.curve.retain(|_| {
                    at += 1;
                    at % 2 == 0
                });
            }
        });
    }
}

fn counts(stats: &Stats) -> std::collections::BTreeMap<String, u64> {
    [
        ("known", stats.known),
        ("done", stats.done),
        ("asked", stats.asked),
        ("pages", stats.pages),
        ("bytes", stats.bytes),
        ("originals", stats.originals),
        ("copies", stats.copies),
        ("links", stats.links),
        ("out_of_scope", stats.out_of_scope),
        ("traps", stats.traps),
        ("waiting", stats.waiting),
        ("active", stats.active),
        ("hosts", stats.hosts),
        ("sites", stats.sites),
        ("errors", stats.errors()),
    ]
    .into_iter()
    .map(|(name, count)| (name.to_owned(), count))
    .collect()
}

impl Observer for Recorder<'_> {
    fn progress(&self, stats: &Stats) {
        self.record(stats);
    }

    fn say(&self, sentence: &str) {
        self.entry.note(sentence);
    }
}

/// The crawl of a job: gone on with if it has begun, begun otherwise.
fn opened(jobs: &Jobs, folder: &Path, asked: &CrawlAsked, plan: Plan) -> Result<Crawl, CrawlError> {
    match Crawl::plan_of(folder) {
        Ok(begun) => {
            // What decides its result stays as it was, whatever a later version would take for usual.
            return Crawl::resume(folder, Plan { params: begun.params, pace: plan.pace });
        }
        // Nothing, or what a kill left that came before the first record.
        Err(CrawlError::NoCrawl { .. } | CrawlError::NoLog { .. }) => {}
        Err(error) => return Err(error),
    }
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|source| CrawlError::Io {
            doing: "remove",
            path: folder.to_owned(),
            source,
        })?;
    }
    let before =
        asked.sweep_of.map(|number| jobs.config.directory.join(number.to_string()).join(FOLDER));
    Crawl::begin(folder, plan, before.as_deref())
}

pub(super) fn run(
    jobs: &Jobs,
    entry: &Entry,
    asked: &CrawlAsked,
    control: &Control,
) -> Result<Value, Stopped> {
    let directory = &jobs.config.directory;
    let failed = |error: CrawlError| Stopped::Failed(sentence(&error, directory));
    let plan = asked.plan().map_err(|error| Stopped::Failed(error.to_string()))?;
    let folder = entry.directory.join(FOLDER);
    let crawl = opened(jobs, &folder, asked, plan).map_err(failed)?;
    let plan = crawl.plan().clone();
    let dates = asked.dates().map_err(|error| Stopped::Failed(error.to_string()))?;
    let sink = StoreSink::sweep(jobs.store.clone(), crawl.begun(), dates)
        .map_err(|error| store_failed(&error))?;
    let counting = Arc::new(Counting::new(Arc::new(jobs.network(&plan).map_err(failed)?)));
    let recorder = Recorder { entry, counting: &counting, most: plan.pace.pages };
    let ran = crawl.run(counting.clone(), Some(Arc::new(sink)), &recorder, control);
    let summary = ran.map_err(|error| match error {
        CrawlError::Sink { source, .. } => match source.downcast::<StoreError>() {
            Ok(error) => store_failed(&error),
            Err(source) => Stopped::Failed(sentence(&*source, directory)),
        },
        error => failed(error),
    })?;
    recorder.record(&summary.stats);
    if summary.ended == Ended::Stopped {
        return Err(Stopped::Asked);
    }
    finish(entry, &folder, &plan, &summary).map_err(failed)?;
    Ok(json!(summary))
}

/// Writes what is made from the log, and notes what was gathered.
fn finish(entry: &Entry, folder: &Path, plan: &Plan, summary: &Summary) -> Result<(), CrawlError> {
    let gathered = write_results(folder, plan, summary)?;
    entry.progress(|job| {
        let crawl = job.crawl.get_or_insert_default();
        crawl.exact = true;
        crawl.curve = gathered
            .points
            .iter()
            .map(|point| CurvePoint {
                pages: point.pages.into(),
                share: point.pagerank,
                sites: point.sites.into(),
            })
            .collect();
        crawl.sites = gathered
            .sites
            .iter()
            .take(SITES)
            .map(|of| CrawledSite {
                site: of.site.clone(),
                pages: of.pages,
                bytes: of.bytes,
                pagerank: of.pagerank,
            })
            .collect();
    });
    Ok(())
}
