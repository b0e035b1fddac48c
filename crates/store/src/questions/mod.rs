//! Questions about stored documents, for any text, stored or not.
//!
//! Each question is a file. [`ask`] finds documents by what they share with a text; the others are
//! built on it.

mod ask;
mod collapse;

pub use ask::{Answer, Match, Measure, Question};
pub use collapse::{CollapseConfig, Collapsed, ResultCopy, ResultGroup, collapse};
