//! Orderings on webs: how long a link takes, and what the first pages are worth.
//!
//! `linear` makes a web in memory and crawls it whole with every ordering asked for, several times;
//! a line of JSON each with the least CPU seconds of this thread. Measured is the virtual crawl: the
//! ordering, the numbering of pages, the making of link lists. Left out: making the graph.
//!
//! `memory` crawls a web once and tells how much the resident memory grew by the ordering.

use std::time::Instant;

use clap::{Parser, Subcommand};
use wonbon_crawl::graph::generate::{Web, WebConfig};
use wonbon_crawl::order::OrderName;
use wonbon_crawl::virtual_crawl::{Plan, crawl};

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
