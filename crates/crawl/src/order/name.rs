//! The orderings by name.

use std::fmt;
use std::str::FromStr;

use super::{Bfs, Damped, Mcs, Order};

/// An ordering that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OrderName {
    /// See [`Bfs`].
    Bfs,
    /// See [`Mcs`].
    Mcs,
    /// See [`Damped`].
    Damped,
}

/// All orderings, in the order in which they are listed to people.
pub const ORDER_NAMES: [OrderName; 3] = [OrderName::Bfs, OrderName::Mcs, OrderName::Damped];

impl OrderName {
    /// How it is called.
    pub fn name(self) -> &'static str {
        match self {
            OrderName::Bfs => "bfs",
            OrderName::Mcs => "mcs",
            OrderName::Damped => "damped",
        }
    }

    /// What it takes next, in a line.
    pub fn description(self) -> &'static str {
        match self {
            OrderName::Bfs => "breadth-first: the page discovered first",
            OrderName::Mcs => {
                "maximum cardinality: the page most external and initial links point to"
            }
            OrderName::Damped => {
                "damped backlink: most links, those inside a site counting less the more is taken"
            }
        }
    }

    /// An empty frontier with this ordering. The seed matters to `generic` alone.
    pub fn build(self, seed: u64) -> Box<dyn Order> {
        let _ = seed;
        match self {
            OrderName::Bfs => Box::new(Bfs::default()),
            OrderName::Mcs => Box::new(Mcs::default()),
            OrderName::Damped => Box::new(Damped::default()),
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
