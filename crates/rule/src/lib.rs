//! The vocabulary of the decision: what makes a copy, what a document can be, and what is said of it.
//!
//! A store decides one document at a time, a batch run a whole corpus; both must say the same of the same
//! document. So everything that the decision depends on is defined here, below both:
//!
//! | item | is |
//! |---|---|
//! | [`Rule`] | what makes a copy: an exact threshold, or the papers' features with an exact floor |
//! | [`Bands`] | how many features of how many min-values find the pairs of a rule |
//! | [`Kind`] | what a document is: an original, a kind of copy, or empty |
//! | [`Verdict`] | what is said of a document |
//! | [`Fingerprints`] | what tells identical bytes, equal texts and equal shingle sets |
//!
//! Not here: how candidates are found (`wonbon-index`, `wonbon-cluster`) and what a sketch is
//! (`wonbon-sketch`).

#![warn(unreachable_pub)]

mod bands;
mod fingerprints;
mod kind;
mod rule;
mod verdict;

pub use bands::{Bands, MOST_MISSED};
pub use fingerprints::{
    Fingerprints, fingerprint_content, fingerprint_content_half, fingerprint_set,
};
pub use kind::Kind;
pub use rule::{DEFAULT_FLOOR, DEFAULT_THRESHOLD, FEATURE_COUNT, NotARule, Rule};
pub use verdict::Verdict;
