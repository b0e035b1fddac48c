//! Maximal neighbourhood search: next is a page whose set of fetched neighbours no other page's set
//! contains.
//!
//! Corneil and Krueger's search leaves open which of the maximal sets is taken; LexBFS, LexDFS and
//! MCS all make such choices. This one gives every fetched page a weight and takes the set of the
//! greatest weight: with positive weights a set always weighs more than its parts, so the greatest
//! is maximal. The weight is one over the number of the page's links: a page that points to few pages
//! says more about each. Weights are whole numbers of 2^-32, so that they add up exactly.
//!
//! As in [`Mcs`](super::Mcs) the page that made a page known is in its set whatever the link; later
//! ones by external and initial links. The pages the crawl starts with come first.
//!
//! Ties: the page discovered first.
//!
//! Cost: O(log waiting) for a link and a page; 4 bytes a known page and 16 a waiting one. Sets are
//! not written down.

use super::frontier::{Frontier, Pages, Rule};
use super::heap::PageHeap;
use super::{Link, Typing};

/// The weight of the only link of a page.
const WHOLE: u64 = 1 << 32;

/// The frontier of a maximal neighbourhood search.
pub type Mns = Frontier<Weights>;

impl Mns {
    /// A search in which these links count.
    pub fn new(typing: Typing) -> Self {
        Frontier::of(Weights { typing })
    }
}

/// Weighs the sets of fetched neighbours.
#[derive(Default)]
pub struct Weights {
    typing: Typing,
}

impl Rule for Weights {
    type Pages = PageHeap<u64>;

    fn seed(&mut self, _page: u32) -> u64 {
        u64::MAX
    }

    fn fetched(&mut self, pages: &mut PageHeap<u64>, _page: u32, _site: u32, links: &[Link]) {
        let weight = WHOLE / links.len().max(1) as u64;
        for link in links {
            if !pages.is_known(link.page) {
                pages.insert(link.page, weight);
            } else if self.typing.counts(link.kind) {
                pages.raise(link.page, |weights| weights.saturating_add(weight));
            }
        }
    }
}
