//! PageRank of the known graph: next is the page that ranks highest by what was fetched so far.
//!
//! Cho, Garcia-Molina and Page (1998). The ranks of all known pages are computed anew each time the
//! known graph has grown by an eighth (counted in pages and links), beginning with the ranks of the
//! time before and ending when they move by less than a thousandth in all or after 20 rounds. In
//! between a fetched page adds to the pages it links to what its rank would give them in one round,
//! so new pages have an estimate at once. All links are equal. Damping 0.85; pages not fetched yet
//! and pages without links give their rank to all.
//!
//! The pages the crawl starts with come first. Ties: the page discovered first.
//!
//! Cost: O(log waiting) for a link and a page, and for the ranks up to 20 x 9 passes over all links
//! of a crawl (the sizes at which they are computed grow by a ninth part of the last): linear, with
//! a factor that makes it by far the slowest here. 28 bytes a known page, 4 a link, 12 a fetched page.

use super::frontier::{Frontier, Pages, Rule};
use super::heap::PageHeap;
use super::{Link, reach};

const DAMPING: f64 = 0.85;
const ROUNDS: usize = 20;
const TOLERANCE: f64 = 1e-3;
/// The first computation comes when so many pages and links are known.
const FIRST: usize = 64;

/// The frontier by PageRank of the known graph.
pub type PageRankOrder = Frontier<Ranks>;

/// The known graph and the ranks of its pages.
#[derive(Default)]
pub struct Ranks {
    /// By page; 0 while it is not known.
    ranks: Vec<f64>,
    known: usize,
    /// The links of all fetched pages, and where those of each begin.
    targets: Vec<u32>,
    fetched: Vec<(u32, usize)>,
    /// Pages and links known when ranks are computed next.
    next_at: usize,
}

impl Ranks {
    fn know(&mut self, page: u32) -> bool {
        reach(&mut self.ranks, page, 0.0);
        let rank = &mut self.ranks[page as usize];
        let new = *rank == 0.0;
        if new {
            self.known += 1;
            *rank = (1.0 - DAMPING) / self.known as f64;
        }
        new
    }

    fn compute(&mut self, pages: &mut PageHeap<f64>) {
        let mut next = vec![0.0; self.ranks.len()];
        for _ in 0..ROUNDS {
            next.fill(0.0);
            let total: f64 = self.ranks.iter().sum();
            let mut followed = 0.0;
            for (at, &(page, start)) in self.fetched.iter().enumerate() {
                let end = self.fetched.get(at + 1).map_or(self.targets.len(), |next| next.1);
                let targets = &self.targets[start..end];
                if !targets.is_empty() {
                    let rank = self.ranks[page as usize] / total;
                    followed += rank;
                    let part = DAMPING * rank / targets.len() as f64;
                    for &target in targets {
                        next[target as usize] += part;
                    }
                }
            }
            let all = ((1.0 - DAMPING) + DAMPING * (1.0 - followed)) / self.known as f64;
            let mut moved = 0.0;
            for (rank, next) in self.ranks.iter_mut().zip(&next) {
                // Numbers that belong to no known page have no rank.
                if *rank > 0.0 {
                    moved += (*rank / total - (all + next)).abs();
                    *rank = all + next;
                }
            }
            if moved < TOLERANCE {
                break;
            }
        }
        let ranks = &self.ranks;
        pages.rekey(|page, key| if key.is_finite() { ranks[page as usize] } else { key });
    }
}

impl Rule for Ranks {
    type Pages = PageHeap<f64>;

    fn seed(&mut self, page: u32) -> f64 {
        self.know(page);
        f64::INFINITY
    }

    fn fetched(&mut self, pages: &mut PageHeap<f64>, page: u32, _site: u32, links: &[Link]) {
        self.know(page);
        self.fetched.push((page, self.targets.len()));
        self.targets.extend(links.iter().map(|link| link.page));
        let part = DAMPING * self.ranks[page as usize] / links.len().max(1) as f64;
        for link in links {
            let new = self.know(link.page);
            self.ranks[link.page as usize] += part;
            if new {
                pages.insert(link.page, self.ranks[link.page as usize]);
            } else {
                pages.raise(link.page, |key| key + part);
            }
        }
        let size = self.known + self.targets.len();
        if size >= self.next_at {
            if size >= FIRST {
                self.compute(pages);
            }
            self.next_at = (size + size / 8).max(FIRST);
        }
    }
}
