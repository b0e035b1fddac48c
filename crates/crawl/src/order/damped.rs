//! Damped backlink count: inner links count, but less and less.
//!
//! An external or initial link counts 1. Any other link inside a site counts 1 / (1 + pages already
//! taken from that site): the first pages of a site say which of its pages matter, the thousandth
//! only repeats its navigation. So the ordering can neither be caught by a site that links to itself
//! on every page, as the plain backlink count is, nor does it ignore the inside of sites, as typed
//! maximum cardinality search does. It is not from the paper.
//!
//! The pages the crawl starts with come first, as in [`Mcs`](super::Mcs). A page taken out counts for
//! its site when it was fetched.
//!
//! Ties: the page discovered first.
//!
//! Cost: O(log waiting) for a link and a page, see the heap for what it is in practice; 12 bytes a
//! known page and 4 a site. Counts are 32-bit floats: past 16 million a further link adds nothing.

use super::heap::PageHeap;
use super::{Link, LinkKind, Order, reach};

/// The frontier by damped backlink count.
#[derive(Default)]
pub struct Damped {
    pages: PageHeap<f32>,
    /// Pages fetched, by site.
    fetched: Vec<u32>,
}

impl Order for Damped {
    fn seed(&mut self, page: u32, _site: u32) {
        if !self.pages.is_known(page) {
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

    fn fetched(&mut self, page: u32, site: u32, links: &[Link]) {
        self.pages.remove(page);
        reach(&mut self.fetched, site, 0);
        self.fetched[site as usize] += 1;
        // With the page itself among those taken: its own links count half at most.
        let damped = 1.0 / (1.0 + self.fetched[site as usize] as f32);
        for link in links {
            let counts = match link.kind {
                LinkKind::External | LinkKind::Initial => 1.0,
                LinkKind::NonInitial => damped,
            };
            if !self.pages.raise(link.page, |count| count + counts)
                && !self.pages.is_known(link.page)
            {
                self.pages.insert(link.page, counts);
            }
        }
    }

    fn waiting(&self) -> usize {
        self.pages.len()
    }
}
