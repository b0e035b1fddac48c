//! `wonbon order`: which pages a crawl gathers first, by every ordering, on an existing graph.
//!
//! Reads a graph, computes its PageRank, crawls it once with each ordering and writes the curves; all
//! of that is `wonbon-crawl`. `wonbon order generate` makes a graph to try it on. Everything that can
//! be wrong with the request is checked before the graph is read.

mod generate;
mod summary;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use wonbon_crawl::graph::pagerank::{PageRankConfig, pagerank};
use wonbon_crawl::graph::{Graph, Reading, SiteRule, Watch};
use wonbon_crawl::order::{ORDER_NAMES, OrderName};
use wonbon_crawl::virtual_crawl::plot::{Curve, svg};
use wonbon_crawl::virtual_crawl::{Plan, curve, marks, reachable, share_of};
use wonbon_files::PartialFolder;
use wonbon_progress::Progress as _;

use crate::Outcome;
use crate::output::write_file;
use crate::report;
use crate::watcher::Watcher;
use crate::wording::counted;
use summary::{Crawl, PERCENTS, Summary};

/// Crawl a graph with several orderings and show what each gathers first.
///
/// GRAPH is a directory with urls.txt (an address a line; its number, from 0, is the page) and
/// edges.tsv (two page numbers a line), either perhaps .gz or .zst; the directory of a crawl; a
/// directory of WARC files, whose archived pages are taken; or the base name of a WebGraph (.graph and
/// .properties), with addresses in .urls or urls.txt beside it if there are any: without them every
/// page is a site of its own.
///
/// OUT is a folder that must not exist yet; it appears when complete: curves.csv (ordering, pages,
/// PageRank of these, their sites, turns) and curves.svg. Prints which share of the PageRank and of
/// the sites that can be reached each ordering has after 1, 5, 10, 25 and 50 % of the pages.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, after_help = orderings())]
pub(crate) struct Args {
    #[command(subcommand)]
    generate: Option<Made>,
    /// The graph to crawl.
    #[arg(required = true)]
    graph: Option<PathBuf>,
    /// Orderings, with commas between them, or `all`.
    #[arg(long, value_name = "NAMES", default_value = "bfs,lexbfs,mcs,opic,damped,damped-all")]
    order: String,
    /// A file of the pages to begin with: an address as in the graph, or a page number, a line.
    /// Without it the crawl begins with three pages of three sites, those with the most links from
    /// other sites among pages that have links.
    #[arg(long, value_name = "FILE")]
    seeds: Option<PathBuf>,
    /// What a site is: the registrable domain or the host.
    #[arg(long, value_name = "RULE", default_value_t = SiteRule::Domain)]
    site: SiteRule,
    /// Stops each crawl after so many pages.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pages: Option<u32>,
    /// Asks a site at most once in so many turns of the clock; a fetch takes a turn. Pages of a site
    /// that has to wait are parked and go first when it is ready.
    #[arg(long, value_name = "TURNS", default_value_t = 0)]
    gap: u32,
    /// The probability that PageRank's surfer follows a link.
    #[arg(long, value_name = "D", default_value_t = PageRankConfig::default().damping, value_parser = damping)]
    damping: f64,
    /// The seed of `generic`.
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// The folder for curves.csv and curves.svg.
    #[arg(long, short, value_name = "OUT", required = true)]
    out: Option<PathBuf>,
    /// Prints one JSON object instead of the table.
    #[arg(long)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Made {
    Generate(generate::Args),
}

/// The orderings and what they take, for the help.
fn orderings() -> String {
    let mut text = String::from("Orderings:\n");
    for name in ORDER_NAMES {
        let _ = writeln!(text, "  {:<12} {}", name.name(), name.description());
    }
    text
}

fn damping(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(damping) if (0.0..1.0).contains(&damping) => Ok(damping),
        _ => Err("a probability below 1, such as 0.85".to_owned()),
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    if let Some(Made::Generate(args)) = &args.generate {
        return generate::run(args);
    }
    let (Some(path), Some(out)) = (&args.graph, &args.out) else {
        bail!("a graph and a folder for the curves are needed");
    };
    let names = names(&args.order)?;
    let folder = new_folder(out)?;
    let wanted = args.seeds.as_deref().map(read_seeds).transpose()?;
    let watcher = Watcher::new();
    let watch = Watching(&watcher);

    let reading = Reading {
        site: args.site,
        wanted: wanted.iter().flatten().map(|(_, name)| name.clone()).collect(),
    };
    let read = Graph::read(path, &reading, &watch).inspect_err(|_| watcher.finish())?;
    let graph = read.graph;
    ensure!(graph.pages() > 0, "{} has no pages", path.display());
    let seeds = match (&args.seeds, &wanted) {
        (Some(file), Some(wanted)) => {
            let page = |((line, name), page): (&(u64, String), &Option<u32>)| {
                page.with_context(|| {
                    let (file, graph) = (file.display(), path.display());
                    format!("{file}:{line} `{name}` is no page of {graph}")
                })
            };
            let seeds: Vec<u32> = wanted
                .iter()
                .zip(&read.found)
                .map(page)
                .collect::<Result<_, _>>()
                .inspect_err(|_| watcher.finish())?;
            ensure!(!seeds.is_empty(), "{} names no page", file.display());
            seeds
        }
        _ => graph.portals(),
    };
    ensure!(!seeds.is_empty(), "{} has no links, so there is nothing to crawl", path.display());
    let config = PageRankConfig { damping: args.damping, ..PageRankConfig::default() };
    let (ranks, rounds) = pagerank(&graph, &config, &watch);
    let reachable = reachable(&graph, &seeds, &ranks);
    let plan = Plan { seeds, pages: args.pages, gap: args.gap };
    let expected = args.pages.map_or(reachable.pages, |pages| pages.min(reachable.pages));
    let marks = marks(expected, &PERCENTS.map(|percent| share_of(reachable.pages, percent)));

    let mut crawls = Vec::new();
    for name in names {
        watch.begin(name.name(), u64::from(expected));
        let mut order = name.build(args.seed);
        let started = Instant::now();
        let (points, crawled) = curve(&graph, &mut *order, &plan, &ranks, &marks, |pages| {
            watch.done(u64::from(pages));
        });
        crawls.push(Crawl { name, points, crawled, took: started.elapsed() });
    }
    watcher.finish();
    let summary = Summary {
        graph: &graph,
        reachable,
        seeds: &plan.seeds,
        site: args.site,
        has_addresses: read.has_addresses,
        rounds,
        gap: args.gap,
        crawls: &crawls,
    };
    let curves: Vec<Curve> = crawls
        .iter()
        .map(|crawl| Curve { name: crawl.name.to_string(), points: crawl.points.clone() })
        .collect();
    folder.open_empty()?;
    write_file(&folder.path().join("curves.csv"), summary.csv().as_bytes())?;
    write_file(&folder.path().join("curves.svg"), svg(&curves).into_string().as_bytes())?;
    publish(&folder)?;
    if read.left_out > 0 {
        report::note(&format!(
            "{} left out: a page has them already, or they lead to itself",
            counted(read.left_out, "link was", "links were")
        ));
    }
    if !read.has_addresses {
        report::note("there are no addresses, so every page is a site of its own");
    }
    summary.print(args.json)?;
    Ok(Outcome::Done)
}

/// The orderings that were asked for.
fn names(text: &str) -> anyhow::Result<Vec<OrderName>> {
    if text == "all" {
        return Ok(ORDER_NAMES.to_vec());
    }
    let mut names: Vec<OrderName> = Vec::new();
    for name in text.split(',') {
        let name = name.trim().parse()?;
        ensure!(!names.contains(&name), "the ordering {name} is named twice");
        names.push(name);
    }
    Ok(names)
}

/// The pages named in a file, and their lines.
fn read_seeds(path: &Path) -> anyhow::Result<Vec<(u64, String)>> {
    let text = wonbon_documents::read_whole(wonbon_documents::open(path)?, 1 << 30)?;
    let text = String::from_utf8(text)
        .map_err(|_| anyhow::anyhow!("{} is not text in UTF-8", path.display()))?;
    let lines = (1..).zip(text.lines().map(str::trim));
    let named = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    Ok(named.map(|(number, line)| (number, line.to_owned())).collect())
}

/// Shows on the progress bar what the libraries tell.
struct Watching<'a>(&'a Watcher);

impl Watch for Watching<'_> {
    fn begin(&self, what: &'static str, steps: u64) {
        self.0.begin(what, steps);
    }

    fn done(&self, steps: u64) {
        self.0.advance(steps);
    }
}

/// The folder of the results, which must not exist yet.
fn new_folder(out: &Path) -> anyhow::Result<PartialFolder> {
    ensure!(!out.exists(), "{} is there already; nothing is overwritten", out.display());
    let folder = PartialFolder::of(out);
    folder.check()?;
    Ok(folder)
}

/// Syncs the results and gives them their name.
fn publish(folder: &PartialFolder) -> anyhow::Result<()> {
    folder.sync(None)?;
    Ok(folder.publish()?)
}
