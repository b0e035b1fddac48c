//! A frontier of two parts: the waiting pages, and the rule that ranks them by the links found so far.
//!
//! Most orderings differ in the rule alone; taking, skipping and counting pages is the same for all. The rule
//! ranks the start pages, and updates the ranks of waiting pages after each fetched page.
//!
//! Cost: that of the two parts.

use super::{Link, Order};

/// Waiting pages by rank.
pub trait Pages: Default + Send {
    /// What ranks a page.
    type Rank;

    /// How many pages are in.
    fn len(&self) -> usize;

    /// Whether the page was ever put in.
    fn is_known(&self, page: u32) -> bool;

    /// Puts a page in that is not known.
    fn insert(&mut self, page: u32, rank: Self::Rank);

    /// Takes out the page that comes next.
    fn pop(&mut self) -> Option<u32>;

    /// Takes a page out if it is in. It is known from now on.
    fn remove(&mut self, page: u32);
}

/// What ranks pages.
pub trait Rule: Default + Send {
    /// Where the pages wait.
    type Pages: Pages;

    /// The rank of a page the crawl starts with.
    fn seed(&mut self, page: u32) -> <Self::Pages as Pages>::Rank;

    /// `page` of `site`, which does not wait any more, was fetched and holds these links.
    fn fetched(&mut self, pages: &mut Self::Pages, page: u32, site: u32, links: &[Link]);
}

/// Waiting pages that a rule ranks.
#[derive(Default)]
pub struct Frontier<R: Rule> {
    pages: R::Pages,
    rule: R,
}

impl<R: Rule> Frontier<R> {
    /// Nothing waits yet.
    pub(super) fn of(rule: R) -> Self {
        Frontier { pages: R::Pages::default(), rule }
    }
}

impl<R: Rule> Order for Frontier<R> {
    fn seed(&mut self, page: u32, _site: u32) {
        if !self.pages.is_known(page) {
            self.pages.insert(page, self.rule.seed(page));
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
        self.rule.fetched(&mut self.pages, page, site, links);
    }

    fn waiting(&self) -> usize {
        self.pages.len()
    }
}
