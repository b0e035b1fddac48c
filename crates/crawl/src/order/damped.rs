//! Damped backlink count: inner links count, but less and less.
//!
//! An external or initial link counts 1. Any other link inside a site counts 1 / (1 + pages already
//! taken from that site): the first pages of a site say which of its pages matter, the thousandth
//! only repeats its navigation. So the ordering can neither be caught by a site that links to itself
//! on every page, as the plain backlink count is, nor does it ignore the inside of sites, as typed
//! maximum cardinality search does. It is not from the paper.
//!
//! Initial links count 1 as the paper has it, for directories. Where the crawl starts with large
//! sites that are no directories, their inner links drown what leads out of them; then it is better
//! that all inner links fade ([`Fading::Internal`], `damped-all`). On the graph of WebKB begun at its
//! four large departments the difference is that between .195 and .277 of the PageRank in the first
//! tenth of the pages.
//!
//! The pages the crawl starts with come first, as in [`Mcs`](super::Mcs). "Already taken" are the pages
//! of the site that were fetched before this one.
//!
//! Ties: the page discovered first.
//!
//! Cost: O(log waiting) for a link and a page, see the heap for what it is in practice; 12 bytes a
//! known page and 4 a site. Counts are 32-bit floats: past 16 million a further link adds nothing.

use super::frontier::{Frontier, Pages, Rule};
use super::heap::PageHeap;
use super::{Link, LinkKind, reach};

/// Which links fade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Fading {
    /// Those inside a site, unless the crawl started with it: initial links count 1.
    #[default]
    NonInitial,
    /// All links inside a site.
    Internal,
}

/// The frontier by damped backlink count.
pub type Damped = Frontier<DampedCount>;

impl Damped {
    /// A count in which these links fade.
    pub fn new(fading: Fading) -> Self {
        Frontier::of(DampedCount { fading, ..DampedCount::default() })
    }
}

/// Counts links, inner ones less and less.
#[derive(Default)]
pub struct DampedCount {
    fading: Fading,
    /// Pages fetched, by site.
    fetched: Vec<u32>,
}

impl Rule for DampedCount {
    type Pages = PageHeap<f32>;

    fn seed(&mut self, _page: u32) -> f32 {
        f32::INFINITY
    }

    fn fetched(&mut self, pages: &mut PageHeap<f32>, _page: u32, site: u32, links: &[Link]) {
        reach(&mut self.fetched, site, 0);
        let fetched = &mut self.fetched[site as usize];
        let faded = 1.0 / (1.0 + *fetched as f32);
        *fetched += 1;
        for link in links {
            let counts = match (link.kind, self.fading) {
                (LinkKind::External, _) | (LinkKind::Initial, Fading::NonInitial) => 1.0,
                (LinkKind::Initial | LinkKind::NonInitial, _) => faded,
            };
            if !pages.raise(link.page, |count| count + counts) && !pages.is_known(link.page) {
                pages.insert(link.page, counts);
            }
        }
    }
}
