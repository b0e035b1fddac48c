//! In which order a crawl takes the pages it knows.
//!
//! An ordering sees what a crawler sees and nothing else: the pages it starts with, and of every
//! fetched page its links. Pages and sites are numbers, given out by whoever keeps the addresses,
//! counting up from zero as they become known; so an ordering keeps its state in arrays.

/// What a link says about its target, by where both ends live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkKind {
    /// Between two sites.
    External,
    /// Inside a site the crawl started with.
    Initial,
    /// Inside any other site.
    NonInitial,
}

/// A link as an ordering sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    /// The page it points to.
    pub page: u32,
    /// The site of that page.
    pub site: u32,
    /// What it says about that page.
    pub kind: LinkKind,
}

/// An ordering: the frontier of a crawl, and which of it comes next.
pub trait Order: Send {
    /// A page the crawl starts with. Telling it of a known page changes nothing.
    fn seed(&mut self, page: u32, site: u32);

    /// Takes the next page out of the frontier.
    fn next(&mut self) -> Option<u32>;

    /// Takes this very page out of the frontier, as [`next`](Self::next) did when the crawl that is
    /// being replayed took it. A page that is not there changes nothing.
    fn take(&mut self, page: u32);

    /// `page` of `site` was fetched and holds these links, in the order of the page, no target
    /// twice. Targets not seen before enter the frontier.
    fn fetched(&mut self, page: u32, site: u32, links: &[Link]);

    /// How many pages wait in the frontier.
    fn waiting(&self) -> usize;
}
