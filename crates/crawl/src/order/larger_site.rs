//! Larger sites first: next is a page of the site with the most known pages that wait.
//!
//! Baeza-Yates, Castillo, Marin and Rodriguez (2005). It keeps any site from having more left at the
//! end than there is time to fetch politely. Kinds of links play no part.
//!
//! Ties: of the sites with equally many pages the one that reached that number first; within a site
//! the page discovered first. A page the crawl starts with is a page of its site like others.
//!
//! Cost: O(1) for a link and a page, since a site's number changes by one; 8 bytes a known page and
//! 20 a site. A page taken out of turn is passed over when its turn comes.

use super::buckets::Buckets;
use super::{Link, Order, reach};

/// No page; as the site of a page: never put in, taken out.
const NONE: u32 = u32::MAX;
const UNKNOWN: u32 = u32::MAX;
const GONE: u32 = u32::MAX - 1;

#[derive(Clone, Copy)]
struct Page {
    site: u32,
    /// The next page of its site.
    after: u32,
}

#[derive(Clone, Copy)]
struct Site {
    first: u32,
    last: u32,
}

const NOWHERE: Page = Page { site: UNKNOWN, after: NONE };

/// The frontier by the size of sites.
#[derive(Default)]
pub struct LargerSite {
    pages: Vec<Page>,
    sites: Vec<Site>,
    /// Sites that have waiting pages, by how many.
    sizes: Buckets,
    waiting: usize,
}

impl LargerSite {
    fn discover(&mut self, page: u32, site: u32) {
        reach(&mut self.pages, page, NOWHERE);
        if self.pages[page as usize].site != UNKNOWN {
            return;
        }
        self.pages[page as usize].site = site;
        reach(&mut self.sites, site, Site { first: NONE, last: NONE });
        let queue = &mut self.sites[site as usize];
        match std::mem::replace(&mut queue.last, page) {
            NONE => queue.first = page,
            last => self.pages[last as usize].after = page,
        }
        match self.sizes.class(site) {
            Some(size) => self.sizes.shift(site, size + 1),
            None => self.sizes.insert(site, 1),
        }
        self.waiting += 1;
    }
}

impl Order for LargerSite {
    fn seed(&mut self, page: u32, site: u32) {
        self.discover(page, site);
    }

    fn next(&mut self) -> Option<u32> {
        let site = self.sizes.first_of_highest()?;
        loop {
            let queue = &mut self.sites[site as usize];
            let page = queue.first;
            let Page { site, after } = self.pages[page as usize];
            queue.first = after;
            if after == NONE {
                queue.last = NONE;
            }
            if site != GONE {
                self.take(page);
                return Some(page);
            }
        }
    }

    fn take(&mut self, page: u32) {
        let Some(known) = self.pages.get_mut(page as usize).filter(|page| page.site < GONE) else {
            return;
        };
        let site = std::mem::replace(&mut known.site, GONE);
        match self.sizes.class(site) {
            Some(size) if size > 1 => self.sizes.shift(site, size - 1),
            _ => {
                self.sizes.remove(site);
            }
        }
        self.waiting -= 1;
    }

    fn fetched(&mut self, page: u32, _site: u32, links: &[Link]) {
        self.take(page);
        reach(&mut self.pages, page, NOWHERE);
        self.pages[page as usize].site = GONE;
        for link in links {
            self.discover(link.page, link.site);
        }
    }

    fn waiting(&self) -> usize {
        self.waiting
    }
}
