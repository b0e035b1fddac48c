//! Is this a copy? Which stored originals agree with these features in at least z places.
//!
//! The question is asked for every document that arrives, so the index has to answer fast while originals are added and
//! removed. [`CopyIndex`] is the trait; [`MemoryIndex`] is the implementation that Wonbon uses; module `papers` (a feature
//! of that name, off by default, because it needs SQLite) has the three that Lee, Lee and Kim compared. All
//! implementations pass one contract suite (`tests/contract.rs`).
//!
//! An index holds originals only: a copy never enters it, so gradual drift cannot chain one family to the next. It is
//! derived data: it can be rebuilt from the features in the store.
//!
//! A second question, what shares shingles with a text, has an index of its own: [`shingles`].
//!
//! Not here: what features are (`wonbon-sketch`); which of several originals a document copies, and anything durable
//! beyond a snapshot (`wonbon-store`).

#![warn(unreachable_pub)]

mod error;
mod key_table;
mod memory;
#[cfg(feature = "papers")]
pub mod papers;
pub mod shingles;
mod snapshot;
mod subsets;

pub use error::IndexError;
pub use memory::{Closest, MemoryIndex};

/// The store's number of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Row(pub u32);

/// A stored original that agrees in enough places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Match {
    /// Which one.
    pub row: Row,
    /// In how many places it agrees.
    pub agreeing: usize,
}

/// What an index compares, and how much of it must agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IndexParams {
    /// k, how many features a document has.
    pub features: usize,
    /// z, how many of them must agree. The number of ways to choose z of k is the number of tables:
    /// 15 for 2 of 6. More of them cost memory and time, and bring no other answers.
    pub agreeing: usize,
}

impl Default for IndexParams {
    /// The papers' 2 of 6.
    fn default() -> Self {
        IndexParams { features: 6, agreeing: 2 }
    }
}

impl std::fmt::Display for IndexParams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} features", self.agreeing, self.features)
    }
}

/// Which stored originals agree with these features?
pub trait CopyIndex {
    /// What is compared.
    fn params(&self) -> IndexParams;

    /// All stored originals that agree in at least z places, by row.
    ///
    /// # Errors
    ///
    /// [`IndexError::WrongLength`] unless there are k features, or none: a document without words
    /// agrees with nothing.
    fn matches(&self, features: &[u64]) -> Result<Vec<Match>, IndexError>;

    /// One stored original that agrees in at least z places, the first that is come upon: the
    /// papers' question, which stops there.
    ///
    /// # Errors
    ///
    /// As [`CopyIndex::matches`].
    fn first_match(&self, features: &[u64]) -> Result<Option<Match>, IndexError>;

    /// Adds an original. A row is added once; to change its features, remove it first.
    ///
    /// # Errors
    ///
    /// [`IndexError::WrongLength`] unless there are k features, [`IndexError::Full`] when there is
    /// no room for another.
    fn insert(&mut self, row: Row, features: &[u64]) -> Result<(), IndexError>;

    /// Removes an original with the features it was added with; returns whether it was there.
    ///
    /// # Errors
    ///
    /// [`IndexError::WrongLength`] unless there are k features.
    fn remove(&mut self, row: Row, features: &[u64]) -> Result<bool, IndexError>;

    /// How many originals it holds.
    fn len(&self) -> usize;

    /// Whether it holds none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Pages read since it was opened; 0 for an index that has no pages.
    fn page_accesses(&self) -> u64;
}
