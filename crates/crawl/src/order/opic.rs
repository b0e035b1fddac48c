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

use super::heap::PageHeap;
use super::{Link, Order, reach};

/// The frontier by cash.
#[derive(Default)]
pub struct Opic {
    pages: PageHeap<f32>,
    /// What a page has, kept for those that are taken and not fetched yet.
    cash: Vec<f32>,
}

impl Order for Opic {
    fn seed(&mut self, page: u32, _site: u32) {
        if !self.pages.is_known(page) {
            reach(&mut self.cash, page, 0.0);
            self.cash[page as usize] = 1.0;
            self.pages.insert(page, f32::INFINITY);
        }
    }

    fn next(&mut self) -> Option<u32> {
        self.pages.pop()
    }

    fn take(&mut self, page: u32) {
        if self.pages.is_known(page) {
            self.pages.remove(page);
        }
    }

    fn fetched(&mut self, page: u32, _site: u32, links: &[Link]) {
        self.pages.remove(page);
        reach(&mut self.cash, page, 0.0);
        let cash = std::mem::take(&mut self.cash[page as usize]);
        let part = cash / links.len().max(1) as f32;
        for link in links {
            reach(&mut self.cash, link.page, 0.0);
            let cash = &mut self.cash[link.page as usize];
            *cash += part;
            let cash = *cash;
            // The infinite key of a page the crawl starts with stays.
            if !self.pages.raise(link.page, |key| key.max(cash)) && !self.pages.is_known(link.page)
            {
                self.pages.insert(link.page, cash);
            }
        }
    }

    fn waiting(&self) -> usize {
        self.pages.len()
    }
}
