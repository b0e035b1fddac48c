//! Exact set-similarity joins: all pairs of sets whose similarity reaches a threshold.
//!
//! [`Auto`](auto::Auto) is the one to use. The five algorithms of Park's paper of 2012
//! (AllPairs, PPJoin, PPJoin+, MPJoin, APJoin) stand in [`papers`] behind the same [`Algorithm`]
//! trait, to be read, compared and trusted.
//!
//! ```
//! use wonbon_join::{CollectionBuilder, JoinParams, Measure, Side, auto::AUTO, join_pairs};
//!
//! let mut builder = CollectionBuilder::for_self_join();
//! builder.push(Side::Left, &[1, 2, 3, 4])?;
//! builder.push(Side::Left, &[7, 8])?;
//! builder.push(Side::Left, &[1, 2, 3, 4, 5])?;
//! let collection = builder.finish();
//! let params = JoinParams::new(Measure::Jaccard, "0.8".parse()?)?;
//! let mut pairs = Vec::new();
//! join_pairs(&AUTO, &collection, &params, None, &mut pairs)?;
//! assert_eq!((pairs[0].left, pairs[0].right, pairs[0].overlap), (0, 2, 4));
//! # Ok::<(), wonbon_join::JoinError>(())
//! ```
//!
//! Guarantees: exact (thresholds are rationals, bounds integers); the same pairs in the same
//! order whatever the thread count; empty sets pair with nothing.
//! Not here: files, words, shingles, flags.

#![warn(unreachable_pub)]

mod algorithm;
pub mod auto;
mod bounds;
mod collection;
mod error;
pub mod interner;
mod measure;
mod pairs;
pub mod papers;
mod parallel;
mod threshold;
mod vector;
mod verify;

pub use algorithm::{Algorithm, Counters, JoinParams, Match, MatchSink, algorithm, algorithms};
pub use collection::{Collection, CollectionBuilder, Side};
pub use error::JoinError;
pub use measure::{MEASURES, Measure, PairSizes};
pub use pairs::{Pair, PairSink, join_pairs};
pub use threshold::Threshold;
