//! The orderings by name.

use std::fmt;
use std::str::FromStr;

use super::pagerank::PageRankOrder;
use super::{
    Bfs, Damped, Dfs, Fading, Generic, LargerSite, LexBfs, LexDfs, Mcs, Mns, Opic, Order, Typing,
};

/// An ordering that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OrderName {
    /// See [`Generic`].
    Generic,
    /// See [`Bfs`].
    Bfs,
    /// See [`Dfs`].
    Dfs,
    /// See [`LexBfs`].
    LexBfs,
    /// See [`LexDfs`].
    LexDfs,
    /// See [`Mns`].
    Mns,
    /// See [`Mcs`].
    Mcs,
    /// See [`Mcs`].
    Backlink,
    /// See [`Opic`].
    Opic,
    /// See [`LargerSite`].
    LargerSite,
    /// See [`PageRankOrder`].
    PageRank,
    /// See [`Damped`].
    Damped,
    /// See [`Damped`].
    DampedAll,
}

/// All orderings, in the order in which they are listed to people.
pub const ORDER_NAMES: [OrderName; 13] = [
    OrderName::Generic,
    OrderName::Bfs,
    OrderName::Dfs,
    OrderName::LexBfs,
    OrderName::LexDfs,
    OrderName::Mns,
    OrderName::Mcs,
    OrderName::Backlink,
    OrderName::Opic,
    OrderName::LargerSite,
    OrderName::PageRank,
    OrderName::Damped,
    OrderName::DampedAll,
];

impl OrderName {
    /// How it is called.
    pub fn name(self) -> &'static str {
        match self {
            OrderName::Generic => "generic",
            OrderName::Bfs => "bfs",
            OrderName::Dfs => "dfs",
            OrderName::LexBfs => "lexbfs",
            OrderName::LexDfs => "lexdfs",
            OrderName::Mns => "mns",
            OrderName::Mcs => "mcs",
            OrderName::Backlink => "backlink",
            OrderName::Opic => "opic",
            OrderName::LargerSite => "larger-site",
            OrderName::PageRank => "pagerank",
            OrderName::Damped => "damped",
            OrderName::DampedAll => "damped-all",
        }
    }

    /// What it takes next, in a line.
    pub fn description(self) -> &'static str {
        match self {
            OrderName::Generic => "any known page, by chance (seeded)",
            OrderName::Bfs => "breadth-first: the page discovered first",
            OrderName::Dfs => "depth-first: a page that the last page taken links to",
            OrderName::LexBfs => "lexicographic breadth-first: linked to by the earliest pages",
            OrderName::LexDfs => "lexicographic depth-first: linked to by the latest pages",
            OrderName::Mns => "maximal neighbourhood: a maximal set of fetched pages links to it",
            OrderName::Mcs => "maximum cardinality: most fetched pages link to it",
            OrderName::Backlink => "backlink count: the same, links inside a site counted too",
            OrderName::Opic => {
                "on-line importance: the most cash, which pages share out among their links"
            }
            OrderName::LargerSite => "the site with the most known pages that wait",
            OrderName::PageRank => "the highest PageRank of the graph known so far",
            OrderName::Damped => {
                "most links, those inside a site counting less the more of it was taken"
            }
            OrderName::DampedAll => "damped, with links inside the sites of the seeds fading too",
        }
    }

    /// An empty frontier with this ordering. The seed matters to `generic` alone.
    pub fn build(self, seed: u64) -> Box<dyn Order> {
        match self {
            OrderName::Generic => Box::new(Generic::new(seed)),
            OrderName::Bfs => Box::new(Bfs::default()),
            OrderName::Dfs => Box::new(Dfs::default()),
            OrderName::LexBfs => Box::new(LexBfs::default()),
            OrderName::LexDfs => Box::new(LexDfs::default()),
            OrderName::Mns => Box::new(Mns::default()),
            OrderName::Mcs => Box::new(Mcs::default()),
            OrderName::Backlink => Box::new(Mcs::new(Typing::Untyped)),
            OrderName::Opic => Box::new(Opic::default()),
            OrderName::LargerSite => Box::new(LargerSite::default()),
            OrderName::PageRank => Box::new(PageRankOrder::default()),
            OrderName::Damped => Box::new(Damped::default()),
            OrderName::DampedAll => Box::new(Damped::new(Fading::Internal)),
        }
    }
}

impl fmt::Display for OrderName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// No ordering is called so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{asked}` is no ordering; there are {}", ORDER_NAMES.map(OrderName::name).join(", "))]
pub struct UnknownOrder {
    /// What was asked for.
    pub asked: String,
}

impl FromStr for OrderName {
    type Err = UnknownOrder;

    fn from_str(text: &str) -> Result<Self, UnknownOrder> {
        ORDER_NAMES
            .into_iter()
            .find(|order| order.name() == text)
            .ok_or_else(|| UnknownOrder { asked: text.to_owned() })
    }
}
