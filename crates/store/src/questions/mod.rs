//! Questions about stored documents, for any text, stored or not.
//!
//! Each question is a file. [`ask`] finds documents by what they share with a text; the others are
//! built on it.

mod ask;
mod changes;
mod copies;
mod moved;
mod watch;

pub use ask::{Answer, Match, Measure, Question};
pub use changes::{
    Changes, ChangesQuestion, LIFE_CLASSES, Lives, PageHistory, RATE_CLASSES, SweepChanges, Version,
};
pub(crate) use changes::{OldVersion, resemblance_of_versions};
pub use copies::{Copies, Copy, SiteCopies};
pub use moved::{Finding, Holder, Hop, Moved};
pub use watch::{Differing, Passage, WatchReport, Watched};
