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

use super::partition::{Partition, SEEDS};
use super::{Link, Order, Typing, reach};

/// The frontier of a lexicographic depth-first search.
#[derive(Default)]
pub struct LexDfs {
    typing: Typing,
    pages: Partition,
    /// When a class was made: later ones lie before earlier ones.
    made: Vec<u64>,
    clock: u64,
    /// Classes that the page being worked on splits.
    splitting: Vec<u32>,
}

impl LexDfs {
    /// A search in which these links count.
    pub fn new(typing: Typing) -> Self {
        LexDfs { typing, ..LexDfs::default() }
    }

    fn count(&mut self, page: u32, class: u32) {
        let split = match self.pages.split(class) {
            Some(split) => split,
            None => {
                let split = self.pages.new_class();
                self.pages.split_into(class, split);
                self.splitting.push(class);
                split
            }
        };
        self.pages.shift(page, split);
    }

    fn put_to_the_front(&mut self, class: u32) {
        let front = self.pages.front();
        self.pages.put_before(class, Some(front));
        self.clock += 1;
        reach(&mut self.made, class, 0);
        self.made[class as usize] = self.clock;
    }
}

impl Order for LexDfs {
    fn seed(&mut self, page: u32, _site: u32) {
        if !self.pages.is_known(page) {
            self.pages.insert(page, SEEDS);
            reach(&mut self.made, SEEDS, 0);
        }
    }

    fn next(&mut self) -> Option<u32> {
        let page = self.pages.first()?;
        self.pages.remove(page);
        Some(page)
    }

    fn take(&mut self, page: u32) {
        if self.pages.class(page).is_some() {
            self.pages.remove(page);
        }
    }

    fn fetched(&mut self, page: u32, _site: u32, links: &[Link]) {
        self.pages.remove(page);
        reach(&mut self.made, SEEDS, 0);
        let mut discovered = None;
        for link in links {
            match self.pages.class(link.page) {
                Some(class) if Some(class) == discovered => {}
                Some(class) if self.typing.counts(link.kind) => self.count(link.page, class),
                Some(_) => {}
                None if self.pages.is_known(link.page) => {}
                None => {
                    let class = match discovered {
                        Some(class) => class,
                        None => *discovered.insert(self.pages.new_class()),
                    };
                    self.pages.insert(link.page, class);
                }
            }
        }
        if let Some(class) = discovered {
            self.put_to_the_front(class);
        }
        let mut splitting = std::mem::take(&mut self.splitting);
        splitting.sort_unstable_by_key(|&class| self.made[class as usize]);
        for &class in &splitting {
            let split = self.pages.split(class).expect("the list holds classes that are split");
            self.put_to_the_front(split);
            self.pages.end_split(class);
        }
        splitting.clear();
        self.splitting = splitting;
    }

    fn waiting(&self) -> usize {
        self.pages.len()
    }
}
