//! On-line page importance: next is the page with the most cash.
//!
//! Abiteboul, Preda and Cobena (2003), for pages that are fetched once: every page the crawl starts
//! with has cash 1; a fetched page gives what it has to the pages it links to, in equal parts. What
//! reaches a page that was fetched is lost, as is the cash of a page without links: there is nobody
//! to come back for it. All links are equal.
//!
//! The pages the crawl starts with come first. Ties: the page discovered first.
//!
//! Cost: O(log waiting) for a link and a page; 16 bytes a known page. Cash is a 32-bit float: sums
//! are off by some 10^-7 of their size, the same on every machine.

use super::frontier::{Frontier, Pages, Rule};
use super::heap::PageHeap;
use super::{Link, reach};

/// The frontier by cash.
pub type Opic = Frontier<Cash>;

/// Hands on what pages have.
#[derive(Default)]
pub struct Cash {
    /// What a page has, kept for those that are taken and not fetched yet.
    cash: Vec<f32>,
}

impl Rule for Cash {
    type Pages = PageHeap<f32>;

    fn seed(&mut self, page: u32) -> f32 {
        reach(&mut self.cash, page, 0.0);
        self.cash[page as usize] = 1.0;
        f32::INFINITY
    }

    fn fetched(&mut self, pages: &mut PageHeap<f32>, page: u32, _site: u32, links: &[Link]) {
        reach(&mut self.cash, page, 0.0);
        let cash = std::mem::take(&mut self.cash[page as usize]);
        let part = cash / links.len().max(1) as f32;
        for link in links {
            reach(&mut self.cash, link.page, 0.0);
            let cash = &mut self.cash[link.page as usize];
            *cash += part;
            let cash = *cash;
            // The infinite key of a page the crawl starts with stays.
            if !pages.raise(link.page, |key| key.max(cash)) && !pages.is_known(link.page) {
                pages.insert(link.page, cash);
            }
        }
    }
}
