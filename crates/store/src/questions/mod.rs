//! Questions about stored documents, for any text, stored or not.
//!
//! Each question is a file. [`ask`] finds documents by what they share with a text; the others are
//! built on it.

mod ask;
mod sources;

pub use ask::{Answer, MOST_ASKED_BYTES, Match, Measure, Question, SURE, most_verified};
pub use sources::{Passage, Source, Sources, SourcesQuestion, Unexplained};
