//! Lexicographic depth-first search: among the neighbours of the latest page those of the one
//! before it, and so on.
//!
//! Corneil and Krueger. By partition refinement too, but what a page links to goes to the very front:
//! first the parts split from known classes, as these lay before, then the pages that were not known.
//! To put the parts in order the classes have to be compared by where they lie; since a class comes
//! into being at the front and never moves, the time of its making tells. The pages the crawl starts
//! with are the last class, as if one page before all others linked to them.
//!
//! Ties: of equal labels the page that got its label first; the links of a page in the order of the
//! page.
//!
//! Cost: not linear, and no linear algorithm is known: a page with k links into c classes takes
//! O(k + c log c). 12 bytes a known page and 28 a class of equal labels.

use super::frontier::{Frontier, Rule};
use super::partition::{Partition, SEEDS};
use super::{Link, Typing, reach};

/// The frontier of a lexicographic depth-first search.
pub type LexDfs = Frontier<LateFirst>;

impl LexDfs {
    /// A search in which these links count.
    pub fn new(typing: Typing) -> Self {
        Frontier::of(LateFirst { typing, ..LateFirst::default() })
    }
}

/// Labels in which late pages count most.
#[derive(Default)]
pub struct LateFirst {
    typing: Typing,
    /// When a class was made: later ones lie before earlier ones.
    made: Vec<u64>,
    clock: u64,
    /// Classes that the page being worked on splits.
    splitting: Vec<u32>,
}

impl LateFirst {
    fn put_to_the_front(&mut self, pages: &mut Partition, class: u32) {
        let front = pages.front();
        pages.put_before(class, Some(front));
        self.clock += 1;
        reach(&mut self.made, class, 0);
        self.made[class as usize] = self.clock;
    }
}

impl Rule for LateFirst {
    type Pages = Partition;

    fn seed(&mut self, _page: u32) -> u32 {
        reach(&mut self.made, SEEDS, 0);
        SEEDS
    }

    fn fetched(&mut self, pages: &mut Partition, _page: u32, _site: u32, links: &[Link]) {
        reach(&mut self.made, SEEDS, 0);
        let discovered = pages.refine(links, self.typing, &mut self.splitting);
        if let Some(class) = discovered {
            self.put_to_the_front(pages, class);
        }
        let mut splitting = std::mem::take(&mut self.splitting);
        splitting.sort_unstable_by_key(|&class| self.made[class as usize]);
        for &class in &splitting {
            let split = pages.split(class).expect("the list holds classes that are split");
            self.put_to_the_front(pages, split);
            pages.end_split(class);
        }
        splitting.clear();
        self.splitting = splitting;
    }
}
