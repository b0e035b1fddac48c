//! What a crawl came to, as one page: counts, curves, sites, what went wrong.
//!
//! Made from the link graph that was written at the end: the PageRank of all known pages, summed over
//! the fetched ones in the order in which they came, and the sites they are from. Pages that were
//! never fetched have no known links, so the PageRank is that of the web as far as the crawl saw it.
//!
//! Cost: the graph in memory, 12 bytes a page and 4 a link, and some forty passes over the links.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use maud::html;
use serde::{Deserialize, Serialize};
use wonbon_pages::{Card, Cell, Page, bytes, thousands};

use crate::error::CrawlError;
use crate::graph::pagerank::{PageRankConfig, pagerank};
use crate::graph::{Graph, Reading};
use crate::plan::Plan;
use crate::progress::{Ended, Summary};
use crate::virtual_crawl::Point;
use crate::virtual_crawl::plot::{Curve, svg};

/// Sites that are shown.
const SHOWN_SITES: usize = 25;
/// Points of a curve.
const POINTS: usize = 200;

/// What was gathered, page by page, and how it adds up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gathered {
    /// PageRank and sites by the number of pages, at most some two hundred points.
    pub points: Vec<Point>,
    /// By site, the one with the most pages first.
    pub sites: Vec<GatheredSite>,
}

/// What was gathered of a site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GatheredSite {
    /// Its name.
    pub site: String,
    /// Pages that came.
    pub pages: u64,
    /// Bytes of their bodies.
    pub bytes: u64,
    /// The part of the PageRank of all known pages that they have.
    pub pagerank: f64,
}

/// The report of a crawl whose link graph was written.
///
/// # Errors
///
/// The link graph cannot be read.
pub fn page(directory: &Path, plan: &Plan, summary: &Summary) -> Result<String, CrawlError> {
    let fetched = gather(directory, plan)?;
    Ok(page_of(&fetched, plan, summary))
}

/// The report of what was gathered.
#[must_use]
pub fn page_of(fetched: &Gathered, plan: &Plan, summary: &Summary) -> String {
    let stats = &summary.stats;
    let mut page = Page::new("wonbon crawl");
    page.heading("What the crawl came to");
    let why = match summary.ended {
        Ended::Exhausted => "Nothing is left to ask for.",
        Ended::Budget => "The budget is used up.",
        Ended::Stopped => "It was stopped.",
    };
    let from = match plan.params.seeds.as_slice() {
        [one] => one.clone(),
        seeds => format!("{} pages", thousands(seeds.len() as u64)),
    };
    page.lead(&format!("From {from}, in the order {}. {why}", plan.params.order));
    let card =
        |number: String, name: &str, note: String| Card { number, name: name.to_owned(), note };
    let share = fetched.points.last().map_or(0.0, |point| point.pagerank);
    page.cards(&[
        card(thousands(stats.pages), "pages", format!("of {} known", thousands(stats.known))),
        card(thousands(stats.sites), "sites", format!("{} hosts known", thousands(stats.hosts))),
        card(format!("{:.1} %", 100.0 * share), "of the PageRank", "of all known pages".to_owned()),
        card(bytes(stats.bytes), "of bodies", format!("{} links", thousands(stats.links))),
        card(
            thousands(stats.copies),
            "copies",
            format!("{} originals", thousands(stats.originals)),
        ),
        card(thousands(stats.errors()), "errors", format!("{} traps", thousands(stats.traps))),
    ]);
    page.subheading("What was gathered, page by page");
    if fetched.points.is_empty() {
        page.paragraph("No page came.");
    } else {
        let curve = Curve { name: plan.params.order.clone(), points: fetched.points.clone() };
        page.markup(html! { figure { (svg(&[curve])) } });
    }
    page.subheading("Sites");
    let rows: Vec<Vec<Cell>> = fetched
        .sites
        .iter()
        .take(SHOWN_SITES)
        .map(|of| {
            let rank = Cell::Number(format!("{:.2} %", 100.0 * of.pagerank));
            vec![Cell::Code(of.site.clone()), of.pages.into(), Cell::Number(bytes(of.bytes)), rank]
        })
        .collect();
    page.table(&["site", "pages", "bytes", "PageRank"], &rows);
    if fetched.sites.len() > SHOWN_SITES {
        let rest = fetched.sites.len() - SHOWN_SITES;
        page.paragraph(&format!("And {} more.", thousands(rest as u64)));
    }
    page.subheading("Outcomes");
    let rows: Vec<Vec<Cell>> = stats
        .outcomes
        .iter()
        .map(|(name, count)| vec![Cell::Code((*name).to_owned()), (*count).into()])
        .collect();
    page.table(&["outcome", "pages"], &rows);
    page.subheading("How it was done");
    let params = serde_json::json!(plan.params);
    let pace = serde_json::json!(plan.pace);
    let rows: Vec<Vec<Cell>> = [params, pace]
        .iter()
        .filter_map(|value| value.as_object())
        .flatten()
        .map(|(name, value)| {
            let value: String = value.to_string().chars().take(400).collect();
            vec![Cell::Code(name.clone()), Cell::Code(value)]
        })
        .collect();
    page.table(&["what", "value"], &rows);
    page.finish()
}

/// What a crawl whose link graph was written gathered.
///
/// # Errors
///
/// The link graph cannot be read.
pub fn gather(directory: &Path, plan: &Plan) -> Result<Gathered, CrawlError> {
    let folder = directory.join("graph");
    let reading = Reading { site: plan.params.site, ..Reading::default() };
    let read = Graph::read(&folder, &reading, &())
        .map_err(|source| CrawlError::Graph { path: folder.clone(), source: Box::new(source) })?;
    let graph = read.graph;
    let (ranks, _) = pagerank(&graph, &PageRankConfig::default(), &());
    let mut names: HashMap<u32, String> = HashMap::new();
    each_line(&folder.join("urls.txt"), |number, line| {
        let site = graph.site(number as u32);
        names.entry(site).or_insert_with(|| {
            let host = url::Url::parse(line).ok();
            let host = host.as_ref().and_then(url::Url::host_str).unwrap_or_default();
            plan.params.site.site(host).to_owned()
        });
    })?;
    let mut sites: HashMap<u32, (u64, u64, f64)> = HashMap::new();
    let mut points = Vec::new();
    let mut point = Point { pages: 0, pagerank: 0.0, sites: 0, turns: 0 };
    each_line(&folder.join("states.tsv"), |_, line| {
        let mut parts = line.split('\t');
        let page: Option<u32> = parts.next().and_then(|text| text.parse().ok());
        let outcome = parts.next().unwrap_or_default();
        let size: u64 = parts.nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
        let Some(page) = page.filter(|&page| page < graph.pages()) else { return };
        if !matches!(outcome, "kept" | "same-body" | "not-modified") {
            return;
        }
        let site = sites.entry(graph.site(page)).or_default();
        point.sites += u32::from(site.0 == 0);
        let rank = ranks[page as usize];
        *site = (site.0 + 1, site.1 + size, site.2 + rank);
        point.pages += 1;
        point.turns += 1;
        point.pagerank += rank;
        points.push(point);
    })?;
    let last = points.len().saturating_sub(1);
    let step = points.len().div_ceil(POINTS).max(1);
    let mut at = 0;
    points.retain(|_| {
        at += 1;
        (at - 1) % step == 0 || at - 1 == last
    });
    let mut sites: Vec<GatheredSite> = sites
        .into_iter()
        .map(|(site, (pages, bytes, pagerank))| {
            let site = names.get(&site).cloned().unwrap_or_default();
            GatheredSite { site, pages, bytes, pagerank }
        })
        .collect();
    sites.sort_by(|left, right| {
        right.pages.cmp(&left.pages).then_with(|| left.site.cmp(&right.site))
    });
    Ok(Gathered { points, sites })
}

fn each_line(path: &Path, mut each: impl FnMut(usize, &str)) -> Result<(), CrawlError> {
    let io = |source| CrawlError::io("read", path, source);
    let file = std::fs::File::open(path).map_err(io)?;
    for (number, line) in BufReader::new(file).lines().enumerate() {
        each(number, &line.map_err(io)?);
    }
    Ok(())
}
