//! Virtual crawls: an ordering let loose on a graph that is known whole.
//!
//! The ordering sees what it would see on the web: pages get their numbers as they become known, and
//! the links of a page come when it is fetched. What is gathered after how many pages is the curve of
//! the paper's figures 3 and 4: the PageRank of the fetched pages, and the sites they are from.
//!
//! Politeness can be simulated ([`Plan::gap`]): a fetch takes one turn of a clock, and a site may be
//! asked once in so many turns. As in Mercator the pages of a site that is not ready are parked in a
//! queue of the site; when the site is ready, the page that was parked first goes before anything the
//! ordering has. A page that is parked has been taken: links found later move it no more. When no
//! site that has a page is ready, the clock goes on without a fetch; such turns are counted.
//!
//! Cost: beside the ordering 8 bytes a page of the graph, 8 a site, 12 a link of the longest page; with a gap
//! 4 bytes a parked page and 40 a site.

pub mod plot;
mod polite;

use crate::graph::Graph;
use crate::order::{Link, LinkKind, Order};
use polite::Polite;

/// What to crawl and how.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The pages to start with.
    pub seeds: Vec<u32>,
    /// No more pages than this.
    pub pages: Option<u32>,
    /// A site is asked at most once in so many turns; 0 and 1 are no limit.
    pub gap: u32,
}

/// How a crawl went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crawled {
    /// Pages fetched.
    pub pages: u32,
    /// Links on them.
    pub links: u64,
    /// Turns in which nothing could be fetched.
    pub idle: u64,
    /// Pages parked because their site was not ready.
    pub parked: u64,
}

/// What can be reached from the seeds at all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reachable {
    /// Pages.
    pub pages: u32,
    /// Links on them.
    pub links: u64,
    /// Their sites.
    pub sites: u32,
    /// Their PageRank.
    pub pagerank: f64,
}

/// What a crawl has gathered after some pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Pages fetched.
    pub pages: u32,
    /// The sum of their PageRank.
    pub pagerank: f64,
    /// The sites they are from.
    pub sites: u32,
    /// Turns of the clock, idle ones included.
    pub turns: u64,
}

/// Everything that can be reached from some pages.
pub fn reachable(graph: &Graph, seeds: &[u32], ranks: &[f64]) -> Reachable {
    let mut reached = vec![false; graph.pages() as usize];
    let mut sites = vec![false; graph.sites() as usize];
    let mut stack: Vec<u32> = seeds.to_vec();
    let mut all = Reachable::default();
    for &seed in seeds {
        reached[seed as usize] = true;
    }
    stack.sort_unstable();
    stack.dedup();
    while let Some(page) = stack.pop() {
        all.pages += 1;
        all.pagerank += ranks[page as usize];
        all.links += graph.links(page).len() as u64;
        sites[graph.site(page) as usize] = true;
        for &target in graph.links(page) {
            if !std::mem::replace(&mut reached[target as usize], true) {
                stack.push(target);
            }
        }
    }
    all.sites = sites.iter().filter(|&&reached| reached).count() as u32;
    all
}

/// Crawls a graph; calls with every fetched page and the turn of the clock, counted from one.
///
/// # Panics
///
/// If a seed is no page of the graph.
pub fn crawl(
    graph: &Graph,
    order: &mut dyn Order,
    plan: &Plan,
    mut fetched: impl FnMut(u32, u64),
) -> Crawled {
    let mut crawled = Crawled::default();
    let mut numbers = Numbers::new(graph);
    let mut initial = vec![false; graph.sites() as usize];
    for &seed in &plan.seeds {
        initial[graph.site(seed) as usize] = true;
        order.seed(numbers.number(seed), graph.site(seed));
    }
    let mut polite = Polite::new(graph, plan.gap);
    let most = plan.pages.unwrap_or(u32::MAX);
    let mut links = Vec::new();
    while crawled.pages < most {
        let next =
            polite.next(&mut crawled, || order.next().map(|number| numbers.pages[number as usize]));
        let Some(page) = next else {
            break;
        };
        crawled.pages += 1;
        fetched(page, polite.clock);
        let site = graph.site(page);
        let inside = if initial[site as usize] { LinkKind::Initial } else { LinkKind::NonInitial };
        links.clear();
        links.extend(graph.links(page).iter().map(|&target| {
            let target_site = graph.site(target);
            let kind = if target_site == site { inside } else { LinkKind::External };
            Link { page: numbers.number(target), site: target_site, kind }
        }));
        crawled.links += links.len() as u64;
        order.fetched(numbers.numbers[page as usize], site, &links);
    }
    crawled
}

/// After how many pages of a crawl to look: about a thousand times at equal distances, at all powers of
/// two and of ten, at these parts of a hundred, and at the end.
pub fn marks(pages: u32, percents: &[u32]) -> Vec<u32> {
    let step = (pages / 1000).max(1) as usize;
    let mut marks: Vec<u32> = (step as u32..=pages).step_by(step).collect();
    marks.extend((0..32).map(|power| 1_u32 << power));
    marks.extend((0..10).map(|power| 10_u32.pow(power)));
    marks.extend(percents.iter().map(|&percent| share_of(pages, percent)));
    marks.push(pages);
    marks.retain(|&mark| (1..=pages).contains(&mark));
    marks.sort_unstable();
    marks.dedup();
    marks
}

/// So many parts of a hundred of some pages, at least one page.
pub fn share_of(pages: u32, percent: u32) -> u32 {
    ((u64::from(pages) * u64::from(percent) / 100) as u32).max(1)
}

/// Crawls a graph and tells what was gathered after so many pages, for each of the marks that the
/// crawl reaches, and at its end.
pub fn curve(
    graph: &Graph,
    order: &mut dyn Order,
    plan: &Plan,
    ranks: &[f64],
    marks: &[u32],
    mut watch: impl FnMut(u32),
) -> (Vec<Point>, Crawled) {
    let mut points: Vec<Point> = Vec::with_capacity(marks.len() + 1);
    let mut seen = vec![false; graph.sites() as usize];
    let mut point = Point { pages: 0, pagerank: 0.0, sites: 0, turns: 0 };
    let mut marks = marks.iter().copied().peekable();
    let crawled = crawl(graph, order, plan, |page, turn| {
        point.pages += 1;
        point.pagerank += ranks[page as usize];
        point.turns = turn;
        let new = !std::mem::replace(&mut seen[graph.site(page) as usize], true);
        point.sites += u32::from(new);
        if marks.next_if_eq(&point.pages).is_some() {
            points.push(point);
            watch(point.pages);
        }
    });
    if points.last() != Some(&point) && point.pages > 0 {
        points.push(point);
    }
    (points, crawled)
}

/// The numbers under which an ordering knows pages: in the order in which they become known.
struct Numbers {
    numbers: Vec<u32>,
    pages: Vec<u32>,
}

const NO_NUMBER: u32 = u32::MAX;

impl Numbers {
    fn new(graph: &Graph) -> Self {
        Numbers { numbers: vec![NO_NUMBER; graph.pages() as usize], pages: Vec::new() }
    }

    fn number(&mut self, page: u32) -> u32 {
        let number = &mut self.numbers[page as usize];
        if *number == NO_NUMBER {
            *number = self.pages.len() as u32;
            self.pages.push(page);
        }
        *number
    }
}
