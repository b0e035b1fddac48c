//! In which order a crawl takes the pages it knows.
//!
//! An ordering sees what a crawler sees and nothing else: the pages it starts with, and of every
//! fetched page its links. Pages and sites are numbers, given out by whoever keeps the addresses,
//! counting up from zero as they become known; so an ordering keeps its state in arrays.
//!
//! The orderings are those of Kim, Kwon, Kim, Kim and Park, "Effective Web Crawling Orderings from
//! Graph Search Techniques" (2010), and the ones they are compared with. As in section 4 of the
//! paper only external and initial links move a page that is known; a non-initial link makes its
//! target known and says nothing else ([`Typing::Typed`]). The searches can be had with all links
//! counted too, which is what their definitions are about.
//!
//! | name | takes | time for a link / a page | bytes a known page |
//! |---|---|---|---|
//! | `generic` | any page | 1 / 1 | 8 |
//! | `bfs` | the first discovered | 1 / 1 | 5 |
//! | `dfs` | a neighbour of the last page taken | 1 / 1 | 8 |
//! | `lexbfs` | the largest label, early pages count most | 1 / 1 | 12, and 20 a class |
//! | `lexdfs` | the largest label, late pages count most | log of the page's links / 1 | 12, and 28 a class |
//! | `mns` | a maximal set of pages that link to it | log of the waiting pages | 4, and 16 a waiting page |
//! | `mcs` | the most pages that link to it | 1 / 1 | 12 |
//! | `backlink` | the same, all links counted | 1 / 1 | 12 |
//! | `opic` | the most cash | log of the waiting pages | 8, and 8 a waiting page |
//! | `larger-site` | a page of the site with most waiting pages | 1 / 1 | 8, and 20 a site |
//! | `pagerank` | the highest PageRank of the known graph | see [`pagerank`] | 12, 16 a waiting page, 4 a link |
//! | `damped` | the most links, inner ones fading | log of the waiting pages | 4, 8 a waiting page, 4 a site |
//! | `damped-all` | the same, initial links fading too | log of the waiting pages | 4, 8 a waiting page, 4 a site |
//!
//! Guarantees: the same calls give the same pages on every machine. A page enters the frontier once
//! and leaves it once. Nothing is set up in advance: a page costs memory when it becomes known.
//! Bytes are those in use; an array that grows holds up to twice as many, which the system gives
//! only where they are touched.

mod bfs;
mod buckets;
mod damped;
mod dfs;
mod frontier;
mod generic;
mod heap;
mod larger_site;
mod lexbfs;
mod lexdfs;
mod lists;
mod mcs;
mod mns;
mod name;
mod opic;
pub mod pagerank;
mod partition;

pub use bfs::Bfs;
pub use damped::{Damped, Fading};
pub use dfs::Dfs;
pub use generic::Generic;
pub use larger_site::LargerSite;
pub use lexbfs::LexBfs;
pub use lexdfs::LexDfs;
pub use mcs::Mcs;
pub use mns::Mns;
pub use name::{ORDER_NAMES, OrderName, UnknownOrder};
pub use opic::Opic;

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
///
/// A page that was fetched without having been taken leaves the frontier too and does not enter it
/// again. A page that could not be fetched needs no call: it was taken, and that is all.
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

/// Which links to a known page say something about it. The link that makes a page known always does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Typing {
    /// External and initial links, as in the paper.
    #[default]
    Typed,
    /// All links, as in the definitions of the searches.
    Untyped,
}

impl Typing {
    /// Whether a link of this kind moves a page that is known.
    pub fn counts(self, kind: LinkKind) -> bool {
        self == Typing::Untyped || kind != LinkKind::NonInitial
    }
}

/// Makes an array long enough to have an entry of this number.
fn reach<T: Clone>(array: &mut Vec<T>, number: u32, empty: T) {
    let needed = number as usize + 1;
    if array.len() < needed {
        array.resize(needed, empty);
    }
}
