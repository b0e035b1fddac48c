//! What crawls have gathered, as a table, as JSON and as CSV.

use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;
use wonbon_crawl::graph::{Graph, SiteRule};
use wonbon_crawl::order::OrderName;
use wonbon_crawl::virtual_crawl::{Crawled, Point, Reachable, share_of};

use crate::batch::thousands;
use crate::output::Output;
use crate::wording::counted;

/// After which parts of the reachable pages shares are told.
pub(super) const PERCENTS: [u32; 5] = [1, 5, 10, 25, 50];

/// One ordering's crawl.
pub(super) struct Crawl {
    pub(super) name: OrderName,
    pub(super) points: Vec<Point>,
    pub(super) crawled: Crawled,
    pub(super) took: Duration,
}

/// All crawls of a graph.
pub(super) struct Summary<'a> {
    pub(super) graph: &'a Graph,
    pub(super) reachable: Reachable,
    pub(super) seeds: &'a [u32],
    pub(super) site: SiteRule,
    pub(super) has_addresses: bool,
    pub(super) rounds: u32,
    pub(super) gap: u32,
    pub(super) crawls: &'a [Crawl],
}

#[derive(Serialize)]
struct JsonSummary<'a> {
    pages: u32,
    links: u64,
    sites: u32,
    site: Option<&'static str>,
    seeds: &'a [u32],
    pagerank_rounds: u32,
    gap: u32,
    reachable: JsonReachable,
    orders: Vec<JsonOrder>,
}

#[derive(Serialize)]
struct JsonReachable {
    pages: u32,
    links: u64,
    sites: u32,
    pagerank: f64,
}

#[derive(Serialize)]
struct JsonOrder {
    order: &'static str,
    pages: u32,
    links: u64,
    idle_turns: u64,
    parked: u64,
    seconds: f64,
    shares: Vec<JsonShare>,
}

/// Shares are of what can be reached.
#[derive(Serialize)]
struct JsonShare {
    percent: u32,
    pages: u32,
    pagerank: f64,
    sites: f64,
}

impl Summary<'_> {
    pub(super) fn csv(&self) -> String {
        let mut csv = String::from("order,pages,pagerank,sites,turns\n");
        for crawl in self.crawls {
            for Point { pages, pagerank, sites, turns } in &crawl.points {
                let _ = writeln!(csv, "{},{pages},{pagerank:.9},{sites},{turns}", crawl.name);
            }
        }
        csv
    }

    pub(super) fn print(&self, json: bool) -> anyhow::Result<()> {
        let mut output = Output::new();
        if json {
            output.json_line(&self.json())?;
        } else {
            output.bytes(self.table().as_bytes())?;
        }
        output.finish()
    }

    /// The point after a part of the reachable pages, if the crawl came so far.
    fn point<'c>(&self, crawl: &'c Crawl, percent: u32) -> Option<&'c Point> {
        let pages = share_of(self.reachable.pages, percent);
        crawl.points.iter().find(|point| point.pages == pages)
    }

    fn shares(&self, point: &Point) -> (f64, f64) {
        let Reachable { pagerank, sites, .. } = self.reachable;
        (point.pagerank / pagerank, f64::from(point.sites) / f64::from(sites))
    }

    fn json(&self) -> JsonSummary<'_> {
        let order = |crawl: &Crawl| {
            let share = |&percent: &u32| {
                let point = self.point(crawl, percent)?;
                let (pagerank, sites) = self.shares(point);
                Some(JsonShare { percent, pages: point.pages, pagerank, sites })
            };
            JsonOrder {
                order: crawl.name.name(),
                pages: crawl.crawled.pages,
                links: crawl.crawled.links,
                idle_turns: crawl.crawled.idle,
                parked: crawl.crawled.parked,
                seconds: crawl.took.as_secs_f64(),
                shares: PERCENTS.iter().filter_map(share).collect(),
            }
        };
        let Reachable { pages, links, sites, pagerank } = self.reachable;
        JsonSummary {
            pages: self.graph.pages(),
            links: self.graph.link_count(),
            sites: self.graph.sites(),
            site: self.has_addresses.then(|| self.site.name()),
            seeds: self.seeds,
            pagerank_rounds: self.rounds,
            gap: self.gap,
            reachable: JsonReachable { pages, links, sites, pagerank },
            orders: self.crawls.iter().map(order).collect(),
        }
    }

    fn table(&self) -> String {
        let Reachable { pages, sites, pagerank, .. } = self.reachable;
        let mut text = format!(
            "{}, {}, {}; {} of {} can be reached from {}, with {:.1} % of the PageRank\n\n",
            counted(self.graph.pages().into(), "page", "pages"),
            counted(self.graph.link_count(), "link", "links"),
            counted(self.graph.sites().into(), "site", "sites"),
            counted(pages.into(), "page", "pages"),
            counted(sites.into(), "site", "sites"),
            counted(self.seeds.len() as u64, "page", "pages"),
            100.0 * pagerank
        );
        let _ = write!(text, "{:<12}", "PR / sites");
        for percent in PERCENTS {
            let _ = write!(text, "  {:>11}", format!("{percent} %"));
        }
        text.push_str(if self.gap > 1 { "         idle turns\n" } else { "\n" });
        for crawl in self.crawls {
            let _ = write!(text, "{:<12}", crawl.name);
            for percent in PERCENTS {
                let cell = match self.point(crawl, percent) {
                    Some(point) => {
                        let (pagerank, sites) = self.shares(point);
                        format!("{pagerank:.3}/{sites:.3}")
                    }
                    None => "–".to_owned(),
                };
                let _ = write!(text, "  {cell:>11}");
            }
            if self.gap > 1 {
                let _ = write!(text, "  {:>17}", thousands(crawl.crawled.idle));
            }
            text.push('\n');
        }
        text
    }
}
