//! Maximum cardinality search: next is the page that most fetched pages link to.
//!
//! Algorithm 2 of the paper, by partition refinement: the pages of a class have the same number of
//! links, a counted link moves its target to the next class. The pages the crawl starts with are in
//! a class of their own that is emptied first and that links do not move them out of. A page enters
//! class 1 whatever the kind of the link that made it known (line 19); after that only external and
//! initial links move it. With all links counted this is the backlink count of Cho, Garcia-Molina
//! and Page.
//!
//! Ties: of the pages with the same number of links the one that reached it first.
//!
//! Cost: exactly linear: O(1) for a link, O(1) for a page on average over a crawl; 12 bytes a known
//! page and 8 for each number of links up to the greatest. Where the crawl's links are many, the time
//! is that of the cache misses: one for a link to a page that is gone or is not moved, up to four for
//! a link that moves one.

use super::buckets::Buckets;
use super::{Link, Order, Typing};

/// The class of the pages the crawl starts with, and that of pages with one link.
const SEEDS: u32 = 0;
const DISCOVERED: u32 = 1;

/// The frontier of a maximum cardinality search.
#[derive(Default)]
pub struct Mcs {
    typing: Typing,
    pages: Buckets,
}

impl Mcs {
    /// A search in which these links count.
    pub fn new(typing: Typing) -> Self {
        Mcs { typing, pages: Buckets::default() }
    }
}

impl Order for Mcs {
    fn seed(&mut self, page: u32, _site: u32) {
        if !self.pages.is_known(page) {
            self.pages.insert(page, SEEDS);
        }
    }

    fn next(&mut self) -> Option<u32> {
        let page = self.pages.first(SEEDS).or_else(|| self.pages.first_of_highest())?;
        self.pages.remove(page);
        Some(page)
    }

    fn take(&mut self, page: u32) {
        if self.pages.is_known(page) {
            self.pages.remove(page);
        }
    }

    fn fetched(&mut self, page: u32, _site: u32, links: &[Link]) {
        self.pages.remove(page);
        for link in links {
            match self.pages.class(link.page) {
                Some(SEEDS) => {}
                Some(class) if self.typing.counts(link.kind) => {
                    self.pages.shift(link.page, class + 1);
                }
                Some(_) => {}
                None if self.pages.is_known(link.page) => {}
                None => self.pages.insert(link.page, DISCOVERED),
            }
        }
    }

    fn waiting(&self) -> usize {
        self.pages.len()
    }
}
