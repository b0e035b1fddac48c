//! `wonbon crawl`: pages from the web, politely, the popular ones first.

mod view;

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use wonbon_app::crawl::{StoreSink, write_results};
use wonbon_crawl::CrawlError;
use wonbon_crawl::crawl::Crawl;
use wonbon_crawl::fetch::Fetcher;
use wonbon_crawl::fetch::archive::Archive;
use wonbon_crawl::fetch::network::{Network, NetworkConfig};
use wonbon_crawl::graph::SiteRule;
use wonbon_crawl::guard::Guard;
use wonbon_crawl::order::OrderName;
use wonbon_crawl::plan::{Plan, ScopeKind};
use wonbon_crawl::progress::{Control, Ended, Summary};
use wonbon_crawl::sink::PageSink;
use wonbon_store::Store;

use crate::batch::{StoreDateOptions, thousands};
use crate::output::Output;
use crate::store::explained as in_words;
use crate::{Outcome, report};
use view::View;

/// Crawl the web from some pages on, the pages that matter first.
///
/// Every page is asked for once: robots.txt is heeded, a host and an address are asked by one
/// connection at a time with a delay in between, and more slowly when they say so. The order decides
/// which of the known pages comes next (`wonbon order` compares them). What came is written to DIR: a
/// WARC archive, the core text of every page (texts.jsonl.zst, which `wonbon dedup` and `wonbon add`
/// read), the link graph (graph/, which `wonbon order` reads), stats.json and report.html.
///
/// With --store every page is added to that store as it comes, as a sweep of the date the crawl was
/// begun.
///
/// A crawl that was stopped, by Ctrl-C, a crash or its budget, goes on with --resume DIR: nothing is
/// asked for again but what was under way. What decides its result (seeds, scope, order, depth,
/// agent) stays as it was; budgets and pace may be given anew.
///
/// Addresses of this machine, of private networks and of clouds' metadata services are never asked,
/// whatever a page links to, unless --allow-private names them.
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
    #[arg(long, value_name = "ORDER", value_parser = order_name)]
    order: Option<String>,
    /// What `generic` draws from.
    #[arg(long, value_name = "N")]
    order_seed: Option<u64>,
    /// What a site is to the order.
    #[arg(long, value_name = "KIND", value_parser = ["domain", "host"])]
    site: Option<String>,
    /// Where the crawl goes: the domains of the seeds, their hosts, or everywhere.
    #[arg(long, value_name = "KIND", value_parser = ["domain", "host", "all"])]
    scope: Option<String>,
    /// A host that belongs to the crawl beside; with --scope all, the only ones.
    #[arg(long, value_name = "HOST")]
    host: Vec<String>,
    /// A domain that belongs to the crawl beside; with --scope all, the only ones.
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
    /// Let in at most so many pages of a site, beside its seeds.
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
    /// Seconds after which what came is durable; so much is asked for again after a crash [default:
    /// 0.5].
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
    /// A network such as 192.168.1.0/24, an address or a host that may be asked although it is not
    /// public.
    #[arg(long, value_name = "NETWORK|HOST")]
    allow_private: Vec<String>,
    /// Take this address for a host instead of asking for it: example.org:192.0.2.1.
    #[arg(long, value_name = "HOST:ADDRESS", value_parser = name_and_address)]
    resolve: Vec<(String, IpAddr)>,
    /// Certificates to trust beside the usual ones, as PEM.
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Print the statistics as JSON at the end.
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse::<f64>().ok().filter(|seconds| (0.0..=86_400.0).contains(seconds));
    number.map(Duration::from_secs_f64).ok_or_else(|| "write seconds, such as 0.5".to_owned())
}

fn order_name(text: &str) -> Result<String, String> {
    let name: OrderName = text.parse().map_err(|error| format!("{error}"))?;
    Ok(name.name().to_owned())
}

fn name_and_address(text: &str) -> Result<(String, IpAddr), String> {
    text.split_once(':')
        .and_then(|(host, address)| {
            let address = address.trim_start_matches('[').trim_end_matches(']');
            Some((host.to_ascii_lowercase(), address.parse().ok()?))
        })
        .ok_or_else(|| "write a host and an address, such as example.org:192.0.2.1".to_owned())
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
            let mut plan = Crawl::plan_of(directory)?;
            args.change(&mut plan, archive.as_deref())?;
            Crawl::resume(directory, plan).map_err(explained)?
        }
        None => {
            let mut plan = Plan::default();
            args.change(&mut plan, archive.as_deref())?;
            let directory = args.out.as_deref().context("--out says where to write")?;
            let fetcher = args.fetcher(&plan, archive.clone())?;
            reachable(&plan, &*fetcher)?;
            Crawl::begin(directory, plan, args.sweep_of.as_deref()).map_err(explained)?
        }
    };
    let plan = crawl.plan().clone();
    let fetcher = args.fetcher(&plan, archive)?;
    let directory = crawl.directory().to_owned();
    let store = store
        .map(|directory| Store::open_or_create(directory, None))
        .transpose()
        .map_err(in_words)?;
    let sink = store
        .clone()
        .map(|store| StoreSink::sweep(store, crawl.begun(), args.dates.dates))
        .transpose()
        .map_err(in_words)?
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
        tell(&summary, &directory);
    }
    Ok(if summary.stats.pages == 0 { Outcome::Refused } else { Outcome::Done })
}

impl Args {
    /// Puts what was given into a plan.
    fn change(&self, plan: &mut Plan, archive: Option<&Archive>) -> anyhow::Result<()> {
        let params = &mut plan.params;
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
        if !seeds.is_empty() {
            params.seeds = seeds;
        }
        put(&mut params.order, &self.order);
        put(&mut params.order_seed, &self.order_seed);
        if let Some(kind) = &self.site {
            params.site = if kind == "host" { SiteRule::Host } else { SiteRule::Domain };
        }
        if let Some(kind) = &self.scope {
            params.scope = match kind.as_str() {
                "host" => ScopeKind::Host,
                "all" => ScopeKind::All,
                _ => ScopeKind::Domain,
            };
        }
        for (list, given) in [
            (&mut params.hosts, &self.host),
            (&mut params.domains, &self.domain),
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
        put(&mut params.agent, &self.agent);
        let pace = &mut plan.pace;
        if self.pages.is_some() || self.bytes.is_some() || self.resume.is_some() {
            (pace.pages, pace.bytes) = (self.pages, self.bytes);
        }
        put(&mut pace.delay, &self.delay);
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
        let mut names: HashMap<String, Vec<IpAddr>> = HashMap::new();
        for (host, address) in &self.resolve {
            names.entry(host.clone()).or_default().push(*address);
        }
        let guard =
            Guard::allowing(&self.allow_private, &names).context("--allow-private is wrong")?;
        let config = NetworkConfig {
            agent: plan.params.agent.clone(),
            limits: plan.params.limits,
            guard,
            names,
            certificates: self.ca_file.clone(),
        };
        Ok(Arc::new(Network::new(config)?))
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
    Ok(wonbon_crawl::crawl::check_reachable(&seeds.map_err(explained)?, fetcher)?)
}

/// What a person can do about it.
fn explained(error: CrawlError) -> anyhow::Error {
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
        _ => None,
    };
    match hint {
        Some(hint) => anyhow::anyhow!("{error} ({hint})"),
        None => error.into(),
    }
}

fn tell(summary: &Summary, directory: &Path) {
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
        parts.push(format!("{} originals", thousands(stats.originals)));
        parts.push(format!("{} copies", thousands(stats.copies)));
    }
    // A closed standard error takes nothing from what was written.
    let _ = writeln!(
        anstream::stderr(),
        "{} pages of {} sites in {:.1} s ({:.0} a second), {} known: {} ({why})\n{}",
        thousands(stats.pages),
        thousands(stats.sites),
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
