//! `wonbon crawl`: pages from the web, politely, the popular ones first.

mod network;
pub(crate) mod robots;
mod view;

use std::fs;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use wonbon_app::crawl::{StoreSink, write_results};
use wonbon_app::requests::CrawlRequest;
use wonbon_crawl::CrawlError;
use wonbon_crawl::crawl::Crawl;
use wonbon_crawl::fetch::Fetcher;
use wonbon_crawl::fetch::archive::Archive;
use wonbon_crawl::graph::SiteRule;
use wonbon_crawl::order::OrderName;
use wonbon_crawl::plan::{Plan, ScopeKind};
use wonbon_crawl::progress::{Control, Ended, Summary};
use wonbon_crawl::sink::PageSink;
use wonbon_store::Store;

use crate::batch::{StoreDateOptions, thousands};
use crate::output::Output;
use crate::store::explained as explain_store_error;
use crate::wording::counted;
use crate::{Outcome, report};
use network::NetworkArgs;
use view::View;

/// Crawl the web from the pages you name, the most important pages first.
///
/// Every page is fetched once. The crawler obeys robots.txt, uses one connection to a host and to an
/// address, waits between requests, and slows down when a server asks for it. The order decides which of
/// the known pages comes next (`wonbon order` compares orders). The results are written to DIR: a WARC
/// archive, the core text of every page (texts.jsonl.zst, which `wonbon dedup` and `wonbon add`
/// read), the link graph (graph/, which `wonbon order` reads), stats.json and report.html.
///
/// With --store every page is added to that store as it comes, as a sweep of the date the crawl was
/// begun.
///
/// --resume DIR continues a crawl that was stopped by Ctrl-C, a crash or its budget. Only requests that
/// were under way are repeated. What decides the result (seeds, scope, order, depth, agent) cannot be
/// changed; budgets and pace can.
///
/// The crawler never connects to addresses of this machine, of private networks or of cloud metadata
/// services, whatever a page links to, unless --allow-private names them.
///
/// Exit codes: 0 done, 1 done but no page came, 2 it could not run.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Pages to start with.
    #[arg(value_name = "SEED", required_unless_present_any = ["seeds", "resume", "from_warc"])]
    seed: Vec<String>,
    /// A file with pages to start with, one a line; `#` begins a comment.
    #[arg(long, value_name = "FILE")]
    seeds: Option<PathBuf>,
    /// The directory to write to; must be empty or not there.
    #[arg(long, value_name = "DIR", required_unless_present = "resume")]
    out: Option<PathBuf>,
    /// Go on with the crawl in this directory.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["out", "sweep_of"])]
    resume: Option<PathBuf>,
    /// The directory of an earlier crawl: pages it has are asked for only if they changed.
    #[arg(long, value_name = "DIR")]
    sweep_of: Option<PathBuf>,
    /// Take pages from these WARC files instead of the network; without seeds, from all of them.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    from_warc: Vec<PathBuf>,
    /// Which of the known pages comes next: see `wonbon order --help`.
    #[arg(long, value_name = "ORDER")]
    order: Option<OrderName>,
    /// The seed of the random order `generic`.
    #[arg(long, value_name = "N")]
    order_seed: Option<u64>,
    /// What a site is to the order: domain or host [default: domain].
    #[arg(long, value_name = "KIND")]
    site: Option<SiteRule>,
    /// Where the crawl goes: domain (the domains of the seeds), host (their hosts) or all (everywhere)
    /// [default: domain].
    #[arg(long, value_name = "KIND")]
    scope: Option<ScopeKind>,
    /// Another host to crawl; with --scope all, only these hosts.
    #[arg(long, value_name = "HOST")]
    host: Vec<String>,
    /// Another domain to crawl; with --scope all, only these domains.
    #[arg(long, value_name = "DOMAIN")]
    domain: Vec<String>,
    /// Only paths that begin like this; `*` stands for anything, `$` for the end.
    #[arg(long, value_name = "PATTERN")]
    include: Vec<String>,
    /// No paths that begin like this.
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,
    /// Stop after so many pages.
    #[arg(long, value_name = "N")]
    pages: Option<u64>,
    /// Stop after so many bytes of bodies.
    #[arg(long, value_name = "N")]
    bytes: Option<u64>,
    /// Go at most so many links away from a seed.
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
    /// Crawl at most so many pages of a site, not counting its seeds.
    #[arg(long, value_name = "N")]
    site_pages: Option<u32>,
    /// Seconds between the end of an answer and the next request to the same host or address [default:
    /// 1].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    delay: Option<Duration>,
    /// Who asks: a name, and where its owner can be reached; robots.txt is read by the name up to the
    /// first slash.
    #[arg(long, value_name = "NAME/CONTACT")]
    agent: Option<String>,
    /// Requests under way at a time, over all hosts [default: 64].
    #[arg(long, value_name = "N")]
    concurrency: Option<NonZeroUsize>,
    /// Connections to one host at a time; more than one is for servers of your own [default: 1].
    #[arg(long, value_name = "N")]
    connections: Option<u32>,
    /// Threads that read pages; all cores if not said.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Seconds between commits to disk; pages of the last interval are fetched again after a crash
    /// [default: 0.5].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    commit_every: Option<Duration>,
    /// Put the pages of a site behind all others after so many copies in a row; needs --store.
    #[arg(long, value_name = "N")]
    skip_copies: Option<u32>,
    #[command(flatten)]
    dates: StoreDateOptions,
    /// Do not read sitemaps.
    #[arg(long)]
    no_sitemaps: bool,
    #[command(flatten)]
    network: NetworkArgs,
    /// Print the statistics as JSON at the end.
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse::<f64>().ok().filter(|seconds| (0.0..=86_400.0).contains(seconds));
    number.map(Duration::from_secs_f64).ok_or_else(|| "write seconds, such as 0.5".to_owned())
}

pub(crate) fn run(args: &Args, store: Option<&Path>) -> anyhow::Result<Outcome> {
    if args.skip_copies.is_some() && store.is_none() {
        bail!("--skip-copies needs --store: without a store nobody knows what is a copy");
    }
    if args.dates.dates.is_some() && store.is_none() {
        bail!("--dates needs --store: without a store no date decides anything");
    }
    let archive = match args.from_warc.as_slice() {
        [] => None,
        files => Some(Arc::new(Archive::open(files, 64 << 20)?)),
    };
    let crawl = match &args.resume {
        Some(directory) => {
            let mut plan = Crawl::plan_of(directory).map_err(explain)?;
            args.change(&mut plan, archive.as_deref())?;
            Crawl::resume(directory, plan).map_err(explain)?
        }
        None => {
            let mut plan = Plan::default();
            args.change(&mut plan, archive.as_deref())?;
            let directory = args.out.as_deref().context("--out says where to write")?;
            let fetcher = args.fetcher(&plan, archive.clone())?;
            reachable(&plan, &*fetcher)?;
            Crawl::begin(directory, plan, args.sweep_of.as_deref()).map_err(explain)?
        }
    };
    let plan = crawl.plan().clone();
    let fetcher = args.fetcher(&plan, archive)?;
    let directory = crawl.directory().to_owned();
    let store = store
        .map(|directory| Store::open_or_create(directory, None))
        .transpose()
        .map_err(explain_store_error)?;
    let sink = store
        .clone()
        .map(|store| StoreSink::sweep(store, crawl.begun(), args.dates.dates))
        .transpose()
        .map_err(explain_store_error)?
        .map(Arc::new);
    let control = Control::default();
    control.stop_on_interrupt();
    let view = View::new(&plan);
    let ended = {
        let sink = sink.map(|sink| sink as Arc<dyn PageSink>);
        crawl.run(fetcher, sink, &view, &control)
    };
    view.finish();
    if let Some(store) = store {
        store.close()?;
    }
    let summary = ended?;
    write_results(&directory, &plan, &summary)?;
    if args.json {
        let mut output = Output::new();
        output.json_line(&summary)?;
        output.finish()?;
    } else {
        print_summary(&summary, &directory);
    }
    Ok(if summary.stats.pages == 0 { Outcome::Refused } else { Outcome::Done })
}

impl Args {
    /// Puts what was given into a plan.
    fn change(&self, plan: &mut Plan, archive: Option<&Archive>) -> anyhow::Result<()> {
        let mut seeds = self.seed.clone();
        if let Some(path) = &self.seeds {
            let text = fs::read_to_string(path)
                .with_context(|| format!("could not read {}", path.display()))?;
            let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
            seeds.extend(lines.filter(|line| !line.is_empty()).map(str::to_owned));
        }
        if let (true, Some(archive), None) = (seeds.is_empty(), archive, &self.resume) {
            seeds.extend(archive.addresses().map(str::to_owned));
            seeds.sort();
        }
        if self.resume.is_some() {
            // Budgets are given anew.
            (plan.pace.pages, plan.pace.bytes) = (None, None);
        }
        let request = CrawlRequest {
            seeds,
            order: self.order,
            scope: self.scope,
            hosts: self.host.clone(),
            domains: self.domain.clone(),
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            pages: self.pages,
            bytes: self.bytes,
            depth: self.depth,
            site_pages: self.site_pages,
            delay: self.delay.map(|delay| delay.as_secs_f64()),
            skip_copies: self.skip_copies,
            no_sitemaps: self.no_sitemaps,
            agent: self.agent.clone(),
            sweep_of: None,
            dates: self.dates.dates,
        };
        request.change(plan)?;
        put(&mut plan.params.order_seed, &self.order_seed);
        put(&mut plan.params.site, &self.site);
        let pace = &mut plan.pace;
        put(&mut pace.commit_every, &self.commit_every);
        put(&mut pace.connections, &self.connections);
        put(&mut pace.concurrency, &self.concurrency.map(usize::from));
        put(&mut pace.threads, &self.threads.map(usize::from));
        Ok(())
    }

    fn fetcher(
        &self,
        plan: &Plan,
        archive: Option<Arc<Archive>>,
    ) -> anyhow::Result<Arc<dyn Fetcher>> {
        if let Some(archive) = archive {
            return Ok(archive);
        }
        Ok(Arc::new(self.network.open(&plan.params.agent, plan.params.limits)?))
    }
}

fn put<T: Clone>(place: &mut T, given: &Option<T>) {
    if let Some(given) = given {
        place.clone_from(given);
    }
}

/// A crawl none of whose seeds can be reached is not begun.
fn reachable(plan: &Plan, fetcher: &dyn Fetcher) -> anyhow::Result<()> {
    let seeds = plan.params.canonical_seeds(&wonbon_crawl::canonical::Rules::default());
    Ok(wonbon_crawl::crawl::check_reachable(&seeds.map_err(explain)?, fetcher)?)
}

/// What a person can do about it.
fn explain(error: CrawlError) -> anyhow::Error {
    let hint = match &error {
        CrawlError::HoldsCrawl { path } => {
            Some(format!("--resume {} goes on with it", path.display()))
        }
        CrawlError::NotEmpty { .. } => Some("choose another directory".to_owned()),
        CrawlError::OtherPlan { .. } => {
            Some("leave the flag out to go on, or begin a crawl of its own".to_owned())
        }
        CrawlError::SeedOutOfScope { .. } => {
            Some("--scope, --host, --include and --exclude say where a crawl goes".to_owned())
        }
        damaged => damaged.remedy().map(str::to_owned),
    };
    match hint {
        Some(hint) => anyhow::anyhow!("{error} ({hint})"),
        None => error.into(),
    }
}

fn print_summary(summary: &Summary, directory: &Path) {
    let stats = &summary.stats;
    let why = match summary.ended {
        Ended::Exhausted => "nothing is left to ask for",
        Ended::Budget => "the budget is used up",
        Ended::Stopped => "stopped",
    };
    let mut parts: Vec<String> = stats
        .outcomes
        .iter()
        .map(|(name, count)| format!("{} {name}", thousands(*count)))
        .collect();
    if stats.originals + stats.copies > 0 {
        parts.push(counted(stats.originals, "original", "originals"));
        parts.push(counted(stats.copies, "copy", "copies"));
    }
    // A closed standard error takes nothing from what was written.
    let _ = writeln!(
        anstream::stderr(),
        "{} of {} in {:.1} s ({:.0} a second), {} known: {} ({why})\n{}",
        counted(stats.pages, "page", "pages"),
        counted(stats.sites, "site", "sites"),
        stats.seconds,
        stats.done as f64 / stats.seconds.max(1e-3),
        thousands(stats.known),
        if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") },
        directory.display()
    );
    if summary.ended != Ended::Exhausted {
        report::note(&format!("wonbon crawl --resume {} goes on", directory.display()));
    }
}
