//! Every answer as JSON: what the program prints with `--json` and what the service sends.
//!
//! One place, so that a script that was written for the one works with the other, and the description
//! of the service (`/v1/openapi.json`) is made from the very types that are written. Times are ISO 8601
//! in UTC, values exact; a field that is not known is left out where it is a plain fact and `null`
//! where its absence is an answer.
//!
//! Not here: how an answer is found (`questions`, and `wonbon-store`).

mod changes;
mod comparison;
mod decisions;
mod documents;
mod jobs;
mod lists;
mod questions;
mod status;

pub use changes::{
    Changes, History, Lives, Passage, Place, Sweep, Version, WatchCopy, WatchOutdated, WatchReport,
    WatchedPlace, days, resemblance_classes,
};
pub use comparison::{Comparison, ComparisonEstimate, Difference, MovedBlock};
pub use decisions::DecisionEntry;
pub use documents::{
    AddSummary, Added, Checked, Document, Listed, Named, Redirected, verdict_name,
};
pub use jobs::{JobAnswer, JobList, JobListed};
pub use lists::{
    AskAnswer, ChangesAnswer, DecisionsAnswer, DocumentList, FamiliesAnswer, FamilyAnswer,
    MatchAnswer, SearchAnswer, SourcesAnswer, WatchList, WatchReports,
};
pub use questions::{
    CollapseAnswer, Copies, CopiesOfSite, CopyHolder, CopyOfResult, Estimate, Explained,
    FamilySummary, FoundCopy, FoundResult, Holder, Hop, Match, Moved, MovedFinding, Source,
    SourcePassage, Unexplained,
};
pub use status::Status;
