//! Questions about stored documents, for any text, stored or not.
//!
//! Each question is a file. [`ask`] finds documents by what they share with a text; the others are
//! built on it.

mod ask;
mod change_counting;
mod changes;
mod collapse;
mod copies;
mod moved;
mod passages;
mod sources;
mod watch;

pub use ask::{Answer, MOST_ASKED_BYTES, Match, Measure, Question, SURE, most_verified};
pub use changes::{
    Changes, ChangesQuestion, LIFE_CLASSES, Lives, PageHistory, RATE_CLASSES, SweepChanges, Version,
};
pub(crate) use changes::{OldVersion, resemblance_of_versions};
pub use collapse::{CollapseConfig, Collapsed, ResultCopy, ResultGroup, collapse};
pub use copies::{Copies, Copy, SiteCopies};
pub use moved::{Finding, Holder, Hop, MOST_PLACES, Moved};
pub use passages::{PassagesQuestion, StoredPassage, StoredPassages};
pub use sources::{Source, SourcePassage, Sources, SourcesQuestion, Unexplained};
pub use watch::{Differing, Passage, WatchReport, Watched};
