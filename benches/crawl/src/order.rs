//! Orderings on webs: how long a link takes, and what the first pages are worth.
//!
//! `linear` makes a web in memory and crawls it whole with every ordering asked for, several times;
//! a line of JSON each with the least CPU seconds of this thread. Measured is the virtual crawl: the
//! ordering, the numbering of pages, the making of link lists. Left out: making the graph.
//!
//! `table` crawls a web or a graph once with every ordering and tells what share of the PageRank and of
//! the sites each has after some parts of the pages; shares are of what can be reached.
//!
//! `memory` crawls a web once and tells how much the resident memory grew by the ordering.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use wonbon_crawl::graph::generate::{Web, WebConfig};
use wonbon_crawl::graph::pagerank::{PageRankConfig, pagerank};
use wonbon_crawl::graph::{Graph, Reading};
use wonbon_crawl::order::OrderName;
use wonbon_crawl::virtual_crawl::{Plan, crawl, curve, marks, reachable, share_of};

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Times whole crawls of webs of growing size.
    Linear {
        /// Orderings.
        #[arg(long, value_delimiter = ',', default_value = "mcs,lexbfs")]
        order: Vec<String>,
        /// Pages of the webs.
        #[arg(long, value_delimiter = ',')]
        pages: Vec<u32>,
        /// Crawls of each.
        #[arg(long, default_value_t = 3)]
        repeat: u32,
    },
    /// What the orderings have gathered after a tenth of the reachable pages, of a made-up web or of a
    /// graph that is read.
    Table {
        /// Orderings.
        #[arg(long, value_delimiter = ',')]
        order: Vec<String>,
        /// A graph; without it the default web is made.
        #[arg(long)]
        graph: Option<PathBuf>,
        /// Addresses to begin with.
        #[arg(long, value_delimiter = ',')]
        seeds: Vec<String>,
        /// What a site is.
        #[arg(long, default_value = "domain")]
        site: String,
        /// Pages of the made-up web.
        #[arg(long, default_value_t = WebConfig::default().pages)]
        pages: u32,
        /// Its seed.
        #[arg(long, default_value_t = WebConfig::default().seed)]
        seed: u64,
        /// A site at most once in so many turns.
        #[arg(long, default_value_t = 0)]
        gap: u32,
    },
    /// Resident memory that an ordering takes.
    Memory {
        /// The ordering.
        #[arg(long)]
        order: String,
        /// Pages of the web.
        #[arg(long, default_value_t = 2_000_000)]
        pages: u32,
    },
}

/// CPU seconds of this thread.
fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one timespec, which is there.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Resident bytes now.
fn resident() -> u64 {
    let told = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = told.split(' ').nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    pages * 4096
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Linear { order, pages, repeat } => {
            let names: Vec<OrderName> =
                order.iter().map(|name| name.parse()).collect::<Result<_, _>>()?;
            for pages in pages {
                let graph = Web::new(WebConfig { pages, ..WebConfig::default() }).graph();
                let plan = Plan { seeds: graph.portals(), ..Plan::default() };
                for &name in &names {
                    let mut best = f64::INFINITY;
                    let mut crawled = Default::default();
                    let started = Instant::now();
                    for _ in 0..repeat {
                        let mut order = name.build(1);
                        let start = cpu_seconds();
                        crawled = crawl(&graph, &mut *order, &plan, |_, _| {});
                        best = best.min(cpu_seconds() - start);
                    }
                    println!(
                        "{}",
                        serde_json::json!({
                            "order": name.name(), "pages": crawled.pages, "links": crawled.links,
                            "cpu_seconds": best, "wall_seconds": started.elapsed().as_secs_f64() / f64::from(repeat),
                            "seconds_per_million_links": best / crawled.links as f64 * 1e6,
                        })
                    );
                }
            }
        }
        Command::Table { order, graph, seeds, site, pages, seed, gap } => {
            let (graph, seeds) = match graph {
                Some(path) => {
                    let reading = Reading { site: site.parse()?, wanted: seeds };
                    let read = Graph::read(&path, &reading, &())?;
                    let seeds: Option<Vec<u32>> = read.found.into_iter().collect();
                    let seeds = seeds.context("a seed is not in the graph")?;
                    let seeds = if seeds.is_empty() { read.graph.portals() } else { seeds };
                    (read.graph, seeds)
                }
                None => {
                    let graph = Web::new(WebConfig { pages, seed, ..WebConfig::default() }).graph();
                    let seeds = graph.portals();
                    (graph, seeds)
                }
            };
            let external = (0..graph.pages())
                .flat_map(|page| graph.links(page).iter().map(move |&target| (page, target)))
                .filter(|&(page, target)| graph.site(page) != graph.site(target))
                .count();
            let (ranks, rounds) = pagerank(&graph, &PageRankConfig::default(), &());
            let all = reachable(&graph, &seeds, &ranks);
            println!(
                "{}",
                serde_json::json!({
                    "pages": graph.pages(), "links": graph.link_count(), "sites": graph.sites(),
                    "external": external as f64 / graph.link_count() as f64, "seeds": seeds.len(),
                    "reachable_pages": all.pages, "reachable_sites": all.sites,
                    "reachable_pagerank": all.pagerank, "pagerank_rounds": rounds,
                })
            );
            let plan = Plan { seeds, gap, ..Plan::default() };
            let percents = [1, 5, 10, 25, 50];
            let marks = marks(all.pages, &percents);
            for name in order {
                let name: OrderName = name.parse()?;
                let start = cpu_seconds();
                let (points, crawled) =
                    curve(&graph, &mut *name.build(1), &plan, &ranks, &marks, |_| {});
                let shares = percents.map(|percent| {
                    let pages = share_of(all.pages, percent);
                    let point = points.iter().find(|point| point.pages == pages);
                    point.map(|point| {
                        let sites = f64::from(point.sites) / f64::from(all.sites);
                        serde_json::json!([percent, point.pagerank / all.pagerank, sites])
                    })
                });
                println!(
                    "{}",
                    serde_json::json!({
                        "order": name.name(), "cpu_seconds": cpu_seconds() - start, "shares": shares,
                        "idle": crawled.idle, "parked": crawled.parked,
                    })
                );
            }
        }
        Command::Memory { order, pages } => {
            let name: OrderName = order.parse()?;
            let graph = Web::new(WebConfig { pages, ..WebConfig::default() }).graph();
            let plan = Plan { seeds: graph.portals(), ..Plan::default() };
            // What the crawl itself takes, without an ordering to speak of.
            let before = resident();
            let mut most = 0;
            let mut order = name.build(1);
            let mut fetched = 0_u32;
            let crawled = crawl(&graph, &mut *order, &plan, |_, _| {
                fetched += 1;
                if fetched.is_multiple_of(10_000) {
                    most = most.max(resident());
                }
            });
            println!(
                "{}",
                serde_json::json!({
                    "order": name.name(), "pages": crawled.pages, "links": crawled.links,
                    "bytes_a_page": most.saturating_sub(before) as f64 / f64::from(crawled.pages),
                })
            );
        }
    }
    Ok(())
}
